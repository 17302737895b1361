#!/bin/bash
# What ptxas made of the kernels, executed: O and LSE to the bit as PTX gives them, counts as an H200
# counted them (records/runs/h200.jsonl).
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
sass() { "$build/sass-stage-$1" "${@:2}"; } # N OPTIONS...
same() { sass "$@" --quiet; }
# Stage 4's PTX has mul and sub where ptxas has one FFMA: apart again, all bits agree.
same_unfused() { SASS_UNFUSE=1 sass "$@" --quiet; }

if sass 1 --seqlen 64 --heads 1 --quiet 2>&1 | grep -q 'no nvdisasm'; then
    skip "SASS" "no nvdisasm: make setup"
    tap_done
fi

for d in 64 128 256; do
    check "stage 1 d$d" same 1 --seqlen 160 --heads 2 --kv-heads 1 --head-dim $d
    check "stage 1 d$d causal" same 1 --seqlen-q 70 --seqlen-k 200 --heads 1 --head-dim $d --causal
done
for d in 64 128; do
    check "stage 2 d$d" same 2 --seqlen 200 --heads 1 --head-dim $d --causal
    check "stage 3 d$d" same 3 --seqlen 200 --heads 1 --head-dim $d --causal
done
check "stage 2 d64-nopad" same 2 --seqlen 128 --heads 1 --image d64-nopad
for d in 32 64 96 128 256; do
    check "stage 4 d$d-small" same_unfused 4 --seqlen 300 --heads 1 --head-dim $d --causal
done
for d in 32 64 96 128; do
    check "stage 4 d$d" same_unfused 4 --seqlen 130 --heads 16 --batch 8 --head-dim $d
done
check "stage 4 splits keys, combines" same_unfused 4 --seqlen-q 1 --seqlen-k 2048 --heads 8 --kv-heads 2 --head-dim 128
for d in 64 128 256; do
    check "stage 6 d$d-split" same 6 --seqlen 512 --heads 1 --head-dim $d
    check "stage 6 d$d-split-causal" same 6 --seqlen 700 --heads 1 --head-dim $d --causal
    check "stage 6 d$d" same 6 --seqlen 200 --heads 16 --batch 4 --head-dim $d
    check "stage 6 d$d-causal" same 6 --seqlen 200 --heads 16 --batch 4 --head-dim $d --causal
done
check "stage 6 d128-short" same 6 --seqlen 512 --heads 8 --head-dim 128 --batch 2 --image d128-short
check "stage 6, new maxima" same 6 --seqlen 400 --heads 2 --input ramp
for i in exp4 exp8 exp16 no-turns; do
    check "stage 6 d64-$i" same 6 --seqlen 200 --heads 16 --batch 4 --image "d64-$i"
done
check "stage 6 decodes" same 6 --seqlen-q 1 --seqlen-k 1000 --heads 8 --kv-heads 2 --head-dim 128

# Events late and warps in single steps, in any order
for seed in 1 2; do
    check "stage 1, late, $seed" same 1 --seqlen 128 --heads 2 --schedule random --seed $seed
    check "stage 4, late, $seed" same_unfused 4 --seqlen 256 --heads 2 --schedule random --seed $seed
    check "stage 6 split, late, $seed" same 6 --seqlen 512 --heads 1 --schedule random --seed $seed
    check "stage 6 d128, late, $seed" same 6 --seqlen 200 --heads 16 --batch 4 --head-dim 128 --schedule random --seed $seed
done
# The comparison can fail: fused and apart differ.
differs() { sass "$@" --quiet; [ $? -eq 1 ]; }
check "stage 4 differs where ptxas fuses" differs 4 --seqlen 512 --heads 8

# Counts at the mission shape, by the counters' names, beside those of the newest record: all of TENSOR, SHARED,
# MEMORY and MIX that both have. What stage 6 executes in all depends on time (failed polls).
run() { "$build/stage-$1" --device emu --no-check --no-time --all "${@:2}"; } # N OPTIONS...
counts() { # STAGE OPTIONS...
    rm -f "$tap_dir/counts"
    run "$@" --quiet --counters TENSOR,SHARED,MEMORY,MIX --json "$tap_dir/counts" && python3 - "$tap_dir/counts" <<'PY'
import json, sys
here = json.loads(open(sys.argv[1]).readlines()[-1])
there = [r for r in map(json.loads, open("records/runs/h200.jsonl"))
         if r["stage"] == here["stage"] and r["problem"].get("text") == here["problem"]["text"] and r["counters"]][-1]
theirs = {c["name"]: c["value"] for c in there["counters"] if "value" in c}
n = 0
for c in here["counters"]:
    name = c["name"]
    if c["group"] == "TENSOR" and name.endswith("_pct") or "value" not in c or name not in theirs: continue
    less = 1 - c["value"] / theirs[name] if theirs[name] else -c["value"]
    most = (0, 0)
    if here["stage"][0] == "6" and c["group"] == "MIX": most = (-0.005, 0.005)  # the record's kernel asks otherwise whether a row exists
    if here["stage"][0] == "6" and name == "instructions": most = (-0.005, 0.006)
    if here["stage"][0] == "4" and c["group"] == "MIX": most = (-0.004, 0.004)  # the record's kernel finds its tile otherwise
    assert most[0] - 1e-8 <= less <= most[1] + 1e-8, (name, theirs[name], c)
    assert c["metric"].startswith("sass.") or c["group"] == "TENSOR" or c["source"] == "model", c
    assert "note" not in c, c
    n += 1
assert n == 27, n
PY
}
for n in 1 2 3 4 6; do check "stage $n counts as an H200" counts $n; done
check "stage 6 causal counts as an H200" counts 6 --causal
# Whether one host thread executes the blocks, or several.
jobs() { run 3 --seqlen 300 --csv --counters SHARED,MEMORY,MIX --jobs "$1" > "$tap_dir/jobs-$1"; }
as_one() { jobs 1 && jobs 3 && grep -q sass.instructions "$tap_dir/jobs-1" && cmp "$tap_dir/jobs-1" "$tap_dir/jobs-3"; }
check "several threads count as one" as_one
# Without such code the counts are of PTX, and say so once; nothing is executed that nobody asked for.
of_ptx() { # WHY OPTIONS...
    run 1 --seqlen 64 --counters MIX "${@:2}" > "$tap_dir/said" && ! grep -q 'sass[.]' "$tap_dir/said" &&
        grep -q "^MIX  *instructions .* emu.instructions; no counts of SASS: $1$" "$tap_dir/said" && grep -q '^MIX  *fma_instructions .* emu.fp32$' "$tap_dir/said"
}
check "of PTX as another chip" of_ptx "it is executed of Hopper's code only, and l4 is none" --chip l4
barrier=$(grep -n -m1 __syncthreads stages/1-scalar/kernel.cu)
check "of PTX by option" of_ptx "--count-ptx" --count-ptx
check "of PTX without a line" of_ptx "--without leaves that line out of PTX, not of SASS" --no-races --without "${barrier%%:*}"
unused() { run 3 --seqlen 64 --counters TENSOR > "$tap_dir/said" && ! grep -q 'sass[.]' "$tap_dir/said"; }
check "TENSOR needs no SASS" unused
tap_done
