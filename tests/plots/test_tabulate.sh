#!/bin/bash
# What the plots are drawn from: columns and tabulate over records, good and odd ones.
. tests/tap.sh
dir=$tap_dir/work
mkdir "$dir"
long=$(head -c 9000000 /dev/zero | tr '\0' x) # more than a stack
record() { # TIME NAME US PROBLEM
    printf '{"schema": "attnlab-1.0", "time": "%s", "stage": "1-scalar", "revision": "abc", "problem": {"seqlen_q": 1,
        "text": "%s"}, "device": {"kind": "cuda", "name": "%s", "chip": "GH100", "driver": "1", "toolkit": "13.0",
        "clock_mhz_after": 1000}, "samples": {"n": 3, "median_us": %s, "tflops": 270.336, "l2": "warm"},
        "counters": [{"name": "bank_conflict_pct", "na": "not \\"here\\""}]}' "$1" "$4" "$2" "$3" | tr -d '\n'
    echo
}
{
    record 2025-12-31 "Gerät" 8.5 "B1"
    record 2026-01-02 "Gerät" 7.5 "B1"
    record 2026-01-01 "Gerät" 9.5 "B1"
    record 2026-01-03 "$long" 5 "B2"
    printf '{"schema": "attnlab-1.0", "st'
} > "$dir/run.jsonl"

same() { # EXPECTED COMMAND...
    local expected=$1
    shift
    "$@" > "$dir/got" && diff <(printf '%b' "$expected") "$dir/got"
}
columns() { "$build/columns" "$dir/run.jsonl" "$@"; }
check "columns: values, what is missing, and text whole" same \
    '# problem.text samples.median_us samples.iqr_us device.name\nB1 8.5 - Gerät\nB1 7.5 - Gerät\nB1 9.5 - Gerät\n' \
    columns problem.text=B1 -- problem.text samples.median_us samples.iqr_us device.name
check "columns: a counter by its name" same '# counters.bank_conflict_pct\n-\n' \
    columns problem.text=B2 -- counters.bank_conflict_pct
status "columns: no columns" 2 columns problem.text=B1
status "columns: none behind --" 2 columns problem.text=B1 --
# names are whole, however long, and of the first that has them
x=$(head -c 300 /dev/zero | tr '\0' x)
printf '{"schema": "attnlab-1.0", "time": "1", "stage": "s", "%s": {"%s": 5}, "yes": true, "no": false, "real": 0.1234567,
    "counters": [{"value": 7}, {"name": "ab", "value": 3}, {"name": "a", "value": 4}, {"name": "a", "value": 9}, {"name": "none"}],
    "kernels": [{"name": "k", "registers": 40}], "text": "a b\\tc%s"}' "$x" "$x" "$x" | tr -d '\n' > "$dir/odd.jsonl"
odd() { "$build/columns" "$dir/odd.jsonl" "$@"; }
check "columns: counters and kernels by their names" same "# counters.a counters.ab counters.abc kernels.k.registers\n4 3 - 40\n" \
    odd counters.ab=3 -- counters.a counters.ab counters.abc kernels.k.registers
check "columns: numbers and truths" same "# yes no real yes.a counters\n1 0 0.123457 - -\n" odd yes=1 -- yes no real yes.a counters
check "columns: long names and texts" same "# $x.$x ${x}x text\n5 - a_b_c$x\n" odd "$x.$x=5" "text=a_b_c$x" -- "$x.$x" "${x}x" text
check "columns: other values" same "# yes\n" odd "$x.$x=5" no=1 -- yes
thirty() { (ulimit -v 200000; columns problem.text=B2 -- device.name{,,,,,}{,,,,}) | wc -c; } # of 9 MB each
check "columns: memory for one text" [ "$(thirty)" -gt 270000000 ]
full_disk "columns: a full disk" bash -c "'$build/columns' '$dir/odd.jsonl' -- text > '$full'"
status "columns: no such file" 5 "$build/columns" "$dir/none.jsonl" -- stage

