#!/bin/sh
# Records the golden files again, on the GPU of this machine: tests/golden/record.sh [FOLDER]
# Needs build/golden (make golden) and, for waves.csv, ncu and the right to read counters.
set -e
golden=${BUILD:-build}/golden
final=${1:-tests/golden}
out=$(mktemp -d) # what is there stays until all is recorded
trap 'rm -rf "$out"' EXIT
fail() { echo "record.sh: $1; $final is as it was" >&2; exit 1; }
command -v ncu > /dev/null || fail "no ncu (Nsight Compute) on PATH"
"$golden" --full 512 "$out" > "$out/log" || fail "build/golden failed"
cat "$out/log"
! grep -q FAILED "$out/log" || fail "not every form ran"

# probes FIRST LAST METRIC METRIC: "INDEX VALUE VALUE" for each wavefront probe
probes() {
    ncu --clock-control none --cache-control none --csv --page raw --print-units base \
        --metrics "$3.sum,$4.sum" "$golden" --waves "$1" "$2" 2>/dev/null |
        awk -F'","' -v first="$1" -v a="$3.sum" -v b="$4.sum" '
            /^"ID"/ { for (i = 1; i <= NF; i++) { if ($i == a) ca = i; if ($i == b) cb = i }; next }
            ca && /^"[0-9]/ { print first + n++, $ca + 0, $cb + 0 }'
}

# Each probe also waits for its copies, which counts one wavefront; reads its offsets (4 sectors); and
# writes a result (4 sectors).
{
    echo "# probe,wavefronts,conflicts,sectors: one warp's access, of shared (- sectors) or global memory"
    "$golden" --list-waves > "$out/waves.list"
    shared=$(grep -c -v -E '^(ldg|stg)[0-9]' "$out/waves.list")
    total=$(grep -c . "$out/waves.list")
    probes 0 $((shared - 1)) l1tex__data_pipe_lsu_wavefronts_mem_shared l1tex__data_bank_conflicts_pipe_lsu_mem_shared |
        awk 'NR == FNR { name[FNR - 1] = $0; next } { print name[$1] "," $2 - 1 "," $3 ",-" }' "$out/waves.list" -
    probes "$shared" $((total - 1)) l1tex__t_sectors_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_st |
        awk 'NR == FNR { name[FNR - 1] = $0; next } { print name[$1] ",-,-," $2 + $3 - 8 }' "$out/waves.list" -
} > "$out/waves.csv"
[ "$(wc -l < "$out/waves.csv")" -eq $(($(wc -l < "$out/waves.list") + 1)) ] || fail "ncu did not see every probe"
rm -f "$final"/*.golden
mv "$out"/*.golden "$out/waves.csv" "$final"

# What goes from block to block, of the forms that the file lists.
scratch=$(mktemp -d)
cp "$out/dshared.csv" "$scratch/before"
inst=sm__sass_inst_executed_op_dshared
sectors=l1tex__t_sectors_pipe_lsu_mem_dshared_op
{
    grep '^#' "$scratch/before"
    for form in $(grep -v '^#' "$scratch/before" | cut -d, -f1); do
        ncu --clock-control none --cache-control none --csv --page raw --print-units base \
            --metrics "${inst}_ld.sum,${inst}_st.sum,${inst}_stas.sum,${sectors}_ld.sum,${sectors}_st.sum" \
            "$golden" --only "$form" --full 0 "$scratch" 2>/dev/null |
            awk -F'","' -v form="$form" -v i="$inst" -v s="$sectors" '
                /^"ID"/ { for (c = 1; c <= NF; c++) { sub(/"$/, "", $c); column[$c] = c }; next }
                function value(name) { gsub(/[",]/, "", $column[name]); return $column[name] + 0 }
                /^"[0-9]/ { print form "," value(i "_ld.sum") "," value(i "_st.sum") + value(i "_stas.sum") "," \
                    value(s "_ld.sum") "," value(s "_st.sum") }'
    done
} > "$out/dshared.csv"
rm -r "$scratch"
