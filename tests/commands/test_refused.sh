#!/bin/bash
# Counters that cannot be had, end to end: a stage on the fake driver (tests/fake/cuda.c) and a fake CUPTI
# (tests/fake/cupti.c). Asked for by name: status 6 and one line with the remedy. Not asked for: status 0, and
# every value says why it is not there.
. tests/tap.sh

stage() { # VARIABLE=VALUE... OPTIONS...
    local setting=()
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$build/tests/fake" "${setting[@]}" "$build/stage-1" --all "$@"
}
says() { # PATTERN VARIABLE=VALUE... OPTIONS...: what it prints, on both channels, has the pattern
    local pattern=$1
    shift
    stage "$@" > "$tap_dir/said" 2>&1
    cat "$tap_dir/said"
    grep -q -e "$pattern" "$tap_dir/said"
}
small="--seqlen 64 --heads 1 --no-check --no-time"

check "counts where nothing is refused" says "tensor_active_pct  *42 " $small --counters TENSOR
check "by instruction, too" says "shared_wavefronts  *42 " $small --counters SHARED

check "a SASS metric that this chip has not" says "ldmatrix_instructions  *n/a (GH100 has no SASS metric .*op_ldsm" $small --counters MIX,SHARED
check "the others are there" says "fma_instructions  *42 " $small --counters MIX
check "a metric that this chip has not" says "dram_bytes  *n/a (GH100 has no metric dram__bytes.sum" FAKE_CUPTI_UNKNOWN=dram__bytes.sum $small --counters MEMORY
check "its neighbours are there" says "l2_read_sectors  *42 " FAKE_CUPTI_UNKNOWN=dram__bytes.sum $small --counters MEMORY
# Whatever is asked for is one profile and one patched run, and no metric is tried by itself.
calls() {
    rm -f "$tap_dir/calls"
    stage FAKE_CUPTI_LOG="$tap_dir/calls" $small --quiet --counters TENSOR,SHARED,OCCUPANCY,MEMORY,STALL,MIX,CYCLES,BOUND
    sort "$tap_dir/calls" | uniq -c
    for one in cuptiRangeProfilerEnable cuptiSassMetricsEnable cuptiProfilerHostInitialize; do
        [ "$(grep -cx $one "$tap_dir/calls")" = 1 ] || return 1
    done
}
check "all groups at once" calls
# CUPTI is asked for what there is while the inputs are made, and once more for counting; with a time only then.
asked() { # TIMES OPTIONS...
    local times=$1
    shift
    rm -f "$tap_dir/calls"
    stage FAKE_CUPTI_LOG="$tap_dir/calls" --seqlen 64 --heads 1 --quiet --counters TENSOR --min-time 0 "$@"
    sort "$tap_dir/calls" | uniq -c
    [ "$(grep -cx cuptiProfilerDeviceSupported "$tap_dir/calls")" = "$times" ] &&
        [ "$(grep -cx cuptiProfilerGetCounterAvailability "$tap_dir/calls")" = 2 ] # its size, and it
}
check "CUPTI starts beside the inputs" asked 2 --no-time
check "but not where time is taken" asked 1

# ---- Refusals: FUNCTION CODE PATTERN
while read -r function code pattern; do
    fail=FAKE_CUPTI_FAIL=$function:$code
    status "refused with $code by $function" 6 stage $fail $small --counters TENSOR
    check "$code says $pattern" says "$pattern" $fail $small --counters TENSOR
    check "$code is no failure if nobody asked" says "tensor_active_pct *n/a .*$pattern\|n/a .*$pattern" $fail $small
done << EOF
cuptiRangeProfilerEnable 35 NVreg_RestrictProfilingToAdminUsers
cuptiProfilerGetCounterAvailability 35 RmProfilingAdminOnly
cuptiRangeProfilerEnable 26 dcgmi
cuptiProfilerInitialize 39 ncu
cuptiProfilerInitialize 38 CUDA_INJECTION64_PATH
cuptiProfilerInitialize 36 CUDA_INJECTION64_PATH
cuptiProfilerDeviceSupported 33 vGPU
cuptiRangeProfilerEnable 40 hypervisor
cuptiRangeProfilerEnable 41 confidential
cuptiProfilerDeviceSupported 42 mining
cuptiRangeProfilerEnable 43 MIG
cuptiProfilerDeviceSupported 44 SLI
cuptiProfilerDeviceSupported 45 WSL
cuptiProfilerHostInitialize 46 130001
cuptiProfilerInitialize 14 nvidia-smi
cuptiProfilerInitialize 15 libnvperf_host
EOF

