#!/bin/bash
# The clock's program never prints a number that it does not have: chips without parameters, files that are
# not there, a stdout that is full.
. tests/tap.sh
predict=$(realpath "$build/predict-4")
status "a chip that nobody measured" 3 "$predict" --chip rtx4090 --seqlen 64 --heads 1
check "and no number for it" [ ! -s "$tap_dir/out" ]
status "parameters that are not there" 5 env TIMING_CHIP=/nonexistent "$predict" --seqlen 64 --heads 1
status "an option that is none" 2 "$predict" --nosuch
status "nothing to sum up" 1 python3 chips/validation/validate.py /dev/null chips/validation/h200-1.jsonl.gz
if ! [ -x .venv/bin/python ] || ! ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm > /dev/null 2>&1; then
    skip "a prediction" "no nvdisasm: make setup"
else
    one() { (cd / && "$predict" --seqlen 64 --heads 1 --device emu) > "$tap_dir/one" 2>&1; cat "$tap_dir/one"; grep -q '"elapsed": [1-9]' "$tap_dir/one"; }
    check "a prediction, from any folder" one
    status "a full disk under stdout" 5 bash -c "'$predict' --seqlen 64 --heads 1 > /dev/full"
fi
tap_done
