"""attnlab.RawKernel: right answers, counts, reports, refusals."""
import attnlab
import numpy as np

CODE = r'''
template <int N> __global__ void unused() {}
__global__ void add(const float *a, const float *b, float *c, int n, float scale, bool negate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = scale * (a[i] + b[i]) * (negate ? -1 : 1);
}
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
assert add.groups('MIX')['instructions'] == add.counters['instructions']
assert 'if (i < n) c[i]' in add.source()
assert add.reports == []
add(8, 128, (a, b, c, np.int32(n), np.float32(2), False))
assert np.array_equal(c, 2 * (a + b))

race = attnlab.RawKernel(CODE, 'race')
race(1, 64, (np.zeros(64, np.int32),))
assert len(race.reports) == 1 and race.reports[0].startswith('race in kernel')


def refused(call, text):
    try:
        call()
    except attnlab.KernelError as e:
        assert text in str(e), e
    else:
        raise AssertionError(f'not refused: {text}')


refused(lambda: add(8, 128, (a, b, c)), 'takes 6 arguments, 3 are given')
refused(lambda: add(8, 128, (a, b, c, np.int64(n), 0.5, True)), 'argument 4')
refused(lambda: add(8, 128, (a[::2], b, c, n, 0.5, True)), 'contiguous')
refused(lambda: add(8, 128, (list(a), b, c, n, 0.5, True)), 'is a list')
refused(lambda: add(0, 128, ()), 'no grid')
refused(lambda: add(1, 2000, (a, b, c, n, 0.5, True)), 'no device takes')
refused(lambda: attnlab.RawKernel(CODE, 'nosuch'), 'there are add, race')
refused(lambda: attnlab.RawKernel('int x', 'x'), 'kernel.cu')
