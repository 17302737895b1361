#!/bin/bash
# No bound lies above the cycles of a recorded H200, and most within a factor of 2: the table of tests/plots/bounds.py.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
table() { python3 tests/plots/bounds.py records/runs/h200.jsonl records/runs/h200-clock.jsonl; }
table > "$tap_dir/table"
check "no bound above what was measured, most within a factor of 2" table
check "of all stages" [ "$(awk '/^[1-6]-/ {print $1}' "$tap_dir/table" | sort -u | wc -l)" = 5 ]
sed 's/^/# /' "$tap_dir/table"

# Each of its rules must be able to fail.
times='import re, sys; print(re.sub(r"(\"name\": ?\"" + sys.argv[1] + r"\", ?\"value\": ?)([0-9.e+]+)", lambda m: m[1] + str(float(m[2]) * float(sys.argv[2])), sys.stdin.read()), end="")'
changed() { python3 -c "$times" "$1" "$2" < records/runs/h200.jsonl > "$tap_dir/changed.jsonl" && ! cmp -s records/runs/h200.jsonl "$tap_dir/changed.jsonl" && ! python3 tests/plots/bounds.py "$tap_dir/changed.jsonl"; }
check "three times the wavefronts are above" changed shared_wavefronts 3
check "5 % more HMMAs are not what the tensor pipe did" changed hmma_instructions 1.05
check "the rate of mma.sync is what the records say" grep -q "says 1.00[0-9] times" "$tap_dir/table"
check "a third of the instructions issued a cycle leaves most bounds far below" changed issue_active_pct 0.3
# The emulator's bounds are those of what the H200 counted: there MUFU has slow conversions, too, ptxas makes some
# writes to shared memory is not counted), and its largest lies below the H200's cycles.
emulated() { # stage number [factor on its bounds]
    "$build/stage-$1" --device emu --no-check --no-time --counters BOUND --quiet --json "$tap_dir/emu-$1.jsonl" && python3 - "$tap_dir/emu-$1.jsonl" "${2:-1}" << 'END'
import json, sys
emu = json.loads(open(sys.argv[1]).read())
bound = {c["name"]: c["value"] * float(sys.argv[2]) for c in emu["counters"] if "value" in c}
gpu = next(r for line in open("records/runs/h200-clock.jsonl") for r in [json.loads(line)]
           if r["stage"] == emu["stage"] and r["problem"]["text"] == emu["problem"]["text"])
counted = {c["name"]: c.get("value") for c in gpu["counters"]}
for name, of, limit in ("issue", counted["instructions"] / 4 / 132, 0.006), ("mufu", 2 * counted["mufu_instructions"] / 132, None), \
        ("shared", counted["shared_wavefronts"] / 132, 0.02 if not counted["tma_instructions"] else 0.6), ("largest", counted["cycles_elapsed"], None):
    print(f"# {emu['stage']:20} bound_{name:8} {bound['bound_' + name]:10.0f}  H200 {of:10.0f}")
    assert abs(bound["bound_" + name] / max(of, 1) - 1) <= limit if limit and of else bound["bound_" + name] <= of, name
END
}
for n in 1 2 3 4 6; do check "stage $n: the emulator's bounds are of the hardware's counts" emulated $n; done
check "bounds 2 % higher are not" [ "$(emulated 4 1.02 > "$tap_dir/higher" 2>&1 && echo equal)" = "" ]
unexplained() { changed tensor_active_pct 1.1 > "$tap_dir/table-changed"; python3 tests/plots/bounds.py "$tap_dir/changed.jsonl" | grep -q "6-wgmma.*S4096 D128 .*NOT EXPLAINED"; }
check "a tensor pipe that is active 10 % longer than its products take is not explained" unexplained
check "every rest above 2 points has a name" [ "$(grep -c "NOT EXPLAINED" "$tap_dir/table")" = 0 ]
tap_done