tabulate() { "$build/tabulate" --out "$dir" --stages "1-scalar 2-wmma-qk" "$@"; }
check "tabulate" tabulate --problem B1 "here=$dir/run.jsonl"
# 270.336 TFLOPS are half of what 132 SMs give at 1000 MHz with 4096 FLOP a clock
check "the newest record is in the table, - for what is missing" grep -qE '^1 1-scalar 7.5 - 270.336 50( -)+ 27.3205$' "$dir/table.txt"
check "a stage without a record" grep -qE '^2 2-wmma-qk( -)+$' "$dir/table.txt"
check "what is missing has a note" grep -qxF '0 2 time_us "no record of this stage on this problem"' "$dir/notes.txt"
check "no quote gets into a note" grep -qxF "0 1 bank_conflict_pct \"not 'here'\"" "$dir/notes.txt"
check "the series has its pedigree" grep -qxF \
    '"here" "here: Gerät, 1000 MHz after, driver 1, CUDA 13.0, revision abc, 2026-01-02, n = 3, L2 warm" measured' "$dir/labels.txt"
check "tabulate: a name longer than its line" tabulate --problem B2 "here=$dir/run.jsonl"
check "the newest problem" same 'B2\n' "$build/tabulate" --print-problem "$dir/run.jsonl"
sed -i 's/"kind": "cuda"/"kind": "emulator"/; s/"samples".*"l2": "warm"}, *//' "$dir/run.jsonl"
check "tabulate: the emulator's records" tabulate --problem B1 "here=$dir/run.jsonl"
check "say why they have no time" grep -qxF '0 1 launch_us "not collected"' "$dir/notes.txt"
cp "$dir/run.jsonl" "$dir/unpredicted.jsonl"
sed -i 's/"problem": {/&"flops": 270336, /; s/"counters": \[/&{"name": "duration_us", "value": 2, "validated": "h200: so so"}, {"name": "mean_clock_mhz", "value": 500}, /' "$dir/run.jsonl"
check "tabulate: predictions" tabulate --problem B1 "here=$dir/run.jsonl"
# 270336 FLOP in 2 us are 0.135168 TFLOPS, at 500 MHz half a thousandth of 132 SMs' peak
check "a predicted time, its rate and share of the peak" grep -q '^1 1-scalar - - - - 2 0.135168 0.05 - - ' "$dir/table.txt"
check "say that they are, and how good" grep -qF "what depends on time is predicted (h200: so so)" "$dir/labels.txt"
mv "$dir/unpredicted.jsonl" "$dir/run.jsonl"
sed -i 's/"kind": "emulator"/"kind": "cuda"/' "$dir/run.jsonl"
tabulate --problem B1 "here=$dir/run.jsonl"
check "others say that they were not timed" grep -qxF '0 1 time_us "not timed"' "$dir/notes.txt"
# Percents: of the peak at the clock that was counted, of what the fastest instruction of the kernel reached, of the data sheet.
printf '"WGMMA, loaded, at 1501 MHz," flop 900\n"mma.sync, loaded, at 1676 MHz," flop 600\n"FP32 FMA, loaded, at 1978 MHz," flop 60\n' > "$dir/ceilings"
percents() { # HMMA HGMMA: columns peak_pct, ceiling_pct and datasheet_pct at 270.336 TFLOPS, 500 MHz counted
    record 2026-01-04 Gerät 5 "B3" | sed 's/"l2"/"clock_mhz": 500, "l2"/; s/"na": "not[^}]*}/"na": "x"}, {"name": "hmma_instructions", "value": '"$1"'}, {"name": "hgmma_instructions", "value": '"$2"'}/' > "$dir/percents.jsonl"
    tabulate --ceilings "$dir/ceilings" --problem B3 "here=$dir/percents.jsonl" && awk '$2 == "1-scalar" {print $6, $(NF - 1), $NF}' "$dir/table.txt"
}
check "of peak at the counted clock, of WGMMA reached, of the data sheet" same '100 30.0373 27.3205\n' percents 7 8
check "of mma.sync reached" same '100 45.056 27.3205\n' percents 7 0
check "of FMA reached" same '100 450.56 27.3205\n' percents 0 0
check "of WGMMA, by one instruction" same '100 30.0373 27.3205\n' percents 7 1
check "of mma.sync, by one instruction" same '100 45.056 27.3205\n' percents 1 0
sed -i 's/\(FP32 FMA.*flop\) 60/\1 1/' "$dir/ceilings"
check "of FMA of 1 TFLOPS" same '100 27033.6 27.3205\n' percents 0 0
sed -i '/FP32 FMA/d' "$dir/ceilings"
check "of nothing that was reached" same '100 - 27.3205\n' percents 0 0
check "says so" grep -qxF '0 1 ceiling_pct "make ceilings has not measured this chip"' "$dir/notes.txt"
reaches() { # what ceilings.sh makes of a table of make ceilings
    mkdir -p "$dir/tree/chips/ceilings" && cp chips/ceilings/h200.txt "$dir/tree/chips/ceilings/" && (cd "$dir/tree" && "$OLDPWD/plots/ceilings.sh" h200 1980)
}
check "ceilings.sh names what was reached, and the clock" grep -qE '^"WGMMA, loaded, at [0-9]+ MHz," flop [0-9.]+$' <(reaches)
check "and no rate that is none of FLOP or bytes of DRAM and L2" [ "$(reaches | grep -cE 'copy|shared|ex2|launch')" = 0 ]
# Which kernel it was: a record's, and the one built beside tabulate
here=$dir/here
mkdir -p "$here/images/stage-1"
cp "$build/tabulate" "$here/"
cp "$build"/images/stage-1/d64.compute_89.ptx "$here/images/stage-1/"
rm -f "$dir/kernel.jsonl"
"$build/stage-1" --device emu --seqlen 32 --heads 1 --no-check --no-time --counters none --quiet --json "$dir/kernel.jsonl" > /dev/null
another() { # VALUE: the column in stage 1's row, the third from behind
    "$here/tabulate" --out "$dir" --stages 1-scalar --problem "B1 H1 S32 D64" "here=$dir/kernel.jsonl" &&
        grep -qE "^1 1-scalar .* $1 \S+ \S+\$" "$dir/table.txt"
}
ptx=$here/images/stage-1/d64.compute_89.ptx
check "the record's kernel is the one built here" another 0
sed -i 's/^\t\.loc\t1 /&1/; 2i // a comment' "$ptx"
check "a comment and other line numbers leave it that" another 0
sed -i '0,/add.s32/s//sub.s32/' "$ptx"
check "another instruction does not" another 1
check "the pedigree says so" grep -qF 'hatched: another kernel than here' "$dir/labels.txt"
rm "$ptx"
check "a kernel that is not built is not judged" another -

