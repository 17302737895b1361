#!/bin/bash
# measure.sh CASES OUT.jsonl [TURNS]: every case of CASES on this GPU, in TURNS turns (2): cycles, tensor pipe,
# occupancy and stalls of single launches, warm, medians of ten, by CUPTI. One record a run, appended.
# make freeze-measure builds what it needs, then runs it.
set -u
cases=$1 out=$2 turns=${3:-2} build=${BUILD:-build}
for ((t = 1; t <= turns; t++)); do
    while IFS=$'\t' read -r stage _ options; do
        case $stage in
            \#*) continue ;;
            own:*) # once: it is compiled and profiled anew
                # shellcheck disable=SC2086
                [ "$t" != 1 ] || timeout 60 python3 emulator/predictor/validate/own.py measure "${stage#own:}" $options >> "$out" < /dev/null
                continue ;;
            5) program=$build/stage-5 only= ;;
            4:*) program=$build/sweep/${stage#4:}/stage-4 only="--no-check --no-time --quiet" ;;
            *) program=$build/stage-$stage only="--no-check --no-time --quiet" ;;
        esac
        # shellcheck disable=SC2086
        timeout 20 "$program" --device cuda $only --counters CYCLES,TENSOR,OCCUPANCY,STALL --json "$out" $options \
            > /dev/null 2> "$out.err" || echo "stage-$stage $options: $(tail -n 1 "$out.err")" >&2
    done < "$cases"
    echo "turn $t of $turns: $(wc -l < "$out") records"
done
rm -f "$out.err"
