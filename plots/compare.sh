#!/usr/bin/env bash
# compare.sh: run the chosen stages on one problem, put their records into one table, draw it.
#
#   DEVICE=... compare.sh "STAGE_DIR STAGE_DIR ..." [stage options]   (make compare does this)
#   RECORDED=h200 compare.sh ...      draw records/runs/h200.jsonl, run nothing
#
# Writes results/compare/: run.jsonl and hot.jsonl (records; of lines, for the report), table.txt, notes.txt, labels.txt, NAME.png, NAME.svg.
# Exit status: 0 drawn; 1 a stage gave a wrong answer; 5 files; 77 no gnuplot.
set -u
device=${DEVICE:-auto} dirs=$1
shift
out=results/compare
recorded=records/runs

fail() { echo "compare: $2" >&2; exit "$1"; }
[[ ${RECORDED:-} =~ ^[A-Za-z0-9._-]*$ ]] || fail 2 "RECORDED names a file of $recorded without .jsonl: $(cd $recorded && echo *.jsonl)"
mkdir -p $out 2>/dev/null && [ -w $out ] || fail 5 "cannot write to $out: make it writable"
exec 9> $out/.lock && flock -n 9 || { echo "compare: waits for another compare in $PWD" >&2; flock 9; }

stages=$(for d in $dirs; do basename "$d"; done | tr '\n' ' ')
series=() problem= wrong=0
[ -z "${RECORDED:-}" ] || [ $# -eq 0 ] || fail 2 "ARGS and RECORDED exclude each other: a recorded run is drawn as it was; choose one with PROBLEM"
[ -n "${RECORDED:-}" ] || [ -z "${PROBLEM:-}" ] || fail 2 "PROBLEM chooses a recorded run: add RECORDED=h200, or give the problem in ARGS"

if [ -n "${RECORDED:-}" ]; then
    file=$recorded/$RECORDED.jsonl
    [ -f "$file" ] || fail 5 "there is no $file; recorded are: $(cd $recorded && ls -- *.jsonl 2>/dev/null | sed 's/.jsonl//' | tr '\n' ' ')"
    problem=${PROBLEM:-B4 H16 S4096 D128}
    [[ $problem != *[[:cntrl:]]* ]] || fail 2 "PROBLEM is one line, as in a record: B1 H8 S512 D64"
    problems=$(build/columns "$file" -- problem.text | awk '!/^#/ && /^B/ {print $1}' | sort -u)
    grep -qxF "${problem// /_}" <<< "$problems" ||
        fail 5 "no record of '$problem' in $file; recorded are: $(paste -sd, <<< "${problems//_/ }")"
    series+=("$RECORDED, recorded=$file")
else
    # Without options a GPU gets a problem that fills it; the emulator the one that it can do in seconds.
    if [ $# -eq 0 ] && first=${stages%% *} && build/stage-"${first%%-*}" --device "$device" --no-check --no-time --counters none --quiet \
        --json $out/probe.jsonl > /dev/null 2>&1 && [[ $(build/tabulate --print-device $out/probe.jsonl) != emulator* ]]; then
        set -- --batch 4 --heads 16 --seqlen 4096 --head-dim 128
    fi
    rm -f $out/probe.jsonl
    rm -f $out/run.jsonl $out/hot.jsonl
    for s in $stages; do
        n=${s%%-*}
        printf 'compare: stage %s ... ' "$s" >&2
        flock -F build/device.lock timeout --foreground 3600 build/stage-"$n" --device "$device" --quiet --json $out/run.jsonl \
            --counters TENSOR,SHARED,OCCUPANCY,MEMORY,STALL,CYCLES "$@" > $out/stage-"$n".log 2>&1
        status=$?
        case $status in
            0) echo done >&2 ;;
            1) echo "WRONG: see $out/stage-$n.log" >&2; wrong=1 ;;
            130 | 143) exit $status ;;
            124) echo "left out: no end within an hour" >&2 ;;
            *) echo "left out: $(tail -n 1 $out/stage-"$n".log)" >&2 ;;
        esac
    done
    [ -s $out/run.jsonl ] || fail 77 "no stage could run here; try: make compare RECORDED=h200"
    problem=$(build/tabulate --print-problem $out/run.jsonl)
    kind=$(build/tabulate --print-device $out/run.jsonl)
    series+=("$kind=$out/run.jsonl")
    # Beside the emulator's counts and predictions stand the recorded values of a real GPU, where there are any.
    [[ $kind == emulator* ]] && [ -f $recorded/h200.jsonl ] && series=("h200, recorded=$recorded/h200.jsonl" "${series[@]}")
fi

read -r chip mhz sms < <(build/tabulate --print-chip "${series[0]#*=}")
plots/ceilings.sh "$chip" "$mhz" > $out/ceilings.txt
build/tabulate --out $out --ceilings $out/ceilings.txt --problem "$problem" --stages "$stages" "${series[@]}" || exit 5
grep -v '^$' $out/table.txt | grep -v '^# [^n]' | sed 's/^# //' | cut -d ' ' -f 1-12 | column -t

command -v gnuplot >/dev/null || fail 77 "the table is in $out/table.txt; to draw it install gnuplot-nox (make setup)"
draw() { # draw PLOT TERMINAL
    plots/draw.sh "plots/$1.gp" "$out/$1" "$2" "dir = '$out'; problem = '${problem//\'/}${sms:+; $sms SMs}'; ceilings = '$out/ceilings.txt'"
}
if [ "${TERM:-}" = dumb ]; then
    for plot in tensor time tflops conflicts occupancy; do draw $plot dumb || exit 5; done
    printf '%s\n' "$problem"
    sed 's/^"[^"]*" "\(.*\)"$/\1/' $out/labels.txt
fi
roofline=
[ -s $out/ceilings.txt ] && awk '!/^#/ && NF > 15 && $5 != "-" && $16 != "-" {some = 1} END {exit !some}' $out/table.txt && roofline=roofline
for plot in tensor time tflops conflicts occupancy stalls $roofline; do
    for term in png svg; do
        draw $plot $term
        status=$?
        case $status in 0) ;; 130 | 143) exit $status ;; *) fail 5 "gnuplot could not draw $out/$plot.$term" ;; esac
    done
done
echo "compare: drawn: $(cd $out && echo *.png) in $out" >&2
[ -n "${RECORDED:-}" ] || for s in $stages; do # what each line did, for make report
    printf 'compare: lines of stage %s ... ' "$s" >&2
    flock -F build/device.lock timeout --foreground 3600 build/stage-"${s%%-*}" --device "$device" --quiet --source --json $out/hot.jsonl \
        "$@" > $out/lines.log 2>&1
    status=$?
    case $status in 0) echo done >&2 ;; 130 | 143) exit $status ;; *) echo "left out: $(tail -n 1 $out/lines.log)" >&2 ;; esac
done
exit $wrong
