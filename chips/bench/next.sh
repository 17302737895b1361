#!/bin/bash
# next.sh: stores to many lines, local memory and first launches, on this machine's GPU; $OUT/scattered.tsv.gz holds the results
# (2 minutes). bash chips/bench/next.sh, in the repository's root.
set -eu
out=${OUT:-results} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
nvcc -O2 -std=c++17 -arch=sm_90a -o "$work/scattered" chips/bench/scattered.cu
{
    nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader | sed 's/^/machine\t/'
    timeout 150 "$work/scattered"
} | gzip > "$out/scattered.tsv.gz"
