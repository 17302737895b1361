#!/bin/bash
# Nothing predicted stands beside something of another kind: in no column of the tables that plots read does a predicted
# series have a value of launches back to back, and pictures of both have single launches only.
. tests/tap.sh
dir=$tap_dir/work
mkdir "$dir"
record() { # STAGE KIND NAME SAMPLES DURATION
    printf '{"schema": "attnlab-1.1", "time": "2026-01-01", "stage": "%s", "revision": "abc", "problem": {"seqlen_q": 1, "text": "B1", "flops": 1e9},
        "device": {"kind": "%s", "name": "%s", "chip": "GH100", "driver": "1", "toolkit": "13.0"}, "samples": {%s},
        "counters": [{"name": "duration_us", "value": %s}, {"name": "mean_clock_mhz", "value": 1000},
        {"name": "tensor_active_pct", "value": 40}, {"name": "hmma_instructions", "value": 5}, {"name": "tensor_instructions", "value": 5}]}' "$@" | tr -d '\n'
    echo
}
record 1-a cuda "NVIDIA H200" '"n": 3, "median_us": 4.49, "iqr_us": 0.1, "tflops": 222.7, "clock_mhz": 1000' 6.11 > "$dir/gpu.jsonl"
record 1-a emulator "emulator (h200)" '"na": "no time"' 5.68 > "$dir/emulator.jsonl"
tabulate() { "$build/tabulate" --out "$dir" --problem B1 --stages 1-a "$@"; }
# Values of back-to-back columns, with the column's name, in the series that labels.txt calls predicted.
mixed() { # LABELS TABLE: what is wrong
    awk 'FNR == 1 {file++} file == 1 {if (FNR > 1) kind[FNR - 1] = $NF; next}
         $1 == "number" {series++; for (c = 1; c <= NF; c++) name[c] = $c; next}
         /^[0-9]/ && kind[series] == "predicted" {
             for (c = 1; c <= NF; c++) if (name[c] ~ /^(time_us|iqr_us|tflops|peak_pct|ceiling_pct|datasheet_pct)$/ && $c != "-") {print name[c] " " $c; n++}}
         END {exit !n}' "$1" "$2"
}
none() { ! "$@"; }
check "a measured and a predicted series" tabulate "h200=$dir/gpu.jsonl" "emulator=$dir/emulator.jsonl"
check "predicted has no value of launches back to back" none mixed "$dir/labels.txt" "$dir/table.txt"
check "the check sees one that has" eval 'sed "s/^1 1-a - - -/1 1-a 5.68 - -/" "$dir/table.txt" > "$dir/wrong.txt"; mixed "$dir/labels.txt" "$dir/wrong.txt"'
# The same of every table that lies here.
for table in results/compare*/table.txt results/compare*/small/table.txt; do
    [ ! -s "$table" ] || ! grep -q '^label pedigree kind' "${table%table.txt}labels.txt" || check "$table" none mixed "${table%table.txt}labels.txt" "$table"
done
if command -v gnuplot > /dev/null; then
    echo "name kind value" > "$dir/ceilings"
    drawn() { plots/draw.sh "plots/$1.gp" "$dir/$1" svg "dir = '$dir'; problem = 'B1'; ceilings = '$dir/ceilings'"; }
    has() { grep -qF ">$2<" "$dir/$1.svg" || grep -qF ">$2</" "$dir/$1.svg"; }
    lacks() { ! has "$@"; }
    for plot in time tflops peak tensor; do check "$plot of both" drawn $plot; done
    check "time: one launch alone, measured" has time 6.11
    check "time: predicted" has time 5.68
    check "time: no back-to-back median" lacks time 4.49
    check "tflops: of the launch" has tflops 164
    check "tflops: not of launches back to back" lacks tflops 223
    check "peak: of the launch, 1e9 FLOP in 6.11 us of 132 x 4096 FLOP at 1000 MHz" has peak 30.3
    check "peak: not of launches back to back" lacks peak 41.2
    tabulate "h200=$dir/gpu.jsonl"
    check "time of a GPU alone" drawn time
    check "is the median of launches back to back" has time 4.49
fi
tap_done
