#!/bin/bash
# The numbers of a chip are those that its records give, and predict what made none of them.
. tests/tap.sh
records=$(echo records/chips/h200-*.tsv.gz)
counted=records/chips/h200-counted.tsv
made() { python3 chips/chip.py "$1" > "$tap_dir/made" && diff "$tap_dir/made" "chips/$1.txt"; }
for chip in $(cd chips && ls -- *.txt | sed 's/.txt$//'); do
    if ! ls records/chips/"$chip"-* > /dev/null 2>&1; then # of others' measurements
        published() { grep -q '^# NOT VALIDATED' "chips/$1.txt" && awk '/^[a-z]/ && !/^[a-z0-9_]+ [0-9.]+ [a-zA-Z]+ (of an H200: |data sheet|programming guide|driver|NVIDIA |[CJM]( |$))/ {print; bad = 1} END {exit bad}' "chips/$1.txt"; }
        check "chips/$chip.txt: each number has a source, and none is said to be measured here" published "$chip"
        continue
    fi
    check "chips/$chip.txt is what chips/chip.py makes of records/chips" made "$chip"
    check "$chip: what was held back is predicted" python3 chips/chip.py "$chip" --check
done

# A measurement that is not what the others predict; one that is missing.
planted() {
    printf 'issue\tEX2/16/%s\tinstructions\t%s\t1\t\t\t1\nissue\tEX2/16/%s\tspan\t%s\tcycles\t\t\t5\n' \
        32 512 32 20000 96 1536 96 56000
}
planted > "$tap_dir/planted.tsv"
# shellcheck disable=SC2086
beyond() { ! python3 chips/chip.py h200 --check $records "$tap_dir/planted.tsv" $counted > "$tap_dir/said" 2>&1 &&
    grep -q '^EX2, 16 warps .* beyond$' "$tap_dir/said"; }
check "a wrong measurement is found" beyond
without() { python3 chips/chip.py other "${records%% *}" $counted > "$tap_dir/said" &&
    grep -q '^xu_interval 8 cycles of an H200: B issue EX2/1w' "$tap_dir/said" && grep -q '^l2_bytes 62914560 bytes driver' "$tap_dir/said"; }
check "a bench that has not run leaves the H200's number, and says so" without

# What must not become a chip's file: chips/NAME.txt as it was, exit 1, the reason.
refuses() { # FILES...: in a copy of chips/
    rm -rf "$tap_dir/house" && mkdir -p "$tap_dir/house/records" && cp -r chips "$tap_dir/house/" && ln -s "$(realpath common)" "$tap_dir/house/common" && cp -r records/chips "$tap_dir/house/records/"
    ! python3 "$tap_dir/house/chips/chip.py" other --write "$@" > "$tap_dir/said" 2>&1 && ! [ -e "$tap_dir/house/chips/other.txt" ] &&
        ! grep -q Traceback "$tap_dir/said" && grep -q "$wanted" "$tap_dir/said" && grep -q '^chip.py: chips/other.txt is not written$' "$tap_dir/said"
}
# shellcheck disable=SC2086
{
wanted='xu_interval is 41.* an H200.s is 8' # a plausible number is near an H200's
printf 'issue\tEX2/1w/%s\tinstructions\t%s\t1\t\t\t1\nissue\tEX2/1w/%s\tspan\t%s\tcycles\t\t\t5\n' 32 32 32 2000 96 96 96 28384 > "$tap_dir/slow.tsv"
check "a number that no Hopper board has is refused" refuses $records "$tap_dir/slow.tsv"
wanted='below 0' # a constant_first of -2176 once was written, from launches that another rule had chosen
awk -F'\t' -v OFS='\t' '$2 == 660 && $5 < 12000 {$5 += 6000} {print}' $counted > "$tap_dir/counted.tsv"
check "a negative number is refused" refuses $records "$tap_dir/counted.tsv"
wanted='several boards: NVIDIA H200, NVIDIA H800'
printf 'machine\tNVIDIA H800\tsms\t132\t1\t\t\t1\n' > "$tap_dir/board.tsv"
check "files of two boards are refused" refuses $records "$tap_dir/board.tsv"
wanted='dram_bytes_per_ns is 465.*more than the 3352'
printf 'machine\tNVIDIA H200\tdram\t3352\tbytes/ns\t\t\t1\n' > "$tap_dir/bus.tsv"
check "a rate above the memory's own is refused" refuses $records "$tap_dir/bus.tsv"
wanted='nothing was measured'
: > "$tap_dir/empty.tsv"
check "an empty file is refused" refuses "$tap_dir/empty.tsv"
written() { ! refuses $records $counted; [ -e "$tap_dir/house/chips/other.txt" ] && grep -q 'numbers measured here' "$tap_dir/said"; }
wanted=none check "what holds is written" written
}

