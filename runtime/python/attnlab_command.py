#!/usr/bin/env python3
"""attnlab: the workbench's verbs as one command, from any folder.

    attnlab run ./sgemm 256                     a CUDA program, counted and checked; options of build/run come before it
    attnlab kernel my.cu                        the kernels of a file; with --kernel NAME ... one of them is run
    attnlab stage 3 run --seqlen 4096 --causal  a verb of make's on a stage: make stage-3 run ARGS="--seqlen 4096 --causal"
    attnlab report RECORDED=h200                every other verb of make's, and its variables: attnlab help lists them
    attnlab help source                         one verb
    attnlab --dry-run ...                       print the command instead of running it

Results of stages are written to results/ of the clone that this command belongs to. setup/setup.sh links it into .venv/bin,
and pip install -e . installs it. Exit status: of run and kernel that of the program (build/run --help); of make's verbs 0,
or make's 2; 2 also for usage."""
import os
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
RUN = os.path.join(ROOT, 'build', 'run')


class Usage(Exception):
    pass


def make_words(words):
    """What make is called with: goals and NAME=VALUE as they are, options gathered in ARGS."""
    options = next((i for i, w in enumerate(words) if w.startswith('-')), len(words))
    goals, rest = words[:options], words[options:]
    given = [w for w in rest if '=' in w and not w.startswith('-') and w.split('=')[0].isupper()]
    args = [w for w in rest if w not in given]
    for word in args:
        if len(word.split()) != 1:
            raise Usage(f"the option '{word}' has a blank, which a stage's options cannot have: give it to build/stage-N itself")
    return ['make', '--no-print-directory', '-C', ROOT, *goals, *given, *([f'ARGS={" ".join(args)}'] if args else [])]


def stage_words(words):
    """3 6 run ... -> stage-3 stage-6 run ..."""
    n = next((i for i, w in enumerate(words) if not w.isdigit()), len(words))
    if n == 0 or n == len(words):
        raise Usage('stage wants numbers and a verb: attnlab stage 3 source')
    return [f'stage-{w}' for w in words[:n]] + words[n:]


def program_words(verb, words):
    """Of build/run, or None if make is to list a file's kernels."""
    if verb == 'run':
        return [RUN, *words]
    if not words or words[0].startswith('-'):
        raise Usage('kernel wants a file: attnlab kernel my.cu')
    if any(w == '--kernel' or w.startswith('--kernel=') for w in words):
        return [RUN, *words[1:], words[0]]
    return None


def run_program(command):
    """Builds build/run if need be, and runs the command in this folder."""
    built = subprocess.call(['make', '--silent', '--no-print-directory', '-C', ROOT, 'build/run'], stdout=sys.stderr)
    if built:
        return built
    with tempfile.TemporaryDirectory() as scratch:
        record = os.path.join(scratch, 'run.jsonl')
        status = subprocess.call([command[0], '--json', record, *command[1:]])
        recorded = os.path.exists(record) and os.path.getsize(record)
    if not status and not recorded and not any(w.startswith(('--json', '--help', '--version')) for w in command):
        print('attnlab: the program ended without launching a kernel: is it built with runtime/attnlab-nvcc?', file=sys.stderr)
    return status if status >= 0 else 128 - status


def main():
    words = sys.argv[1:]
    dry = words[:1] == ['--dry-run']
    words = words[dry:]
    try:
        if not words or words[0] in ('-h', '--help'):
            print(__doc__)
            return 0
        command = None
        if words[0] == 'kernel' or words[0] == 'run' and len(words) > 1:
            command = program_words(words[0], words[1:])
            if command is None:
                words = ['run', 'KERNEL=' + os.path.abspath(words[1])]
        if command is None:
            command = make_words(stage_words(words[1:]) if words[0] == 'stage' else words)
    except Usage as why:
        print(f'attnlab: {why}', file=sys.stderr)
        return 2
    if not os.path.exists(os.path.join(ROOT, 'setup', 'help.mk')):
        print(f'attnlab: {ROOT} is no clone of attnlab: install the command in one, with make setup or pip install -e .', file=sys.stderr)
        return 77
    if dry:
        print(' '.join(map(shlex.quote, command)))
        return 0
    try:
        if command[0] == RUN:
            return run_program(command)
        return subprocess.call(command)
    except KeyboardInterrupt:
        return 130
    except OSError as why:
        print(f'attnlab: {command[0]} does not start: {why.strerror}; run make setup in {ROOT}', file=sys.stderr)
        return 77


if __name__ == '__main__':
    sys.exit(main())
