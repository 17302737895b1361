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
check "the newest record is in the table, - for what is missing" grep -qE '^1 1-scalar 7.5 - 270.336 50( -)+$' "$dir/table.txt"
check "a stage without a record" grep -qE '^2 2-wmma-qk( -)+$' "$dir/table.txt"
check "what is missing has a note" grep -qxF '0 2 time_us "no record of this stage on this problem"' "$dir/notes.txt"
check "no quote gets into a note" grep -qxF "0 1 bank_conflict_pct \"not 'here'\"" "$dir/notes.txt"
check "the series has its pedigree" grep -qxF \
    '"here" "here: Gerät, 1000 MHz after, driver 1, CUDA 13.0, revision abc, 2026-01-02, n = 3, L2 warm"' "$dir/labels.txt"
check "tabulate: a name longer than its line" tabulate --problem B2 "here=$dir/run.jsonl"
check "the newest problem" same 'B2\n' "$build/tabulate" --print-problem "$dir/run.jsonl"
sed -i 's/"kind": "cuda"/"kind": "emulator"/; s/"samples".*"l2": "warm"}, *//' "$dir/run.jsonl"
check "tabulate: the emulator's records" tabulate --problem B1 "here=$dir/run.jsonl"
check "say why they have no time" grep -qxF '0 1 time_us "not collected"' "$dir/notes.txt"
cp "$dir/run.jsonl" "$dir/unpredicted.jsonl"
sed -i 's/"problem": {/&"flops": 270336, /; s/"counters": \[/&{"name": "duration_us", "value": 2, "validated": "h200: so so"}, {"name": "mean_clock_mhz", "value": 500}, /' "$dir/run.jsonl"
check "tabulate: predictions" tabulate --problem B1 "here=$dir/run.jsonl"
# 270336 FLOP in 2 us are 0.135168 TFLOPS, at 500 MHz half a thousandth of 132 SMs' peak
check "a predicted time, its rate and share of the peak" grep -q '^1 1-scalar 2 - 0.135168 0.05 - - ' "$dir/table.txt"
check "say that they are, and how good" grep -qF "what depends on time is predicted (h200: so so)" "$dir/labels.txt"
mv "$dir/unpredicted.jsonl" "$dir/run.jsonl"
sed -i 's/"kind": "emulator"/"kind": "cuda"/' "$dir/run.jsonl"
tabulate --problem B1 "here=$dir/run.jsonl"
check "others say that they were not timed" grep -qxF '0 1 time_us "not timed"' "$dir/notes.txt"
# Which kernel it was: a record's, and the one built beside tabulate
here=$dir/here
mkdir -p "$here/images/stage-1"
cp "$build/tabulate" "$here/"
cp "$build"/images/stage-1/d64.compute_89.ptx "$here/images/stage-1/"
rm -f "$dir/kernel.jsonl"
"$build/stage-1" --device emu --seqlen 32 --heads 1 --no-check --no-time --counters none --quiet --json "$dir/kernel.jsonl" > /dev/null
another() { # VALUE: the last column of stage 1's row
    "$here/tabulate" --out "$dir" --stages 1-scalar --problem "B1 H1 S32 D64" "here=$dir/kernel.jsonl" &&
        grep -qE "^1 1-scalar .* $1\$" "$dir/table.txt"
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

status "the newest problem of no file" 5 "$build/tabulate" --print-problem "$dir/none.jsonl"
status "tabulate: no series" 2 tabulate --problem B1
status "tabulate: a series without its file" 2 tabulate --problem B1 here
status "tabulate: no such file" 5 tabulate --problem B1 "here=$dir/none.jsonl"

# A picture is there whole or not at all: a gnuplot that is stopped in the middle of one.
mkdir "$dir/bin" "$dir/pictures"
cat > "$dir/bin/gnuplot" <<'FAKE'
#!/bin/bash
out=$(sed "s/.*out = '\([^']*\)'; term = '\([a-z]*\)'.*/\1.\2/" <<< "$2")
printf half > "$out"
touch "$STARTED"
exec sleep 5
FAKE
chmod +x "$dir/bin/gnuplot"
stopped() { # SIGNAL STATUS: it leaves the old picture, and nothing else
    echo old > "$dir/pictures/time.png"
    rm -f "$dir/started"
    STARTED=$dir/started PATH=$dir/bin:$PATH setsid env --default-signal=INT plots/draw.sh plots/time.gp "$dir/pictures/time" png "dir = '$dir'" &
    local id=$!
    until [ -e "$dir/started" ]; do sleep 0.05; done
    kill "-$1" -- -$id
    wait $id
    [ $? -eq "$2" ] && [ "$(cat "$dir/pictures/time.png")" = old ] && { [ "$1" = KILL ] || [ "$(ls "$dir/pictures")" = time.png ]; }
}
check "a picture that is interrupted" stopped INT 130
check "a picture that is terminated" stopped TERM 143
check "a picture that is killed" stopped KILL 137

# The same of a whole `make compare`, in a tree of its own.
tree=$tap_dir/tree
mkdir "$tree" && ln -s "$PWD/plots" "$PWD/stages" "$PWD/profiler" "$tree" && ln -s "$(realpath "$build")" "$tree/build"
compare_stopped() { # SIGNAL: no picture has the name of one
    rm -rf "$dir/started" "$tree/results"
    (cd "$tree" && STARTED=$dir/started PATH=$dir/bin:$PATH RECORDED=h200 TERM= exec setsid env --default-signal=INT plots/compare.sh stages/1-scalar) > "$dir/said" 2>&1 &
    local id=$!
    until [ -e "$dir/started" ] || ! kill -0 $id 2> /dev/null; do sleep 0.05; done
    kill "-$1" -- -$id
    wait $id
    cat "$dir/said"
    [ -e "$dir/started" ] && [ -s "$tree/results/compare/table.txt" ] || return 1
    ls "$tree/results/compare"
    ! ls "$tree/results/compare" | grep -qE '^[a-z]+\.(png|svg)$'
}
for signal in INT TERM KILL; do check "a compare that is stopped by $signal" compare_stopped $signal; done
rm -rf "$dir/pictures"
mkdir "$dir/pictures"
if command -v gnuplot > /dev/null; then
    tabulate --problem B1 "here=$dir/run.jsonl"
    check "a picture that is drawn" plots/draw.sh plots/time.gp "$dir/pictures/time" svg "dir = '$dir'; problem = ''"
    check "it is all that is left" [ "$(ls "$dir/pictures")" = time.svg ]
    check "stage 4's tiles" stages/4-tuned/sweep/draw.sh plots/recorded/h200-stage-4.jsonl "$dir/tiles"
    # a row for each of the 24 large tiles of head_dim 128, the fastest last, and their names in its picture
    rising() { awk '$1 == 0 && $2 == 128 {n++; if ($4 < last) exit 1; last = $4} END {if (n != 24) exit 1}' "$dir/tiles/sweep.txt"; }
    check "are sorted" rising
    names() { for tile in $(awk '$2 == 128 {print $3}' "$dir/tiles/sweep.txt"); do grep -q "$tile, [0-9]* regs" "$dir/tiles/sweep-d128.svg" || return 1; done; }
    check "and drawn, a picture for each head_dim" eval 'names && [ "$(ls "$dir/tiles"/*.png | wc -l)" -eq 5 ]'
fi
in_tree() { (cd "$tree" && "$@"); }
status "PROBLEM without RECORDED" 2 in_tree env PROBLEM="B1 H8 S512 D64" plots/compare.sh stages/1-scalar
status "options with RECORDED" 2 in_tree env RECORDED=h200 plots/compare.sh stages/1-scalar --causal
status "a ladder of some stages" 5 plots/ladder.sh h200-peers
status "a problem of two lines" 2 in_tree env RECORDED=h200 PROBLEM=$'B1 H8 S512 D64\nB4 H16 S4096 D128' plots/compare.sh stages/1-scalar
tap_done
