#!/bin/bash
# Every record conforms to common/harness/record.schema.json: the committed ones, and those written now.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
"$python" -c 'import jsonschema' 2> /dev/null || { skip "records conform to their schema" "no jsonschema: make setup"; tap_done; exit; }
conform() { "$python" tests/commands/records_conform.py common/harness/record.schema.json "$@"; }
refuses() { ! conform "$@"; }
mapfile -t runs < <(ls records/runs/*.jsonl | grep -v -- -choices-) # those are no runs but estimates beside times
check "the recorded runs" conform "${runs[@]}"
# The newest record of each stage on each problem says of which kernel it is, or no plot could tell that it is another.
which() { # FILE
    "$python" - "$1" << 'EOF'
import json, sys
newest = {}
for r in map(json.loads, open(sys.argv[1])):
    newest[r["stage"], r["problem"].get("text")] = r
silent = [k for k, r in newest.items() if not all("hash" in kernel for kernel in r.get("kernels", []))]
sys.exit(f"no hash: {silent}" if silent or not newest else 0)
EOF
}
check "the recorded run says of which kernels" which records/runs/h200.jsonl
sed '$!{s/, *"hash": *"[0-9a-f]*"//}' records/runs/h200.jsonl > "$tap_dir/silent.jsonl"
silent() { ! which "$tap_dir/silent.jsonl"; }
check "one that does not is seen" silent

run=$tap_dir/run.jsonl
for options in "--heads 1 --seqlen 64 --counters TENSOR,SHARED,OCCUPANCY,MEMORY,MIX,STALL,BOUND,CYCLES" \
    "--heads 1 --seqlen 64 --no-check --no-time --counters none" "--heads 1 --seqlen 64 --source --sass" "--sweep-random 2"; do
    "$build/stage-1" --device emu --quiet --json "$run" $options > /dev/null 2>&1
done
env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-1" --seqlen-q 33 --seqlen-k 65 --heads 2 --min-time 0 --quiet --json "$run" > /dev/null 2>&1
env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-6" --seqlen 64 --no-check --counters none --tune 2 --min-time 0 --quiet --json "$run" > /dev/null 2>&1
check "six records were written" [ "$(wc -l < "$run")" = 6 ]
check "what stages write, on the emulator and through a driver" conform "$run"

# What must not pass.
broken() { # NAME SED
    sed -E "$2" "$run" > "$tap_dir/broken.jsonl"
    check "refused: $1" refuses "$tap_dir/broken.jsonl"
}
broken "another schema" 's/attnlab-1/attnlab-2/'
broken "a counter without its source" 's/"source":"(emulator|model)",//'
broken "a counter with no value and no reason" 's/"na":"[^"]*"/"why":"lost"/'
broken "a field that attention does not have" 's/"batch":1,/"batch":1,"bach":1,/'
broken "a place inlined nowhere" 's/"inlined_at":-1/"inlined_at":null/'
broken "no device" 's/"device":/"devise":/'
broken "a local time" 's/(T[0-9:]*)Z"/\1"/'
tap_done
