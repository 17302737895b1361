#!/usr/bin/env bash
# draw.sh SCRIPT OUT TERM ASSIGNMENTS [SENTENCE]: the picture OUT.TERM that gnuplot's SCRIPT draws, whole or not
# at all. It is drawn under another name, so an interrupted gnuplot leaves the old picture as it was.
# ASSIGNMENTS are gnuplot's ("dir = 'results'; window = 100"); TERM dumb prints to the terminal. SENTENCE says what the
# picture shows: the alternative text of an svg.
set -u
export LC_ALL=C.UTF-8 # in the C locale gnuplot cannot print its signs
script=$1 out=$2 term=$3 assignments=$4 sentence=${5:-}
[ "$term" != dumb ] || exec gnuplot -e "$assignments; out = ''; term = 'dumb'" "$script"
drawn=$(mktemp -d "$out.XXXXXX") || exit 5
trap 'rm -rf "$drawn"' EXIT
# Ctrl-C does not reach gnuplot, which may hang for ever in its own answer to it.
gnuplot= # its process
trap 'kill -KILL $gnuplot 2> /dev/null; exit 130' INT
trap 'kill -KILL $gnuplot 2> /dev/null; exit 143' TERM
env --block-signal=INT gnuplot -e "$assignments; out = '$drawn/plot'; term = '$term'" "$script" &
gnuplot=$!
wait $gnuplot && [ -s "$drawn/plot.$term" ] || exit
if [ "$term" = svg ] && [ -n "$sentence" ]; then
    SENTENCE=$sentence awk '
        BEGIN { says = ENVIRON["SENTENCE"]; gsub(/&/, "\\&amp;", says); gsub(/</, "\\&lt;", says); gsub(/>/, "\\&gt;", says); gsub(/&/, "\\\\&", says) }
        !told && /<title>/ { sub(/<title>[^<]*<\/title>/, "<title>" says "</title>"); told = 1 }
        !named && /<svg/ { sub(/<svg/, "<svg role=\"img\""); named = 1 }
        { print }' "$drawn/plot.svg" > "$drawn/told.svg" && mv "$drawn/told.svg" "$drawn/plot.svg" || exit 5
fi
mv -f "$drawn/plot.$term" "$out.$term"
