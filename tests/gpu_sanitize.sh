#!/bin/bash
# compute-sanitizer's four tools over a stage, on a GPU: no report on any of 12 shapes.
#
#   tests/gpu_sanitize.sh STAGE [PROGRAM]      build/stage-STAGE unless PROGRAM says otherwise
#   tests/gpu_sanitize.sh planted PROGRAM      each tool must find the bug of its kind in PROGRAM,
#                                              which is tests/gpu_planted.cu compiled
#
# The shapes meet every head_dim that some stage takes, both masks, ragged tails, GQA, rows that see no
# key, a single row over many keys (split keys) and a single key. A shape that the stage refuses (exit
# 3) is counted apart: 12 shapes must remain. Exit 1: a report, or too few shapes.
set -u
what=${1:?usage: tests/gpu_sanitize.sh STAGE|planted [PROGRAM]}
program=${2:-build/stage-$what}
tools=(memcheck racecheck synccheck initcheck)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

sanitize() { # TOOL PROGRAM ARGUMENTS...
    local tool=$1
    shift
    timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 99 "$@" > "$log" 2>&1
}

if [ "$what" = planted ]; then
    for tool in "${tools[@]}"; do
        sanitize "$tool" "$program" "$tool"
        status=$?
        [ $status = 99 ] || { echo "FAIL $tool: exit $status, its planted bug was not found"; exit 1; }
        echo "ok   $tool finds its planted bug"
    done
    exit 0
fi

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
failed=0
for tool in "${tools[@]}"; do
    clean=0 refused=0
    for shape in "${shapes[@]}"; do
        # shellcheck disable=SC2086
        sanitize "$tool" "$program" --device cuda --batch 1 --heads 2 $shape --no-time \
            --counters none --quiet
        case $? in
        0) clean=$((clean + 1)) ;;
        3) refused=$((refused + 1)) ;;
        *) failed=$((failed + 1)); echo "FAIL $tool $shape"; grep -m 5 '=========' "$log" || tail -3 "$log" ;;
        esac
    done
    echo "stage $what, $tool: $clean shapes clean, $refused refused by the stage"
    [ $clean -ge 12 ] || failed=$((failed + 1))
done
[ $failed = 0 ]
