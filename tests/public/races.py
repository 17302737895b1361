#!/usr/bin/env python3
"""Runs public suites of racy CUDA programs, as they are, on the emulator: races.py SUITE FOLDER [REGEX].

    races.py indigo FOLDER    github.com/burtscher/IndigoSuite: kernels that its generator makes from 21 patterns
    races.py scor FOLDER      github.com/csl-iisc/ScoR: microbenchmarks, and its programs with each planted race alone

FOLDER is a clone; nothing is fetched, and nothing is written there. Builds each program with runtime/attnlab-nvcc,
runs it under build/run, and prints a table: of the racy ones how many are reported, of the right ones how many are
called wrong, and a line for each that is missed, false or not run. A name decides what is expected: in Indigo's
atomicBug, raceBug, syncBug and guardBug are races, a boundsBug alone is an access out of bounds.
  KEEP=DIR   keeps what was built, and uses what is there    JOBS=2      programs at a time
  BUILD=build where build/run is, from here                  TIMEOUT=60  seconds for a run
  JUDGE_ONLY=1 runs nothing: the table of the records in KEEP
"""
import collections, concurrent.futures, json, os, random, re, shutil, struct, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(HERE, os.environ.get('BUILD', 'build'))
TIMEOUT = int(os.environ.get('TIMEOUT', 60))
JOBS = int(os.environ.get('JOBS', 2))

# A program: its group (a row of the table), its name, 'race', 'bounds' or 'right', its sources, nvcc's options, and
# its runs: pairs of arguments and standard input.
Case = collections.namedtuple('Case', 'group name expected sources options runs')


def graph(path, vertices, edges, seed):
    """An undirected graph without loops, each vertex with a neighbour, in Indigo's format."""
    rng = random.Random(seed)
    near = [set() for _ in range(vertices)]
    while sum(map(len, near)) < 2 * edges or not all(near):
        u = next((v for v in range(vertices) if not near[v]), rng.randrange(vertices))
        v = rng.randrange(vertices)
        if u != v:
            near[u].add(v)
            near[v].add(u)
    index = [0]
    for n in near:
        index.append(index[-1] + len(n))
    words = [vertices, index[-1], *index, *(v for n in near for v in sorted(n))]
    with open(path, 'wb') as f:
        f.write(struct.pack(f'={len(words)}i', *words))


def indigo(root, work):
    """Each kernel four times: with as many threads, warps or blocks as vertices, and with more than enough."""
    makers = os.path.join(root, 'Generators')
    if not os.path.isdir(makers + '/CUDA_sources'):
        sys.exit(f'races.py: no Generators/CUDA_sources in {root}; clone github.com/burtscher/IndigoSuite')
    codes = work + '/codes'
    os.makedirs(codes, exist_ok=True)
    for pattern in sorted(os.listdir(makers + '/CUDA_sources')):
        made = subprocess.run([sys.executable, '-W', 'ignore', 'generate_CUDA_codes.py', 'CUDA_sources/' + pattern,
                               root + '/copyright.txt', codes], cwd=makers, capture_output=True, text=True)
        if made.returncode:
            sys.exit(f'races.py: {pattern}: {made.stderr[-500:]}')
    graph(work + '/64.egr', 64, 200, 1)
    graph(work + '/8.egr', 8, 16, 2)
    graph(work + '/29.egr', 29, 80, 3)
    shapes = [('64', 32, 2), ('8', 64, 4), ('8', 64, 8), ('29', 64, 32)]
    runs = [([f'{work}/{name}.egr', str(threads), str(blocks)], '') for name, threads, blocks in shapes]
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
    for source in sorted(os.listdir(root + '/microbenchmarks/src')):
        name = source.removesuffix('.cu')
        yield Case('microbenchmarks', name, 'race' if name.startswith('race') else 'right',
                   [f'{root}/microbenchmarks/src/{source}'], [], [([], '')])
    rng = random.Random(4)
    numbers = lambda n, most: ' '.join(str(rng.randrange(most)) for _ in range(n))
    edges = sorted({tuple(sorted(rng.sample(range(150), 2))) for _ in range(300)})
    edges = f'150 {len(edges)} ' + ' '.join(f'{u} {v}' for u, v in edges)
    inputs = {'1dconv': '5 300 ' + numbers(305, 9), 'graph-coloring': edges, 'graph-connectivity': edges,
              'matrix-multiplication': '6 70 40 ' + numbers(6 * 70 + 70 * 40, 9), 'reduction': '1000 ' + numbers(1000, 9),
              'rule-110': '300 3 ' + numbers(300, 2), 'uts': '3 4 7'}
    shape = {'reduction': (4, 128), 'uts': (3, 64)}
    for program in sorted(os.listdir(root + '/benchmarks')):
        folder = f'{root}/benchmarks/{program}'
        if program not in inputs:
            continue
        kernel = next(f for f in os.listdir(folder) if f.endswith('_kernel.cu'))
        text = open(f'{folder}/{kernel}').read()
        main = f'{folder}/' + next(f for f in os.listdir(folder) if f.endswith('_main.cu'))
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
                       [f'-I{folder}', f'-DNTHREADS={threads}', f'-DNBLOCKS={blocks}'], [([], inputs[program])])


