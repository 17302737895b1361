# A lab's check refuses what the grader refuses, and hints ask about what was seen (tests/course/check_words.py).
# Thorough: it compiles and runs kernels for two minutes, and make test leaves it out.
. tests/tap.sh
needs_grader "what a check says"
BUILD=$build "${PYTHON:-.venv/bin/python}" tests/course/check_words.py
