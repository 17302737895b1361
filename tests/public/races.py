#!/usr/bin/env python3
"""Runs public suites of racy CUDA programs, as they are, on the emulator: races.py SUITE FOLDER [REGEX].

    races.py indigo FOLDER    github.com/burtscher/IndigoSuite: kernels that its generator makes from 21 patterns
    races.py scor FOLDER      github.com/csl-iisc/ScoR: microbenchmarks, and its programs with each planted race alone

FOLDER is a clone; nothing is fetched, and nothing is written there. Builds each program with runtime/attnlab-nvcc,
runs it under build/run, and prints a table, and a line for each that is missed, false or not run:
    racy     reported: a race; noted: a note that nothing orders two accesses; missed
    bounds   reported: an access out of bounds; missed; false: a race
    right    silent; noted: such a note; other: a report of something else; false: a race
A name decides what is expected: in Indigo's atomicBug, raceBug, syncBug and guardBug are races, a boundsBug alone is an
access out of bounds.
  KEEP=DIR   keeps what was built, and uses what is there    JOBS=2      programs at a time
  BUILD=build where build/run is, from here                  TIMEOUT=20  seconds for a launch; 10 more for a program
  JUDGE_ONLY=1 runs nothing: the table of the records in KEEP    SECONDS_LEFT=200  begins no program after so long
"""
import collections, concurrent.futures, json, os, random, re, shutil, struct, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(HERE, os.environ.get('BUILD', 'build'))
TIMEOUT = int(os.environ.get('TIMEOUT', 20))
JOBS = int(os.environ.get('JOBS', 2))
END = time.monotonic() + float(os.environ.get('SECONDS_LEFT', 'inf'))

# A program: its group (a row of the table), its name, 'race', 'bounds' or 'right', its sources, nvcc's options, and
# its runs: options of build/run, arguments and standard input.
Case = collections.namedtuple('Case', 'group name expected sources options runs')


def graph(path, vertices, edges, seed, order):
    """A graph without loops, in Indigo's format. order 1 or -1: undirected, each vertex with a neighbour, neighbours
    rising or falling; 0 or 2: each edge leads upwards or downwards, so that the last vertex or the first has none."""
    rng = random.Random(seed)
    near = [set() for _ in range(vertices)]
    while sum(map(len, near)) < 2 * edges or order in (-1, 1) and not all(near):
        u, v = rng.sample(range(vertices), 2)
        near[u].add(v)
        near[v].add(u)
    near = [sorted((v for v in n if order in (-1, 1) or (v > u) == (order == 0)), reverse=order < 0) for u, n in enumerate(near)]
    index = [0]
    for n in near:
        index.append(index[-1] + len(n))
    words = [vertices, index[-1], *index, *(v for n in near for v in n)]
    with open(path, 'wb') as f:
        f.write(struct.pack(f'={len(words)}i', *words))


def indigo(root, work):
    """Each kernel six times: with as many threads, warps or blocks as vertices, and with more than enough."""
    makers = os.path.join(root, 'Generators')
    if not os.path.isdir(makers + '/CUDA_sources'):
        sys.exit(f'races.py: no Generators/CUDA_sources in {root}; clone github.com/burtscher/IndigoSuite')
    codes = work + '/codes'
    os.makedirs(codes, exist_ok=True)
    for pattern in sorted(os.listdir(makers + '/CUDA_sources')):
        made = subprocess.run([sys.executable, '-W', 'ignore', 'generate_CUDA_codes' + '.py', 'CUDA_sources/' + pattern,
                               root + '/copyright.txt', codes], cwd=makers, capture_output=True, text=True)
        if made.returncode:
            sys.exit(f'races.py: {pattern}: {made.stderr[-500:]}')
    for name, vertices, edges, order in (('rising', 64, 200, 1), ('falling', 64, 200, -1), ('small', 8, 16, -1), ('upwards', 29, 160, 0),
                                        ('downwards', 29, 160, 2)):
        graph(f'{work}/{name}.egr', vertices, edges, 1, order)
    shapes = [('rising', 32, 2), ('falling', 32, 2), ('small', 64, 4), ('small', 64, 8), ('upwards', 64, 32), ('downwards', 64, 32)]
    runs = [([], [f'{work}/{name}.egr', str(threads), str(blocks)], '') for name, threads, blocks in shapes]
    for pattern in sorted(os.listdir(codes)):
        for source in sorted(os.listdir(f'{codes}/{pattern}')):
            name = source.removesuffix('.cu')
            race = re.search('atomicBug|raceBug|syncBug|guardBug', name)
            expected = 'race' if race else 'bounds' if 'boundsBug' in name else 'right'
            yield Case(pattern, name, expected, [f'{codes}/{pattern}/{source}'], [f'-I{makers}/sources_include'], runs)


