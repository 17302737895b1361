#!/bin/bash
# compute-sanitizer's four tools over the stages, on a GPU: no report on any shape, 12 at least. First
# each tool must find the bug of its kind that tests/gpu/planted.cu holds.
#
#   STAGES="4 5" tests/gpu/gpu_sanitize.sh       these stages; all without it. JOBS=16 runs at a time
#
# The shapes meet every head_dim that some stage takes, both masks, ragged tails, GQA (groups of 3, 5 and 7 too), rows that see
# no key, few rows over many keys (clusters of 2 and 8), a single key, and more tiles than SMs. A shape
# that the stage refuses (exit 3) is counted apart: 12 shapes must remain. A stage that computes no
# attention has shapes of its own, a file `shapes` in its folder: options, a line each.
. tests/tap.sh
. tests/commands/stages.sh
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
    "--head-dim 64 --heads 8 --kv-heads 2 --seqlen-q 3 --seqlen-k 2100 --causal"
    "--head-dim 64 --heads 10 --kv-heads 2 --seqlen-q 9 --seqlen-k 300 --causal"
    "--head-dim 128 --heads 28 --kv-heads 4 --seqlen-q 1 --seqlen-k 1000"
    "--head-dim 128 --heads 24 --kv-heads 8 --seqlen 300 --causal"
    "--head-dim 128 --seqlen 129"
    "--head-dim 128 --seqlen 190 --causal"
    "--head-dim 128 --heads 8 --kv-heads 1 --seqlen 64"
    "--head-dim 128 --seqlen-q 3 --seqlen-k 777"
    "--head-dim 32 --seqlen 150 --causal"
    "--head-dim 96 --seqlen 150 --causal"
    "--head-dim 256 --seqlen 150 --causal"
    "--head-dim 64 --heads 134 --seqlen-q 70 --seqlen-k 200"
    "--head-dim 128 --heads 134 --seqlen 70 --causal"
)

# RUN TOOL PROGRAM ARGUMENTS...: leaves its output in $tap_dir/RUN and its exit status in RUN.status
sanitize() {
    local run=$tap_dir/$1 tool=$2
    shift 2
    timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 99 "$@" > "$run" 2>&1
    echo $? > "$run.status"
}

# Starts sanitize when fewer than JOBS runs are under way.
start() {
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
    sanitize "$@" &
}

finds_planted() { # TOOL
    [ "$(cat "$tap_dir/$1-planted.status")" -eq 99 ] || { echo "its planted bug was not found"; return 1; }
}

shapes_of() { # STAGE
    local own
    own=$(echo stages/"${1#stage-}"-*/shapes)
    if [ -e "$own" ]; then grep -v '^#' "$own"; else printf -- '--batch 1 --heads 2 %s\n' "${shapes[@]}"; fi
}

stage_is_clean() { # TOOL STAGE
    local shape run i=0 clean=0 refused=0 failed=0
    while read -r shape; do
        run=$tap_dir/$1-$2-$((i++))
        case $(cat "$run.status") in
        0) clean=$((clean + 1)) ;;
        3) refused=$((refused + 1)) ;;
        *) failed=$((failed + 1))
           echo "$shape:"; grep -m 5 '=========' "$run" || tail -3 "$run" ;;
        esac
    done < <(shapes_of "$2")
    echo "$clean shapes clean, $refused refused by the stage, $failed with reports"
    [ $failed -eq 0 ] && [ $clean -ge 12 ]
}

if ! command -v compute-sanitizer > /dev/null; then
    skip sanitize "no compute-sanitizer on PATH; it comes with the CUDA toolkit, in bin/"
    tap_done
fi
sanitized=$(stages all)
for tool in $tools; do
    start "$tool-planted" "$tool" "$build/tests/planted" "$tool"
    for program in $sanitized; do
        name=$(basename "$program") i=0
        while read -r shape; do
            # shellcheck disable=SC2086
            start "$tool-$name-$((i++))" "$tool" "$program" --device cuda $shape --counters none --no-time --quiet
        done < <(shapes_of "$name")
    done
done
wait
for tool in $tools; do
    check "$tool finds its planted bug" finds_planted "$tool"
    for program in $sanitized; do
        check "$tool, $(basename "$program")" stage_is_clean "$tool" "$(basename "$program")"
    done
done
tap_done
