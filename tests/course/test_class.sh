# One student against the class: hostile submissions among honest ones, tests/course/hostile.py. Each kind once;
# THOROUGH=all: 1,000 folders.
. tests/tap.sh
BUILD=$build python3 tests/course/hostile.py $THOROUGH
