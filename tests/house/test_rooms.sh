#!/bin/bash
# What lies where: what boards measured is in records/, and code rooms hold none of it.
. tests/tap.sh

# Measurements by their form: records, tables, pictures. tests/ has golden files; chips/NAME.txt are parameters.
data_files() { ! printf '%s\n' "$@" | grep -vE '^(records|tests)/' | grep -E '\.(jsonl|tsv|csv|gz|png|svg|npy)$'; }

# And by what they say: a board and a date in code or its comments is a lab book's entry.
dated() {
    ! grep -HnE '\b(H100|H200|A100|L4|RTX ?4090)\b.*\b20[0-9][0-9]-[01][0-9]-[0-3][0-9]\b' "$@"
}

mapfile -t tracked < <(git ls-files)
mapfile -t code < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.py' '*.sh' '*.mk' '*.gp' Makefile | grep -v '^records/')
check "measurements are in records/" data_files "${tracked[@]}"
check "no code tells when a board was measured" dated "${code[@]}"
top() { [ "$(git ls-files | grep / | cut -d/ -f1 | grep -vE '^\.' | sort -u | paste -sd' ')" = "$1" ]; }
check "twelve folders at the top, not one more" \
    top "chips common emulator examples notebooks plots profiler records runtime setup stages tests"

# Each of these must be able to fail.
fails() { ! "$@" > "$tap_dir/said" && grep -q "$wanted" "$tap_dir/said"; }
wanted='^stages/1-scalar/run.jsonl$' check "a record beside code is found" fails data_files README.md stages/1-scalar/run.jsonl
echo "/* An H200 took 5.6 us, $(date +%Y-%m-%d). */" > "$tap_dir/dated.c"
wanted='dated.c:1:' check "a dated measurement in code is found" fails dated "$tap_dir/dated.c" Makefile
tap_done
