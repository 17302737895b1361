#!/usr/bin/env bash
# draw.sh SCRIPT OUT TERM ASSIGNMENTS [SENTENCE]: the picture OUT.TERM that gnuplot's SCRIPT draws, whole or not
# at all. It is drawn under another name, so an interrupted gnuplot leaves the old picture as it was.
# ASSIGNMENTS are gnuplot's ("dir = 'results'; window = 100"); TERM dumb prints to the terminal. SENTENCE says what the
# picture shows: the alternative text of an svg. Exit status: 0; 5 with a sentence: no picture; 130, 143 interrupted.
set -u
export LC_ALL=C.UTF-8 # in the C locale gnuplot cannot print its signs
script=$1 out=$2 term=$3 assignments=$4 sentence=${5:-}
[ "$term" != dumb ] || exec gnuplot -e "$assignments; out = ''; term = 'dumb'" "$script"
fail() { echo "draw: $1" >&2; exit 5; }
drawn=$(mktemp -d "$out.XXXXXX" 2> /dev/null) || fail "cannot write beside $out: make its folder writable"
trap 'rm -rf "$drawn"' EXIT
# Ctrl-C does not reach gnuplot, which may hang for ever in its own answer to it.
gnuplot= # its process
trap 'kill -KILL $gnuplot 2> /dev/null; exit 130' INT
trap 'kill -KILL $gnuplot 2> /dev/null; exit 143' TERM
env --block-signal=INT gnuplot -e "$assignments; out = '$drawn/plot'; term = '$term'" "$script" &
gnuplot=$!
wait $gnuplot || fail "gnuplot could not draw $out.$term"
# gnuplot says nothing of a full disk: a picture that is whole has its end.
case $term in png) end=IEND ;; *) end='</svg>' ;; esac
tail -c 12 "$drawn/plot.$term" 2> /dev/null | grep -qaF "$end" || fail "$out.$term is not whole: is the disk full?"
if [ "$term" = svg ] && [ -n "$sentence" ]; then
    SENTENCE=$sentence awk '
        BEGIN { says = ENVIRON["SENTENCE"]; gsub(/&/, "\\&amp;", says); gsub(/</, "\\&lt;", says); gsub(/>/, "\\&gt;", says); gsub(/&/, "\\\\&", says) }
        !told && /<title>/ { sub(/<title>[^<]*<\/title>/, "<title>" says "</title>"); told = 1 }
        !named && /<svg/ { sub(/<svg/, "<svg role=\"img\""); named = 1 }
        { print }' "$drawn/plot.svg" > "$drawn/told.svg" 2> /dev/null && mv "$drawn/told.svg" "$drawn/plot.svg" ||
        fail "cannot write $out.svg: is the disk full?"
fi
mv -f "$drawn/plot.$term" "$out.$term" 2> /dev/null || fail "cannot write $out.$term: make it writable"
