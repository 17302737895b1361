#!/bin/bash
# build/run: whole programs, one kernel without a program, Python; what it says of bad ones.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset CHIP ATTNLAB_RUN
run=$build/run
dir=$tap_dir/work
mkdir "$dir"

if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "build/run" "no nvcc here"
    tap_done
fi
compile() { # OUT SOURCE FLAGS...
    local out=$1 source=$2
    shift 2
    BUILD=$build NVCC=$NVCC runtime/attnlab-nvcc -O3 -std=c++17 -o "$out" "$source" "$@"
}

# ---- The examples, each verifying itself
for example in examples/*.cu; do
    name=$(basename "$example" .cu)
    check "$name is right" "$run" --device emu --quiet "$build/examples/$name"
done
check "sgemm on an L4" bash -c "CHIP=l4 BUILD=$build NVCC=$NVCC runtime/attnlab-nvcc -o $dir/l4 examples/sgemm.cu && $run --device emu --chip l4 --quiet $dir/l4"
emulated() { "$run" --device emu "$@"; }
check "conflicts are counted" says 'transpose<0> +1 .* 52700 +\+1406%' 0 emulated "$build/examples/transpose"
check "instructions are those of machine code" grep -qE '^transpose<0> +1 +10x6 +32x8 +4096 +[0-9]+ +[0-9.]+ +14950 ' "$tap_dir/said"
check "or of PTX, and it is said" says '^transpose<0> +1 +10x6 +32x8 +4096 +89660 PTX +29.0 +14950 ' 0 emulated --count-ptx "$build/examples/transpose"
check "a static array is shared memory, too" grep -qE '^transpose<0> +1 +10x6 +32x8 +4096 ' "$tap_dir/said"
check "the last is the screen of the hottest kernel" bash -c "sed -n '/^The hottest kernel: transpose<0>, 1 launch/,$ p' '$tap_dir/said' | grep -q '^bank conflicts'"
check "three meters, of a kernel without shared memory, too" says '^bank conflicts .* 0.0 % No access to shared memory.$' 0 emulated --kernel-name naive "$build/examples/sgemm"
cat > "$dir/long.cu" << 'EOF'
template <int A, int B, int C> struct MainloopSm90TmaGmmaWarpSpecialized {};
template <class T, class U> struct GemmUniversalOfTwoMainloops {};
template <class Operator> __global__ void device_kernel(float *x) { x[threadIdx.x] = 1; }
int main() {
    float *x;
    cudaMalloc(&x, 128);
    device_kernel<GemmUniversalOfTwoMainloops<MainloopSm90TmaGmmaWarpSpecialized<1, 2, 3>, MainloopSm90TmaGmmaWarpSpecialized<128, 256, 64>>><<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
EOF
check "a program with a name of CUTLASS's length compiles" compile "$dir/long" "$dir/long.cu"
check "it is shortened in its middle" says '^The hottest kernel: device_kernel<[A-Za-z]*[.][.][.].*<128, 256, 64> > >, 1 launch$' 0 env COLUMNS=100 "$run" --device emu "$dir/long"
check "and fits a screen of 100 columns" bash -c "! sed -n '/^The hottest/,$ p' '$tap_dir/said' | grep -q '.\{101\}'"
table() { # one table alone, whatever the program prints
    emulated --csv --counters SHARED $ptx "$build/examples/transpose" > "$tap_dir/csv" 2> "$tap_dir/err" && python3 - "$tap_dir/csv" "$unit" << 'EOF'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) > 20 and all(None not in r and None not in r.values() for r in rows), "rows of one length"
for r in rows: assert r["na"] and not r["value"] or float(r["value"]) is not None, r
assert [r["unit"] for r in rows if r["name"] == "instructions"][0] == sys.argv[2]
assert {r["group"] for r in rows} >= {"launch", "SHARED"} and [r["value"] for r in rows if r["name"] == "shared_wavefronts"][0] == "52700"
EOF
}
unit="warp inst"
check "--csv is one table" table
check "the program's words and the banner go to stderr" bash -c "grep -q '^conflicts: PASS' '$tap_dir/err' && grep -q '^run: emulator' '$tap_dir/err'"
unit="PTX warp inst" ptx=--count-ptx
check "PTX is named there" table
check "--kernel-name" bash -c "'$run' --device emu --kernel-name '<1>' '$build/examples/transpose' | grep '^transpose' | grep -qv '<0>' && ! '$run' --device emu --kernel-name '<1>' '$build/examples/transpose' | grep -q '<0>'"
status "--kernel-name that is no expression" 2 "$run" --kernel-name '[' "$build/examples/transpose"
check "--kernel-name that matches none" says 'kernel-name none matches no kernel; there are:' 2 emulated --kernel-name none "$build/examples/transpose"
check "those that there are" grep -qx '    transpose<1>' "$tap_dir/said"
check "--launch-skip, --launch-count" says '^run: emulator .h200., 1 kernel, 1 launch,' 0 emulated --launch-skip 1 --launch-count 1 "$build/examples/transpose"
check "the second launch" bash -c "grep -q '^transpose<1> ' '$tap_dir/said' && ! grep -q '^transpose<0> ' '$tap_dir/said'"
check "what was left out is said" grep -qx '1 launch ran and was not counted (--launch-skip, --launch-count)' "$tap_dir/said"
check "it ran: answers are right" grep -q '^conflicts: PASS' "$tap_dir/said"
check "launches are numbered of kernels that match" says '^transpose<1> +1 ' 0 emulated --kernel-name '<1>' --launch-count 1 "$build/examples/transpose"
check "a skip beyond the last" says 'no launch is left by --launch-skip 2: there were 2' 2 emulated --launch-skip 2 "$build/examples/transpose"
check "what is not counted is checked" says 'race in kernel' 1 emulated --launch-skip 1 --without "$(grep -n 'the tile is complete' examples/transpose.cu | cut -d: -f1)" "$build/examples/transpose"
status "--launch-skip beside --repeats" 2 "$run" --repeats 1 --launch-skip 1 "$build/examples/transpose"
status "--launch-count of none" 2 "$run" --launch-count 0 "$build/examples/transpose"
check "--predict-only ends the program" says '^run: emulator .h200., 1 kernel, 1 launch,' 0 emulated --predict-only 1 --json "$dir/only.jsonl" "$build/examples/transpose"
check "before it looks at its answers" bash -c "! grep -q PASS '$tap_dir/said'"
check "the launch has a prediction and a number" python3 -c 'import json, sys
l, = json.load(open(sys.argv[1]))["kernels"][0]["launches"]
assert l["number"] == 0 and l["predicted"]["cycles_elapsed"] > 3000 and l["grid"] == [10, 6, 1], l' "$dir/only.jsonl"
check "--predict-only of more launches than there are" says '^conflicts: PASS' 0 emulated --predict-only 9 "$build/examples/transpose"
cat > "$dir/long.cu" << 'EOF'
__global__ void loop(float *x, long n) {
    float a = threadIdx.x;
    for (long i = 0; i < n; i++) a = a * 1.0001f + 0.5f;
    x[threadIdx.x] = a;
}
__global__ void after(float *x) { x[threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 4096);
    loop<<<1, 32>>>(x, 1L << 31);
    if (cudaDeviceSynchronize() != cudaSuccess) return 3;
    after<<<1, 32>>>(x);
    loop<<<1, 32>>>(x, 1L << 20);
    return cudaDeviceSynchronize();
}
EOF
check "a program with a launch that is too long" compile "$dir/long" "$dir/long.cu"
emulated --quiet --predict-only 8 --predict-budget 1 --max-instructions 1e6 --json "$dir/long.jsonl" "$dir/long" > /dev/null
check "--predict-only: behind a launch that is too long the next one is predicted, and neither is counted as machine code" python3 -c 'import json, sys
loop, after = json.load(open(sys.argv[1]))["kernels"]
assert "no block had ended" in loop["launches"][0]["predicted"]["na"] and after["launches"][0]["predicted"]["cycles_elapsed"] > 3000
assert {k["launches"][0]["counted"] for k in (loop, after)} == {"ptx"}' "$dir/long.jsonl"
emulated --quiet --predict-only 8 --predict-budget 6 --max-instructions 1e6 --json "$dir/whole.jsonl" "$dir/long" > /dev/null
check "the only block is longer than the budget: what is left of it is executed without time" python3 -c 'import json, sys
short, whole = (json.load(open(f))["kernels"][0]["launches"][1]["predicted"] for f in sys.argv[1:])
assert whole["cycles_elapsed"] > 1e6 and abs(short["cycles_elapsed"] / whole["cycles_elapsed"] - 1) < 0.01, (short, whole)
assert "extrapolated" in short["validated"] and "extrapolated" not in whole["validated"], (short, whole)' "$dir/long.jsonl" "$dir/whole.jsonl"
cat > "$dir/twice.cu" << 'EOF'
#include <cstdio>
#include <cstdlib>
__global__ void add(float *x) { x[threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 128), cudaMemset(x, 0, 128);
    add<<<1, 32>>>(x);
    char *p = (char *)malloc(5000), *q = (char *)malloc(5000);
    printf("%d\n", p == q);
    free(p);
    free(p); /* the C library aborts, and keeps its heap locked */
}
EOF
check "a program that frees memory twice" compile "$dir/twice" "$dir/twice.cu" -w
check "its launches are told, and it ends as it does without" says '^add +1 +1 +32 ' 134 timeout 30 "$run" --device emu --json "$dir/twice.jsonl" "$dir/twice"
check "there is a record" grep -q '"name": *"add"' "$dir/twice.jsonl"
cat > "$dir/gives_up.cu" << 'EOF'
#include <cstdlib>
__global__ void add(float *x) { x[threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 4096);
    add<<<1, 32>>>(x);
    if (cudaDeviceSynchronize() == cudaSuccess) abort();
}
EOF
check "a program that aborts" compile "$dir/gives_up" "$dir/gives_up.cu"
check "is reported, and its status is its own" says '^add +1 +1 +32 ' 134 emulated --no-predict "$dir/gives_up"
status "--predict-only of none" 2 "$run" --predict-only 0 "$build/examples/transpose"
cat > "$dir/l2.cu" << 'EOF'
__global__ void sum(const float4 *x, float *out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i].x + x[i].w;
    if (s == 12345) *out = s;
}
int main(int argc, char **) { /* an argument: L2 is full of other data before */
    const int bytes = 8 << 20, all = 128 << 20;
    char *host = new char[bytes](), *x, *out, *managed, *other;
    cudaMalloc(&x, bytes), cudaMalloc(&out, 4), cudaMallocManaged(&managed, bytes), cudaMalloc(&other, all);
    if (argc > 1) cudaMemset(other, 0, all);
    cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; i++) sum<<<528, 256>>>((float4 *)x, (float *)out, bytes / 16);
    cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice);
    sum<<<528, 256>>>((float4 *)x, (float *)out, bytes / 16);
    cudaMemset(x, 0, bytes);
    sum<<<528, 256>>>((float4 *)x, (float *)out, bytes / 16);
    for (int i = 0; i < 2; i++) sum<<<528, 256>>>((float4 *)managed, (float *)out, bytes / 16);
    return cudaDeviceSynchronize();
}
EOF
check "a program that copies, reads and sets" compile "$dir/l2" "$dir/l2.cu"
emulated --quiet --no-races --predict-only 6 --json "$dir/l2.jsonl" "$dir/l2" full > /dev/null
emulated --quiet --no-races --predict-only 1 --json "$dir/l2_room.jsonl" "$dir/l2" > /dev/null
check "what the host copied is not in L2 unless it was there before, or L2 has room; managed memory has to come first" python3 -c 'import json, sys
k, room = [json.load(open(path))["kernels"][0] for path in sys.argv[1:]]
all = [l.get("predicted") or k["launches"][l["predicted_like"] - 1]["predicted"] for l in k["launches"]]
copied, again, anew, set, managed, there = [p.get("cycles_elapsed", p.get("na")) for p in all]
assert copied > 1.2 * again and anew == again and set < 1.05 * again and there < 1.2 * again, all
assert room["launches"][0]["predicted"]["cycles_elapsed"] < 0.92 * copied, (room, copied)
assert "has to come from the host" in managed, managed' "$dir/l2.jsonl" "$dir/l2_room.jsonl"
check "--list-counters" bash -c "'$run' --list-counters | grep -q '^TENSOR: '"
check "counter groups" says 'transpose<1> +SHARED +bank_conflicts +0 ' 0 emulated --counters SHARED "$build/examples/transpose"
check "counts beside source lines" says '52700 .*\| *[0-9]+ +b\[|49200|\+[0-9]+% .*tile\[threadIdx.x\]' 0 emulated --source "$build/examples/transpose"
check "without a barrier there is a race" says 'race in kernel' 1 emulated --without "$(grep -n 'the tile is complete' examples/transpose.cu | cut -d: -f1)" "$build/examples/transpose"
check "a race names its kernel as the source does" says 'race in kernel sgemm_tiled, block' 1 emulated --quiet --without "$(grep -n 'both tiles are complete' examples/sgemm.cu | cut -d: -f1)" "$build/examples/sgemm" 20
check "a line without one is refused" says 'without 1: the launches have no barrier' 2 emulated --without 1 "$build/examples/transpose"
check "banks of a line" says '^# lane bank word wavefront' 0 emulated --banks "$(grep -n 'tile\[threadIdx.x\]\[y\]' examples/transpose.cu | cut -d: -f1)" "$build/examples/transpose"
emulated --quiet --json "$dir/run.jsonl" "$build/examples/sgemm" > /dev/null
check "the record" python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).read())
assert r["schema"] == "attnlab-1.1" and r["exit"] == 0 and r["reports"] == [] and not r["interrupted"]
assert r["command"].endswith("examples/sgemm") and r["device"]["kind"] == "emulator"
naive, tiled = r["kernels"]
assert naive["symbol"].startswith("_Z") and naive["name"] == "sgemm_naive" and naive["registers"] > 0
fma, = (c for c in tiled["counters"] if c["name"] == "fma_instructions")
assert tiled["counted"] == "sass" and (fma["unit"], fma["metric"]) == ("warp inst", "sass.fma_instructions") and "no_sass" not in tiled
barrier, = (c for c in tiled["counters"] if c["name"] == "barrier_instructions")
assert (barrier["unit"], barrier["metric"]) == ("PTX warp inst", "emu.barrier"), barrier
l, = tiled["launches"]
assert l["counted"] == "sass" and l["ptx_instructions"] > l["instructions"]
assert l["grid"] == [13, 13, 1] and l["block"] == [16, 16, 1] and l["shared_wavefronts"] > 0
assert any(c["name"] == "instructions" and c["value"] == l["instructions"] for c in tiled["counters"])
' "$dir/run.jsonl"
emulated --quiet --no-predict --json "$dir/sum.jsonl" "$build/examples/reduction" > /dev/null
check "sectors are those of loads and stores, not of atomics and constants: 12501, as on an H200" grep -q '"global_sectors": *12501' "$dir/sum.jsonl"

