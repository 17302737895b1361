#!/bin/bash
# make report: the page of a recorded run has every stage, value and reason, is small, and needs nothing from outside.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
"$python" -c 'import jinja2' 2> /dev/null || { skip "a page of a recorded run" "no jinja2: make setup"; tap_done; exit; }
page=$tap_dir/page.html
mkdir "$tap_dir/pictures"
echo '<svg xmlns="http://www.w3.org/2000/svg"></svg>' > "$tap_dir/pictures/time.svg"
report() { "$python" plots/report.py --pictures "$tap_dir/pictures" --out "$page" --timelines "$tap_dir/pictures/time.svg=Who waits = whom" "$@"; }
check "a page of a recorded run" report --records records/runs/h200.jsonl --problem "B4 H16 S4096 D128" --versus records/runs/h200-rewrite.jsonl
has() { grep -qF -- "$1" "$page"; }
lacks() { ! grep -qE -- "$1" "$page"; }
check "every stage has a row" [ "$(grep -c '<summary>[1-6]-' "$page")" -eq 5 ]
read -r time_us pipe < <(python3 - << 'END'
import json
newest = max((r for r in map(json.loads, open("records/runs/h200.jsonl")) if r["stage"].startswith("6-") and
              r["problem"].get("text") == "B4 H16 S4096 D128"), key=lambda r: r["time"])
pipe = next(c["value"] for c in newest["counters"] if c["name"] == "tensor_active_pct")
print(f'{newest["samples"]["median_us"]:.4g} {pipe:.4g}')
END
)
check "the time of stage 6, as recorded" has "$time_us"
check "its tensor pipe" has "$pipe"
check "the metric of a counter" has 'sm__inst_executed_pipe_tensor_op_gmma.sum'
check "where the records are from" has 'driver 580.159.04'
check "the picture is in it" has 'data:image/svg+xml;base64,PHN2Zy'
check "what happened over time, with its title" has 'alt="Who waits = whom"'
check "a time beside another run's" has 'Against h200-rewrite.jsonl'
check "nothing is loaded from outside" lacks '(src|href)="(https?:|//|[a-z]*\.)|@import|<script '
check "it is under 2 MB" [ "$(stat -c %s "$page")" -lt 2000000 ]
# Text of a record is text on the page.
sed 's/NVIDIA H200/<b>board<\/b>/' records/runs/h200.jsonl > "$tap_dir/odd.jsonl"
check "a record with markup" report --records "$tap_dir/odd.jsonl" --problem "B4 H16 S4096 D128"
check "is shown, not obeyed" lacks '<b>board'
"$build/stage-1" --device emu --heads 1 --seqlen 64 --quiet --json "$tap_dir/emu.jsonl" > /dev/null
"$build/stage-1" --device emu --heads 1 --seqlen 64 --quiet --source --json "$tap_dir/hot.jsonl" > /dev/null
check "a page of the emulator" report --records "$tap_dir/emu.jsonl" --problem "B1 H1 S64 D64" --hot "$tap_dir/hot.jsonl"
hottest() { # of the record: its line and share; the line's number
    "$python" -c 'import json, sys
hot = json.loads(open(sys.argv[1]).readline())["hot"]
first = max(hot["lines"], key=lambda l: l["share"])
number, share = first["line"], 100 * first["share"]
print(f"<td>kernel.cu:{number}</td><td>{share:.1f} %</td>" if sys.argv[2] == "place" else number)' "$tap_dir/hot.jsonl" "$1"
}
code=$(sed -n "$(hottest number)p" stages/1-scalar/kernel.cu | grep -oE '[a-z_]{5,}' | head -n 1) # a word that needs no escape
us=$("$python" -c 'import json, sys
us = [c["value"] for c in json.loads(open(sys.argv[1]).readline())["counters"] if c["name"] == "duration_us"]
print(f"{us[0]:.4g}")' "$tap_dir/emu.jsonl")
check "its time is the predicted one, and marked" has ">$us*<"
check "and stands in the column of single launches" eval 'grep -A1 "class=\"n na\"" "$page" | grep -q ">$us\*<"'
check "with how far that was validated" has "Validated on h200"
check "shows the line that takes most" has "$(hottest place)"
check "with its code" [ -n "$code" -a "$(grep -c "class=\"code\">.*$code" "$page")" -ge 1 ]
check "says why values are missing" has 'n/a: a counter of the hardware'
sed 's/"interrupted": *false/"interrupted": true/' records/runs/h200.jsonl > "$tap_dir/cut.jsonl"
check "a page of runs that were interrupted" report --records "$tap_dir/cut.jsonl" --problem "B4 H16 S4096 D128"
check "says so" has 'interrupted: of what had run until then'
{ head -n 3 records/runs/h200.jsonl; echo "{\"cut"; tail -n +4 records/runs/h200.jsonl; } > "$tap_dir/damaged.jsonl"
status "a damaged line is named, the rest is used" 0 report --records "$tap_dir/damaged.jsonl" --problem "B4 H16 S4096 D128"
check "by file and line" grep -q "^report: $tap_dir/damaged.jsonl:4: no whole record, left out" "$tap_dir/err"
check "with every stage" [ "$(grep -c '<summary>[1-6]-' "$page")" -eq 5 ]
status "with --strict it is a failure" 5 report --strict --records "$tap_dir/damaged.jsonl" --problem "B4 H16 S4096 D128"
check "a page of one stage" report --records records/runs/h200.jsonl --problem "B4 H16 S4096 D128" --stages 3-wmma-pv
check "has that stage only" [ "$(grep -c '<summary>[1-6]-' "$page")" -eq 1 ]
status "a stage without a record" 5 report --records records/runs/h200.jsonl --problem "B4 H16 S4096 D128" --stages 7-none
status "no record on that problem" 5 report --records records/runs/h200.jsonl --problem "B9"
status "no such file" 5 report --records "$tap_dir/none.jsonl" --problem "B1"
# A program of one's own: its kernels are the rows.
"$build/run" --device emu --quiet --json "$tap_dir/own.jsonl" "$build/examples/softmax" > /dev/null 2>&1
if [ -s "$tap_dir/own.jsonl" ]; then
    own() { "$python" plots/report.py --out "$page" "$@"; }
    check "a page of a program of one's own" own --program "$tap_dir/own.jsonl"
    check "has a row for each kernel" [ "$(grep -c '<summary>softmax_' "$page")" -eq 2 ]
    status "a file without a run of a program" 5 own --program records/runs/h200.jsonl
    check "neither a program nor records" eval '! own 2> /dev/null'
else
    skip "a page of a program of one's own" "build/examples/softmax is not built"
fi
# The whole of make report, in a tree of its own: over time, each table with its own script.
if command -v gnuplot > /dev/null; then
    tree=$tap_dir/tree
    mkdir "$tree" && ln -s "$PWD/plots" "$PWD/records" "$PWD/stages" "$PWD/profiler" "$tree" && ln -s "$(realpath "$build")" "$tree/build"
    python=$(realpath -s "$python")
    made() { (cd "$tree" && RECORDED=h200 PYTHON=$python plots/report.sh "stages/1-scalar stages/6-wgmma-attention"); }
    check "make report of a recorded run" made
    page=$tree/results/report.html
    check "has what the GPU did over time" has 'What the whole GPU does (h200-timeline-6.tsv)'
    check "and who waits for whom" has 'Who waits for whom in one block (h200-warps-6.tsv)'
    warps() { grep -q 'warp 0, products' "$tree/results/compare-h200/h200-warps-6.svg" && grep -q 'special functions over time' "$tree/results/compare-h200/h200-timeline-6.svg"; }
    check "drawn as what they are" warps
    check "with what they show" has 'Over 349 us the tensor pipe works at '
    check "below a picture stands what it shows" has '<figcaption>The tensor cores work in '
    check "and in it, for those who do not see it" grep -q '<title>The tensor cores work in ' "$tree/results/compare-h200/tensor.svg"
    one() { (cd "$tree" && RECORDED=h200 PYTHON=$python plots/report.sh "stages/3-wmma-pv"); }
    check "make report of one stage" one
    check "has nothing of others over time" bash -c "! grep -q 'What the whole GPU does' '$page'"
    # A run's page has the run's pictures, whatever else was drawn; pictures of other records are refused.
    run() { (cd "$tree" && PYTHON=$python plots/report.sh "stages/1-scalar"); }
    status "a run that is not there" 77 run
    (cd "$tree" && DEVICE=emu TERM= plots/compare.sh stages/1-scalar --heads 1 --seqlen 64 > /dev/null 2> "$tap_dir/compared")
    check "which says how long the stage took" grep -qxE 'compare: given problem, stage 1-scalar \.\.\. done, [0-9]+ s' "$tap_dir/compared"
    check "a recorded run drawn after it" made
    check "leaves the page of the run" run
    check "with its problem" has 'B1 H1 S64 D64'
    lacks_recorded() { ! has 'B4 H16 S4096 D128'; }
    check "and its pictures" lacks_recorded
    echo >> "$tree/results/compare/run.jsonl"
    status "pictures of other records" 5 run
fi
tap_done
