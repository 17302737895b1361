#!/bin/bash
# One name for one thing: the tag of a struct, union or enum, and a name that other files can link with, is defined
# once in the host code. Each stage, test and benchmark is a program of its own and may reuse names of others.
. tests/tap.sh

# Two definitions on purpose: one interface with two implementations, of which a program has one or chooses one.
twice_on_purpose='device_image|subject_[a-z]+|trial_draw|trial_judge' # a GPU and the emulator; attention and products

host_code() { git ls-files 'common/*.[ch]' 'emulator/*.[ch]' 'profiler/*.[ch]' 'runtime/*.[ch]' 'chips/*.[ch]' 'plots/*.[ch]' 'notebooks/*.[ch]' |
    grep -vE '^emulator/bench/'; }

# tags FILE...: "TAG FILE" of each definition
tags() { grep -HE '^ *(typedef )?(struct|union|enum) [a-z_0-9]+ \{' "$@" |
    sed -E 's/^([^:]+): *(typedef )?(struct|union|enum) ([a-z_0-9]+) \{.*/\4 \1/'; }
twice() { awk '{n[$1]++; where[$1] = where[$1] " " $2} END {for (t in n) if (n[t] > 1) print t ":" where[t]}' | sort; }
unique_tags() { local found; found=$(tags "$@" | twice | grep -vE "^($twice_on_purpose):"); [ -z "$found" ] || { echo "$found"; return 1; }; }

# names OBJECT...: "NAME OBJECT" of each external definition
names() { nm -A --defined-only --extern-only "$@" 2> /dev/null | awk '$2 != "" && $(NF - 1) ~ /^[TDBR]$/ {sub(/:.*/, "", $1); print $NF, $1}'; }
unique_names() { local found; found=$(names "$@" | grep -v '^main ' | twice | grep -vE "^($twice_on_purpose):"); [ -z "$found" ] || { echo "$found"; return 1; }; }

mapfile -t sources < <(host_code)
check "host code was found" test "${#sources[@]}" -gt 200
check "no tag is defined twice" unique_tags "${sources[@]}"
objects=()
for source in "${sources[@]}"; do object=$build/${source%.c}.o; [ -e "$object" ] && objects+=("$object"); done
if [ "${#objects[@]}" -gt 100 ]; then check "no external name is defined twice" unique_names "${objects[@]}"
else skip "no external name is defined twice" "nothing is built"; fi

# Each of these must be able to fail.
fails() { ! "$@" > "$tap_dir/said" && grep -q "$wanted" "$tap_dir/said"; }
printf 'struct cell {\n    int x;\n};\nint shared_name(void) { return 1; }\n' > "$tap_dir/one.c"
printf 'enum cell { A };\nint shared_name(void) { return 2; }\n' > "$tap_dir/two.c"
wanted='^cell: .*one.c .*two.c' check "a tag that is defined twice is found" fails unique_tags "$tap_dir/one.c" "$tap_dir/two.c"
for n in one two; do gcc -c -o "$tap_dir/$n.o" "$tap_dir/$n.c"; done
wanted='^shared_name: ' check "a name that is defined twice is found" fails unique_names "$tap_dir/one.o" "$tap_dir/two.o"
tap_done
