#!/bin/bash
# What a stage program says and exits with: bad input of every kind is one line and its status, and
# leaves no file behind.
. tests/tap.sh
. tests/fake/fake.sh
dir=$tap_dir/work
mkdir "$dir"

# ---- The command line (2) and the problem (3), before any device is touched
stage1=$build/stage-1
for line in --nosuch word "--seqlen x" "--seqlen -5" "--seqlen" "--causal=left" "--input nosuch" \
        "--device gpu" "--chip h300" "--l2 tepid" "--scale 0" "--max-samples 0" "--q a.npy" \
        "--seqlen 5 --seqlen-k 6" "--sweep-random 0" "--repeat-check 1" "--out /none/a --lse /none/a" "--out /none/a --json /none/a"; do
    status "usage: $line" 2 "$stage1" $line
done
for option in --device --scale --head-dim --input --counters --image $'--no\nsuch'; do
    status "a value of two lines: ${option//$'\n'/ }" 2 "$build/stage-1" "$option" $'a\nb'
done
small_stack() { (ulimit -s 64 && "$@"); }
status "a stack that is too small" 4 small_stack "$stage1" --help
status "head_dim 100" 3 "$stage1" --head-dim 100
status "6 heads, 4 KV heads" 3 "$stage1" --heads 6 --kv-heads 4
status "head_dim 264: this stage's rule" 3 fake_bare --head-dim 264
status "a counter group that is not there" 2 "$stage1" --counters NOSUCH
status "one such of two" 2 "$stage1" --counters TENSOR,NOSUCH
status "no group" 2 "$stage1" --counters ,
check "the groups are listed" "$stage1" --list-counters
check "help" "$stage1" --help
check "version" "$stage1" --version

check "--early: copies that are waited for" "$build/stage-3" --device emu --early --seqlen 128 --heads 1 --no-time --counters none --quiet

# ---- The device
status "no driver" 77 "$stage1" --device cuda
status "no GPU behind the driver" 77 fake FAKE_CUDA_DEVICES=0 --device cuda
status "--without on a GPU" 2 fake --without 91
status "--early on a GPU, in a sweep" 2 fake --sweep-random 2 --early
status "compute capability 8.6" 3 fake FAKE_CUDA_CC=86 --device cuda
status "compute capability 10.0" 3 fake FAKE_CUDA_CC=100 --device cuda

# ---- Files (5)
npy() { # NAME DESCR SHAPE BYTES
    local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
    { printf '\x93NUMPY\x01\x00'
      printf "\\x$(printf %02x $((${#header} + 1)))\\x00"
      echo "$header"
      head -c "$4" /dev/zero; } > "$dir/$1"
}
npy good.npy '<f2' '(1, 2, 16, 64)' 4096
npy short.npy '<f2' '(1, 2, 16, 64)' 4000
npy fp32.npy '<f4' '(1, 2, 16, 64)' 8192
npy other.npy '<f2' '(1, 2, 8, 64)' 2048
npy wide.npy '<f2' '(1, 2, 16, 128)' 8192
npy dim100.npy '<f2' '(1, 2, 1, 100)' 400
good=$dir/good.npy
check "three good files" fake_bare --q "$good" --k "$good" --v "$good"
check "queries fewer than keys" fake_bare --q "$dir/other.npy" --k "$good" --v "$good" --causal
status "a truncated .npy" 5 fake_bare --q "$dir/short.npy" --k "$good" --v "$good"
status "an fp32 .npy" 5 fake_bare --q "$good" --k "$dir/fp32.npy" --v "$good"
status "no such .npy" 5 fake_bare --q "$good" --k "$good" --v "$dir/none.npy"
status "a directory as .npy" 5 fake_bare --q "$dir" --k "$good" --v "$good"
status "K and V of different shapes" 2 fake_bare --q "$good" --k "$good" --v "$dir/other.npy"
status "Q and K of different head_dim" 2 fake_bare --q "$dir/wide.npy" --k "$good" --v "$good"
dim100=$dir/dim100.npy
status "head_dim 100 in files" 3 fake_bare --q "$dim100" --k "$dim100" --v "$dim100"
before=$(ls -A "$dir")
status "a directory as --out" 5 fake --out "$dir"
status "an --out in no folder" 5 fake --out "$dir/none/o.npy"
status "a directory as --lse" 5 fake --lse "$dir"
status "a directory as --json" 5 fake --quiet --json "$dir"
status "a results folder that is not there" 5 fake --quiet --json "$dir/none/run.jsonl"
mkdir "$dir/locked"
chmod a-w "$dir/locked"
if [ "$(id -u)" -ne 0 ]; then
    status "a results folder without write permission" 5 fake --quiet --json "$dir/locked/run.jsonl"