# Everything that a record can have, and lack
whole=$dir/whole.jsonl
row() { # TIME STAGE PROBLEM DEVICE SAMPLES COUNTERS KERNELS
    printf '{"schema": "attnlab-1.0", "time": "%s", "revision": "r%s", "stage": "%s", "problem": {%s}, "device": {%s}, "samples": {%s},
        "counters": [%s], "kernels": [%s]}' "$1" "$1" "$2" "$3" "$4" "$5" "$6" "$7" | tr -d '\n'
    echo
}
board='"kind": "cuda", "name": "NVIDIA H200", "chip": "GH100", "driver": "5", "toolkit": "13.0"'
emulator='"kind": "emulator", "name": "emulator (l4)", "chip": "AD10x", "toolkit": "13.0"'
attention='"seqlen_q": 1, "text": "B1", "flops": 270336'
{
    row 2 1-a "$attention" "$board, \"clock_mhz_after\": 1980" '"n": 9, "median_us": 5, "iqr_us": 0.5, "tflops": 270.336, "l2": "cold"' '{"name": "bank_conflicts", "value": 1}' '{"grid": [6, 5, 4]}, {"grid": [1, 1, 1]}'
    row 3 2-b "$attention" "$board, \"clock_mhz_after\": 1000" '"n": 4, "median_us": 1, "iqr_us": 0.5, "tflops": 270.336' '' ''
    row 3 2-b "$attention" "$board, \"clock_mhz_after\": 1000" '"n": 4, "median_us": 6, "iqr_us": 0.5, "tflops": 270.336' '' '{"grid": [7]}'
    row 4 3-c '"text": "B1"' "$board" '"tflops": 1' '' '{"grid": [0, 1, 1]}'
    row 5 4-d "$attention" "$emulator" '' '{"name": "duration_us", "value": 2}, {"name": "mean_clock_mhz", "na": "unclear"}' ''
    row 6 5-e "$attention" "${board/GH100/XX}, \"clock_mhz_after\": 1" '"n": 5, "median_us": 6, "tflops": 1' '{"name": "dram_bytes"}, {"name": "l2_read_sectors", "value": 3, "validated": "so"}' ''
    row 1 7-g "$attention" "$board, \"clock_mhz_after\": 1000" '"n": 6, "median_us": 4' '{"name": "hmma_instructions", "value": 1}' '{"grid": [1, 1, 1]}'
    printf '{"cut'
} > "$whole"
status "a cut last line is told" 0 "$build/tabulate" --out "$dir" --problem B1 --stages 1-a "it=$whole"
check "by file and line" grep -q "^tabulate: $whole:8: no whole record, left out" "$tap_dir/err"
status "with --strict it is a failure" 5 "$build/tabulate" --strict --out "$dir" --problem B1 --stages 1-a "it=$whole"
status "columns tells it, too" 0 "$build/columns" "$whole" -- stage
check "by file and line, too" grep -q "^columns: $whole:8: no whole record, left out" "$tap_dir/err"
status "and fails with --strict" 5 "$build/columns" --strict "$whole" -- stage
tabulate --problem B1 --stages "7-g 1-a 2-b 3-c 4-d 5-e 6-f" "NVIDIA H200=$whole" "it=$whole" 2> /dev/null
dashes() { printf ' -%.0s' $(seq "$1"); }
expected() {
    for label in "NVIDIA H200" it; do
        echo "# $label"
        echo "number stage time_us iqr_us tflops peak_pct launch_us launch_tflops launch_peak_pct tensor_active_pct tensor_bound_pct tensor_instructions bank_conflicts bank_conflict_pct occupancy_theoretical_pct occupancy_achieved_pct ctas flops dram_bytes l2_read_sectors stall_selected stall_not_selected stall_math_pipe stall_wait stall_gmma stall_barrier stall_short_scoreboard stall_mio stall_long_scoreboard stall_lg stall_branch stall_no_instruction stall_dispatch another_kernel ceiling_pct datasheet_pct"
        echo "7 7-g 4$(dashes 13) 1 270336$(dashes 18)"
        # 270.336 TFLOPS are half of 132 SMs' at 1000 MHz, 25.2525 % at 1980
        echo "1 1-a 5 0.5 270.336 25.2525$(dashes 6) 1 - - - 120 270336$(dashes 17) 27.3205"
        echo "2 2-b 6 0.5 270.336 50$(dashes 11) 270336$(dashes 17) 27.3205"
        echo "3 3-c - - 1$(dashes 30) 0.101061"
        echo "4 4-d - - - - 2 0.135168$(dashes 9) 270336$(dashes 18)"
        echo "5 5-e 6 - 1$(dashes 12) 270336 - 3$(dashes 16)"
        echo "6 6-f$(dashes 34)"
        printf '\n\n'
    done
}
check "the table, to the letter" diff <(expected) "$dir/table.txt"
note() { check "a note: $1" grep -qxF "$1" "$dir/notes.txt"; }
note '0 3 time_us "not an attention kernel"'
note '1 3 peak_pct "the SM clock is not known"'
note '0 4 time_us "predicted is one launch alone, not launches back to back"'
note '0 4 launch_peak_pct "the SM clock is not known"'
note '0 5 peak_pct "the peak of this chip is not known"'
note '0 5 dram_bytes "no value"'
note '0 2 ctas "no launch in the record"'
note '0 3 ctas "no launch in the record"'
note '0 3 flops "not an attention kernel"'
note '0 6 iqr_us "no record of this stage on this problem"'
note '0 6 ctas "no record of this stage on this problem"'
note '0 5 iqr_us "not timed"'
for percent in peak ceiling datasheet; do note "0 7 ${percent}_pct \"not timed\""; done
for percent in ceiling datasheet; do note "1 4 ${percent}_pct \"predicted is one launch alone, not launches back to back\""; done
note '0 1 ceiling_pct "not collected"'
note '0 1 another_kernel "the record does not say which kernel it was"'
check "two notes of no series are the last" same '-1 0 none ""\n-1 0 none ""\n' tail -n 2 "$dir/notes.txt"
check "as many notes as there is nothing" [ "$(wc -l < "$dir/notes.txt")" -eq $(($(grep -o ' -' "$dir/table.txt" | wc -l) + 3)) ]
check "labels" same 'label pedigree kind\n"NVIDIA H200" "NVIDIA H200, 1 to 1980 MHz after, driver 5, CUDA 13.0, revision r1, r2, r3, r4, r5, r6, 6; what depends on time is predicted (so), n = 4 to 9, L2 " measured\n"it" "it: NVIDIA H200, 1 to 1980 MHz after, driver 5, CUDA 13.0, revision r1, r2, r3, r4, r5, r6, 6; what depends on time is predicted (so), n = 4 to 9, L2 " measured\n' cat "$dir/labels.txt"
head -n 1 "$whole" > "$dir/one.jsonl"
row 9 5-w '"text": "N64"' "$emulator" '' '' '' >> "$dir/one.jsonl"
check "the newest attention problem" same 'B1\n' "$build/tabulate" --print-problem "$dir/one.jsonl"
check "its device" same 'NVIDIA H200\n' "$build/tabulate" --print-device "$dir/one.jsonl"
check "its chip" same 'h200 1980 132\n' "$build/tabulate" --print-chip "$dir/one.jsonl"
row 9 5-w '"text": "N64"' "$emulator" '' '' '' > "$dir/two.jsonl"
check "the problem of what is no attention" same 'N64\n' "$build/tabulate" --print-problem "$dir/two.jsonl"
check "the emulator's chip" same 'l4 2040 58\n' "$build/tabulate" --print-chip "$dir/two.jsonl"
sed -i 's/(l4)/(nosuch)/' "$dir/two.jsonl"
check "a chip that is not known" same '' "$build/tabulate" --print-chip "$dir/two.jsonl"
status "tabulate: no such option" 2 "$build/tabulate" --nosuch
status "tabulate: no such folder" 5 "$build/tabulate" --out "$dir/none" --problem B1 --stages 1-a "it=$dir/one.jsonl"
check "it is named" grep -q "cannot write $dir/none/.table.txt: No such file or directory; choose another folder" "$tap_dir/err"
if [ -c /dev/full ]; then
    mkdir "$dir/full" && ln -s /dev/full "$dir/full/.labels.txt"
    status "tabulate: a full disk" 5 "$build/tabulate" --out "$dir/full" --problem B1 --stages 1-a "it=$dir/one.jsonl"
    check "no table is there" [ ! -e "$dir/full/table.txt" ]
fi

status "the newest problem of no file" 5 "$build/tabulate" --print-problem "$dir/none.jsonl"
status "tabulate: no series" 2 tabulate --problem B1
status "tabulate: a series without its file" 2 tabulate --problem B1 here
status "tabulate: no such file" 5 tabulate --problem B1 "here=$dir/none.jsonl"
tap_done
