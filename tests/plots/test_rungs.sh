#!/bin/bash
# The ladders (stages/rungs.sh): in a stage that has steps/, how many lines change from each rung to the
# next and from the last to kernel.cu, added and deleted, as a reader of the diff sees them, the labs' marks
# not counted. At most 150; 250 from the kernel that the first rung starts from. steps.txt names the same rungs in the same order,
# then `kernel`: NAME<tab>FACTOR<tab>SENTENCE, and `images` has each for head_dim 64 and 128.
. tests/tap.sh

changed() { # FROM TO
    git diff --no-index "$1" "$2" | tail -n +5 | grep -E '^[+-]' | grep -vcE '(BEGIN|END) SOLUTION'
}

within() { # LIMIT FROM TO
    local n
    [ -e "$2" ] && [ -e "$3" ] || { echo "there is no $2 or no $3"; return 1; }
    n=$(changed "$2" "$3")
    echo "$n lines change from $2 to $3, at most $1 may"
    [ "$n" -gt 0 ] && [ "$n" -le "$1" ]
}

says_its_start() { # RUNG
    grep -q '^ [*].*Starts from [^ ]*[.]cu[.]' "$1" || { echo "no line 'Starts from FILE.' in its head"; return 1; }
}

steps_are_named() { # STEPS-FOLDER
    diff <(cd "$1" && printf '%s\n' *.cu | sort -V | sed 's/[.]cu$//'; echo kernel) <(cut -f1 "$1/steps.txt") &&
        awk -F'\t' 'NF != 3 || $2 !~ /^[0-9]+[.][0-9]+$/ || $3 == "" {print "steps.txt:" NR ": " $0; bad = 1}
                    END {exit bad}' "$1/steps.txt"
}

steps_are_images() { # STEPS-FOLDER
    local rung dim
    for rung in $(cd "$1" && printf '%s\n' *.cu | sort -V | sed 's/[.]cu$//'); do
        for dim in 64 128; do
            grep -q "^d$dim-$rung steps/$rung[.]cu .*-DDIM=$dim\b" "$1/../images" || { echo "images has no d$dim-$rung"; return 1; }
        done
    done
}

for steps in stages/*/steps; do
    [ -d "$steps" ] || continue
    folder=$(dirname "$steps") name=$(basename "$(dirname "$steps")") before= limit=250
    check "$name: the first rung says where it starts" says_its_start "$(printf '%s\n' "$steps"/*.cu | sort -V | head -n 1)"
    while read -r rung; do
        if [ -n "$before" ]; then
            check "$name: $(changed "$before" "$rung") lines to $(basename "$rung"), at most $limit" within $limit "$before" "$rung"
            limit=150
        fi
        before=$rung
    done < <(stages/rungs.sh "$folder")
    check "$name: steps.txt names the rungs" steps_are_named "$steps"
    check "$name: every rung is an image" steps_are_images "$steps"
done
check "there is a ladder" test $tap_n -gt 0
# make stage-6 steps: a problem that the device computes in seconds. The stage is one that writes down what it is asked.
tree=$tap_dir/tree
mkdir -p "$tree/build" "$tree/stages" && cp stages/steps.sh "$tree/stages" && cp -r stages/6-* "$tree/stages"
printf '#!/bin/sh\necho "$*" >> asked\n' > "$tree/build/stage-6"
chmod +x "$tree/build/stage-6"
asked() { # DEVICE'S-NAME OPTIONS: all rungs are asked for these
    printf '#!/bin/sh\necho device.name\necho "%s"\n' "$1" > "$tree/build/columns" && chmod +x "$tree/build/columns" && rm -f "$tree/asked"
    (cd "$tree" && unset RECORDED && DEVICE=auto bash stages/steps.sh stages/6-* > /dev/null 2>&1)
    [ "$(grep -c -e "$2 --head-dim" "$tree/asked")" -eq $((2 * $(wc -l < "$tree"/stages/6-*/steps/steps.txt))) ] || { cat "$tree/asked"; false; }
}
check "the emulator gets a small problem" asked "emulator_(h200)" "--heads 2 --seqlen 512"
check "a GPU a large one" asked "NVIDIA_H200" "--batch 4 --heads 16 --seqlen 4096"
tap_done
