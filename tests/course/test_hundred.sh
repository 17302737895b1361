# A class by rule is graded, killed in the middle and graded on (tests/course/class/hundred.py): 12 students, or 100 if it is named.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
needs_grader "a class by rule"
students=12
[ -z "$THOROUGH" ] || students=100
BUILD=$build "${PYTHON:-.venv/bin/python}" tests/course/class/hundred.py "${STUDENTS:-$students}"
