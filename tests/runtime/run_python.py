"""attnlab.RawKernel: right answers, counts, reports, refusals."""
import ctypes

import attnlab
import numpy as np
from refusal import refused

CODE = r'''
template <int N> __global__ void unused() {}
__global__ void add(const float *a, const float *b, float *c, int n, float scale, bool negate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = scale * (a[i] + b[i]) * (negate ? -1 : 1);
}
__global__ void fill(double *x, double value) { x[threadIdx.x] = value; }
__global__ void race(int *x) {
    __shared__ int s;
    s = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s;
}
'''
n = 1000
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
c = np.zeros(n, np.float32)
add = attnlab.RawKernel(CODE, 'add')
add((8,), (128,), (a, b, c, n, 0.5, True))
assert np.array_equal(c, -0.5 * (a + b))
assert add.counters['ld_global'] == 2 * 32 and add.counters['st_global'] == 32, add.counters
mix = add.groups('MIX')  # of machine code; counters are those of PTX
assert (mix['global_load_instructions'], mix['global_store_instructions']) == (2 * 32, 32), mix
assert mix['fma_instructions'] > add.counters['fp32'] > 0, (mix, add.counters)  # integer products among them
assert 'if (i < n) c[i]' in add.source()
assert add.reports == []
add(8, 128, (a, b, c, np.int32(n), np.float32(2), False))
assert np.array_equal(c, 2 * (a + b))

fill, wide = attnlab.RawKernel(CODE, 'fill'), np.zeros(32)
fill(1, 32, (wide, np.float64(0.1)))
assert np.array_equal(wide, np.full(32, 0.1))

race = attnlab.RawKernel(CODE, 'race')
race(1, 64, (np.zeros(64, np.int32),))
assert len(race.reports) == 1 and race.reports[0].startswith('race in kernel')


refused(lambda: add(8, 128, (a, b, c)), 'takes 6 arguments, 3 are given')
refused(lambda: add(8, 128, (a, b, c, np.int64(n), 0.5, True)), 'argument 4')
refused(lambda: add(8, 128, (a[::2], b, c, n, 0.5, True)), 'contiguous')
refused(lambda: add(8, 128, (list(a), b, c, n, 0.5, True)), 'is a list')
refused(lambda: add(0, 128, ()), 'no grid')
refused(lambda: add(1, 2000, (a, b, c, n, 0.5, True)), '2000 threads in a block; at most 1024')
refused(lambda: attnlab.RawKernel(CODE, 'nosuch'), 'there are add, fill, race')
refused(lambda: attnlab.RawKernel('int x', 'x'), 'kernel.cu')
refused(lambda: add(8, 128, (a.astype('>f4')[:0].view()[:0], b[:0], c[:0], None, 0.5, True)), 'is a NoneType')

# ---- A GPU's arrays: the emulator's stand-in for the driver is the GPU here (tests/runtime/test_run.sh)
driver = ctypes.CDLL('libcuda.so.1')


class OnGPU:
    """What a library of GPU arrays hands out."""

    def __init__(self, x):
        at = ctypes.c_void_p()
        assert driver.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(x.nbytes)) == 0
        assert driver.cuMemcpyHtoD_v2(at, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.nbytes)) == 0
        self.like = np.empty_like(x)
        self.__cuda_array_interface__ = {'shape': x.shape, 'typestr': x.dtype.str, 'data': (at.value, False), 'version': 3,
                                         'strides': None}

    def host(self):
        at = self.__cuda_array_interface__['data'][0]
        assert driver.cuMemcpyDtoH_v2(ctypes.c_void_p(self.like.ctypes.data), ctypes.c_void_p(at), ctypes.c_size_t(self.like.nbytes)) == 0
        return self.like


there = [OnGPU(x) for x in (a, b, np.zeros(n, np.float32))]
add = attnlab.RawKernel(CODE, 'add')
add((8,), (128,), (*there, n, 0.5, True))
assert np.array_equal(there[2].host(), -0.5 * (a + b))
refused(lambda: add.counters, 'on a GPU nothing is counted')
refused(lambda: add.reports, 'on a GPU nothing is counted')
refused(lambda: add((8,), (128,), (there[0], b, there[2], n, 0.5, True)), 'some arrays are on a GPU')
refused(lambda: add((8,), (128,), (*there, n)), 'takes 6 arguments')
refused(lambda: add((8,), (2000,), (*there, n, 0.5, True)), 'cuLaunchKernelEx')
there[0].__cuda_array_interface__['strides'] = (8,)
refused(lambda: add((8,), (128,), (*there, n, 0.5, True)), 'contiguous')
add((8,), (128,), (a, b, c, n, 3.0, False))
assert np.array_equal(c, 3 * (a + b)) and add.counters['st_global'] == 32
