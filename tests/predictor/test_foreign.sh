#!/bin/bash
# emulator/predictor/validate/foreign.py: programs of a folder are built, predicted and compared with counts of a GPU.
. tests/tap.sh
foreign=emulator/predictor/validate/foreign.py
dir=$tap_dir/work
mkdir -p "$dir/suite/two"
cat > "$dir/suite/two/add.cu" << 'EOF'
__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 1 << 20);
    for (int i = 1; i < 20; i++) add<<<i, 128>>>(x);
    return cudaDeviceSynchronize();
}
EOF
echo 'int main() { return wrong; } // __global__' > "$dir/suite/bad.cu"
echo '__global__ void alone() {}' > "$dir/suite/part.cu"

printf '%s\n' '{"program": "p", "launch": 0, "grid": [2, 1, 1], "block": [32, 1, 1], "elapsed": 110, "active": 50, "l2": "warm"}' \
    '{"program": "p", "launch": 1, "grid": [2, 1, 1], "block": [32, 1, 1], "none": "no time"}' \
    '{"program": "p", "launch": 2, "grid": [9, 1, 1], "block": [32, 1, 1], "elapsed": 100, "active": 50, "l2": "warm"}' > "$dir/predicted.jsonl"
printf '%s\n' 'program,launch,kernel,grid,block,elapsed,active' 'p,0,k,"(2, 1, 1)","(32, 1, 1)",100,50' 'p,1,k,"(2, 1, 1)","(32, 1, 1)",100,50' \
    'p,2,k,"(2, 1, 1)","(32, 1, 1)",100,50' > "$dir/measured.csv"
python3 $foreign compare "$dir/predicted.jsonl" "$dir/measured.csv" > "$dir/table"
check "errors of what both have; another grid is another launch" grep -qE '^all +1 +2 +10[.]0 ' "$dir/table"
printf '%s\n' '{"program": "empty", "launch": 0, "grid": [1, 1, 1], "block": [1, 1, 1], "elapsed": 30, "active": 1, "l2": "warm"}' \
    '{"program": "empty", "launch": 1, "grid": [1, 1, 1], "block": [1, 1, 1], "elapsed": 25, "active": 1, "l2": "warm"}' | cat - "$dir/predicted.jsonl" > "$dir/with.jsonl"
{ cat "$dir/measured.csv"; printf '%s\n' 'empty,0,k,"(1, 1, 1)","(1, 1, 1)",25,1' 'empty,1,k,"(1, 1, 1)","(1, 1, 1)",5,1'; } > "$dir/with.csv"
python3 $foreign compare "$dir/with.jsonl" "$dir/with.csv" > "$dir/table"
check "what an empty kernel took on that board" grep -qE "^all, with that board's launches +1 +2 +5[.]0 " "$dir/table"
check "the empty kernel is none of the programs" grep -qE '^all +1 +2 +10[.]0 ' "$dir/table"
{ cat "$dir/measured.csv"; printf '%s\n' 'q,0,k,"(2, 1, 1)","(32, 1, 1)",,' 'q,1,k,"(2, 1, 1)","(32, 1, 1)",n/a,'; } > "$dir/without.csv"
python3 $foreign compare "$dir/predicted.jsonl" "$dir/without.csv" > "$dir/table"
check "launches of which nothing was counted are left out" bash -c "
    grep -q '^2 launches left out' '$dir/table' && grep -qE '^all +1 +2 +10[.]0 ' '$dir/table'"
printf '%s\n' "1 cases" "programs: 9 first launches of programs by others, mean error 1.0 %, worst 2.0 %" > "$dir/chip.txt"
printf '%s\n' "1 cases" "programs: 1 first launches of programs by others, mean error 10.0 %, worst 10.0 %" \
    "cycles of programs: 8 in 10 of 1 first launches of programs by others were within 10.0 %" > "$dir/wanted"
check "the sums take the place of an earlier freeze's" bash -c "
    python3 $foreign compare '$dir/predicted.jsonl' '$dir/measured.csv' --out '$dir/chip.txt' > /dev/null && diff '$dir/wanted' '$dir/chip.txt'"
