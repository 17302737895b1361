#!/bin/bash
# random.sh STAGE... [-- OPTIONS]: COUNT (20) tasks for setup/jobs.py of each stage, five random problems each, on the emulator
# (make random). A task's name has what its answer depends on: the program, its images and the options.
set -eu
stages=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do stages+=("$1"); shift; done
[ $# -eq 0 ] || shift
options=$(printf ' %q' "$@")
for stage in "${stages[@]}"; do
    what=$({ echo "$options"; cat "$BUILD/$stage" "$BUILD/images/$stage"/*.ptx; } | md5sum | cut -c1-12)
    for ((seed = 1; seed <= ${COUNT:-20}; seed++)); do
        printf '%s.%s.%d\t%s/%s --device emu --jobs 1 --sweep-random 5 --seed %d --json "$JSON"%s\n' \
            "$stage" "$what" $seed "$BUILD" "$stage" $seed "$options"
    done
done
