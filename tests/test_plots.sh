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
    diff <(printf '%b' "$expected") <("$@")
}
columns() { "$build/columns" "$dir/run.jsonl" "$@"; }
check "columns: values, what is missing, and text whole" same \
    '# problem.text samples.median_us samples.iqr_us device.name\nB1 8.5 - Gerät\nB1 7.5 - Gerät\nB1 9.5 - Gerät\n' \
    columns problem.text=B1 -- problem.text samples.median_us samples.iqr_us device.name
check "columns: a counter by its name" same '# counters.bank_conflict_pct\n-\n' \
    columns problem.text=B2 -- counters.bank_conflict_pct
status "columns: no columns" 2 columns problem.text=B1
status "columns: no such file" 5 "$build/columns" "$dir/none.jsonl" -- stage

tabulate() { "$build/tabulate" --out "$dir" --stages "1-scalar 2-wmma-qk" "$@"; }
check "tabulate" tabulate --problem B1 "here=$dir/run.jsonl"
# 270.336 TFLOPS are half of what 132 SMs give at 1000 MHz with 4096 FLOP a clock
check "the newest record is in the table, - for what is missing" grep -qxF '1 1-scalar 7.5 - 270.336 50 - - - - - -' "$dir/table.txt"
check "a stage without a record" grep -qxF '2 2-wmma-qk - - - - - - - - - -' "$dir/table.txt"
check "what is missing has a note" grep -qxF '0 2 time_us "no record of this stage on this problem"' "$dir/notes.txt"
check "no quote gets into a note" grep -qxF "0 1 bank_conflict_pct \"not 'here'\"" "$dir/notes.txt"
check "the series has its pedigree" grep -qxF \
    '"here" "here: Gerät, 1000 MHz, driver 1, CUDA 13.0, revision abc, 2026-01-02, n = 3, L2 warm"' "$dir/labels.txt"
check "tabulate: a name longer than its line" tabulate --problem B2 "here=$dir/run.jsonl"
check "the newest problem" same 'B2\n' "$build/tabulate" --print-problem "$dir/run.jsonl"
sed -i 's/"kind": "cuda"/"kind": "emulator"/; s/"samples".*"l2": "warm"}, *//' "$dir/run.jsonl"
check "tabulate: the emulator's records" tabulate --problem B1 "here=$dir/run.jsonl"
check "say why they have no time" grep -qxF '0 1 time_us "the emulator has no clock"' "$dir/notes.txt"
sed -i 's/"kind": "emulator"/"kind": "cuda"/' "$dir/run.jsonl"
tabulate --problem B1 "here=$dir/run.jsonl"
check "others say that they were not timed" grep -qxF '0 1 time_us "not timed"' "$dir/notes.txt"
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
rm -rf "$dir/pictures"
mkdir "$dir/pictures"
if command -v gnuplot > /dev/null; then
    tabulate --problem B1 "here=$dir/run.jsonl"
    check "a picture that is drawn" plots/draw.sh plots/time.gp "$dir/pictures/time" svg "dir = '$dir'; problem = ''"
    check "it is all that is left" [ "$(ls "$dir/pictures")" = time.svg ]
fi
status "a problem of two lines" 2 env RECORDED=h200 PROBLEM=$'B1 H8 S512 D64\nB4 H16 S4096 D128' plots/compare.sh stages/1-scalar
tap_done
