#!/bin/bash
# A GPU that several users share, on the driver and the NVML of tests/fake: one command at a time by the GPU's UUID, whatever
# another user planted where the lock lies; what a record says of the GPU, and of others on it.
. tests/tap.sh
locks=$tap_dir/locks own=$tap_dir/own
mkdir -m 1777 "$locks"
mkdir -m 700 "$own"
unset ATTNLAB_ALONE CUDA_VISIBLE_DEVICES DEVICE
build=$(realpath "$build")
fake=$build/tests/fake:$build/tests/fake/nvml
settings=() program=$build/alone
alone() { env LD_LIBRARY_PATH="$fake" ATTNLAB_LOCKS="$locks" XDG_RUNTIME_DIR="$own" "${settings[@]}" "$program" "$@"; }
said() { grep -q -e "$1" "$tap_dir/err" || { cat "$tap_dir/err"; false; }; }
first=$locks/attnlab-GPU-00000000-0000-0000-0000-000000000000.lock

check "a command under the lock" alone true
check "its file is named after the GPU, and anyone may read it" [ "$(stat -c %a "$first")" = 444 ]
status "no command" 2 alone
status "a command that is not there" 5 alone "$tap_dir/none"
check "the command's status is alone's" bash -c '"$@"; [ $? -eq 7 ]' - env ATTNLAB_LOCKS="$locks" "$build/alone" bash -c 'exit 7'

# ---- One at a time
hold() { # holds the lock of the first GPU until $tap_dir/go is there
    rm -f "$tap_dir/go" "$tap_dir/held"
    alone bash -c 'touch "$1/held"; until [ -e "$1/go" ]; do sleep 0.02; done; echo first >> "$1/order"' - "$tap_dir" &
    until [ -e "$tap_dir/held" ]; do sleep 0.02; done
}
waits() { # COMMAND...: it waits, is told for whom, and runs once the first has ended
    : > "$tap_dir/order"
    : > "$tap_dir/err"
    hold
    "$@" bash -c 'echo second >> "$1"' - "$tap_dir/order" 2> "$tap_dir/err" &
    while kill -0 $! 2> /dev/null && ! grep -q "waits for" "$tap_dir/err"; do sleep 0.02; done
    touch "$tap_dir/go"
    wait
    [ "$(paste -sd' ' "$tap_dir/order")" = "first second" ] || { cat "$tap_dir/order" "$tap_dir/err"; false; }
}
check "a second one waits for the first" waits alone
check "it is told which process of which user" said "alone: waits for GPU-00000000-.*, which process [0-9]* of $(id -un) uses"
mkdir "$tap_dir/checkout"
cp "$build/alone" "$tap_dir/checkout"
elsewhere() { program=$tap_dir/checkout/alone alone "$@"; }
check "so does one of another checkout" waits elsewhere
by_uuid() { env CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000000 LD_LIBRARY_PATH="$fake" ATTNLAB_LOCKS="$locks" "$program" "$@"; }
check "so does one that chose the same GPU by its UUID" waits by_uuid
killed() { # the holder is killed: its lock is gone, too
    hold
    kill -9 "$(awk -v i="$(stat -c %i "$first")" '$2 == "FLOCK" {split($6, at, ":"); if (at[3] == i) print $5}' /proc/locks)"
    wait
    alone true
}
check "a lock ends with the process that was killed" killed
free() { # [VARIABLE=VALUE]: it runs while the first is held
    hold
    settings=("$@")
    alone true 2> "$tap_dir/err" &
    local one=$! n=0 done=1
    while kill -0 $one 2> /dev/null && [ $((n++)) -lt 250 ]; do sleep 0.02; done
    kill -0 $one 2> /dev/null && done=0
    settings=()
    touch "$tap_dir/go"
    wait
    [ $done -eq 1 ] && ! grep -q waits "$tap_dir/err"
}
check "another GPU (CUDA_VISIBLE_DEVICES) is free meanwhile" free CUDA_VISIBLE_DEVICES=1
check "a MIG slice has a lock of its own" free FAKE_NVML_MIG=1
check "the emulator is free, too" free DEVICE=emu
check "a command under alone may run others under it" alone env ATTNLAB_LOCKS="$locks" timeout 5 "$build/alone" true
removed() { # the file is removed while one waits, and a third takes the new one: the one that waited waits for the third
    hold
    : > "$tap_dir/order"
    alone bash -c 'echo second >> "$1/order"' - "$tap_dir" 2> "$tap_dir/err" &
    until grep -q "waits for" "$tap_dir/err"; do sleep 0.02; done
    rm -f "$first"
    alone bash -c 'touch "$1/third"; until [ -s "$1/order" ]; do sleep 0.02; done; sleep 0.3; echo third >> "$1/order"' - "$tap_dir" &
    until [ -e "$tap_dir/third" ]; do sleep 0.02; done
    touch "$tap_dir/go"
    wait
    [ "$(paste -sd' ' "$tap_dir/order")" = "first third second" ] || { cat "$tap_dir/order"; false; }
}
check "the one that waits takes the lock that is there, not one that was removed" removed

