#!/bin/bash
# freezes.sh OUT [ALL.txt]: every freeze's predictions beside what was measured, on each chip, go to ALL.txt; one page of
# sums is printed (make validate does this). Without ALL.txt all is printed. The newest freeze of a chip, and the newest of
# programs, is summed up in OUT/CHIP.txt. A freeze is a set of cases whose predictions were committed before it was measured.
set -u
out=$1 whole=${2:-} folder=records/validation

each_freeze() {
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
            python3 emulator/predictor/validate/validate.py $folder/$prefix-"$n".jsonl $folder/$chip-"$n".jsonl.gz "$@" || return
        done
        python3 emulator/predictor/validate/intervals.py $folder --chip $chip --out "$out/$chip.txt"
    done
    for measured in $(printf '%s\n' $folder/foreign-h[0-9]*.csv.gz | sort -V); do
        [ -e "$measured" ] || continue
        name=${measured##*/foreign-} name=${name%.csv.gz} n=${name##*-} chip=${name%-*}
        prefix=foreign-predictions
        [ "$chip" = h200 ] || prefix=foreign-predictions-$chip
        printf '\nprograms that nobody here wrote, freeze %s, %s\n' "$n" "$chip"
        python3 emulator/predictor/validate/foreign.py compare "$folder/$prefix-$n.jsonl" "$measured" --out "$out/$chip.txt" || return
    done
}

# Of each freeze its sum; of a chip's newest freeze of attention the table by family and kind of value, of programs by length.
page() {
    awk '
        function programs_end(newest) {
            worst = (-all[7] > all[8]) ? all[7] : all[8]
            if (newest) printf "\n%s\n%s", programs, table
            else printf "%s: mean %s %%, median %s, %s %% within 15, worst %+.0f, %d of %d predicted\n",
                        programs, all[4], all[5], all[6], worst, all[2], all[2] + all[3]
        }
        /^freeze [0-9]+, / { if (!attention && freeze) print ""; freeze = $0; attention = 1 }
        /^decisions: / { of = $3; sub(/^.*3 %, /, ""); right = $1 }
        /^validation: / { sub(/^validation: /, ""); printf "%-16s %s; %d of %d pairs in order\n", freeze, $0, right, of }
        /^intervals on an / { print ""; attention = 0 }
        /^(family|tensor|issue|latency) / && !attention { print }
        /^all / && !attention && !programs { print }
        /^(inside the|pairs that) / { print }
        /^programs that nobody/ {
            if (programs) programs_end($NF != chip)
            else print ""
            programs = $0; chip = $NF; table = ""
        }
        programs && /^all / { split($0, all) }
        programs && /(^ +n +none|^(short|medium|long|all) |^all, |launches of)/ { table = table $0 "\n" }
        END { if (programs) programs_end(1) }
    ' "$1"
}

if [ -z "$whole" ]; then
    each_freeze
    exit
fi
mkdir -p "$(dirname "$whole")"
each_freeze > "$whole" || exit
page "$whole"
printf '\nEach freeze by stage and family of problems: %s\n' "$whole"
