# Wrong kernels by rule: every single token of what students write, in every way that the rules have; none passes that the
# reference calls wrong (tests/course/grade/one_token.py). A sample, unless it is named: make test TESTS=one_token tries all,
# as many as begin within 100 minutes; MUTANTS=200 in the environment: so many.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
needs_grader "wrong kernels by rule"
number=24
[ -z "$THOROUGH" ] || number=0
export SECONDS_LEFT=${SECONDS_LEFT:-6000}
BUILD=$build DEVICE=emu python3 tests/course/grade/one_token.py "${MUTANTS:-$number}" $LAB
