#!/bin/bash
# freezes.sh SUMMARY: every freeze's predictions beside what was measured (make validate does this); the newest freeze's
# summary is written to SUMMARY. A freeze is a set of cases whose predictions were committed before it was measured.
set -u
summary=$1 folder=records/validation
mapfile -t freezes < <(printf '%s\n' $folder/h200-*.jsonl.gz | sed 's/.*-\([0-9]*\)[.].*/\1/' | sort -n)
for n in "${freezes[@]}"; do
    printf '\nfreeze %s\n' "$n"
    set --
    for more in late now; do
        file=$folder/predictions-$n-$more.jsonl
        [ ! -e "$file" ] || set -- "$@" --$more "$file"
    done
    [ "$n" != "${freezes[-1]}" ] || set -- "$@" --out "$summary"
    python3 emulator/predictor/validate/validate.py $folder/predictions-"$n".jsonl $folder/h200-"$n".jsonl.gz "$@" || exit
done
python3 emulator/predictor/validate/intervals.py $folder --out "$summary"
