#!/bin/bash
# The clock of own kernels: each example predicted, in the table, in the record and in Python; memory as it was; and n/a
# with its reason, once, where there is no prediction.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset CHIP ATTNLAB_RUN
run=$build/run dir=$tap_dir/work
mkdir "$dir"
needs_nvcc "predictions of own kernels"
needs_nvdisasm "predictions of own kernels"
emulated() { "$run" --device emu --cache warm "$@"; } # managed memory is there
says() { # PATTERN COMMAND...: its status 0, and PATTERN in what it prints
    local pattern=$1
    shift
    "$@" > "$tap_dir/said" 2>&1 && grep -Eq -- "$pattern" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
validated="h200: $(sed -n 's/^programs: //p' records/validation/h200.txt)"

# ---- Examples
row='+1 +[0-9x]+ +[0-9x]+ +[1-9][0-9]{3,} +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[a-z_]+ [0-9.]+, '
for e in sgemm:sgemm_naive sgemm:sgemm_tiled transpose:transpose.0. reduction:reduce softmax:softmax_three_passes \
    softmax:softmax_online wgmma_gemm:gemm; do
    check "${e#*:} is predicted" says "^${e#*:} $row" emulated --json "$dir/${e%:*}.jsonl" "$build/examples/${e%:*}"
done
check "managed memory that comes from the host first is not predicted" says "^not predicted: reduce: .* has to come from the host first, .*--cache warm" \
    "$run" --device emu "$build/examples/reduction"
says . emulated "$build/examples/wgmma_gemm"
check "with clock and sentence" grep -qx "predicted (model) at 1980 MHz; $validated" "$tap_dir/said"
check "the screen quotes what such programs gave" grep -q "^time .*MHz. 8 in 10 of [0-9]* first launches of programs by others were within [0-9.]* %[.]$" \
    <(sed -z 's/\n  *\([a-z0-9]\)/ \1/g' "$tap_dir/said")
check "an H100 has sums of its own" \
    says "h100: $(sed -n 's/^programs: //p' records/validation/h100.txt)$" emulated --chip h100 "$build/examples/transpose"
says . emulated "$build/examples/wgmma_gemm"
check "and all of them" bash -c "! grep -q 'not predicted' $tap_dir/said"
cycles() { # RECORD KERNEL
    python3 -c '
import json, sys
print(next(l["predicted"]["cycles_elapsed"] for k in json.loads(open(sys.argv[1]).readline())["kernels"] if k["name"] == sys.argv[2] for l in k["launches"]))' "$@"
}
order() {
    emulated --quiet --json "$dir/512.jsonl" "$build/examples/sgemm" 512
    a=$(cycles "$dir/512.jsonl" sgemm_naive) b=$(cycles "$dir/512.jsonl" sgemm_tiled)
    echo "$a $b"
    awk -v a="$a" -v b="$b" 'BEGIN {exit !(b > 0 && a > 1.2 * b)}'
}
check "tiles make sgemm faster" order
order() { a=$(cycles "$dir/transpose.jsonl" 'transpose<0>') b=$(cycles "$dir/transpose.jsonl" 'transpose<1>'); echo "$a $b"; awk -v a="$a" -v b="$b" 'BEGIN {exit !(b > 0 && a > b)}'; }
check "a padded row makes transpose faster" order
cat > "$dir/turns.cu" <<'END'
extern "C" __global__ void turns(float *x, bool more, signed char n) {
    for (int i = 0; i < n; i++)
        if (more) x[threadIdx.x] += 1;
}
END
turns() { # MORE N: cycles
    emulated --kernel turns --grid 132 --block 32 --arg 'f32[32]=zero' --arg u8="$1" --arg i8="$2" --no-races --counters CYCLES "$dir/turns.cu" 2> "$tap_dir/err" |
        awk '$3 == "cycles_elapsed" {print $4}'
}
small() { a=$(turns 1 40) b=$(turns 0 40) c=$(turns 1 -3); echo "$a $b $c"; cat "$tap_dir/err"; awk -v a="$a" -v b="$b" -v c="$c" 'BEGIN {exit !(a > 1.1 * b && b > c && c > 1000)}'; }
check "arguments of one byte, and their sign" small
cat > "$dir/product.cu" << 'END'
extern "C" __global__ void product(const float *A, const float *B, float *C, int n) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += A[row * n + i] * B[i * n + col];
    C[row * n + col] = sum;
}
END
short_budget() { # blocks so long that the first step alone would take it all
    emulated --kernel product --grid 128x128 --block 16x16 --arg 'f32[2048x2048]=zero' --arg 'f32[2048x2048]=zero' --arg 'f32[2048x2048]=zero' --arg i32=2048 --no-races --counters CYCLES \
        --predict-only 1 --predict-budget 3 "$dir/product.cu" > "$tap_dir/said" 2>&1
    awk '$3 == "cycles_elapsed" && $4 > 5e6 && $4 < 7.5e6 && /extrapolated from/ {found = 1} END {exit !found}' "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "a short budget is enough for blocks that are long" short_budget
check "the tensor pipe of WGMMA" python3 -c '
import json, sys
k, = json.loads(open(sys.argv[1]).readline())["kernels"]
l, = k["launches"]
p = l["predicted"]
c = {c["name"]: c for c in k["counters"]}
assert 5 < p["tensor_active_pct"] < 50 and p["source"] == "model" and p["validated"] == sys.argv[2], p
assert abs(p["duration_us"] * 1980 / p["cycles_elapsed"] - 1) < 1e-6 and p["mean_clock_mhz"] == 1980
for name in ("cycles_elapsed", "duration_us", "tensor_active_pct", "issue_active_pct", "occupancy_achieved_pct", "stall_barrier", "stall_wait"):
    assert c[name]["value"] == p[name] and c[name]["source"] == "model" and c[name]["validated"] == sys.argv[2], name
assert sum(n.startswith("stall_") for n in p) >= 14 and abs(p["stall_selected"] - 1) < 1e-6
' "$dir/wgmma_gemm.jsonl" "$validated"
check "a counter group" says "^gemm +STALL +stall_barrier +[0-9.]+ +warps/issue +model; $validated" emulated --counters STALL "$build/examples/wgmma_gemm"
check "stalls beside the lines" says '[0-9.]+ long_scoreboard .*[|] *[0-9]+ ' emulated --source "$build/examples/reduction"
check "said how good" grep -q "$validated" "$tap_dir/said"
check "--sm-clock" says '^predicted [(]model[)] at 990 MHz' emulated --sm-clock 990 "$build/examples/transpose"
check "--no-predict" says '^transpose<0> +1 +10x6' emulated --no-predict "$build/examples/transpose"
check "predicts nothing" bash -c "! grep -q predicted $tap_dir/said"

# ---- Memory stays, what is not known is said once, the program goes on
check "the program compiles" env BUILD="$build" NVCC="$NVCC" runtime/attnlab-nvcc -O3 -std=c++17 -o "$dir/own" tests/predictor/own_kernels.cu
check "memory is as it was" says '^0 wrong, 96 counted$' emulated "$dir/own"
check "each grid is predicted" says '^add +1, 1 like it +8 ' emulated "$dir/own"
check "the other too" grep -qE '^ +3 +4 +256 +[0-9]{4}' "$tap_dir/said"
check "loads past L1, as of volatile" grep -qE '^wait +1 +1 +32 +[0-9]{4}' "$tap_dir/said"
check "an unknown instruction" grep -qE '^not predicted: halve: the predictor: 0x.* VIADD.16x2.* .*own_kernels.cu:[0-9]+[)]: modifier .16x2 is not known' "$tap_dir/said"
check "once" [ "$(grep -c '^not predicted: .*VIADD' "$tap_dir/said")" -eq 1 ]
check "a kernel that reads the clock" says '^timed +1 +1 +32 +[0-9]{3,4} ' emulated "$dir/own" reads the clock
check "many launches" says '^add +1, 38 like it ' emulated "$dir/own" many
check "no time for any" says '^not predicted: add, halve, wait: the 1e-06 s of --predict-budget are over$' emulated --predict-budget 1e-6 --json "$dir/late.jsonl" "$dir/own"
check "one that never ends" says '^not predicted: together: the predictor: no block had ended after [0-9.]+ million simulated instructions$' emulated --predict-budget 2 "$dir/own" 3 together
check "leaves work for others" grep -qE '^add +1, 38 like it ' "$tap_dir/said"
few() { # RECORD: a budget that ends within a launch
    emulated --predict-budget 2 --quiet --json "$dir/$1.jsonl" "$build/examples/sgemm" 512
    grep -o '"cycles_elapsed":[0-9.]*' "$dir/$1.jsonl"
}
busy() { # as on an idle host: other processes take its time
    local pids=()
    few idle > "$tap_dir/idle" && grep -q 'extrapolated from' "$dir/idle.jsonl" || return
    for _ in 1 2 3 4 5 6; do
        (while :; do :; done) & pids+=($!)
    done
    few busy > "$tap_dir/busy"
    kill "${pids[@]}"
    wait "${pids[@]}" 2> /dev/null
    diff "$tap_dir/idle" "$tap_dir/busy"
}
check "a busy host predicts the same" busy
check "n/a in the record" python3 -c '
import json, sys
for k in json.loads(open(sys.argv[1]).readline())["kernels"]:
    assert all("--predict-budget" in l["predicted"]["na"] for l in k["launches"] if "predicted" in l)
    assert all("--predict-budget" in c["na"] for c in k["counters"] if c["group"] in ("CYCLES", "STALL") and c["name"] != "stall_imc"), k["counters"]
' "$dir/late.jsonl"
cat > "$dir/flush.cu" <<'END'
#include <cuda_runtime.h>
__global__ void sum(const float4 *x, float *out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i].x;
    if (s == 12345) *out = s;
}
int main() {
    const int bytes = 8 << 20, all = 64 << 20;
    char *x, *y;
    if (cudaMalloc(&x, bytes) || cudaMalloc(&y, all) || cudaMemset(x, 0, bytes)) return 1;
    for (int i = 0; i < 4; i++) {
        sum<<<264, 256>>>((float4 *)x, (float *)y, bytes / 16);
        if (i != 1) cudaMemset(y, i, all);
    }
    return cudaDeviceSynchronize();
}
END
check "a program that empties L2 compiles" env BUILD="$build" NVCC="$NVCC" runtime/attnlab-nvcc -O3 -o "$dir/flush" "$dir/flush.cu"
caches() { # NAMES OPTIONS...: what the predictions took L2 to hold; the first is the fastest, by a third at least
    local names=$1
    shift
    rm -f "$dir/flush.jsonl"
    "$run" --device emu --quiet --no-races --json "$dir/flush.jsonl" "$@" "$dir/flush" && python3 -c '
import json, sys
p = [l["predicted"] for l in json.loads(open(sys.argv[1]).readline())["kernels"][0]["launches"] if "predicted" in l]
names, cycles = [x["l2"] for x in p], [x["cycles_elapsed"] for x in p]
print(names, cycles)
sys.exit(names != sys.argv[2].split() or len(p) > 1 and 1.33 * cycles[0] > cycles[1])' "$dir/flush.jsonl" "$names"
}
check "a memset as large as L2 empties it; the first launch is like no other" caches "warm flushed warm"
check "also for launches that --repeats leaves out" caches "warm flushed warm" --repeats 1
check "--cache warm" caches warm --cache warm
check "--cache cold" caches cold --cache cold
check "--cache takes three words" says 'takes as-run, warm or cold, not .hot' bash -c '! "$@"' _ "$run" --cache hot "$dir/flush"
printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry none(.param .u32 n) { ret; }\n' > "$dir/none.ptx"
check "a chip that nobody measured" says '^not predicted: none: no measured chip file chips/a100.txt' emulated --chip a100 --kernel none --arg i32=1 "$dir/none.ptx"
check "--without" says '^not predicted: transpose<0>, transpose<1>: with --without' emulated --without list "$build/examples/transpose"

