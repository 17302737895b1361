# The grader: solutions full, skeletons and cheats not, honest variants full; tests/course/grade/run.py. A sample,
# unless it is named: make test TESTS=grade.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "the grader" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "the grader" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c 'import numpy' 2> /dev/null; then
    skip "the grader" "no numpy in .venv; make setup installs it"
    tap_done
fi
BUILD=$build "$python" tests/course/grade/run.py $THOROUGH $LAB
