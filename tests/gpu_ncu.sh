#!/bin/bash
# The counters of all stages beside Nsight Compute's, as a table: results/ncu.md. Twenty or more within 1 % each.
. tests/tap.sh
mkdir -p results && : > results/ncu.md
if ! command -v ncu > /dev/null; then
    skip "counters beside Nsight Compute's" "no ncu here"
else
    for n in ${STAGES:-1 2 3 4 5 6}; do
        beside() { python3 profiler/against_ncu.py "$build/stage-$n" > "$tap_dir/table"; }
        check "stage $n: counts are ncu's, 20 values within 1 %" beside
        { cat "$tap_dir/table"; echo; } >> results/ncu.md
    done
fi
tap_done
