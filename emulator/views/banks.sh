#!/bin/bash
# banks.sh STAGE LINE ACCESS png|dumb [stage options]: the bank map of one shared access of a line of the stage's
# kernel, as a table in results/banks/ and drawn (make stage-1 banks LINE=102 ACCESS=2 does this).
# Exit status: 0; 2 no such line or access; 5 files; 77 no gnuplot; or the stage's own.
set -uf
stage=$1 line=$2 access=$3 term=$4
shift 4
build=${BUILD:-build} out=results/banks/$stage-$line
fail() { echo "$2" >&2; exit "$1"; }

test "$line" -gt 0 2> /dev/null && test "$access" -ge 0 2> /dev/null ||
    fail 2 "make: say which line: make $stage banks LINE=102 (make $stage source shows them)"
said=$("$build/$stage" --device emu --quiet --no-check --no-races --source --banks "$line" "$@") || exit
map=$(awk '/^# (lane|row) bank/ {on = 1} on && NF == 0 {on = 0} /^# / || (on && NF == 4) || NF == 0' <<< "$said")
n=$(grep -c '^# [a-z]* bank word' <<< "$map")
lines_with_access() {
    "$build/$stage" --device emu --no-check --no-races --source --csv "$@" 2> /dev/null |
        awk -F, '$1 == "line" && $2 ~ /kernel.cu$/ && $7 == "shared_wavefronts" && $8 > 0 {print $3}' | sort -nu | paste -sd' '
}
[ "$n" -gt 0 ] || fail 2 "make: block 0 makes no shared access at line $line of $stage; these lines make some: $(lines_with_access "$@")"
[ "$access" -lt "$n" ] || fail 2 "make: line $line of $stage makes $n shared accesses: ACCESS=0 to $((n - 1))"
mkdir -p results/banks 2> /dev/null && [ -w results/banks ] || fail 5 "make: cannot write to results/banks: make it writable"
printf '%s\n' "$map" > "$out.txt"

command -v gnuplot > /dev/null || fail 77 "banks: the map is in $out.txt; to draw it install gnuplot-nox (make setup)"
nth() { sed -n "$1" "$out.txt" | sed -n $((access + 1))p; } # SED-COMMAND: what it prints of this access
unit=$(nth 's/^# \([a-z]*\) bank word.*/\1/p')
caption=$(nth 's/^# \(.*at best\)$/\1/p')
plots/draw.sh emulator/views/banks.gp "$out" "$term" \
    "data='$out.txt'; access=$access; head='$stage, line $line, access $access'; unit='$unit'; caption='$caption'" || exit
echo "$out.txt$([ "$term" != png ] || echo ", and .png")"
