#!/usr/bin/env bash
# compare.sh: run the chosen stages on one problem, put their records into one table, draw it.
#
#   DEVICE=... compare.sh "STAGE_DIR STAGE_DIR ..." [stage options]   (make compare does this)
#   RECORDED=h200 compare.sh ...      draw records/runs/h200.jsonl, run nothing
#
# Without options two problems are compared: one that fills the chip, and B1 H8 S512 D64, which leaves most of it idle and
# is drawn in the folder small. A GPU gets B4 H16 S4096 D128; the emulator B4 H16 S1024 D64, the largest recorded one that
# it runs in all stages in a minute of two cores.
#
# Writes results/compare/, of a recorded run results/compare-RECORDED/: run.jsonl and hot.jsonl (records; of lines, for the
# report), table.txt, notes.txt, labels.txt, says.txt (the sentence that each picture shows), of.txt (which records the
# pictures are of), NAME.png, NAME.svg.
# What an interrupted compare has finished is kept, and the next one goes on from there, if it is of the same stages,
# options, programs and images (done.txt, which a compare that ends removes). While a stage runs, each 10 s are said.
#
# Exit status: 0 drawn; 1 a stage gave a wrong answer; 5 files; 77 no gnuplot.
set -u
device=${DEVICE:-auto} dirs=$1
shift
out=results/compare${RECORDED:+-$RECORDED}
recorded=records/runs
small="B1 H8 S512 D64"

