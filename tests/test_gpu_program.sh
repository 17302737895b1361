#!/bin/bash
# build/run of a program on a GPU: its launches counted by CUPTI, on the driver and the CUPTI of tests/fake, where every
# metric is 42.
. tests/tap.sh
program=$build/tests/fake/gpu_program
on_gpu() { # [VARIABLE=VALUE...] OPTIONS AND PROGRAM...
    local setting=()
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$(realpath "$build/tests/fake")" "${setting[@]}" "$build/run" "$@"
}
says() { # PATTERN STATUS COMMAND...
    local pattern=$1 status=$2 got
    shift 2
    "$@" > "$tap_dir/said" 2>&1
    got=$?
    [ $got -eq "$status" ] && grep -Eq -- "$pattern" "$tap_dir/said" || { echo "status $got"; cat "$tap_dir/said"; false; }
}
check "launches are counted" says '^run: .*, 2 kernels, 4 launches, counted by CUPTI in 1 pass each' 0 on_gpu "$program"
check "a row for equal ones" grep -Eq '^scale +1-2, each +4 +64 +0 +42 +1\.0 +84 ' "$tap_dir/said"
check "and for others" grep -Eq '^reduce +1 +2x3 +32 +1024 +42 ' "$tap_dir/said"
check "the program runs as before" grep -qx done "$tap_dir/said"
check "its graphs, too, and that is said" grep -qx 'run: launches of graphs run, and are not counted' "$tap_dir/said"
check "--quiet" says '^done$' 0 on_gpu --quiet "$program"
check "its status is its own" says done 3 on_gpu --quiet "$program" 3
check "groups" says 'scale +TENSOR +hgmma_instructions +126 ' 0 on_gpu --counters TENSOR,OCCUPANCY "$program"
check "of each kernel" grep -Eq '^reduce +TENSOR +hgmma_instructions +42 ' "$tap_dir/said"
check "shares are of launches weighed" grep -Eq '^scale +OCCUPANCY +occupancy_achieved_pct +42 ' "$tap_dir/said"
# Of scale's three: stalls by issues, the tensor pipe by elapsed cycles, occupancy by active ones.
pipe=sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active.avg.pct_of_peak_sustained_elapsed
values="smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio=1,2,6 smsp__issue_active.sum=10,30,60
    $pipe=10,20,60 sm__cycles_elapsed.max=100,100,200
    sm__warps_active.avg.pct_of_peak_sustained_active=20,80 sm__cycles_active.avg=1,1,2"
