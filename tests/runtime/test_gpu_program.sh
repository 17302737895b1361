#!/bin/bash
# build/run of a program on a GPU, and of one kernel: its launches counted by CUPTI, on the driver and the CUPTI of tests/fake, where every
# metric is 42.
# Thorough: what it runs takes minutes to build, and make test leaves it out.
. tests/tap.sh
program=$build/tests/fake/gpu_program
on_gpu() { # [VARIABLE=VALUE...] OPTIONS AND PROGRAM...
    local setting=()
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$(realpath "$build/tests/fake")" "${setting[@]}" "$build/run" "$@"
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
check "--launch-skip, --launch-count" says '^run: .*, 1 kernel, 2 launches, counted by CUPTI' 0 on_gpu --launch-skip 1 --launch-count 2 "$program"
check "the second and the third" grep -Eq '^scale +1 +4 +64 ' "$tap_dir/said"
check "of kernels that match" says '^reduce +1 +2x3 ' 0 on_gpu --kernel-name reduce --launch-count 1 "$program"
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

# ---- One kernel, without a program
cat > "$tap_dir/doubled.ptx" << 'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z7doubledPKfPfi(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .f32 %f;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.s32 %p, %r1, %r4;
    @%p ret;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.s32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f, [%rd1];
    add.f32 %f, %f, %f;
    st.global.f32 [%rd2], %f;
    ret;
}
PTX
kernel() { # [VARIABLE=VALUE...] OPTIONS...: y = 2 x, of 100 elements
    local setting=()
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    on_gpu "${setting[@]}" --kernel doubled --grid 2 --block 64 --arg 'f32[100]=ramp' --arg "f32[100]=out:$tap_dir/y.npy" --arg i32=100 "$@" "$tap_dir/doubled.ptx"
}
check "one kernel on the emulator" kernel --device emu --quiet --no-predict
mv "$tap_dir/y.npy" "$tap_dir/wanted.npy"
python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read() # 198 is the last element
open(sys.argv[2], "wb").write(data[:-4] + struct.pack("<f", 197))' "$tap_dir/wanted.npy" "$tap_dir/wrong.npy"
check "and on the GPU, which --device auto takes" says '^run: fake GPU, 1 kernel, 1 launch, counted by CUPTI in 1 pass each$' 0 kernel --expect "$tap_dir/wanted.npy"
check "its row" grep -Eq '^doubled +1 +2 +64 +0 +42 +1[.]0 +84 ' "$tap_dir/said"
check "its answer is as expected" grep -q 'wanted.npy: PASS, worst error 0,' "$tap_dir/said"
check "the same is written" cmp "$tap_dir/wanted.npy" "$tap_dir/y.npy"
check "its groups" says '^doubled +TENSOR +hgmma_instructions +42 ' 0 kernel --device cuda --counters TENSOR
silent() { "$@" > "$tap_dir/said" 2>&1 && [ ! -s "$tap_dir/said" ]; }
check "its record, and --quiet" silent kernel --quiet --json "$tap_dir/k.jsonl" --shared 1024 --cluster 2
check "has the launch and the command" python3 -c '
import json, sys
r, = [json.loads(l) for l in open(sys.argv[1])]
k, = r["kernels"]
l, = k["launches"]
assert r["device"]["kind"] == "cuda" and r["exit"] == 0 and r["launches"] == 1 and "--kernel doubled" in r["command"]
assert (k["symbol"], k["name"], k["registers"]) == ("_Z7doubledPKfPfi", "doubled", 100)
assert (l["grid"], l["block"], l["cluster"], l["shared_bytes"]) == ([2, 1, 1], [64, 1, 1], [2, 1, 1], 1024)
assert l["source"] == "cupti" and l["instructions"] == 42 and k["counters"]' "$tap_dir/k.jsonl"
check "a wrong answer" says '^run: wrong answer: element 99 is 198, .* has 197' 1 kernel --expect "$tap_dir/wrong.npy"
check "was counted all the same" grep -Eq '^doubled +1 +2 +64 ' "$tap_dir/said"
bad() { # NAME STATUS PATTERN COMMAND...: one line, and no launch
    status "$1" "$2" "${@:4}"
    check "$1: it says so" grep -q "$3" "$tap_dir/err"
}
bad "a kernel that is not there" 2 'no kernel nosuch; there are doubled' on_gpu --kernel nosuch "$tap_dir/doubled.ptx"
bad "an argument too many" 2 'doubled takes 3 arguments, 4 are given' kernel --arg i32=1
bad "a real number for a whole one" 2 'argument 3 of doubled has 4 bytes' on_gpu --kernel doubled --arg 'f32[1]=zero' --arg 'f32[1]=out' --arg f64=1 "$tap_dir/doubled.ptx"
bad "no such file" 5 'none.cu: No such file' on_gpu --kernel doubled "$tap_dir/none.cu"
bad "what the driver refuses" 2 'doubled cannot be launched like this' kernel FAKE_CUDA_FAIL=cuLaunchKernelEx:1:1
bad "too many registers" 4 'no memory or no registers' kernel FAKE_CUDA_FAIL=cuLaunchKernelEx:1:701
bad "no memory" 4 'no room for 400 more bytes' kernel FAKE_CUDA_FAIL=cuMemAlloc:2:2
bad "shared memory that the driver refuses" 2 'doubled cannot be launched like this' kernel FAKE_CUDA_FAIL=cuFuncSetAttribute:1:1 --shared 50000
bad "or clusters" 2 'doubled cannot be launched like this' kernel FAKE_CUDA_FAIL=cuFuncSetAttribute:1:1 --cluster 16
check "nothing is asked for that need not be" kernel FAKE_CUDA_FAIL=cuFuncSetAttribute:1:1 --shared 49152 --cluster 8
bad "no GPU" 77 'no GPU here' kernel FAKE_CUDA_DEVICES=0 --device cuda
check "then --device auto is the emulator" says '^run: emulator' 0 kernel FAKE_CUDA_DEVICES=0 --no-predict --expect "$tap_dir/wanted.npy"
for call in cuModuleLoadData cuModuleGetFunction cuMemcpyHtoDAsync:2 cuMemcpyDtoHAsync:1; do
    check "$call fails" says "^run: ${call%:*}: CUDA_ERROR_FAKE" 4 kernel FAKE_CUDA_FAIL=$call --quiet
