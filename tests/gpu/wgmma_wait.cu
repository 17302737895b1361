/* Is a WGMMA one operation of its warpgroup? One warp of four is late. Another one, whose wait may have ended before the
 * late one issues its part, overwrites A or B. The late warp's sums say which values its part has read. Exit status 1:
 * new ones. */
#include "common/cuda/ptx_sm90.cuh"

#include <cstdio>

enum place { NOWHERE, BEFORE_FENCE, BEFORE_FIRST, BEFORE_SECOND, BEFORE_COMMIT, N_PLACES };
constexpr int PRODUCTS = 8, A_WORDS = 512;
constexpr uint32_t ONES = 0x3c003c00, TWOS = 0x40004000;

struct plan {
    int place, late, writer; // where a warp is late, and which; which one overwrites
    bool to_a, early; // A or B; before the products, which the late warp keeps from beginning
};
struct seen { // of each warp: when its second product was issued and its wait ended; its last sum
    long long issued, waited;
    float sum;
};

static __device__ uint64_t matrix(const void *smem) {
    return gmma_desc_encode({smem_address(smem), 128, 256, 0, GMMA_SWIZZLE_NONE});
}

// Without a branch, since ptxas orders the warps anew (WARPGROUP.ARRIVE) before the first product behind one.
static __device__ void be_late(bool late) {
    const uint32_t ns = late ? 100000 : 0;
    asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}

static __device__ void fill(uint32_t *words, int n, uint32_t value, int first, int step) {
    for (int i = first; i < n; i += step) words[i] = value;
    fence_proxy_async();
}

// A is 64 x 16 and B N x 16, all ones, so that each product adds 16, and 32 with twos in A or B.
template <int N> static __device__ __forceinline__ void multiply(seen *out, plan p) {
    __shared__ alignas(128) uint32_t a[A_WORDS], b[N * 8];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, n = p.to_a ? A_WORDS : N * 8;
    const bool late = warp == p.late, writes = warp == p.writer;
    float d[N / 8][4] = {};
    fill(a, A_WORDS, ONES, tid, 128);
    fill(b, N * 8, ONES, tid, 128);
    __syncthreads(); // a and b are complete
    const long long start = clock64();
    if (writes && p.early) fill(p.to_a ? a : b, n, TWOS, lane, 32);
    be_late(late && p.place == BEFORE_FENCE);
    wgmma_fence();
    be_late(late && p.place == BEFORE_FIRST);
    wgmma_m64k16_ss<N>(d, matrix(a), matrix(b), 1);
    be_late(late && p.place == BEFORE_SECOND);
    const long long issued = clock64() - start;
#pragma unroll
    for (int i = 1; i < PRODUCTS; i++) wgmma_m64k16_ss<N>(d, matrix(a), matrix(b), 1);
    be_late(late && p.place == BEFORE_COMMIT);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    const long long waited = clock64() - start;
    if (writes && !p.early) fill(p.to_a ? a : b, n, TWOS, lane, 32);
    if (lane == 0) out[warp] = {issued, waited, d[N / 8 - 1][3]};
}

extern "C" __global__ void __launch_bounds__(128) small(seen *out, plan p) { multiply<8>(out, p); }
extern "C" __global__ void __launch_bounds__(128) large(seen *out, plan p) {
    multiply<256>(out, p);
}

struct range {
    double from, to;
};
static void widen(range *r, double x) {
    if (x < r->from) r->from = x;
    if (x > r->to) r->to = x;
}

// A warp is late at this place: whoever overwrites, and whatever. False: some sum is not `sum`.
static bool row(seen *out, int n, plan p, const char *name, float sum) {
    range issued = {1e18, 0}, waited = {1e18, 0}, sums = {1e18, 0};
    for (int other = 1; other < 4; other++)
        for (int to_a = 0; to_a < 2; to_a++) {
            p.writer = (p.late + other) % 4;
            p.to_a = to_a;
            (n == 8 ? small : large)<<<1, 128>>>(out, p);
            if (cudaDeviceSynchronize()) return false;
            widen(&issued, out[p.late].issued);
            widen(&waited, out[p.writer].waited);
            widen(&sums, out[p.late].sum);
        }
    printf("%4d  %-17s%5d%10.0f to %6.0f%13.0f to %6.0f%8.0f to %3.0f\n", n, name, p.late,
           issued.from, issued.to, waited.from, waited.to, sums.from, sums.to);
    return sums.from == sum && sums.to == sum;
}

int main() {
    static const char *const names[N_PLACES] = {"nowhere", "before the fence", "before product 1",
                                                "before product 2", "before the commit"};
    seen *out;
    int major = 0;
    bool right = true;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) || major != 9)
        return 77;
    if (cudaMallocManaged(&out, 4 * sizeof *out)) return 4;
    printf("%4s  %-17s%5s%20s%23s%15s\n", "N", "a warp is late", "which", "issues product 2 at",
           "the writer waits till", "its sums");
    for (int n = 8; n <= 256; n += 248) {
        for (int place = 0; place < N_PLACES; place++)
            for (int late = 0; late < 4; late++)
                right &= row(out, n, {place, late, 0, false, false}, names[place], 16 * PRODUCTS);
        for (int late = 0; late < 4; late++) // what is written in time is seen
            right &=
                row(out, n, {BEFORE_FENCE, late, 0, false, true}, "written early", 32 * PRODUCTS);
    }
    return right ? 0 : 1;
}
