/* What the SMs of a GPC share on their way to L2 and DRAM: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o gpcs chips/bench/gpcs.cu && ./gpcs > gpcs.tsv
 *
 * The first line: each SM's GPC, found by which SMs a cluster of 2 to 16 has had. Then a line a case: what is read, which
 * SMs read, how many those are, bytes a cycle of all together, then SM,bytes a cycle of each. All read for the same time,
 * pieces of their own.
 *
 *   l2      16 bytes a thread past L1, 24 MiB in all, warm
 *   shared  the same 8 MiB by all
 *   dram    256 MiB in all
 *   write   the 24 MiB written */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

enum { THREADS = 512, SMS = 256, ROUND = 64 << 10, CYCLES = 150000, TURNS = 3 };
enum kind { L2, SHARED, DRAM, WRITE };
static const char *const kind_name[] = {"l2", "shared", "dram", "write"};

struct chosen {
    uint8_t reads[SMS];
    int n, place[SMS];
};

/* One CTA an SM, by its shared memory: when all have begun, those of SMs that are not chosen end. */
__global__ void __launch_bounds__(THREADS)
    stream(char *data, size_t bytes, int kind, const __grid_constant__ struct chosen c,
           int *arrived, uint64_t *rounds) {
    const uint32_t sm = sm_number();
    __shared__ int stop[2];
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < gridDim.x)
            ;
        stop[0] = stop[1] = 0;
    }
    __syncthreads();
    if (!c.reads[sm]) return;
    const size_t n_rounds = bytes / ROUND, each = n_rounds / c.n;
    const size_t first = kind == SHARED ? 0 : c.place[sm] * each,
                 n = kind == SHARED ? n_rounds : each;
    const uint64_t begin = cycles();
    uint64_t done = 0;
    uint32_t sum = 0;
    for (size_t i = 0;; i = i + 1 < n ? i + 1 : 0) {
        uint4 *at = (uint4 *)(data + (first + i) * ROUND) + threadIdx.x, x[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (kind == WRITE)
                asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at + k * THREADS),
                             "r"(sum));
            else
                asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[k].x), "=r"(x[k].y), "=r"(x[k].z), "=r"(x[k].w)
                             : "l"(at + k * THREADS));
        }
        if (kind != WRITE)
            for (int k = 0; k < 8; k++) sum += x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
        if (threadIdx.x == 0 && cycles() - begin > CYCLES) stop[done & 1] = 1;
        __syncthreads();
        done++;
        if (stop[(done - 1) & 1]) break;
    }
    if (sum == 12345) *rounds = 0;
    if (threadIdx.x == 0) rounds[sm] = done * ROUND * 1000 / (cycles() - begin);
}

__global__ void where(int *sm) { sm[blockIdx.x] = (int)sm_number(); }

static int gpc[SMS], sms;

