#!/bin/bash
# make peers-table: both ways of timing kept apart, the newest record counts, what is not there is "-".
. tests/tap.sh
record() { # WHO (as "peer": {...} or "stage": "..."), PROBLEM, US, MORE-OF-SAMPLES
    printf '{%s, "problem": {"text": "%s"}, "device": {"clock_mhz_after": 1500}, "samples": {"median_us": %s, "tflops": 7%s},
        "counters": [{"name": "tensor_active_pct", "value": 80.25}]}\n' "$1" "$2" "$3" "$4" | tr -d '\n'
    echo
}
fa2='"peer": {"name": "FlashAttention-2"}' cudnn='"peer": {"name": "cuDNN"}' stage='"stage": "6-x"'
burst=', "rest_ms": 0'
{
    record "$fa2" "B1 S8" 30 ""; record "$cudnn" "B1 S8" 20 ""; record "$stage" "B1 S8" 99 ""; record "$stage" "B1 S8" 10 ""
    record "$fa2" "B1 S8" 33 "$burst"; record "$cudnn" "B1 S8" 24 "$burst"; record "$stage" "B1 S8" 12 "$burst"
    record "$fa2" "B2 S8" 300 ""; record "$stage" "B2 S8" 200 ""; record '"stage": "4-y"' "B2 S8" 1 ""
} > "$tap_dir/peers.jsonl"
printf '# Other, timed elsewhere\n# note\nB1-S8 18\n' > "$tap_dir/other.txt"
table() { python3 plots/peers_table.py "$tap_dir/peers.jsonl" 6 "$tap_dir/other.txt"; }
has() { table | grep -qxF "$1" || { table; return 1; }; }
check "loaded: the better of both, the newest of two" has "| B1 S8 | 30.0 | 20.0 | 10.0 (7) | 2.00 | 80.2 | 1500 |"
check "loaded: a peer without a record" has "| B2 S8 | 300 | - | 200 (7) | 1.50 | 80.2 | 1500 |"
check "burst: the best of three" has "| B1 S8 | 33.0 | 24.0 | 18.0 | 12.0 (7) | 1.50 |"
check "burst: not taken" has "| B2 S8 | - | - | - | - | - |"
check "the other peer has its name" has "| burst | FA2 | cuDNN | Other | stage 6 (TFLOPS) | best peer / stage |"

cut() { { cat "$tap_dir/peers.jsonl"; printf '{"peer": {"na'; } > "$tap_dir/cut.jsonl"; python3 plots/peers_table.py "$tap_dir/cut.jsonl" 6 | tee "$tap_dir/rest"; }
status "a line that a kill cut" 0 cut
check "is left out" grep -qF "| B1 S8 | 30.0 | 20.0 | 10.0 (7) | 2.00 | 80.2 | 1500 |" "$tap_dir/rest"
status "records of something else" 5 python3 plots/peers_table.py plots/recorded/h200-sweeps.jsonl 6
status "a folder" 5 python3 plots/peers_table.py plots 6
[ -e /dev/full ] && status "a full disk" 5 bash -c "python3 plots/peers_table.py $tap_dir/peers.jsonl 6 > /dev/full"
tap_done
