/* Which CTAs get the first numbers of a counter in global memory: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o taken chips/bench/taken.cu && ./taken > taken.tsv
 *
 * CTAs, `fit` on each SM, wait so many cycles, then add 1 to one word, as persistent CTAs do that take their next tile.
 * `copies`: before that they copy 32 KiB from L2 to shared memory, each its own, without waiting for it.
 * A line a launch: fit, cycles of waiting, KiB copied; of the CTAs with the first 8, 16, 32 and 64 numbers how many SMs
 * they are on; then of each CTA, by its index: SM, number, ns of its begin, of its question and of its answer. */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

enum { LAUNCHES = 6, WARM = 2, COPY = 16 << 10 };
struct record {
    uint32_t sm, number;
    uint64_t begin_ns, asked_ns, answered_ns;
};

__global__ void take(uint32_t *counter, const char *data, int waits, int copies, record *out) {
    extern __shared__ __align__(128) char to[];
    __shared__ uint64_t full;
    if (threadIdx.x) return;
    const uint64_t begin = nanoseconds(), from = cycles();
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to),
                   barrier = (uint32_t)__cvta_generic_to_shared(&full);
    mbarrier_init(barrier, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    if (copies) mbarrier_arrive_expect_tx(barrier, copies * COPY);
    for (int i = 0; i < copies; i++)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"(at + i * COPY),
                     "l"(data + (blockIdx.x * copies + i) * COPY), "r"(COPY), "r"(barrier)
                     : "memory");
    while (cycles() - from < (uint64_t)waits)
        ;
    const uint64_t asked = nanoseconds();
    const uint32_t number = atomicAdd(counter, 1);
    asm volatile("" ::"r"(number) : "memory");
    out[blockIdx.x] = {sm_number(), number, begin, asked, number == ~0u ? 0 : nanoseconds()};
    if (copies) wait_for(barrier, 0);
}

int main() {
    int sms;
    uint32_t *counter;
    char *data;
    record *records;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaMalloc(&counter, 4));
    check(cudaMalloc(&data, 2 * sms * 2 * COPY));
    check(cudaMalloc(&records, 2 * sms * sizeof *records));
    check(cudaMemset(data, 0, 2 * sms * 2 * COPY));
    check(cudaFuncSetAttribute(take, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    for (int fit = 1; fit <= 2; fit++)
        for (int waits : {0, 1000, 3000})
            for (int copies : {0, 2})
                for (int i = 0; i < LAUNCHES; i++) {
                    std::vector<record> r(fit * sms);
                    check(cudaMemset(counter, 0, 4));
                    take<<<fit * sms, 128, (200 << 10) / fit>>>(counter, data, waits, copies,
                                                                records);
                    check(cudaMemcpy(r.data(), records, r.size() * sizeof r[0],
                                     cudaMemcpyDeviceToHost));
                    if (i < WARM) continue;
                    uint64_t begin = UINT64_MAX;
                    for (const record &x : r) begin = std::min(begin, x.begin_ns);
                    printf("%d\t%d\t%d", fit, waits, copies * COPY >> 10);
                    for (uint32_t first : {8, 16, 32, 64}) {
                        std::set<uint32_t> on;
                        for (const record &x : r)
                            if (x.number < first) on.insert(x.sm);
                        printf("\t%zu", on.size());
                    }
                    for (const record &x : r)
                        printf("\t%u,%u,%d,%d,%d", x.sm, x.number, (int)(x.begin_ns - begin),
                               (int)(x.asked_ns - begin), (int)(x.answered_ns - begin));
                    printf("\n");
                }
    return 0;
}
