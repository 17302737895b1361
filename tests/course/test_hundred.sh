# A class by rule is graded, killed in the middle and graded on (tests/course/class/hundred.py): 12 students, or 100 if it is named.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "a class by rule" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "a class by rule" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
students=12
[ -z "$THOROUGH" ] || students=100
BUILD=$build "${PYTHON:-.venv/bin/python}" tests/course/class/hundred.py "${STUDENTS:-$students}"
