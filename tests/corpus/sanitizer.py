"""compute-sanitizer over the corpus, on a GPU: what sanitizer.sh runs. See there.

Kernels run in batches, several to a process. A report belongs to the kernel that it names; a kernel that failed,
died or ran out of time ends its process, and a new one goes on with the next kernel.
"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import time

import corpus

TOOLS = ('racecheck', 'synccheck', 'memcheck')
BATCH, JOBS = 6, int(os.environ.get('JOBS', os.cpu_count() or 1))
LIMIT = int(os.environ.get('LIMIT', '30'))  # seconds of one process


def run(sanitizer, build, tool, kernels):
    """(output, out of time?) of one process."""
    command = ['timeout', '-k', '2', str(LIMIT), sanitizer, '--tool', tool, '--print-limit', '1000',
               os.path.join(build, 'tests', 'corpus-launch'), 'cuda', os.path.join(build, 'images', 'corpus')]
    done = subprocess.run(command, input='\n'.join(k.launch() for k in kernels) + '\n', text=True, errors='replace',
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode in (124, 137)


REPORT = re.compile(r'Race reported|Barrier error|Invalid __|Potential invalid|Unknown Error|Illegal ')


def reports_by_kernel(output):
    """{name: [first line of a report]}. A report belongs to the kernel between whose lines `begin NAME` and `end NAME` it
    stands: it may itself name only a function that was inlined."""
    found, now = collections.defaultdict(list), None
    for line in output.splitlines():
        begins = re.match(r'begin (\w+)$', line)
        if begins:
            now = begins[1]
        elif line.startswith('=========') and REPORT.search(line):
            found[now].append(line[9:].strip())
    return found


def verdicts(sanitizer, build, tool, kernels):
    """[(kernel, verdict)] of one batch."""
    all_, log = [], ''
    while kernels:
        output, late = run(sanitizer, build, tool, kernels)
        log += output
        begun = re.findall(r'^begin (\w+)$', output, re.M)
        ended = dict(re.findall(r'^end (\w+)(.*)$', output, re.M))
        found = reports_by_kernel(output)
        n = max(len(begun), 1)
        for k in kernels[:n]:
            said = found[k.name]
            why = 'timeout' if k.name not in ended and late else 'died' if k.name not in ended else \
                'failed' + ended[k.name] if ended[k.name] else ''
            report = f"{len(said)} report{'s' * (len(said) != 1)}: {said[0]}" if said else ''
            all_.append((k, '; '.join(x for x in (report, why) if x) or 'silent'))
        kernels = kernels[n:]
    return all_, log


def summary(of):
    """By topic: of how many racy kernels each tool says something, and of how many right ones."""
    topics = sorted({k.topic for k, tool in of}) + ['all']
    print('\n| topic | racy | ' + ' | '.join(TOOLS) + ' | any | right | ' + ' | '.join(TOOLS) + ' | any |')
    print('|' + ' --- |' * (5 + 2 * len(TOOLS)))
    for topic in topics:
        kernels = {k.name: k for k, tool in of if topic in (k.topic, 'all')}.values()
        row = [topic]
        for racy in (True, False):
            mine = [k for k in kernels if k.racy == racy]
            said = [[of[k, tool] != 'silent' for tool in TOOLS] for k in mine]
            row += [len(mine)] + [sum(s[t] for s in said) for t in range(len(TOOLS))] + [sum(any(s) for s in said)]
        print('| ' + ' | '.join(map(str, row)) + ' |')


def main():
    sanitizer, build, folder = sys.argv[1:4]
    kernels = [k for k in corpus.corpus() if not k.hangs()]
    if sys.argv[4:]:
        kernels = [k for k in kernels if {k.name, k.topic, k.family} & set(sys.argv[4:])]
    batches = [(tool, kernels[n:n + BATCH]) for n in range(0, len(kernels), BATCH) for tool in TOOLS]
    start, of = time.time(), {}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool, open(os.path.join(folder, 'corpus-sanitizer.log'), 'w') as log:
        jobs = {pool.submit(verdicts, sanitizer, build, tool, part): tool for tool, part in batches}
        for job in concurrent.futures.as_completed(jobs):
            found, output = job.result()
            log.write(f'#### {jobs[job]}\n{output}\n')
            of.update({(k, jobs[job]): verdict for k, verdict in found})
    with open(os.path.join(folder, 'corpus-sanitizer.txt'), 'w') as table:
        for k in kernels:
            for tool in TOOLS:
                table.write(f"{k.name}\t{'racy' if k.racy else 'right'}\t{tool}\t{of[k, tool]}\n")
    summary(of)
    print(f'\n{len(kernels)} kernels, {len(TOOLS)} tools, {time.time() - start:.0f} s; '
          f'{sum("timeout" in v for v in of.values())} timeouts')


main()
