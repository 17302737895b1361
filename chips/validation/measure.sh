#!/bin/bash
# measure.sh OUT.jsonl [TURNS]: every case of cases.txt on this GPU, in TURNS turns (3): cycles, tensor pipe,
# occupancy and stalls of single launches, by CUPTI, warm. One record a run, appended.
set -u
out=$1 turns=${2:-3}
for ((t = 1; t <= turns; t++)); do
    while IFS=$'\t' read -r stage _ options; do
        [[ $stage == \#* ]] && continue
        # shellcheck disable=SC2086
        build/stage-"$stage" --device cuda --no-check --no-time --counters CYCLES,TENSOR,OCCUPANCY,STALL --quiet \
            --json "$out" $options > /dev/null 2> "$out.err" || echo "stage-$stage $options: $(tail -n 1 "$out.err")" >&2
    done < "$(dirname "$0")/cases.txt"
    echo "turn $t of $turns: $(wc -l < "$out") records"
done
rm -f "$out.err"
