#!/bin/bash
# link.sh NAME STANDIN OUT: a library for the linker, OUT, with the name of NVIDIA's libNAME and the functions of it that
# STANDIN has. Leaves its source and version script beside it. $CC compiles it.
set -eu
name=$1 standin=$2 out=$3
if [ "$name" = cuda ]; then
    own='' soname=libcuda.so.1 script=
else
    [ "$name" = curand ] && version=10 || version=13
    own=lib$name.so.$version soname=lib$name.so.$version script=-Wl,--version-script=$out.map
fi
nm -D --defined-only "$standin" | awk -v own="$own" '
    {split($3, x, "@@")}
    x[2] == own && x[1] ~ /^(__)?cu[A-Z]|^(__)?cuda|^cublas|^curand/ {print "void " x[1] "(void) {}"}' > "$out.c"
echo "$own { global: *; };" > "$out.map"
# shellcheck disable=SC2086
"${CC:-gcc}" -shared -nostdlib -fno-builtin -w -Wl,-soname,$soname $script -o "$out" "$out.c"
