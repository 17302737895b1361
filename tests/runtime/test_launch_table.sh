# build/run's table of launches: which of them share a row, what the row of all sums up, what is left out.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "the table of launches" "no nvcc here"
    tap_done
fi
cat > "$tap_dir/table.cu" << 'PROGRAM'
__global__ void first(float *x) {
    __shared__ float tile[128];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x + blockIdx.x * 4] = tile[threadIdx.x * 2 % blockDim.x];
}
__global__ void second(float *x) { x[threadIdx.x * 2 + threadIdx.y + threadIdx.z] = 1; }
int main() {
    float *x;
    cudaMalloc(&x, 1 << 16);
    for (int i = 0; i < 3; i++) first<<<1, 64>>>(x);
    first<<<2, 32>>>(x);
    first<<<1, 64, 256>>>(x);
    for (int i = 1; i < 9; i++) first<<<1, 8 * i>>>(x);
    second<<<dim3(1, 2), dim3(8, 2, 2)>>>(x);
    second<<<dim3(2, 1, 3), 8>>>(x);
    return cudaDeviceSynchronize();
}
PROGRAM
check "it compiles" env BUILD="$build" runtime/attnlab-nvcc -O2 -std=c++17 -o "$tap_dir/table" "$tap_dir/table.cu"

# What both kernels store and read is written out by hand; instructions are the compiler's, so their sums are compared.
cat > "$tap_dir/rows.py" << 'CHECK'
import re, sys
text, every = open(sys.argv[1]).read().splitlines(), sys.argv[2] == 'every'
head = next(n for n, line in enumerate(text) if line.startswith('kernel '))
at = [m.start() for m in re.finditer(r'(?<=  )\S|^\S', text[head])]
rows = []
for line in text[head + 1:]:
    if not line.strip(): break
    rows.append([line[a:b].strip() for a, b in zip(at, at[1:] + [None])])
shape = [r[:5] + r[7:11] for r in rows]
small = [[str(n), '1', str(8 * (n - 5)), '512', str(n - 5), '', str(w), more]
         for n, w, more in ((6, 2, ''), (7, 2, ''), (8, 2, ''), (9, 2, ''), (10, 5, '+25%'), (11, 5, '+25%'), (12, 6, '+50%'), (13, 6, '+50%'))]
shown = small if every else small[:5]
wanted = [['first', '1-3, each', '1', '64', '512', '8', '', '6', '+50%'], ['', '4', '2', '32', '512', '9', '+12%', '4', ''],
          ['', '5', '1', '64', '768', '8', '', '6', '+50%']] + [['', *r] for r in shown] + [
          ['', 'all 13' if every else 'all 13 (--launches: each)', '', '', '', '77', '+1%', '58', '+32%'],
          ['second', '1', '1x2', '8x2x2', '0', '6', '', '0', ''], ['', '2', '2x1x3', '8', '0', '12', '+100%', '0', ''],
          ['', 'all 2', '', '', '', '18', '+29%', '0', '']]
assert shape == wanted, '\n'.join(map(str, shape))
if every: # as many instructions and threads as the rows have together
    for first, last in ((0, 11), (12, 14)):
        times = [3 if 'each' in r[1] else 1 for r in rows[first:last]]
        n = [float(r[5]) for r in rows[first:last]]
        assert float(rows[last][5]) == sum(t * x for t, x in zip(times, n)), rows[last]
        lanes = sum(t * x * float(r[6]) for t, x, r in zip(times, n, rows[first:last])) / float(rows[last][5])
        assert abs(lanes - float(rows[last][6])) < 0.11, (lanes, rows[last])
    assert [r[6] for r in rows[3:7]] == ['8.0', '16.0', '24.0', '32.0']
CHECK
table() { # every|some OPTIONS...
    "$build/run" --device emu --no-predict --no-races "${@:2}" "$tap_dir/table" > "$tap_dir/said" 2>&1 || return 1
    python3 "$tap_dir/rows.py" "$tap_dir/said" "$1" || { cat "$tap_dir/said"; false; }
}
check "eight rows, and what is left out is said" table some
check "--launches: every launch" table every --launches
tap_done
