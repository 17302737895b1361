#!/bin/bash
# run.sh OUT_DIR [stage options]: measures every width, depth, swizzle and number of warpgroups of stage 5 into
# OUT_DIR/sweep.jsonl, whole or not at all (make stage-5 sweep does this). Exit status: the stage's.
set -u
out=$1 build=${BUILD:-build}
shift
mkdir -p "$out" && rm -f "$out/new.jsonl"
"$build/alone" "$build/stage-5" --sweep --json "$out/new.jsonl" "$@" || exit
mv "$out/new.jsonl" "$out/sweep.jsonl"
