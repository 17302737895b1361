#!/bin/bash
# steps.sh STAGE_FOLDER [stage options]: the rungs of a stage, from steps/1-NAME.cu to kernel.cu, each
# checked, timed and counted; then one table and one picture of the climb (make stage-N steps).
#
# The stage's steps/steps.txt has a line for each rung: its name, the factor that was expected of it over
# the one before, and why, separated by tabs. Its image is dDIM-NAME, the last one's dDIM.
# DEVICE, RECORDED=h200 (draw records/runs/h200-steps.jsonl, run nothing) come from the environment.
# Writes results/steps-N/: run.jsonl, steps.txt (the table), foot.txt, steps.png, steps.svg.
# Exit status: 0; 1 a rung gave a wrong answer; 2 the stage has no steps; 5 files; 77 no gnuplot.
set -u
folder=$1 stage=${1##*/}
shift
number=${stage%%-*}
out=results/steps-$number
list=$folder/steps/steps.txt

fail() { echo "steps: $2" >&2; exit "$1"; }
[ -f "$list" ] || fail 2 "stage-$number has no steps; these have: $(cd stages && echo */steps/steps.txt | sed 's,-[^/]*/steps/steps.txt,,g; s,^\| , stage-,g')"
mkdir -p "$out" 2> /dev/null && [ -w "$out" ] || fail 5 "cannot write to $out: make it writable"
image_of() { [ "$1" = kernel ] && echo "d$2" || echo "d$2-$1"; } # RUNG DIM

records=$out/run.jsonl wrong=0
if [ -n "${RECORDED:-}" ]; then
    records=records/runs/$RECORDED-steps.jsonl
    [ -f "$records" ] || fail 5 "there is no $records; recorded are: $(cd records/runs && echo *-steps.jsonl)"
else
    rm -f "$records"
    # On the emulator, a problem that each rung computes in seconds.
    problem="--batch 4 --heads 16 --seqlen 4096"
    build/stage-"$number" --device "${DEVICE:-auto}" --quiet --heads 1 --seqlen 64 --no-time --counters none --json "$records" > "$out/device.log" 2>&1 ||
        fail $? "stage $number does not run here: $(tail -n 1 "$out/device.log")"
    [[ $(build/columns "$records" -- device.name | tail -n 1) == emulator* ]] && problem="--heads 2 --seqlen 512"
    rm -f "$records"
    for dim in 64 128; do
        while IFS=$'\t' read -r rung _; do
            printf 'steps: %s, head_dim %d ... ' "$rung" $dim >&2
            # shellcheck disable=SC2086
            build/alone timeout --foreground 3600 build/stage-"$number" --device "${DEVICE:-auto}" --quiet --json "$records" \
                --counters TENSOR,SHARED,OCCUPANCY,MIX $problem --head-dim $dim --image "$(image_of "$rung" $dim)" "$@" \
                > "$out/$rung.log" 2>&1
            status=$?
            case $status in
                0) echo done >&2 ;;
                1) echo "WRONG: see $out/$rung.log" >&2; wrong=1 ;;
                130 | 143) exit $status ;;
                124) echo "left out: no end within an hour" >&2 ;;
                *) echo "left out: $(tail -n 1 "$out/$rung.log")" >&2 ;;
            esac
        done < "$list"
    done
    [ -s "$records" ] || fail 77 "no step could run here; try: make stage-$number steps RECORDED=h200"
fi

# One block for each head_dim, its first line the names of columns, then a row for each rung; "-" where there is no value.
newest() { # DIM RUNG: us TFLOPS tensor-% instructions of its newest record
    build/columns "$records" stage="$stage" problem.head_dim="$1" kernels.attention.image="$(image_of "$2" "$1")" -- \
        samples.median_us samples.tflops counters.tensor_active_pct counters.instructions | awk '!/^#/ {last = $0} END {print last ? last : "- - - -"}'
}
{
    for dim in 64 128; do
        [ $dim = 64 ] || printf '\n\n'
        echo "step dim us tflops tensor_pct instructions factor expected"
        before=-
        while IFS=$'\t' read -r rung expected _; do
            read -r us tflops tensor instructions <<< "$(newest $dim "$rung")"
            awk -v b="$before" -v u="$us" -v row="$rung $dim $us $tflops $tensor $instructions" -v e="$expected" \
                'BEGIN {printf "%s %s %s\n", row, (b == "-" || u == "-" ? "-" : sprintf("%.2f", b / u)), e}'
            before=$us
        done < "$list"
    done
} > "$out/steps.txt"
awk 'NF && !(/^step / && n++)' "$out/steps.txt" | awk -f plots/columns.awk
build/columns "$records" stage="$stage" -- problem.text device.name device.driver revision time | tail -n 1 |
    awk '{problem = $1; sub(/_D[0-9]+/, "", problem); gsub("_", " ", problem); gsub("_", " ", $2)
          printf "\"%s: %s, driver %s, revision %s, %s\"\n", problem, $2, $3, $4, substr($5, 1, 10)}' > "$out/foot.txt"

grep -qE '^[^#]+ [0-9.]+ [0-9.]+ [0-9.-]+ [0-9.-]+ ' "$out/steps.txt" && awk '!/^step / && NF && $4 != "-" {n++} END {exit !n}' "$out/steps.txt" ||
    { echo "steps: no times to draw: the table is $out/steps.txt" >&2; exit $wrong; }
command -v gnuplot > /dev/null || fail 77 "the table is $out/steps.txt; to draw it install gnuplot-nox (make setup)"
for term in png svg; do
    plots/draw.sh plots/steps.gp "$out/steps" "$term" "dir = '$out'; heading = 'Stage $number, step by step'" || exit
done
echo "steps: drawn: $out/steps.png" >&2
exit $wrong
