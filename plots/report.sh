#!/usr/bin/env bash
# report.sh "STAGE_DIR ...": results/report.html, from the records of the last `make compare`, or with RECORDED=h200 from
# plots/recorded/h200.jsonl (PROBLEM chooses the problem), drawn anew. Exit status: 0; 5 files; 77 nothing to report.
set -u
fail() { echo "report: $2" >&2; exit "$1"; }
out=results/compare
if [ -n "${RECORDED:-}" ]; then
    plots/compare.sh "$1" > /dev/null || exit
    records=plots/recorded/$RECORDED.jsonl problem=${PROBLEM:-B4 H16 S4096 D128} timelines=plots/recorded/$RECORDED-timeline
else
    records=$out/run.jsonl timelines=results/timeline-stage
    [ -s $records ] || fail 77 "there is no $records: run make compare first, or choose a recorded run: RECORDED=h200"
    problem=$(build/tabulate --print-problem $records)
fi
# Recorded tables of what happened over time are drawn; others were, by make stage-N timeline.
drawn=()
for table in "$timelines"-*.tsv; do
    [ -s "$table" ] || continue
    picture=$out/$(basename "${table%.tsv}")
    plots/draw.sh plots/timeline.gp "$picture" svg "tables = '$table'" && drawn+=("$picture.svg")
done
versus=()
[ -z "${RECORDED:-}" ] && versus=(--versus plots/recorded/h200.jsonl)
hot=()
lines=${RECORDED:+plots/recorded/$RECORDED-hot.jsonl}
[ -s "${lines:=$out/hot.jsonl}" ] && hot=(--hot "$lines")
"${PYTHON:-.venv/bin/python}" plots/report.py --records "$records" --problem "$problem" --pictures $out \
    --out results/report.html "${versus[@]}" "${hot[@]}" --timelines "${drawn[@]}"