# ---- What programs do
check "a program compiles" compile "$dir/program" tests/runtime/run_program.cu -lcuda
program=$dir/program
check "many arguments" emulated --quiet "$program" right
# Machine code: what hardware counts, where it can be executed; memory stays as it was
emulated --json "$dir/sass.jsonl" "$program" sass > "$tap_dir/said" 2>&1
check "the program's answers are right" grep -qx 'sass: right' "$tap_dir/said"
check "machine code that waits for others is counted on PTX" grep -Eq '^counted on PTX: handed_on: kernel _Z9handed_on.*: a warp looks at memory at 0x[0-9a-f]+ again and again' "$tap_dir/said"
check "one that prints is counted as machine code" [ "$(grep -c '^counted on PTX: ' "$tap_dir/said")" -eq 1 ]
check "the record says it" python3 -c '
import json, sys
k = {x["name"]: x for x in json.loads(open(sys.argv[1]).read())["kernels"]}
assert k["doubled"]["counted"] == "sass" and "no_sass" not in k["doubled"], k["doubled"]
assert k["prints"]["counted"] == "sass" and k["prints"]["launches"][0]["counted"] == "sass", k["prints"]
assert k["handed_on"]["counted"] == "ptx" and "again and again" in k["handed_on"]["no_sass"]
l, = k["handed_on"]["launches"]
assert l["counted"] == "ptx" and l["instructions"] == l["ptx_instructions"]
note, = (c["note"] for c in k["handed_on"]["counters"] if c["name"] == "fma_instructions")
assert note.startswith("no counts of SASS: "), note' "$dir/sass.jsonl"
check "kernels with a heap compile" compile "$dir/heap" tests/runtime/run_heap.cu
check "malloc and free in kernels" says '^8388608 bytes of heap, 0 wrong$' 0 emulated --quiet "$dir/heap"
for each in 0:'0 bytes past the end of an allocation of 8' 1:'in an allocation of 8 bytes that was freed' 2:'which is free already' \
    3:'which the host allocated' 4:'which malloc.. did not give' 5:'a value that nothing wrote'; do
    check "a kernel's heap: ${each#*:}" says "${each#*:}" 1 emulated --quiet "$dir/heap" "${each%%:*}"
