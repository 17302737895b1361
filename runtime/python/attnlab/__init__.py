"""attnlab from Python, on the emulator and on a GPU:

    import numpy as np, attnlab            # pip install . (in a checkout also PYTHONPATH=runtime/python, after make python)

    o = attnlab.forward(4, q, k, v, causal=True)       # a stage's attention: NumPy, PyTorch, CuPy ...
    k = attnlab.RawKernel(open('my.cu').read(), 'sgemm')         # a kernel of your own
    k((8, 8), (16, 16), (a, b, c, np.int32(256)))      # NumPy: on the emulator; a GPU's arrays: there, on their stream
    k.counters['shared_wavefronts'], k.reports, print(k.source())
    k = attnlab.TritonKernel(triton.compile(...))      # and NumbaKernel: what these compiled (compiled.py)
    frame = attnlab.records('h200')                    # what was measured, as a pandas frame

Arguments of RawKernel are arrays (NumPy; or PyTorch, CuPy and all with __cuda_array_interface__ or DLPack) and NumPy's
scalars; Python's int is int32, its float is float32, its bool is bool.
"""
from __future__ import annotations

import ctypes
import glob
import math
import os
import subprocess
import sysconfig
import tempfile
from typing import Any, Sequence

import numpy as np

__all__ = ['KernelError', 'NumbaKernel', 'RawKernel', 'TritonKernel', 'Unsupported', 'forward', 'records']

# A wheel brings build/, chips/ and profiler/groups/ (setup.py); in a checkout they lie three folders up.
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = _HERE if os.path.isdir(os.path.join(_HERE, 'build')) else os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_library = None


class KernelError(Exception):
    """What does not compile, cannot be launched, or is no argument."""


class Unsupported(KernelError):
    """A problem that this stage does not take, or that this device does not."""


def _load(path):
    """A library of this package, after those that a wheel brings for it; NVIDIA's tools of pip are found on PATH."""
    tools = os.path.join(sysconfig.get_paths()['purelib'], 'nvidia', 'cu13', 'bin')
    if os.path.isdir(tools) and tools not in os.environ.get('PATH', '').split(os.pathsep):
        os.environ['PATH'] = os.environ.get('PATH', os.defpath) + os.pathsep + tools
    for theirs in glob.glob(os.path.join(glob.escape(os.path.dirname(path)), 'theirs', '*')):
        ctypes.CDLL(theirs)
    return ctypes.CDLL(path)


def _open(chip, options):
    """The emulator is opened once in a process: chip and options are those of the first kernel."""
    global _library
    path = os.path.join(_build(), 'runtime', 'libattnlab.so')
    if _library is None:
        if not os.path.exists(path):
            raise KernelError(f'{path} is not there: make build/run')
        os.environ.setdefault('ATTNLAB_GROUPS', os.path.join(_ROOT, 'profiler', 'groups'))
        _library = _load(path)
        for name in ('options', 'open', 'symbol', 'check', 'launch', 'counters', 'prediction', 'source', 'reports'):
            getattr(_library, 'attnlab_' + name).restype = ctypes.c_char_p
        given = '\n'.join(['--chip', chip, *options])
        why = _library.attnlab_options(given.encode())
        if why:
            raise KernelError(why.decode())
    return _library


