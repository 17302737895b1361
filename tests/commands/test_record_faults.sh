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
held=$tap_dir/held
flock "$record" bash -c 'touch "$1"; while [ -e "$1" ]; do sleep 0.05; done' - "$held" &
until [ -e "$held" ]; do sleep 0.05; done
lines=$(wc -l < "$record")
run > /dev/null 2>&1 &
writer=$!
sleep 0.5
check "a file that another program holds: it waits" kill -0 $writer
check "and writes nothing" [ "$(wc -l < "$record")" -eq "$lines" ]
rm "$held"
check "until the other one is ready" wait $writer
check "then it writes its line" python3 -m json.tool <(tail -n 1 "$record")
wait
tap_done