check "each by its own weight: stalls" says '^scale +STALL +stall_barrier +4[.]3 ' 0 on_gpu FAKE_CUPTI_VALUES="$values" --counters STALL,TENSOR,OCCUPANCY "$program"
check "shares of the elapsed time" grep -Eq '^scale +TENSOR +tensor_elapsed_pct +37[.]5 ' "$tap_dir/said"
check "of the active one" grep -Eq '^scale +OCCUPANCY +occupancy_achieved_pct +65 ' "$tap_dir/said"
check "not by one that the chip has not" says '^scale +STALL +stall_barrier +n/a ' 0 on_gpu FAKE_CUPTI_UNKNOWN=smsp__issue_active.sum --counters STALL "$program"
check "what is counted by instruction says so" says 'scale +SHARED +shared_wavefronts +n/a \(it is counted by instruction' 0 on_gpu --counters SHARED "$program"
on_gpu --quiet --json "$tap_dir/r.jsonl" "$program" > /dev/null 2>&1
check "the record" python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).read())
assert r["no_counters"] == "launches of graphs run, and are not counted"
assert r["device"]["kind"] == "cuda" and r["exit"] == 0 and r["reports"] == [] and r["launches"] == 4
scale, reduce = r["kernels"]
assert (scale["symbol"], scale["name"], len(scale["launches"])) == ("_Z5scalePfi", "scale", 3)
l = reduce["launches"][0]
assert (l["grid"], l["block"], l["shared_bytes"]) == ([2, 3, 1], [32, 1, 1], 1024)
assert l["cluster"] == [2, 1, 1] and scale["launches"][0]["cluster"] == [0, 0, 0]
assert (l["instructions"], l["global_sectors"], l["global_sectors_ideal"], l["cycles"]) == (42, 84, None, 42)
assert l["source"] == "cupti" and "emulator_s" not in l
c = {x["name"]: x for x in scale["counters"]}
assert c["hgmma_instructions"]["value"] == 126 and "na" in c["shared_wavefronts"] and "registers" in c' "$tap_dir/r.jsonl"
check "equal ones once, if asked" says '^1 launches were like earlier ones and were not counted' 0 on_gpu --repeats 1 "$program"
check "they count as what they are like" grep -Eq '^scale +1-2, each +4 +64 +0 +42 ' "$tap_dir/said"
all_counted() { says 'scale +1-2, each' 0 on_gpu "$@" --repeats 1 "$program" && ! grep -q 'were like earlier' "$tap_dir/said"; }
check "not with another argument" all_counted NUMBER=7
check "nor where nobody knows the arguments" all_counted FAKE_CUDA_FAIL=cuFuncGetParamInfo:1
check "in groups, too" says 'scale +TENSOR +hgmma_instructions +126 ' 0 on_gpu --repeats 1 --counters TENSOR "$program"
# A launch that the driver refuses is none; one after which the device is broken is not counted.
check "a launch that is refused" says '^run: .*, 1 kernel, 2 launches, counted by CUPTI in 1 pass each$' 9 on_gpu FAKE_CUDA_FAIL=cuLaunchKernel:3:1 "$program"
check "those before it are counted" grep -Eq '^scale +1-2, each +4 +64 +0 +42 ' "$tap_dir/said"
check "where nothing is counted, too" says '^run: .*, 1 kernel, 2 launches, not counted$' 9 on_gpu FAKE_CUDA_FAIL=cuLaunchKernel:3:1 FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable:35 "$program"
check "a kernel that fails" says '^run: no counts: a kernel failed' 9 on_gpu FAKE_CUDA_FAIL=cuLaunchKernel:3:700 "$program"
check "has a row, without counts" grep -Eq '^ +3 +8 +64 +0 +n/a ' "$tap_dir/said"
# Of two modules: what the one takes says nothing of the other.
check "two kernels of one name" says '^run: .*, 3 kernels, 5 launches' 0 on_gpu REGISTERS=32 --json "$tap_dir/two.jsonl" --counters OCCUPANCY "$program"
check "each with its own registers and launches" python3 -c '
import json, sys
kernels = json.loads(open(sys.argv[1]).read())["kernels"]
assert [(k["name"], k["registers"], len(k["launches"])) for k in kernels] == [("scale", 100, 3), ("reduce", 100, 1), ("scale", 32, 1)], kernels
blocks = [c["value"] for k in kernels for c in k["counters"] if c["name"] == "blocks_per_sm"]
assert blocks[0] < blocks[2], blocks' "$tap_dir/two.jsonl"
check "a module that is loaded twice, too" says '^run: .*, 3 kernels, 5 launches' 0 on_gpu REGISTERS=100 "$program"
check "a metric that the chip has not" says 'TENSOR +hmma_instructions +n/a \(GH100 has no metric' 0 on_gpu FAKE_CUPTI_UNKNOWN=sm__inst_executed_pipe_tensor_op_hmma.sum --counters TENSOR "$program"
check "the others of the group are there" grep -Eq '^scale +TENSOR +tensor_active_pct +42 ' "$tap_dir/said"
check "nor is there a number in the table" grep -Eq '^scale +1-2, each .* n/a$' "$tap_dir/said"
check "warp instructions" says '^scale +1-2, each +4 +64 +0 +n/a +n/a +84 ' 0 on_gpu FAKE_CUPTI_UNKNOWN=smsp__inst_executed.sum "$program"
# Counting ends at the third launch: what was not counted is not 0.
check "launches that were not counted" says '^run: .*, 2 kernels, 4 launches, counted by CUPTI in 1 pass each, not all' 6 on_gpu FAKE_CUPTI_FAIL=cuptiRangeProfilerStart:26:3 --counters TENSOR --json "$tap_dir/part.jsonl" "$program"
check "have no counts" grep -Eq '^ +3 +8 +64 +0 +n/a +n/a +n/a +n/a +n/a$' "$tap_dir/said"
check "nor has their sum" grep -Eq '^ +all 3 +n/a ' "$tap_dir/said"
check "others have" grep -Eq '^scale +1-2, each +4 +64 +0 +42 ' "$tap_dir/said"
check "groups say how many" grep -Eq '^scale +TENSOR +hgmma_instructions +n/a \(1 of its 3 launches were not counted\)' "$tap_dir/said"
check "of all, or of some" grep -Eq '^reduce +TENSOR +hgmma_instructions +n/a \(1 of its 1 launches were not counted\)' "$tap_dir/said"
check "no number in the record" python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).read())
first, last = r["kernels"][0]["launches"][0], r["kernels"][1]["launches"][0]
assert r["exit"] == 6 and r["no_counters"].startswith("another client holds the counters"), r
assert first["instructions"] == 42 and last["grid"] == [2, 3, 1]
assert all(last[x] is None for x in ("instructions", "threads", "global_sectors", "shared_wavefronts", "tensor_instructions", "gpu_s", "cycles")), last' "$tap_dir/part.jsonl"
for call in cuptiSubscribe:39 cuptiProfilerInitialize:35 cuptiRangeProfilerEnable:35 cuptiRangeProfilerStart:26 cuptiRangeProfilerDecodeData:999; do
    check "$call: the program runs" says '^run: no counts: ' 0 on_gpu FAKE_CUPTI_FAIL=$call "$program"
    check "$call: once said" [ "$(grep -c 'no counts' "$tap_dir/said") $(grep -cx done "$tap_dir/said")" = "1 1" ]
    check "$call: 6 if counts were asked for" says 'no counts' 6 on_gpu FAKE_CUPTI_FAIL=$call --counters TENSOR "$program"
done
check "what is lost" says 'counters are incomplete: not all of 1 passes' 6 on_gpu FAKE_CUPTI_LOSE=pass --counters TENSOR "$program"
check "another GPU than the record's" says 'no counts: the program runs on GPU 1' 6 on_gpu FAKE_CUDA_CURRENT=1 --counters TENSOR "$program"
check "no CUPTI" says 'no counts: CUPTI cannot be loaded' 0 on_gpu ATTNLAB_CUPTI=/nowhere --quiet "$program"
check "no such group" says 'no counter group' 2 on_gpu --counters NONE "$program"
check "options of the emulator" says 'are the emulator.s' 0 on_gpu --source "$program"
tap_done
