#!/bin/bash
# timeline.sh STAGE [stage options]: what a stage does over time, as tables and pictures in results/ (make stage-6
# timeline does this). With $RECORDED its recorded tables, $TABLES, are drawn and nothing runs: their pictures have the
# name of the record. $WINDOW: how many us are drawn.
# Exit status: 0, also without gnuplot; 2 no window; 5 files; or the stage's own.
set -uf
stage=$1
shift
build=${BUILD:-build} number=${stage#stage-}
fail() { echo "make: $2" >&2; exit "$1"; }
test "$WINDOW" -gt 0 2> /dev/null || fail 2 "WINDOW is a whole number of us above 0, not '$WINDOW'"
mkdir -p results 2> /dev/null && [ -w results ] || fail 5 "cannot write to results: make it writable"

draw() { # OUT TABLES...
    local out=$1 tables="${*:2}" script="plots/timeline.gp" name=tables term
    if ! command -v gnuplot > /dev/null; then
        echo "timeline: to draw it install gnuplot-nox (make setup)"
        return
    fi
    if cat "${@:2}" | grep -q '^lane'; then script=plots/warps.gp name=table; fi
    for term in png svg; do
        plots/draw.sh $script "$out" $term "$name = '$tables'; window = $WINDOW" || exit 5
    done
    echo "$out.png $out.svg"
}

if [ -n "${RECORDED:-}" ]; then
    # shellcheck disable=SC2086
    [ -z "$TABLES" ] || { draw results/timeline-"$RECORDED-$stage" $TABLES; exit; }
    fail 5 "there is no records/runs/$RECORDED-timeline-$number.tsv; recorded are: $(
        find records/runs -name '*-timeline-*.tsv' -printf '%f\n' | sed 's/.tsv$//' | sort | paste -sd' ')"
fi
out=results/timeline-$stage
rm -f "$out-warps.tsv"
"$build/alone" "$build/$stage" "$@" --timeline "$out.tsv" || exit
for each in "$out" "$out-warps"; do
    [ -f "$each.tsv" ] || continue
    echo "$each.tsv"
    ! grep -q '^lane' "$each.tsv" || echo "$each.json: for ui.perfetto.dev or chrome://tracing"
done
for each in "$out" "$out-warps"; do
    [ ! -f "$each.tsv" ] || draw "$each" "$each.tsv"
done
