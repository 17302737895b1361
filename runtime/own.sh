#!/bin/bash
# own.sh [options of build/run]: runs $PROGRAM, or a kernel of the file $KERNEL, with the options $ARGS as well (make run
# PROGRAM=... and make run KERNEL=... do this). Without --kernel among $ARGS the kernels of the file are listed.
# Exit status: that of build/run, which is the program's own; 2 both, or no such file.
set -uf
build=${BUILD:-build} records=results/run.jsonl
fail() { echo "make: $1" >&2; exit 2; }
[ -z "${PROGRAM:-}" ] || [ -z "${KERNEL:-}" ] || fail "PROGRAM and KERNEL: one of them"
# kernels FILE: the names behind __global__, whatever stands between (void, attributes, line ends); or PTX's entries
kernels() {
    tr '\n' ' ' < "$1" | sed 's,/\*[^*]*\*/, ,g; s/__launch_bounds__ *([^()]*\(([^()]*)[^()]*\)*)/ /g' |
        grep -oE '(__global__|\.entry)[^({;]*\(' | sed -E 's/ *\($//; s/.*[ *&]//' | sort -u
}

if [ -n "${KERNEL:-}" ]; then
    if [[ " ${ARGS:-} " != *" --kernel"[\ =]* ]]; then
        [ -r "$KERNEL" ] || fail "there is no $KERNEL: KERNEL names a .cu or .ptx file"
        [ ! -d "$KERNEL" ] || fail "$KERNEL is a folder: KERNEL names a .cu or .ptx file"
        list=$(kernels "$KERNEL")
        [ -n "$list" ] || fail "$KERNEL has no kernel: nothing in it is declared __global__"
        echo "Kernels of $KERNEL:"
        echo
        sed 's/^/    /' <<< "$list"
        echo
        echo "To run one: make run KERNEL=$KERNEL ARGS=\"--kernel ${list%%$'\n'*} --grid 8x8 --block 16x16 --arg ...\""
        echo "build/run --help explains --arg."
        exit 0
    fi
    mkdir -p results 2> /dev/null || true
    # shellcheck disable=SC2086
    exec "$build/run" "$@" --json $records ${ARGS:-} "$KERNEL"
fi

mkdir -p results 2> /dev/null || true
size() { if [ -e $records ]; then wc -c < $records; else echo 0; fi; }
before=$(size)
# shellcheck disable=SC2086
"$build/run" "$@" --json $records ${ARGS:-} -- $PROGRAM
status=$?
[ $status -ne 0 ] || [ "$(size)" != "$before" ] || [[ " ${ARGS:-} " == *" --"[jhv]* ]] ||
    echo "make: ${PROGRAM%% *} ended without launching a kernel: is it built with runtime/attnlab-nvcc?" >&2
exit $status
