#!/usr/bin/env bash
# report.sh "STAGE_DIR ...": results/report.html, from the records of the last `make compare`, or with RECORDED=h200 from
# records/runs/h200.jsonl (PROBLEM chooses the problem), drawn anew. Exit status: 0; 5 files; 77 nothing to report.
set -u
fail() { echo "report: $2" >&2; exit "$1"; }
out=results/compare
if [ -n "${RECORDED:-}" ]; then
    plots/compare.sh "$1" > /dev/null || exit
    records=records/runs/$RECORDED.jsonl problem=${PROBLEM:-B4 H16 S4096 D128} tables=records/runs/$RECORDED-
else
    records=$out/run.jsonl tables=results/
    [ -s $records ] || fail 77 "there is no $records: run make compare first, or choose a recorded run: RECORDED=h200"
    problem=$(build/tabulate --print-problem $records)
fi
# What happened over time, and one block's warps: as recorded, or as make stage-N timeline left it.
drawn=()
for table in "$tables"{timeline,warps}-*.tsv; do
    [ -s "$table" ] || continue
    picture=$out/$(basename "${table%.tsv}")
    if grep -q '^lane' "$table"; then
        set -- plots/warps.gp "table = '$table'; window = 0" 'Who waits for whom in one block'
    else
        set -- plots/timeline.gp "tables = '$table'" 'What the whole GPU does'
    fi
    plots/draw.sh "$1" "$picture" svg "$2" && drawn+=("$picture.svg=$3 (${table##*/})")
done
versus=()
[ -z "${RECORDED:-}" ] && versus=(--versus records/runs/h200.jsonl)
hot=()
lines=${RECORDED:+records/runs/$RECORDED-hot.jsonl}
[ -s "${lines:=$out/hot.jsonl}" ] && hot=(--hot "$lines")
"${PYTHON:-.venv/bin/python}" plots/report.py --records "$records" --problem "$problem" --pictures $out \
    --out results/report.html "${versus[@]}" "${hot[@]}" --timelines "${drawn[@]}"