done
cat > "$dir/host.cu" << 'PROGRAM'
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void store(int *p) { p[2] = 7; }
__managed__ int first = 5;
int main(int, char **argv) {
    int *p, copied, *managed;
    const char *what = argv[1];
    cudaMalloc(&p, 400);
    cudaMallocManaged(&managed, 400);
    store<<<1, 1>>>(p), store<<<1, 1>>>(managed);
    cudaMemcpy(&copied, p + 2, 4, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", copied, managed[2], first);
    if (!strcmp(what, "freed")) cudaFree(p);
    if (!strcmp(what, "own")) signal(SIGSEGV, [](int) { _Exit(3); });
    if (!strcmp(what, "beyond")) return p[100000];
    if (!strcmp(what, "inside")) cudaStreamGetFlags(0, (unsigned *)8);
    if (!strcmp(what, "null")) return *(volatile int *)nullptr;
    return strcmp(what, "right") ? p[2] : 0;
}
PROGRAM
check "a program whose host uses device memory compiles" compile "$dir/host" "$dir/host.cu"
check "managed memory and variables are the host's, too" says '^7 7 5$' 0 emulated --quiet "$dir/host" right
check "what cudaMalloc gave is not" says 'the host uses byte 8 of an allocation of 400 bytes: .*addr2line -e .*/host 0x[0-9a-f]* shows the line' 139 emulated "$dir/host" wrong
check "the launches are reported all the same" grep -q '^store .*2' "$tap_dir/said"
check "nor when it is free" says 'byte 8 of a freed allocation of 400 bytes' 139 emulated --quiet "$dir/host" freed
check "nor what was never allocated" says 'the host uses device memory at 0x[0-9a-f]*, where nothing is allocated' 139 emulated --quiet "$dir/host" beyond
check "another crash is the program's" says 'the program crashed on the host: SIGSEGV at address 0;' 139 emulated --quiet "$dir/host" null
check "a crash inside the emulator is not" says 'the emulator crashed, which is a mistake in it unless the program gave it this address: SIGSEGV at address 0x8;' 139 emulated --quiet "$dir/host" inside
check "a program's own handler comes first" says '^7 7 5$' 3 emulated --quiet "$dir/host" own
printf '%s\n' '#include <cstdio>' 'int main() { cudaDeviceProp p; int *x; if (cudaGetDeviceProperties(&p, 0)) return 1;' \
    'cudaMallocManaged(&x, 4), cudaMemPrefetchAsync(x, 4, 0), cudaMemAdvise(x, 4, cudaMemAdviseSetReadMostly, cudaCpuDeviceId);' \
    'printf("%d MHz, %d, %d\n", p.clockRate / 1000, p.deviceOverlap, p.major); return cudaThreadSynchronize(); }' > "$dir/old.cu"
check "a program of CUDA 12 does not compile" bash -c '! "$@" > "$0" 2>&1' "$tap_dir/said" runtime/attnlab-nvcc -o "$dir/old" "$dir/old.cu"
check "and what it misses is named" grep -qx 'attnlab-nvcc: CUDA 13 changed or dropped what this program uses (.*clockRate.*); --compat supplies it' "$tap_dir/said"
echo 'int main() { cudaDeviceProp p; return p.nothing; }' > "$dir/wrong.cu"
check "a name that CUDA never had is not" bash -c '! "$@" 2>&1 | grep -e --compat' - runtime/attnlab-nvcc -o "$dir/wrong" "$dir/wrong.cu"
check "with --compat it does" compile "$dir/old" "$dir/old.cu" --compat
check "and runs" says '^1980 MHz, 1, 9$' 0 emulated --quiet "$dir/old"
check "clusters" says 'launch: cudaSuccess' 0 emulated --quiet "$program" cluster
check "that do not divide the grid" grep -q 'clusters of 4: cudaErrorInvalidValue' "$tap_dir/said"
check "PTX for the driver" "${NVCC:-nvcc}" -ptx -arch=compute_90a -o "$dir/program.ptx" tests/runtime/run_program.cu
check "a module and its kernel by the driver" says '^500$' 0 emulated --quiet "$program" driver "$dir/program.ptx"
cat > "$dir/blas.cu" << 'PROGRAM'
#include <cublas_v2.h>
#include <cstdio>
#include <cuda_fp16.h>
int main() {
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 1, 1, 1}, c[4] = {1, 1, 1, 1}, one = 1, two = 2, *p;
    cublasHandle_t h;
    if (cublasCreate(&h)) return 1;
    cudaMalloc(&p, 64);
    cudaMemcpy(p, a, 24, cudaMemcpyHostToDevice), cudaMemcpy(p + 6, b, 24, cudaMemcpyHostToDevice);
    cudaMemcpy(p + 12, c, 16, cudaMemcpyHostToDevice);
    // A (2, 3), B (3, 2), column-major: C = 2 A B + C
    if (cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &two, p, 2, p + 6, 3, &one, p + 12, 2)) return 1;
    cudaMemcpy(c, p + 12, 16, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    printf("%d\n", (int)cublasSrot(h, 2, p, 1, p + 2, 1, &one, &two));
    cudaStream_t s;
    cudaGraph_t g;
    cudaStreamCreate(&s), cublasSetStream(h, s), cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &two, p, 2, p + 6, 3, &one, p + 12, 2);
    cudaStreamEndCapture(s, &g);
    // y (2) = A x + y, y (3) = A' x; every second element
    float x[3] = {1, 10, 100}, y[6] = {0};
    cublasSetVector(3, 4, x, 1, p, 2), cublasSetMatrix(2, 3, 4, a, 2, p + 8, 2), cublasSetVector(2, 4, x, 1, p + 14, 1);
    if (cublasSgemv(h, CUBLAS_OP_N, 2, 3, &one, p + 8, 2, p, 2, &one, p + 14, 1)) return 1;
    cublasGetVector(2, 4, p + 14, 1, y, 1);
    if (cublasSgemv(h, CUBLAS_OP_T, 2, 3, &one, p + 8, 2, p, 2, &two, p + 6, 0) != CUBLAS_STATUS_INVALID_VALUE) return 1;
    float none = 0;
    if (cublasSgemv(h, CUBLAS_OP_T, 2, 3, &one, p + 8, 2, p, 2, &none, p + 6, 1)) return 1;
    cublasGetMatrix(3, 1, 4, p + 6, 3, y + 2, 3);
    printf("%g %g, %g %g %g\n", y[0], y[1], y[2], y[3], y[4]);
    return 0;
}
PROGRAM
# What kernels may not do here is refused by its name, with its line.
printf '%s\n' '__global__ void c(int *p) { *p = 1; }' '__global__ void k(int *p) { c<<<1, 1>>>(p); }' \
    'int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize(); }' > "$dir/inner.cu"
