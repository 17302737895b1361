#!/bin/bash
# Records against a file system that fails: every call that makes them safe is made, and its failure said.
. tests/tap.sh
record=$tap_dir/run.jsonl
run() { # [FAULT]
    env LD_PRELOAD="$(realpath "$build/tests/fault.so")" ${1:+"FAULT=$1"} "$build/stage-1" --device emu --heads 1 --seqlen 8 \
        --no-check --counters none --quiet --json "$record"
}
check "a record" run
before=$(cat "$record")
for call in flock fstat write fsync; do # the first of each is the record's
    status "$call fails" 5 run $call:1
    check "$call: the record before it is as it was" [ "$before" = "$(cat "$record")" ]
done
printf '{"cut' >> "$record"
check "after a cut line" run
check "it is alone on its line" [ "$(sed -n 2p "$record")" = '{"cut' ]
printf '{"cut' >> "$record"
status "a write that fails after a cut line" 5 run write:2
check "nothing but the cut line is left" [ "$(tail -n 1 "$record")" = '{"cut' ]

# Two writers: each waits for the other's line
flock "$record" sleep 1 &
sleep 0.2
start=$(date +%s%3N)
check "a file that another program holds" run
check "it waited" [ $(($(date +%s%3N) - start)) -ge 500 ]
wait
tap_done
