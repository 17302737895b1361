#!/bin/bash
# Tasks as job arrays of a Slurm that this test starts on loopback (slurm.sh says what that needs): 200 short runs on the
# emulator, of which one never ends, one fails at first, and a node dies on the way with what it runs. Nothing is lost, and
# nothing is twice in the results. SLURM_TASKS=20 makes it short. Without SLURM_TEST=1 only the tasks of one machine run.
. tests/tap.sh
. tests/machines/slurm.sh
build=$(realpath "$build")
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS
limits() { printf 'seconds %s\nmemory_mb 500\n' "$1" > "$tap_dir/slurm.txt"; }
limits 5
jobs() { python3 setup/jobs.py run "$@" --settings "$tap_dir/slurm.txt" < "$tap_dir/tasks"; }
said() { grep -q -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }; }
tasks() { # N...: runs of stage 1 that differ in their seed. On node n2 they do not end while the file gate is there
    local n
    for n; do
        printf 'seed-%d\t%s --device emu --jobs 1 --seqlen 64 --heads 1 --seed %d --counters none --no-time --quiet --json "$JSON"; s=$?; sleep 0.5; while [ "${SLURMD_NODENAME-}" = n2 ] && [ -e %s ]; do touch %s/seed-%d; sleep 0.1; done; exit $s\n' "$n" "$build/stage-1" "$n" "$tap_dir/gate" "$tap_dir/at-gate" "$n"
    done > "$tap_dir/tasks"
}
seeds() { python3 -c 'import json, sys; print(*sorted(json.loads(l)["problem"]["seed"] for l in open(sys.argv[1])))' "$1"; }

# ---- On one machine
tasks 1 2 3 4
at=$tap_dir/here
printf 'bad\techo no such luck >&2; [ -e %q ]\n' "$tap_dir/good" >> "$tap_dir/tasks"
printf 'endless\t[ -e %q ] || sleep 600\n' "$tap_dir/good" >> "$tap_dir/tasks"
limits 2
check "two of six fail: status 1" bash -c '"$@"; [ $? -eq 1 ]' - python3 setup/jobs.py run "$at" --settings "$tap_dir/slurm.txt" < "$tap_dir/tasks"
jobs "$at" > "$tap_dir/said" 2>&1
check "one is past its limit" said "^jobs: endless: past its limit of 2 s"
check "of the other its last word" said "^jobs: bad: status 1: no such luck"
check "four have a record each" [ "$(seeds "$at/records.jsonl")" = "1 2 3 4" ]
touch "$tap_dir/good"
check "the same command runs those again" jobs "$at"
check "and no other" [ "$(sort "$at/starts" | cut -d' ' -f1 | uniq -c | awk '{print $1 $2}' | paste -sd' ')" = "3bad 3endless 1seed-1 1seed-2 1seed-3 1seed-4" ]
check "no record is twice" [ "$(seeds "$at/records.jsonl")" = "1 2 3 4" ]
interrupted() {
    tasks 11 12
    printf 'long\tsleep 30\n' >> "$tap_dir/tasks"
    python3 setup/jobs.py run "$tap_dir/stopped" --settings "$tap_dir/slurm.txt" < "$tap_dir/tasks" > "$tap_dir/said" 2>&1 &
    local pid=$!
    until grep -q '^2 of' "$tap_dir/said"; do kill -0 $pid || return; sleep 0.05; done
    kill -TERM $pid
    wait $pid
    [ $? -eq 130 ] && [ ! -e "$tap_dir/stopped/failed/long" ] && [ -z "$(ls "$tap_dir/stopped/tmp")" ] && [ "$(ls "$tap_dir/stopped/done" | paste -sd' ')" = "seed-11 seed-12" ]
}
check "interrupted, it keeps what has ended" interrupted
refused() { printf '%b\n' "$1" | python3 setup/jobs.py run "$tap_dir/none" --settings "$tap_dir/slurm.txt"; }
status "a task without a name" 2 refused "true"
status "a name with a slash" 2 refused "a/b\ttrue"
status "one name twice" 2 refused "a\ttrue\na\tfalse"
wrong() { echo "$1" > "$tap_dir/wrong.txt"; python3 setup/jobs.py run "$tap_dir/none" --settings "$tap_dir/wrong.txt" < /dev/null; }
status "a setting that is none" 2 wrong "second 5"
status "a limit that is no number" 2 wrong "seconds soon"
no_slurm() { PATH=$tap_dir/bin /usr/bin/python3 setup/jobs.py run "$tap_dir/none" --slurm --settings "$tap_dir/slurm.txt" < "$tap_dir/tasks"; }
status "no Slurm here" 77 no_slurm

