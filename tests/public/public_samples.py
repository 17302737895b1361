#!/usr/bin/env python3
"""Runs NVIDIA's cuda-samples, as they are, on the emulator: public_samples.py FOLDER [REGEX].

Builds every program below FOLDER/Samples that its CMakeLists.txt makes without graphics or libraries,
with runtime/attnlab-nvcc, from the sources, definitions and fatbins named there; runs it under build/run
with the arguments of FOLDER/test_args.json, and prints a table: exit status, seconds, launches, failed
checks, the first line of what went wrong. Of the others it prints why. Fetches nothing.
  KEEP=DIR    keeps what was built, and uses what is there      TIMEOUT=600   seconds for a program
  BUILD=build where build/run is, from here          BUILD_ONLY=1  runs nothing
"""
import collections, glob, json, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(HERE, os.environ.get('BUILD', 'build'))
TIMEOUT = int(os.environ.get('TIMEOUT', 600))
# What CMakeLists.txt links, as flags; a library that is not here is a reason not to build.
FLAGS = {'CUDA::cudart': [], 'CUDA::cuda_driver': ['-lcuda'], 'CUDA::nvrtc': ['-lnvrtc'], 'CUDA::cublas': ['-lcublas'],
         'OpenMP::OpenMP_CXX': ['-Xcompiler', '-fopenmp'], 'pthread': ['-lpthread'], 'rt': ['-lrt'], 'dl': ['-ldl'], 'socket': []}
NAMES = {'CUDA::cufft': 'cuFFT', 'CUDA::curand': 'cuRAND', 'CUDA::cusparse': 'cuSPARSE', 'CUDA::cusolver': 'cuSOLVER',
         'CUDA::nvjpeg': 'nvJPEG', '${NVVM_LIB}': 'libNVVM', '${NVJITLINK_LIB}': 'nvJitLink', 'CUDA::nppc': 'NPP',
         'CUDA::cufft_static': 'cuFFT'}
# Where NVRTC lies: beside the compiler, if it is not where the machine's libraries are.
TOOLKIT = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc')))
ENVIRON = {**os.environ, 'BUILD': BUILD, 'LD_LIBRARY_PATH': f'{TOOLKIT}/lib64:' + os.environ.get('LD_LIBRARY_PATH', '')}
# Programs that launch the same again because each launch goes on from the last: --repeats would be wrong.
ONCE_MORE = {'jacobiCudaGraphs', 'simpleStreams'}


class Sample:
    def __init__(self, cmake):
        self.folder = os.path.dirname(cmake)
        text = re.sub(r'#.*', '', open(cmake).read())
        words = lambda command: [w for body in re.findall(command + r'\(([^)]*)\)', text) for w in body.split()]
        made = words('add_executable') or ['']
        self.name = os.path.basename(self.folder)
        self.sources = [os.path.join(self.folder, w) for w in made[1:] if w.endswith(('.cu', '.cpp', '.c'))]
        packages = [w for w in re.findall(r'find_package\((\w+)', text) if w not in ('CUDAToolkit', 'OpenMP')]
        linked = [w for w in words('target_link_libraries') if w not in ('PUBLIC', 'PRIVATE', made[0])]
        self.flags = [flag for w in dict.fromkeys(linked) for flag in FLAGS.get(w, [])]
        kernel = re.search(r'CUDA_KERNEL_SOURCE "[^"]*/([^"/]*)"', text)
        binary = re.search(r'CUDA_(?:FATBIN|PTX)_FILE "[^"]*/([^"/]*)"', text)
        self.kernel = (os.path.join(self.folder, kernel[1]), binary[1]) if kernel and binary else None
        self.headers = 'include/cooperative_groups' in text or 'DIR}/cooperative_groups' in text  # for NVRTC, beside it
        others = [NAMES.get(w, w) for w in linked if w not in FLAGS]
        self.why = (f'needs {packages[0]}' if packages else f'needs {others[0]}' if others else
                    '' if self.sources else 'no program')


def nvcc(out, arguments):
    done = subprocess.run([f'{HERE}/runtime/attnlab-nvcc', '-O3', '-std=c++17', '-w', '--extended-lambda', '-o', out, *arguments],
                          capture_output=True, text=True, env=ENVIRON)
    said = done.stdout + done.stderr
    wrong = re.findall(r'undefined reference to .*|error: .*|fatal.*', said)
    if 'separate compilation mode' in said:
        return 'launches kernels from kernels'
    return '' if done.returncode == 0 else (wrong + ['nvcc failed'])[0][:100]


