#!/bin/bash
# cuRAND's host calls: the sequences of the toolkit's own library, on device memory; distributions, streams, and what fails.
. tests/tap.sh
unset CHIP ATTNLAB_RUN
run=$build/run
dir=$tap_dir/work
mkdir "$dir"
nvcc=$(command -v "${NVCC:-nvcc}")
if [ -z "$nvcc" ] || [ ! -e "${nvcc%/bin/*}/include/curand.h" ] || [ ! -e "${nvcc%/bin/*}/lib64/libcurand.so.10" ]; then
    skip "cuRAND" "no cuRAND in the toolkit here"
    tap_done
fi
emulated() { "$run" --device emu --quiet "$dir/random" "$@"; }
check "a program with cuRAND compiles" env BUILD="$build" runtime/attnlab-nvcc -O2 -std=c++17 -o "$dir/random" tests/runtime/run_random.cu -lcurand
check "sequences, distributions and refusals" says '^0 wrong$' 0 emulated
check "the first numbers are those of the toolkit's XORWOW" grep -qx 'XORWOW, seed 1234: 0.145468 0.820181 0.550399 0.294830' "$tap_dir/said"
check "host memory is refused by a generator of the device" says '^host memory: 201, 0$' 0 emulated host
check "numbers and a kernel in two streams race" says 'race between streams: kernel twice in stream 2 reads byte 0 .*, which curandGenerateUniform in stream 1 writes' 1 emulated race
mkdir -p "$dir/bin" && ln -s "$(dirname "$nvcc")"/ptxas "$dir/bin/ptxas" # a toolkit without the library
check "without the toolkit's library it is said, with the remedy" says 'run: cuRAND: the CUDA toolkit of .*/bin/ptxas has no libcurand.so.10: install it' 1 env PATH="$dir/bin:/usr/bin:/bin" "$run" --device emu --quiet "$dir/random"
tap_done
