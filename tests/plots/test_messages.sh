# What build/run says to those who give it something else than it expects: the cause, and what to do.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "messages" "no nvcc here"
    tap_done
fi
program=$tap_dir/program
cat > "$program.cu" << 'PROGRAM'
#include <cstdlib>
#include <cstring>
__global__ void good(float *x) {
    for (int i = 0; i < 200; i++) x[threadIdx.x] += 1;
}
__global__ void bad(float *x) { x[0] = threadIdx.x; }
__global__ void dynamic(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1;
    x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void take(float *x, int n) { x[0] = n; }
struct two_bytes { unsigned short x; };
extern "C" __global__ void bits(two_bytes b, unsigned short *out) { *out = b.x; }
int main(int argc, char **argv) {
    float *x, local[64];
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "nothing")) return 7;
    cudaMalloc(&x, 4096), cudaMemset(x, 0, 4096);
    if (!strcmp(what, "memory")) return 8;
    if (!strcmp(what, "threads")) good<<<1, 2048>>>(x);
    if (!strcmp(what, "deep")) good<<<1, dim3(1, 1, 65)>>>(x);
    if (!strcmp(what, "shared")) dynamic<<<1, 32, 200000>>>(x);
    if (!strcmp(what, "more")) dynamic<<<1, 32, 300000>>>(x);
    if (!strcmp(what, "stack")) good<<<1, 32>>>(local);
    if (!strcmp(what, "heap")) good<<<1, 32>>>((float *)malloc(1024));
    if (!strcmp(what, "right") || !*what) good<<<1, 64>>>(x);
    if (!*what) bad<<<1, 64>>>(x);
    if (!strcmp(what, "tiny")) take<<<1, 1>>>(x, 1);
    cudaDeviceSynchronize();
    return 0;
}
PROGRAM
check "it compiles" env BUILD="$build" runtime/attnlab-nvcc -O2 -std=c++17 -o "$program" "$program.cu"
run() { "$build/run" --device emu "$@"; }
silent() { # STATUS COMMAND...
    "${@:2}" > "$tap_dir/said" 2>&1
    [ $? -eq "$1" ] && ! grep '^run: the program' "$tap_dir/said"
}

# ---- Programs
check "source is no program: how to compile it" says "^run: $program.cu is source: compile it, runtime/attnlab-nvcc -O3 -o program $program.cu, then build/run ./program; or --kernel NAME" 2 run "$program.cu"
nothing='^run: the program launched no kernel; nothing was counted or checked$'
check "no call of CUDA" says "$nothing" 7 run "$program" nothing
check "said once" [ "$(grep -c "launched no kernel" "$tap_dir/said")" -eq 1 ]
check "no launch" says "$nothing" 8 run "$program" memory
check "said once, too" [ "$(grep -c "launched no kernel" "$tap_dir/said")" -eq 1 ]
check "no library of CUDA" says '^run: the program launches no kernel: it has no library of CUDA; nothing is counted or checked$' 0 run /bin/true
check "--quiet is quiet" silent 7 run --quiet "$program" nothing
check "of that, too" silent 0 run --quiet /bin/true
check "a program that starts others may launch kernels" silent 0 run /usr/bin/env true
check "one that launches a kernel says nothing of it" silent 0 run --no-predict "$program" right
check "a folder for KERNEL" says '^make: /tmp is a folder: KERNEL names a .cu or .ptx file$' 2 env BUILD="$build" KERNEL=/tmp PROGRAM= ARGS= runtime/own.sh
check "in one line" [ "$(wc -l < "$tap_dir/said")" -eq 1 ]