check "a kernel that launches compiles" compile "$dir/inner" "$dir/inner.cu" -rdc=true -lcudadevrt
status "launches in a kernel" 3 "$run" "$dir/inner"
check "why is said" grep -q 'linked device code (-rdc=true), as kernels that launch kernels need' "$tap_dir/err"

cat > "$dir/lt.cu" << 'PROGRAM'
#include <cublasLt.h>
#include <cstdio>
int main() { // D (2, 2) = epilogue(A' B + bias): A (3, 2), B (3, 2)
    float host[20] = {1, 2, 3, 4, 5, 6, /* B */ 1, 0, -2, 1, 1, 1, /* bias */ 1, 2}, d[4], one = 1, none = 0, *p, *bias;
    cublasLtHandle_t h;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t in, out;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    cublasOperation_t transposed = CUBLAS_OP_T;
    int n = 0;
    cudaMalloc(&p, sizeof host), cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice), bias = p + 12;
    cublasLtCreate(&h), cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&in, CUDA_R_32F, 3, 2, 3), cublasLtMatrixLayoutCreate(&out, CUDA_R_32F, 2, 2, 2);
    cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatmulPreferenceCreate(&preference);
    if (cublasLtMatmulAlgoGetHeuristic(h, what, in, in, out, out, preference, 1, &found, &n) || n != 1) return 1;
    for (cublasLtEpilogue_t e : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_BGRADA}) {
        cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e);
        int status = cublasLtMatmul(h, what, &one, p, in, p + 6, in, &none, p + 14, out, p + 14, out, &found.algo, 0, 0, 0);
        cudaMemcpy(d, p + 14, sizeof d, cudaMemcpyDeviceToHost);
        printf("%d: %.4g %.4g %.4g %.4g\n", status, d[0], d[1], d[2], d[3]);
    }
    return 0;
}
PROGRAM
if "${NVCC:-nvcc}" -M "$dir/blas.cu" > /dev/null 2>&1; then
    check "a program with cuBLAS" compile "$dir/blas" "$dir/blas.cu" -lcublas
    check "its product is right" says '^23 29 19 25$' 3 emulated --quiet "$dir/blas"
    check "what is not there is named" grep -q 'cublasSrot_v2 is not supported' "$tap_dir/said"
    check "nor is it captured" grep -q 'a product of cuBLAS in a graph is not supported' "$tap_dir/said"
    check "vectors, and copies of them" grep -qx '532 652, 21 43 65' "$tap_dir/said"
    check "a program with cuBLASLt" compile "$dir/lt" "$dir/lt.cu" -lcublasLt
    check "its products, biases and activations" says '^0: -5 -8 6 15$' 0 emulated --quiet "$dir/lt"
    check "ReLU" grep -qx '0: 0 0 7 17' "$tap_dir/said"
    check "GELU" grep -qx '0: -7.025e-05 -8.44e-11 7 17' "$tap_dir/said" # -0.0001267 by erf
    check "an epilogue that is not there" grep -q 'epilogue 256 of cublasLtMatmul is not supported' "$tap_dir/said"
