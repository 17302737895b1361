"""Kernels of your own from Python, on the emulator: in the manner of CuPy's RawKernel.

    import numpy as np, attnlab            # with runtime/ on sys.path (or PYTHONPATH=runtime)
    k = attnlab.RawKernel(open('my.cu').read(), 'sgemm')
    k((8, 8), (16, 16), (a, b, c, np.int32(256)))      # NumPy arrays are copied in, and back
    k.counters['shared_wavefronts'], k.reports, print(k.source())

Arguments are NumPy arrays and scalars; Python's int is int32, its float is float32, its bool is bool.
"""
import ctypes
import os
import subprocess
import tempfile

import numpy as np

_HERE = os.path.dirname(os.path.abspath(__file__))
_library = None


class KernelError(Exception):
    """What does not compile, cannot be launched, or is no argument."""


def _open(chip, options):
    """The emulator is opened once in a process: chip and options are those of the first kernel."""
    global _library
    build = os.environ.get('BUILD') or os.path.join(_HERE, '..', 'build')
    path = os.path.join(build, 'runtime', 'libattnlab.so')
    if _library is None:
        if not os.path.exists(path):
            raise KernelError(f'{path} is not there: make build/run')
        os.environ.setdefault('ATTNLAB_GROUPS', os.path.join(_HERE, '..', 'profiler', 'groups'))
        _library = ctypes.CDLL(path)
        for name in ('options', 'open', 'launch', 'counters', 'source', 'reports'):
            getattr(_library, 'attnlab_' + name).restype = ctypes.c_char_p
        given = '\n'.join(['--chip', chip, '--quiet', *options])
        why = _library.attnlab_options(given.encode())
        if why:
            raise KernelError(why.decode())
    return _library


def _compile(code, chip, options, folder):
    source, image = os.path.join(folder, 'kernel.cu'), os.path.join(folder, 'kernel.fatbin')
    with open(source, 'w') as f:
        f.write(code)
    done = subprocess.run([os.path.join(_HERE, 'attnlab-nvcc'), '-fatbin', *options, '-o', image, source],
                          env={**os.environ, 'CHIP': chip}, capture_output=True, text=True)
    if done.returncode:
        raise KernelError((done.stdout + done.stderr).replace(source, 'kernel.cu'))
    with open(image, 'rb') as f:
        return f.read()


def _extent(n):
    n = (n,) if isinstance(n, int) else tuple(n)
    if not 1 <= len(n) <= 3 or any(int(x) < 1 for x in n):
        raise KernelError(f'{n} is no grid and no block: one to three numbers from 1 on')
    return [int(x) for x in n] + [1] * (3 - len(n))


class RawKernel:
    def __init__(self, code, name, options=(), chip='h200', run=()):
        """code: CUDA C or PTX; options: nvcc's; run: build/run's, like ('--jobs', '1')."""
        self.code, self.name = code, name
        self._c = _open(chip, run)
        self._folder = tempfile.TemporaryDirectory()  # source() reads the source there
        image = code.encode() if code.lstrip().startswith(('.version', '//')) and '.entry' in code else \
            _compile(code, chip, options, self._folder.name)
        self._handle = ctypes.c_void_p()
        self._check(self._c.attnlab_open(image, ctypes.c_size_t(len(image)), name.encode(),
                                         ctypes.byref(self._handle)))

    @staticmethod
    def _check(why):
        if why:
            raise KernelError(why.decode())

    def __call__(self, grid, block, args=(), shared_mem=0, cluster=None):
        kept, is_array, at, size = [], [], [], []
        for a in args:
            if isinstance(a, (bool, np.bool_)):
                a = np.bool_(a)
            elif isinstance(a, int):
                a = np.int32(a)
            elif isinstance(a, float):
                a = np.float32(a)
            array = isinstance(a, np.ndarray)
            if array and not (a.flags.c_contiguous and a.flags.writeable):
                raise KernelError('arrays must be contiguous and writeable: numpy.ascontiguousarray(a)')
            if not array and not isinstance(a, np.generic):
                raise KernelError(f'an argument is a {type(a).__name__}: NumPy arrays and scalars are taken')
            value = a if array else np.array(a)
            kept.append(value)
            is_array.append(int(array))
            at.append(value.ctypes.data)
            size.append(value.nbytes)
        n = len(kept)
        extents = _extent(grid) + _extent(block) + (_extent(cluster) if cluster else [0, 0, 0])
        self._check(self._c.attnlab_launch(
            self._handle, (ctypes.c_uint * 9)(*extents), ctypes.c_uint(shared_mem), ctypes.c_int(n),
            (ctypes.c_int * n)(*is_array), (ctypes.c_void_p * n)(*at), (ctypes.c_size_t * n)(*size)))

    def _counters(self, groups):
        lines = self._c.attnlab_counters(self._handle, groups).decode().splitlines()
        return {name: float(value) for name, value, unit, source in (l.split('\t') for l in lines)}

    @property
    def counters(self):
        """All raw counts of all launches so far: 'instructions', 'ld_shared.wavefronts', ..."""
        return self._counters(None)

    def groups(self, names):
        """Values of counter groups: groups('SHARED,MIX')."""
        return self._counters(names.encode())

    def source(self):
        """The source with counts beside its lines."""
        return self._c.attnlab_source(self._handle).decode()

    @property
    def reports(self):
        """The failed checks so far."""
        return [r for r in self._c.attnlab_reports(self._handle).decode().split('\1') if r]
