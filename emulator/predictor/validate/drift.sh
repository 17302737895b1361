#!/bin/bash
# drift.sh FILE: FILE again, its cycles predicted anew (make drift writes tests/golden/drift.tsv so). A line of it is
# stage, options of build/stage-N, predicted cycles, tab separated; # begins a comment.
set -eu
while IFS=$'\t' read -r stage options cycles; do
    case $stage in \#*) echo "$stage${options:+$'\t'$options}${cycles:+$'\t'$cycles}"; continue ;; esac
    # shellcheck disable=SC2086
    said=$("${BUILD:-build}/stage-$stage" --device emu --no-check --counters CYCLES --csv $options 2>&1) || { echo "drift: stage-$stage $options: $said" >&2; exit 1; }
    cycles=$(awk -F, '$5 == "cycles_elapsed" && $6 ~ /^[0-9]/ {printf "%.0f", $6}' <<< "$said")
    [ -n "$cycles" ] || { echo "drift: stage-$stage $options: no prediction; $(grep -m 1 cycles_elapsed <<< "$said")" >&2; exit 1; }
    printf '%s\t%s\t%s\n' "$stage" "$options" "$cycles"
done < "$1"