else
    skip "cuBLAS" "no cublas_v2.h in this toolkit"
fi
check "out of bounds: the runtime's own code, and a report" says 'synchronize: cudaErrorIllegalAddress' 1 emulated --quiet "$program" bounds
check "with the line" grep -q "run_program.cu:$(grep -n 'void store' tests/runtime/run_program.cu | cut -d: -f1) " "$tap_dir/said"
check "the launch itself had none" grep -q 'launch: cudaSuccess' "$tap_dir/said"
check "nothing works after it" grep -q 'malloc: cudaErrorIllegalAddress' "$tap_dir/said"
check "the address is told once; there is no prediction, for that reason" says '^not predicted: store: the launch failed a check of the emulator$' 1 emulated "$program" bounds
check "nor counts of machine code" grep -qx 'counted on PTX: store: the launch failed a check of the emulator' "$tap_dir/said"
check "nothing of the predictor's own words" bash -c "! grep -q 'LDG\|STG' '$tap_dir/said'"
check "misaligned" says 'synchronize: cudaErrorMisalignedAddress' 1 emulated --quiet "$program" misaligned
check "trap" says 'synchronize: cudaErrorLaunchFailure' 1 emulated --quiet "$program" trap
check "a race is a report; the program goes on" says 'synchronize: cudaSuccess' 1 emulated --quiet "$program" race
check "and after exit(0) as well" says 'race in kernel' 1 emulated --quiet "$program" exit
check "an endless kernel" says 'runs in the loop of line' 1 emulated --quiet --max-instructions 1e6 "$program" spin
check "it is a timeout" grep -q 'synchronize: cudaErrorLaunchTimeout' "$tap_dir/said"
check "the program's own status stays" says 'store' 17 emulated "$program" status
echo 'int main(int n, char **) { void *p; cudaMalloc(&p, 4); return n > 1 ? 17 : 0; }' > "$dir/asks.cu"
check "a program that asks for memory" compile "$dir/asks" "$dir/asks.cu"
check "and does not see that there is none" says 'raise .ulimit -v' 3 bash -c "ulimit -v 3000000; $run --device emu --quiet $dir/asks"
check "its own status stays" says 'raise .ulimit -v' 17 bash -c "ulimit -v 3000000; $run --device emu --quiet $dir/asks 1"
emulated --quiet "$program" config > "$dir/config" 2> "$dir/why"
check "launches that cannot be" diff "$dir/config" - << 'EXPECTED'
1025 threads: cudaErrorInvalidConfiguration
no blocks: cudaErrorInvalidConfiguration
60000 bytes: cudaErrorInvalidValue
attribute: cudaSuccess
60000 bytes, asked for: cudaSuccess
beyond launch bounds: cudaErrorInvalidValue
copy: cudaErrorInvalidValue
free: cudaErrorInvalidValue
symbol: cudaErrorInvalidValue
cooperative: cudaErrorCooperativeLaunchTooLarge
rows: cudaErrorInvalidValue
array: cudaErrorInvalidValue
no module: cudaErrorInvalidResourceHandle
device 1: cudaErrorInvalidDevice
after all that: cudaSuccess
EXPECTED
check "they are named" grep -Eq 'run: a launch of store.* could not begin: a grid of 0 x 1 x 1 blocks of 1 x 1 x 1 threads' "$dir/why"
check "one that is too large to be cooperative, too" grep -q 'could not begin: a grid of 100000 x' "$dir/why"
check "and counted at the end" grep -q '5 launches could not begin' "$dir/why"
check "a copy that fails is named" grep -Eq 'a copy of 260 bytes from 0x[0-9a-f]+ failed: it is 0 bytes behind the begin of an allocation of 256; .*addr2line' "$dir/why"
check "and a row of one" grep -Eq 'a copy of 64 bytes from 0x[0-9a-f]+ failed: it is 0 bytes behind the end of an allocation of 256;' "$dir/why"
check "and a free" grep -Eq 'the free of 0x[0-9a-f]+ failed: it is 4 bytes behind the begin of an allocation of 256;' "$dir/why"
check "and a copy to a variable" grep -q 'a copy of 8 bytes, from byte 0 on, of a variable of 4 failed' "$dir/why"
check "memory that was freed is freed again" says 'stale pointer: the host frees 0x[0-9a-f]+, which lies in an allocation of 64 bytes' 1 emulated --quiet "$program" freed
check "and copied, by either kind" [ "$(grep -c 'stale pointer: the host copies from' "$tap_dir/said")" -eq 2 ]
check "a call that is not there" says 'graph: cudaErrorNotSupported' 3 emulated --quiet "$program" unsupported
check "is named once" [ "$(grep -c 'cudaGraphDebugDotPrint is not supported' "$tap_dir/said")" -eq 1 ]
check "equal launches" says 'store +1-20, each' 0 emulated "$program" repeats
check "are run once if asked" says '9 launches were like earlier ones' 0 emulated --repeats 1 "$program" repeats
check "a shared array of the file" says 'of the file: cudaSuccess' 0 emulated --quiet "$program" of_the_file
check "takes no memory of others" grep -q 'its own: cudaSuccess' "$tap_dir/said"
check "some blocks of a launch, said to be so" says 'of each launch 2 blocks at most ran' 0 emulated --sample-blocks 2 "$program" blocks
check "the first, and others as far apart" grep -qx '1 0 0 0 1 0 0 0' "$tap_dir/said"
check "some are checked, said to be so" says 'of each launch 2 blocks at most were checked' 0 emulated --check-blocks 2 "$program" blocks
check "all of them run" grep -qx '1 1 1 1 1 1 1 1' "$tap_dir/said"
check "equal sequences, twice" says '16 launches were like earlier ones' 0 emulated --repeats 1 "$program" sequences
check "and all of them" emulated --quiet "$program" sequences
check "not what goes on from the last, if somebody looks" says said 0 emulated --quiet --repeats 1 "$program" goes_on
check "nor what prints" [ "$(grep -c said "$tap_dir/said")" -eq 3 ]
check "as without" emulated --quiet "$program" goes_on
check "nor if none was run before" says said 0 emulated --quiet --repeats 0 "$program" goes_on
check "nor prints" [ "$(grep -c said "$tap_dir/said")" -eq 3 ]
check "nor sequences" emulated --quiet --repeats 0 "$program" sequences
for repeats in "" "--repeats 0"; do # shellcheck disable=SC2086
    emulated --no-races --no-predict --jobs 1 $repeats "$program" alike > "$dir/alike$repeats" 2>&1 || echo wrong >> "$dir/alike$repeats"
