#!/bin/bash
# Instructions that attention does not use: each kernel of opcodes.cu gives the same as machine code and as PTX, and has a
# prediction.
# Thorough: it compiles and runs every kernel twice, and make test leaves it out.
. tests/tap.sh
nvcc=${NVCC:-nvcc} source=tests/predictor/opcodes.cu
if ! command -v "$nvcc" > /dev/null; then
    skip "opcodes" "no nvcc here"
    tap_done
fi
images() { # NAME SOURCE [CHIP]
    "$nvcc" -std=c++17 -arch="sm_${3:-90a}" -O3 -lineinfo -cubin -o "$tap_dir/$1.cubin" "$2" && "$nvcc" -std=c++17 -arch="compute_${3:-90a}" -O3 -lineinfo -ptx -o "$tap_dir/$1.ptx" "$2"
}
check "they compile" images own $source
"$build/sass-beside" "$tap_dir/own.cubin" "$tap_dir/own.ptx" > "$tap_dir/said" 2>&1
if grep -q 'no nvdisasm' "$tap_dir/said"; then
    skip "opcodes" "no nvdisasm: make setup"
    tap_done
fi
mapfile -t kernels < <(sed -n 's/^KERNEL(\([a-z0-9_]*\)).*/\1/p' $source)
check "all are there" [ "$(wc -l < "$tap_dir/said")" -eq ${#kernels[@]} ]
for k in "${kernels[@]}"; do check "$k: machine code and PTX agree" grep -qx "$k: same" "$tap_dir/said"; done
check "they compile for Ada" images ada $source 89
"$build/sass-beside" "$tap_dir/ada.cubin" "$tap_dir/ada.ptx" > "$tap_dir/said" 2>&1
for k in "${kernels[@]}"; do check "$k: and so do those of Ada" grep -qx "$k: same" "$tap_dir/said"; done
predicted() { # KERNEL: elapsed cycles, more than a launch's overhead
    "$build/run" --device emu --no-races --counters CYCLES --csv --kernel "$1" --grid 2 --block 64 --arg 'i32[1024]=ramp' --arg 'i32[4096]=zero' "$tap_dir/own.ptx" 2> "$tap_dir/err" |
        awk -F, '$7 == "cycles_elapsed" && $8 > 3200 {found = 1} END {exit !found}' || { cat "$tap_dir/err"; false; }
}
for k in "${kernels[@]}"; do check "$k: predicted" predicted "$k"; done

# A call of printf takes its time, and is counted as machine code.
cat > "$tap_dir/prints.cu" << 'END'
#include <cstdio>
extern "C" __global__ void prints(int n, int *out) {
    if (n == 1) printf("one value: %d\n", n);
    if (n == 3) printf("%%, %5.2f and %d, %*d\n", 1.5 * n, n, 7, n);
    out[threadIdx.x] = n;
}
END
number() { sed -n "s/^$1 \([0-9.]*\) .*/\1/p" chips/h200.txt; }
cycles() { # N WARPS: elapsed, and PTX's instructions would be an error
    "$build/run" --device emu --no-races --counters CYCLES,MIX --csv --kernel prints --grid 1 --block $((32 * $2)) --arg "i32=$1" --arg "i32[$((32 * $2))]=zero" "$tap_dir/prints.cu" 2> "$tap_dir/err" |
        awk -F, '$7 == "cycles_elapsed" {c = $8} $7 == "instructions" {n = $8; ptx = /PTX/} END {if (ptx || !n) exit 1; printf "%d", c}'
}
printed() { # N WARPS CYCLES: longer than without printing, within 5 %
    some=$(cycles "$1" "$2") && none=$(cycles 0 "$2") && echo "$some, without $none" && awk -v d=$((some - none)) -v c="$3" 'BEGIN {exit !(d > 0.95 * c && d < 1.05 * c)}'
}
call=$(number printf_call) character=$(number printf_character) lane=$(number printf_lane)
check "printf takes its time" printed 1 1 $((call + 14 * character + 32 * lane))
check "a longer format takes more" printed 3 1 $((call + 22 * character + 32 * lane))
check "the lanes of four warps get their places one after the other" printed 1 4 $((call + 14 * character + 128 * lane))

# The comparison can fail: other PTX, and a kernel that the cubin lacks.
sed 's/in\[t\] \* 3;$/in[t] * 5;/; s/KERNEL(copies)/KERNEL(missing)/' $source > "$tap_dir/other.cu"
check "another one compiles" images other "$tap_dir/other.cu"
check "differences end with 1" bash -c "'$build/sass-beside' '$tap_dir/own.cubin' '$tap_dir/other.ptx' > '$tap_dir/said'; [ \$? -eq 1 ]"
check "and are said" grep -qE '^predicates: [0-9]+ words differ, the first is out\[' "$tap_dir/said"
check "a kernel without machine code is said" grep -qx 'missing: it is not in the cubin' "$tap_dir/said"
tap_done
