# Wrong kernels by rule, judged by the grader and on this GPU: none passes that the GPU calls wrong. 320 of them, or MUTANTS;
# what has not begun after 420 seconds is left out. tests/course/grade/one_token.py.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "wrong kernels by rule" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    export SANDBOX=weak # these kernels are our own
fi
BUILD=$build DEVICE=cuda SECONDS_LEFT=${SECONDS_LEFT:-420} python3 tests/course/grade/one_token.py "${MUTANTS:-320}" $LAB
