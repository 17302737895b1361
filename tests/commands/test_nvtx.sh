#!/bin/bash
# NVTX: what a tool hears of a run. The phases are ranges of domain attnlab, the whole has a title and its FLOP.
. tests/tap.sh
. tests/fake/fake.sh
export NVTX_INJECTION64_PATH
NVTX_INJECTION64_PATH=$(realpath "$build/tests/fake/nvtx_tool.so")
heard() { # WANTED COMMAND...: its lines in this order and no others
    "${@:2}" 2> "$tap_dir/err" > "$tap_dir/run"
    grep -E '^(run|begin|end|done)' "$tap_dir/err" > "$tap_dir/heard"
    diff <(printf '%b' "$1") "$tap_dir/heard"
}
phases() { printf 'begin attnlab %s\\nend\\n' "$@"; }
check "a run on the emulator" heard "run 1-scalar: B1 H1 S64 D64, 1048576\n$(phases verify)done\n" \
    "$build/stage-1" --device emu --heads 1 --seqlen 64 --counters none --quiet
check "a run on a GPU: warm-up and time too" heard "run 1-scalar: B1 H2 Sq33 Sk65 D64, 1098240\n$(phases verify warmup time)done\n" fake --quiet
check "a run that is refused says nothing" heard "" "$build/stage-1" --device emu --head-dim 7
tap_done
