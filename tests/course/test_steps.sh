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
# The text again, without a file; neither it nor the beginning of a step needs a build, but a check does.
again() {
    make -s step-3b ARGS=text > "$tap_dir/text" && grep -q '^# 3b: ' "$tap_dir/text" && grep -q 'Leave the // before it' "$tap_dir/text" && ! grep -q 'my-labs' "$tap_dir/text"
}
needs() { make -np step-3b "$@" 2>&1 | grep -q '^step-3b: build/run'; }
built() { mkdir -p my-labs/steps && ! needs && touch my-labs/steps/3b.cu && needs && ! needs ARGS=text; }
check "make step-3b ARGS=text" again
if [ -e my-labs/steps/3b.cu ]; then
    skip "only a check needs the emulator" "my-labs/steps/3b.cu is there already"
else
    check "only a check needs the emulator" built
    rm -f my-labs/steps/3b.cu
fi
python3 - "$tap_dir/1a.py" << 'END'
import pathlib, sys
text = pathlib.Path("notebooks/course/steps/1a/hole.py").read_text()
pathlib.Path(sys.argv[1]).write_text(text.replace("ANSWER = None", "ANSWER = 'bytes'"))
END
said() { env -u PYTHONDONTWRITEBYTECODE python3 notebooks/course/steps/step.py 1a --source "$tap_dir/1a.py" > "$tap_dir/said"; [ $? = "$1" ] && grep -q "$2" "$tap_dir/said" && awk 'length > 100 { exit 1 }' "$tap_dir/said"; }
check "a wrong answer to the question" said 1 'but bytes is not the answer'
check "and yet the diary has the step as right" grep -q '"step-1a", "result": "right", "seen": "the code is right' "$tap_dir/checks.jsonl"
sed -i 's/^ANSWER = .*/ANSWER = "arithmetic"/' "$tap_dir/1a.py"
check "the right answer, and its reason" said 0 'question is right. A byte gets'
check "what comes next" grep -q 'Next: make step-1b. The text again: make step-1a ARGS=text' "$tap_dir/said"
cp -p "$tap_dir/1a.py" "$tap_dir/right.py"
sed -i 's/max(a/min(a/' "$tap_dir/1a.py" && touch -r "$tap_dir/right.py" "$tap_dir/1a.py" # an edit of the same second
cp -p "$tap_dir/1a.py" "$tap_dir/wrong.py" && printf 'import sys\nsys.exit()\n' >> "$tap_dir/1a.py"
check "sys.exit() in a student's file is not yet right" said 1 '^not yet: .*1a.py:[0-9]*: SystemExit'
cp -p "$tap_dir/wrong.py" "$tap_dir/1a.py"
check "a check that is not yet right" said 1 'The text again: make step-1a ARGS=text'
status "a word that is none" 2 python3 notebooks/course/steps/step.py 1a txet
enough() { python3 notebooks/course/steps/step.py 1a 2> "$tap_dir/err" | true; [ ! -s "$tap_dir/err" ] || { cat "$tap_dir/err"; false; }; }
check "a reader that has seen enough" enough
status "a step that is not there" 2 make -s step-9z
status "a file that is not there" 2 python3 notebooks/course/steps/step.py 1a --source "$tap_dir/none.py"
tap_done