# Any chips/NAME.txt is a chip.
any_chip() {
    mkdir -p "$tap_dir/house/build" && cp "$build/stage-1" "$tap_dir/house/build/" && ln -sfn "$(realpath "$build")/images" "$tap_dir/house/build/images" &&
        ln -sfn "$(realpath .venv)" "$tap_dir/house/.venv" && ln -sfn "$(realpath profiler)" "$tap_dir/house/profiler" && sed -i 's/^sms 132/sms 78/; 1s/.*/# NVIDIA H20: numbers/' "$tap_dir/house/chips/other.txt" &&
        "$tap_dir/house/build/stage-1" --device emu --chip other --seqlen 64 --heads 1 --no-check --no-time --counters CYCLES --csv > "$tap_dir/said" &&
        grep -q '^.*cycles_elapsed,[0-9]' "$tap_dir/said"
}
check "a chip of its own file is predicted for" any_chip
status "a chip without a file is refused" 2 "$build/stage-1" --device emu --chip none --seqlen 64

# Bursts of one kind of instruction, loads from global memory among them: one warp takes as long as on an H200.
bursts() {
    python3 emulator/bench/pipes_text.py chips/bench depth > "$tap_dir/depth.txt"
    "$build/bench-pipes" chips/h200.txt < "$tap_dir/depth.txt" > "$tap_dir/depth.tsv" || return
    of_bursts() { awk -F'\t' '$1 == "depth" && $2 ~ /^(LDSM4|LDGSTS|LDS64|STS|SHFL)\/1w$/ && $3 == "span" {print $2, $4}' | sort; }
    zcat records/chips/h200-3.tsv.gz | of_bursts > "$tap_dir/gpu.txt"
    [ -s "$tap_dir/gpu.txt" ] && of_bursts < "$tap_dir/depth.tsv" | diff "$tap_dir/gpu.txt" -
}
check "bursts of loads and stores take as long as on an H200" bursts

# One warpgroup's WGMMAs, 1 to 16 in a row: when all are issued and when all are done, in the clock and on an H200.
stamps() { # [SETTING]: a line of h200.txt instead of the file's
    [ -e "$tap_dir/hgmma.txt" ] || python3 emulator/bench/pipes_text.py chips/bench hgmma > "$tap_dir/hgmma.txt"
    sed "s/^${1%% *} .*/$1/" chips/h200.txt > "$tap_dir/set.txt"
    "$build/bench-pipes" "$tap_dir/set.txt" < "$tap_dir/hgmma.txt" | python3 -c '
import gzip, sys
def read(lines):
    split = (line.rstrip("\n").split("\t") for line in lines)
    return {(f[1], f[2]): [int(x) for x in f[3].split()] for f in split
            if f[0] == "hgmma" and f[1].endswith("/wg0") and f[2].startswith("stamps")}
with gzip.open("records/chips/h200-3.tsv.gz", "rt") as f:
    gpu = read(f)
clock = read(sys.stdin)
off = [abs((clock[key][k] - clock[key][k // 3 * 3]) - (s[k] - s[k // 3 * 3]))
       for key, s in gpu.items() for k in range(len(s))]
print(f"{len(gpu)} warps, at most {max(off)} cycles off")
sys.exit(len(gpu) != 40 or max(off) > 4)'
}
check "WGMMAs are issued and done when an H200 does it, within 4 cycles" stamps
late() { ! stamps "hgmma_start_ss 36 cycles" && ! stamps "hgmma_queue_ss 7 entries"; }
check "a later start, a longer queue are seen" late

# An encoding that ptxas never wrote; a register that is not there.
cat > "$tap_dir/odd.py" << 'EOF'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "chips/bench")
import pipes
from sass import *
program = {"register": pipes.Program("a", "b", [pipes.Role([0], [mov_imm(126, 1)])]),
           "form": pipes.Bare("a", "b", [Instruction(0x7B1D, 0, "BAR.SYNC 0x0", "sync")]),
           "good": pipes.Program("a", "b", [pipes.Role([0], pipes.sequence(["FFMA", "LDS"]))])}[sys.argv[1]]
pipes.BENCHES = [lambda: [program]]
if len(sys.argv) > 2:
    sys.exit(pipes.forms(sys.argv[2:]))
pipes.pack("/dev/null")
EOF
refused() { ! python3 "$tap_dir/odd.py" "$@" > "$tap_dir/said" 2>&1 && grep -qF "$wanted" "$tap_dir/said"; }
check "a program of registers that are there" python3 "$tap_dir/odd.py" good
wanted='no such register' check "R126 of 128 is refused" refused register
images=$(ls "$build"/images/stage-{3,6}/d64.sm_90a.cubin 2> /dev/null)
if [ "$(wc -w <<< "$images")" -eq 2 ]; then
    wanted='never seen: form' check "an instruction that ptxas does not write is found" refused form $images
else
    skip "an instruction that ptxas does not write is found" "no images of stages 3 and 6"
fi

# Every number that a model of this repository reads is there, once.
names=emulator/predictor/predictor_chip.def
if [ -e $names ]; then
    all() { diff <(sed -n 's/^PARAM\(_HOPPER\)*(\(\w*\)).*/\2/p' $names | sort) <(sed -n 's/^\([a-z]\w*\) .*/\1/p' chips/h200.txt | sort); }
    check "the names of predictor_chip.def" all
else
    skip "the names of predictor_chip.def" "no timing model here"
fi
tap_done