else
    skip "a results folder without write permission" "root may write everywhere"
fi
rmdir "$dir/locked"
full_disk "a full disk under --json" fake --quiet --json "$full"
[ ! -c /dev/full ] || check "a full disk says so" grep -q "No space left" "$tap_dir/err"
for line in "" --csv --help --version --list-counters --source "--sweep-random 2" "--repeat-check 2"; do
    full_disk "a full disk under stdout: $line" bash -c ". tests/fake/fake.sh; build=$build; fake --device emu $line > $full"
done
full_disk "a full disk under doctor" bash -c "'$build/doctor' > $full"
limited() { (ulimit -f 1 && fake --quiet "$@"); } # files of 1 KiB
status "an --out above the limit on files" 5 limited --out "$dir/o.npy"
status "a record above the limit on files" 5 limited --json "$dir/big.jsonl"
check "nothing of it is left" [ ! -s "$dir/big.jsonl" ]
rm -f "$dir/big.jsonl"
for option in --out --lse --json; do status "$option without a name" 5 fake --quiet $option ''; done
check "no file is left behind" [ "$before" = "$(ls -A "$dir")" ]

# ---- A wrong answer (1) is said, and gets no time
wrong() { # BUG: exits with 1, prints FAIL and no time
    fake FAKE_CUDA_BUG="$1" > "$tap_dir/wrong" 2> "$tap_dir/said"
    [ $? -eq 1 ] && [ "$(wc -l < "$tap_dir/said")" -eq 1 ] && grep -q FAIL "$tap_dir/wrong" &&
        ! grep -q '^time' "$tap_dir/wrong" || { cat "$tap_dir/wrong" "$tap_dir/said"; false; }
}
for bug in nan last zeros after before input unequal lse unwritten; do
    check "wrong answer: $bug" wrong $bug
done
status "a time that no chip can reach" 1 fake FAKE_CUDA_LAUNCH_US=0 --quiet
status "runs that differ" 1 fake FAKE_CUDA_BUG=unequal --repeat-check 5
status "a wrong answer in a sweep" 1 fake FAKE_CUDA_BUG=unwritten --sweep-random 3

# ---- What is right
right() { # PATTERN OPTIONS...: exits with 0, says nothing on stderr, stdout has the pattern
    local pattern=$1
    shift
    fake "$@" > "$tap_dir/right" 2> "$tap_dir/said" && [ ! -s "$tap_dir/said" ] &&
        grep -Eq -- "$pattern" "$tap_dir/right" || { cat "$tap_dir/right" "$tap_dir/said"; false; }
}
check "check and time" right '^time +median +10 +us +event'
check "the SMs' own clock" right '^time +clock +1234 +MHz +clock64'
check "no time line with --no-time" right 'verdict +PASS' --no-time
check "cold" right 'cold L2' --l2 cold
check "CSV" right '^1-scalar,B1 H2 Sq33 Sk65 D64,fake GPU,time,median,10,us,event' --csv
# As a data frame: every value is a number, or is missing and says why.
numeric() { # COMMAND...
    "$@" > "$tap_dir/csv" && python3 - "$tap_dir/csv" << 'EOF'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) > 10 and all(None not in r and None not in r.values() for r in rows), "rows of one length"
for r in rows:
    assert r["na"] and not r["value"] or r["name"] == "hash" or float(r["value"]) is not None and not r["na"], r
assert any(r["na"] for r in rows) and {"1"} == {r["value"] for r in rows if r["name"] in ("verdict", "check")}
EOF
}
check "CSV is numbers, reasons apart" numeric "$build/stage-3" --device emu --seqlen 64 --csv --counters TENSOR,SHARED,STALL
check "CSV of stage 5, too" numeric "$build/stage-5" --device emu --csv
check "zero batch" right 'n/a \(nothing to launch\)' --batch 0
check "zero queries" right 'n/a \(nothing to launch\)' --seqlen-q 0
check "zero keys" right 'verdict +PASS' --seqlen-k 0
check "causal, no row sees all" right 'verdict +PASS' --causal=top-left
check "whole rows masked out" right 'verdict +PASS' --causal --seqlen-q 65 --seqlen-k 33
check "every input is judged right" bash -c "build=$build; . tests/fake/fake.sh
    for i in normal outlier normal3 uniform ascending descending negative constant ramp identity \
            index; do
        fake --no-time --input \$i > /dev/null || exit 1
    done"