done
check "of blocks that are alike one runs, and all count" diff <(grep '^alike' "$dir/alike") <(grep '^alike' "$dir/alike--repeats 0")
check "unless one goes on from another" [ "$(grep -c '^alike' "$dir/alike--repeats 0") $(grep -c wrong "$dir/alike--repeats 0")" = "3 0" ]
check "what nobody looks at is not run at all" says '20 launches were not run: nobody looked' 0 emulated --repeats 0 "$program" repeats
check "what somebody looks at is" says '79 launches were not run' 0 emulated --repeats 0 "$program" nobody_looks
check "but what nobody sees" says '78 launches were like earlier ones' 0 emulated --repeats 1 "$program" nobody_looks
check "groups count those that ran" grep -q 'not run (--repeats 1); groups and lines are of those that ran' "$tap_dir/said"
emulated --quiet --no-predict --repeats 1 --json "$dir/left.jsonl" "$program" repeats > /dev/null 2>&1
check "and the record says how many" grep -Eq '"counters_of_launches": *[1-9]' "$dir/left.jsonl"
check "and that is nothing" emulated --quiet "$program" nobody_looks

# ---- Calls that are not inlined, grid.sync(), and a kernel that cannot run beside them
check "calls compile" compile "$dir/calls" tests/runtime/run_calls.cu
check "recursion, function pointers, grid.sync()" emulated --quiet "$dir/calls"
check "grid.sync() in an ordinary launch" says 'trap by lane 0; grid.sync\(\) needs a cooperative launch' 1 emulated --quiet "$dir/calls" ordinary
check "a kernel refused when it is launched" says 'kernel _Z8texturedyPf .* the emulator does not know tld4\.r\.2d\.v4\.f32\.f32 \(line [0-9]+, PTX line [0-9]+\); read the four texels' 3 emulated --quiet "$dir/calls" refused
check "its launch fails" grep -q 'launch: cudaErrorNotSupported' "$tap_dir/said"
check "and is said once" [ "$(grep -c 'cannot run here' "$tap_dir/said")" -eq 1 ]
status "one kernel that cannot run" 3 emulated --quiet --kernel textured --arg u64=0 --arg 'f32[1]=zero' tests/runtime/run_calls.cu
check "a stack that overflows" says 'the stack overflows: [0-9]+ calls deep' 1 emulated --quiet "$dir/calls" overflows

