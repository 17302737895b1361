#!/usr/bin/env bash
# draw.sh SCRIPT OUT TERM ASSIGNMENTS: the picture OUT.TERM that gnuplot's SCRIPT draws, whole or not
# at all. It is drawn under another name, so an interrupted gnuplot leaves the old picture as it was.
# ASSIGNMENTS are gnuplot's ("dir = 'results'; window = 100"); TERM dumb prints to the terminal.
set -u
script=$1 out=$2 term=$3 assignments=$4
[ "$term" != dumb ] || exec gnuplot -e "$assignments; out = ''; term = 'dumb'" "$script"
drawn=$(mktemp -d "$out.XXXXXX") || exit 5
trap 'rm -rf "$drawn"' EXIT
# Ctrl-C must not reach gnuplot: its own handler may hang.
gnuplot= # its process
trap 'kill -KILL $gnuplot 2> /dev/null; exit 130' INT
trap 'kill -KILL $gnuplot 2> /dev/null; exit 143' TERM
env --block-signal=INT gnuplot -e "$assignments; out = '$drawn/plot'; term = '$term'" "$script" &
gnuplot=$!
wait $gnuplot && [ -s "$drawn/plot.$term" ] && mv -f "$drawn/plot.$term" "$out.$term"
