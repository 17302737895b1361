"""Kernels that Triton or Numba compiled, on the emulator. Neither package needs a GPU to compile, and neither is imported
here before one of its own functions is given.

    k = attnlab.TritonKernel(triton.compile(source, target=GPUTarget('cuda', 90, 32)))       # or: TRITON_CACHE_DIR, 'add'
    k((n // 1024,), (x, y, out, n))
    k.counters, k.reports, print(k.source())

    k = attnlab.NumbaKernel(add)                            # a function of numba.cuda.jit, or what compile_ptx returned
    k((n // 128,), (128,), (x, y, out))
    k.counters, k.reports, print(k.source())
"""
from __future__ import annotations

import ctypes
import glob
import json
import os
import re
import struct
from types import SimpleNamespace
from typing import Any, Sequence
from unittest import mock

import numpy as np

from . import KernelError, RawKernel, _open


def _fatbin(ptx, cubin):
    """PTX and its machine code, which predictions read, as nvcc would pack them: runtime/session/fatbin.h draws it."""
    target, entries = re.search(r'^\.target\s+sm_(\d+)', ptx, re.M), b''
    for kind, image in (1, ptx.encode()), (2, cubin):
        image += b'\0' * (8 - len(image) % 8)
        entries += struct.pack('<HHIQIIIIIIQQQ', kind, 0x101, 64, len(image), 0, 0, 0, int(target[1]) if target else 0, 0, 0, 0, 0, 0) + image
    return struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(entries)) + entries


class _Compiled(RawKernel):
    """A kernel from PTX. Python's numbers take the size that the kernel declares for them."""

    def _sizes(self):
        """The bytes of each parameter."""
        n = self._c.attnlab_params(self._handle, None)
        sizes = (ctypes.c_size_t * n)()
        self._c.attnlab_params(self._handle, sizes)
        return list(sizes)

    @staticmethod
    def _number(i, value, size):
        """value as a NumPy scalar of so many bytes; arrays and NumPy's scalars as they are."""
        if isinstance(value, (bool, np.bool_)):
            return np.dtype(f'u{size}').type(value)
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            kinds = {int: {1: 'i1', 2: 'i2', 4: 'i4', 8: 'i8'}, float: {2: 'f2', 4: 'f4', 8: 'f8'}}[type(value)]
            if size in kinds:
                try:
                    return np.array(value, kinds[size])[()]
                except OverflowError:  # an unsigned parameter
                    return np.array(value % (1 << 8 * size), 'u' + kinds[size][1:])[()]
        return value


class TritonKernel(_Compiled):
    """A kernel that Triton compiled for an NVIDIA GPU."""

    def __init__(self, compiled: Any, name: str | None = None, chip: str = 'h200', run: Sequence[str] = ()) -> None:
        """compiled: what triton.compile returned, or a folder of Triton's cache (TRITON_CACHE_DIR), where `name` says
        which kernel; the newest counts. chip, run: as for RawKernel. Raises KernelError."""
        if isinstance(compiled, (str, os.PathLike)):
            ptx, cubin, self.metadata = self._cached(os.fspath(compiled), name)
        else:
            ptx, cubin, m = compiled.asm.get('ptx'), compiled.asm.get('cubin'), compiled.metadata
            self.metadata = dict(m) if isinstance(m, dict) else m._asdict()
        if not ptx:
            raise KernelError('Triton made no PTX: compile for GPUTarget("cuda", 90, 32)')
        if self.metadata.get('tensordesc_meta'):
            raise KernelError("a tensor descriptor is an argument of this kernel, which is not supported: make it in the "
                              'kernel, by tl.make_tensor_descriptor')
        super().__init__(_fatbin(ptx, cubin) if cubin else ptx, self.metadata['name'], chip=chip, run=run)
        threads = re.search(r'^\.(?:req|max)ntid\s+(\d+)', ptx, re.M)
        self.block = int(threads[1]) if threads else 32 * self.metadata['num_warps']

    @staticmethod
    def _cached(folder, name):
        found = [f for f in glob.glob(os.path.join(glob.escape(folder), '**', f'{glob.escape(name) if name else "*"}.json'), recursive=True)
                 if not os.path.basename(f).startswith('__grp__') and os.path.exists(f[:-5] + '.ptx')]
        names = sorted({os.path.basename(f)[:-5] for f in found})
        if len(names) != 1:
            raise KernelError(f'{folder}: no kernel of Triton {"called " + name if name else "is there"}' if not names else
                              f'{folder} has several kernels: name one of {", ".join(names)}')
        newest, cubin = max(found, key=os.path.getmtime), None
        if os.path.exists(newest[:-5] + '.cubin'):
            with open(newest[:-5] + '.cubin', 'rb') as f:
                cubin = f.read()
        with open(newest) as metadata, open(newest[:-5] + '.ptx') as ptx:
            return ptx.read(), cubin, json.load(metadata)

    def __call__(self, grid: int | Sequence[int], args: Sequence[Any] = ()) -> None:
        """grid: programs, (x, y, z) or fewer; args: contiguous arrays and numbers, in the order of the function's
        parameters, without its constexpr ones. Block and shared memory are those that Triton chose."""
        grid, ctas = (grid,) if isinstance(grid, int) else tuple(grid), self.metadata.get('num_ctas') or 1
        sizes = self._sizes()
        scratched = [what for what in ('global', 'profile') if f'{what}_scratch_size' in self.metadata]
        if len(args) != len(sizes) - len(scratched):
            raise KernelError(f'{self.name} takes {len(sizes) - len(scratched)} arguments, {len(args)} are given: constexpr '
                              'ones are no arguments')
        blocks = int(np.prod(grid)) * ctas
        scratch = [np.zeros(max(1, blocks * self.metadata[f'{what}_scratch_size']), np.uint8) for what in scratched]
        given = [self._number(i, a, size) for i, (a, size) in enumerate(zip(args, sizes), 1)]
        super().__call__((grid[0] * ctas, *grid[1:]), self.block, (*given, *scratch), shared_mem=self.metadata.get('shared') or 0,
                         cluster=ctas if ctas > 1 else None)


