#!/bin/bash
# names.sh LIBRARY: links beside it the names under which programs look for NVIDIA's libraries.
set -eu
cd "$(dirname "$1")"
for name in libcudart.so.13 libcuda.so.1 libcublas.so.13 libcublasLt.so.13 libcurand.so.10; do
    ln -sfn "$(basename "$1")" $name
    ln -sfn "$(basename "$1")" "${name%.so.*}.so"
done