# ---- Launches
tells() { says "$1" 0 run --no-predict "$program" "$2"; }
check "threads" tells 'a launch of good could not begin: .*: 2048 threads in a block; at most 1024; only' threads
check "deep blocks" tells 'a launch of good could not begin: .*: a block 65 threads deep; at most 64; only' deep
check "shared memory to be asked for" tells ': dynamic shared memory is at most 49152 bytes, and up to 232448 after cudaFuncSetAttribute.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes.; only' shared
check "shared memory that is not there" tells ': dynamic shared memory is at most 232448 bytes here; only' more
check "an address of the stack" says 'are not allocated: it is an address of the host .its stack.; copy to memory of cudaMalloc, and give the kernel that' 1 run --no-predict "$program" stack
check "an address of the heap" says 'are not allocated: it is an address of the host .its heap.; copy to memory of cudaMalloc' 1 run --no-predict "$program" heap
check "the hottest kernel is right, another is not" says '^verdict +WRONG: [0-9]+ checks? of the emulator failed, of bad[.]$' 1 run --no-predict "$program"
check "it is the other one" grep -q '^The hottest kernel: good,' "$tap_dir/said"
check "no resource is busy: what the cycles are" says '^cycles elapsed: [0-9]+ predicted: no resource is busy half of the time' 0 run --source "$program" tiny

# ---- One kernel
kernel() { run --quiet --kernel "$@" "$program.cu"; }
check "a block of 4096" says '^run: take cannot be launched: 4096 threads in a block; at most 1024$' 2 kernel take --block 64x64 --arg 'f32[1]=zero' --arg i32=1
check "an array that is too large" says "^run: --arg 'f32\[999999999999\]=normal' is too large: an array has at most 68719476736 elements, 2147483647 in a dimension$" 2 kernel take --arg 'f32[999999999999]=normal' --arg i32=1
check "one of too many rows" says "is too large" 2 kernel take --arg 'f32[99999999x99999999]=normal' --arg i32=1
check "--help says what whole numbers are" says 'of whole numbers uniform is -100 to 100 .unsigned: 0 to 100., normal is rounded' 0 run --help
python=${PYTHON:-.venv/bin/python}
if $python -c 'import numpy' 2> /dev/null; then
    cat > "$tap_dir/copy.cu" << 'PROGRAM'
template <class T> __device__ void copy(const T *in, T *out) { out[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x]; }
extern "C" __global__ void copy_i64(const long *in, long *out) { copy(in, out); }
extern "C" __global__ void copy_u8(const unsigned char *in, unsigned char *out) { copy(in, out); }
extern "C" __global__ void copy_i8(const signed char *in, signed char *out) { copy(in, out); }
PROGRAM
    made() { # TYPE SOURCE EXPRESSION of the array x
        run --quiet --kernel "copy_$1" --grid 64 --block 64 --arg "$1[4096]=$2" --arg "$1[4096]=out:$tap_dir/x.npy" "$tap_dir/copy.cu" &&
            $python -c "import numpy as np; x = np.load('$tap_dir/x.npy').astype(float); assert $3, (x.min(), x.max(), np.unique(x))"
    }
    check "whole numbers, uniform" made i64 uniform "x.min() == -100 and x.max() == 100 and len(np.unique(x)) == 201"
    check "of eight bits" made i8 uniform "x.min() == -100 and x.max() == 100 and abs(x.mean()) < 4"
    check "without a sign" made u8 uniform "x.min() == 0 and x.max() == 100 and len(np.unique(x)) == 101"
    check "normal ones are rounded" made i64 normal "set(x) >= {-2, -1, 0, 1, 2} and abs(np.mean(x == 0) - 0.383) < 0.03"
    check "without a sign, too" made u8 normal "set(x) >= {0, 1, 2} and x.max() < 9 and abs(np.mean(x == 0) - 0.383) < 0.03"
    nan() { kernel bits --arg 'bf16=nan(0x7ffffffffffff)' --arg "u16[1]=out:$tap_dir/nan.npy" && $python -c "import numpy as np; x = int(np.load('$tap_dir/nan.npy')[0]); assert x & 0x7f80 == 0x7f80 and x & 0x7f, hex(x)"; }
    check "a NaN stays one in bf16" nan
else
    skip "made arguments" "no NumPy here"
fi
tap_done
