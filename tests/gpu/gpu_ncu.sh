#!/bin/bash
# The counters of all stages beside Nsight Compute's, as a table: results/ncu.md. Twenty or more within 1 % each.
. tests/tap.sh
mkdir -p results && : > results/ncu.md
if ! command -v ncu > /dev/null; then
    skip "counters beside Nsight Compute's" "no ncu here"
else
    for n in ${STAGES:-1 2 3 4 5 6}; do
        beside() { python3 profiler/peers/against_ncu.py "$build/stage-$n" > "$tap_dir/table"; }
        check "stage $n: counts are ncu's, 20 values within 1 %" beside
        { cat "$tap_dir/table"; echo; } >> results/ncu.md
    done
    # A large problem: in a few seconds, half of ncu's.
    quick() { awk '/^the program with all groups/ {seconds = $6; of = $(NF - 5); found = 1} END {print seconds, of; exit !(found && seconds < 5 && 2 * seconds <= of)}' "$tap_dir/table"; }
    for n in ${STAGES:-1 2 3 4 6}; do
        beside() { python3 profiler/peers/against_ncu.py "$build/stage-$n" --batch 4 --heads 16 --seqlen 4096 --head-dim 128 > "$tap_dir/table"; }
        [ "$n" = 5 ] || { check "stage $n, B4 H16 S4096 D128: counts are ncu's" beside
            check "stage $n, B4 H16 S4096 D128: all groups in less than 5 s, and than half of ncu's time" quick
            { cat "$tap_dir/table"; echo; } >> results/ncu.md; }
    done
fi
tap_done
