#!/usr/bin/env bash
# ceilings.sh CHIP MHZ: what a chip can reach, "name kind value" a line: TFLOPS (flop) and TB/s (byte). What a board
# reached under load (make ceilings: chips/ceilings/CHIP.txt); else measured numbers of chips/CHIP.txt
# (make calibrate) at that clock. Prints nothing for a chip that was not measured.
set -u
reached=chips/ceilings/${1:-}.txt
echo "name kind value"
if [ -f "$reached" ]; then
    awk -F '"' '/^#/ {next} {split($3, v, " ")} $2 ~ /copy|shared/ || v[1] !~ /flop|byte/ {next}
        {printf "\"%s, loaded, at %d MHz,\" %s %s\n", $2, v[4], v[1], v[2]}' "$reached"
fi
file=chips/${1:-}.txt
[ -f "$file" ] || exit 0
awk -v reached="$([ -f "$reached" ] && cut -d' ' -f1 "$reached")" -v mhz="$2" -v ghz="$(printf '%s' "$2" | sed 's/...$/.&/')" '
    /^#/ || NF < 2 { next }
    { v[$1] = $2 }
    END {
        # FLOP a clock: 4 sub-cores an SM; a warp of FFMA is 64 FLOP, m16n8k16 4096; an HGMMA of n columns and k 16 is
        # 2048 n FLOP in n / 2 cycles (stage 5)
        clocks = v["sms"] * ghz / 1000
        if (reached !~ /FP32/) printf "\"FP32 FMA, at %d MHz,\" flop %.4g\n", mhz, clocks * 4 * 128 / v["fma_interval"]
        if (reached !~ /mma/) printf "\"mma.sync, at %d MHz,\" flop %.4g\n", mhz, clocks * 4 * 4096 / v["hmma_interval"]
        if (reached !~ /WGMMA/ && "hgmma_start" in v) printf "\"WGMMA, at %d MHz,\" flop %.4g\n", mhz, clocks * 4096
        if (reached !~ /L2/) printf "\"L2, at %d MHz,\" byte %.4g\n", mhz, v["l2_bytes_per_clk"] * ghz / 1000
        if (reached !~ /DRAM/) printf "DRAM byte %.4g\n", v["dram_bytes_per_ns"] / 1000
    }' "$file"
