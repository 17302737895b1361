#!/bin/bash
# freezes.sh OUT: every freeze's predictions beside what was measured, on each chip (make validate does this); the newest
# freeze of a chip, and the newest of programs, is summed up in OUT/CHIP.txt. A freeze is a set of cases whose predictions were
# committed before it was measured.
set -u
out=$1 folder=records/validation
for chip in h100 h200; do
    prefix=predictions
    [ $chip = h200 ] || prefix=predictions-$chip
    mapfile -t freezes < <(printf '%s\n' $folder/$chip-*.jsonl.gz | sed 's/.*-\([0-9]*\)[.].*/\1/' | sort -n)
    for n in "${freezes[@]}"; do
        printf '\nfreeze %s, %s\n' "$n" "$chip"
        set --
        for more in late now; do
            file=$folder/$prefix-$n-$more.jsonl
            [ ! -e "$file" ] || set -- "$@" --$more "$file"
        done
        [ "$n" != "${freezes[-1]}" ] || set -- "$@" --out "$out/$chip.txt"
        python3 emulator/predictor/validate/validate.py $folder/$prefix-"$n".jsonl $folder/$chip-"$n".jsonl.gz "$@" || exit
    done
    python3 emulator/predictor/validate/intervals.py $folder --chip $chip --out "$out/$chip.txt"
done
for measured in $(printf '%s\n' $folder/foreign-h[0-9]*.csv.gz | sort -V); do
    [ -e "$measured" ] || continue
    name=${measured##*/foreign-} name=${name%.csv.gz} n=${name##*-} chip=${name%-*}
    prefix=foreign-predictions
    [ "$chip" = h200 ] || prefix=foreign-predictions-$chip
    printf '\nprograms that nobody here wrote, freeze %s, %s\n' "$n" "$chip"
    python3 emulator/predictor/validate/foreign.py compare "$folder/$prefix-$n.jsonl" "$measured" --out "$out/$chip.txt" || exit
done
