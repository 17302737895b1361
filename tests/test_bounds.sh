#!/bin/bash
# No bound lies above the cycles of a recorded H200, and most within a factor of 2: the table of tests/bounds.py.
. tests/tap.sh
table() { python3 tests/bounds.py plots/recorded/h200.jsonl; }
table > "$tap_dir/table"
check "no bound above what was measured, most within a factor of 2" table
check "of all stages" [ "$(awk '/^[1-6]-/ {print $1}' "$tap_dir/table" | sort -u | wc -l)" = 5 ]
sed 's/^/# /' "$tap_dir/table"

# Each of its rules must be able to fail.
times='import re, sys; print(re.sub(r"(\"name\": ?\"" + sys.argv[1] + r"\", ?\"value\": ?)([0-9.e+]+)", lambda m: m[1] + str(float(m[2]) * float(sys.argv[2])), sys.stdin.read()), end="")'
changed() { python3 -c "$times" "$1" "$2" < plots/recorded/h200.jsonl > "$tap_dir/changed.jsonl" && ! cmp -s plots/recorded/h200.jsonl "$tap_dir/changed.jsonl" && ! python3 tests/bounds.py "$tap_dir/changed.jsonl"; }
check "three times the wavefronts are above" changed shared_wavefronts 3
check "5 % more HMMAs are not what the tensor pipe did" changed hmma_instructions 1.05
check "the rate of mma.sync is what the records say" grep -q "says 1.00[0-9] times" "$tap_dir/table"
check "a third of the instructions issued a cycle leaves most bounds far below" changed issue_active_pct 0.3
# The emulator's bound for the schedulers is of machine code: what the H200 counted, over 132 SMs of four.
issue_bound() {
    "$build/stage-4" --device emu --no-check --no-time --counters CYCLES --quiet --json "$tap_dir/issue.jsonl" && python3 - "$tap_dir/issue.jsonl" << 'END'
import json, sys
bound = next(c["value"] for c in json.loads(open(sys.argv[1]).read())["counters"] if c["name"] == "issue_bound")
counted = [c["value"] for line in open("plots/recorded/h200.jsonl") for r in [json.loads(line)] for c in r.get("counters", [])
           if r["stage"] == "4-tuned" and r["problem"].get("text") == "B1 H8 S512 D64" and c["name"] == "instructions"]
print(bound, counted[-1] / 4 / 132)
assert abs(bound / (counted[-1] / 4 / 132) - 1) < 0.001
END
}
check "the emulator's issue bound is the hardware's instructions" issue_bound
unexplained() { changed tensor_active_pct 1.1 > "$tap_dir/table-changed"; python3 tests/bounds.py "$tap_dir/changed.jsonl" | grep -q "6-wgmma.*S4096 D128 .*NOT EXPLAINED"; }
check "a tensor pipe that is active 10 % longer than its products take is not explained" unexplained
check "every rest above 2 points has a name" [ "$(grep -c "NOT EXPLAINED" "$tap_dir/table")" = 0 ]
tap_done
