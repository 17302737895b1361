#!/bin/bash
# Every call into the driver fails once: the program says which in one line, exits with 4, and what
# was there before is still there.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
. tests/fake/fake.sh
record=$tap_dir/run.jsonl
fake --quiet --json "$record" || echo "# the run without a fault failed"
before=$(cat "$record")

for call in cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceTotalMem \
        cuDeviceGetAttribute cuDeviceGetAttribute:2 cuDeviceGetAttribute:9 \
        cuDeviceGetPCIBusId cuDevicePrimaryCtxRetain cuCtxSetCurrent cuStreamCreate \
        cuMemAlloc:1 cuMemAlloc:2 cuMemAlloc:3 cuMemAlloc:4 cuMemAlloc:5 cuMemAlloc:1:2 \
        cuMemAlloc:5:2 cuMemcpyHtoDAsync:1 cuMemcpyHtoDAsync:3 cuModuleLoadData \
        cuModuleLoadData:1:209 cuModuleGetFunction:1 cuModuleGetFunction:2 \
        cuFuncGetAttribute:1 cuFuncGetAttribute:4 cuMemsetD32Async:1 cuMemsetD32Async:3 \
        cuLaunchKernelEx:1 cuLaunchKernelEx:1:701 cuLaunchKernelEx:2 cuStreamSynchronize:1 \
        cuStreamSynchronize:6:700 cuStreamSynchronize:7:700 cuMemcpyDtoHAsync:1 \
        cuMemcpyDtoHAsync:2 cuMemcpyDtoHAsync:5 cuEventCreate:1 cuEventCreate:2 \
        cuStreamBeginCapture cuLaunchKernelEx:3 cuEventRecordWithFlags:1 \
        cuEventRecordWithFlags:2 cuStreamEndCapture cuGraphInstantiate:1 \
        cuGraphInstantiate:2 cuGraphUpload cuGraphLaunch:1 cuGraphLaunch:2 cuGraphLaunch:5 \
        cuEventElapsedTime:1 cuEventElapsedTime:4; do
    later status "$call fails" 4 fake FAKE_CUDA_FAIL="$call" --device cuda --quiet --json "$record"
done
together
status "the flush buffer of --l2 cold fails" 4 fake FAKE_CUDA_FAIL=cuMemAlloc:7 --l2 cold --quiet
status "a fault in a sweep" 4 fake FAKE_CUDA_FAIL=cuLaunchKernelEx:7:700 --sweep-random 10
status "a fault in repeats" 4 fake FAKE_CUDA_FAIL=cuLaunchKernelEx:3:700 --repeat-check 10
# Of a board that is not in chip.c the driver says what its memory can transfer: with half the bus stage 6 expects more time.
expects() {
    env LD_LIBRARY_PATH="$build/tests/fake" FAKE_CUDA_BUS_BITS="$1" "$build/stage-6" --device cuda --explain --csv --batch 64 \
        --heads 32 --kv-heads 8 --seqlen-q 1 --seqlen-k 8192 --head-dim 128
}
narrow() { expects 5120 > "$tap_dir/wide" && expects 2560 > "$tap_dir/narrow" && ! cmp -s "$tap_dir/wide" "$tap_dir/narrow"; }
check "the choice knows the board's memory" narrow
check "no failed run touched the records" [ "$before" = "$(cat "$record")" ]

# A clock that cannot be had says why, and is never the mean of some samples: 1234 MHz, n/a, or the program's end.
clock() { # CALL LEAST: of 20 faults, at least LEAST take the clock away
    local n said lost=0
    for ((n = 1; n <= 20; n++)); do
        said=$(fake FAKE_CUDA_FAIL="$1:$n" --device cuda 2> /dev/null | grep '^time *clock ') || continue # it ended
        case $said in
        *" 1234 "*) ;;
        *"n/a ($1: CUDA_ERROR_FAKE"*) lost=$((lost + 1)) ;;
        *) echo "$n: $said"; return 1 ;;
        esac
    done
    echo "$lost lost their clock"
    [ $lost -ge "$2" ]
}
for call in cuMemcpyDtoHAsync cuLaunchKernelEx; do later check "the clock, or why not: $call" clock $call 3; done
for call in cuMemAlloc cuModuleLoadData; do later check "the clock, or why not: $call" clock $call 1; done
together
source_cycles() { # PATTERN VARIABLE=VALUE...
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$build/tests/fake" "${@:2}" \
        "$build/stage-1" --device cuda --heads 1 --seqlen 8 --source > "$tap_dir/lines" 2>&1 && grep -qe "$1" "$tap_dir/lines"
}
check "--source: the cycles that were measured" source_cycles ' of 12340 measured: '
check "--source: without a clock, why" source_cycles ' of n/a (cuMemAlloc: CUDA_ERROR_FAKE' FAKE_CUDA_FAIL=cuMemAlloc:6

# A driver without a symbol that is needed: an empty library.
mkdir "$tap_dir/old"
old_driver() { env LD_LIBRARY_PATH="$tap_dir/old" "$build/stage-1" --device cuda; }
${CC:-gcc} -shared -o "$tap_dir/old/libcuda.so.1" -x c /dev/null 2> /dev/null &&
    status "a driver that is too old" 4 old_driver
echo "no library" > "$tap_dir/old/libcuda.so.1"
status "a libcuda.so.1 that is no library" 77 old_driver

# Every call into the C library fails once, too: tests/commands/every_fault.py. FAULT_POINTS=all before a release. Of the lists
# that grow while counters are read, each growth: one that is left out would be a counter that nobody misses.
python3 tests/commands/every_fault.py "$build" "${FAULT_POINTS:-1664}" > "$tap_dir/every" 2>&1
python3 tests/commands/every_fault.py "$build" all "all that" realloc | sed '/^#.* points$/d; s/ counted/&: lists/' >> "$tap_dir/every" 2>&1
while read -r line; do
    case $line in
    ok*) check "${line#* - }" true ;;
    not*) check "${line#* - }" bash -c "grep -A 12 -F -- '$line' $tap_dir/every; false" ;;
    esac
done < "$tap_dir/every"
check "that was all of them" grep -Eq '^# [0-9]{4,} of [0-9]+ points' "$tap_dir/every"
tap_done