# a program that hangs: ncu is killed after its time, and what it has started, too
mkdir -p "$dir/hangs/bin" "$dir/path"
printf '#!/bin/sh\nsleep 1000 & echo $! >> "%s/started"; wait\n' "$dir" > "$dir/path/ncu"
cp "$dir/path/ncu" "$dir/hangs/bin/one"
chmod +x "$dir/path/ncu" "$dir/hangs/bin/one"
hangs() {
    PATH=$dir/path:$PATH timeout 60 python3 -c 'import sys
sys.path.insert(0, "emulator/predictor/validate")
import foreign
foreign.SECONDS["measure"] = 0.5
foreign.measure(*sys.argv[1:])' "$dir/hangs" "$dir/hangs.csv" > "$dir/said" && grep -qx 'one: nothing was counted' "$dir/said" &&
        sleep 0.2 && ! grep -qs '^State:.[SR]' /proc/"$(cat "$dir/started")"/status
}
check "a program that hangs is killed, whatever it has started" hangs
status "a wrong command" 2 python3 $foreign improve "$dir"

if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "foreign programs are built" "no nvcc here"
    tap_done
fi
export BUILD=$build NVCC
check "a folder's programs are built" python3 $foreign build "$dir/out" "$dir/suite"
check "what does not compile is named, what has no main is not one" bash -c "
    python3 $foreign build '$dir/out' '$dir/suite' > '$dir/said' && grep -q '^suite-bad: .*error' '$dir/said' && grep -qx 'built 1 of 2 programs' '$dir/said' && [ -x '$dir/out/bin/empty' ]"
