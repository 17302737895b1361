# Hints on wrong kernels by rule that are in no list (tests/course/hint_judge.py): each begins with what was seen, at most 2 %
# name a wrong cause, 60 % lead to the line. A sample, unless it is named: make test TESTS=hint_judge judges 300 hints, as many
# as begin within an hour; HINTS=40 in the environment: so many.
# Thorough: minutes of compiling and running kernels.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "hints on wrong kernels by rule" "no nvcc here"
    tap_done
fi
number=10
[ -z "$THOROUGH" ] || number=300
export SECONDS_LEFT=${SECONDS_LEFT:-3600}
BUILD=$build ${PYTHON:-.venv/bin/python} tests/course/hint_judge.py "${HINTS:-$number}" $LAB