# ---- Textures, surfaces
check "textures compile" compile "$dir/textures" tests/runtime/run_textures.cu
check "filters, edges, layers, faces, surfaces" emulated --quiet "$dir/textures"
check "outside a surface: the runtime's own code" says 'synchronize: cudaErrorIllegalAddress' 1 emulated --quiet "$dir/textures" outside
check "with the line" grep -q "run_textures.cu:$(grep -n 'float v = surf2Dread' tests/runtime/run_textures.cu | cut -d: -f1) " "$tap_dir/said"
check "a texture object that was destroyed" says 'is the handle of no texture object, or of one that was destroyed' 1 emulated --quiet "$dir/textures" stale

check "a surface object that the kernel wrote itself" says 'is the handle of no surface object, or of one that was destroyed: take it from cudaCreateSurfaceObject' 1 emulated --quiet "$dir/textures" forged
check "left the host alone" bash -c "! grep -q 'secret is' '$tap_dir/said'"

# ---- NVRTC: the real one compiles, to PTX
cat > "$dir/nvrtc.cpp" << 'PROGRAM'
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
static const char *text = "extern \"C\" __global__ void fill(int *p) { p[threadIdx.x] = 7 * threadIdx.x; }";
int main() {
    const char *options[] = {"--gpu-architecture=sm_90"};
    static char cubin[1 << 16];
    nvrtcProgram p;
    size_t bytes;
    if (nvrtcCreateProgram(&p, text, "fill.cu", 0, NULL, NULL) || nvrtcCompileProgram(p, 1, options)) return 1;
    if (nvrtcGetCUBINSize(p, &bytes) || bytes > sizeof cubin || nvrtcGetCUBIN(p, cubin)) return 2;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    int r[32];
    void *args[] = {&d};
    if (cuInit(0) || cuModuleLoadData(&m, cubin) || cuModuleGetFunction(&f, m, "fill") || cuMemAlloc(&d, 128)) return 3;
    if (cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) || cuMemcpyDtoH(r, d, 128)) return 4;
    printf("%d\n", r[31]);
}
PROGRAM
nvrtc=$(dirname "$(dirname "$(readlink -f "$(command -v "${NVCC:-nvcc}")")")")/lib64
if [ -e "$nvrtc/libnvrtc.so" ] && "${NVCC:-nvcc}" -M "$dir/nvrtc.cpp" > /dev/null 2>&1; then
    check "a program with NVRTC" compile "$dir/nvrtc" "$dir/nvrtc.cpp" -lnvrtc -lcuda
    check "what it compiles runs" says '^217$' 0 env LD_LIBRARY_PATH="$nvrtc" "$run" --device emu --quiet "$dir/nvrtc"
else
    skip "NVRTC" "no libnvrtc in this toolkit"
fi

interrupted() { # SIGNAL STATUS CASE: the record is written; none of the cases would end by itself
    rm -f "$dir/i.jsonl"
    "$run" --device emu "${@:4}" --json "$dir/i.jsonl" "$program" "$3" > "$tap_dir/said" 2>&1 &
    local status
    until grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$!/status || ! kill -0 $! 2> /dev/null; do sleep 0.1; done # a handler of SIGTERM
    sleep 1
    kill -"$1" $!
    wait $!
    status=$?
    [ $status -eq "$2" ] && grep -q '"interrupted":true' "$dir/i.jsonl" || { echo "status $status"; cat "$tap_dir/said"; false; }
}
check "SIGTERM in a launch" interrupted TERM 143 spin
check "in one that has failed a check" interrupted TERM 143 races_on --no-predict --count-ptx # these would come first
check "that is said, too" grep -q 'run: race in kernel' "$tap_dir/said"
check "SIGTERM between launches" interrupted TERM 143 asleep # SIGINT is ignored in jobs of scripts

# ---- Libraries without PTX
echo 'int cufftNothing(void) { return 0; }' > "$dir/cufft.c"
gcc -shared -Wl,-soname,libcufft.so.12 -o "$dir/libcufft.so.12" "$dir/cufft.c"
check "a program with cuFFT" compile "$dir/transforms" "$dir/asks.cu" -Xlinker --no-as-needed -Xlinker "$dir/libcufft.so.12"
check "is told that its calls fail" says 'transforms calls libcufft, which has no PTX: on the emulator its calls fail' 0 env LD_LIBRARY_PATH="$dir" "$run" --device emu --quiet "$dir/transforms"
check "and others are not" bash -c '! "$0" --device emu --quiet "$1" 2>&1 | grep calls' "$run" "$dir/asks"

# ---- Programs that cannot run here
nvcc_() { "${NVCC:-nvcc}" -o "$dir/bad" examples/sgemm.cu "$@"; }
bad() { "$run" --device emu "$dir/bad"; }
nvcc_ -arch=sm_89 > /dev/null 2>&1
status "a static runtime" 3 bad
check "it says so" grep -q 'attnlab-nvcc' "$tap_dir/err"
nvcc_ -gencode arch=compute_89,code=sm_89 -cudart shared > /dev/null 2>&1
status "no PTX" 3 bad
nvcc_ -arch=sm_89 -cudart shared > /dev/null 2>&1
status "compressed PTX" 3 bad
check "it says that too" grep -q 'compressed compute_89 PTX' "$tap_dir/err"
nvcc_ -gencode arch=compute_90a,code=compute_90a -cudart shared -no-compress > /dev/null 2>&1
status "PTX for another chip" 3 "$run" --device emu --chip l4 "$dir/bad"
echo 'int main() { cudaDeviceProp p; return cudaGetDeviceProperties(&p, 0) || p.major != 9; }' > "$dir/query.cu"
compile "$dir/bad" "$dir/query.cu" > /dev/null 2>&1
check "a program without kernels runs" bad
status "a real number for a whole one" 2 emulated --quiet --kernel sgemm_naive --arg 'f32[4]=zero' --arg 'f32[4]=zero' --arg 'f32[4]=zero' --arg f32=4 examples/sgemm.cu
status "no such program" 2 emulated "$dir/none"
status "no program at all" 2 emulated
status "a folder" 2 emulated "$dir"
status "a source file" 2 emulated examples/sgemm.cu
status "no such option" 2 emulated --nosuch "$program"
status "a bad chip" 2 emulated --chip h300 "$program"
status "no such counter group" 2 emulated --counters NOSUCH "$program"
status "a record in no folder" 5 emulated --json "$dir/none/x.jsonl" "$program"
status "no GPU" 77 "$run" --device cuda "$program"
check "help" says 'are those of machine code .SASS.; where the emulator cannot execute it, those of PTX' 0 emulated --help

