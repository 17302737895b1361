#!/bin/bash
# freeze.sh predict|measure N: one half of freeze N (make freeze-predict, make freeze-measure). Predictions come first and
# are committed; measuring refuses to begin before that.
# Exit status: 0; 2 in the wrong order; or what predict.sh and measure.sh leave with.
set -u
half=$1 n=$2
here=emulator/predictor/validate folder=records/validation
cases=$folder/cases-$n.txt predictions=$folder/predictions-$n.jsonl
fail() { echo "make: $1" >&2; exit 2; }

if [ "$half" = predict ]; then
    [ ! -e $folder/h200-"$n".jsonl.gz ] || fail "freeze $n has been measured: predictions come first"
    $here/predict.sh "$cases" "$predictions" || exit
    grep -c elapsed "$predictions"
else
    git diff --quiet HEAD -- chips emulator stages common && git ls-files --error-unmatch "$predictions" > /dev/null ||
        fail "first commit $predictions (make freeze-predict), and whatever else has changed"
    $here/measure.sh "$cases" results/h200-"$n".jsonl || exit
    gzip -f results/h200-"$n".jsonl
    echo "results/h200-$n.jsonl.gz: copy it to $folder, then make validate"
fi
