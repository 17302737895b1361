# Wrong kernels by rule: every single token of what students write, in every way that the rules have; none passes that the
# reference calls wrong (tests/course/grade/one_token.py). A sample, unless it is named: make test TESTS=one_token tries all,
# as many as begin within 100 minutes; MUTANTS=200 in the environment: so many.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "wrong kernels by rule" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "wrong kernels by rule" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
number=24
[ -z "$THOROUGH" ] || number=0
export SECONDS_LEFT=${SECONDS_LEFT:-6000}
BUILD=$build DEVICE=emu python3 tests/course/grade/one_token.py "${MUTANTS:-$number}" $LAB
