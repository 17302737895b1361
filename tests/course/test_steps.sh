#!/bin/bash
# The steps of the course: solutions pass, skeletons and mistakes do not, and no file that students get tells (steps.py).
# Of a step's mistakes the first is tried; make test TESTS=steps tries each.
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED
. tests/tap.sh
while IFS=$'\t' read -r result name what said; do
    case $result in
    ok | "not ok")
        echo "$said" > "$tap_dir/said"
        tap_result "step $name: $what" "$([ "$result" = ok ] && echo 1 || echo 0)" "$tap_dir/said"
        ;;
    *) echo "# $result" ;;
    esac
done < <(python3 tests/course/steps.py 2>&1)
check "there were steps" test "$tap_n" -gt 60

# As a student has them: made once, kept, refused by name.
mine() { rm -f my-labs/steps/1d.py && make -s step-1d > "$tap_dir/text" && grep -q '^# 1d: ' "$tap_dir/text" && grep -q 'YOUR CODE HERE' my-labs/steps/1d.py && ! grep -q 'setdefault' my-labs/steps/1d.py; }
if [ -e my-labs/steps/1d.py ]; then
    skip "make step-1d begins a step" "my-labs/steps/1d.py is there already"
else
    check "make step-1d begins a step" mine
    rm -f my-labs/steps/1d.py
fi
enough() { python3 notebooks/course/steps/step.py 1a 2> "$tap_dir/err" | true; [ ! -s "$tap_dir/err" ] || { cat "$tap_dir/err"; false; }; }
check "a reader that has seen enough" enough
status "a step that is not there" 2 make -s step-9z
status "a file that is not there" 2 python3 notebooks/course/steps/step.py 1a --source "$tap_dir/none.py"
tap_done
