# The judge of the labs, as tables: wrong kernels, right ones and hints, counted from committed rows (tests/course/judge.py).
# Named, make test TESTS=judge also judges some of each anew, and cheats, and a class with hostile submissions. Of each
# section, what has not begun within $SECONDS_EACH (300) is left out.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c 'import numpy' 2> /dev/null; then
    skip "the judge's tables" "no numpy in .venv; make setup installs it"
    tap_done
fi
parts() { # a program that prints TAP: its lines become this test's
    local line status
    echo "# ${*#"$python"}"
    BUILD=$build DEVICE=emu "$@" > "$tap_dir/part" 2>&1
    status=$?
    while IFS= read -r line; do
        case $line in
            "ok "*) tap_result "${line#*- }" 1 ;;
            "not ok "*) tap_result "${line#*- }" 0 /dev/null ;;
            1..*) ;;
            *) echo "$line" ;;
        esac
    done < "$tap_dir/part"
    [ $status -eq 0 ] || grep -q '^not ok' "$tap_dir/part" || tap_result "$2 ends with status $status" 0 /dev/null
}
parts "$python" tests/course/judge.py
if [ -n "$THOROUGH" ]; then
    export SECONDS_LEFT=${SECONDS_EACH:-300}
    parts "$python" tests/course/grade/one_token.py 60
    parts "$python" tests/course/grade/other_hands.py 24 1
    parts "$python" tests/course/grade/cheats_table.py all
    parts "$python" tests/course/hostile.py
    parts "$python" tests/course/hint_judge.py 24
fi
tap_done
