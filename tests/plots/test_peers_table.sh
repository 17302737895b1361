#!/bin/bash
# make peers-table: both ways of timing kept apart, the newest record counts, what is not there is "-"; and what
# `make peers` reads as rows.
. tests/tap.sh
record() { # WHO (as "peer": {...} or "stage": "..."), PROBLEM, US, MORE-OF-SAMPLES
    printf '{%s, "rows": "%s", "problem": {"text": "%s"}, "samples": {"median_us": %s, "tflops": 7%s}}\n' \
        "$1" "${rows:-few}" "$2" "$3" "$4"
}
fa2='"peer": {"name": "FlashAttention-2"}' cudnn='"peer": {"name": "cuDNN"}' stage='"stage": "6-x", "kernels": [{"image": "d64"}]'
burst=', "rest_ms": 0' clock=', "clock_mhz": 1499.6'
{
    echo '{"schema": "attnlab-1.0", "copy_tb_per_s": 4.2}'
    record "$fa2" "B1 S8" 30 ""; record "$cudnn" "B1 S8" 20 ""; record "$stage" "B1 S8" 99 ""; record "$stage" "B1 S8" 10 "$clock"
    record "$fa2" "B1 S8" 33 "$burst"; record "$stage" "B1 S8" 12 "$burst"
    record "$fa2" "B2 S8" 300 ""; record "$stage" "B2 S8" 200 ""; record '"stage": "4-y"' "B2 S8" 1 ""
    rows=other record '"peer": {"name": "Other"}' "B3 S8" 18 ""
} > "$tap_dir/peers.jsonl"
: > "$tap_dir/no-bar.txt"
table() { python3 profiler/peers/peers_table.py "$tap_dir/peers.jsonl" 6 --below "$tap_dir/no-bar.txt"; }
has() { table | grep -qxF "$1" || { table; return 1; }; }
check "peers are columns" has "| loaded | FA2 | cuDNN | stage 6 (TFLOPS) | best peer / stage | image | clock, MHz |"
check "loaded: the better of both, the newest of two" has "| B1 S8 | 30.0 | 20.0 | 10.0 (7) | 2.00 | d64 | 1500 |"
check "loaded: a peer without a record" has "| B2 S8 | 300 | - | 200 (7) | 1.50 | d64 | - |"
check "burst: only who was there" has "| burst | FA2 | stage 6 (TFLOPS) | best peer / stage |"
check "burst: its own times" has "| B1 S8 | 33.0 | 12.0 (7) | 2.75 |"
status "a stage without a record" 5 python3 profiler/peers/peers_table.py "$tap_dir/peers.jsonl" 3
check "it says which have one" grep -q "has no stage 3, but 4, 6$" "$tap_dir/err"
every() { python3 profiler/peers/peers_table.py "$tap_dir/peers.jsonl" > "$tap_dir/every" && grep -q "| stage 4 (TFLOPS)" "$tap_dir/every" && grep -q "| stage 6 (TFLOPS)" "$tap_dir/every" && ! grep -q "| stage [1235] (TFLOPS)" "$tap_dir/every"; }
check "no stage named: those that have one" every
check "another set of rows, without the stage" has "| B3 S8 | 18.0 | - | - | - | - |"

# Boards beside each other: the fastest peer of each, and a row's reason in the runs of both.
boards() { # MORE-ARGUMENTS
    printf '%s\n' "bar 1.6 copy 0" "a because" "  two-boards: B2 S8" > "$tap_dir/boards.txt"
    for board in big small; do
        { record "$fa2" "B1 S8" 30 ""; record "$cudnn" "B1 S8" 20 ""; record "$stage" "B1 S8" 10 ""; record "$stage" "B1 S8" 5 "$burst"
          record "$fa2" "B1 S8" 20 "$burst"; record "$fa2" "B2 S8" 300 ""; record "$stage" "B2 S8" 200 ""; } > "$tap_dir/$board-two-boards-peers.jsonl"
    done
    record "$cudnn" "B2 S8" 100 "" >> "$tap_dir/small-two-boards-peers.jsonl"
    python3 profiler/peers/peers_table.py "$tap_dir/big-two-boards-peers.jsonl,$tap_dir/small-two-boards-peers.jsonl" 6 "$@"
}
beside() { boards --below "$tap_dir/boards.txt" "${@:2}" > "$tap_dir/both"; grep -qxF -- "$1" "$tap_dir/both" || { cat "$tap_dir/both"; return 1; }; }
check "boards are columns" beside "| us, loaded | big: fastest peer | stage 6 | ratio | in bursts | small: fastest peer | stage 6 | ratio | in bursts | why |"
check "a row of two boards" beside "| B1 S8 | cuDNN 20.0 | 10.0 | 2.00 | 4.00 | cuDNN 20.0 | 10.0 | 2.00 | 4.00 |  |"
check "below the bar on both, for one reason" beside "| B2 S8 | FA2 300 | 200 | 1.50 | - | cuDNN 100 | 200 | 0.50 | - | a |"
check "how many are ahead" beside "small, loaded: 2 rows, 1 at 1.00 or more, 1 at 1.03 or more, 1 at 1.10 or more, least 0.50"
check "beside one peer alone" beside "| B2 S8 | FA2 300 | 200 | 1.50 | - | FA2 300 | 200 | 1.50 | - |" --peer FlashAttention-2
both_boards() { make -s stage-6 peers-table RECORDED=h100,h200 > "$tap_dir/made" && grep -q "^h200, burst: [0-9]* rows" "$tap_dir/made"; }
check "make stage-6 peers-table RECORDED=h100,h200" both_boards

