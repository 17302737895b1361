#!/bin/bash
# predict.sh CASES OUT.jsonl: what the predictor says for every case of CASES, one JSON line a case: the case's
# number, then what build/predict-N says of its main launch, of a tile (4:NAME) and of stage 5 what the program itself
# predicts, of own:PROGRAM what own.py says; "none" and why where it cannot. JOBS (2) at a time, or with SLURM as jobs of
# Slurm (setup/jobs.py), each for at most LIMIT s (300). Cases that OUT.jsonl has already are kept; what was interrupted goes
# on. CHIP=h100: for another chip. make freeze-predict builds what it needs, then runs it.
#
# predict.sh --case NUMBER STAGE OPTIONS: the line of one case
set -u
export build=${BUILD:-build}
# by_program PROGRAM OPTIONS...: cycles from a program's CSV, as predict-N would write them; none of one that was stopped,
# which extrapolates from what it has
by_program() {
    local program=$1 said
    shift
    said=$(timeout "${LIMIT:-300}" "$program" --device emu --csv --counters CYCLES "$@" 2> /dev/null) || return
    awk -F, '{for (i = 1; i < NF; i++) if ($i == "cycles_elapsed" || $i == "cycles_active") v[$i] = $(i + 1)}
         END {if (v["cycles_elapsed"] > 0) printf "{\"elapsed\": %.0f, \"active\": %.1f}\n", v["cycles_elapsed"], v["cycles_active"]}' <<< "$said"
}
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
if [ "$1" = --case ]; then
    one "${@:2}"
    exit
fi

cases=$1 out=$2
what() { # STAGE: what its answers depend on, in short
    case $1 in
        4:*) cat "$build/sweep/${1#4:}"/{stage-4,images/stage-4/*} ;;
        own:*) cat "$build/run" "$build/examples/${1#own:}" ;;
        *) cat "$build/stage-$1" "$build/predict-$1" "$build/images/stage-$1"/* ;;
    esac 2> /dev/null | cat - chips/*.txt | md5sum | cut -c1-12
}
declare -A known
touch "$out"
while read -r n stage options; do
    grep -q "\"case\": $n, \"[^n]" "$out" && continue
    : "${known[$stage]:=$(what "$stage")}"
    printf 'case-%d.%s\tBUILD=%q CHIP=%s LIMIT=%s %q --case %d %q %q > "$JSON"\n' "$n" "${known[$stage]}" "$build" "${CHIP-}" "${LIMIT-}" \
        "$0" "$n" "$stage" "$options"
done < <(grep -v '^#' "$cases" | awk -F'\t' '{printf "%d\t%s\t%s\n", NR, $1, $3}') |
    python3 setup/jobs.py run "$out.jobs" --slurm "${SLURM-}" --jobs "${JOBS:-2}" || exit
{ grep -v '"none"' "$out"; cat "$out.jobs/records.jsonl"; } | sort -t: -k2n > "$out.sorted" && mv "$out.sorted" "$out" && rm -rf "$out.jobs"