# ---- A class, each submission a task
for student in ann bob "cem d"; do
    mkdir -p "$tap_dir/class/$student/lab-0"
    echo "{\"of\": \"$student\"}" > "$tap_dir/class/$student/lab-0/answers.json"
done
grade() { # OUT OPTIONS...: grade_all.py
    python3 notebooks/course/grade/grade_all.py "$tap_dir/class" --seed word --device emu --out "$tap_dir/$1" "${@:2}"
}
check "three are graded in one go" grade grades
grade parts --tasks > "$tap_dir/tasks"
check "a task for each" [ "$(wc -l < "$tap_dir/tasks")" -eq 3 ]
check "without grades, the table says so: status 1" bash -c '"$@"; [ $? -eq 1 ] && [ "$(grep -c "not graded: its job left no grade" "$0/parts/grades.csv")" -eq 3 ]' \
    "$tap_dir" python3 notebooks/course/grade/grade_all.py "$tap_dir/class" --seed word --device emu --out "$tap_dir/parts" --kept
check "the tasks run" jobs "$tap_dir/grade-jobs"
check "and their tables are put together" grade parts --kept
check "both ways give the same" diff -r "$tap_dir/grades" "$tap_dir/parts"
check "no task is left" [ -z "$(grade parts --tasks)" ]
echo '{"of": "another"}' > "$tap_dir/class/ann/lab-0/answers.json"
check "but one for a submission that was changed" [ "$(grade parts --tasks | wc -l)" -eq 1 ]

# ---- On Slurm
if [ -z "${SLURM_TEST-}" ] || ! cluster_can; then
    skip "Slurm" "only with SLURM_TEST=1, root, slurm-wlm and munge"
    tap_done