fail() { echo "compare: $2" >&2; exit "$1"; }
drawable() { # recorded runs that have a stage's time and counters
    local file
    for file in $recorded/*.jsonl; do
        grep -q '^[1-9][^ ]* B[^ ]* [0-9.]* [0-9]' <(build/columns "$file" -- stage problem.text counters.tensor_active_pct samples.median_us 2> /dev/null) &&
            basename "$file" .jsonl
    done | paste -sd' '
}
[[ ${RECORDED:-} =~ ^[A-Za-z0-9._-]*$ ]] || fail 2 "RECORDED names a file of $recorded without .jsonl: $(drawable)"
[ -z "${RECORDED:-}" ] || [ $# -eq 0 ] || fail 2 "ARGS and RECORDED exclude each other: a recorded run is drawn as it was; choose one with PROBLEM"
[ -n "${RECORDED:-}" ] || [ -z "${PROBLEM:-}" ] || fail 2 "PROBLEM chooses a recorded run: add RECORDED=h200, or give the problem in ARGS"
[ -z "${RECORDED:-}" ] || [ -f "$recorded/$RECORDED.jsonl" ] || fail 5 "there is no $recorded/$RECORDED.jsonl; these can be drawn: $(drawable)"
mkdir -p "$out" 2>/dev/null && [ -w "$out" ] || fail 5 "cannot write to $out: make it writable"
exec 9> "$out/.lock" && flock -n 9 || { echo "compare: waits for another compare in $PWD" >&2; flock 9; }

stages=$(for d in $dirs; do basename "$d"; done | tr '\n' ' ')
series=() wrong=0 strict=()
[[ " $* " != *" --strict "* ]] || strict=(--strict)
rm -rf "$out"/*.png "$out"/*.svg "$out"/of.txt "$out/small" # of other records

# Finished parts of a compare, below the checksum of all that they depend on.
inputs() {
    echo "$device" "$stages" "$@"
    for s in $stages; do cat build/stage-"${s%%-*}" build/images/stage-"${s%%-*}"/*.{ptx,cubin} 2> /dev/null; done
}
resume() { # OPTIONS...
    local key
    key=$(inputs "$@" | cksum)
    [ "$(head -n 1 "$out/done.txt" 2> /dev/null)" = "$key" ] && [ -s "$records" ] && return
    rm -f "$records" "$out/hot.jsonl"
    echo "$key" > "$out/done.txt"
}
finished() { grep -qxF "$1" "$out/done.txt" && echo "kept: it ended before the interruption" >&2; }

ticker=
trap '[ -z "$ticker" ] || kill "$ticker" 2> /dev/null' EXIT
exec 8>&2 # what a command says goes to its log
said() { # COMMAND...: the seconds that it has run so far, each 10 of them
    local status pause=
    (
        trap 'kill $pause 2> /dev/null; exit' TERM
        for ((n = 10; ; n += 10)); do
            sleep 10 & pause=$!
            wait $pause
            kill -0 $$ 2> /dev/null || exit
            printf '%d s ... ' $n >&8
        done
    ) 9>&- &
    ticker=$!
    "$@"
    status=$?
    kill $ticker 2> /dev/null
    wait $ticker 2> /dev/null
    ticker=
    return $status
}

counters=TENSOR,SHARED,OCCUPANCY,MEMORY,STALL,CYCLES
run_all() { # WHICH OPTIONS...: every chosen stage on one problem, into run.jsonl
    local which=$1 s n status began
    shift
    for s in $stages; do
        n=${s%%-*}
        began=$SECONDS
        printf 'compare: %s problem, stage %s ... ' "$which" "$s" >&2
        finished "$which $s" && continue
        said build/alone timeout --foreground 3600 build/stage-"$n" --device "$device" --quiet --json $out/run.jsonl \
            --counters $counters "$@" > $out/stage-"$n".log 2>&1
        status=$?
        case $status in
            0)
                echo "$which $s" >> $out/done.txt
                echo "done, $((SECONDS - began)) s" >&2
                ;;
            1) echo "WRONG: see $out/stage-$n.log" >&2; wrong=1 ;;
            130 | 143) exit $status ;;
            124) echo "left out: no end within an hour" >&2 ;;
            *) echo "left out: $(tail -n 1 $out/stage-"$n".log)" >&2 ;;
        esac
    done
}

problems=()
if [ -n "${RECORDED:-}" ]; then
    file=$recorded/$RECORDED.jsonl
    problem=${PROBLEM:-B4 H16 S4096 D128}
    [[ $problem != *[[:cntrl:]]* ]] || fail 2 "PROBLEM is one line, as in a record: B1 H8 S512 D64"
    there=$(build/columns "$file" -- problem.text 2> /dev/null | grep '^B' | sort -u)
    grep -qxF "${problem// /_}" <<< "$there" ||
        fail 5 "no record of '$problem' in $file; recorded are: $(paste -sd, <<< "${there//_/ }")"
    [ -n "${PROBLEM:-}" ] || ! grep -qxF "${small// /_}" <<< "$there" || problems=("$small")
    problems+=("$problem")
    series+=("$RECORDED, recorded=$file")
    records=$file
else
    records=$out/run.jsonl
    resume "$@"
    lines=("$@")
    if [ $# -gt 0 ]; then
        run_all given "$@"
    else
        run_all small
        [ -s "$records" ] || fail 77 "no stage could run here; try: make compare RECORDED=h200"
        problems+=("$small")
        if [[ $(build/tabulate --print-device "$records") == emulator* ]]; then
            run_all large --batch 4 --heads 16 --seqlen 1024 --no-races # the small problem has been looked at for races
        else
            lines=(--batch 4 --heads 16 --seqlen 4096 --head-dim 128)
            run_all large "${lines[@]}"
        fi
    fi
    [ -s "$records" ] || fail 77 "no stage could run here; try: make compare RECORDED=h200"
    problem=$(build/tabulate --print-problem "$records")
    [ "${problems[*]}" = "$problem" ] || problems+=("$problem")
    kind=$(build/tabulate --print-device "$records")
    series+=("$kind=$records")
    # Beside the emulator's counts and predictions stand the recorded values of the GPU that it stands for, if there are any.
    like=${kind#"emulator ("}
    like=${like%")"}
    [[ $kind == emulator* ]] && [ -f "$recorded/$like.jsonl" ] && series=("$like, recorded=$recorded/$like.jsonl" "${series[@]}")
fi

read -r chip mhz sms < <(build/tabulate --print-chip "${series[0]#*=}" 2> /dev/null)
plots/ceilings.sh "$chip" "$mhz" > "$out/ceilings.txt"

tabulated() { # FOLDER PROBLEM: its tables, printed a series at a time
    mkdir -p "$1"
    build/tabulate --out "$1" --ceilings "$out/ceilings.txt" --problem "$2" --stages "$stages" "${strict[@]}" "${series[@]}" || exit 5
    awk -v sms="${sms:-0}" -f plots/says.awk "$1/labels.txt" "$1/table.txt" > "$1/says.txt"
    local kinds i=0 label
    mapfile -t kinds < <(sed '1d; s/.* //' "$1/labels.txt")
    for label in "${series[@]%%=*}"; do
        [ "${kinds[i]}" = none ] || printf '\n%s: %s, %s\n' "$2" "$label" "${kinds[i]}"
        awk -v want="stage time_us launch_us launch_tflops tflops launch_peak_pct peak_pct tensor_active_pct bank_conflict_pct occupancy_achieved_pct ctas" \
            -v block=$i -v kind="${kinds[i]}" '
            function rounded(x) { return x ~ /^[0-9]+[.][0-9]+$/ ? sprintf(x < 1000 ? "%.4g" : "%.0f", x) : x } # table.txt has all digits
            BEGIN { n = split(want, name, " ") }
            $1 == "number" { at++; for (c = 1; c <= NF; c++) column[$c] = c }
            kind != "none" && at == block + 1 && NF && !/^#/ {
                line = ""
                for (k = 1; k <= n; k++) line = line (k > 1 ? " " : "") rounded($column[name[k]])
                print line
            }' "$1/table.txt" | awk -f plots/columns.awk
        i=$((i + 1))
    done
}
draw() { # FOLDER PROBLEM PLOT TERMINAL
    plots/draw.sh "plots/$3.gp" "$1/$3" "$4" "dir = '$1'; problem = '${2//\'/}${sms:+, $sms SMs}'; ceilings = '$out/ceilings.txt'" \
        "$(awk -F '\t' -v name="$3" '$1 == name {print $2}' "$1/says.txt")"
}
drawn() { # FOLDER PROBLEM
    local plot term roofline= status
    if [ "${TERM:-}" = dumb ]; then
        for plot in tensor time tflops conflicts occupancy; do draw "$1" "$2" $plot dumb || exit 5; done
        printf '%s\n' "$2"
        sed '1d; s/^"[^"]*" "\(.*\)" [a-z]*$/\1/' "$1/labels.txt"
    fi
    # Only where there are both times and bytes.
    ! grep -q '^No stage' <(sed -n 's/^roofline\t//p' "$1/says.txt") && [ "$(wc -l < "$out/ceilings.txt")" -gt 1 ] && roofline=roofline
    for plot in tensor time tflops peak conflicts occupancy stalls $roofline; do
        for term in png svg; do
            draw "$1" "$2" $plot $term
            status=$?
            [ $status -eq 0 ] || exit $status
        done
    done
    echo "compare: drawn of $2: $(cd "$1" && echo *.png) in $1" >&2
}

folder_of() { [ "$1" = "$problem" ] && echo "$out" || echo "$out/small"; }
for p in "${problems[@]}"; do tabulated "$(folder_of "$p")" "$p"; done
command -v gnuplot >/dev/null || { rm -f "$out/done.txt"; fail 77 "the table is in $out/table.txt; to draw it install gnuplot-nox (make setup)"; }
for p in "${problems[@]}"; do drawn "$(folder_of "$p")" "$p"; done
printf '%s\n%s\n%s\n' "$records" "$(cksum < "$records")" "$problem" > "$out/of.txt"

[ -n "${RECORDED:-}" ] || for s in $stages; do # what each line did, for make report
    printf 'compare: lines of stage %s ... ' "$s" >&2
    finished "lines $s" && continue
    said build/alone timeout --foreground 3600 build/stage-"${s%%-*}" --device "$device" --quiet --source --json $out/hot.jsonl \
        "${lines[@]}" > $out/lines.log 2>&1
    status=$?
    case $status in
        0)
            echo "lines $s" >> "$out/done.txt"
            echo done >&2
            ;;
        130 | 143) exit $status ;;
        *) echo "left out: $(tail -n 1 $out/lines.log)" >&2 ;;
    esac
done
rm -f "$out/done.txt"
exit $wrong
