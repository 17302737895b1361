#!/bin/bash
# Runs test programs and scripts that print TAP, as many at a time as there are cores, and adds them up.
#
#   tests/run.sh PROGRAM... [--needs-gpu=FILE]... [--left-out=FILE]...
#
# Shows one line for each, with its seconds by the clock and of CPU, every failed test with what it said, every skipped
# one with its reason, and the lines of a table that a test prints behind "#| ". Those that took longest last time begin first; a new one counts
# as long if its head says "Thorough:". $TESTS_AT_ONCE: so many at a time.
# $TESTS_KEPT: a folder that the tests of one run share, for what several would compute.
# The whole output lies in $BUILD/tests/NAME.log. The last line is "N passed, N failed, N skipped".
# A program that dies, hangs ($TEST_TIMEOUT, half an hour), runs fewer tests than it planned or leaves
# files in $TMPDIR, a folder of its own that goes with it, is one failure more.
set -u
build=${BUILD:-build}
export CMOCKA_MESSAGE_OUTPUT=TAP
# As in the Makefile: threads of OpenMP that have nothing to do sleep, and leave their core to the test beside them.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

name_of() { basename -- "$1" .sh; }

# --one FOLDER N PROGRAM: runs one of N; adds its counts to FOLDER/counts, then prints its lines without a break.
one() {
    local tmp=$1 n_programs=$2 program=$3 name log start shell='' status trouble='' p f s planned
    name=$(name_of "$program")
    log=$build/tests/$name.log
    [[ $program == *.sh ]] && shell=bash
    mkdir -p "$tmp/$name"
    start=$EPOCHSECONDS
    # In the background, so that this shell takes signals at once. Bash lets such a job ignore Ctrl-C, which env undoes;
    # timeout leads a process group of its own.
    TMPDIR=$tmp/$name env --default-signal=INT timeout "${TEST_TIMEOUT:-1800}" $shell "$program" > "$log" 2>&1 < /dev/null &
    local pid=$!
    trap 'trap "" INT TERM; kill -TERM -- -$pid; wait; exit' INT TERM
    echo $$ > "$tmp/$name.pid"
    wait $pid
    status=$?
    trap - INT TERM
    rm "$tmp/$name.pid"
    # p f s planned, counted from the TAP lines
    read -r p f s planned < <(awk '
        /^1\.\.[0-9]+/              {planned = substr($0, 4) + 0}
        /^(not )?ok .*# SKIP/       {s++; next}
        /^ok /                      {p++}
        /^not ok /                  {f++}
        END {print p + 0, f + 0, s + 0, planned + 0}' "$log")
    if [ $((p + f + s)) -eq 0 ]; then trouble="it ran no test"
    elif [ $((p + f + s)) -ne "$planned" ]; then trouble="it ran $((p + f + s)) of $planned tests"
    elif [ $status -eq 124 ]; then trouble="it took over ${TEST_TIMEOUT:-1800} s"
    elif [ $status -ne 0 ] && [ "$f" -eq 0 ]; then trouble="it left with status $status"
    elif [ -n "$(ls -A "$tmp/$name")" ]; then trouble="it left files behind: $(ls -A "$tmp/$name" | head -n 3 | tr '\n' ' ')"
    fi
    rm -rf "${tmp:?}/$name"
    [ -n "$trouble" ] && f=$((f + 1))
    local seconds=$((EPOCHSECONDS - start)) cpu
    times > "$tmp/$name.times" # not in a subshell, which has times of its own; the second line is of the children
    cpu=$(awk 'NR == 2 {gsub(/[ms]/, " "); printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4}' "$tmp/$name.times")
    echo $seconds $cpu > "$build/tests/$name.seconds"
    exec 9> "$tmp/lock"
    flock 9
    echo "$p $f $s" >> "$tmp/counts"
    printf '%3d/%d %-24s %4d passed%s%s  %ds (CPU %ds)\n' "$(wc -l < "$tmp/counts")" "$n_programs" "$name" "$p" \
        "$([ "$f" -gt 0 ] && echo ", $f FAILED")" "$([ "$s" -gt 0 ] && echo ", $s skipped")" $seconds "$cpu"
    if [ "$f" -gt 0 ]; then
        [ -n "$trouble" ] && echo "    $trouble; its last lines:" && tail -n 20 "$log" | sed 's/^/    /'
        # a failed test, what it said before (cmocka's ERROR lines) and after, up to the next result
        awk '/^not ok / && !/# SKIP/ {printf "%s    %s\n", before, $0; before = ""; after = 1; next}
             /^(not )?ok |^1\.\./    {before = ""; after = 0; next}
             after && /^#/           {print "    " $0; next}
                                     {before = before "    " $0 "\n"}' "$log"
    fi
    grep -E '^# SKIP|^ok .*# SKIP' "$log" | sed 's/^/    /'
    sed -n 's/^#| /    /p' "$log"
}
if [ "${1-}" = --one ]; then
    one "${@:2}"
    exit 0
fi

tmp=$(mktemp -d) || exit 1
xargs=
trap 'rm -rf "$tmp"' EXIT
stop() { # STATUS
    trap '' INT TERM
    kill "$xargs" 2> /dev/null
    cat "$tmp"/*.pid 2> /dev/null | xargs -r kill 2> /dev/null
    wait
    while ls "$tmp"/*.pid > /dev/null 2>&1 && kill -0 $(cat "$tmp"/*.pid) 2> /dev/null; do sleep 0.1; done
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
mkdir -p "$build/tests"
: > "$tmp/counts"
export TESTS_KEPT=$tmp/kept
mkdir "$TESTS_KEPT"
left_out=0 programs=()
for each; do
    case $each in
    --left-out=*) left_out=$((left_out + 1)) ;;
    --needs-gpu=*)
        echo "$(name_of "${each#--needs-gpu=}"): skipped (needs a GPU: make gpu-test)"
        echo "0 0 1" >> "$tmp/skipped"
        ;;
    *) programs+=("$each") ;;
    esac
done
[ $# -gt $left_out ] || { echo "run.sh: no test has that name; they are tests/*/test_NAME.* and tests/gpu/gpu_NAME.*" >&2; exit 2; }

twice=$(for each in "${programs[@]}"; do name_of "$each"; done | sort | uniq -d | head -n 1)
[ -z "$twice" ] || { echo "run.sh: two tests are called $twice, and each needs a log and a folder of its own: rename one" >&2; exit 2; }

expected() { # PROGRAM: its seconds, before it
    local seconds=0
    grep -qsE '^[#/* ]+Thorough:' "$1" && seconds=20
    read -r seconds _ 2> /dev/null < "$build/tests/$(name_of "$1").seconds"
    echo "$seconds $1"
}
for each in "${programs[@]}"; do expected "$each"; done | sort -srnk1,1 | cut -d' ' -f2- | tr '\n' '\0' |
    env --default-signal=INT xargs -0r -n1 -P "${TESTS_AT_ONCE:-$(nproc)}" "$BASH" "$0" --one "$tmp" ${#programs[@]} &
xargs=$!
wait $xargs

[ $left_out -eq 0 ] || echo "$left_out test program$([ $left_out -eq 1 ] || echo s) left out: make test THOROUGH=all runs all, some 20 minutes more"
read -r passed failed skipped < <(cat "$tmp/counts" "$tmp/skipped" 2> /dev/null | awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}')
[ "$(wc -l < "$tmp/counts")" -eq ${#programs[@]} ] || failed=$((failed + 1)) # one that was not even begun
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
