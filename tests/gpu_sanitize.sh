#!/bin/bash
# compute-sanitizer's four tools over the stages, on a GPU: no report on any of 12 shapes. First
# each tool must find the bug of its kind that tests/planted.cu holds.
#
#   tests/gpu_sanitize.sh [STAGE...]      "4": build/stage-4; none: every attention stage
#
# The shapes meet every head_dim that some stage takes, both masks, ragged tails, GQA, rows that see
# no key, a single row over many keys (split keys) and a single key. A shape that the stage refuses
# (exit 3) is counted apart: 12 shapes must remain.
. tests/tap.sh
. tests/stages.sh
tools="memcheck racecheck synccheck initcheck"
shapes=(
    "--head-dim 64 --seqlen 128"
    "--head-dim 64 --seqlen 200 --causal"
    "--head-dim 64 --heads 4 --kv-heads 2 --seqlen 65"
    "--head-dim 64 --seqlen-q 70 --seqlen-k 150 --causal"
    "--head-dim 64 --seqlen-q 150 --seqlen-k 70 --causal"
    "--head-dim 64 --seqlen-q 150 --seqlen-k 70 --causal=top-left"
    "--head-dim 64 --seqlen-q 1 --seqlen-k 1000"
    "--head-dim 64 --seqlen-q 33 --seqlen-k 1"
    "--head-dim 128 --seqlen 129"
    "--head-dim 128 --seqlen 190 --causal"
    "--head-dim 128 --heads 8 --kv-heads 1 --seqlen 64"
    "--head-dim 128 --seqlen-q 3 --seqlen-k 777"
    "--head-dim 32 --seqlen 150 --causal"
    "--head-dim 96 --seqlen 150 --causal"
    "--head-dim 256 --seqlen 150 --causal"
)

sanitize() { # TOOL PROGRAM ARGUMENTS...
    local tool=$1
    shift
    timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 99 "$@" > "$tap_dir/log" 2>&1
}

finds_planted() { # TOOL
    sanitize "$1" "$build/tests/planted" "$1"
    [ $? -eq 99 ] || { echo "its planted bug was not found"; return 1; }
}

stage_is_clean() { # TOOL PROGRAM
    local shape clean=0 refused=0 failed=0
    for shape in "${shapes[@]}"; do
        # shellcheck disable=SC2086
        sanitize "$1" "$2" --device cuda --batch 1 --heads 2 $shape --no-time --counters none --quiet
        case $? in
        0) clean=$((clean + 1)) ;;
        3) refused=$((refused + 1)) ;;
        *) failed=$((failed + 1))
           echo "$shape:"; grep -m 5 '=========' "$tap_dir/log" || tail -3 "$tap_dir/log" ;;
        esac
    done
    echo "$clean shapes clean, $refused refused by the stage, $failed with reports"
    [ $failed -eq 0 ] && [ $clean -ge 12 ]
}

programs=$(for n; do echo "$build/stage-$n"; done)
for tool in $tools; do
    check "$tool finds its planted bug" finds_planted "$tool"
    for program in ${programs:-$(stages)}; do
        check "$tool, $(basename "$program")" stage_is_clean "$tool" "$program"
    done
done
tap_done