def build(sample, common, at):
    """Into the folder `at`, beside the files that the program reads: '' or why not."""
    program = f'{at}/{sample.name}'
    if os.path.exists(program):
        return ''
    if os.path.exists(f'{at}/why'):
        return open(f'{at}/why').read()
    os.makedirs(at, exist_ok=True)
    for data in glob.glob(f'{sample.folder}/*') + glob.glob(f'{sample.folder}/data/*'):
        if os.path.isfile(data) and not data.endswith(('.txt', '.md', '.vcxproj')):
            shutil.copy(data, at)
    if os.path.isdir(f'{sample.folder}/data'):
        shutil.copytree(f'{sample.folder}/data', f'{at}/data', dirs_exist_ok=True)
    if sample.headers:
        for part in glob.glob(f'{TOOLKIT}/include/cooperative_groups*') + [f'{TOOLKIT}/include/cccl/{n}' for n in ('nv', 'cuda')]:
            copy = shutil.copytree if os.path.isdir(part) else shutil.copy
            copy(part, f'{at}/{os.path.basename(part)}')
    include = [f'-I{common}', f'-I{sample.folder}', f'-I{sample.folder}/inc']
    why = ''
    if sample.kernel:
        source, binary = sample.kernel
        why = nvcc(f'{at}/{binary}', ['-ptx' if binary.endswith('ptx') else '-fatbin', *include, source])
    why = why or nvcc(program, [*include, *sample.sources, *sample.flags])
    if why:
        open(f'{at}/why', 'w').write(why)
    return why


def run(sample, at, arguments):
    """Exit status (124: ended by TIMEOUT), seconds, launches, failed checks, and a line of what went wrong."""
    record, begin = f'{at}/record.jsonl', time.monotonic()
    if os.path.exists(record):
        os.remove(record)
    repeats = [] if sample.name in ONCE_MORE else ['--repeats', '1']
    with open(f'{at}/out', 'w') as out, open(f'{at}/err', 'w') as err:
        done = subprocess.run(['timeout', str(TIMEOUT), f'{BUILD}/run', '--device', 'emu', *repeats, '--json', record,
                               f'./{sample.name}', *arguments], cwd=at, env=ENVIRON, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    seconds = time.monotonic() - begin
    facts = json.loads(open(record).readlines()[-1]) if os.path.exists(record) else {}
    launches = sum(len(k['launches']) for k in facts.get('kernels', []))
    failed = [text for text in facts.get('reports', []) if not text.startswith('note')]
    said = [line for line in open(f'{at}/err', errors='replace') if line.startswith('run: ')]
    said = failed or [line for line in said if 'note in' not in line]
    wrong = [line for line in open(f'{at}/out', errors='replace') if re.search(r'FAIL|fail|rror|aiv', line)] if done.returncode else []
    text = re.sub(r' in kernel \S+, block.*?: ', ': ', (said or wrong or [''])[0].removeprefix('run: ').strip().split('\n')[0])
    return done.returncode, seconds, launches, len(failed), text.replace(at, '.')[:100]


def main():
    words = sys.argv[1:]
    if not words or not os.path.isdir(f'{words[0]}/Samples'):
        sys.exit(__doc__)
    root, only = os.path.abspath(words[0]), re.compile(words[1] if len(words) > 1 else '')
    keep = os.environ.get('KEEP') or tempfile.mkdtemp()
    given = json.load(open(f'{root}/test_args.json'))
    samples = [Sample(c) for c in sorted(glob.glob(f'{root}/Samples/*/*/CMakeLists.txt'))]
    counts, others = collections.Counter(), []
    version = subprocess.run(['git', '-C', root, 'log', '-1', '--format=%h'], capture_output=True, text=True).stdout.strip()
    print('cuda-samples %s, %s, %d cores, at most %d s each\n' % (version or '?', time.strftime('%Y-%m-%d'), os.cpu_count(), TIMEOUT))
    print('%-30s %6s %8s %8s %6s  %s' % ('program', 'status', 'seconds', 'launches', 'failed', 'said'))
    for sample in samples:
        if not only.search(sample.name):
            continue
        at = f'{keep}/{sample.name}'
        gpus = given.get(sample.name, {}).get('min_gpus', 1)
        sample.why = sample.why or (f'needs {gpus} GPUs' if gpus > 1 else '')
        why = sample.why or build(sample, f'{root}/Common', at)
        counts['excluded' if sample.why else 'not built' if why else 'built'] += 1
        if why:
            others.append((sample.name, why))
        if why or os.environ.get('BUILD_ONLY'):
            continue
        runs = given.get(sample.name, {})
        rows = [run(sample, at, r) for r in [r['args'] for r in runs.get('runs', [])] or [runs.get('args', [])]]
        for row in rows:
            print('%-30s %6d %8.1f %8d %6d  %s' % (sample.name, *row), flush=True)
        counts['right'] += all(status == 0 and failed == 0 for status, _, _, failed, _ in rows)
    print('\n%d programs built, %d of them ran right' % (counts['built'], counts['right']))
    print('\nNot built')
    for name, why in others:
        print('%-30s %s' % (name, why))
    if not os.environ.get('KEEP'):
        shutil.rmtree(keep)


main()