mkdir -p "$dir/some"
for i in 1 2 3 4 5 6; do cp "$dir/suite/two/add.cu" "$dir/some/$i.cu"; done
echo '#include <thrust/sort.h>' >> "$dir/some/1.cu"
echo '__managed__ int x;' >> "$dir/some/3.cu"
mkdir "$dir/some/lib" && echo '#define ONE 1' > "$dir/some/lib/one.h"
printf '%s\n' '#include "one.h"' 'int one = ONE;' >> "$dir/some/6.cu"
check "every k-th program that needs nothing else" bash -c "
    EACH=2 python3 $foreign build '$dir/few' '$dir/some' && [ \"\$(ls '$dir/few/bin' | tr '\n' ' ')\" = 'empty some-4 some-6 ' ]"
printf '%s\n' '{"program": "some-2", "launch": 0}' '{"program": "other-1", "launch": 0}' > "$dir/only.jsonl"
check "the programs of a file of predictions" bash -c "
    ONLY='$dir/only.jsonl' python3 $foreign build '$dir/only' '$dir/some' && [ \"\$(ls '$dir/only/bin' | tr '\n' ' ')\" = 'empty some-2 ' ]"
cat > "$dir/unknown.cu" << 'EOF'
enum { N = 64 * 256 };
__global__ void make(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < n; k++) s = s * 3 + k;
    x[i] = s;
}
__global__ void follow(const float *x, float *y) { /* as often as the data says */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < (int)x[i] % 100; k++) y[i] += k;
}
__global__ void find(const float *x, float *y) { /* where the data says */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[(int)x[i] & N - 1] = 1;
}
__global__ void ratio(const float *x, float *y) { /* a slow path, for 0 / 0 */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) y[i] += x[i] / (x[i] * (k + 1));
}
__global__ void wave(const float *x, float *y) { /* another way for large numbers */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = sinf(x[i]);
}
__global__ void tiles(const float *x, float *y, int n) { /* loads of which some are outside */
    __shared__ float tile[256];
    float s = 0;
    for (int t = 0; t < n; t += 256) {
        int i = blockIdx.x * blockDim.x + t + threadIdx.x;
        tile[threadIdx.x] = i < n ? x[i] : 0;
        __syncthreads();
        for (int k = 0; k < 8; k++) s += tile[(threadIdx.x + k) % 256];
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
static float ones[N];
int main() {
    float *x, *y;
    cudaMalloc(&x, 4 * N);
    cudaMalloc(&y, 4 * N);
    cudaMemset(x, 0, 4 * N);
    cudaMemset(y, 0, 4 * N);
    for (int i = 0; i < N; i++) ones[i] = 1;
    make<<<64, 256>>>(x, 100000); /* too long to run */
    follow<<<64, 256>>>(x, y);
    find<<<64, 256>>>(x, y);
    ratio<<<64, 256>>>(x, y);
    wave<<<64, 256>>>(x, y);
    tiles<<<64, 256>>>(x, y, 1000);
    cudaMemcpy(x, ones, 4 * N, cudaMemcpyHostToDevice);
    cudaMemcpy(y, ones, 4 * N, cudaMemcpyHostToDevice);
    follow<<<64, 256>>>(x, y);
    ratio<<<64, 256>>>(x, y);
    return 0;
}
EOF
limited() { # NAME: built, and predicted where only short launches run
    mkdir -p "$dir/$1/bin" && runtime/attnlab-nvcc -O3 -o "$dir/$1/bin/$1" "$dir/$1.cu" &&
        JOBS=1 MOST=1e6 BUDGET_S=1 python3 $foreign predict "$dir/$1" "$dir/$1.jsonl"
}
check "a program whose first launch is too long to run" limited unknown
launch() { grep "\"launch\": $1," "$dir/unknown.jsonl"; }
took() { sed -n "s/.*\"launch\": $2,.*\"elapsed\": \([0-9]*\).*/\1/p" "$dir/$1.jsonl"; } # FILE LAUNCH: predicted cycles
near() { echo "$1 and $2" && awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN {exit !(a > 0 && a > b * (1 - most) && a < b * (1 + most))}'; }
check "what follows its data has no prediction" bash -c "grep -c 'depends on data of launch 0' '$dir/unknown.jsonl' | grep -qx 2"
check "that is the loop and the address" bash -c "$(declare -f launch); dir='$dir'; launch 1 | grep -q 'depends on' && launch 2 | grep -q 'depends on'"
check "a division, a sine and loads with bounds have one" [ -n "$(took unknown 3)" -a -n "$(took unknown 4)" -a -n "$(took unknown 5)" ]
check "known data has one" [ -n "$(took unknown 6)" ]
check "unknown data takes the usual way: as ones, not as zeros" near "$(took unknown 3)" "$(took unknown 7)" 0.05
sed 's/^int main() {/int main() {\n    float *z, *w;\n    cudaMalloc(\&z, 4 * N), cudaMalloc(\&w, 4 * N), cudaMemset(z, 0, 4 * N);\n    make<<<64, 256>>>(w, 100000);\n    find<<<64, 256>>>(z, w);\n    find<<<64, 256>>>(w, z);\n    return 0;/' \
    "$dir/unknown.cu" > "$dir/stored.cu"
stored() {
    limited stored && grep '"launch": 1,' "$dir/stored.jsonl" | grep -q elapsed &&
        grep '"launch": 2,' "$dir/stored.jsonl" | grep -q 'depends on data of launch 0'
}
check "what only stores where the data is unknown has one" stored
cat > "$dir/joined.cu" << 'EOF'
__global__ void length(float *x, int n) { /* the address is known, though what was in its registers before the root is not */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) {
        float s = sinf((float)i), c = cosf((float)i);
        x[i] = x[i] + sqrtf(s * s + c * c);
        i ^= 1;
    }
}
int main() {
    float *x;
    cudaMalloc(&x, 4 << 14);
    cudaMemset(x, 0, 4 << 14);
    length<<<64, 256>>>(x, 100000); /* too long to run */
    length<<<64, 256>>>(x, 1);
    return 0;
}
EOF
joined() { limited joined && grep -q '"launch": 1,.*"elapsed"' "$dir/joined.jsonl"; }
check "a place where ways join is reached by those ways alone" joined
cat > "$dir/copied.cu" << 'EOF'
enum { N = 1 << 20 };
__global__ void add(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1;
}
__global__ void work(float *y, int n) { /* one wave of blocks that have the same to do */
    float s = threadIdx.x;
    for (int k = 0; k < n; k++) s = s * s + 1;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
static float from[N];
int main() {
    float *x, *y, *other;
    cudaMalloc(&x, 4 * N);
    cudaMalloc(&y, 4 * N);
    cudaMalloc(&other, 128 * N);
    cudaMemset(other, 0, 128 * N); /* L2 is full of it */
    work<<<1, 32>>>(y, 1); /* the first of the process is a case of its own */
    cudaMemcpy(x, from, 4 * N, cudaMemcpyHostToDevice);
    add<<<N / 256, 256>>>(x);
    add<<<N / 256, 256>>>(x);
    cudaMemcpy(x, from, 4 * N, cudaMemcpyHostToDevice);
    add<<<N / 256, 256>>>(x);
    work<<<1056, 32>>>(y, 2000);
    work<<<1526, 256>>>(y, 400);
    work<<<3168, 256>>>(y, 400);
    return 0;
}
EOF
mkdir -p "$dir/copied/bin"
check "a program that copies" bash -c "
    runtime/attnlab-nvcc -O3 -o '$dir/copied/bin/c' '$dir/copied.cu' &&
    JOBS=1 BUDGET_S=20 python3 $foreign predict '$dir/copied' '$dir/all.jsonl' &&
    JOBS=1 BUDGET_S=1 python3 $foreign predict '$dir/copied' '$dir/some.jsonl'"
check "what the host copies is not in a full L2" bash -c "[ $(took all 1) -gt $(($(took all 2) + 500)) ]"
check "but where L2 had the lines it is" near "$(took all 3)" "$(took all 2)" 0.01
check "an even wave of which some SMs are simulated ends as if all were" near "$(took some 4)" "$(took all 4)" 0.005
check "without tensor cores all blocks of an SM run alike: what is left over costs no more than its share" near "$((100 * $(took some 5) / $(took some 6)))" 56 0.03
cat > "$dir/beside.cu" << 'EOF'
__constant__ float c[4096];
template <int loads, int constants> __global__ void read(float *y, const float *x, int n, int stride) {
    float s = 0;
    for (int k = 0; k < n; k++) {
        float a[8] = {}, b[8] = {};
        for (int j = 0; j < loads; j++) a[j] = x[threadIdx.x + 1024 * j];
        for (int j = 0; j < constants; j++) b[j] = c[(k + j * stride) & 4095];
        for (int j = 0; j < 8; j++) s += a[j] * 2 + b[j];
        x += stride;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void sleep(int n, unsigned ns) {
    for (int i = 0; i < n; i++) __nanosleep(ns + i);
}
int main() {
    float *x;
    cudaMalloc(&x, 2 << 20);
    read<1, 1><<<1, 32>>>(x, x, 1, 32);
    read<8, 0><<<132, 1024>>>(x + (1 << 17), x, 20, 32);
    read<0, 8><<<132, 1024>>>(x + (1 << 17), x, 20, 32);
    read<8, 8><<<132, 1024>>>(x + (1 << 17), x, 20, 32);
    sleep<<<264, 256>>>(10, 20000);
    return 0;
}
EOF
mkdir -p "$dir/beside/bin"
check "a program that reads constants" bash -c "
    runtime/attnlab-nvcc -O3 -o '$dir/beside/bin/c' '$dir/beside.cu' && JOBS=1 BUDGET_S=20 python3 $foreign predict '$dir/beside' '$dir/beside.jsonl'"
echo "# loads $(took beside 1), constants $(took beside 2), both $(took beside 3)"
check "loads of constants leave beside other loads" [ "$(took beside 3)" -lt $(($(took beside 2) * 5 / 4)) ]
check "a warp sleeps as long as it asks" near "$(took beside 4)" $((200000 * 198 / 100)) 0.02
check "its first eight launches are predicted" bash -c "
    JOBS=1 python3 $foreign predict '$dir/out' '$dir/out.jsonl' && [ \$(grep -c '\"program\": \"suite-two-add\".*\"elapsed\"' '$dir/out.jsonl') = 8 ]"
tap_done
