/* Which sub-core the warps of several CTAs on an SM get: some warps of each CTA compute, the others end soon. Warps that share
 * a sub-core slow each other down when more than four of them do nothing but dependent FFMA. A program of its own:
 *
 *   nvcc -O3 -std=c++17 -arch=sm_90a -o warps chips/bench/warps.cu && ./warps > warps.tsv
 *
 * A line a case: CTAs for each SM at a time, warps of each, rounds of such CTAs, the mask of the warps that compute (hexadecimal,
 * warp 0 the lowest bit), and the cycles of an SM from its first stamp to its last, mean of all SMs, the least of three launches.
 * 2000 x 16 FFMA of a warp take 128,000 cycles alone; eight warps of one sub-core would take 256,000. */
#include "check.cuh"

#include <algorithm>
#include <vector>

enum { SMS = 132, LONG = 2000, SHORT = 20, UNROLLED = 16 };
struct stamps {
    unsigned sm;
    long long begin, end;
};

__global__ void work(unsigned mask, float *out, stamps *at) {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const long long begin = clock64();
    float x = threadIdx.x;
    for (int i = 0; i < (mask >> warp & 1 ? LONG : SHORT); i++) {
#pragma unroll
        for (int k = 0; k < UNROLLED; k++) x = x * 1.5f + 1;
    }
    if (x == 12345) *out = x;
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x % 32 == 0) at[blockIdx.x * warps + warp] = {sm, begin, clock64()};
}

static double mean_cycles(const std::vector<stamps> &at) {
    double sum = 0;
    int n = 0;
    for (unsigned sm = 0; sm < SMS; sm++) {
        long long begin = 0, end = 0;
        for (const stamps &s : at) {
            if (s.sm != sm) continue;
            begin = end ? std::min(begin, s.begin) : s.begin;
            end = std::max(end, s.end);
        }
        sum += (double)(end - begin), n += end > 0;
    }
    return sum / n;
}

int main() {
    stamps *at;
    float *out;
    check(cudaMalloc(&at, SMS * 64 * 3 * sizeof *at));
    check(cudaMalloc(&out, sizeof *out));
    for (int warps : {4, 8, 16})
        for (int ctas = 1; ctas * warps <= 64 && ctas <= 8; ctas *= 2)
            for (int rounds : {1, 3})
                for (unsigned mask : {0x1u, 0x11u, 0x21u, 0x1111u, 0x3u, 0xfu}) {
                    if (warps < 16 && mask >> warps) continue;
                    std::vector<stamps> host(SMS * ctas * rounds * warps);
                    double least = 0;
                    for (int turn = 0; turn < 3; turn++) {
                        work<<<SMS * ctas * rounds, warps * 32>>>(mask, out, at);
                        check(cudaMemcpy(host.data(), at, host.size() * sizeof *at,
                                         cudaMemcpyDeviceToHost));
                        const double cycles = mean_cycles(host);
                        least = turn ? std::min(least, cycles) : cycles;
                    }
                    printf("%d\t%d\t%d\t%x\t%.0f\n", ctas, warps, rounds, mask, least);
                }
    return 0;
}
