"""The corpus of asynchronous kernels: runs it on the emulator and says what was missed and what was false.

    corpus.py table BUILD [NAME...]     every kernel, or these; then a table by topic
    corpus.py list                      a line for each kernel: what launch.c reads, and whether it deadlocks
    corpus.py check                     the sources: names, numbers, marks

The sources are *.cu in this folder; corpus.cuh says how they are written. A racy kernel counts as caught if a report
of its kind names a line that is marked for it, and a right one as false if anything is reported but notes.
"""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = re.compile(r'^(RIGHT|RACY)\( ?(\w+), (\w+)<(\d+)>, (.*)\)$')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Kernel:
    def __init__(self, topic, shape, verdict, name, family, number, strings):
        self.topic, self.name, self.family, self.number = topic, name, family, int(number)
        self.racy = verdict == 'RACY'
        self.kind = strings[0] if self.racy else ''
        self.rule = strings[-1]
        self.shape = shape
        self.lines = []  # that a report must name one of
        self.n_strings = len(strings)

    def hangs(self):
        return self.kind.startswith('deadlock')

    def launch(self):
        s = self.shape
        return f"{self.topic} {self.name} {s['threads']} {s['blocks']} {s['cluster']} {s['after']}"


def read(topic):
    """The kernels of one source."""
    kernels, shape, marks = [], None, {}
    with open(os.path.join(HERE, topic + '.cu')) as f:
        lines = f.read().splitlines()
    for number, text in enumerate(lines, 1):
        if text.startswith('//= '):
            words = text[4:].split()
            shape = {'threads': '64', 'blocks': '1', 'cluster': '0', 'after': '-', **dict(zip(words[::2], words[1::2]))}
            marks = {}
        mark = re.search(r'// @([\d,]+)$', text)
        for n in mark[1].split(',') if mark else []:
            marks.setdefault(int(n), []).append(number)
        if re.match(r'(RIGHT|RACY)\(', text):
            end = next(n for n in range(number - 1, len(lines)) if lines[n].endswith(')'))
            whole = ' '.join(line.strip() for line in lines[number - 1:end + 1])
            made = KERNEL.match(whole)
            if not made:
                sys.exit(f'corpus.py: {topic}.cu:{number} is no RIGHT(name, family<N>, "rule") and no RACY with a kind: {whole}')
            k = Kernel(topic, shape, *made.groups()[:4], STRING.findall(re.sub(r'" +"', '', made[5])))
            k.lines = marks.get(k.number, [])
            kernels.append(k)
    return kernels


def corpus():
    topics = sorted(f[:-3] for f in os.listdir(HERE) if f.endswith('.cu'))
    return [k for t in topics for k in read(t)]


