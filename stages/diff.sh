#!/bin/bash
# diff.sh STAGE_FOLDER...: what changed from one rung of a stage to the next, the stage before being the first
# (make stage-N diff). rungs.sh lists the rungs.
set -u
for folder; do
    stages/rungs.sh "$folder" | {
        read -r last
        while read -r next; do
            git --no-pager diff --no-index --stat -p --color=auto "$last" "$next" && echo "$next is $last so far"
            last=$next
        done
    }
done
exit 0
