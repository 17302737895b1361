#!/bin/bash
# make stage-N against: of 20 pairs of equal builds at most one gets a verdict, of 20 planted slowdowns of 3 % 19 are found.
. tests/tap.sh
trials() { python3 tests/plots/against_trials.py 20 > "$tap_dir/trials"; }
check "verdicts on this board" trials
sed 's/^/# /' "$tap_dir/trials"
tap_done
