#!/usr/bin/env bash
# run.sh OUT_DIR [stage options]: check, then time every tile of stage 4's sweep, with progress
# (make stage-4 sweep does this, and before it looks for a GPU and builds the tiles).
#
# Problems: B2 H16 S4096 with the tile's head_dim, B1 H8 S512 for tiles with several groups, with and without
# a mask; options given here come last and win. A tile that is too large for the chip, or wrong, has a line
# that says so and no record. Writes OUT_DIR/sweep.jsonl; a record's "command" names its tile. On the emulator
# (--device emu) a tile is checked on a small problem, and its time is predicted, of B1 H16 S1024.
# SWEEP_TILES: the begin of the names of those to try.
# Exit status: 0; 1 a tile gave a wrong answer; 5 files; 77 no tile could run here.
set -u
out=$1
shift

fail() { echo "stage-4 sweep: $2" >&2; exit "$1"; }
mkdir -p "$out" 2> /dev/null && [ -w "$out" ] || fail 5 "cannot write to $out: make it writable"
rm -f "$out/sweep.jsonl"

# cell GROUP NAME COLUMN: of the last run's CSV
cell() { awk -F, -v g="$1" -v n="$2" -v c="$3" '$4 == g && $5 == n {print $c; exit}' "$out/run.csv"; }

emulated=
[[ " $* " == *" --device emu "* ]] && emulated=1

# run TILE OPTIONS...: one line of progress
run() {
    local tile=$1 said code timed="--min-time 0.1 --counters OCCUPANCY"
    shift
    if [ "$emulated" ]; then
        "build/sweep/$tile/stage-4" "$@" --batch 1 --heads 1 --seqlen 200 --counters none --quiet > /dev/null 2> "$out/run.log" ||
            { code=$?; [ $code -lt 128 ] || exit $code; tail -n 1 "$out/run.log"; [ $code != 1 ] || status=1; return; }
        timed="--no-check --no-time --counters OCCUPANCY,CYCLES"
    fi
    # shellcheck disable=SC2086
    build/alone timeout --foreground 3600 "build/sweep/$tile/stage-4" --csv --json "$out/sweep.jsonl" \
        $timed "$@" > "$out/run.csv" 2> "$out/run.log"
    code=$?
    [ $code -ge 128 ] && exit $code
    said=$(tail -n 1 "$out/run.log")
    if [ $code = 0 ]; then
        said=$(cell time rate 6)
        said="${said:--} TFLOPS${emulated:+ predicted}, $(cell kernel attention 6) registers"
        said+=", $(grep -oE '[0-9]+ local' "$out/run.csv" | head -n 1 | cut -d' ' -f1) bytes spilled"
        said+=", $(cell OCCUPANCY blocks_per_sm 6) CTAs on an SM"
    fi
    echo "$said"
    [ $code != 1 ] || status=1
}

status=0 i=0
mapfile -t lines < <(grep -E '^[0-9]' stages/4-tuned/sweep/tiles.txt)
n=$(for line in "${lines[@]}"; do
    read -r dim bq bkv warps groups stages q ctas <<< "$line"
    echo "d$dim-${bq}x$bkv-w${warps}x$groups-s$stages-q$q-c$ctas"
done | grep -c "^${SWEEP_TILES:-}" || true)
n=$((2 * n))
for line in "${lines[@]}"; do
    read -r dim bq bkv warps groups stages q ctas <<< "$line"
    tile=d$dim-${bq}x$bkv-w${warps}x$groups-s$stages-q$q-c$ctas
    [[ $tile == "${SWEEP_TILES:-}"* ]] || continue
    problem="--batch 2 --heads 16 --seqlen 4096"
    [ "$emulated" ] && problem="--heads 16 --seqlen 1024"
    [ "$groups" -gt 1 ] && problem="--batch 1 --heads 8 --seqlen 512"
    for mask in "" --causal; do
        printf '%3d/%d %s%s: ' $((++i)) "$n" "$tile" "${mask:+ causal}"
        # shellcheck disable=SC2086
        run "$tile" $problem --head-dim "$dim" $mask "$@"
    done
done
[ -s "$out/sweep.jsonl" ] || fail 77 "no tile could run here; try: make stage-4 sweep RECORDED=h200"
exit $status
