#!/bin/bash
# freeze.sh predict|measure N: one half of freeze N (make freeze-predict, make freeze-measure). Predictions come first and
# are committed; measuring refuses to begin before that. CHIP: the chip, h200 unless it is given.
# Exit status: 0; 2 in the wrong order; or what predict.sh and measure.sh leave with.
set -u
half=$1 n=$2 chip=${CHIP:-h200}
here=emulator/predictor/validate folder=records/validation
[ "$chip" = h200 ] && predictions=$folder/predictions-$n.jsonl || predictions=$folder/predictions-$chip-$n.jsonl
cases=$folder/cases-$n.txt
fail() { echo "make: $1" >&2; exit 2; }

if [ "$half" = predict ]; then
    [ ! -e $folder/"$chip-$n".jsonl.gz ] || fail "freeze $n has been measured on an $chip: predictions come first"
    $here/predict.sh "$cases" "$predictions" || exit
    grep -c elapsed "$predictions"
else
    git diff --quiet HEAD -- chips emulator stages common && git ls-files --error-unmatch "$predictions" > /dev/null ||
        fail "first commit $predictions (make freeze-predict), and whatever else has changed"
    $here/measure.sh "$cases" results/"$chip-$n".jsonl || exit
    gzip -f results/"$chip-$n".jsonl
    echo "results/$chip-$n.jsonl.gz: copy it to $folder, then make validate"
fi