def _compile(code, chip, options, folder):
    source, image = os.path.join(folder, 'kernel.cu'), os.path.join(folder, 'kernel.fatbin')
    with open(source, 'w') as f:
        f.write(code)
    done = subprocess.run([os.path.join(_ROOT, 'runtime', 'attnlab-nvcc'), '-fatbin', *options, '-o', image, source],
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


_KINDS = {'f': ord('f'), 'i': ord('u'), 'u': ord('u')}  # of a value, by NumPy's kind: real or whole; runtime/python/raw.c


class RawKernel:
    """A kernel, which runs on the emulator, or on a GPU if its arrays are there."""

    def __init__(self, code: str | bytes, name: str, options: Sequence[str] = (), chip: str = 'h200', run: Sequence[str] = ()) -> None:
        """code: CUDA C (compiled by nvcc with `options`), or PTX or a fat binary (bytes), which need no nvcc. name: which
        kernel of it.
        chip: 'h200', 'h100', 'l4', 'rtx4090' or 'a100', which the emulator stands for; run: build/run's options, like
        ('--jobs', '1'). Those of the first kernel hold for all of a process. Raises KernelError."""
        self.code, self.name = code, name
        self._c = _open(chip, run)
        self._folder = tempfile.TemporaryDirectory()  # source() reads the source there
        image = code if isinstance(code, bytes) else code.encode() if code.lstrip().startswith(('.version', '//')) and '.entry' in code else \
            _compile(code, chip, options, self._folder.name)
        self._image, self._handle = image, ctypes.c_void_p()
        self._on_gpu = {}  # {context: its function there}
        self._check(self._c.attnlab_open(image, ctypes.c_size_t(len(image)), name.encode(),
                                         ctypes.byref(self._handle)))

    @staticmethod
    def _check(why):
        if why:
            raise KernelError(why.decode())

    def __call__(self, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[Any] = (), shared_mem: int = 0,
                 cluster: int | Sequence[int] | None = None, stream: Any = None) -> None:
        """grid: blocks, block: threads, cluster: blocks, each (x, y, z) or fewer; shared_mem: dynamic, bytes.
        args: contiguous arrays of any shape, and scalars. Raises KernelError; a failed check is no error, see `reports`.

        Host arrays: on the emulator, copied in and back. A GPU's: on it, neither copied nor awaited, on their
        current stream or `stream`; it may be captured into a CUDA graph once the kernel has run before."""
        values = [_argument(i, a) for i, a in enumerate(args, 1)]
        extents = _extent(grid) + _extent(block) + (_extent(cluster) if cluster else [0, 0, 0])
        n = len(values)
        kinds = (ctypes.c_int * n)(*(1 if isinstance(v, _Tensor) else _KINDS.get(v.dtype.kind, 0) for v in values))
        size = (ctypes.c_size_t * n)(*(v.nbytes for v in values))
        self._check(self._c.attnlab_check(self._handle, ctypes.c_int(n), kinds, size))
        arrays = [v for v in values if isinstance(v, _Tensor)]
        if any(v.on_gpu for v in arrays):
            if not all(v.on_gpu for v in arrays):
                raise KernelError('some arrays are on a GPU and some on the host: put all on one side')
            first = next(i for i, v in enumerate(values) if isinstance(v, _Tensor))
            self._launch_on_gpu(extents, shared_mem, _stream_of(args[first], stream, values[first]), values)
            return
        at = (ctypes.c_void_p * n)(*(v.at if isinstance(v, _Tensor) else v.ctypes.data for v in values))
        self._check(self._c.attnlab_launch(self._handle, (ctypes.c_uint * 9)(*extents), ctypes.c_uint(shared_mem),
                                           ctypes.c_int(n), kinds, at, size))

    def _launch_on_gpu(self, extents, shared_mem, stream, values):
        words = [np.array(v.at, np.uint64) if isinstance(v, _Tensor) else v for v in values]
        at = (ctypes.c_void_p * len(words))(*(w.ctypes.data for w in words))
        driver = _Driver.open()
        function = self._on_gpu.get(driver.context())
        if not function:
            function = driver.load(self._image, self._c.attnlab_symbol(self._handle))
            self._on_gpu[driver.context()] = function
        driver.launch(function, extents, shared_mem, stream, at)

    @property
    def _emulated(self):
        """The library, whose answers are about launches on the emulator."""
        if self._on_gpu and not self._c.attnlab_counters(self._handle, None):
            raise KernelError('on a GPU nothing is counted: host arrays (a.cpu(), cupy.asnumpy(a)) run on the emulator')
        return self._c

    def _counters(self, groups):
        lines = self._emulated.attnlab_counters(self._handle, groups).decode().splitlines()
        return {name: float(value) for name, value, unit, source in (l.split('\t') for l in lines)}

    @property
    def counters(self) -> dict[str, float]:
        """All raw counts of PTX, of all launches so far: 'instructions', 'ld_shared.wavefronts', ...; and what the predictor
        predicts of them: 'cycles_elapsed', 'duration_us', 'tensor_active_pct', 'stall_barrier', ..., unless
        `prediction` says why not. Counts are of events; _us are microseconds, _pct are percent."""
        return self._counters(None)

    @property
    def prediction(self) -> str:
        """What stands beside predicted values: the chip, how good predictions of it were; or 'n/a: ' and why."""
        return self._emulated.attnlab_prediction(self._handle).decode()

    def groups(self, names: str) -> dict[str, float]:
        """Values of counter groups, in the units of profiler/groups: groups('SHARED,MIX'). On Hopper they are counted on
        the machine code where it can be executed, else on PTX."""
        return self._counters(names.encode())

    def source(self) -> str:
        """The source with counts beside its lines."""
        return self._emulated.attnlab_source(self._handle).decode()

    @property
    def reports(self) -> list[str]:
        """The failed checks so far (races, accesses outside arrays, ...), a text for each; [] if all is right."""
        return [r for r in self._emulated.attnlab_reports(self._handle).decode().split('\1') if r]


def _argument(i, a):
    """An argument of a kernel: a _Tensor, or a scalar as NumPy's array of no dimension."""
    if isinstance(a, bool):
        a = np.bool_(a)
    elif isinstance(a, int):
        a = np.int32(a)
    elif isinstance(a, float) and not isinstance(a, np.float64):  # which is a float of Python's
        a = np.float32(a)
    if isinstance(a, np.generic):
        return np.array(a)
    t = _Tensor(f'argument {i}', a, None)
    if t.read_only or not t.is_contiguous():
        raise KernelError(f'argument {i}: arrays must be contiguous and writeable: numpy.ascontiguousarray(a), a.contiguous()')
    return t


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute."""
    _fields_ = [('id', ctypes.c_int), ('value', ctypes.c_uint * 17)]  # a union of 64 bytes, 8 from the beginning


class _Config(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [('extents', ctypes.c_uint * 6), ('shared_bytes', ctypes.c_uint), ('stream', ctypes.c_void_p),
                ('attributes', ctypes.POINTER(_Attribute)), ('n_attributes', ctypes.c_uint)]


class _Driver:
    """The CUDA driver of this machine, in the context that the caller's library has made."""
    _only = None
    _MAX_DYNAMIC_SHARED, _CLUSTER = 8, 4  # CU_FUNC_ATTRIBUTE_..., CU_LAUNCH_ATTRIBUTE_...

    @classmethod
    def open(cls):
        if cls._only is None:
            cls._only = cls()
        return cls._only

    def __init__(self):
        try:
            self._cu = ctypes.CDLL('libcuda.so.1')
        except OSError as why:
            raise KernelError(f'no CUDA driver here: {why}')
        self._call('cuInit', 0)

    def _call(self, name, *args):
        error, text = getattr(self._cu, name)(*args), ctypes.c_char_p()
        if error:
            self._cu.cuGetErrorString(error, ctypes.byref(text))
            raise KernelError(f'{name}: {(text.value or b"").decode() or error}')

    def context(self):
        """The current one; the first GPU's, if this thread has none."""
        c = ctypes.c_void_p()
        self._call('cuCtxGetCurrent', ctypes.byref(c))
        if not c.value:
            self._call('cuDevicePrimaryCtxRetain', ctypes.byref(c), 0)
            self._call('cuCtxSetCurrent', c)
        return c.value

    def load(self, image, symbol):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call('cuModuleLoadData', ctypes.byref(module), image)
        self._call('cuModuleGetFunction', ctypes.byref(function), module, symbol)
        return function

    def launch(self, function, extents, shared_bytes, stream, args):
        if shared_bytes > 48 << 10:
            self._call('cuFuncSetAttribute', function, self._MAX_DYNAMIC_SHARED, shared_bytes)
        cluster = _Attribute(self._CLUSTER, (ctypes.c_uint * 17)(0, *extents[6:]))
        config = _Config((ctypes.c_uint * 6)(*extents[:6]), shared_bytes, stream, ctypes.pointer(cluster), int(extents[6] > 0))
        self._call('cuLaunchKernelEx', ctypes.byref(config), function, args, None)


# ---- A stage's attention --------------------------------------------------------------------------------------

class _Forward(ctypes.Structure):
    """struct forward of forward.h."""
    _fields_ = [(n, ctypes.c_int32) for n in ('batch', 'heads', 'kv_heads', 'seqlen_q', 'seqlen_k', 'head_dim', 'mask', 'bf16')]
    _fields_ += [('scale', ctypes.c_float), ('on_gpu', ctypes.c_int32), ('is_device', ctypes.c_int32),
                 ('stride', ctypes.c_int64 * 3 * 4), ('q', ctypes.c_uint64), ('k', ctypes.c_uint64),
                 ('v', ctypes.c_uint64), ('o', ctypes.c_uint64), ('lse', ctypes.c_uint64), ('stream', ctypes.c_uint64),
                 ('images', ctypes.c_char_p), ('chip', ctypes.c_char_p)]


class _DLTensor(ctypes.Structure):
    """DLPack's tensor, which a capsule's DLManagedTensor begins with."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_MASKS = {False: 0, None: 0, True: 1, 'bottom-right': 1, 'top-left': 2}
_stages = {}


class _At:
    """What NumPy takes for an array."""

    def __init__(self, interface):
        self.__array_interface__ = interface


class _Tensor:
    """Where an array lies: address, shape, strides in elements, on a GPU or not. `keep` holds it alive."""

    def __init__(self, name, array, dtype='<f2'):
        """dtype None: any."""
        self.name, self.keep = name, array
        try:  # PyTorch raises where a gradient is wanted
            cuda = getattr(array, '__cuda_array_interface__', None)
        except (RuntimeError, TypeError) as why:
            raise KernelError(f'{name}: {why}')
        if isinstance(array, np.ndarray):
            self._of_interface(array.__array_interface__, False)
        elif cuda:
            self._of_interface(cuda, True)
        elif hasattr(array, '__dlpack__'):
            self._of_dlpack(array)
        else:
            raise KernelError(f'{name} is a {type(array).__name__}: NumPy arrays are taken, and what has '
                              '__cuda_array_interface__ or __dlpack__')
        if self.dtype[1:] == 'V2' and getattr(array.dtype, 'name', '') == 'bfloat16':  # of ml_dtypes
            self.dtype = 'bfloat16'
        if dtype and self.dtype != dtype:
            raise KernelError(f'{name} is {self.dtype}, not {dtype} (fp16: astype, .half())' if dtype == '<f2' else
                              f'{name} is {self.dtype}, not {dtype}')

    def _of_interface(self, it, on_gpu):
        self.at, self.read_only = it['data']
        self.shape, self.dtype, self.on_gpu, self.index = tuple(it['shape']), it['typestr'], on_gpu, 0
        self.item = size = int(self.dtype[2:])
        self.stream = it.get('stream')
        if it.get('strides') is None:
            self._contiguous()
        elif any(s % size for s in it['strides']):
            raise KernelError(f'{self.name} has strides of {it["strides"]} bytes: not whole elements')
        else:
            self.strides = tuple(s // size for s in it['strides'])

    def _of_dlpack(self, array):
        kind, self.index = (int(x) for x in array.__dlpack_device__())
        capsule = array.__dlpack__(stream=-1) if kind == _CUDA else array.__dlpack__()  # -1: no wait; see forward
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        t = ctypes.cast(pointer(capsule, b'dltensor'), ctypes.POINTER(_DLTensor)).contents
        self.keep = (array, capsule)
        if kind not in (_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED):
            raise KernelError(f'{self.name} is on a device of kind {kind} (DLPack): CPU and CUDA are taken')
        self.on_gpu, self.read_only, self.stream = kind in (_CUDA, _CUDA_MANAGED), False, None
        self.at = (t.data or 0) + t.byte_offset
        self.shape, self.item = tuple(t.shape[i] for i in range(t.ndim)), t.bits * t.lanes // 8
        self.dtype = {(2, 16): '<f2', (2, 32): '<f4', (4, 16): 'bfloat16'}.get((t.code, t.bits), f'type {t.code}/{t.bits}')
        if t.strides:
            self.strides = tuple(t.strides[i] for i in range(t.ndim))
        else:
            self._contiguous()

    def _contiguous(self):
        strides, n = [], 1
        for extent in reversed(self.shape):
            strides.append(n)
            n *= max(extent, 1)
        self.strides = tuple(reversed(strides))

    def overlaps(self, other):
        """Is a byte of the one a byte of the other? No memory is read: it may be a GPU's."""
        if 0 in self.shape or 0 in other.shape:
            return False
        mine, theirs = (np.asarray(_At({'data': (t.at, False), 'shape': t.shape, 'typestr': f'<u{t.item}', 'version': 3,
                                        'strides': tuple(s * t.item for s in t.strides)})) for t in (self, other))
        try:
            return np.may_share_memory(mine, theirs) and np.shares_memory(mine, theirs, max_work=100000)
        except RuntimeError:  # too hard to say
            return True

    def device(self):
        """The number of its GPU: DLPack's, PyTorch's device.index or CuPy's device.id."""
        array = self.keep[0] if isinstance(self.keep, tuple) else self.keep
        device = getattr(array, 'device', None)
        for name in ('index', 'id'):
            if isinstance(getattr(device, name, None), int):
                return getattr(device, name)
        return self.index

    @property
    def nbytes(self):
        return self.item * math.prod(self.shape)

    def is_contiguous(self):
        given = self.strides
        self._contiguous()
        return self.nbytes == 0 or all(n == 1 or a == b for n, a, b in zip(self.shape, given, self.strides))

    def rows(self):
        """batch, head and row strides; refuses what kernels cannot read."""
        if len(self.shape) != 4:
            raise KernelError(f'{self.name} has {len(self.shape)} dimensions, not (batch, heads, seqlen, head_dim)')
        if self.at % 16:
            raise KernelError(f'{self.name} begins at an address that is no multiple of 16 bytes: copy it')
        if self.shape[3] > 1 and self.strides[3] != 1:
            raise KernelError(f'{self.name}: the elements of a row lie {self.strides[3]} apart, kernels read neighbours: '
                              'make it contiguous')
        out, n = [0, 0, 0], self.shape[3]
        for d in (2, 1, 0):  # an extent of 1 has no stride that matters
            stride = self.strides[d] if self.shape[d] > 1 else n
            if stride <= 0:
                raise KernelError(f'{self.name} has a stride of {stride}: kernels go forward; make it contiguous')
            out[d] = stride
            n = max(n, stride * max(self.shape[d], 1))
        return out


def _stage(number):
    """The library of a stage."""
    if number not in _stages:
        path = os.path.join(_build(), 'runtime', f'attnlab-{number}.so')
        if not os.path.exists(path):
            here = sorted(f[8:-3] for f in os.listdir(os.path.dirname(path)) if f.startswith('attnlab-')) \
                if os.path.isdir(os.path.dirname(path)) else []
            raise KernelError(f'no stage {number} here' + (f': there are {", ".join(here)}' if here else ': make python'))
        library = _load(path)
        library.attnlab_forward.restype = ctypes.c_char_p
        _stages[number] = library
    return _stages[number]


def _build():
    return os.environ.get('BUILD') or os.path.join(_ROOT, 'build')


def _stream_of(array, given, tensor):
    """The CUstream that a call on this array belongs to."""
    if given is not None:
        for name in ('cuda_stream', 'ptr', 'handle'):
            given = getattr(given, name, given)
        return int(given)
    library = type(array).__module__.split('.')[0]
    if library == 'torch':
        import torch
        return torch.cuda.current_stream(array.device).cuda_stream
    if library == 'cupy':
        import cupy
        return cupy.cuda.get_current_stream().ptr
    return tensor.stream or 0


def _empty(like, shape, dtype):
    """An array of the library that `like` is from, on its device."""
    library = type(like).__module__.split('.')[0]
    if isinstance(like, np.ndarray):
        return np.empty(shape, like.dtype if dtype == 'bfloat16' else dtype)
    if library == 'torch':
        import torch
        return torch.empty(shape, dtype={'<f2': torch.float16, 'bfloat16': torch.bfloat16, '<f4': torch.float32}[dtype], device=like.device)
    if library == 'cupy':
        import cupy
        return cupy.empty(shape, dtype)
    raise KernelError(f'no way is known to make a {type(like).__name__}: give out= and lse=')


def _check_gpu(tensors, out, lse):
    """All on the first GPU; nothing that is written lies where others may still read."""
    for t in (*tensors, out, lse):
        if t.device():
            raise KernelError(f'{t.name} is on another GPU than the first: CUDA_VISIBLE_DEVICES chooses it')
    q = tensors[0]
    for t in tensors[1:]:
        if out.overlaps(t):
            raise KernelError(f'out overlaps {t.name}, which is still read when rows of out are written: give it memory of its own')
    # A block has read its rows of Q when it writes them, and no other block reads them.
    if out.overlaps(q) and (out.at, out.strides) != (q.at, q.strides):
        raise KernelError('out overlaps q and is not q: give it memory of its own')
    for t in (*tensors, out):
        if lse.overlaps(t):
            raise KernelError(f'lse overlaps {t.name}: give it memory of its own')


def forward(stage: int, q: Any, k: Any, v: Any, causal: bool | str = False, scale: float | None = None,
            device: str = 'auto', out: Any = None, lse: Any = None, return_lse: bool = False, stream: Any = None,
            chip: str | None = None) -> Any:
    """softmax(scale Q K^T) V by the kernels of stage 1, 2, 3, 4 or 6: O, or (O, LSE) with return_lse.

    q (batch, heads, seqlen_q, head_dim), k and v (batch, kv_heads, seqlen_k, head_dim), all fp16, or all bf16 for
    stages 4 and 6 (PyTorch's; in NumPy ml_dtypes.bfloat16, or the bits as uint16); any strides of whole rows; O as q;
    LSE (batch, heads, seqlen_q), fp32, natural log. scale: above 0; 1 / sqrt(head_dim) if not given. causal: True or
    'bottom-right' (key j is visible to row i iff j <= i + seqlen_k - seqlen_q), or 'top-left' (j <= i).

    A GPU's arrays are neither copied nor awaited: the launch goes to their current stream (or `stream`), and may be
    captured into a CUDA graph once the same shape has been run before. The host's arrays are copied to the device
    that `device` says: 'cuda', 'emu', or 'auto', a GPU if there is one. chip: what the emulator stands for, 'h200' if it
    is not given. On a GPU out may be q itself, and shares no memory with k, v or lse. Raises Unsupported where the stage
    does not take the problem, ValueError for such a scale, KernelError for what else is no argument."""
    tensors = [_Tensor('q', q, None)]
    kind = tensors[0].dtype if tensors[0].dtype in ('bfloat16', '<u2') else '<f2'
    tensors = [_Tensor(name, array, kind) for name, array in (('q', q), ('k', k), ('v', v))]
    if causal not in _MASKS:
        raise KernelError(f'causal is {causal!r}: False, True, "bottom-right" or "top-left"')
    if scale is not None and not (math.isfinite(scale) and scale > 0):
        raise ValueError(f'scale is {scale}: a finite number above 0, or None for 1 / sqrt(head_dim)')
    if device not in ('auto', 'cuda', 'emu'):
        raise KernelError(f'device is {device!r}: "auto", "cuda" or "emu"')
    on_gpu = {t.on_gpu for t in tensors}
    if len(on_gpu) > 1:
        raise KernelError('q, k and v are not on one device')
    on_gpu = on_gpu.pop()
    if on_gpu and device == 'emu':
        raise KernelError('the tensors are on a GPU: copy them to the host for device="emu"')
    (b, h, sq, d), (kb, hk, sk, kd) = (t.shape if len(t.shape) == 4 else (0,) * 4 for t in tensors[:2])
    f = _Forward()
    strides = [t.rows() for t in tensors]
    if tensors[2].shape != tensors[1].shape:
        raise KernelError(f'k is {tensors[1].shape} and v {tensors[2].shape}: they must be alike')
    if (kb, kd) != (b, d):
        raise KernelError(f'q {tensors[0].shape} and k {tensors[1].shape} differ in batch or head_dim')
    out = _empty(q, (b, h, sq, d), kind) if out is None else out
    lse = _empty(q, (b, h, sq), '<f4') if lse is None else lse
    o_at, lse_at = _Tensor('out', out, kind), _Tensor('lse', lse, '<f4')
    if o_at.shape != (b, h, sq, d) or lse_at.shape != (b, h, sq):
        raise KernelError(f'out is {o_at.shape} and lse {lse_at.shape}, not {(b, h, sq, d)} and {(b, h, sq)}')
    if o_at.read_only or lse_at.read_only or o_at.on_gpu != on_gpu or lse_at.on_gpu != on_gpu:
        raise KernelError('out and lse must be writeable, and where q is')
    contiguous = _Tensor.__new__(_Tensor)
    contiguous.shape = lse_at.shape
    contiguous._contiguous()
    if any(n > 1 and s != c for n, s, c in zip(lse_at.shape, lse_at.strides, contiguous.strides)):
        raise KernelError('lse must be contiguous')
    if on_gpu:
        _check_gpu(tensors, o_at, lse_at)
    f.batch, f.heads, f.kv_heads, f.seqlen_q, f.seqlen_k, f.head_dim = b, h, hk, sq, sk, d
    f.bf16 = kind != '<f2'
    f.mask, f.scale, f.is_device = _MASKS[causal], 0 if scale is None else scale, on_gpu
    for row, values in zip(f.stride, [*strides, o_at.rows()]):
        row[:] = values
    f.q, f.k, f.v = (t.at for t in tensors)
    f.o, f.lse = o_at.at, lse_at.at
    f.stream = _stream_of(q, stream, tensors[0]) if on_gpu else 0
    f.images = os.path.join(_build(), 'images', f'stage-{stage}').encode()
    f.chip = chip.encode() if chip else None
    library, status = _stage(stage), ctypes.c_int()
    for f.on_gpu in (1, 0) if device == 'auto' and not on_gpu else (int(on_gpu or device == 'cuda'),):
        why = library.attnlab_forward(ctypes.byref(f), ctypes.byref(status))
        if status.value != 77:  # no GPU here
            break
    if why:
        raise (Unsupported if status.value == 3 else KernelError)(why.decode())
    return (out, lse) if return_lse else out


# ---- What was measured ----------------------------------------------------------------------------------------

def records(source: str = 'results/run.jsonl') -> Any:
    """The records of a file of JSON lines, or of records/runs/NAME.jsonl, as a pandas frame: a row for each run,
    nested fields as 'samples.median_us' (microseconds), a counter under its name (NaN where it was not to be had). A
    damaged line is left out, with a warning that names it. Needs pandas; a package that was installed from a wheel has no
    records/. Raises FileNotFoundError."""
    import json
    import warnings

    import pandas
    path = source if os.path.exists(source) else os.path.join(_ROOT, 'records', 'runs', f'{source}.jsonl')
    if not os.path.exists(path):
        raise FileNotFoundError(f'{source}: no such file, and no records/runs/{source}.jsonl')
    rows = []
    with open(path, encoding='utf-8', errors='replace', newline='\n') as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                counters = [(c['name'], c.get('value', float('nan'))) for c in record.pop('counters', None) or []]
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as why:
                warnings.warn(f'{path}:{number}: no whole record, left out ({why}); delete the line or record again', stacklevel=2)
                continue
            rows.append(record | dict(counters))
    return pandas.json_normalize(rows)


from .compiled import NumbaKernel, TritonKernel  # noqa: E402  (it needs RawKernel)
