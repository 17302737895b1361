#!/bin/bash
# rungs.sh STAGE_FOLDER: the kernels that lead to a stage's kernel.cu, one path a line, in order: the one
# that its first step starts from, steps/*.cu, kernel.cu. Without steps: the kernel of the stage before.
# A first step says `Starts from FILE.` in its head, FILE below stages/; the stage before comes from the
# file `images` (stages/rules.sh).
set -eu
folder=${1%/} number=${1##*/}
number=${number%%-*}
steps=$(find "$folder/steps" -name '[0-9]*.cu' 2> /dev/null | sort -V)
start=
[ -n "$steps" ] && start=$(sed -n 's/.*Starts from \([^ ]*\.cu\)\..*/\1/p' "$(head -n 1 <<< "$steps")" | head -n 1)
if [ -z "$start" ]; then
    start=$(stages/rules.sh "$folder" | sed -n "s/^previous-stage-$number := //p")
    [ "$start" = none ] || start=$start/kernel.cu
fi
[ "$start" = none ] || echo "stages/$start"
[ -z "$steps" ] || echo "$steps"
echo "$folder/kernel.cu"
