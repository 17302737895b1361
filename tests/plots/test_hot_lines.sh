#!/bin/bash
# `source`: planted hot lines come first, each by its own resource, and no instruction counts twice.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}

# A copy of stage 1 whose image is hot_lines.cu.
mkdir -p "$tap_dir/images/stage-1" "$tap_dir/profiler" && ln -f "$build/stage-1" "$tap_dir/" 2> /dev/null || cp "$build/stage-1" "$tap_dir/"
cp -r chips "$tap_dir/"; ln -s "$PWD/profiler/groups" "$tap_dir/profiler/groups"; ln -s "$PWD/tests" "$tap_dir/tests"
[ ! -d .venv ] || ln -s "$PWD/.venv" "$tap_dir/.venv"
compile() { "${NVCC:-nvcc}" -std=c++17 -lineinfo -I. "$1" -arch="$2" -o "$tap_dir/images/stage-1/d64.$2.$3" "$4"; }
compile -ptx compute_89 ptx tests/plots/hot_lines.cu && compile -cubin sm_90a cubin tests/plots/hot_lines.cu || exit 1

planted() { "$tap_dir/stage-1" --device emu --heads 4 --seqlen-q 64 --seqlen-k $((4096 + $1)) --source "${@:2}"; }
comes_first() { # NUMBER RESOURCE: the first line below "hot lines" and its two lines of titles
    planted "$1" > "$tap_dir/said" || return 1
    sed -n '/an SM/,/^$/p; /^hot lines/,/^$/p' "$tap_dir/said"
    grep -q "^hot lines: most $2 first" "$tap_dir/said" &&
        grep -A 3 '^hot lines' "$tap_dir/said" | tail -n 1 | grep -q "hot_lines.cu:$(grep -n "HOT $2\$" tests/plots/hot_lines.cu | cut -d: -f1) .*HOT $2"
}
n=0
for resource in tensor mufu fma shared global time; do
    check "the planted line comes first: $resource" comes_first $((++n)) "$resource"
done

# Sums over lines, over places and over instructions are the total; every number is finite.
adds_up() { # STAGE OPTIONS...
    "$build/stage-$1" --device emu --source --csv --ptx --sass --heads 1 "${@:2}" > "$tap_dir/hot.csv" && "$python" -c '
import csv, sys
sums = {}
for r in csv.DictReader(open(sys.argv[1])):
    of = r["of"] if r["of"] not in ("ptx", "sass") else "instruction"
    sums.setdefault(r["name"], {}).setdefault(of, []).append(float(r["value"]))
for name, s in sums.items():
    total = s["total"][0]
    for of in ("line", "place", "instruction"):
        lost = s.get("no line", [0])[0] if of != "instruction" else 0
        exact = name in ("instructions", "shared_wavefronts", "global_sectors")
        off = abs(sum(s.get(of, [0])) + lost - total)
        if off > (0 if exact else 0.002 * total):
            sys.exit(f"{name} of {of}: {sum(s.get(of, [0]))} and {lost} of no line are not {total}")
assert {"instructions", "shared_wavefronts", "stall.wait", "busy.issue"} <= sums.keys(), sums.keys()
print(len(sums), "values add up")' "$tap_dir/hot.csv"
}
for n in 1 3 4 6; do check "stage $n: lines, places and instructions add up to the total" adds_up $n --seqlen 256; done

# Below its line stands what ptxas made of it, and in a record all of it.
sass_below() { planted 2 --sass --ptx > "$tap_dir/said" && awk '/[|] *[0-9]+  / && !/[|] +[|]/ {on = /HOT mufu/} on && /MUFU.EX2/ {sass = 1} on && /ex2.approx/ {ptx = 1} END {exit !(sass && ptx)}' "$tap_dir/said"; }
check "SASS and PTX below their line" sass_below
in_a_record() { planted 4 --quiet --json "$tap_dir/r.jsonl" && "$python" -c '
import json, sys
h = json.loads(open(sys.argv[1]).read())["hot"]
top = max(h["lines"], key=lambda l: l["share"])
assert h["limit"] == "shared" and "HOT shared" in top["text"], top
assert all(p["inlined_at"] < i for i, p in enumerate(h["places"])), "a parent stands before its children"' "$tap_dir/r.jsonl"; }
check "a record holds lines and tree" in_a_record
status "--sass without --source" 2 "$build/stage-1" --device emu --sass
status "no SASS where nobody measured the chip" 6 "$build/stage-1" --device emu --heads 1 --seqlen 64 --source --sass --chip a100
check "it says why" grep -q "no SASS: n/a: " "$tap_dir/err"
tap_done
