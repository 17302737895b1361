#!/bin/bash
# Kernels of chips/bench/launches/classes.cu, predicted for an H100, beside what one counted; and launches that a short budget
# cuts off.
. tests/tap.sh
unset CHIP ATTNLAB_RUN
dir=$tap_dir/work
mkdir "$dir"
needs_nvcc "kernels of courses"
needs_nvdisasm "kernels of courses"
cat > "$dir/some.cu" << 'EOF2'
#define main all_of_them
#include "chips/bench/launches/classes.cu"
#undef main
__global__ void two_loops(const float *x, float *out, int m) { /* as many loads in each, but a third of the instructions in one */
    const float *row = x + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * m;
    float most = -1, sum = 0;
    for (int k = 0; k < m; k++) most = fmaxf(most, row[k]);
    for (int k = 0; k < m; k++) sum += expf(row[k] - most) * logf(row[k] + 2);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void add(const double *a, const double *b, double *c, int n) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < n && j < n) c[i * n + j] = a[i * n + j] + b[i * n + j];
}
__global__ void sums(float *out, int n) { /* of all threads, at one word of shared memory */
    __shared__ float sum;
    sum = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) atomicAdd(&sum, 1.f);
    __syncthreads();
    out[threadIdx.x] = sum;
}
int main(int argc, char **argv) {
    const int n = 7000;
    char *a, *b, *c;
    for (char **p : {&a, &b, &c}) check(cudaMalloc(p, n * n * 8));
    float *x = (float *)a, *z = (float *)c;
    if (argc > 1) {
        if (argc > 2)
            two_loops<<<256, 32>>>(x, z, 1024); /* one or two on an SM, which would have room for 32 */
        else
            two_loops<<<4, 1024>>>(x, z, 1024);
        check(cudaDeviceSynchronize());
        return 0;
    }
    is("row, a block of 1024, 401 words, again"), row<<<1, 1024>>>(x, z, 401);
    is("row, a block of 1024, 404 words, again"), row<<<1, 1024>>>(x, z, 404);
    is("row, a block of 1024, 400 words, again"), row<<<1, 1024>>>(x, z, 400);
    is("row, a block of 1024, 416 words, again"), row<<<1, 1024>>>(x, z, 416);
    is("few, 1024 words, by chance"), few<<<1056, 256>>>((int *)x, 1024, 16, 1, 0);
    is("few, 256 words, by chance, read first, an SM"), few<<<1, 256>>>((int *)x, 256, 16, 1, 1);
    is("few, 256 words, side by side, read first"), few<<<1056, 256>>>((int *)x, 256, 16, 0, 1);
    add<<<dim3(438, 438), dim3(16, 16)>>>((double *)a, (double *)b, (double *)c, n);
    for (int threads : {32, 128})
        for (int k : {8, 24}) sums<<<1, threads>>>(z, k);
    check(cudaDeviceSynchronize());
    return 0;
}
EOF2
runtime/attnlab-nvcc -O3 -std=c++17 -I. -o "$dir/some" "$dir/some.cu" > "$tap_dir/log" 2>&1
emulated() { # RECORD OPTION...: a record of the run
    local record=$1
    shift
    "$build/run" --device emu --chip h100 --no-races --quiet --cache warm --max-instructions 2e7 --json "$record" "$@" > "$dir/said" 2> "$tap_dir/err"
}
emulated "$dir/all.jsonl" --predict-only 12 "$dir/some"
cycles() { # RECORD LAUNCH
    python3 -c '
import json, sys
print(next(l["predicted"]["cycles_elapsed"] for k in json.loads(open(sys.argv[1]).readline())["kernels"] for l in k["launches"] if l["number"] == int(sys.argv[2])))' "$@"
}
counted() { zcat records/chips/classes-h100.tsv.gz | awk -F'\t' -v what="$1" '$3 == "elapsed" && substr($2, index($2, " ") + 1) == what {print $4}'; }
near() { echo "$1 predicted, $2 wanted"; awk -v a="$1" -v b="$2" -v off="$3" 'BEGIN {e = a / b - 1; exit !(b > 0 && e < off && e > -off)}'; }
launch=-1
beside() { # NAME OFF: the next launch
    launch=$((launch + 1))
    check "$1" near "$(cycles "$dir/all.jsonl" $launch)" "$(counted "$1")" "$2"
}
beside "row, a block of 1024, 401 words, again" 0.06
beside "row, a block of 1024, 404 words, again" 0.06
beside "row, a block of 1024, 400 words, again" 0.06
beside "row, a block of 1024, 416 words, again" 0.06
beside "few, 1024 words, by chance" 0.2
beside "few, 256 words, by chance, read first, an SM" 0.06

check "one line of each access is no trouble" near "$(cycles "$dir/all.jsonl" 6)" "$(counted "few, 256 words, side by side, read first")" 0.6
check "rows that begin within lines are read whole (freeze 6, an H100: 758,889 cycles)" near "$(cycles "$dir/all.jsonl" 7)" 758889 0.1

a_sum() { awk -v a="$(cycles "$dir/all.jsonl" "$1")" -v b="$(cycles "$dir/all.jsonl" $(($1 + 1)))" 'BEGIN {print (b - a) / 16}'; } # of 16 more
measured() { zcat records/chips/h100-foreign.tsv.gz | awk -F'\t' -v w="shared float, one address, $1 warps, 1 SMs" -v n="$1" '$2 == w {print $4 * n; exit}'; }
check "lanes of a warp add floats in shared memory one after the other" near "$(a_sum 8)" "$(measured 1)" 0.05
check "and warps beside each other" near "$(a_sum 10)" "$(measured 4)" 0.05

emulated "$dir/whole.jsonl" --predict-only 1 "$dir/some" two_loops
emulated "$dir/cut.jsonl" --predict-only 1 --predict-budget 1 "$dir/some" two_loops
check "a launch that is cut off goes on as fast as its instructions did" near "$(cycles "$dir/cut.jsonl" 0)" "$(cycles "$dir/whole.jsonl" 0)" 0.1
rm "$dir/whole.jsonl" "$dir/cut.jsonl"
emulated "$dir/whole.jsonl" --predict-only 1 "$dir/some" two_loops wave
emulated "$dir/cut.jsonl" --predict-only 1 --predict-budget 0.8 "$dir/some" two_loops wave
check "blocks that never meet on an SM take no budget" near "$(cycles "$dir/cut.jsonl" 0)" "$(cycles "$dir/whole.jsonl" 0)" 0.1
tap_done
