# Right kernels by another hand, made by rule: other loops, barriers, layouts of warps, functions, words. Each has all points
# but for time (tests/course/grade/other_hands.py). A sample, unless it is named: make test TESTS=other_hands tries 204 on 20
# seeds each, as many as begin within 100 minutes; VARIANTS=30 SEEDS=3 in the environment: so many; SEEDS=some:
# each on some cases of one seed.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
needs_grader "right kernels by another hand"
variants=6 seeds=1
[ -z "$THOROUGH" ] || variants=204 seeds=20
export SECONDS_LEFT=${SECONDS_LEFT:-6000}
BUILD=$build DEVICE=emu python3 tests/course/grade/other_hands.py "${VARIANTS:-$variants}" "${SEEDS:-$seeds}" $LAB
