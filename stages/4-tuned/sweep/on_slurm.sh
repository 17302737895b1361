#!/usr/bin/env bash
# on_slurm.sh OUT_DIR [stage options]: run.sh, with each tile a job of Slurm (make stage-4 sweep SLURM=1). Writes
# OUT_DIR/sweep.jsonl. SLURM and SWEEP_TILES come from the environment. Exit status: that of setup/jobs.py.
set -u
out=$1
shift
gpu=(--gpu)
[[ " $* " != *" --device emu "* ]] || gpu=()
while read -r dim bq bkv warps groups stages q ctas; do
    tile=d$dim-${bq}x$bkv-w${warps}x$groups-s$stages-q$q-c$ctas
    [[ $tile == "${SWEEP_TILES:-}"* ]] || continue
    what=$({ echo "$*"; cat "build/sweep/$tile"/stage-4 "build/sweep/$tile"/images/stage-4/*.[pc]*; } | md5sum | cut -c1-12)
    printf '%s.%s\tSWEEP_TILES=%s stages/4-tuned/sweep/run.sh %q%s && cat %q/sweep.jsonl > "$JSON"\n' \
        "$tile" "$what" "$tile" "$out/jobs/of/$tile" "$(printf ' %q' "$@")" "$out/jobs/of/$tile"
done < <(grep -E '^[0-9]' stages/4-tuned/sweep/tiles.txt) |
    python3 setup/jobs.py run "$out/jobs" --slurm "$SLURM" --ok 0,77 "${gpu[@]}"
status=${PIPESTATUS[1]}
[ "$status" -gt 1 ] || cp "$out/jobs/records.jsonl" "$out/sweep.jsonl"
exit "$status"
