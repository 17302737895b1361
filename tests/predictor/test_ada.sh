#!/bin/bash
# Ada: the machine code of sm_89 executes like PTX, and predictions for an L4 and an RTX 4090 move the right way and say that nobody
# validated them.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset CHIP ATTNLAB_RUN PREDICTOR_CHIP
needs_nvdisasm "Ada"

# ---- Machine code: each image of stages 1 to 4
same() { # STAGE IMAGE
    local dim=${2#d} dtype=fp16
    [[ $2 != *bf16 ]] || dtype=bf16
    SASS_UNFUSE=1 "$build/sass-stage-$1" --chip l4 --seqlen 70 --heads 1 --head-dim "${dim%%-*}" --dtype $dtype --image "$2" --quiet
}
n=0
for cubin in "$build"/images/stage-[1-4]/*.sm_89.cubin; do
    stage=${cubin%/*} image=${cubin##*/}
    check "stage ${stage##*-} ${image%%.*} executes like PTX" same "${stage##*-}" "${image%%.*}"
    n=$((n + 1))
done
check "those are all of them" [ $n -ge 40 ]
check "split keys, combined" bash -c "SASS_UNFUSE=1 '$build/sass-stage-4' --chip l4 --seqlen-q 1 --seqlen-k 2048 --heads 8 --kv-heads 2 --head-dim 128 --quiet"
differs() { "$build/sass-stage-4" --chip l4 --seqlen 512 --heads 8 --quiet; [ $? -eq 1 ]; }
check "the comparison can fail: fused and apart differ" differs

# ---- The chip's file
house=$tap_dir/house
file() { # SED: predict-1 with a changed file of the L4
    sed "$1" chips/l4.txt > "$tap_dir/l4.txt"
    PREDICTOR_CHIP=$tap_dir/l4.txt "$build/predict-1" --chip l4 --seqlen 64 --heads 1 > "$tap_dir/said" 2>&1
    local status=$?
    cat "$tap_dir/said"
    return $status
}
check "a file of Ada is read" file ''
refused() { ! file "$1" && [ "$(wc -l < "$tap_dir/said")" -eq 1 ] && grep -qF "$2" "$tap_dir/said"; }
check "not without one of its numbers" refused '/^l2_latency /d' "'l2_latency' is missing"
check "not with some numbers of Hopper" refused '$a tma_latency 50 cycles J' "'l2_tma_shared_bytes_per_clk' is missing"
check "nor with a name that is none" refused '$a l3_latency 50 cycles J' "no parameter is called 'l3_latency'"
other() { ! PREDICTOR_CHIP=chips/$1.txt "$build/predict-1" --chip "$2" --seqlen 64 --heads 1 > "$tap_dir/said" 2>&1; cat "$tap_dir/said"; grep -qE "$3" "$tap_dir/said"; }
# shellcheck disable=SC2016
mixed() { # an image of sm_90a for Ada
    mkdir -p "$house/images/stage-1" && cp "$build"/images/stage-1/d64.*.ptx* "$house/images/stage-1/" && cp "$build/images/stage-1/d64.sm_90a.cubin" "$house/images/stage-1/d64.sm_89.cubin" &&
        cp "$build/predict-1" "$house/" && ln -sfn "$(realpath .venv)" "$tap_dir/.venv" && ! PREDICTOR_CHIP=$PWD/chips/l4.txt "$house/predict-1" --chip l4 --seqlen 64 --heads 1 > "$tap_dir/said" 2>&1
    cat "$tap_dir/said"
    grep -q "code of sm_90a, and the chip is of Ada: compile 'attention' for sm_89" "$tap_dir/said"
}
check "code of sm_90a is not predicted for Ada" mixed

# ---- Predictions
stage() { "$build/stage-$1" --device emu --no-check --all --seqlen 128 --heads 2 "${@:2}" > "$tap_dir/said" 2>&1 && cat "$tap_dir/said"; }
says() { stage "${@:2}" && grep -qE "$1" "$tap_dir/said"; }
for chip in l4 rtx4090; do
    for s in 1 2 3 4; do check "stage $s on $chip is predicted, not validated" says "^predicted values: $chip: not validated" "$s" --chip $chip; done
    each() { stage 3 --chip $chip --csv && awk -F, '/,predictor[.]/ {n++; if (!/not validated/ && !/,(mean_clock_mhz|issue_bound),/) exit 1} END {exit !(n > 15)}' "$tap_dir/said"; }
    check "each value of $chip says so" each
    for s in 5 6; do
        hopper() { "$build/stage-$s" --device emu --chip $chip > "$tap_dir/said" 2>&1; [ $? -eq 3 ] && [ "$(wc -l < "$tap_dir/said")" -eq 1 ] && grep -qE "(takes Hopper|needs a Hopper chip) .*--chip h200 " "$tap_dir/said"; }
        check "stage $s needs Hopper and says so in one line" hopper
    done
done
drawn() { stage 3 --chip l4 --timeline "$tap_dir/t.tsv" && grep -q 'l4: not validated' "$tap_dir/t.tsv"; }
check "the timeline says so" drawn
labelled() { mkdir -p "$tap_dir/tables" && stage 3 --chip l4 --json "$tap_dir/r.jsonl" && "$build/tabulate" --out "$tap_dir/tables" --problem "B1 H2 S128 D64" --stages 3-wmma-pv "l4=$tap_dir/r.jsonl" && grep -q 'is predicted (l4: not validated)' "$tap_dir/tables/labels.txt"; }
check "so do the words below each picture" labelled
if command -v "${NVCC:-nvcc}" > /dev/null; then
    cat > "$tap_dir/k.cu" << 'END'
extern "C" __global__ void copy(const float4 *from, float4 *to) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    to[i] = from[i];
}
extern "C" __global__ void sums(float *x, int n) {
    float a = threadIdx.x, b = 1, c = 2, d = 3;
    for (int i = 0; i < n; i++) a = a * b + 1, b = b * c + 1, c = c * d + 1, d = d * a + 1;
    x[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
END
    us() { # CHIP KERNEL OPTIONS...: active microseconds, without the launch
        "$build/run" --device emu --chip "$1" --kernel "$2" --no-races --cache cold --counters CYCLES "${@:3}" "$tap_dir/k.cu" 2> "$tap_dir/err" |
            awk '$3 == "cycles_active" {cycles = $4} /^predicted .model. at/ {mhz = $4; known = !/not validated/} END {if (known) exit 1; print cycles / mhz}'
    }
    times() { # LEAST MOST KERNEL OPTIONS...: how much faster the RTX 4090 is
        a=$(us l4 "${@:3}") && b=$(us rtx4090 "${@:3}") && echo "$a us, $b us" && awk -v a="$a" -v b="$b" -v least="$1" -v most="$2" 'BEGIN {exit !(b > 0 && a / b > least && a / b < most)}'
    }
    # 128 SMs at 2520 MHz for 58 at 2040 are 2.73; 986 bytes a ns for 293 are 3.37.
    check "arithmetic goes by SMs and clock" times 2.6 2.9 sums --grid 2560 --block 256 --arg 'f32[655360]=zero' --arg i32=200
    check "memory by the rate of DRAM" times 3.2 3.5 copy --grid 32768 --block 256 --arg 'f32[33554432]=zero' --arg 'f32[33554432]=zero'
else
    skip "own kernels" "no nvcc here"
fi
tap_done
