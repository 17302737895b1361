#!/bin/bash
# What of its reads a launch has from DRAM: what L2 has lost since it was read before, what the host has copied, and nothing
# of what the launch itself has stored.
. tests/tap.sh
unset CHIP ATTNLAB_RUN
dir=$tap_dir/work
mkdir "$dir"
needs_nvcc "reads from DRAM"
needs_nvdisasm "reads from DRAM"
cat > "$dir/reads.cu" << 'EOF2'
__global__ void sweep(const int4 *x, int *out, int n, int times) { /* the last iterations go on where they began */
    int s = 0;
    for (int k = 0, i = blockIdx.x * blockDim.x + threadIdx.x; k < n * times; k += gridDim.x * blockDim.x) {
        s += x[i].x;
        i += gridDim.x * blockDim.x;
        if (i >= n) i -= n;
    }
    if (s == 12345) *out = s;
}
__global__ void update(int4 *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i].x++, x[i].y++, x[i].z++, x[i].w++;
}
__global__ void copy(const int4 *x, int4 *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}
__global__ void store_and_read(volatile int *y, int *out, int n) {
    int s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = i, s += y[i];
    if (s == 12345) *out = s;
}
__global__ void update_part(int4 *x, int n) { /* all of it is read, an eighth is stored */
    int s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        s += x[i].x;
        if (i < n / 8) x[i].y = s;
    }
    if (s == 12345) x[0].x = s;
}
__global__ void gather(const int *x, int *y, int n) { /* a sector of each line, again and again; y once */
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(long long)i * 32 % n];
}
__global__ void read_last(volatile int *x, int *out, int n, int times) { /* the last one again, a few times */
    int s = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += gridDim.x * blockDim.x) s += x[i];
    i -= gridDim.x * blockDim.x;
    for (int k = 0; k < times; k++) s += x[i + (s == 12345)];
    if (s == 12345) *out = s;
}
__global__ void follow(const int *times, int *out) { /* as long as the data says */
    int s = 0;
    for (int k = 0; k < times[blockIdx.x]; k++) s = s * s + k;
    out[blockIdx.x] = s;
}
int main() {
    const int large = 128 << 20, small = 2 << 20, n = large / 16;
    char *host = new char[small](), *x, *y, *new_one, *from_host;
    int *out;
    cudaMalloc(&x, large), cudaMalloc(&y, large), cudaMalloc(&new_one, small), cudaMalloc(&from_host, small), cudaMalloc(&out, 4);
    sweep<<<1, 32>>>((int4 *)x, out, 32, 1); /* the first of the process */
    sweep<<<528, 256>>>((int4 *)x, out, n, 1);
    sweep<<<528, 256>>>((int4 *)x, out, n, 3);
    sweep<<<528, 256>>>((int4 *)x, out, n / 16, 1);
    sweep<<<528, 256>>>((int4 *)x, out, n / 16, 3);
    copy<<<528, 256>>>((int4 *)x, (int4 *)y, n);
    update<<<528, 256>>>((int4 *)x, n);
    for (int i = 0; i < 2; i++) store_and_read<<<264, 256>>>((int *)new_one, out, small / 4);
    cudaMemcpy(from_host, host, small, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; i++) sweep<<<264, 128>>>((int4 *)from_host, out, small / 16, 1);
    int times[] = {500, 2000, 2000};
    for (int i = 0; i < 3; i++) {
        cudaMemcpy(new_one, times + i, 4, cudaMemcpyHostToDevice);
        follow<<<1, 32>>>((int *)new_one, out);
    }
    update_part<<<528, 256>>>((int4 *)x, n);
    for (int times = 0; times <= 20; times += 20) read_last<<<528, 256>>>((int *)x, out, large / 4, times);
    gather<<<large / 4 / 256, 256>>>((int *)x, (int *)y, large / 4);
    cudaMemset(y, 0, large);
    sweep<<<528, 256>>>((int4 *)x, out, n / 2, 1);
    return cudaDeviceSynchronize();
}
EOF2
check "a program that reads and stores" env BUILD="$build" runtime/attnlab-nvcc -O3 -o "$dir/reads" "$dir/reads.cu"
"$build/run" --device emu --quiet --no-races --predict-only 19 --predict-budget 4 --json "$dir/reads.jsonl" "$dir/reads" > /dev/null
predicted() { # CONDITION, of its cycles by launch
    python3 -c 'import json, sys
cycles = {}
for k in json.load(open(sys.argv[1]))["kernels"]:
    for l in k["launches"]:
        cycles[l["number"]] = (l.get("predicted") or k["launches"][l["predicted_like"] - 1]["predicted"])["cycles_elapsed"]
_, once, thrice, little, little_thrice, copied, updated, new, again, from_host, read_again, *follow, part, read_last, again_20, gathered, flushed = (cycles[i] for i in range(19))
assert eval(sys.argv[2]), cycles' "$dir/reads.jsonl" "$1"
}
check "what is read three times comes from DRAM three times if L2 cannot keep it" predicted '2.8 < thrice / once < 3.2'
check "if it can, once" predicted 'little_thrice < 2 * little'
check "an array that is updated moves as much as one that is copied" predicted '0.85 < updated / copied < 1.15'
check "only the part that is stored has to leave L2" predicted '1 < part / once < 1.3'
check "no more is written back than was stored" predicted 'gathered < 21 * once'
check "reads behind a large memset wait for what it has left in L2 to be written" predicted '0.56 < flushed / once < 0.8'
check "what an SM has just read is in L2" predicted '20 * 200 < again_20 - read_last < 20 * 500'
check "what the launch has stored is in L2" predicted '0.98 < new / again < 1.02'
check "part of what the host has copied is in L2" predicted '1.05 < from_host / read_again < 1.3'
check "a launch whose data the host has changed is predicted anew" predicted 'follow[1] > 2 * follow[0] and follow[2] == follow[1]'
tap_done
