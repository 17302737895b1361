#!/bin/bash
# Runs that are ended at any moment: no record file is damaged, and every row that was finished is
# kept. Whatever draws, writes a page or grades leaves its files whole or not at all. KILLS (25) of
# each kind of run, an eighth of that of each other program and signal; 100 before a release.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
kills=${KILLS:-25}
records=$tap_dir/records.jsonl

run() { # in the background, on the pretended driver of tests/fake
    env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-1" --seqlen 16 --heads 1 --counters none \
        --min-time 0 --quiet --json "$records" > /dev/null 2>&1 &
}

# The longest of three runs, in ms: within it, a run is caught at any of its moments.
run_ms() {
    local start end longest=1
    for _ in 1 2 3; do
        start=$(date +%s%3N)
        run
        wait $!
        end=$(date +%s%3N)
        [ $((end - start)) -gt $longest ] && longest=$((end - start))
    done
    echo $longest
}
nap() { sleep "$(printf '0.%03d' $((RANDOM % (longest < 999 ? longest : 999))))"; }

# SIGNAL EXPECTED-STATUS: ends $kills runs at random; those that are over by then must be right
end_runs() {
    local n status finished=0
    rm -f "$records"
    for ((n = 0; n < kills; n++)); do
        run
        nap
        kill "-$1" $! 2> /dev/null
        wait $! 2> /dev/null
        status=$?
        case $status in
        0) finished=$((finished + 1)) ;;
        "$2") ;;
        *) echo "run $n left with status $status"; return 1 ;;
        esac
    done
    run # one that nobody ends: the file can still be appended to
    wait $! || return 1
    [ $finished -lt "$kills" ] || { echo "no run was caught in the act"; return 1; }
    whole "$records" $((finished + 1)) "$kills"
}

# FILE FINISHED KILLED: at least FINISHED whole records, at most KILLED cut lines, none of them
# joined
whole() {
    python3 - "$@" <<'PYTHON'
import json, sys
whole = cut = 0
for line in open(sys.argv[1]):
    try:
        whole += json.loads(line)["schema"].startswith("attnlab-")
    except ValueError:
        cut += 1
print(f"{whole} whole records, {cut} cut lines; {sys.argv[2]} runs finished")
sys.exit(not (whole >= int(sys.argv[2]) and cut <= int(sys.argv[3])))
PYTHON
}

# SIGNAL: output files of interrupted runs are whole or absent
outputs_are_whole() {
    local n
    for ((n = 0; n < kills; n++)); do
        rm -f "$tap_dir/o.npy"
        env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-1" --seqlen 64 --heads 2 --counters none \
            --no-time --quiet --out "$tap_dir/o.npy" > /dev/null 2>&1 &
        nap
        kill "-$1" $! 2> /dev/null
        wait $! 2> /dev/null
        [ ! -e "$tap_dir/o.npy" ] || [ "$(stat -c %s "$tap_dir/o.npy")" -eq $((128 + 2 * 64 * 64 * 2)) ] ||
            { echo "o.npy has $(stat -c %s "$tap_dir/o.npy") bytes"; return 1; }
    done
}

# ---- Programs that write several files: each is whole, or is not there under its name

tree=$tap_dir/tree
mkdir "$tree" && ln -s "$PWD/plots" "$PWD/records" "$PWD/stages" "$PWD/profiler" "$tree" && ln -s "$(realpath "$build")" "$tree/build"
out=$tree/results
page() { mkdir -p "$out" && "$python" plots/report.py --pictures "$tap_dir" --records records/runs/h200.jsonl --problem "B4 H16 S4096 D128" --out "$out/page.html"; }
sweep() { stages/5-wgmma/sweep/draw.sh records/runs/h200-stage-5.jsonl results; }
compare() { RECORDED=h200 TERM='' plots/compare.sh stages/1-scalar; }
grader() { python3 "$OLDPWD/notebooks/course/grade/grade.py" --lab 1 --submission "$OLDPWD/stages/1-scalar/kernel.cu" --seed kills --jobs 1 --out "$out"; }
python=$PWD/${PYTHON:-.venv/bin/python}

# PROGRAM: in a session of its own, so that the signal reaches whatever it started, as Ctrl-C does
start_program() {
    (cd "$tree" && export -f "$1" && export out python tap_dir OLDPWD && exec setsid env --default-signal=INT bash -c "$1") > "$tap_dir/said" 2>&1 &
}
files_are_whole() {
    python3 - "$out" <<'PYTHON'
import json, os, sys
ends = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>", ".html": b"</html>", ".json": b"}", ".xml": b">"}
n = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        end = ends.get(os.path.splitext(name)[1])
        if not end or "." in os.path.basename(folder): continue
        n += 1
        if not open(os.path.join(folder, name), "rb").read().rstrip().endswith(end): sys.exit(f"{name} is not whole")
print(f"{n} files")
PYTHON
}
# PROGRAM N: killed, interrupted and terminated N times each
end_program() {
    local n signal start ms caught=0
    rm -rf "$out"
    start=$(date +%s%3N)
    start_program "$1"
    wait $! || { cat "$tap_dir/said"; return 1; }
    ms=$(($(date +%s%3N) - start))
    files_are_whole | grep -q '^[1-9]' || { echo "it writes nothing to look at"; return 1; }
    for signal in KILL INT TERM; do
        for ((n = 0; n < $2; n++)); do
            [ $((n % 2)) -eq 0 ] && rm -rf "$out" # over old files, and where there are none
            start_program "$1"
            sleep "$(printf '%d.%03d' $((RANDOM % ms / 1000)) $((RANDOM % 1000 % ms)))"
            kill "-$signal" -- -$! 2> /dev/null && caught=$((caught + 1))
            wait $! 2> /dev/null
            files_are_whole || return 1
        done
    done
    [ $caught -gt 0 ] || { echo "none was caught in the act"; return 1; }
}

longest=$(run_ms)
check "$kills runs killed: records" end_runs KILL 137
check "$kills runs interrupted: records" end_runs INT 130
check "$kills runs terminated: records" end_runs TERM 143
check "$kills runs killed: output files" outputs_are_whole KILL
some=$((kills < 8 ? 1 : kills / 8))
for program in compare sweep page; do
    if [ $program = page ] && ! "$python" -c 'import jinja2' 2> /dev/null; then
        skip "pages of make report" "no jinja2: make setup"
    elif [ $program != page ] && ! command -v gnuplot > /dev/null; then
        skip "pictures of $program" "no gnuplot: make setup"
    else
        check "$((3 * some)) runs of $program ended: files" end_program $program $some
    fi
done
if [ "$kills" -ge 50 ]; then check "$((3 * some)) runs of the grader ended: files" end_program grader $some; fi
tap_done