def alone(text, which):
    """The source with only the which-th of its planted races (0: none)."""
    n = 0
    out = []
    for line in text.splitlines(True):
        if line.startswith('#ifdef RACEY'):
            n += 1
            line = f'#if {n} == {which}\n'
        out.append(line)
    return ''.join(out), n


def scor(root, work):
    if not os.path.isdir(root + '/microbenchmarks/src'):
        sys.exit(f'races.py: no microbenchmarks/src in {root}; clone github.com/csl-iisc/ScoR')
    # A race that shows only if one block comes first needs another order.
    schedules = ([], ['--schedule', 'adversarial'], ['--schedule', 'random', '--seed', '1'], ['--schedule', 'random', '--seed', '2'])
    for source in sorted(os.listdir(root + '/microbenchmarks/src')):
        name = source.removesuffix('.cu')
        yield Case('microbenchmarks', name, 'race' if name.startswith('race') else 'right',
                   [f'{root}/microbenchmarks/src/{source}'], [], [(s, [], '') for s in schedules])
    rng = random.Random(4)
    numbers = lambda n, most: ' '.join(str(rng.randrange(most)) for _ in range(n))
    edges = sorted({tuple(sorted(rng.sample(range(150), 2))) for _ in range(300)})
    edges = f'150 {len(edges)} ' + ' '.join(f'{u} {v}' for u, v in edges)
    inputs = {'1dconv': '5 300 ' + numbers(305, 9), 'graph-coloring': edges, 'graph-connectivity': edges,
              'matrix-multiplication': '6 70 40 ' + numbers(6 * 70 + 70 * 40, 9), 'reduction': '1000 ' + numbers(1000, 9),
              'rule-110': '300 3 ' + numbers(300, 2), 'uts': '5 6 11'}
    shape = {'reduction': (4, 128), 'uts': (8, 32)}
    # Two of the races of uts show in few orders: their accesses are under a lock, all but one that is seldom made. Where a
    # block runs as far as it goes, it polls for minutes what the others have not begun.
    orders = {'uts': [['--schedule', 'random', '--seed', str(seed)] for seed in range(1, 33)]}
    for program in sorted(os.listdir(root + '/benchmarks')):
        folder = f'{root}/benchmarks/{program}'
        if program not in inputs:
            continue
        kernel = next(f for f in os.listdir(folder) if f.endswith('_kernel' + '.cu'))
        text = open(f'{folder}/{kernel}').read()
        main = f'{folder}/' + next(f for f in os.listdir(folder) if f.endswith('_main' + '.cu'))
        blocks, threads = shape.get(program, (4, 64))
        for which in range(alone(text, 0)[1] + 1):
            name = f'{program}-race{which}' if which else program
            at = f'{work}/codes/{name}'
            os.makedirs(at, exist_ok=True)
            with open(f'{at}/{kernel}', 'w') as f:
                f.write(alone(text, which)[0])
            sources = [main, f'{at}/{kernel}']
            if kernel[:3] == 'red':  # its main includes the kernel
                shutil.copy(main, at)
                sources = [f'{at}/{os.path.basename(main)}']
            yield Case(program, name, 'race' if which else 'right', sources,
                       ['-std=c++14', f'-I{folder}', f'-DNTHREADS={threads}', f'-DNBLOCKS={blocks}'],
                       [(s, [], inputs[program]) for s in orders.get(program, schedules)])


def build(case, work):
    """The program, or None and why not."""
    out = f'{work}/programs/{case.name}'
    if not os.path.exists(out) and not os.environ.get('JUDGE_ONLY'):
        done = subprocess.run([f'{HERE}/runtime/attnlab-nvcc', '--compat', '-O3', '-w', '-o', out, *case.options, *case.sources],
                              capture_output=True, text=True, env={**os.environ, 'BUILD': BUILD})
        if done.returncode:
            said = re.findall(r'error.*', done.stdout + done.stderr)
            return None, 'not built: ' + (said or ['nvcc failed'])[0][:90]
    return out, ''


