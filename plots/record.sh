#!/usr/bin/env bash
# record.sh FILE: every attention stage on the problems that READMEs and plots draw, with all counter groups, stage 5 on its
# own; then stages 1 to 3 on problems of which only the time is wanted. `make record`, on a GPU: two minutes.
# Exit status: the first that is not 0.
set -u
file=$1
all=TENSOR,SHARED,OCCUPANCY,MEMORY,STALL,MIX,CYCLES,BOUND
status=0
run() { # STAGE OPTIONS...
    build/alone timeout --foreground 600 build/stage-"$1" --device cuda --quiet --json "$file" "${@:2}" || {
        local failed=$?
        echo "record: build/stage-$1 ${*:2}: status $failed" >&2
        [ $status != 0 ] || status=$failed
    }
}
for s in 1 2 3 4 6; do
    for problem in "" "--batch 4 --heads 16 --seqlen 1024" "--batch 4 --heads 16 --seqlen 4096 --max-samples 30" \
        "--batch 4 --heads 16 --seqlen 4096 --head-dim 128 --max-samples 30"; do
        run $s $problem --counters $all --min-time 0.1
    done
done
for s in 1 2 3; do
    for problem in "--head-dim 128" "--batch 4 --heads 16 --seqlen 1024 --head-dim 128" "--batch 4 --heads 16 --seqlen 1024 --causal"; do
        run $s $problem --counters none
    done
done
for problem in "--batch 1 --heads 16 --seqlen 16384 --head-dim 128" --causal \
    "--batch 4 --heads 32 --kv-heads 8 --seqlen-q 1 --seqlen-k 8192 --head-dim 128" \
    "--batch 16 --heads 32 --kv-heads 8 --seqlen-q 1 --seqlen-k 8192 --head-dim 128"; do
    run 6 $problem --counters $all --min-time 0.1
done
run 5 --counters $all
exit $status