done
check "a kernel that fails" says '^run: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS .*--device emu' 4 kernel FAKE_CUDA_FAIL=cuStreamSynchronize:3:700
check "it is waited for, as four copies are" says '^run: cuStreamSynchronize' 4 kernel FAKE_CUDA_FAIL=cuStreamSynchronize:5:700
rm -f "$tap_dir/y.npy"
check "without the right to count it runs" says '^run: no counts: ' 0 kernel FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable:35 --expect "$tap_dir/wanted.npy"
check "to its end" cmp "$tap_dir/wanted.npy" "$tap_dir/y.npy"
check "6 if counts were asked for" says '^run: no counts: ' 6 kernel FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable:35 --counters TENSOR
check "options of the emulator, of a kernel" says '^run: on the GPU: .*--check-blocks are the emulator.s' 0 kernel --check-blocks 1
check "said once" [ "$(grep -c "are the emulator's" "$tap_dir/said")" = 1 ]
if command -v "${NVCC:-nvcc}" > /dev/null; then
    printf '%s\n' '__global__ void doubled(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }' > "$tap_dir/doubled.cu"
    check "from its source" says '^doubled +1 +1 +100 ' 0 on_gpu --kernel doubled --block 100 --arg 'f32[100]=ramp' --arg 'f32[100]=out' --arg i32=100 --expect "$tap_dir/wanted.npy" "$tap_dir/doubled.cu"
else
    skip "one kernel from its source" "no nvcc here"
fi
check "no such group" says 'no counter group' 2 on_gpu --counters NONE "$program"
check "options of the emulator" says 'are the emulator.s' 0 on_gpu --source "$program"
tap_done
