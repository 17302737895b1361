#!/usr/bin/env bash
# draw.sh RECORDS OUT_DIR: table and pictures of stage 4's tiles (make stage-4 sweep does this).
#
# OUT_DIR/sweep.txt: a block for each head_dim, then one for each of the small problems; its first line names the columns,
# then a row a tile: small, dim, tile, TFLOPS without a mask and causal, registers, bytes spilled, CTAs on an SM, problem;
# "-" where there is no value; the fastest last. OUT_DIR/sweep-dDIM.png and .svg: a picture for each head_dim.
set -euo pipefail
records=$1 out=$2
[ -f "$records" ] || { echo "stage-4: there is no $records; RECORDED=h200 draws records/runs/h200-stage-4.jsonl" >&2; exit 5; }
mkdir -p "$out" 2> /dev/null && [ -w "$out" ] || { echo "stage-4: cannot write to $out: make it writable" >&2; exit 5; }
# A record's command is "build/sweep/dDIM-TILE/stage-4 ..."; blanks are printed as "_".
build/columns "$records" -- command problem.head_dim problem.mask samples.tflops \
    kernels.attention.registers kernels.attention.local_bytes counters.blocks_per_sm problem.flops counters.duration_us problem.text |
    awk '/^#/ {next}
         {split($1, path, "/"); tile = path[3]; sub(/^d[0-9]+-/, "", tile)
          split(tile, part, /[-x]/); groups = part[4]
          if ($4 == "-" && $9 > 0) $4 = sprintf("%.4g", 1e-6 * $8 / $9) # predicted
          key = sprintf("%d %4d %s", groups > 1, $2, tile)
          if (!(key in seen)) order[++n] = key
          seen[key] = 1; speed[key, $3] = $4; sub(/_D[0-9].*/, "", $10); rest[key] = $5 " " $6 " " $7 " " $10}
         END {for (i = 1; i <= n; i++) {k = order[i]; none = speed[k, "none"]; causal = speed[k, "bottom-right"]
              print k, none == "" ? "-" : none, causal == "" ? "-" : causal, rest[k]}}' |
    sort -s -k1,1n -k2,2n -k4,4g |
    awk 'last != "" && $1 " " $2 != last {print "\n"}
         $1 " " $2 != last {print "small dim tile none causal registers spilled ctas problem"}
         {last = $1 " " $2; print}' > "$out/sweep.txt"
for column in 4:none 5:causal; do
    awk -v c="${column%:*}" -v mask="${column#*:}" '/^[0-9]/ && $c != "-" {d = $2 ($1 ? " small" : "")
         if ($c + 0 > best[d]) {best[d] = $c; tile[d] = $3}}
         END {for (d in best) printf "best for head_dim %s, %s: %s, %.0f TFLOPS\n", d, mask, tile[d], best[d]}' "$out/sweep.txt"
done | sort -V
if grep -q '"kind": *"emulator"' "$records"; then
    validated=$(grep -o '"validated": *"[^"]*"' "$records" | tail -n 1 | cut -d'"' -f4 || true)
    close=$(sed -n 's/^pairs: 8 in 10 of .* within \([0-9.]*\) %$/\1/p' "records/validation/${validated%%:*}.txt" 2> /dev/null || true)
    [ -z "$close" ] || for column in 4:none 5:causal; do
        awk -v c="${column%:*}" -v mask="${column#*:}" -v within="$close" '/^[0-9]/ && $c != "-" {d = $2 ($1 ? " small" : "")
             n[d]++; name[d, n[d]] = $3; speed[d, n[d]] = $c + 0
             if ($c + 0 > best[d]) {best[d] = $c + 0; tile[d] = $3}}
             END {for (d in best) {others = ""
                 for (i = 1; i <= n[d]; i++)
                     if (name[d, i] != tile[d] && best[d] < speed[d, i] * (1 + within / 100)) others = others " " name[d, i]
                 if (others != "") printf "too close to call for head_dim %s, %s:%s; 8 in 10 validated pairs were within %s %%\n", d, mask, others, within}}' "$out/sweep.txt"
    done | sort -V
fi
awk '/^[0-9]/ && $4 != "-" {n++} END {exit !n}' "$out/sweep.txt" ||
    { echo "stage-4: no times to draw, measured or predicted (make stage-4 run DEVICE=emu says why): see $out/sweep.txt"; exit 0; }
command -v gnuplot >/dev/null || { echo "stage-4: the table is $out/sweep.txt; to draw it install gnuplot-nox (make setup)" >&2; exit 77; }
build/columns "$records" -- device.name device.clock_mhz_after device.driver device.toolkit revision time | tail -n 1 |
    awk '{gsub("_", " ", $1); printf "\"%s, %s MHz, driver %s, CUDA %s, revision %s, %s\"\n", $1, $2, $3, $4, $5, substr($6, 1, 10)}' > "$out/foot.txt"
if [ -n "${validated:-}" ]; then
    build/columns "$records" -- problem.text device.name revision time | tail -n 1 |
        awk -v v="$validated" '{for (i = 1; i <= NF; i++) gsub("_", " ", $i); printf "\"predicted by the predictor of the %s, revision %s, %s; %s\"\n", $2, $3, substr($4, 1, 10), v}' > "$out/foot.txt"
fi
for dim in $(awk '/^[0-9]/ {print $2}' "$out/sweep.txt" | sort -nu); do
    for term in png svg; do plots/draw.sh stages/4-tuned/sweep/draw.gp "$out/sweep-d$dim" "$term" "dir = '$out'; head_dim = $dim" || exit; done
    echo "stage-4: drawn: $out/sweep-d$dim.png"
done