def reports(build, kernels):
    """{name: [report]}: what the emulator says of each kernel, notes left out, and why a launch failed."""
    program = [os.path.join(build, 'tests', 'corpus-launch'), 'emu', os.path.join(build, 'images', 'corpus')]
    run = subprocess.run(program, input='\n'.join(k.launch() for k in kernels) + '\n', text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, name = collections.defaultdict(list), None
    for line in run.stdout.splitlines():
        if line.startswith('begin '):
            name = line[6:]
            said[name] = []
        elif line.startswith('end '):
            why = line.partition(': ')[2]
            if why and not re.match(r'\d+ checks? of the emulator failed', why):
                said[name].append('failed: ' + why)
        elif line.startswith('corpus-launch: '):
            said[name].append(line[15:])
        elif said[name]:
            said[name][-1] += '\n' + line
    ran = set(said)
    missing = [k.name for k in kernels if k.name not in ran]
    if missing or run.returncode:
        sys.exit(f'corpus.py: corpus-launch left with status {run.returncode} at {name}; not run: {len(missing)}\n'
                 + run.stdout[-2000:])
    wanted = {k.name: 'note' in k.kind for k in kernels}
    return {n: [r for r in all_ if wanted[n] or not r.startswith('note')] for n, all_ in said.items()}


def lines_of(topic, report):
    """The lines of the source that a report names."""
    own = re.findall(re.escape(topic) + r'\.cu:(\d+)', report)
    return {int(n) for n in own + re.findall(r'called from line (\d+)', report)}


def verdict(k, said):
    """'right', or what is wrong with it."""
    if not k.racy:
        return 'false' if said else 'right'
    if not said:
        return 'missed'
    kinds = [r for r in said if re.match(k.kind, r)]
    if not kinds:
        return 'other kind'
    return 'right' if any(lines_of(k.topic, r) & set(k.lines) for r in kinds) or k.hangs() and not k.lines else 'other line'


def table(build, kernels, details):
    said = reports(build, kernels)
    found = {k.name: verdict(k, said[k.name]) for k in kernels}
    for k in kernels if details else []:
        if found[k.name] != 'right':
            print(f'{k.topic}.cu {k.name}: {found[k.name]}: {k.rule}')
            for report in said[k.name][:2]:
                print('    ' + report.replace('\n', '\n    '))
    print('| topic | racy | caught at its line | other line or kind | missed | right | silent | false |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- |')
    for topic in sorted({k.topic for k in kernels}) + ['all']:
        of = [k for k in kernels if topic in (k.topic, 'all')]
        n = collections.Counter((k.racy, found[k.name]) for k in of)
        other = n[True, 'other line'] + n[True, 'other kind']
        print(f"| {topic} | {sum(k.racy for k in of)} | {n[True, 'right']} | {other} | {n[True, 'missed']} "
              f"| {sum(not k.racy for k in of)} | {n[False, 'right']} | {n[False, 'false']} |")
    racy, right = sum(k.racy for k in kernels), sum(not k.racy for k in kernels)
    missed = sum(v not in ('right', 'false') for v in found.values())
    false = sum(v == 'false' for v in found.values())
    print(f'\nmissed {missed} of {racy} ({100 * missed / max(racy, 1):.1f} %, the bar is 2), '
          f'false {false} of {right} ({100 * false / max(right, 1):.1f} %, the bar is 1)')
    return surprises(kernels, found)


def surprises(kernels, found):
    """What known.txt does not say: kernels that are wrong and not in it, or in it and right."""
    with open(os.path.join(HERE, 'known.txt')) as f:
        known = {line.split()[0] for line in f if line.strip() and not line.startswith('#')}
    new = [k.name for k in kernels if found[k.name] != 'right' and k.name not in known]
    old = [k.name for k in kernels if found[k.name] == 'right' and k.name in known]
    if new:
        print('missed or false, and not in known.txt: ' + ' '.join(new))
    if old:
        print('in known.txt, and right now: ' + ' '.join(old))
    return not new and not old


def check(kernels):
    """What is wrong with the sources."""
    wrong = []
    for name, n in collections.Counter(k.name for k in kernels).items():
        wrong += [f'{name}: two kernels have this name'] if n > 1 else []
    for key, n in collections.Counter((k.topic, k.family, k.number) for k in kernels).items():
        wrong += [f'{key[0]}.cu: {key[1]}<{key[2]}> is made twice'] if n > 1 else []
    for k in kernels:
        wrong += [f'{k.name}: no line is marked @{k.number}'] if k.racy and not k.lines and not k.hangs() else []
        wrong += [f'{k.name}: a right kernel has marked lines'] if k.lines and not k.racy else []
        wrong += [f'{k.name}: it has {k.n_strings} strings'] if k.n_strings != 1 + k.racy else []
    return wrong


def main():
    kernels = corpus()
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'list':
        for k in kernels:
            print(k.launch(), 'racy' if k.racy else 'right', 'hangs' if k.hangs() else 'ends')
    elif what == 'check':
        wrong = check(kernels)
        print('\n'.join(wrong))
        sys.exit(1 if wrong else 0)
    else:
        chosen = [k for k in kernels if not args[1:] or {k.name, k.topic, k.family} & set(args[1:])]
        sys.exit(0 if table(args[0], chosen, True) else 1)


if __name__ == "__main__":
    main()
