#!/bin/bash
# Every stage against the pass rule on the emulator, with its checks for races and unfinished copies:
# ragged, causal (both alignments), GQA and masked shapes, all inputs, three schedules, random problems.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
. tests/commands/stages.sh
device=emu
stages_inputs "--seqlen-q 70 --seqlen-k 130 --heads 2 --kv-heads 1"
for schedule in round-robin random adversarial; do
    options="--schedule $schedule"
    stages_shapes "--seqlen 1 --heads 1" "--seqlen-q 129 --seqlen-k 65 --heads 2 --causal" \
        "--seqlen-q 65 --seqlen-k 129 --heads 2 --causal=top-left" \
        "--seqlen-q 33 --seqlen-k 200 --head-dim 128 --batch 2 --heads 4 --kv-heads 2 --causal"
done
options=
stages_shapes "--seqlen-k 0 --heads 1" "--seqlen-q 0" "--batch 0" \
    "--seqlen-q 5 --seqlen-k 3 --heads 1 --causal" "--seqlen 64 --heads 1 --head-dim 32" \
    "--seqlen 64 --heads 1 --head-dim 96" "--seqlen 80 --heads 1 --head-dim 256" \
    "--seqlen 130 --heads 2 --input uniform --scale 1e9" # scores of which fp32 keeps no fraction
stages_sweep 15
stages_steps "--seqlen-q 129 --seqlen-k 65 --heads 2 --causal" "--seqlen-q 65 --seqlen-k 300 --heads 4 --kv-heads 2" \
    "--seqlen-q 20 --seqlen-k 200 --heads 140 --causal=top-left"
# Launched as they need, whatever is best here: small problems alone would never run the long tiles.
for image in 64 64-causal 64-exp4 64-split 64-many 64-many-causal 128-many 128-many-causal 64-parts 64-parts-causal 128 128-causal 128-short \
    128-short-causal 128-short-parts 128-short-parts-causal 128-split 128-parts-causal \
    64-wide 64-wide-causal 128-wide 128-wide-causal 256 256-causal 256-parts; do
    causal=
    [[ $image == *-causal ]] && causal=--causal
    for shape in "--seqlen-q 200 --seqlen-k 333 --heads 2" "--seqlen-q 50 --seqlen-k 70 --heads 8 --kv-heads 2"; do
        stage_test "stage-6 --image d$image $shape" "$build/stage-6" --image d$image --head-dim "${image%%-*}" \
            $shape $causal --no-time --counters none --quiet
    done
done
# Causal, with few tiles a head: 32 heads hand out theirs first, then 68 together.
stage_test "stage-6, sections of heads" "$build/stage-6" --image d128-short-causal --batch 10 --heads 10 --seqlen 130 --causal \
    --head-dim 128 --no-time --counters none --quiet
# Any of the ways that it considers, not the best alone.
stage_test "stage-6, 20 random problems, any of 12 choices" "$build/stage-6" --sweep-random 20 --seed 2 --choice 11
for image in d64 d64-exp4 d64-1-wgmma d64-8-base; do
    stage_test "stage-6 --image $image, such scores" "$build/stage-6" --image $image --seqlen 333 --heads 1 \
        --input uniform --scale 1e9 --no-time --counters none --quiet
done
for image in 32 32-small 64 64-small 96 96-small 128 128-small 256 256-small 256-wide; do
    for shape in "--seqlen-q 200 --seqlen-k 333 --heads 2" "--seqlen-q 150 --seqlen-k 130 --heads 4 --kv-heads 2 --causal"; do
        stage_test "stage-4 --image d$image $shape" "$build/stage-4" --image d$image --head-dim "${image%%-*}" $shape \
            --no-time --counters none --quiet
    done
done
# Which tile stage 4 takes: at head_dim 256 and 132 SMs the wide one if it fills them, the large one if not.
takes() {
    "$build/stage-4" --device emu --head-dim 256 $2 --no-check --no-time --counters none --quiet --json "$tap_dir/takes" &&
        tail -n 1 "$tap_dir/takes" | grep -q "\"image\": *\"$1\""
}
check "stage-4, 132 wide tiles" takes d256-wide "--heads 33 --seqlen-q 512 --seqlen-k 64"
check "stage-4, 136 wide tiles: a second round for 4" takes d256 "--heads 34 --seqlen-q 512 --seqlen-k 64"
check "stage-4, 32 wide tiles" takes d256-small "--heads 8 --seqlen-q 512 --seqlen-k 64"
# One query: the heads that share a KV head are the rows of one tile, however they lie in memory.
one_query="--batch 2 --heads 16 --kv-heads 2 --seqlen-q 1 --seqlen-k 300"
for more in "" "--causal --strides 5" "--causal=top-left" "--head-dim 128 --strides 6"; do
    stage_test "stage-4 $one_query $more" "$build/stage-4" $one_query $more --no-time --counters none --quiet
