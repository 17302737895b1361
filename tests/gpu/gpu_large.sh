#!/bin/bash
# Problems past 2^29 and 2^31 elements on the GPU: 64-bit offsets. They want 30 GB on the host and a
# quarter of a minute each. STAGES="1 4": these.
. tests/tap.sh
. tests/commands/stages.sh
device=cuda
# The last shape has 3.2e9 elements in Q and in O.
stages_shapes "--batch 8 --heads 64 --seqlen 16384 --no-check" \
    "--batch 3 --heads 64 --kv-heads 1 --seqlen-q 131072 --seqlen-k 16 --head-dim 128"
tap_done
