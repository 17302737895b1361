#!/bin/bash
# source on a GPU, on the fake driver and the fake CUPTI: samples of warps beside the lines, sums that add up,
# what is said where samples are refused or lost, and what an instruction keeps busy.
. tests/tap.sh

gpu() { # STAGE [VARIABLE=VALUE...] OPTIONS...
    local n=$1 setting=()
    shift
    while [[ ${1-} == *=* && $1 != --* ]]; do setting+=("$1"); shift; done
    env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$build/tests/fake" "${setting[@]}" "$build/stage-$n" --seqlen 64 --heads 1 --source "$@"
}
says() { # PATTERN STAGE ...
    local pattern=$1
    shift
    gpu "$@" > "$tap_dir/said" 2>&1
    grep -q -e "$pattern" "$tap_dir/said" || { head -5 "$tap_dir/said" | sed 's/^/# /'; return 1; }
}
# The fake has 40 samples that count at one instruction (30 of them again as "not issued"), 40 at the next, which was not counted.
check "samples, and how often they are taken" says "^stall samples by line: 70, in each SM one every [0-9]* cycles$" 1
check "beside the line: share and reason" says "42.9 long_scoreboard  *42 " 1
check "the sentence of the reason" says "long_scoreboard  waiting for data from global" 1
check "time was measured" says "measured" 1
check "what is lost is said" says "the hardware lost 5 more" 1 FAKE_CUPTI_LOSE=sample
check "a buffer that ran over is no sample" says "stall samples by line: n/a: the hardware's buffer for samples ran over" 1 FAKE_CUPTI_LOSE=samples
for f in Enable GetNumStallReasons GetStallReasons SetConfigurationAttribute Start Stop GetData Disable; do
    check "refused by cuptiPCSampling$f: counts without samples" says "stall samples by line: n/a: .*cuptiPCSampling$f" 1 FAKE_CUPTI_FAIL=cuptiPCSampling$f:35
    check "cuptiPCSampling$f: the remedy" grep -q NVreg_RestrictProfilingToAdminUsers "$tap_dir/said"
    check "cuptiPCSampling$f: the counts" grep -q "in all 42 warp instructions" "$tap_dir/said"
    check "cuptiPCSampling$f: no column" bash -c '! grep -q "issue or stall" "$1"' - "$tap_dir/said"
done

adds_up() { # CSV: what lines and no line have is the total, and of it 42 counts and 70 samples
    python3 - "$1" << 'END'
import csv, sys
sums, total, units = {}, {}, {}
for r in csv.DictReader(open(sys.argv[1])):
    units[r["name"]] = r["unit"]
    if r["of"] == "total":
        total[r["name"]] = float(r["value"])
    elif r["of"] in ("line", "no line"):
        sums[r["name"]] = sums.get(r["name"], 0) + float(r["value"])
assert total == sums, (total, sums)
assert total["instructions"] == 42 and total["stall.long_scoreboard"] == 30
assert total["stall.selected"] == 30 and total["stall.tex_throttle"] == 10, total
assert units["stall.selected"] == "samples of warps", units
END
}
gpu 1 --csv > "$tap_dir/lines.csv"
check "--csv adds up" adds_up "$tap_dir/lines.csv"
gpu 1 --quiet --json "$tap_dir/hot.jsonl"
check "--json has the same" python3 - "$tap_dir/hot.jsonl" << 'END'
import json, sys
hot = json.loads(open(sys.argv[1]).read())["hot"]
assert hot["total"]["stall.long_scoreboard"] == 30 and hot["no_line"]["stall.selected"] == 30, hot
assert hot["samples"].startswith("70, in each SM") and "clock" not in hot, hot.keys()
END

# Text and place are nvdisasm's, of the image that ran: a product that is counted keeps the tensor cores busy.
nvdisasm=$(command -v nvdisasm || ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm /usr/local/cuda/bin/nvdisasm 2> /dev/null | head -n 1)
if [ -n "$nvdisasm" ]; then
    image=$(gpu 4 | sed -n 's/^stage 4.*, image //p')
    at=$((0x$("$nvdisasm" -c "$build/images/stage-4/$image.sm_90a.cubin" | sed -n '/^\.text\.attention:/,$s!.*/\*\([0-9a-f]*\)\*/.* HMMA.*!\1!p' | head -n 1)))
    check "stage 4 has a product" [ "${at:-0}" -gt 0 ]
    busy() { gpu 4 FAKE_CUPTI_PC="$1" --csv | awk -F, '$1 == "total" && $(NF - 2) == "busy.tensor" {print $(NF - 1)}'; }
    echo "# HMMA at $at: $(busy "$at") cycles"
    check "its tensor cycles: 42 x 4096 FLOP over what the SMs do" awk -v x="$(busy "$at")" 'BEGIN {exit !(x > 0)}'
    check "nothing at an LDC" [ -z "$(busy 0)" ]
    check "--sass shows its text below the line" says "HMMA" 4 FAKE_CUPTI_PC="$at" --sass
fi
tap_done
