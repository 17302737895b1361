#!/usr/bin/env bash
# modes.sh DEVICE: the hash of C for every layout, operand source, width and mistake, a line each.
# On an H200 it wrote tests/golden/stage-5-h200.txt; the emulator must give the same lines.
build=${BUILD:-build}
hash_of() { "$build/stage-5" --device "$1" --no-time --counters none --csv "${@:2}" | awk -F, '$1 == "hash" {print $5}'; }
for swizzle in none 32 64 128; do
    for major_b in k n; do
        for n in 8 64 72 256; do
            for a in "smem --major-a k" "smem --major-a m" "regs"; do
                options="--swizzle $swizzle --major-b $major_b --n $n --k-steps 3 --a $a"
                echo "$options $(hash_of "$1" $options)"
            done
        done
    done
    for mistake in lbo-sbo-swapped wrong-swizzle unaligned row-slot; do
        options="--swizzle $swizzle --n 64 --break $mistake"
        echo "$options $(hash_of "$1" $options)"
    done
done
for input in outlier uniform zeros; do
    options="--input $input --n 128 --k-steps 8"
    echo "$options $(hash_of "$1" $options)"
done
