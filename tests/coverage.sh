#!/bin/bash
# coverage.sh start|table: before the tests of `make coverage` run, old counts are removed; after them the
# share of lines that ran is printed for each file of the library, and for all.
set -u
there=${BUILD:-build}/coverage
if [ "$1" = start ]; then
    mkdir -p "$there" && ln -sfn ../images "$there/images"
    find "$there" -name '*.gcda' -delete
    exit
fi
mapfile -t counts < <(find "$there"/{common,profiler,emulator} -name '*.gcda')
gcov -rp "${counts[@]}" 2> /dev/null |
    awk -F"[':% ]+" '/^File/ {file = $2}
        /^Lines/ && file ~ /^(common|profiler|emulator)\/.*\.c$/ {
            printf "%6.1f %% of %4d lines  %s\n", $3, $5, file
            run += $3 * $5 / 100; all += $5; file = "" }
        END {printf "%6.1f %% of %d lines\n", 100 * run / all, all}' | sort -n
mv -- *.gcov "$there"