decoding='"problem": {"batch": 2, "heads": 8, "kv_heads": 2, "seqlen_q": 1, "seqlen_k": 1000, "head_dim": 100, "text": "D"}'
printf '{"stage": "6-x", %s, "samples": {"median_us": 1, "tflops": 7}}\n' "$decoding" > "$tap_dir/decoding.jsonl"
python3 profiler/peers/peers_table.py "$tap_dir/decoding.jsonl" 6 > "$tap_dir/rate"
check "decoding has bytes a second" grep -qF "| D | 1.0 (1.61 TB/s) |" "$tap_dir/rate" # 4 * 2 * 100 * (8 + 2 * 1000) bytes

# The bar, and reasons: a row below has its letter, or "?"; bursts may have one of their own; DRAM has a bar of its own.
printf '%s\n' "# text" "bar 1.6 copy 0.97" "a because" "  B2 S8" "b why not" "  burst: B1 S8" "  B1 S8" > "$tap_dir/below.txt"
why() { python3 profiler/peers/peers_table.py "$tap_dir/$1.jsonl" 6 --below "$tap_dir/below.txt" > "$tap_dir/why" 2> "$tap_dir/idle"; }
shows() { grep -qxF -- "$1" "$tap_dir/why" || { cat "$tap_dir/why"; return 1; }; }
check "with a bar" why peers
check "the table has a column more" shows "| loaded | FA2 | cuDNN | stage 6 (TFLOPS) | best peer / stage | image | clock, MHz | why |"
check "above it" shows "| B1 S8 | 30.0 | 20.0 | 10.0 (7) | 2.00 | d64 | 1500 |  |"
check "below it, with its reason" shows "| B2 S8 | 300 | - | 200 (7) | 1.50 | d64 | - | a |"
check "reasons" shows "- a: because"
check "a reason that nobody needs" grep -qx "peers-table: B1 S8 has a reason and is not below the bar" "$tap_dir/idle"
check "one that somebody may need" test "$(grep -c . "$tap_dir/idle")" = 2 # in bursts, too
cp "$tap_dir/peers.jsonl" "$tap_dir/h9-peers.jsonl" # a record of that name has reasons of its own
printf '%s\n' "c there" "  h9 burst: B2 S8" "  h9: B1 S8" "d elsewhere" "  h8 loaded: B2 S8" >> "$tap_dir/below.txt"
why peers
check "a row of another record's" shows "| B2 S8 | 300 | - | 200 (7) | 1.50 | d64 | - | a |"
sed -i 's/h9 burst/h9 loaded/' "$tap_dir/below.txt"
check "with a bar, the record" why h9-peers
check "its reason" shows "- c: there"
check "no reason of others" bash -c "! grep -q elsewhere $tap_dir/why"
check "a row of this record's" shows "| B2 S8 | 300 | - | 200 (7) | 1.50 | d64 | - | c |"
check "one that it does not need" grep -qx "peers-table: h9: B1 S8 has a reason and is not below the bar" "$tap_dir/idle"
sed -i '/B2 S8/d; /^[cd]/d; /h9/d' "$tap_dir/below.txt"
why peers
check "below it, without" shows "| B2 S8 | 300 | - | 200 (7) | 1.50 | d64 | - | ? |"
check "without a reason" shows "- ?: 1 rows are below it and have no reason"
dram() { # US: a row of 200 MB that a copy of 4 TB/s would take 50 us for, four times as fast as its peer
    local big='"problem": {"batch": 1, "heads": 8, "kv_heads": 8, "seqlen_q": 1, "seqlen_k": 62500, "head_dim": 100, "text": "D"}'
    printf '{"copy_tb_per_s": 4.0}\n{"peer": {"name": "cuDNN"}, %s, "samples": {"median_us": 200, "tflops": 7}}\n' "$big"
    printf '{"stage": "6-x", %s, "samples": {"median_us": %s, "tflops": 7}}\n' "$big" "$1"
}
for us in 50 52; do dram $us > "$tap_dir/dram$us.jsonl"; done
why dram50
check "DRAM as fast as a copy" shows "| D | 200 | 50.0 (4.00 TB/s) | 4.00 | - | - |  |"
why dram52
check "DRAM below 0.97 of a copy" shows "| D | 200 | 52.0 (3.85 TB/s) | 3.85 | - | - | ? |"
recorded() { python3 profiler/peers/peers_table.py "records/runs/$1-peers.jsonl" 6 > "$tap_dir/recorded" 2> "$tap_dir/idle"; }
check "the recorded run" recorded h200
check "has a reason for every row below the bar" bash -c "! grep -F '| ? |' $tap_dir/recorded"
check "and none that is not needed" test ! -s "$tap_dir/idle"
check "the run with five peers" recorded h200-all
check "has a reason for every row below the bar, too" bash -c "! grep -F '| ? |' $tap_dir/recorded"
check "and none that is not needed there" test ! -s "$tap_dir/idle"
check "the run whose turns had settled" recorded h200-settled
check "has a reason for every row below the bar as well" bash -c "! grep -F '| ? |' $tap_dir/recorded"
check "and none too many" test ! -s "$tap_dir/idle"
check "all of the sixteen and of 64 heads are above it, loaded" test "$(sed -n '/^Rows: wide/q; /^| burst/,/^$/d; p' "$tap_dir/recorded" | grep -cE '\| 1[.]0[0-2] \||\| 0[.]')" = 0

