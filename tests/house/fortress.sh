#!/bin/bash
# The figures that a release must reach, and what was reached: from the logs of the runs, which lie in
# $BUILD/fortress and in $BUILD/tests, else from the records of an H200, else from tests/house/fortress.txt:
# what was measured where the logs are no more, or the reason why it was not. Nothing is run here.
#
#   tests/house/fortress.sh        the table: wanted, reached, by which command
#   exit status: 0 all of them reached; 1 one is not; 77 one was not measured as a whole
build=${BUILD:-build}
logs=$build/fortress
missed=0 unknown=0

row() { # NAME WANTED COMMAND REACHED OK(1, 0 or nothing: not measured)
    local verdict=- reached=${4-} how=$3
    case ${5-} in
    1) verdict=yes ;;
    0) verdict=NO missed=1 ;;
    *)
        # in tests/house/fortress.txt: figure, what was reached, yes, NO or -, when and how or why not
        IFS=$'\t' read -r _ reached verdict how < <(grep -F "$1"$'\t' tests/house/fortress.txt) || reached="not measured" how=$3
        case $verdict in yes) ;; NO) missed=1 ;; *) unknown=1 ;; esac
        ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$reached" "$verdict" "$how"
}
# KEY PART WHOLE: "PART of WHOLE" of the stages' records, and whether none is missing
recorded() {
    python3 - "$@" <<'PYTHON'
import json, sys
key, part, whole = sys.argv[1:]
of = {}
for line in open("records/runs/h200-sweeps.jsonl"):
    r = json.loads(line)
    if key in r: of.setdefault(r["stage"], []).append((r[key][part], r[key][whole]))
print(sum(w - p for rows in of.values() for p, w in rows) if of else "", min(max(w for _, w in rows) for rows in of.values()), len(of))
PYTHON
}
# Of tests/mutants/mutants_scores.txt: percent, which files and the worst of them, whether all are there and each has 95
hosts() {
    python3 - <<'PYTHON'
import subprocess, sys
sys.path.insert(0, "tests/mutants")
import mutants
rows = [l.split() for l in open(mutants.SCORES) if l[0] != "#"]
if rows:
    killed, counted = (sum(int(r[k]) for r in rows) for k in (1, 2))
    now = subprocess.run(["git", "hash-object", *(r[0] for r in rows)], capture_output=True, text=True).stdout.split()
    changed = sum(not n.startswith(r[4]) for n, r in zip(now, rows))
    whole = len(rows) == len(mutants.TESTS)
    least, of = min((100 * int(r[1]) / int(r[2]), r[0]) for r in rows)
    print(f"{100 * killed / counted:.1f} {len(rows)}_of_{len(mutants.TESTS)}_files,_{changed}_changed_since,_{min(r[3] for r in rows)};_least_{least:.1f}_of_{of}", 1 if whole and least >= 95 else 0)
PYTHON
}
# Of tests/mutants/mutants_kernels_scores.txt: percent of all, of each stage, whether all are there and each has 95
kernels() {
    python3 - <<'PYTHON'
import os, sys
sys.path.insert(0, "tests/mutants")
path = "tests/mutants/mutants_kernels_scores.txt"
rows = [l.split() for l in open(path) if l[0] != "#"] if os.path.exists(path) else []
if rows:
    killed, counted = (sum(int(r[k]) for r in rows) for k in (1, 2))
    stages = [d for d in os.listdir("stages") if d[0].isdigit()]
    each = ",_".join(f"{r[0][0]}:_{r[1]}_of_{r[2]}" for r in rows)
    least = min(100 * int(r[1]) / max(1, int(r[2])) for r in rows)
    print(f"{100 * killed / counted:.1f} {each};_drawn_from_{sum(int(r[4]) for r in rows)},_{min(r[5] for r in rows)}", int(len(rows) == len(stages) and least >= 95))
PYTHON
}
# FILE PATTERN: the last match's first group, "" if there is none
found() { [ -f "$1" ] && sed -nE "s/.*$2.*/\1/p" "$1" | tail -n 1; }
at_least() { [ -n "$1" ] && { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a >= b)}' && echo 1 || echo 0; }; }
none() { [ -n "$1" ] && { [ "$1" = 0 ] && echo 1 || echo 0; }; }

