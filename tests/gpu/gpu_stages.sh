#!/bin/bash
# Every stage against the pass rule on the GPU: shapes at the edges, all inputs, 2,000 random
# problems, 250 equal runs. STAGES="1 4": these.
. tests/tap.sh
. tests/commands/stages.sh
device=cuda
stages_inputs "--seqlen 512" \
    "--seqlen-q 129 --seqlen-k 203 --head-dim 128 --heads 8 --kv-heads 2 --batch 2"
stages_shapes "" "--seqlen 1" \
    "--seqlen-q 1 --seqlen-k 4096 --heads 32 --kv-heads 4 --head-dim 128" \
    "--seqlen-q 1 --seqlen-k 4096 --heads 28 --kv-heads 4 --head-dim 128" \
    "--seqlen-q 9 --seqlen-k 300 --heads 10 --kv-heads 2 --causal" \
    "--seqlen 3" "--seqlen 127 --causal" "--seqlen 129 --causal=top-left" \
    "--seqlen-q 1000 --seqlen-k 77 --causal" \
    "--seqlen-q 77 --seqlen-k 1000 --causal" "--seqlen-q 300 --seqlen-k 77 --causal=top-left" \
    "--seqlen-k 0" "--seqlen-q 0" "--batch 0" \
    "--seqlen 130 --heads 2 --input uniform --scale 1e9" \
    "--head-dim 32" "--head-dim 96" "--head-dim 256 --causal" \
    "--batch 4 --heads 16 --seqlen 4096 --head-dim 128 --causal" "--heads 1 --seqlen 16384" \
    "--batch 2100 --heads 32 --seqlen 16" "--batch 16400 --heads 32 --seqlen 1"
stages_steps "--seqlen-q 129 --seqlen-k 203 --heads 8 --kv-heads 2 --batch 2 --causal" "--seqlen 1000" \
    "--seqlen-q 1 --seqlen-k 777" "--seqlen-q 300 --seqlen-k 77 --causal=top-left" "--seqlen-k 0"
stages_sweep 2000
stages_repeat 250 "--seqlen 300 --causal --heads 4 --kv-heads 2"
stages_repeat 250 ""
# Nothing is measured of these layouts; the product is right all the same.
unmeasured() { "$build/stage-5" --device cuda --no-time --counters none --quiet --major-a m --major-b n; }
[[ -n ${STAGES:-} && $STAGES != *5* ]] || check "stage 5, M-major and N-major" unmeasured
tap_done
