#!/bin/bash
# Each barrier, wait and fence of each stage's kernel is left out in turn: the emulator must object (exit 1).
# Those that are redundant by design are listed with the reason in tests/mutants/mutants_emu.txt; one of them that is
# caught after all fails too. Arguments: stages, else all.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh

# problems STAGE: shapes, one a line, which together run every barrier
problems() {
    case $1 in
    4) echo "--seqlen-q 150 --seqlen-k 200 --heads 1"
       echo "--seqlen-q 300 --seqlen-k 64 --heads 1 --causal"
       echo "--chip l4 --heads 70 --seqlen-q 64 --seqlen-k 40 --head-dim 128"
       echo "--chip l4 --heads 70 --seqlen-q 64 --seqlen-k 200" ;;
    6) echo "--heads 1 --seqlen-q 150 --seqlen-k 1200"
       echo "--heads 420 --seqlen-q 20 --seqlen-k 60"
       echo "--heads 136 --seqlen-q 16 --seqlen-k 700"
       echo "--heads 136 --seqlen-q 16 --seqlen-k 256"
       echo "--heads 1 --seqlen-q 64 --seqlen-k 200 --head-dim 128 --image d128-split" ;;
    *) echo "--seqlen-q 150 --seqlen-k 200 --heads 1" ;;
    esac
}

run() { # PROGRAM OPTIONS...
    timeout 60 "$@" --device emu --jobs 2 --quiet --counters none > "$tap_dir/out" 2>&1
}

# The source lines that a site of --without list names, innermost last, and its opcode.
source_of() { # STAGE SITE
    local line lines=${2%%:*}
    for line in ${lines//>/ }; do sed -n "${line}p" stages/"$1"-*/kernel.cu; done
    echo "${2#*:}"
}

# Does the site lie at this entry's place? TEXT: in one of its lines. last: TEXT & OPCODE: on the last line of the
# file that has TEXT.
at_place() { # STAGE SITE ENTRY
    local text=${3#last: } line
    if [ "$text" = "$3" ]; then [[ "$(source_of "$1" "$2")" == *"$text"* ]]; return; fi
    line=$(grep -nF "${text% & *}" stages/"$1"-*/kernel.cu | tail -n 1 | cut -d: -f1)
    [[ ">${2%%:*}>" == *">$line>"* && "${2#*:}" == *"${text#* & }"* ]]
}

reason_for() { # STAGE SITE
    local entry
    while IFS= read -r entry; do
        [[ $entry == "$1 "* ]] || continue
        entry=${entry#* }
        at_place "$1" "$2" "${entry%% -- *}" && echo "${entry#* -- }" && return
    done < tests/mutants/mutants_emu.txt
}

# One site over all shapes that execute it.
mutate() { # STAGE PROGRAM SITE
    local shape why caught= ran= name="stage-$1 without $3"
    while IFS= read -r shape; do
        grep -qF "$3 " "$tap_dir/sites $shape" || continue
        ran=1
        run "$2" $shape --without "$3"
        [ $? -eq 1 ] && { caught=$(head -n 1 "$tap_dir/out" | cut -c1-100); break; }
    done < "$tap_dir/problems"
    why=$(reason_for "$1" "$3")
    printf '%s: %s\nlisted: %s\nran: %s\n' "$(source_of "$1" "$3")" "${caught:-not caught}" "$why" "$ran" > "$tap_dir/why"
    if [ -n "$why" ]; then
        [ -z "$caught" ]
        tap_result "$name: redundant: $why" $((!$?)) "$tap_dir/why"
    else
        [ -n "$caught" ]
        tap_result "$name" $((!$?)) "$tap_dir/why"
    fi
}

for program in $(printf "$build/stage-%s " ${*:-1 2 3 4 6}); do
    [ -x "$program" ] || continue
    stage=${program##*-}
    problems "$stage" > "$tap_dir/problems"
    : > "$tap_dir/sites"
    while IFS= read -r shape; do
        "$program" $shape --device emu --quiet --no-races --without list --no-check --out "$tap_dir/o.npy" \
            --counters none | awk '$NF > 0 && /:/' > "$tap_dir/sites $shape"
        cut -d' ' -f1 "$tap_dir/sites $shape" >> "$tap_dir/sites"
        check "stage-$stage $shape, whole" run "$program" $shape
    done < "$tap_dir/problems"
    for site in $(sort -u "$tap_dir/sites"); do mutate "$stage" "$program" "$site"; done
done
tap_done