# ---- One kernel
sgemm() { emulated --quiet --kernel sgemm_tiled --grid 4x4 --block 16x16 "$@" examples/sgemm.cu; }
data=(--arg "f32[64x64]=$dir/a.npy" --arg "f32[64x64]=$dir/b.npy" --arg "f32[64x64]=out:$dir/o.npy")
"${PYTHON:-.venv/bin/python}" -c 'import numpy' 2> /dev/null && python=${PYTHON:-.venv/bin/python}
if [ -n "${python:-}" ]; then
    $python - "$dir" << 'E'
import sys, numpy as np
d = sys.argv[1]
r = np.random.default_rng(1)
a, b = (r.standard_normal((64, 64)).astype('f4') for _ in range(2))
c = (a.astype('f8') @ b).astype('f4')
for name, x in ('a', a), ('b', b), ('c', c), ('wrong', c + (np.arange(4096).reshape(64, 64) == 70)), ('c8', c.astype('f8')):
    np.save(f'{d}/{name}.npy', x.astype('f4') if name == 'wrong' else x)
E
    check "one kernel is right" sgemm "${data[@]}" --arg i32=64 --expect "$dir/c.npy"
    check "its output is written" $python -c "import numpy as np; assert abs(np.load('$dir/o.npy') - np.load('$dir/c.npy')).max() < 1e-3"
    status "a wrong answer" 1 sgemm "${data[@]}" --arg i32=64 --expect "$dir/wrong.npy"
    check "it says where" grep -q 'element 70 is' "$tap_dir/err"
    check "and so after a report and a record" says '^run: wrong answer: element 70 is' 1 emulated --json "$dir/kernel.jsonl" --kernel sgemm_tiled --grid 4x4 --block 16x16 "${data[@]}" --arg i32=64 --expect "$dir/wrong.npy" examples/sgemm.cu
    status "an expected answer that is not there" 5 sgemm "${data[@]}" --arg i32=64 --expect "$dir/none.npy"
    status "another type is expected" 2 sgemm "${data[@]}" --arg i32=64 --expect "$dir/c8.npy"
    status "one argument too few" 2 sgemm "${data[@]}"
    status "an argument of another size" 2 sgemm "${data[@]}" --arg i64=64
    status "an array for a number" 2 sgemm "${data[@]}" --arg 'i32[1]=zero'
    status "more expected than there is" 2 sgemm "${data[@]}" --arg i32=64 --expect "$dir/c.npy" --expect "$dir/c.npy"
    check "from Python" env LD_LIBRARY_PATH="$build/runtime" PYTHONPATH=runtime/python BUILD="$build" NVCC="$NVCC" $python tests/runtime/run_python.py
else
    skip "one kernel on arrays, and from Python" "no NumPy here"
fi
made=(--arg 'f32[64x64]=normal' --arg 'f32[64x64]=uniform' --arg 'f32[64x64]=out' --arg i32=64)
check "made arguments" sgemm "${made[@]}"
check "make run KERNEL=" make BUILD="$build" run DEVICE=emu KERNEL=examples/sgemm.cu ARGS="--kernel sgemm_naive --quiet --arg f32[1]=zero --arg f32[1]=zero --arg f32[1]=out --arg i32=1"
check "make run PROGRAM=" make BUILD="$build" run DEVICE=emu PROGRAM="$program right" ARGS=--quiet
check "an unknown variable" says "there is no variable KERNL" 2 make BUILD="$build" run KERNL=my.cu
status "a kernel that is not there" 2 emulated --kernel nosuch examples/sgemm.cu
printf 'extern "C" __global__ void f(float *a) { __shared__ float s[32]; *a = s[threadIdx.x]; }\n' > "$tap_dir/f.cu"
once() { # a failed check: the report and the record once; a C name as it is, although f is float in C++'s
    emulated --json "$tap_dir/f.jsonl" --kernel f --block 32 --arg 'f32[1]=zero' "$tap_dir/f.cu" > "$tap_dir/said" 2>&1
    [ $? -eq 1 ] && [ "$(wc -l < "$tap_dir/f.jsonl")" -eq 1 ] && [ "$(grep -c '^run: emulator' "$tap_dir/said")" -eq 1 ] &&
        grep -q '^f  *1 ' "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "a kernel with a failed check: one record" once
check "those that are" grep -q 'sgemm_naive, sgemm_tiled' "$tap_dir/err"
status "a name that several have" 2 emulated --kernel transpose examples/transpose.cu
for argument in f99=1 'f32[4x=zero' 'f32[4]=nosuch' i32=x i8=300 f32 "f32[4]=$dir/none.npy" 'u32=-1'; do
    got=2
    [ "$argument" = "f32[4]=$dir/none.npy" ] && got=5
    status "the argument $argument" $got emulated --kernel sgemm_naive --arg "$argument" examples/sgemm.cu
done
status "a block of 2000 threads" 2 emulated --quiet --kernel sgemm_naive --block 2000 "${made[@]}" examples/sgemm.cu
status "a file that is not there" 5 emulated --kernel x "$dir/none.cu"
status "a file of another kind" 2 emulated --kernel x README.md
tap_done
