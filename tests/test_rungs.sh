#!/bin/bash
# The ladders: in a stage that has steps/, how many lines change from each rung to the next and from the
# last to kernel.cu, added and deleted, as a reader of the diff sees them. At most 150; 250 from the kernel
# that the first rung says it starts from ("Starts from FILE." in its head, relative to stages/).
# steps.txt names the same rungs in the same order, then `kernel`: NAME<tab>FACTOR<tab>SENTENCE.
. tests/tap.sh
stages=${STAGES_DIR:-stages}

changed() { # FROM TO
    [ -e "$1" ] && [ -e "$2" ] || { echo "there is no ${1:-file that it starts from} or no $2"; return 1; }
    git diff --no-index --numstat "$1" "$2" | awk '{n = $1 + $2} END {print n + 0}'
}

within() { # LIMIT FROM TO
    local n
    n=$(changed "$2" "$3") || { echo "$n"; return 1; }
    echo "$n lines changed from $2 to $3, at most $1"
    [ "$n" -gt 0 ] && [ "$n" -le "$1" ]
}

steps_are_named() { # STEPS-FOLDER
    diff <(cd "$1" && printf '%s\n' *.cu | sort -V | sed 's/[.]cu$//'; echo kernel) <(cut -f1 "$1/steps.txt") &&
        awk -F'\t' 'NF != 3 || $2 !~ /^[0-9]+[.][0-9]+$/ || $3 == "" {print "steps.txt:" NR ": " $0; bad = 1}
                    END {exit bad}' "$1/steps.txt"
}

for folder in "$stages"/*/steps; do
    name=$(basename "$(dirname "$folder")")
    [ -d "$folder" ] || continue
    before= limit=250
    for rung in $(printf '%s\n' "$folder"/*.cu | sort -V) "$(dirname "$folder")/kernel.cu"; do
        [ -n "$before" ] || before=$stages/$(sed -n 's/^ [*].*Starts from \([^ ]*\)[.]\( .*\)*$/\1/p' "$rung" | head -n 1)
        check "$name: $(changed "$before" "$rung") lines to $(basename "$rung"), at most $limit" within $limit "$before" "$rung"
        before=$rung limit=150
    done
    check "$name: steps.txt names the rungs" steps_are_named "$folder"
done
check "there is a ladder" test $tap_n -gt 0
tap_done
