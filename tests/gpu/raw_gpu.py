"""attnlab.RawKernel on a GPU's own tensors: PyTorch and CuPy, streams, graphs, clusters, much shared memory, refusals."""

import attnlab
import numpy as np
import torch

from tap import check, end, refused

CODE = r'''
#include <cuda_fp16.h>
#include <cooperative_groups.h>
__global__ void add(const float *a, const float *b, float *c, int n, float scale, bool negate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = scale * (a[i] + b[i]) * (negate ? -1 : 1);
}
template <int TILE> __global__ void reversed(half *x) { // a block's elements, by way of 100 KiB of shared memory
    extern __shared__ half tile[];
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) tile[i] = x[blockIdx.x * TILE + i];
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) x[blockIdx.x * TILE + i] = tile[TILE - 1 - i];
}
template __global__ void reversed<51200>(half *);
__global__ void ranks(int *x) { // a cluster's blocks, each of which writes its neighbour's shared memory
    __shared__ int mine;
    auto cluster = cooperative_groups::this_cluster();
    int rank = (int)cluster.block_rank(), n = (int)cluster.num_blocks();
    cluster.sync();
    if (threadIdx.x == 0) *cluster.map_shared_rank(&mine, (rank + 1) % n) = 100 * n + rank;
    cluster.sync();
    if (threadIdx.x == 0) x[blockIdx.x] = mine;
}
'''
n = 1000
a, b = torch.randn(n, device='cuda'), torch.randn(n, device='cuda')
c = torch.zeros(n, device='cuda')
add = attnlab.RawKernel(CODE, 'add')
add((8,), (128,), (a, b, c, n, 0.5, True))
check('PyTorch', torch.allclose(c, -0.5 * (a + b)))

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    torch.cuda._sleep(50_000_000)
    late = torch.full((n,), 3.0, device='cuda')
    add(8, 128, (late, b, c, n, 2.0, False))
side.synchronize()
check('on a stream that is busy', torch.allclose(c, 2 * (3 + b)))

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    add(8, 128, (a, b, c, n, 1.0, False))
right = True
for _ in range(3):
    a.copy_(torch.randn_like(a))
    graph.replay()
    torch.cuda.synchronize()
    right &= torch.allclose(c, a + b)
check('captured and replayed', right)

x = torch.randn(4 * 51200, device='cuda').half()
before = x.clone()
attnlab.RawKernel(CODE, 'reversed')(4, 256, (x,), shared_mem=2 * 51200)
check('100 KiB of shared memory, a template', torch.equal(x, before.view(4, 51200).flip(1).flatten()))
x = torch.zeros(8, device='cuda', dtype=torch.int32)
attnlab.RawKernel(CODE, 'ranks')(8, 32, (x,), cluster=4)
check('clusters', x.tolist() == [403, 400, 401, 402] * 2, x)

try:
    import cupy
    with cupy.cuda.Stream(non_blocking=True) as stream:
        mine = [cupy.random.standard_normal(n).astype(cupy.float32) for _ in range(2)] + [cupy.zeros(n, cupy.float32)]
        add(8, 128, (*mine, n, 1.0, False))
        stream.synchronize()
    check('CuPy, on its stream', bool(cupy.allclose(mine[2], mine[0] + mine[1])))
except ImportError:
    check('CuPy # SKIP there is none', True)

host = [np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)]
add(8, 128, (*host, n, 1.0, False))
check('the same on the emulator, counted', np.array_equal(host[2], host[0] + host[1]) and add.counters['st_global'] == 32)
cpu = [torch.arange(n).float(), torch.ones(n), torch.zeros(n)]
add(8, 128, (*cpu, n, 1.0, False))
check("PyTorch's tensors of the host, on the emulator", torch.equal(cpu[2], cpu[0] + cpu[1]))


def count():
    k = attnlab.RawKernel(CODE, 'add')
    k(8, 128, (a, b, c, n, 1.0, False))
    return k.counters


refused('both sides', 'some on the host', lambda: add(8, 128, (a, host[1], c, n, 1.0, False)))
refused('an argument too few', 'takes 6 arguments', lambda: add(8, 128, (a, b, c, n, 1.0)))
refused('not contiguous', 'contiguous', lambda: add(8, 128, (a[::2], b, c, n, 1.0, False)))
refused('too many threads', 'cuLaunchKernelEx', lambda: add(8, 2000, (a, b, c, n, 1.0, False)))
refused('nothing is counted', 'on a GPU nothing is counted', count)
end()
