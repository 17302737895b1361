#!/usr/bin/env bash
# draw.sh RECORDS OUT_DIR: tables and pictures of stage 5's sweep (make stage-5 sweep does this).
set -euo pipefail
records=$1 out=$2
[ -f "$records" ] || { echo "stage-5: there is no $records; RECORDED=h200 draws records/runs/h200-stage-5.jsonl" >&2; exit 5; }
command -v gnuplot >/dev/null || { echo "stage-5: to draw the sweep install gnuplot-nox (make setup)" >&2; exit 77; }
mkdir -p "$out" 2> /dev/null && [ -w "$out" ] || { echo "stage-5: cannot write to $out: make it writable" >&2; exit 5; }

both() { # both SWEEP KEYS...: the keys, then what follows, with A from shared memory and from registers
    paste -d' ' <(build/columns "$records" sweep="$1" problem.a=smem -- "${@:2}") \
                <(build/columns "$records" sweep="$1" problem.a=regs -- "${@:2}")
}
both depth pipeline.group pipeline.depth cycles.median | awk '/^#/ {print "label smem regs"; next} {print $1 "/" $2, $3, $6}' > "$out/depth.txt"
both n problem.n cycles.median cycles.peak_pct | awk '/^#/ {print "n smem regs smem_peak_pct regs_peak_pct"; next} {print $1, $2, $5, $3, $6}' > "$out/n.txt"
build/columns "$records" -- device.name device.clock_mhz_after device.driver device.toolkit revision time | tail -n 1 |
    awk '{gsub("_", " ", $1); printf "\"%s, %s MHz, driver %s, CUDA %s, revision %s, %s; clock64, median of 15 launches of 4096 wgmma, one SM\"\n", $1, $2, $3, $4, $5, substr($6, 1, 10)}' > "$out/foot.txt"

# What the model leaves: measured less max(N/2, 16 + N/4).
awk '/^[0-9]/ {m = $1 / 2 > 16 + $1 / 4 ? $1 / 2 : 16 + $1 / 4; r = $2 - m; n++; s += r; if (r > hi) hi = r}
     END {printf "model max(N/2, 16 + N/4): %d points, mean residual %.2f cycles, largest %.2f\n", n, s / n, hi}' "$out/n.txt"
for term in png svg; do plots/draw.sh stages/5-wgmma/sweep/draw.gp "$out/sweep" "$term" "dir = '$out'" || exit; done
echo "stage-5: drawn: $out/sweep.png"
