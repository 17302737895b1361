#!/bin/bash
# grade.sh: grades one submission, as $LAB, $SUBMISSION, $SEED and $DEVICE say (make grade does this): a sheet of answers
# (.json), or a kernel.
# Exit status: 2 something was not said; or that of sheet.py and grade.py.
set -u
fail() { echo "make: $1" >&2; exit 2; }
here=notebooks/course/grade
[ -n "${LAB:-}" ] && [ -n "${SUBMISSION:-}" ] || fail "grade wants LAB=number SUBMISSION=file SEED=secret"
[[ $SUBMISSION != *.json ]] || exec python3 $here/sheet.py "$LAB" "$SUBMISSION"
[ -n "${SEED:-}" ] || fail "grade wants a SEED: a word that students do not know"
exec python3 $here/grade.py --lab "$LAB" --submission "$SUBMISSION" --seed "$SEED" --device "$DEVICE" --out results/grade