check "sweep" right '^sweep: .* 20 right, 0 wrong' --sweep-random 20
check "a quiet sweep" bash -c "build=$build; . tests/fake/fake.sh
    fake --quiet --sweep-random 3 > $tap_dir/quiet; [ \$? -eq 0 ] && [ ! -s $tap_dir/quiet ]"
check "repeats" right '^repeats: 5 runs, 5 equal' --repeat-check 5
fake --quiet --out "$dir/o.npy" --lse "$dir/lse.npy"
o=$dir/o.npy
check "--out is what --q would read" fake_bare --q "$o" --k "$o" --v "$o" --no-time
check "--lse is written" [ "$(stat -c %s "$dir/lse.npy")" -eq $((128 + 2 * 33 * 4)) ]
check "records are JSON" bash -c "build=$build; . tests/fake/fake.sh
    fake --quiet --json $dir/r.jsonl && fake --quiet --json $dir/r.jsonl --causal &&
    [ \$(wc -l < $dir/r.jsonl) -eq 2 ] && python3 -c '
import json
a, b = [json.loads(line) for line in open(\"$dir/r.jsonl\")]
assert a[\"schema\"] == \"attnlab-1.1\" and a[\"stage\"] == \"1-scalar\"
assert a[\"check\"][\"passed\"]
assert a[\"samples\"][\"median_us\"] > 0 and b[\"problem\"][\"mask\"] == \"bottom-right\"'"

check "sweeps and repeats are recorded" bash -c "build=$build; . tests/fake/fake.sh
    fake --quiet --json $dir/s.jsonl --sweep-random 3 > /dev/null &&
    fake --quiet --json $dir/s.jsonl --repeat-check 3 && python3 -c '
import json
a, b = [json.loads(line) for line in open(\"$dir/s.jsonl\")]
assert a[\"sweep\"][\"problems\"] == a[\"sweep\"][\"right\"] == 3
assert b[\"repeats\"] == {\"runs\": 3, \"equal\": 3}'"

# ---- Interruption: the row is finished and marked
interrupted_after() { # SECONDS SIGNAL STATUS
    rm -f "$dir/i.jsonl"
    fake FAKE_CUDA_LAUNCH_US=200 --min-time 60 --max-samples 1000000 --json "$dir/i.jsonl" --quiet &
    sleep "$1"
    kill -"$2" "$(cat /proc/$!/task/$!/children)" # the program, not the subshell around it
    wait $!
    [ $? -eq "$3" ] && [ "$(wc -l < "$dir/i.jsonl")" -eq 1 ] &&
        grep -q '"interrupted":true' "$dir/i.jsonl" && grep -q median_us "$dir/i.jsonl"
}
# The first sample is in after half a second, or later where the machine is busy.
interrupted() { interrupted_after 0.6 "$@" || interrupted_after 3 "$@" || interrupted_after 10 "$@"; }
check "SIGINT" interrupted INT 130
check "SIGTERM" interrupted TERM 143
closed_pipe() {
    fake 2> "$tap_dir/said" | true
    case ${PIPESTATUS[0]} in 0 | 5) [ "$(wc -l < "$tap_dir/said")" -le 1 ] ;; *) false ;; esac
}
check "a closed pipe is no crash" closed_pipe

# A pipe by name, as an output: its reader goes away, or never comes.
mkfifo "$dir/pipe"
read_some() { # OPTION BYTES OPTIONS...: the reader takes that much
    head -c "$2" < "$dir/pipe" > "$tap_dir/some" &
    until grep -q '^State:[[:space:]]*S' /proc/$!/status; do sleep 0.05; done # it waits for a writer
    fake --no-time --quiet "$1" "$dir/pipe" "${@:3}"
}
for option in --out --lse --json; do check "$option to a pipe that is read" read_some $option 1000000; done
status "--out to a pipe whose reader leaves" 5 read_some --out 100 --seqlen-q 2048
status "--json to a pipe that nobody reads" 5 fake --no-time --quiet --json "$dir/pipe"
wait

# Two outputs in one file, however it is spelled
for other in ./a "$dir/../${dir##*/}/a" "$dir/link/a"; do
    ln -sfn "$dir" "$dir/link"
    status "--out a --lse $other" 2 bash -c "cd '$dir' && $(realpath "$build")/stage-1 --device emu --seqlen 8 --out a --lse '$other'"
done
check "nothing was written" [ ! -e "$dir/a" ]

# ---- Falling back: build/stage-(N-1) with the same options
fell_back() { # FROM TO SETTING=VALUE OPTIONS...
    local from=$1 to=$2 setting=$3
    shift 3
    env LD_LIBRARY_PATH="$build/tests/fake" "$setting" "$build/stage-$from" --seqlen 32 --no-time \
        --counters none --fallback "$@" > "$tap_dir/fell" 2> "$tap_dir/said" &&
        grep -q "^stage $to-" "$tap_dir/fell" && grep -q "running stage-$to instead" "$tap_dir/said" ||
        { cat "$tap_dir/fell" "$tap_dir/said"; false; }
}
if [ -x "$build/stage-2" ]; then
    check "--fallback from what this stage does not take" fell_back 2 1 FAKE=1 --head-dim 72
    check "--fallback from a failed gate" fell_back 2 1 FAKE_CUDA_REGISTERS=250
fi
if [ -x "$build/stage-6" ]; then
    check "--fallback from stage 6 on Ada" fell_back 6 4 FAKE_CUDA_CC=89
    explain() { "$build/stage-6" --device emu --explain --csv --heads 12 --seqlen 2304 --head-dim 128 "$@" > "$tap_dir/choices"; }
    check "--explain" explain
    check "the best of them comes first" awk -F, 'NR > 2 && $2 < last {bad = 1} {last = $2} END {exit bad || NR < 5}' "$tap_dir/choices"
    check "12 heads of 2304 queries fill a chip by parts" grep -q '^0,.*d128-parts' "$tap_dir/choices"
    check "ragged tiles that read K and V again cost what that takes" bash -c \
        "'$build/stage-6' --device emu --chip h100 --explain --csv --batch 192 --heads 12 --seqlen 160 | cut -d, -f4 |
            grep -xE 'd64|d64-many' | head -1 | grep -qx d64"
    check "a head of 256 queries is one wide tile" bash -c \
        "'$build/stage-6' --device emu --chip h100 --explain --csv --batch 64 --heads 16 --seqlen 256 | grep -q '^0,.*,d64-wide,'"
    status "a choice that there is not" 2 "$build/stage-6" --device emu --seqlen 64 --choice 99
fi
if [ -x "$build/stage-6" ]; then
    # The fake driver takes one time for each launch; ways 0 to 3 have two launches, way 4 has one.
    tuned() { # NUMBER IMAGE OPTIONS...
        env LD_LIBRARY_PATH="$build/tests/fake" FAKE_CUDA_LAUNCH_US=40 "$build/stage-6" --device cuda --heads 12 --seqlen 2304 --no-check \
            --head-dim 128 --counters none --min-time 0 --max-samples 5 --all --json "$tap_dir/tuned.jsonl" "${@:3}" > "$tap_dir/tuned" &&
            [ "$(grep -c '^tune ' "$tap_dir/tuned")" = "$1" ] && grep -q "^kernel .* $2, grid" "$tap_dir/tuned" || { cat "$tap_dir/tuned"; false; }
    }
    check "--tune takes a way that is faster than the one expected" tuned 5 d128-short --tune 5
    check "and the model's if none is faster" tuned 3 d128-parts --tune 3
    check "--tune: more than there are" tuned 4 d64-many --tune 32 --heads 1 --seqlen 16 --head-dim 64
    check "the record says which were timed" grep -q '"choice":4,"image":"d128-short",[^}]*"taken":true' "$tap_dir/tuned.jsonl"
    status "--tune beside --choice" 2 "$build/stage-6" --device emu --tune 2 --choice 1
    status "--tune on the emulator, which measures no time" 77 "$build/stage-6" --device emu --seqlen 64 --tune 2
fi
status "a stage with one way has nothing to tune" 2 "$build/stage-1" --device emu --seqlen 16 --heads 1 --tune 2
status "a stage with one way has nothing to explain" 2 "$build/stage-1" --device emu --explain
status "nor to choose" 2 "$build/stage-1" --device emu --seqlen 16 --heads 1 --choice 1
status "nothing to fall back to" 3 bash -c "build=$build; . tests/fake/fake.sh
    fake_bare --head-dim 264 --fallback 2>&1 | tail -n 1 >&2; exit \${PIPESTATUS[0]}"
tap_done
