#!/usr/bin/env bash
# report.sh "STAGE_DIR ...": results/report.html, from the records of the last `make compare`, or with RECORDED=h200 from
# records/runs/h200.jsonl (PROBLEM chooses the problem), drawn anew; with PROGRAM=FILE of the kernels of a program of one's
# own, whose run `build/run --json FILE PROGRAM` recorded. Exit status: 0; 5 files; 77 nothing to report.
set -u
fail() { echo "report: $2" >&2; exit "$1"; }
if [ -n "${PROGRAM:-}" ]; then
    mkdir -p results
    exec "${PYTHON:-.venv/bin/python}" plots/report.py --program "$PROGRAM" --out results/report.html
fi
out=results/compare${RECORDED:+-$RECORDED}
stages=$(for d in $1; do basename "$d"; done | tr '\n' ' ')
if [ -n "${RECORDED:-}" ]; then
    plots/compare.sh "$1" > /dev/null || exit
    tables=records/runs/$RECORDED-
else
    tables=results/
    [ -s $out/run.jsonl ] || fail 77 "there is no $out/run.jsonl: run make compare first, or choose a recorded run: RECORDED=h200"
    [ -s $out/of.txt ] || fail 5 "$out has no pictures of its records: run make compare again"
fi
{ read -r records && read -r sum && read -r problem; } < "$out/of.txt"
[ "$(cksum < "$records")" = "$sum" ] || fail 5 "the pictures in $out are of other records than $records: run make compare again"
# What happened over time, and one block's warps: as recorded, or as make stage-N timeline left it.
drawn=()
for table in "$tables"{timeline,warps}-*.tsv; do
    [ -s "$table" ] || continue
    number=$(sed -E 's/.*(timeline|warps)-(stage-)?([0-9]+).*/\3/' <<< "${table##*/}")
    [[ " $stages" == *" $number-"* ]] || continue # of a stage that the page is not about
    picture=$out/$(basename "${table%.tsv}")
    if grep -q '^lane' "$table"; then
        set -- plots/warps.gp "table = '$table'; window = 0" 'Who waits for whom in one block'
    else
        set -- plots/timeline.gp "tables = '$table'" 'What the whole GPU does'
    fi
    says=$(awk -f plots/says_over_time.awk "$table")
    plots/draw.sh "$1" "$picture" svg "$2" "$says" || exit
    drawn+=("$picture.svg=$3 (${table##*/}). $says")
done
versus=()
[ -z "${RECORDED:-}" ] && versus=(--versus records/runs/h200.jsonl)
hot=()
lines=${RECORDED:+records/runs/$RECORDED-hot.jsonl}
[ -s "${lines:=$out/hot.jsonl}" ] && hot=(--hot "$lines")
# shellcheck disable=SC2086
"${PYTHON:-.venv/bin/python}" plots/report.py --records "$records" --problem "$problem" --pictures "$out" \
    --out results/report.html --stages $stages "${versus[@]}" "${hot[@]}" --timelines "${drawn[@]}"
