#!/bin/bash
# A GPU that is shared: two users (root and nobody), chosen by number and by UUID, alone and busy; what alone, doctor and
# records say. tests/machines/test_gpu_lock.sh is the same on a driver that is none, with more that goes wrong.
. tests/tap.sh
unset ATTNLAB_ALONE CUDA_VISIBLE_DEVICES DEVICE
at=$tap_dir/build record=$tap_dir/run.jsonl
mkdir -p "$at/images" "$tap_dir/locks"
cp "$build"/{alone,doctor,stage-1} "$at" && cp -r "$build/images/stage-1" "$at/images" && cp -r chips profiler "$tap_dir"
chmod -R a+rX "$tap_dir" && chmod 1777 "$tap_dir/locks"
export ATTNLAB_LOCKS=$tap_dir/locks
said() { grep -q -e "$1" "$tap_dir/err" || { cat "$tap_dir/err"; false; }; }
run() { # [VARIABLE=VALUE...]: one short run, and the device of its record
    rm -f "$record"
    env "$@" "$at/stage-1" --device cuda --seqlen 128 --heads 1 --counters none --min-time 0.05 --quiet --json "$record" 2> "$tap_dir/err" || return
    grep -o '"uuid":[^}]*' "$record" | tee "$tap_dir/device"
}
has() { grep -qF -- "$1" "$tap_dir/device" || { cat "$tap_dir/device"; false; }; }

check "a run" run
uuid=$(sed 's/"uuid":"\([^"]*\)".*/\1/' "$tap_dir/device")
check "its record names a GPU" grep -qE '^(GPU|MIG)(-[0-9a-f]+){5}$' <<< "$uuid"
check "and that no other process computes there" has '"other_processes":0'
check "chosen by its number" run CUDA_VISIBLE_DEVICES=0
check "it is the same" has "\"uuid\":\"$uuid\",\"visible\":\"0\""
check "chosen by its UUID" run CUDA_VISIBLE_DEVICES="$uuid"
check "it is the same, too" has "\"uuid\":\"$uuid\",\"visible\":\"$uuid\""

waits() { # [HOLDER...] -- [WAITER...]: what comes before `alone COMMAND` of each; the second waits, and is told for whom
    local holder=() pid
    while [ "$1" != -- ]; do holder+=("$1"); shift; done
    shift
    rm -f "$tap_dir/locks"/* "$tap_dir"/{held,go,err}
    "${holder[@]}" "$at/alone" bash -c 'echo; until [ -e "$1/go" ]; do sleep 0.02; done; sleep 0.2; echo first' - "$tap_dir" > "$tap_dir/held" &
    until [ -s "$tap_dir/held" ]; do sleep 0.02; done
    "$@" "$at/alone" echo second >> "$tap_dir/held" 2> "$tap_dir/err" &
    pid=$!
    until grep -q "waits for" "$tap_dir/err"; do kill -0 $pid 2> /dev/null || break; sleep 0.02; done
    touch "$tap_dir/go"
    wait
    [ "$(paste -sd' ' "$tap_dir/held")" = " first second" ] || { cat "$tap_dir/held" "$tap_dir/err"; false; }
}
check "who chose by UUID waits for who chose by number" waits env CUDA_VISIBLE_DEVICES=0 -- env CUDA_VISIBLE_DEVICES="$uuid"
check "and is told which process of whom" said "^alone: waits for $uuid, which process [0-9]* of $(id -un) uses"
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null; then
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/)
    check "another user waits for root" waits -- "${nobody[@]}"
    check "root waits for another user" waits "${nobody[@]}" --
    check "and is told so" said "of nobody uses"
else
    skip "another user" "needs root and setpriv"
fi

"$at/stage-1" --device cuda --no-check --counters none --quiet --min-time 60 --max-samples 100000000 --seqlen 2048 > /dev/null 2>&1 &
busy=$!
sleep 3
check "a run beside another process" run
check "is said" said "^stage-1: 1 other process on this GPU, so times may be longer"
check "and marked in the record" has '"other_processes":1'
"$at/doctor" > "$tap_dir/err" 2>&1
check "doctor says so, too" said "^note  *busy  *1 other process on it"
kill $busy
wait $busy
check "afterwards" run
check "nothing is marked" has '"other_processes":0'
absent() { CUDA_VISIBLE_DEVICES=99 "$at/stage-1" --device cuda --quiet; }
status "a GPU that is not there" 77 absent
tap_done
