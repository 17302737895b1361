#!/usr/bin/env bash
# ladder.sh RECORDED: the README's table of stages, in Markdown, from records/runs/RECORDED.jsonl.
# make ladder RECORDED=h200 prints it.
set -euo pipefail
records=records/runs/$1.jsonl
[ -f "$records" ] || { echo "ladder: there is no $records; RECORDED=h200 is one" >&2; exit 5; }
value() { # STAGE PROBLEM PATH: from the newest record; - if there is none
    build/columns "$records" stage="$1" problem.text="${2// /_}" -- "$3" |
        awk '!/^#/ {v = $1} END {print v + 0 == 0 ? (v == "0" ? "0" : "-") : v < 100 ? sprintf("%.1f", v) : sprintf("%.0f", v)}'
}
small="B1 H8 S512 D64" large="B4 H16 S4096 D128"
recorded=$(build/columns "$records" problem.text="${large// /_}" -- stage 2> /dev/null)
missing=$(for dir in stages/[0-9]*; do
    stage=$(basename "$dir")
    grep -q '^problem' "$dir/images" || grep -qxF "$stage" <<< "$recorded" || echo "$stage"
done)
[ -z "$missing" ] || { echo "ladder: $records has no run on $large of $(paste -sd' ' <<< "$missing")" >&2; exit 5; }
echo "| stage | what it adds | $small, us | $large, TFLOPS | tensor pipe active on the same problem, % |"
echo "| --- | --- | --- | --- | --- |"
for dir in stages/[0-9]*; do
    stage=$(basename "$dir")
    printf '| [%s](%s) | %s | %s | %s | %s |\n' "$stage" "$dir" "$(sed -n '1s/^# Stage [0-9]*: //p' "$dir/README.md")" \
        "$(value "$stage" "$small" samples.median_us)" "$(value "$stage" "$large" samples.tflops)" "$(value "$stage" "$large" counters.tensor_active_pct)"
done
