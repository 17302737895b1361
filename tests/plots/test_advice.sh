#!/bin/bash
# Advice: on each stage it names what the next stage changed, and it says nothing where it knows nothing.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
advice() { # STAGE OPTIONS...
    "$build/stage-$1" --device emu --no-check --all --batch 2 "${@:2}" > "$tap_dir/run" 2>&1 && grep '^advice' "$tap_dir/run" > "$tap_dir/advice"
}
names() { advice "$1" && cat "$tap_dir/advice" && grep -q "$2" "$tap_dir/advice"; }
check "stage 1: tensor cores for Q*K^T" names 1 'fp32 pipe.*100 % of the products.*as in stage 2'
check "stage 2: and for P*V" names 2 'fp32 pipe.*50 % of the products.*as in stage 3'
check "stage 3: bank conflicts" names 3 'shared memory.*bank conflicts.*make stage-3 source.*as in stage 4'
check "stage 4: mma.sync's own limit" names 4 'tensor pipe.*WGMMA.*stages 5 and 6'
lacks() { ! grep -q "$1" "$tap_dir/advice"; }
check "stage 4 has no word on conflicts or FMAs" lacks 'conflicts\|FMAs'
advice 6
check "stage 6 has none on products" lacks 'products\|mma.sync'
check "one head on a chip of 132 SMs" advice 1 --batch 1 --heads 1
check "leaves most of it without work" grep -q 'SMs.*8 CTAs leave 124 of 132 SMs' "$tap_dir/advice"
"$build/stage-1" --device emu --no-check --all --counters TENSOR,SHARED > "$tap_dir/run" 2>&1
check "without cycles there is no advice" [ "$(grep -c '^advice' "$tap_dir/run")" -eq 0 ]
tap_done