table() {
    printf 'figure\twanted\treached\tis it\tcommand\n'

    read -r n enough < <(cat "$build"/fuzz/fuzz_*.log 2> /dev/null |
        awk '/^Done [0-9]+ runs in/ {n += $2; s += $5} END {if (n >= 1e8 || s >= 3600) print n, 1}') # what is shorter is no measurement
    row "fuzzing: inputs without a crash, leak or hang" ">= 1e8 or 1 CPU hour" "make fuzz FUZZ_SECONDS=600" "$n" "$enough"

    for tool in sanitize tsan; do
        n=$(found "$logs/$tool.log" '[0-9]+ passed, ([0-9]+) failed, [0-9]+ skipped')
        row "$tool: tests that fail" "0" "make $tool > $logs/$tool.log" "$n" "$(none "$n")"
    done
    n=$(found "$logs/coverage.log" '^ *([0-9.]+) % of [0-9]+ lines$')
    row "lines of the library that tests run, %" ">= 85" "make coverage > $logs/coverage.log" "$n" "$(at_least "$n" 85)"

    read -r n how ok < <(hosts)
    row "host mutants killed, of those that are not equivalent, %" ">= 95, all files" "tests/mutants/mutants_scores.txt, $(tr _ ' ' <<< "$how")" "$n" "$ok"
    read -r n how ok < <(kernels)
    row "kernel mutants made by rule and killed, %" ">= 95, each stage" "tests/mutants/mutants_kernels_scores.txt, $(tr _ ' ' <<< "$how")" "$n" "$ok"
    if [ -f "$build/tests/test_mutate.log" ]; then
        n=$(grep -E '^not ok .*stage' "$build/tests/test_mutate.log" | grep -vc precision)
        row "semantic kernel mutants that survive" "0" "make test TESTS=mutate" "$n" "$(none "$n")"
        n=$(grep -cE '^not ok .*precision' "$build/tests/test_mutate.log")
        row "stages with under 9 of 10 precision mutants killed" "0" "make test TESTS=mutate" "$n" "$(none "$n")"
    else
        row "semantic kernel mutants that survive" "0" "make test TESTS=mutate"
    fi
    log=$build/tests/test_emu_mutants.log n=
    [ -f "$log" ] && n=$(grep -c '^not ok' "$log")
    row "barriers, waits and fences that nobody misses, without a reason" "0" "make test TESTS=emu_mutants" "$n" "$(none "$n")"

    n=$(found "$logs/faults.log" '# ([0-9]+) of [0-9]+ points')
    row "calls into the C library failed, one at a time" ">= 1000" "python3 tests/commands/every_fault.py $build all > $logs/faults.log" "$n" "$(at_least "$n" 1000)"
    n=
    [ -f "$logs/faults.log" ] && n=$(grep -c '^not ok' "$logs/faults.log")
    row "programs that answer one of them otherwise than documented" "0" "the same" "$n" "$(none "$n")"
    n=
    [ -f "$build/tests/test_faults.log" ] && [ -f "$build/tests/test_refused.log" ] &&
        n=$(($(grep -cE '^ok .* fails$' "$build/tests/test_faults.log") + $(grep -cE '^ok .* refused with' "$build/tests/test_refused.log")))
    row "driver and CUPTI calls failed" ">= 60" "make test TESTS='faults refused'" "$n" "$(at_least "$n" 60)"

    n=
    [ -f "$build/tests/test_short.log" ] && n=$(grep -c '^not ok' "$build/tests/test_short.log")
    row "programs short of memory, disk or descriptors that answer otherwise" "0" "make test TESTS=short" "$n" "$(none "$n")"
    n=
    [ -f "$build/tests/test_edges.log" ] && n=$(grep -c '^not ok' "$build/tests/test_edges.log")
    row "extremes of inputs and shapes answered wrongly" "0" "EDGES=all make test TESTS=edges" "$n" "$(none "$n")"
    n=
    [ -f "$build/tests/test_killed.log" ] && n=$(sed -nE 's/^ok [0-9]+ - ([0-9]+) runs .*/\1/p' "$build/tests/test_killed.log" | awk '{s += $1} END {print s + 0}')
    [ "${n:-0}" -ge 200 ] || n= # a sample, as CI runs it
    row "runs killed or interrupted, no row lost" ">= 200" "KILLS=100 make test TESTS=killed" "$n" "$(at_least "$n" 200)"

    read -r n least stages < <(recorded sweep right problems)
    row "GPU: random problems that are wrong, $least a stage, $stages stages" "0 of >= 2000" "records/runs/h200-sweeps.jsonl" "$n" "$(none "$n")"
    read -r n least stages < <(recorded repeats equal runs)
    row "GPU: runs that differ, $least a stage, $stages stages" "0 of >= 250" "records/runs/h200-sweeps.jsonl" "$n" "$(none "$n")"
    n=
    [ -f "$build/tests/gpu_edges.log" ] && [ -f "$build/tests/gpu_forward.log" ] &&
        n=$(cat "$build"/tests/gpu_{edges,forward}.log | grep -c '^not ok')
    row "GPU: extremes, addresses and strides answered wrongly" "0" "make gpu-test TESTS='edges forward'" "$n" "$(none "$n")"
    n=
    [ -f "$build/tests/gpu_sanitize.log" ] && n=$(grep -c '^not ok' "$build/tests/gpu_sanitize.log")
    row "GPU: compute-sanitizer's four tools, reports" "0" "make gpu-test TESTS=sanitize" "$n" "$(none "$n")"
    n=$(sed -nE 's/^[0-9]+ counters compared, ([0-9]+) within 1 %, 0 differ$/\1/p' records/runs/h200-ncu-stages.txt | sort -n | head -n 1)
    grep -qE '^[0-9]+ counters compared, .* [1-9][0-9]* differ$' records/runs/h200-ncu-stages.txt && n=0
    row "GPU: counters within 1 % of ncu's, the fewest of a stage, none differs" ">= 20" "records/runs/h200-ncu-stages.txt: make gpu-test TESTS=ncu" "$n" "$(at_least "$n" 20)"
    n=
    [ -f "$build/tests/test_sass.log" ] && grep -q '^ok .* counts as an H200' "$build/tests/test_sass.log" && n=$(grep -cE '^not ok .* counts as an H200' "$build/tests/test_sass.log")
    row "GPU: stages whose tensor, ldmatrix, cp.async, global or shared counts the emulator has otherwise" "0" "make test TESTS=sass, beside records/runs/h200.jsonl; wavefronts and sectors, too" "$n" "$(none "$n")"
    row "known gaps of earlier notes, each with its test" "9" "by hand"
    n=$(found "$logs/ci.log" '^real[[:space:]]+([0-9]+)m.*')
    row "minutes of continuous integration, two cores" "< 30" "bash -c 'time .ci/run' 2> $logs/ci.log" "$n" "$([ -n "$n" ] && { [ "$n" -lt 30 ] && echo 1 || echo 0; })"
    row "findings of the attack whose tests were seen to fail on the old code" "8" "by hand, from git"
}
table > "$build/fortress.txt" || exit 5
awk -F '\t' -f plots/columns.awk "$build/fortress.txt"
[ $missed -eq 0 ] || exit 1
[ $unknown -eq 0 ] || exit 77
