#!/bin/bash
# Runs test programs and scripts that print TAP, one after the other, and adds them up.
#
#   tests/run.sh PROGRAM... [--needs-gpu=FILE]... [--left-out=FILE]...
#
# Shows one line for each, every failed test with what it said, every skipped one with its reason, and
# the lines of a table that a test prints behind "#| ";
# the whole output lies in $BUILD/tests/NAME.log. The last line is "N passed, N failed, N skipped".
# A program that dies, hangs ($TEST_TIMEOUT, half an hour), runs fewer tests than it planned or leaves
# files in $TMPDIR, a folder of its own that goes with it, is one failure more.
set -u
build=${BUILD:-build}
export CMOCKA_MESSAGE_OUTPUT=TAP
passed=0 failed=0 skipped=0
mkdir -p "$build/tests"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
left_out=0 n=0 programs=()
for each; do [[ $each == --left-out=* ]] && left_out=$((left_out + 1)) || programs+=("$each"); done
set -- "${programs[@]}"
[ $# -gt 0 ] || { echo "run.sh: no test has that name; they are tests/*/test_NAME.* and tests/gpu/gpu_NAME.*" >&2; exit 2; }

n_programs=$(printf '%s\n' "$@" | grep -vc '^--needs-gpu=')
for program in "$@"; do
    name=$(basename -- "$program" .sh)
    if [[ $program == --needs-gpu=* ]]; then
        name=$(basename "${program#--needs-gpu=}")
        echo "$name: skipped (needs a GPU: make gpu-test)"
        skipped=$((skipped + 1))
        continue
    fi
    n=$((n + 1))
    log=$build/tests/$name.log
    start=$SECONDS
    shell=
    [[ $program == *.sh ]] && shell=bash
    mkdir -p "$tmp/$name"
    TMPDIR=$tmp/$name timeout "${TEST_TIMEOUT:-1800}" $shell "$program" > "$log" 2>&1 < /dev/null
    status=$?
    # p f s planned, counted from the TAP lines
    read -r p f s planned < <(awk '
        /^1\.\.[0-9]+/              {planned = substr($0, 4) + 0}
        /^(not )?ok .*# SKIP/       {s++; next}
        /^ok /                      {p++}
        /^not ok /                  {f++}
        END {print p + 0, f + 0, s + 0, planned + 0}' "$log")
    trouble=
    if [ $((p + f + s)) -eq 0 ]; then trouble="it ran no test"
    elif [ $((p + f + s)) -ne "$planned" ]; then trouble="it ran $((p + f + s)) of $planned tests"
    elif [ $status -eq 124 ]; then trouble="it took over ${TEST_TIMEOUT:-1800} s"
    elif [ $status -ne 0 ] && [ "$f" -eq 0 ]; then trouble="it left with status $status"
    elif [ -n "$(ls -A "$tmp/$name")" ]; then trouble="it left files behind: $(ls -A "$tmp/$name" | head -n 3 | tr '\n' ' ')"
    fi
    rm -rf "${tmp:?}/$name"
    [ -n "$trouble" ] && f=$((f + 1))
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    printf '%3d/%d %-24s %4d passed%s%s  %ds\n' "$n" "$n_programs" "$name" "$p" "$([ "$f" -gt 0 ] && echo ", $f FAILED")" \
        "$([ "$s" -gt 0 ] && echo ", $s skipped")" $((SECONDS - start))
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
done

[ $left_out -eq 0 ] || echo "$left_out test program$([ $left_out -eq 1 ] || echo s) left out: make test THOROUGH=all runs all, some 20 minutes more"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