fi
trap 'cluster_end; rm -rf "$tap_dir"' EXIT
rows=()
fault() { # WHAT SEEN [FOLDER N]: a line of the table, of the checks since the last one; what N tasks left in FOLDER
    local lost=- twice=-
    if [ $# -eq 4 ]; then
        lost=$(($4 - $(ls "$3/done" | wc -l))) twice=$(seeds "$3/records.jsonl" | tr ' ' '\n' | uniq -d | wc -l)
    fi
    rows+=("$(printf '%-44s %-66s %-6s %4s %6s' "$1" "$2" "$([ $tap_failed -eq "$failed" ] && echo holds || echo FAILS)" $lost $twice)")
    failed=$tap_failed
}
failed=$tap_failed
check "a cluster of two nodes" cluster "$tap_dir/cluster"
n=${SLURM_TASKS:-200} at=$tap_dir/slurm
limits 40
rm -f "$tap_dir/good"
mkdir "$tap_dir/at-gate"
tasks $(seq $((n - 2)))
printf 'bad\t[ -e %q ]\n' "$tap_dir/good" >> "$tap_dir/tasks"
printf 'endless\t[ -e %q ] || sleep 600\n' "$tap_dir/good" >> "$tap_dir/tasks"
fingerprint=$(sha256sum < "$tap_dir/tasks")
python3 setup/jobs.py run "$at" --slurm --settings "$tap_dir/slurm.txt" < "$tap_dir/tasks" > "$tap_dir/said" 2>&1 &
run=$!
until [ "$(ls "$at/done" 2> /dev/null | wc -l)" -ge $((n / 4)) ]; do kill -0 $run || break; sleep 0.1; done
touch "$tap_dir/gate"
until victim=$(ls "$tap_dir/at-gate") && [ -n "$victim" ]; do kill -0 $run || break; sleep 0.1; done
node_kill n2
rm "$tap_dir/gate"
killed_at=$(ls "$at/done" | wc -l)
kill -TERM $run # whoever watches goes away, too
wait $run
failed_by_then=$(ls "$at/failed" | grep . || echo none) # the same command starts those again, too
check "interrupted, it leaves the jobs alone" said "Slurm's jobs go on"
# the node comes back after Slurm has given it up
given_up() { for _ in $(seq 600); do sinfo -h -N -n n2 -o %T | grep -q down && return; sleep 0.2; done; return 1; }
check "the node was given up" given_up
jobs "$at" --slurm > "$tap_dir/said" 2>&1 &
run=$!
sleep 1
node_start n2
wait $run
check "what ran was watched to its end, two failed" [ $? -eq 1 ]
check "one is past its limit" said "^jobs: endless: past its limit of 40 s"
fault "a task never ends" "it is ended at its limit of 40 s, and the others go on"
check "the rest has a record each" [ "$(seeds "$at/records.jsonl")" = "$(seq $((n - 2)) | paste -sd' ')" ]
restarts=$(cut -d' ' -f1 "$at/starts" | grep -vxF "$failed_by_then" | sort | uniq -c | awk '$1 > 1 {print $2 "x" $1}' | paste -sd' ')
check "what ran when the node died was started again, and nothing else" [ "$restarts" = "${victim}x2" ]
fault "a node dies, and whoever watches is ended" "$killed_at were done; started more than once: ${restarts:-none}; $victim ran there" "$at" $((n - 2))
before=$(find "$at/done" -name where -printf '%p %T@\n' | sort)
touch "$tap_dir/good"
check "the same command runs what failed" jobs "$at" --slurm
check "and changes nothing else" [ "$(find "$at/done" -name where ! -path '*/bad/*' ! -path '*/endless/*' -printf '%p %T@\n' | sort)" = "$before" ]
check "all are done, each once" [ "$(ls "$at/done" | sort -u | wc -l)" -eq "$n" ]
check "no task's folder is left half made" [ -z "$(ls "$at/tmp")" ]
fault "a task fails, one is past its limit" "the same command runs these two again, and no other" "$at" "$n"
for node in n1 n2; do check "$node did a part" grep -rqs "^$node " "$at/done" --include=where; done
too_much() { printf 'memory_mb 999999\n' > "$tap_dir/slurm.txt"; jobs "$tap_dir/much" --slurm; }
status "more than any node has: Slurm's own word" 5 too_much
fault "more memory is asked for than any node has" "one line with Slurm's own words, status 5"

# ---- A cancelled array
other=$tap_dir/cancelled
limits 20
tasks $(seq 301 308)
jobs "$other" --slurm > "$tap_dir/said" 2>&1 &
run=$!
until [ "$(ls "$other/done" 2> /dev/null | wc -l)" -ge 2 ]; do kill -0 $run || break; sleep 0.1; done
scancel --user="$(id -un)" --name=cancelled
left=$((8 - $(ls "$other/done" | wc -l)))
check "an array is cancelled while $left of its tasks wait or run" [ "$left" -gt 0 ]
wait $run
check "who watches gives those to Slurm again" [ $? -eq 0 ]
check "as another array" test -e "$other/batch-1"
check "each has one record" [ "$(seeds "$other/records.jsonl")" = "$(seq 301 308 | paste -sd' ')" ]
fault "an array is cancelled" "$left of its 8 tasks were left, and were given to Slurm again" "$other" 8

# ---- The verbs
limits 60
on_slurm() {
    SLURM=$tap_dir/slurm.txt DEVICE=emu JOBS=$tap_dir/class-jobs BUILD=$build notebooks/course/grade/on_slurm.sh python3 \
        notebooks/course/grade/grade_all.py "$tap_dir/class" --seed word --device emu --out "$tap_dir/slurm-grades"
}
check "make grade-all SLURM=..." on_slurm
check "gives what one machine gives" bash -c 'cd "$1" && rm -r grades && "${@:2}" > out && diff -r grades slurm-grades' - "$tap_dir" \
    env BUILD="$build" python3 "$PWD/notebooks/course/grade/grade_all.py" class --seed word --device emu --out grades
random() { make BUILD="$build" stage-1 random COUNT=3 ARGS="--seqlen 64" SLURM="$tap_dir/slurm.txt" && [ "$(grep -c '"right":5' results/random/records.jsonl)" -eq 3 ]; }
check "make stage-1 random SLURM=..." random
predict() { BUILD=$build emulator/predictor/validate/predict.sh "$tap_dir/cases" "$@"; }
freeze() { # the same as on one machine, but for the seconds that it took
    printf '# cases\n5\tchain\t--n 8 --k-steps 1\n5\tchain\t--n 16 --k-steps 2\n5\tnone\t--n 7\n' > "$tap_dir/cases"
    predict "$tap_dir/frozen-here" && SLURM=$tap_dir/slurm.txt predict "$tap_dir/frozen" && cat "$tap_dir/frozen" &&
        [ "$(grep -c '"elapsed": [1-9]' "$tap_dir/frozen")" -eq 2 ] && cmp "$tap_dir/frozen-here" "$tap_dir/frozen" && [ ! -e "$tap_dir/frozen.jobs" ]
}
check "make freeze-predict SLURM=..." freeze
sweep() { # two tiles, each without and with a mask
    make BUILD="$build" stage-4 sweep DEVICE=emu SWEEP_TILES=d32-128x64-w4x1-s2 SLURM="$tap_dir/slurm.txt" &&
        [ "$(grep -o 'sweep/d32-128x64-w4x1-s2-[^/]*' results/stage-4/sweep.jsonl | sort | uniq -c | awk '{print $1 $2}' | paste -sd' ')" = \
            "2sweep/d32-128x64-w4x1-s2-q1-c2 2sweep/d32-128x64-w4x1-s2-q1-c3" ]
}
check "make stage-4 sweep SLURM=..." sweep
fault "none: grade-all, random, freeze-predict, sweep" "the results are those of one machine"

# ---- A GPU each
limits 20
for i in 1 2 3 4; do printf 'gpu-%d\techo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $(date +%%s.%%N)"; sleep 1; date +%%s.%%N\n' $i; done > "$tap_dir/tasks"
check "tasks on GPUs" jobs "$tap_dir/gpus" --slurm --gpu
overlap() { # of two on one node, one ends before the other begins
    cat "$tap_dir"/gpus/done/*/out | paste - - | sort -k1,1 -k3,3n | awk '{print} $2 != 0 {bad = 1} $1 == node && $3 < end {bad = 1} {node = $1; end = $4} END {exit bad}'
}
check "have one each to themselves, by CUDA_VISIBLE_DEVICES" overlap
fault "none: four tasks on two nodes of one GPU" "no two at a time had the same GPU"
echo "#| revision $(git rev-parse --short HEAD), $(date +%F), $(nproc) cores of$(sed -n 's/^model name.*://p' /proc/cpuinfo | head -n 1)"
echo "#| Slurm $(slurmctld -V | cut -d' ' -f2), two nodes of one core: $n tasks of stage 1 on the emulator"
printf '#| %-44s %-66s %-6s %4s %6s\n' fault "what was seen" result lost twice
printf '#| %s\n' "${rows[@]}" "tasks on n1: $(cat "$at"/done/*/where | grep -c '^n1'), on n2: $(cat "$at"/done/*/where | grep -c '^n2')"
tap_done