class NumbaKernel(_Compiled):
    """A kernel that Numba compiled."""

    def __init__(self, function: Any, chip: str = 'h200', run: Sequence[str] = ()) -> None:
        """function: of numba.cuda.jit, and then compiled for the types of the first call's arguments; or PTX, or the pair
        that numba.cuda.compile_ptx returns. chip, run: as for RawKernel. Raises KernelError."""
        self._function, self._chip, self._run = getattr(function, 'py_func', None), chip, run
        self.name = getattr(function, '__name__', '')
        if self._function is None:
            self._open_ptx(function[0] if isinstance(function, tuple) else function)

    def _open_ptx(self, ptx):
        symbol = re.search(r'\.entry\s+([\w$]+)', ptx) if isinstance(ptx, str) else None
        if not symbol:
            raise KernelError('a function of numba.cuda.jit is wanted, or what numba.cuda.compile_ptx returned')
        super().__init__(ptx, symbol[1], chip=self._chip, run=self._run)

    def _compile(self, args):
        import numba
        from numba import cuda
        from numba.cuda import dispatcher  # which asks what functions that the kernel calls are compiled for
        capability = divmod(_open(self._chip, self._run).attnlab_capability(), 10)
        types = tuple(numba.typeof(a) for a in args)
        device = SimpleNamespace(compute_capability=capability)
        try:
            with mock.patch.object(dispatcher, 'get_current_device', lambda: device):
                ptx, _ = cuda.compile_ptx(self._function, types, cc=capability, lineinfo=True)
        except numba.core.errors.NumbaError as why:
            raise KernelError(f'{self.name}: {why}')
        self._open_ptx(ptx)

    def __call__(self, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[Any] = (), shared_mem: int = 0) -> None:
        """As of RawKernel; tuples and complex numbers are taken, too, as Numba passes them."""
        if not hasattr(self, '_handle'):
            self._compile(args)
        flat = [x for a in args for x in self._passed(a)]
        sizes = self._sizes()
        if len(flat) != len(sizes):
            raise KernelError(f'{self.name}: {len(flat)} words of arguments are given and {len(sizes)} taken: it was compiled for '
                              'other types or dimensions')
        super().__call__(grid, block, [self._number(i, a, size) for i, (a, size) in enumerate(zip(flat, sizes), 1)], shared_mem)

    def _passed(self, a):
        """What Numba passes for an argument: of an array two owners (none), its elements, their size, address, shape and strides."""
        if isinstance(a, (tuple, list)):
            return [x for each in a for x in self._passed(each)]
        if isinstance(a, (complex, np.complexfloating)):
            return [a.real, a.imag]
        if not isinstance(a, np.ndarray):
            return [a]
        there = a if a.flags.c_contiguous else a.T if a.flags.f_contiguous else None
        if there is None:
            raise KernelError('an array is not contiguous: numpy.ascontiguousarray(a)')
        return [0, 0, a.size, a.itemsize, there, *a.shape, *a.strides]
