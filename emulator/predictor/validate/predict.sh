#!/bin/bash
# predict.sh CASES OUT.jsonl: what the predictor says for every case of CASES, one JSON line a case: the case's
# number, then what build/predict-N says of its main launch, of a tile (4:NAME) and of stage 5 what the program itself
# predicts, of own:PROGRAM what own.py says; "none" and why where it cannot. JOBS (2) at a time, each for at most LIMIT s (300). Cases that OUT.jsonl
# has already are kept: what was interrupted goes on. CHIP=h100: for another chip. make freeze-predict builds what it needs, then runs it.
set -u
cases=$1 out=$2
export build=${BUILD:-build} out
# by_program PROGRAM OPTIONS...: cycles from a program's CSV, as predict-N would write them; none of one that was stopped,
# which extrapolates from what it has
by_program() {
    local program=$1 said
    shift
    said=$(timeout "${LIMIT:-300}" "$program" --device emu --csv --counters CYCLES "$@" 2> /dev/null) || return
    awk -F, '{for (i = 1; i < NF; i++) if ($i == "cycles_elapsed" || $i == "cycles_active") v[$i] = $(i + 1)}
         END {if (v["cycles_elapsed"] > 0) printf "{\"elapsed\": %.0f, \"active\": %.1f}\n", v["cycles_elapsed"], v["cycles_active"]}' <<< "$said"
}
export -f by_program
one() {
    local number=$1 stage=$2 options=$3 said
    # shellcheck disable=SC2086
    case $stage in
        5) said=$(by_program "$build/stage-5" $options) ;;
        own:*) said=$(timeout "${LIMIT:-300}" python3 emulator/predictor/validate/own.py predict "$build" "${stage#own:}" $options) ;;
        4:*) said=$(by_program "$build/sweep/${stage#4:}/stage-4" --no-check --no-time $options) ;;
        *) said=$(timeout "${LIMIT:-300}" "$build/predict-$stage" ${CHIP:+"--chip=$CHIP"} $options 2> /dev/null | head -n 1) ;;
    esac
    case $said in
        \{*) printf '{"case": %d, %s\n' "$number" "${said#\{}" ;;
        *) printf '{"case": %d, "none": "no prediction in %s s"}\n' "$number" "${LIMIT:-300}" ;;
    esac
}
export -f one
touch "$out"
grep -v '^#' "$cases" | awk -F'\t' '{printf "%d\t%s\t%s\n", NR, $1, $3}' |
    while IFS= read -r line; do grep -q "\"case\": ${line%%$'\t'*}, \"[^n]" "$out" || printf '%s\0' "$line"; done |
    xargs -0 -r -P "${JOBS:-2}" -I{} bash -c 'IFS=$'"'\t'"' read -r n s o <<< "$1"; one "$n" "$s" "$o" >> "$out.new"' _ {}
{ grep -v '"none"' "$out"; cat "$out.new" 2> /dev/null; } | sort -t: -k2n > "$out.sorted" && mv "$out.sorted" "$out" && rm -f "$out.new"
