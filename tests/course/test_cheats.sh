# Cheats by rule have no points: kinds x labs x places (tests/course/grade/cheats_by_rule.py). One of each kind, unless it is
# named: make test TESTS=cheats tries all, as many as begin within 100 minutes.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
needs_grader "cheats by rule"
export SECONDS_LEFT=${SECONDS_LEFT:-6000}
BUILD=$build DEVICE=emu python3 tests/course/grade/cheats_table.py "${THOROUGH:-sample}"
