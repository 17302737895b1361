#!/bin/bash
# The host code compiled for aarch64, under qemu: the C tests, the golden files bit for bit, every stage at a small
# shape. Needs crossbuild-essential-arm64, qemu-user-static, and of arm64 libjansson-dev and libcmocka-dev (.ci/run).
# Thorough: it takes some minutes.
. tests/tap.sh
cross=aarch64-linux-gnu here=$build/aarch64

missing=
for command in $cross-gcc qemu-aarch64-static; do command -v $command > /dev/null || missing+=" $command"; done
for library in libjansson.a libcmocka.so.0; do
    [ -n "$missing" ] || [[ $($cross-gcc -print-file-name=$library) == /* ]] || missing+=" $library of arm64"
done
if [ -n "$missing" ]; then
    skip "the host code on aarch64" "there is no$missing: install crossbuild-essential-arm64 qemu-user-static libjansson-dev:arm64 libcmocka-dev:arm64"
    tap_done
    exit
fi

# Left out are tests that start programs, which qemu cannot without the kernel's help, and that run for minutes.
alone() { # SOURCE
    ! grep -qE 'fork\(|system\(|popen\(|posix_spawn|exec[lv]|dlopen' "$1" && [[ $1 != *test_mutants.c ]]
}
tests=()
for source in tests/unit/*/test_*.c tests/golden/test_*.c; do
    alone "$source" && tests+=("$(basename "$source" .c)")
done
mapfile -t stages < <(for folder in stages/[0-9]*-*; do f=${folder##*/}; echo "stage-${f%%-*}"; done)

# Kernel images are the same on every processor: those of $build are used.
mkdir -p "$here"
ln -sfn ../images "$here/images"
# So are the listings that nvdisasm makes of them, which the emulator keeps.
mkdir -p "$build/sass"
[ -L "$here/sass" ] || rm -rf "$here/sass"
ln -sfn ../sass "$here/sass"
check "the library, the C tests and the stages compile" make --no-print-directory -j"$(nproc)" BUILD="$here" \
    CC=$cross-gcc AR=$cross-ar "${tests[@]/#/$here/tests/}" "${stages[@]/#/$here/}"

# qemu keeps a table of every page that is reserved: of the emulator's 32 TiB it would fill any memory. With less the
# emulator reserves less.
emulated() { (ulimit -v $((90 << 20)) && exec qemu-aarch64-static "$@"); }
# Left out of five programs is one test each that takes 10 to 20 s here and shows nothing of the processor: it repeats
# for long what shorter ones of the same program do. `make test` and `make sanitize` run it.
declare -A long=([test_emu_poll]=works_while_it_waits [test_emu_checks]=test_long_blocks
    [test_check]=large_problems_are_sampled [test_extremes]=honest_kernels_pass_at_every_scale
    [test_predictor]=atomics_at_few_words)
unit() { # TEST; two parts need more addresses than that
    TEST_SKIP=${long[$1]-} emulated "$here/tests/$1" > "$tap_dir/unit" 2>&1 && return
    cat "$tap_dir/unit"
    case "$1 $(sed -n 's/^not ok [0-9]* - //p' "$tap_dir/unit" | paste -sd' ')" in
    "test_emu_checks test_memory" | "test_memory addresses heap") ;;
    *) false ;;
    esac
}
for test in "${tests[@]}"; do check "$test" unit "$test"; done

# What a stage says on each processor: counts, predictions and the digest of its answer, without what a clock measures.
says() { # COMMAND...: its record, without time and place
    "$@" --device emu --seqlen-q 65 --seqlen-k 70 --heads 2 --kv-heads 1 --no-time --json "$tap_dir/record" --quiet &&
        python3 -c '
import json, sys
record = json.loads(open(sys.argv[1]).readlines()[-1])
for name in ("time", "command", "revision"): record.pop(name)
print(json.dumps(record, sort_keys=True, indent=1))' "$tap_dir/record"
}
alike() { # STAGE
    rm -f "$tap_dir/record"
    says "$build/$1" --out "$tap_dir/x86.npy" > "$tap_dir/x86" || return 1
    rm -f "$tap_dir/record"
    says emulated "$here/$1" --out "$tap_dir/arm.npy" > "$tap_dir/arm" || return 1
    cmp "$tap_dir/x86.npy" "$tap_dir/arm.npy" && diff "$tap_dir/x86" "$tap_dir/arm"
}
for stage in "${stages[@]}"; do
    [ "$stage" = stage-5 ] || check "$stage: right, and as on this machine in every bit and count" alike "$stage"
done
# A product of each kind. Its counters take 4096 products, half a minute; stage 6 has the same ones.
microscope() { # OPTION...
    set -- "$@" --device emu --counters none --csv
    "$build/stage-5" "$@" > "$tap_dir/x86" && emulated "$here/stage-5" "$@" > "$tap_dir/arm" &&
        grep -q ^hash "$tap_dir/x86" && diff "$tap_dir/x86" "$tap_dir/arm"
}
for product in "" "--n 8 --swizzle none" "--n 256 --a regs --k-steps 4" "--major-a m --major-b n --input outlier"; do
    # shellcheck disable=SC2086
    check "stage-5 $product: as on this machine" microscope $product
done
tap_done
