# The grader: solutions full, skeletons and cheats not, honest variants full; tests/course/grade/run.py. A sample,
# unless it is named: make test TESTS=grade.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
needs_grader "the grader"
BUILD=$build "${PYTHON:-.venv/bin/python}" tests/course/grade/run.py $THOROUGH $LAB
