# For shell tests: source this, call check and skip, end with tap_done.
#
#   check NAME COMMAND...          passes if the command succeeds; its output is shown if it fails
#   status NAME N COMMAND...       passes if it exits with N and writes exactly one line to stderr
#   skip NAME REASON
#   full_disk NAME COMMAND...    status 5 with $full, a path that no byte can be written to
#
# TAP_STOP=1: the first that fails ends the script
build=${BUILD:-build}
tap_n=0 tap_failed=0
tap_dir=$(mktemp -d)
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
    "$@" > "$tap_dir/out" 2>&1 && tap_passed=1
    tap_result "$tap_name" $tap_passed "$tap_dir/out"
}

status() {
    local name=$1 expected=$2 passed=0 got
    shift 2
    "$@" > "$tap_dir/out" 2> "$tap_dir/err"
    got=$?
    [ $got -eq "$expected" ] && [ "$(wc -l < "$tap_dir/err")" -eq 1 ] && passed=1
    { echo "status $got, expected $expected; stderr:"; cat "$tap_dir/err"; } > "$tap_dir/why"
    tap_result "$name" $passed "$tap_dir/why"
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

tap_done() {
    echo "1..$tap_n"
    [ $tap_failed -eq 0 ]
    exit
}
