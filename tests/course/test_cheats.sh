# Cheats by rule have no points: kinds x labs x places (tests/course/grade/cheats_by_rule.py). One of each kind, unless it is
# named: make test TESTS=cheats tries all, as many as begin within 100 minutes.
# Thorough: minutes of compiling, grading and running kernels.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "cheats by rule" "no nvcc here"
    tap_done
fi
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "cheats by rule" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
export SECONDS_LEFT=${SECONDS_LEFT:-6000}
BUILD=$build DEVICE=emu python3 tests/course/grade/cheats_table.py "${THOROUGH:-sample}"
