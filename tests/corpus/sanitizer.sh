#!/bin/bash
# compute-sanitizer over the corpus, on a GPU: racecheck, synccheck and memcheck of each kernel that ends by itself.
#
#   tests/corpus/sanitizer.sh [FOLDER [NAME...]]     all kernels, or those of these names, topics or families
#
# Writes FOLDER/corpus-sanitizer.txt (kernel, racy or right, tool, verdict; default folder: results) and the whole
# output beside it, and prints a table by topic. Needs python3 and what `make corpus` builds. JOBS=16 processes at a
# time, LIMIT=30 seconds for each.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build} folder=${1:-results}
shift $(($# > 0))
sanitizer=$(command -v compute-sanitizer || ls -d /usr/local/cuda*/bin/compute-sanitizer 2> /dev/null | head -n 1)
[ -n "$sanitizer" ] || { echo "sanitizer.sh: there is no compute-sanitizer: install the CUDA toolkit" >&2; exit 77; }
[ -x "$build/tests/corpus-launch" ] || { echo "sanitizer.sh: $build/tests/corpus-launch is not there: make corpus" >&2; exit 5; }
nvidia-smi -L 2> /dev/null | head -n 1
mkdir -p "$folder" && exec python3 tests/corpus/sanitizer.py "$sanitizer" "$build" "$folder" "$@"