def build(case, work):
    """The program, or None and why not."""
    out = f'{work}/programs/{case.name}'
    if not os.path.exists(out) and not os.environ.get('JUDGE_ONLY'):
        done = subprocess.run([f'{HERE}/runtime/attnlab-nvcc', '--compat', '-O3', '-std=c++17', '-w', '-o', out, *case.options, *case.sources],
                              capture_output=True, text=True, env={**os.environ, 'BUILD': BUILD})
        if done.returncode:
            said = re.findall(r'error.*', done.stdout + done.stderr)
            return None, 'not built: ' + (said or ['nvcc failed'])[0][:90]
    return out, ''


def reports(program, case):
    """What the emulator says in all runs, notes left out, and why a run did not end."""
    said, why = [], ''
    for n, (arguments, given) in enumerate(case.runs):
        record, ended = f'{program}.{n}.jsonl', f'{program}.{n}.ended'
        if not os.environ.get('JUDGE_ONLY'):
            if os.path.exists(record):
                os.remove(record)
            done = subprocess.run(['timeout', str(TIMEOUT), f'{BUILD}/run', '--device', 'emu', '--jobs', '1', '--json', record, program,
                                   *arguments], input=given, capture_output=True, text=True, errors='replace', cwd=os.path.dirname(program))
            lines = [line for line in done.stderr.splitlines() if line.startswith('run: ')]
            with open(ended, 'w') as f:
                f.write(f'over {TIMEOUT} s' if done.returncode == 124 else '' if os.path.exists(record) else
                        (lines or [f'status {done.returncode}'])[-1][:100])
        why = why or open(ended).read()
        if os.path.exists(record):
            facts = json.loads(open(record).readlines()[-1])
            said += [r for r in facts.get('reports', []) if not r.startswith('note')]
    return said, why


def judge(case, work):
    program, why = build(case, work)
    said, why = reports(program, case) if program else ([], why)
    kinds = {r.split(' in kernel ')[0] for r in said}
    races = [r for r in said if re.match('race|missing|access outside', r)]
    others = [r for r in said if not re.match('out of bounds|misaligned', r)]
    if case.expected == 'race':
        verdict = 'reported' if races else 'not run' if why else 'missed'
    elif case.expected == 'bounds':
        verdict = 'false' if races else 'reported' if said else 'not run' if why else 'missed'
    else:
        verdict = 'false' if said else 'not run' if why else 'silent'
    first = (races or others or said or [''])[0]
    text = re.sub(r' in kernel \S+, block.*?: ', ': ', first.split('\n')[0]) + ' '.join(
        re.sub(r'\S*/', '', line.strip()).split('  ')[0] + ';' for line in first.split('\n')[1:3])
    return verdict, why, kinds, text[:220]


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
    columns = [('race', 'reported'), ('race', 'missed'), ('race', 'not run'), ('bounds', 'reported'), ('bounds', 'missed'),
               ('bounds', 'false'), ('bounds', 'not run'), ('right', 'silent'), ('right', 'false'), ('right', 'not run')]
    print('%-34s' % '' + ''.join('%6s %s' % ('', e) if v in ('reported', 'silent') else '' for e, v in columns))
    print('%-34s' % 'group' + ''.join(('%8s' % 'all' if v in ('reported', 'silent') else '') + '%9s' % v for e, v in columns))
    for group in [*dict.fromkeys(c.group for c in cases), 'all']:
        print('%-34s' % group + ''.join(('%8d' % count[group, e] if v in ('reported', 'silent') else '') + '%9d' % count[group, e, v]
                                        for e, v in columns))
    racy, right = count['all', 'race'], count['all', 'right']
    print('\nmissed: %d of %d racy ones (%.1f %%); called wrong: %d of %d right ones (%.1f %%)' % (
        count['all', 'race', 'missed'], racy, 100 * count['all', 'race', 'missed'] / max(racy, 1),
        count['all', 'right', 'false'], right, 100 * count['all', 'right', 'false'] / max(right, 1)))
    for wanted in ('missed', 'false', 'not run'):
        rows = [(c, f) for c, f in zip(cases, found) if f[0] == wanted]
        if rows:
            print('\n' + wanted)
        for case, (_, why, kinds, text) in rows:
            print('  %-60s %s%s' % (case.name, why and why + '; ', text))
    if not os.environ.get('KEEP'):
        shutil.rmtree(work)


main()
