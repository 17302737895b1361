# For shell tests: source this, call check and skip, end with tap_done.
#
#   check NAME COMMAND...          passes if the command succeeds; its output is shown if it fails
#   status NAME N COMMAND...       passes if it exits with N and writes exactly one line to stderr
#   check NAME says PATTERN N COMMAND...   passes if it exits with N and PATTERN is in what it prints, which is kept in $tap_dir/said
#   skip NAME REASON
#   needs_nvcc NAME, needs_nvdisasm NAME
#                                  end the script with a skip where there is no such program
#   needs_grader NAME              the same where nothing can be graded: without nvcc, bubblewrap or numpy
#   full_disk NAME COMMAND...    status 5 with $full, a path that no byte can be written to
#   later check NAME COMMAND...    any of these beside others, as many at a time as there are cores. What is run must not share
#                                  files; `together`, and tap_done too, waits for them and reports each in its turn
#
# TAP_STOP=1: the first that fails ends the script
build=${BUILD:-build}
tap_n=0 tap_failed=0
tap_dir=$(mktemp -d)
tap_own=$tap_dir # what a check says goes here
trap 'rm -rf "$tap_dir"' EXIT

tap_result() { # NAME PASSED(0 or 1) FILE-WITH-DETAILS
    tap_n=$((tap_n + 1))
    if [ "$2" -eq 1 ]; then echo "ok $tap_n - $1"; return; fi
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_n - $1"
    sed 's/^/# /' "$3"
    [ -z "${TAP_STOP-}" ] || exit 1
}

check() {
    local tap_name=$1 tap_passed=0 # the command may have a `name` of its own
    shift
    "$@" > "$tap_own/out" 2>&1 && tap_passed=1
    tap_result "$tap_name" $tap_passed "$tap_own/out"
}

status() {
    local name=$1 expected=$2 passed=0 got
    shift 2
    "$@" > "$tap_own/out" 2> "$tap_own/err"
    got=$?
    [ $got -eq "$expected" ] && [ "$(wc -l < "$tap_own/err")" -eq 1 ] && passed=1
    { echo "status $got, expected $expected; stderr:"; cat "$tap_own/err"; } > "$tap_own/why"
    tap_result "$name" $passed "$tap_own/why"
}

says() { # PATTERN STATUS COMMAND...
    local pattern=$1 status=$2 got
    shift 2
    "$@" > "$tap_dir/said" 2>&1
    got=$?
    [ $got -eq "$status" ] && grep -Eq -- "$pattern" "$tap_dir/said" || { echo "status $got"; cat "$tap_dir/said"; false; }
}

# A link, so that a wrong program that removes or replaces what it cannot write removes the link, not the device.
full=$tap_dir/full
ln -s /dev/full "$full"
full_disk() {
    if [ -c /dev/full ]; then status "$1" 5 "${@:2}"; else skip "$1" "/dev/full is no device here"; fi
}

skip() {
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

needs_nvcc() { command -v "${NVCC:-nvcc}" > /dev/null || { skip "$1" "no nvcc here"; tap_done; }; }
needs_nvdisasm() {
    ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm > /dev/null 2>&1 || { skip "$1" "no nvdisasm: make setup"; tap_done; }
}
needs_grader() {
    local why=
    needs_nvcc "$1"
    if ! command -v bwrap > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
        why="no bubblewrap, or no namespaces for it: make setup"
    elif ! "${PYTHON:-.venv/bin/python}" -c 'import numpy' 2> /dev/null; then why="no numpy in .venv; make setup installs it"
    fi
    [ -z "$why" ] || { skip "$1" "$why"; tap_done; }
}

tap_pids=() # of those that run beside others
tap_later=0 # folders $tap_dir/later-1 and so on: what those said
later() {
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    tap_later=$((tap_later + 1))
    tap_own=$tap_dir/later-$tap_later
    mkdir "$tap_own"
    (trap - EXIT; tap_n=0; "$@") > "$tap_own/said" &
    tap_pids+=($!)
    tap_own=$tap_dir
}
together() {
    local n line
    [ $tap_later -eq 0 ] || wait "${tap_pids[@]}"
    for ((n = 1; n <= tap_later; n++)); do
        while IFS= read -r line; do
            [[ ! $line =~ ^(not )?ok\ 1\ - ]] || { tap_n=$((tap_n + 1)); line=${line/ok 1 -/ok $tap_n -}; }
            [[ $line != "not ok "* ]] || tap_failed=$((tap_failed + 1))
            printf '%s\n' "$line"
        done < <(cat "$tap_dir/later-$n/said"; grep -q '^\(not \)\?ok ' "$tap_dir/later-$n/said" || echo "not ok 1 - it said nothing")
        rm -r "$tap_dir/later-$n"
    done
    tap_later=0 tap_pids=()
}

tap_done() {
    together
    echo "1..$tap_n"
    [ $tap_failed -eq 0 ]
    exit
}
