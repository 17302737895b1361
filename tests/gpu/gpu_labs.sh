# The labs with DEVICE=cuda: solutions, skeletons, mistakes and their hints (tests/course/labs.py), and the notebooks with their
# answers, where stages run on the GPU. Two mistakes a lab; all of them where it is named: make gpu-test TESTS=labs.
. tests/tap.sh
. tests/course/labs.sh
unset MAKEFLAGS MFLAGS # of the make that runs this
export PYTHON=${PYTHON:-.venv/bin/python} DEVICE=cuda
if ! $PYTHON -c 'import jupytext, nbclient' 2> /dev/null; then
    skip labs "no jupytext and nbclient; make setup installs them"
    tap_done
fi
labs_tried $THOROUGH
check "mistakes were tried" test $tap_n -gt 40

notebook() { LAB_DEVICE=cuda $PYTHON notebooks/course/execute.py "notebooks/course/$1/lab-$1.py"; }
for n in 0 1 2 3 4 5 6; do check "lab $n's notebook" notebook $n; done
tap_done
