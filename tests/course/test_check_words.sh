# A lab's check refuses what the grader refuses, and hints ask about what was seen (tests/course/check_words.py).
# Thorough: it compiles and runs kernels for two minutes, and make test leaves it out.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "what a check says" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "what a check says" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c 'import numpy' 2> /dev/null; then
    skip "what a check says" "no numpy in .venv; make setup installs it"
    tap_done
fi
BUILD=$build "$python" tests/course/check_words.py
