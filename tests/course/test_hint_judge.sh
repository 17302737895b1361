# Hints on wrong kernels by rule that are in no list (tests/course/hint_judge.tsv): each begins with what was seen, at most 2 %
# name a wrong cause, 60 % lead to the line. Of the table's mutants a sample is judged anew; make test TESTS=hint_judge judges
# all, as many as begin within an hour; HINTS=40 in the environment: so many.
# Thorough: minutes of compiling and running kernels.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "hints on wrong kernels by rule" "no nvcc here"
    tap_done
fi
number=10
[ -z "$THOROUGH" ] || number=1000000
export SECONDS_LEFT=${SECONDS_LEFT:-3600}
BUILD=$build ${PYTHON:-.venv/bin/python} tests/course/hint_judge.py "${HINTS:-$number}" $LAB