# ---- One kernel: PTX, compiled by ptxas and kept; Python
check "PTX" "${NVCC:-nvcc}" -std=c++17 -lineinfo -ptx -arch=compute_90a -o "$dir/own.ptx" tests/predictor/own_kernels.cu
echo "// $RANDOM $$" >> "$dir/own.ptx"
one() { emulated --json "$dir/one.jsonl" --kernel "$1" --grid 4 --block 256 --arg 'i32[1000]=zero' --arg i32=1000 "$dir/own.ptx"; }
kept() { find "$build/sass" -name '*.cubin' | sort; }
before=$(kept)
check "one kernel of a file" says "^add +1 +4 +256 +[0-9]{4}" one add
check "its cubin is kept" [ "$(kept)" != "$before" ]
before=$(kept)
check "and used again" says "^add +1 +4 +256 +[0-9]{4}" one add
check "as it is" [ "$(kept)" = "$before" ]
find "$build/sass" -name '*.cubin' -newer "$dir/own.ptx" -delete
check "Python" env PYTHONPATH=runtime/python BUILD="$build" "$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)" -c '
import sys, numpy as np, attnlab
code = open("tests/predictor/own_kernels.cu").read()
add, x = attnlab.RawKernel(code, "add", chip="h200"), np.zeros(1000, np.int32)
add(8, 128, (x, 1000))
c = add.counters
assert 1000 < c["cycles_elapsed"] < 20000 and c["instructions"] > 100 and c["stall_wait"] > 0 and c["occupancy_achieved_pct"] > 0, c
assert add.prediction == sys.argv[1] and add.groups("CYCLES")["cycles_elapsed"] == c["cycles_elapsed"]
assert "long_scoreboard" in add.source()
halve = attnlab.RawKernel(code, "halve")
halve(1, 32, (np.ones(32),))
assert halve.prediction.startswith("n/a: ") and "VIADD" in halve.prediction and "cycles_elapsed" not in halve.counters
' "$validated"

# ---- No nvdisasm: the table without it, status 0
house=$dir/house
mkdir -p "$house/build/runtime" "$house/profiler" "$house/chips" && cp "$run" "$house/build/" && cp -P "$build"/runtime/lib*.so* "$house/build/runtime/" &&
    cp chips/h200.txt "$house/chips/" && cp -r profiler/groups "$house/profiler/"
if command -v nvdisasm > /dev/null || [ -x /usr/local/cuda/bin/nvdisasm ]; then
    skip "no nvdisasm" "there is one on PATH"
else
    check "no nvdisasm" says '^not predicted: transpose<0>, transpose<1>: no nvdisasm in .venv' "$house/build/run" --device emu "$build/examples/transpose"
    ln -s "$PWD/.venv" "$house/.venv"
    check "not validated" says '^predicted [(]model[)] at 1980 MHz; h200: not validated$' "$house/build/run" --device emu "$build/examples/transpose"
fi
tap_done
