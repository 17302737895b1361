# For shell tests that run a stage on the driver of tests/fake/cuda.c: source this after tap.sh.
#
#   fake [VARIABLE=VALUE...] OPTIONS...     stage 1 on a small problem, no counters, every value
fake() {
    local setting=()
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    env LD_LIBRARY_PATH="$build/tests/fake" "${setting[@]}" \
        "$build/stage-1" --seqlen-q 33 --seqlen-k 65 --heads 2 --counters none --min-time 0 --all "$@"
}

# The same with the problem left out.
fake_bare() {
    env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-1" --counters none --min-time 0 "$@"
}
