#!/bin/bash
# GQA groups of any size share tiles in stage 6: each way that packs their heads is right on the emulator, and
# writes nothing between or beside the rows of O and LSE, which lie with gaps.
. tests/tap.sh
stage6() { "$build/stage-6" --device emu "$@"; }
packed() { # OPTIONS: a choice for each image and size of cluster
    stage6 --explain --csv "$@" | grep ' heads share tiles' |
        awk -F, '{ctas = match($0, /of [0-9]+ CTA/) ? substr($0, RSTART, RLENGTH) : ""} !seen[$4 ctas]++ {print $1, $4, ctas}'
}
right() { stage6 --jobs 1 --quiet --no-time --counters none "$@"; }
groups() { # N OPTIONS: so many ways at least
    local choice way n=0
    while read -r choice way; do
        later check "$way, $2" right $2 --choice "$choice"
        n=$((n + 1))
    done < <(packed $2)
    check "$n ways pack heads, $2" [ "$n" -ge "$1" ]
}
groups 6 "--heads 6 --kv-heads 2 --seqlen-q 9 --seqlen-k 530 --strides 3"
groups 7 "--heads 5 --kv-heads 1 --seqlen-q 30 --seqlen-k 300 --head-dim 128 --causal --strides 5"
groups 5 "--batch 2 --heads 14 --kv-heads 2 --seqlen-q 1 --seqlen-k 530 --head-dim 256 --strides 7"
groups 5 "--heads 33 --kv-heads 1 --seqlen-q 2 --seqlen-k 300 --causal"
tap_done
