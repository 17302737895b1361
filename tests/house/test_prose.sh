#!/bin/bash
# READMEs and notes are short, have few numbers, and say how things are (tests/house/prose.py has the limits).
. tests/tap.sh
mapfile -t pages < <(git ls-files '*.md')
check "READMEs and notes are found" test "${#pages[@]}" -gt 40
check "they are short, and tell no history" python3 tests/house/prose.py "${pages[@]}"

# Each of these must be able to fail.
mkdir -p "$tap_dir/folder"
found() { printf '%b' "$2" > "$tap_dir/folder/README.md" && ! (cd "$tap_dir" && python3 "$OLDPWD/tests/house/prose.py" folder/README.md > said) && grep -q "$1" "$tap_dir/said"; }
check "a long page is found" found '601 words' "$(printf 'word %.0s' $(seq 601))"
check "a page of numbers is found" found '9 numbers in 9 words' "$(printf 'word 17 %.0s' $(seq 9))"
check "history is found" found "tells history: 'no longer'" 'It is no longer here.\n'
short() { printf 'A folder.\n' > "$tap_dir/folder/README.md" && (cd "$tap_dir" && python3 "$OLDPWD/tests/house/prose.py" folder/README.md); }
check "a short page passes" short

marks='^(<{7}|>{7}) '
merged() { ! git grep -nE "$marks"; }
check "no file holds the marks of a merge" merged
conflict() { printf '%s HEAD\n' '<<<<<<<' | grep -qE "$marks"; }
check "they are found" conflict
tap_done
