# The grader with DEVICE=cuda: solutions and skeletons of all labs, a sample of cheats and variants; tests/course/grade/run.py.
. tests/tap.sh
if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "the grader" "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
BUILD=$build DEVICE=cuda python3 tests/course/grade/run.py
