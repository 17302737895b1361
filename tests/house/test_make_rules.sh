#!/bin/bash
# What keeps makefiles and folders readable: a recipe has at most three lines, a longer one is a script beside what it acts
# on; no line of a makefile is over 140 columns; a folder has at most 25 modules, a .c with its .h being one.
. tests/tap.sh

makefiles() { (cd "$1" && git ls-files -co --exclude-standard | grep -E '(^|/)Makefile$|\.mk$' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done); }

# A recipe's lines are those that begin with a tab, what they go on with behind a backslash, and a rule's own behind a
# semicolon; the body of a define counts as one.
short_recipes() { # ROOT FILE...
    local root=$1
    shift
    ! (cd "$root" && awk -v most=3 '
        function end() { if (n > most) print FILENAME_OF ":" first ": a recipe of " n " lines: make it a script"; n = 0 }
        FNR == 1 { end(); goes_on = in_define = 0 }
        { FILENAME_OF = FILENAME }
        /^define / { end(); in_define = 1; first = FNR; next }
        /^endef/ { in_define = 0; end(); next }
        in_define || /^\t/ || goes_on {
            if (!n && !in_define) first = FNR
            if (!/^[ \t]*#/ || goes_on) n++
            goes_on = /\\$/; next }
        /^[^#=]*:[^=]*;/ { end(); first = FNR; n = 1; goes_on = /\\$/; next }
        !/^[ \t]*(#|$)/ { end() }
        END { end() }' "$@") | grep .
}
narrow() { # ROOT FILE...
    local root=$1
    shift
    ! (cd "$root" && awk 'length($0) > 140 { print FILENAME ":" FNR ": " length($0) " columns" }' "$@") | grep .
}
# FOLDER MODULES of each folder, from a list of files
modules() { grep -E '\.(c|h|cu|cuh|py|sh)$' | sed 's/\.[a-z]*$//' | sort -u | sed 's,/*[^/]*$,,' | sort | uniq -c | awk '{print $2, $1}'; }
few_modules() { ! awk '$2 > 25 {print $1 " has " $2 " modules: give it rooms"}' "$1" | grep .; }

mapfile -t all < <(makefiles .)
check "makefiles were found" test ${#all[@]} -gt 10
check "a recipe has at most three lines" short_recipes . "${all[@]}"
check "no line of a makefile is over 140 columns" narrow . "${all[@]}"
git ls-files | modules > "$tap_dir/modules"
crowded=emulator/instructions
grep -v "^$crowded " "$tap_dir/modules" > "$tap_dir/others"
check "a folder has at most 25 modules" few_modules "$tap_dir/others"
if few_modules "$tap_dir/modules" > /dev/null; then
    check "$crowded has at most 25 modules" few_modules "$tap_dir/modules"
else
    skip "$crowded has at most 25 modules" "it has $(sed -n "s,^$crowded ,,p" "$tap_dir/modules")"
fi

# Each of these must be able to fail.
fails() { ! "$@" > "$tap_dir/said" && grep -q "${wanted:?}" "$tap_dir/said" || { cat "$tap_dir/said"; false; }; }
house=$tap_dir/house
mkdir "$house"
plant() { printf '%b' "$1" > "$house/bad.mk"; }
plant 'a: b\n\tone\n\ttwo\n\tthree\n\nc:\n\tfour\n'
check "three lines pass" short_recipes "$house" bad.mk
plant 'a: b\n\tone\n\ttwo\n\tthree\n\tfour\n'
wanted='bad.mk:2: a recipe of 4' check "four lines are found" fails short_recipes "$house" bad.mk
plant 'a: b\n\tone; \\\n    two; \\\n    three; \\\n    four\n'
wanted='bad.mk:2: a recipe of 4' check "lines behind a backslash count" fails short_recipes "$house" bad.mk
plant 'a: b\n\tone\n\ttwo\n\n# a word\n\tthree\n\tfour\n'
wanted='bad.mk:2: a recipe of 4' check "a comment does not divide a recipe" fails short_recipes "$house" bad.mk
plant 'a: b ; one\n\ttwo\n\tthree\n\tfour\n'
wanted='a recipe of 4' check "a command beside its target counts" fails short_recipes "$house" bad.mk
plant 'define a\none\ntwo\nthree\nfour\nendef\n'
wanted='bad.mk:1: a recipe of 4' check "lines of a define count" fails short_recipes "$house" bad.mk
plant 'ifeq (a,b)\na: ; one\nelse\na:\n\tone\n\ttwo\n\tthree\nendif\nb:\n\tfour\n'
check "conditionals divide recipes" short_recipes "$house" bad.mk
plant "a := $(printf 'x%.0s' {1..140})\n"
wanted='bad.mk:1: 145 columns' check "a wide line is found" fails narrow "$house" bad.mk
seq -f 'room/%g.c' 26 | modules > "$tap_dir/planted"
wanted='room has 26 modules' check "26 modules are found" fails few_modules "$tap_dir/planted"
{ seq -f 'room/%g.c' 25; seq -f 'room/%g.h' 25; echo room/README.md; } | modules > "$tap_dir/planted"
check "a .c with its .h is one module" few_modules "$tap_dir/planted"
tap_done
