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
printf '%s\n' "1 cases" "programs: 9 first launches of programs by others, mean 1.0 %, worst 2.0 %" > "$dir/chip.txt"
printf '%s\n' "1 cases" "programs: 1 first launches of programs by others, mean 10.0 %, worst 10.0 %" \
    "cycles of programs: 8 in 10 of 1 first launches of programs by others were within 10.0 %" > "$dir/wanted"
check "the sums take the place of an earlier freeze's" bash -c "
    python3 $foreign compare '$dir/predicted.jsonl' '$dir/measured.csv' --out '$dir/chip.txt' > /dev/null && diff '$dir/wanted' '$dir/chip.txt'"
status "a wrong command" 2 python3 $foreign improve "$dir"

if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "foreign programs are built" "no nvcc here"
    tap_done
fi
export BUILD=$build NVCC
check "a folder's programs are built" python3 $foreign build "$dir/out" "$dir/suite"
check "what does not compile is named, what has no main is not one" bash -c "
    python3 $foreign build '$dir/out' '$dir/suite' > '$dir/said' && grep -q '^suite-bad: .*error' '$dir/said' && grep -qx 'built 1 of 2 programs' '$dir/said'"
cat > "$dir/unknown.cu" << 'EOF'
__global__ void make(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < n; k++) s = s * 3 + k;
    x[i] = s;
}
__global__ void twice(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 2;
}
__global__ void follow(const int *x, int *y) { /* as often as the data says */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < x[i] % 100; k++) y[i] += k;
}
int main() {
    int *x, *y;
    cudaMalloc(&x, 1 << 16);
    cudaMalloc(&y, 1 << 16);
    cudaMemset(y, 0, 1 << 16);
    make<<<64, 256>>>(x, 100000); /* too long to run */
    twice<<<64, 256>>>(x, y);
    follow<<<64, 256>>>(x, y);
    cudaMemset(x, 0, 1 << 16);
    cudaMemset(y, 0, 1 << 16);
    follow<<<64, 256>>>(x, y);
    return 0;
}
EOF
mkdir -p "$dir/unknown/bin"
check "what follows data of a launch that did not run has no prediction; what only computes with it has one" bash -c "
    runtime/attnlab-nvcc -O3 -o '$dir/unknown/bin/u' '$dir/unknown.cu' &&
    JOBS=1 MOST=1e6 BUDGET_S=1 python3 $foreign predict '$dir/unknown' '$dir/unknown.jsonl' &&
    grep -q '\"launch\": 1, .*\"elapsed\"' '$dir/unknown.jsonl' && grep -q '\"launch\": 2, .*depends on data of launch 0' '$dir/unknown.jsonl' &&
    grep -q '\"launch\": 3, .*\"elapsed\"' '$dir/unknown.jsonl'"
check "its first eight launches are predicted" bash -c "
    JOBS=1 python3 $foreign predict '$dir/out' '$dir/out.jsonl' && [ \$(grep -c '\"program\": \"suite-two-add\".*\"elapsed\"' '$dir/out.jsonl') = 8 ]"
tap_done