/* SMs that one cluster has had at once lie in one GPC. */
static void find_gpcs() {
    int *sm;
    check(cudaMalloc(&sm, 4096 * sizeof *sm));
    check(cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    check(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    for (int i = 0; i < SMS; i++) gpc[i] = i;
    for (int size : {16, 12, 10, 8, 6, 4, 3, 2}) {
        cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension};
        cluster.val.clusterDim = {(unsigned)size, 1, 1};
        const int n = 4096 / size * size / 4;
        std::vector<int> got(n / size * size);
        cudaLaunchConfig_t config = {
            .gridDim = dim3(got.size()), .blockDim = 32, .dynamicSmemBytes = 200 << 10};
        config.attrs = &cluster;
        config.numAttrs = 1;
        if (cudaLaunchKernelEx(&config, where, sm) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        check(cudaMemcpy(got.data(), sm, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < got.size(); i++) {
            int a = gpc[got[i]], b = gpc[got[i / size * size]];
            for (int k = 0; k < SMS; k++)
                if (gpc[k] == a) gpc[k] = b;
        }
    }
    int next = 0, number[SMS];
    memset(number, -1, sizeof number);
    printf("gpc of SM");
    for (int i = 0; i < sms; i++) {
        if (number[gpc[i]] < 0) number[gpc[i]] = next++;
        printf("\t%d", number[gpc[i]]);
    }
    for (int i = 0; i < sms; i++) gpc[i] = number[gpc[i]];
    printf("\n");
}

static char *data;
static int *arrived;
static uint64_t *rounds;

static void measure(int kind, const char *who, const std::vector<int> &readers) {
    const size_t bytes = kind == DRAM ? 256u << 20 : kind == SHARED ? 8u << 20 : 24u << 20;
    struct chosen c = {};
    for (int sm : readers) {
        c.place[sm] = c.n++;
        c.reads[sm] = 1;
    }
    if (!c.n) return;
    check(cudaFuncSetAttribute(stream, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    for (int turn = 0; turn < TURNS; turn++) {
        check(cudaMemset(arrived, 0, sizeof *arrived));
        stream<<<sms, THREADS, 200 << 10>>>(data, bytes, kind, c, arrived, rounds);
        check(cudaDeviceSynchronize());
    }
    std::vector<uint64_t> r(SMS);
    check(cudaMemcpy(r.data(), rounds, SMS * sizeof r[0], cudaMemcpyDeviceToHost));
    double sum = 0;
    for (int sm : readers) sum += (double)r[sm] / 1000;
    printf("%s\t%s\t%d\t%.1f", kind_name[kind], who, c.n, sum);
    for (int sm : readers) printf("\t%d,%.2f", sm, (double)r[sm] / 1000);
    printf("\n");
    fflush(stdout);
}

int main() {
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaMalloc(&data, 256u << 20));
    check(cudaMemset(data, 1, 256u << 20));
    check(cudaMalloc(&arrived, sizeof *arrived));
    check(cudaMalloc(&rounds, SMS * sizeof *rounds));
    find_gpcs();
    std::vector<std::vector<int>> of(sms);
    std::vector<int> all, one_a_tpc;
    for (int i = 0; i < sms; i++) of[gpc[i]].push_back(i), all.push_back(i);
    for (int i = 0; i < sms; i += 2) one_a_tpc.push_back(i);
    int n_gpcs = 0;
    while (n_gpcs < sms && !of[n_gpcs].empty()) n_gpcs++;
    for (int kind : {L2, SHARED, DRAM, WRITE}) {
        char who[64];
        for (int n : {1, 2, 3, 4, 6, 8, 12, 16, 18}) {
            if (n > (int)of[0].size()) continue;
            snprintf(who, sizeof who, "%d of GPC 0", n);
            measure(kind, who, std::vector<int>(of[0].begin(), of[0].begin() + n));
        }
        measure(kind, "two of two TPCs", {of[0][0], of[0][2]});
        for (int g = 0; g < n_gpcs; g++) {
            snprintf(who, sizeof who, "GPC %d", g);
            measure(kind, who, of[g]);
        }
        for (int n : {1, 2, 4, 6, 8, 12, 14, 16}) {
            std::vector<int> some;
            for (int g = 0; g < n_gpcs; g++)
                for (int i = 0; i < n && i < (int)of[g].size(); i++) some.push_back(of[g][i]);
            snprintf(who, sizeof who, "%d of each GPC", n);
            measure(kind, who, some);
        }
        for (int n : {2, 4}) {
            std::vector<int> some;
            for (int g = 0; g < n && g < n_gpcs; g++)
                some.insert(some.end(), of[g].begin(), of[g].end());
            snprintf(who, sizeof who, "%d GPCs", n);
            measure(kind, who, some);
        }
        measure(kind, "one of each TPC", one_a_tpc);
        std::vector<int> uneven = of[0];
        for (int g = 1; g < n_gpcs; g++)
            uneven.insert(uneven.end(), of[g].begin(),
                          of[g].begin() + std::min<size_t>(4, of[g].size()));
        measure(kind, "GPC 0 and 4 of each other", uneven);
        measure(kind, "all", all);
    }
    return 0;
}
