#!/bin/bash
# Runs every fuzzer, or those in $FUZZERS, for $FUZZ_SECONDS, from its seeds and from what earlier runs found:
# `make fuzz`. With $FUZZ_PROCESSES above 1, so many processes share what they find and go on after a finding.
. tests/tap.sh
limits=(-timeout=1)
[ "${FUZZ_PROCESSES:-1}" -gt 1 ] &&
    limits=(-timeout=10 -fork="$FUZZ_PROCESSES" -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1)
fuzz() { # NAME
    local name=$1 corpus=$build/corpus/$1 n=0 seeds where=()
    mkdir -p "$corpus"
    # what earlier runs found, inputs one after the other, each ended by a line of %%
    [ -f "tests/fuzz/seeds/$name.corpus.gz" ] && zcat "tests/fuzz/seeds/$name.corpus.gz" | awk -v folder="$corpus" 'BEGIN {n = 1}
        /^%%$/ {close(folder "/seed-" n++); next} {print > (folder "/seed-" n)}'
    # the same of what is no text, a line each
    [ -f "tests/fuzz/seeds/$name.base64" ] && while read -r line; do n=$((n + 1)); base64 -d <<< "$line" > "$corpus/seed-$n"; done < "tests/fuzz/seeds/$name.base64"
    seeds=$(sed -n 's/.*seeds: \([^*]*\) \*\/.*/\1/p' "tests/fuzz/fuzz_$name.c")
    for seed in $seeds; do [ -d "$seed" ] && where+=("$seed"); done
    rm -f "$build/crash-$name-"*
    "$build/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-60}" -rss_limit_mb=2048 -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$build/crash-$name-" "${limits[@]}" \
        "$corpus" "${where[@]}" > "$build/fuzz_$name.log" 2>&1 &&
        ! ls "$build/crash-$name-"* 2> /dev/null | grep -v slow-unit ||
        { grep -E 'ERROR|SUMMARY|runtime error|Test unit' "$build/fuzz_$name.log"; return 1; }
}
fuzzed() { # NAME
    check "fuzz $1" fuzz "$1"
    sed -n 's/^stat::number_of_executed_units: */# runs: /p' "$build/fuzz_$1.log" | tail -1
}
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    [[ -z ${FUZZERS:-} || " $FUZZERS " = *" $name "* ]] || continue
    if [ "${FUZZ_PROCESSES:-1}" -gt 1 ]; then fuzzed "$name"; else later fuzzed "$name"; fi
done
tap_done