# ---- What others plant
planted() { # NAME CAUSE COMMAND...: planted at $first, it is left alone; the command runs, under the user's own lock
    local name=$1 cause=$2
    shift 2
    rm -rf "$first" "$own"/*
    "$@"
    check "$name: the command runs" alone bash -c "cat > '$tap_dir/ran'" < /dev/null
    alone true 2> "$tap_dir/err" > /dev/null
    check "$name: a line says so" said "alone: $first: $cause; other users do not see the lock in $own: have that removed"
    check "$name: the lock is the user's own" [ -e "$own/${first##*/}" ]
    rm -rf "$first"
}
echo secret > "$tap_dir/victim"
planted "a link" "is a link" ln -s "$tap_dir/victim" "$first"
planted "a link to nothing" "is a link" ln -s "$tap_dir/made" "$first"
check "what a link names was neither made nor changed" bash -c '[ ! -e "$1/made" ] && [ "$(cat "$1/victim")" = secret ]' - "$tap_dir"
planted "a second name of a file" "is linked under another name" ln "$tap_dir/victim" "$first"
planted "a pipe" "is no file" mkfifo "$first"
planted "a folder" "is no file" mkdir "$first"
no_room() { settings=(ATTNLAB_LOCKS="$tap_dir/none" XDG_RUNTIME_DIR=); alone true 2> "$tap_dir/err"; }
check "no place for a lock: the command runs" no_room
check "and a line says that nothing is locked" said "alone: no lock on GPU-.*set ATTNLAB_LOCKS to a folder .*; running without a lock"
settings=()

# ---- Another user
other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null && other test -x "$build/alone"; then
    chmod 755 "$tap_dir"
    others() { other env LD_LIBRARY_PATH="$fake" ATTNLAB_LOCKS="$locks" "$build/alone" "$@"; }
    check "another user takes a lock of this one's making" bash -c 'cd /; "$@"' - setpriv --reuid=65534 --regid=65534 --clear-groups \
        env LD_LIBRARY_PATH="$fake" ATTNLAB_LOCKS="$locks" "$build/alone" true
    rm -f "$first"
    others true
    check "and this user one of his, in a folder where files of others are not opened for writing" alone true 2> "$tap_dir/err"
    chmod 000 "$first"
    check "one that nobody may read is no lock" other env LD_LIBRARY_PATH="$fake" ATTNLAB_LOCKS="$locks" "$build/alone" true
    rm -f "$first"
else
    skip "another user" "needs root, setpriv and a build that others can read"
fi

# ---- What a record says
record=$tap_dir/run.jsonl
run() { # [VARIABLE=VALUE...]: the device of the record
    rm -f "$record"
    env LD_LIBRARY_PATH="$fake" "$@" "$build/stage-1" --seqlen 33 --heads 1 --counters none --min-time 0 --quiet --json "$record" \
        2> "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
    grep -o '"uuid":[^}]*' "$record" > "$tap_dir/device"
}
has() { grep -qF -- "$1" "$tap_dir/device" || { cat "$tap_dir/device"; false; }; }
check "a run on a GPU of its own" run
check "its record names the GPU, and that nobody else was on it" has '"uuid":"GPU-00000000-0000-0000-0000-000000000000","other_processes":0'
check "a run on a GPU that two others use" run FAKE_NVML_PROCESSES=2
check "is said" said "^stage-1: 2 other processes on this GPU, so times may be longer; wait, or choose"
check "and marked in the record" has '"other_processes":2'
check "a run on a slice that was chosen" run FAKE_NVML_MIG=1 CUDA_VISIBLE_DEVICES=3
check "its record names both" has '"uuid":"MIG-03030303-0303-0303-0303-030303030303","mig":true,"visible":"3"'
slice=MIG-03030303-0303-0303-0303-030303030303
check "a run on a slice that was chosen by its UUID" run FAKE_NVML_MIG=1 CUDA_VISIBLE_DEVICES=$slice
check "its record has that UUID" has "\"uuid\":\"$slice\",\"mig\":true,\"visible\":\"$slice\""
check "without NVML" run LD_LIBRARY_PATH="${fake%:*}"
check "nothing is claimed of others" bash -c '! grep -q other_processes "$1"' - "$tap_dir/device"
doctor() { env LD_LIBRARY_PATH="$fake" ATTNLAB_CUPTI="$build/tests/fake" FAKE_NVML_PROCESSES=1 CUDA_VISIBLE_DEVICES=2 "$build/doctor"; }
doctor > "$tap_dir/err" 2>&1
check "doctor names the GPU" said "^ok  *which GPU  *GPU-02020202-.*, the first of CUDA_VISIBLE_DEVICES=2"
check "and who is on it" said "^note  *busy  *1 other process on it: times may be longer"
tap_done
