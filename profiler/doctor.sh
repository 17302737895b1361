#!/bin/bash
# doctor.sh: what this machine has of what the project uses, and for each missing thing the remedy (make doctor does
# this). Tools are looked at first, which takes a second; then doctor.c looks at CUPTI, the GPU and the emulator, for
# which the library is built, once. Reads $CC, $NVCC, $CUDA, $PYTHON, $BUILD and $MAKE.
# Exit status: 0 stages can run here; 77 they cannot.
set -u
tool() { # NAME WHAT-FOR-AND-REMEDY COMMAND...: its first line of output, or what is missing
    local said
    if said=$("${@:3}" 2> /dev/null); then
        printf '%-8s %-16s %s\n' ok "$1" "${said%%$'\n'*}"
    else
        printf '%-8s %-16s %s\n' missing "$1" "$2"
        false
    fi
}
library() { echo "int main(void){return 0;}" | "$CC" -x c - -o /dev/null -l:"$1" && echo "$1"; }
avx2() { grep -m 1 -q '\<avx2\>' /proc/cpuinfo && echo "this processor has it"; }
release() { "$NVCC" --version | grep release; }
toolkit() { [ -n "$CUDA" ] && [ -e "$CUDA/include/cuda.h" ] && echo "$CUDA/include"; }
nvdisasm() {
    local each
    for each in .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm "$(command -v nvdisasm)" "$CUDA/bin/nvdisasm"; do
        [ ! -x "$each" ] || { "$each" --version | grep release; return; }
    done
    false
}
sandbox() { bwrap --ro-bind / / --unshare-user --unshare-net true && bwrap --version; }
modules() { # a line for each: NAME VERSION, or NAME alone
    "$PYTHON" -c 'import importlib.metadata as m, sys
for name in sys.argv[1:]:
    try: print(name, m.version(name))
    except m.PackageNotFoundError: print(name)' "$@"
}

buildable=1
tool compiler "needed to build anything: make setup installs gcc" "$CC" --version || buildable=
tool nvcc "needed to build kernels: make setup puts a CUDA toolkit into .venv" release || buildable=
tool "CUDA's headers" "needed to build anything: make setup puts a CUDA toolkit into .venv" toolkit || buildable=
tool jansson "needed to build anything: make setup installs libjansson-dev" library libjansson.a || buildable=
tool AVX2 "needed to run anything: this processor lacks it, take another machine" avx2 || buildable=
tool cmocka "needed for make test: make setup installs libcmocka-dev" library libcmocka.so.0
tool nvdisasm "needed for predicted times: make setup puts it into .venv" nvdisasm
tool gnuplot "needed for pictures: make setup installs gnuplot-nox" gnuplot --version
tool bubblewrap "needed for the grader's sandbox: make setup installs it; it needs user namespaces, or SANDBOX=weak" sandbox
if tool python "needed for notebooks and reports: make setup makes .venv" "$PYTHON" --version; then
    modules jupyterlab jupytext nbclient nbformat ipykernel nbgrader numpy pandas | while read -r name version; do
        tool "$name" "needed for notebooks: make setup installs it into .venv" grep . <<< "$version"
    done
fi

mkdir -p "$BUILD" 2> /dev/null && [ -w "$BUILD" ] ||
    { tool "$BUILD/" "you cannot write to this folder: make a copy of your own with make mine DIR=~/attnlab" false; exit 77; }
[ -n "$buildable" ] || { printf '\nStages cannot be built here: run make setup, which installs what is missing.\n'; exit 77; }
[ -x "$BUILD/doctor" ] || echo "note     $BUILD/doctor       is built first, which takes about a minute"
$MAKE --no-print-directory "$BUILD/doctor" > "$BUILD/doctor.log" 2>&1 ||
    { tail -n 5 "$BUILD/doctor.log"; tool build "$BUILD/doctor does not build: see $BUILD/doctor.log, or run make setup" false; exit 77; }
exec "$BUILD/doctor"