def reports(program, case):
    """What the emulator says in all runs, notes left out, and why a run did not end."""
    said, why = [], ''
    for n, (options, arguments, given) in enumerate(case.runs):
        record, ended = f'{program}.{n}.jsonl', f'{program}.{n}.ended'
        if not os.environ.get('JUDGE_ONLY'):
            if os.path.exists(record):
                os.remove(record)
            command = [f'{BUILD}/run', '--device', 'emu', '--jobs', '1', '--no-predict', '--count-ptx', '--timeout', str(TIMEOUT),
                       *options, '--json', record, program, *arguments]
            done = subprocess.run(['timeout', str(TIMEOUT + 10), *command], input=given, capture_output=True, text=True,
                                  errors='replace', cwd=os.path.dirname(program))
            lines = [line for line in done.stderr.splitlines() if line.startswith('run: ')]
            with open(ended, 'w') as f:
                f.write(f'over {TIMEOUT + 10} s' if done.returncode == 124 else '' if os.path.exists(record) else
                        (lines or [f'status {done.returncode}'])[-1][:100])
        why = why or open(ended).read()
        if os.path.exists(record):
            facts = json.loads(open(record).readlines()[-1])
            said += facts.get('reports', [])
            why = why or next((r[r.index(': ') + 2:].split('\n')[0] for r in said if r.startswith('endless')), '')
    return said, why


def judge(case, work):
    if time.monotonic() > END:
        return 'not run', 'no time was left', ''
    program, why = build(case, work)
    said, why = reports(program, case) if program else ([], why)
    races = [r for r in said if r.startswith('race')]
    notes = [r for r in said if r.startswith('note') and re.search('orders nothing|no fence|orders the two', r)]
    others = [r for r in said if not r.startswith(('note', 'race'))]
    bounds = [r for r in others if re.search('out of bounds|misaligned|access outside', r.split(' in kernel ')[0] + r.split(':')[0])]
    if case.expected == 'race':
        verdict = 'reported' if races else 'noted' if notes else 'not run' if why else 'missed'
    elif case.expected == 'bounds':
        verdict = 'false' if races else 'reported' if bounds else 'not run' if why else 'missed'
    else:
        verdict = 'false' if races else 'other' if others else 'noted' if notes else 'not run' if why else 'silent'
    first = (races or notes or others or [''])[0]
    lines = first.split('\n')
    text = '; '.join([re.sub(r' in kernel \S+, block.*?: ', ': ', lines[0]),
                      *(re.sub(r'^.*/', '', line.split('  ')[0] or line.strip().split('  ')[0]) for line in lines[1:3])])
    return verdict, why, text[:220]


def main():
    words = sys.argv[1:]
    suites = {'indigo': indigo, 'scor': scor}
    if len(words) < 2 or words[0] not in suites or not os.path.isdir(words[1]):
        sys.exit(__doc__)
    if not os.path.exists(BUILD + '/run'):
        sys.exit(f'races.py: no {BUILD}/run; make run builds it')
    only = re.compile(words[2] if len(words) > 2 else '')
    work = os.environ.get('KEEP') or tempfile.mkdtemp()
    os.makedirs(work + '/programs', exist_ok=True)
    cases = [c for c in suites[words[0]](os.path.abspath(words[1]), os.path.abspath(work)) if only.search(c.name)]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        found = list(pool.map(lambda c: judge(c, os.path.abspath(work)), cases))
    count = collections.Counter()
    for case, (verdict, *_) in zip(cases, found):
        for group in (case.group, 'all'):
            count[group, case.expected, verdict] += 1
            count[group, case.expected] += 1
    columns = {'race': ('reported', 'noted', 'missed', 'not run'), 'bounds': ('reported', 'missed', 'false', 'not run'),
               'right': ('silent', 'noted', 'other', 'false', 'not run')}
    print('%-32s' % '' + ''.join('|%8s' % e + 9 * len(columns[e]) * ' ' for e in columns))
    print('%-32s' % 'group' + ''.join('|%8s' % 'all' + ''.join('%9s' % v for v in columns[e]) for e in columns))
    for group in [*dict.fromkeys(c.group for c in cases), 'all']:
        print('%-32s' % group + ''.join('|%8d' % count[group, e] + ''.join('%9d' % count[group, e, v] for v in columns[e]) for e in columns))
    racy, right = (sum(count['all', e, v] for v in columns[e][:-1]) for e in ('race', 'right'))
    print('\nof those that ran: missed %d of %d racy ones (%.1f %%); called wrong %d of %d right ones (%.1f %%)' % (
        count['all', 'race', 'missed'], racy, 100 * count['all', 'race', 'missed'] / max(racy, 1),
        count['all', 'right', 'false'], right, 100 * count['all', 'right', 'false'] / max(right, 1)))
    for wanted in ('missed', 'false', 'noted', 'other', 'not run'):
        rows = [(c, f) for c, f in zip(cases, found) if f[0] == wanted]
        if rows:
            print('\n' + wanted)
        for case, (_, why, text) in rows:
            print('  %-60s %s%s' % (case.name, why and why + '; ', text))
    if not os.environ.get('KEEP'):
        shutil.rmtree(work)


main()