while read -r flag pattern; do
    status "the device says no: $flag" 6 stage FAKE_CUPTI_NO=$flag $small --counters TENSOR
    check "$flag says $pattern" says "$pattern" FAKE_CUPTI_NO=$flag $small --counters TENSOR
done << EOF
architecture 7.0
sli SLI
vgpu vGPU
confidential confidential
cmp mining
wsl WSL
EOF

# ---- Losses: a value that is incomplete is no value
while read -r loss pattern; do
    check "lost: $loss" says "$pattern" FAKE_CUPTI_LOSE=$loss $small --counters TENSOR,OCCUPANCY
done << EOF
pass did not suffice
range dropped 1 ranges
empty 0 ranges came back
nan no finite value
EOF
check "lost: record" says "dropped 1 records" FAKE_CUPTI_LOSE=record $small --counters SHARED,OCCUPANCY

# ---- Chips and libraries
check "only Hopper has WGMMA" says "hgmma_instructions .*n/a (only Hopper" FAKE_CUPTI_CHIP=AD104 $small --counters TENSOR
status "no CUPTI there" 6 stage ATTNLAB_CUPTI=/nonexistent $small --counters TENSOR
check "no CUPTI says where to set it" says "set ATTNLAB_CUPTI" ATTNLAB_CUPTI=/nonexistent $small --counters TENSOR
check "occupancy without CUPTI" says "occupancy_theoretical_pct  *[0-9]" ATTNLAB_CUPTI=/nonexistent $small --counters OCCUPANCY

# ---- Source and timeline
check "a line with its count" says "kernel.cu" $small --source
status "no source without counters" 6 stage FAKE_CUPTI_FAIL=cuptiSassMetricsEnable:27 $small --source
status "no timeline without samples" 6 stage $small --timeline "$tap_dir/t.tsv"
status "a timeline that overflowed" 6 stage FAKE_CUPTI_LOSE=overflow $small --timeline "$tap_dir/t.tsv"
# An instrumented image: the stamps that the fake leaves, as cycles of 1234 MHz.
stamped() { # LANE WHAT CYCLES
    awk -F'\t' -v lane="$1" -v what="$2" -v cycles="$3" '$2 == lane && $3 == what {sum += ($6 - $5) * $7 * 1234}
        END {print lane, what, sum; exit !(sum > cycles - 2 && sum < cycles + 2)}' "$tap_dir/s-warps.tsv"
}
status "stamps without samples" 6 env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$build/tests/fake" "$build/stage-6" \
    --no-check --no-time --timeline "$tap_dir/s.tsv"
while IFS=';' read -r lane what cycles; do
    check "$lane $what $cycles cycles" stamped "$lane" "$what" "$cycles"
done << EOF
warp 0, products;waits at an mbarrier (TMA, other warps);100
warp 0, products;waits for its own WGMMA;100
warp 0, products;waits for other warps;40
warp 4, loads;waits at an mbarrier (TMA, other warps);470
products under way;share of the time, or of the warps;120
at softmax;share of the time, or of the warps;200
EOF
check "stamps as a trace" python3 tests/commands/trace_conform.py "$tap_dir/s-warps.json"
check "no timeline is left" test ! -e "$tap_dir/t.tsv"

# ---- make doctor
doctor() { # PATTERN VARIABLE=VALUE...
    local pattern=$1
    shift
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$build/tests/fake" "$@" \
        "$build/doctor" > "$tap_dir/said" 2>&1
    local rc=$?
    cat "$tap_dir/said"
    grep -q -e "$pattern" "$tap_dir/said" && return $rc
}
check "doctor finds the GPU" doctor "^ok *GPU"
check "doctor may count" doctor "^ok *counters"
check "doctor may not count" doctor "^missing *counters.*NVreg" FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable:35
check "doctor sees an injected profiler" doctor "^note *other client.*CUDA_INJECTION64_PATH" CUDA_INJECTION64_PATH=/nonexistent/lib.so

tap_done
