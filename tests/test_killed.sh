#!/bin/bash
# Runs that are ended at any moment: no record file is damaged, and every row that was finished is
# kept. KILLS (25) of each kind; 100 before a release.
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

longest=$(run_ms)
check "$kills runs killed: records" end_runs KILL 137
check "$kills runs interrupted: records" end_runs INT 130
check "$kills runs terminated: records" end_runs TERM 143
check "$kills runs killed: output files" outputs_are_whole KILL
tap_done
