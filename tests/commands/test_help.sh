#!/bin/bash
# What make says of itself: help by what one wants, one verb's own help, the guess at a misspelt one, completion; and the
# command attnlab, which has the same verbs.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED CHIP
says() { # PATTERN COMMAND...: it succeeds and prints a line like that
    "${@:2}" > "$tap_dir/said" 2>&1 && grep -q -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
refuses() { # PATTERN COMMAND...: status 2, and a line like that
    "${@:2}" > "$tap_dir/said" 2>&1
    [ $? -eq 2 ] && grep -q -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}

check "make alone says three commands" says "^  make setup " make
three() { [ "$(grep -c '^  make ' "$tap_dir/said")" -eq 3 ]; }
check "not more of them" three
check "make help names the glossary" says "GLOSSARY.md" make help
cp "$tap_dir/said" "$tap_dir/help"
check "it has the first line of a stage's README" grep -q "$(sed -n '1s/^# Stage [0-9]*: //p' stages/3-*/README.md)" "$tap_dir/help"
make help-more > "$tap_dir/more"
groups() { # every paragraph has a title and at most eight verbs; no line is over 100 columns
    awk '/^$/ {n = 0; next} /^  / && !/^  stage-/ {if (++n > 8) {print "too long: " $0; bad = 1}}
         length($0) > 100 {print "wide: " $0; bad = 1} END {exit bad}' "$@"
}
check "groups of at most eight verbs, 100 columns" groups "$tap_dir/help" "$tap_dir/more"
printf '\nTitle\n' > "$tap_dir/planted"
printf '  verb\n%.0s' 1 2 3 4 5 6 7 8 9 >> "$tap_dir/planted"
nine() { ! groups "$tap_dir/planted"; }
check "nine are found" nine

# Words and rules belong together: each verb that is explained is a goal, each goal that is for users is explained.
explained() {
    local verb bad=0
    for verb in $(setup/help.sh verbs | grep -vE '^(stage|lab|step|exam)-'); do
        grep -qE "^(\.PHONY:(.* )?|(.* )?)$verb( .*)?(:|$)" Makefile */*.mk */*/*.mk */*/*/*.mk || { echo "$verb has words and no rule"; bad=1; }
        setup/help.sh help "$verb" | grep -q "^  make .*\b$verb\b" || { echo "$verb has no example of itself"; bad=1; }
    done
    return $bad
}
check "every verb that is explained has a rule and an example" explained
check "verbs are found" test "$(setup/help.sh verbs | wc -l)" -gt 40
inner="watch-page watch-lab build-tests covered fuzzers run-exam run-own run-setup run-tsan start sweep-device sweep-rules sweep-tiles whatif-time unit freeze-tiles" # goals of recipes
outer() {
    local goal bad=0
    for goal in $(sed -n 's/^\.PHONY: //p' Makefile */*.mk */*/*.mk */*/*/*.mk | tr ' ' '\n' | grep -xE '[a-z][a-z-]*' | grep -v '^sweep-stage'); do
        [[ " $inner " == *" $goal "* ]] || setup/help.sh verbs | grep -qx "$goal" || { echo "$goal is not explained"; bad=1; }
    done
    return $bad
}
check "every verb that has a rule is explained" outer

check "help of a verb" says "^banks: Show" make help banks
check "with its variables" grep -q "ACCESS=2" "$tap_dir/said"
check "of one that has two uses" says "KERNEL=my.cu" make help run
check "of a stage" says "stages/3-wmma-pv/README.md" make help stage-3
check "of a lab" says "^lab-N: Begin a lab" make help lab-1
check "of one that there is not" refuses "there is no verb 'sorce': did you mean source?" make help sorce
nothing_runs() { make help clean -n > "$tap_dir/said" 2>&1 && ! grep -q "rm -rf" "$tap_dir/said"; }
check "help of clean cleans nothing" nothing_runs

check "a misspelt verb" refuses "there is no verb 'rnu': did you mean run?" make stage-3 rnu
check "letters that are swapped" refuses "did you mean doctor?" make dcotor
check "a stage without its hyphen" refuses "did you mean stage-3?" make stage3 run
check "a verb like no other" refuses "there is no verb 'zzzzzzzz': make help lists" make zzzzzzzz
check "it is one line" test "$(wc -l < "$tap_dir/said")" -eq 1
check "a file that is not there is make's business" refuses "No rule to make target" make build/none.o
make "\$(shell touch $tap_dir/made)" "'; touch $tap_dir/made; '" "\`touch $tap_dir/made\`" > /dev/null 2>&1
make help "\$(shell touch $tap_dir/made)" "'; touch $tap_dir/made; '" > /dev/null 2>&1
check "goals are not executed" test ! -e "$tap_dir/made"

# Completion, as bash does it
complete_of() { # WORD: what it may become
    bash -c 'source <(make -s completion) && COMP_WORDS=(make "$1") COMP_CWORD=1 && _attnlab make && printf "%s\n" "${COMPREPLY[@]}"' _ "$1"
}
completes() { [ "$(complete_of "$1" | paste -sd' ')" = "$2" ] || { complete_of "$1"; false; }; }
check "completion of a verb" completes ban banks
check "of a stage" completes stage-3 stage-3
check "of several verbs" completes freeze "freeze-measure freeze-predict"
if command -v zsh > /dev/null; then
    check "zsh reads it" zsh -c 'source <(make -s completion) && [[ ${_comps[make]} == *_attnlab* ]]'
else
    skip "zsh reads it" "no zsh here"
fi

# ---- attnlab: the same verbs, from any folder
mkdir "$tap_dir/bin" "$tap_dir/elsewhere"
ln -s "$PWD/runtime/python/attnlab_command.py" "$tap_dir/bin/attnlab"
attnlab() { (cd "$tap_dir/elsewhere" && PATH=$tap_dir/bin:$PATH command attnlab "$@"); }
dry() { attnlab --dry-run "$@"; } # prints the command instead
check "attnlab alone" says "^    attnlab stage 3 run" attnlab
check "its help is make's" says "^source: Show" attnlab help source
check "a stage's verb" says "make .*-C .* stage-3 source 'ARGS=--sass --ptx'$" dry stage 3 source --sass --ptx
check "two stages" says ' stage-3 stage-6 run$' dry stage 3 6 run
check "a verb without a stage" says ' report RECORDED=h200$' dry report RECORDED=h200
check "all stages" says ' run$' dry run
check "a program, in this folder" says "build/run --source ./a.out 256" dry run --source ./a.out 256
check "an option with a value before it" says "build/run --chip l4 ./a.out --chip" dry run --chip l4 ./a.out --chip
check "a kernel" says "build/run --kernel f --grid 8 my.cu" dry kernel my.cu --kernel f --grid 8
check "a misspelt verb" refuses "did you mean report?" attnlab reprot
status "an option with a blank" 2 attnlab stage 3 run "--input a b"
status "a stage without a verb" 2 attnlab stage 3
status "a kernel without a file" 2 attnlab kernel
cp runtime/python/attnlab_command.py "$tap_dir/bin/copied"
status "a command outside a clone" 77 "$tap_dir/bin/copied" report
check "it prints what make prints" says "1-scalar" attnlab ladder RECORDED=h200
if [ -x "$build/run" ] && [ "$build" = build ]; then
    cp examples/sgemm.cu "$tap_dir/elsewhere/"
    listed() { says "^    [a-z]" attnlab kernel "$(cd "$tap_dir/elsewhere" && echo ./*.cu)"; }
    check "a kernel's file alone lists its kernels" listed
    check "a program that launches nothing" says "ended without launching a kernel" attnlab run /bin/true
    failing() { attnlab run /bin/false > /dev/null 2>&1; [ $? -eq 1 ]; }
    check "a program's status is its own" failing
fi
tap_done