done
launched() { # IMAGE GRID OPTIONS
    "$build/stage-4" --device emu $3 --no-check --no-time --counters none --quiet --json "$tap_dir/launched" &&
        tail -n 1 "$tap_dir/launched" | tr -d ' ' | grep -q "\"image\":\"$1\".*\"grid\":\[$2\]"
}
check "stage-4, a CTA for each KV head of a batch" launched d64-small 4,1,1 "$one_query"
check "stage-4, a CTA for each head, whose query sees one key alone" launched d64-small 32,1,1 "$one_query --causal=top-left"
check "stage-4, 8192 keys for each of 128 CTAs: two an SM" launched d128-small 4,2,32 \
    "--heads 128 --seqlen-q 4 --seqlen-k 8192 --causal --head-dim 128"
check "stage-4, fewer keys: one" launched d128-small 4,1,32 "--heads 128 --seqlen-q 4 --seqlen-k 8000 --causal --head-dim 128"
check "stage-4, 288 large tiles on 264 seats" launched d64-small 1152,1,1 "--heads 6 --seqlen-q 6144 --seqlen-k 64"
check "stage-4, 336 large tiles on 264 seats" launched d64 336,1,1 "--heads 7 --seqlen-q 6144 --seqlen-k 64"
# Causal tiles by sections of heads, whose K and V half of L2 holds.
sections="--heads 6 --seqlen-q 40 --seqlen-k 13000 --head-dim 128 --causal"
check "stage-4, two sections of heads" launched d128-small 6,11,2 "$sections"
stage_test "stage-4, two sections of heads" "$build/stage-4" $sections --no-time --counters none --quiet
# Launches of its small tiles overlap on Hopper: without the wait for the launch ahead that is reported. Ada knows none of it.
own=$build/images/stage-4 changed=$tap_dir/no-wait
mkdir -p "$changed/images/stage-4" && cp "$build/stage-4" "$changed/stage-4"
cp "$own"/d64-small.* "$changed/images/stage-4/"
twice() { "$1" --device emu --heads 2 --seqlen 64 --repeat-check 2 --quiet $2 > "$tap_dir/twice" 2>&1; }
check "stage-4, two launches that overlap" twice "$changed/stage-4"
sed -i '/griddepcontrol\.wait/d' "$changed/images/stage-4/d64-small.compute_90a.ptx"
no_wait() { ! twice "$changed/stage-4" && grep -q "griddepcontrol.wait" "$tap_dir/twice" || { cat "$tap_dir/twice"; false; }; }
check "stage-4, no wait for the launch ahead" no_wait
check "stage-4, an Ada board needs none" twice "$changed/stage-4" "--chip rtx4090"
check "stage-4, small tiles alone know of it" bash -c "[ \"\$(grep -l griddepcontrol '$own'/*.ptx | grep -v -- -bf16 | sed 's,.*/,,' | tr '\n' ' ')\" = \
    'd128-small.compute_90a.ptx d256-small.compute_90a.ptx d32-small.compute_90a.ptx d64-small.compute_90a.ptx d96-small.compute_90a.ptx ' ]"
# The rungs of stage 4, at the head_dims that they are built for.
for rung in stages/4-tuned/steps/*.cu; do
    for dim in 64 128; do
        image=d$dim-$(basename "$rung" .cu)
        for shape in "--seqlen-q 70 --seqlen-k 130 --heads 2 --kv-heads 1" "--seqlen 1 --heads 1" \
            "--seqlen-q 129 --seqlen-k 65 --heads 2 --causal" "--seqlen-q 65 --seqlen-k 200 --heads 2 --causal=top-left" \
            "--seqlen-q 200 --seqlen-k 200 --heads 2 --causal --schedule adversarial" \
            "--seqlen-q 70 --seqlen-k 333 --heads 1 --input outlier" "--seqlen-q 70 --seqlen-k 333 --heads 1 --input ascending"; do
            stage_test "stage-4 --image $image $shape" "$build/stage-4" --image "$image" --head-dim $dim $shape \
                --no-time --counters none --quiet
        done
    done
done
status "an image of another head_dim, stage 2" 2 "$build/stage-2" --device emu --image d128
status "a rung of another head_dim, stage 4" 2 "$build/stage-4" --device emu --image d128-1-registers
status "a rung that takes no such head_dim" 3 "$build/stage-4" --device emu --image d64-1-registers --head-dim 96
status "an image of another head_dim" 2 "$build/stage-6" --device emu --image d128-1-wgmma
status "an image without a mask" 2 "$build/stage-6" --device emu --image d64 --causal
tap_done
