#!/bin/bash
# Predictions of the clock do not move unnoticed: each is within 0.5 % of what tests/golden/drift.tsv says. A change
# that is meant to move them ends with `make drift`, and its commit shows by how much.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
if ! [ -x .venv/bin/python ] || ! ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm > /dev/null 2>&1; then
    skip "predictions have not drifted" "no nvdisasm: make setup"
    tap_done
fi
near() { # OLD NEW: the same cases, cycles within 0.5 %
    awk -F'\t' '/^#/ {next} NR == FNR {old[$1, $2] = $3; n++; next}
        {m++; d = old[$1, $2] ? 100 * ($3 / old[$1, $2] - 1) : 100
         if (d > 0.5 || d < -0.5) {printf "stage-%s %s: %d cycles, were %d (%+.1f %%): make drift if that is meant\n", $1, $2, $3, old[$1, $2], d; bad = 1}}
        END {exit bad || !n || n != m}' "$1" "$2"
}
now=$tap_dir/now.tsv
check "predictions are made" bash -c "BUILD=$build emulator/predictor/validate/drift.sh tests/golden/drift.tsv > $now"
check "none has drifted by more than 0.5 %" near tests/golden/drift.tsv "$now"

# What must not pass.
far() { ! near "$1" "$2" > "$tap_dir/said" && grep -q "make drift if that is meant" "$tap_dir/said"; }
awk -F'\t' -v OFS='\t' '!/^#/ && !n++ {$3 *= 1.006} {print}' "$now" > "$tap_dir/moved.tsv"
check "0.6 % is seen" far tests/golden/drift.tsv "$tap_dir/moved.tsv"
sed '$d' "$now" > "$tap_dir/short.tsv"
short() { ! near tests/golden/drift.tsv "$tap_dir/short.tsv"; }
check "a case that is lost is seen" short
tap_done