cut() { { cat "$tap_dir/peers.jsonl"; printf '{"peer": {"na'; } > "$tap_dir/cut.jsonl"; python3 profiler/peers/peers_table.py "$tap_dir/cut.jsonl" 6 --below "$tap_dir/no-bar.txt" | tee "$tap_dir/rest"; }
status "a line that a kill cut" 0 cut
check "is left out" grep -qF "| B1 S8 | 30.0 | 20.0 | 10.0 (7) | 2.00 | d64 | 1500 |" "$tap_dir/rest"
status "records of something else" 5 python3 profiler/peers/peers_table.py records/runs/h200-sweeps.jsonl 6
status "a folder" 5 python3 profiler/peers/peers_table.py plots 6
full_disk "a full disk" bash -c "python3 profiler/peers/peers_table.py $tap_dir/peers.jsonl 6 > $full"

# What needs a GPU says so, without a trace.
needs() { [ "$(wc -l < "$tap_dir/err")" = 1 ] && grep -q "^peers: .*: peers need PyTorch with CUDA (pip install torch) and a GPU$" "$tap_dir/err"; }
for program in peers energy; do
    command -v nvidia-smi > /dev/null && break
    status "$program without a GPU" 77 python3 "profiler/peers/$program.py"
    check "$program: a line with the remedy" needs
done

# The energy is that of the GPU that PyTorch uses, or none: of libraries that answer, but for what FAILS from its ASKED-th time on.
board() { # FAILS ASKED
    python3 - "$@" <<'PY'
import ctypes, sys, types
sys.path.insert(0, "profiler/peers")
sys.modules["torch"] = sys.modules["peers"] = types.ModuleType("absent")
fails, asked = sys.argv[1], int(sys.argv[2])
def answer(name, *given):
    global asked
    if name == "cuDeviceGetPCIBusId": given[0].value = b"0000:41:00.0"
    if name == "nvmlDeviceGetTotalEnergyConsumption": given[1]._obj.value = 700
    if name == "nvmlDeviceGetHandleByPciBusId_v2": assert given[0].value == b"0000:41:00.0"
    assert name != "nvmlDeviceGetHandleByIndex_v2"
    asked -= name == fails
    return 3 if name == fails and asked <= 0 else 0
class Library:
    def __init__(self, name):
        if name == fails: raise OSError(f"{name}: cannot open")
    def __getattr__(self, name): return lambda *given: answer(name, *given)
ctypes.CDLL = Library
import energy
print(energy.Board().millijoules())
PY
}
says_700() { [ "$(board nothing 0)" = 700 ]; }
check "energy: of the GPU at PyTorch's address" says_700
without() { [ "$(wc -l < "$tap_dir/err")" = 1 ] && grep -qx "energy: .*: it needs NVML and a GPU that counts its energy" "$tap_dir/err"; }
for part in libcuda.so.1 libnvidia-ml.so.1 cuDeviceGetPCIBusId nvmlInit_v2 nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetTotalEnergyConsumption; do
    status "energy without $part" 77 board $part 1
    check "energy without $part: a line with the remedy" without
done
later() { ! board nvmlDeviceGetTotalEnergyConsumption 2 > "$tap_dir/said" 2> "$tap_dir/err" && [ ! -s "$tap_dir/said" ] && grep -q "NVML gives no energy (status 3)" "$tap_dir/err"; }
check "energy: a counter that fails later gives no number" later

# profiler/peers/rows: every line is a problem as peers.py reads it, and none is there twice.
row='^[1-9][0-9]* [1-9][0-9]*(/[1-9][0-9]*)? [1-9][0-9]*(x[1-9][0-9]*)? (64|128|256)( causal)?$'
for file in profiler/peers/rows/*.txt; do
    check "$file: rows" bash -c "! grep -v '^#' $file | grep -vE '$row'"
    check "$file: none twice" bash -c "! grep -v '^#' $file | sort | uniq -d | grep ."
done
check "the wide table is wide" test "$(grep -vc '^#' profiler/peers/rows/wide.txt)" -ge 60
tap_done
