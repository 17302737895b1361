#!/bin/bash
# No number of a chip stands in the predictor's code: it is a parameter of chips/NAME.txt, so that another chip's file can change it.
. tests/tap.sh
none_but_allowed() { python3 tests/house/chip_numbers.py tests/house/chip_numbers.txt "$@"; }
sources=(emulator/predictor/*.c emulator/predictor/*.h)
check "sources were found" test "${#sources[@]}" -gt 10
check "the predictor has no number of a chip" none_but_allowed "${sources[@]}"

# What must not pass.
mkdir "$tap_dir/planted"
planted() { # FILE FROM TO: the file with a number planted is refused, and the number named
    sed "s/$2/$3/" "emulator/predictor/$1" > "$tap_dir/planted/$1"
    ! cmp -s "emulator/predictor/$1" "$tap_dir/planted/$1" && ! none_but_allowed "$tap_dir/planted/$1" > "$tap_dir/said" &&
        grep -q "$4" "$tap_dir/said"
}
check "a latency in code is found" planted sm.c 'm->chip->drain' '110' ': 110 stands 1 times'
check "a share in code is found" planted tail.c 'c->cta_alike' '0.25' ': 0.25 stands 1 times'
check "one more of what is allowed elsewhere is found" planted memory_path.c 'm->chip->tma_interval' '32' ': 32 stands 6 times, allowed are 5'
check "a reason that nothing needs is found" planted wheel.h 4096 'SOME' 'wheel.h has no 4096'
quiet() { # a number in a comment or a string is none
    printf '/* 12.5 cycles */\nconst char *const why = "at most 99";\n' > "$tap_dir/planted/wheel.c"
    sed '/^wheel.c /d' tests/house/chip_numbers.txt > "$tap_dir/few"
    python3 tests/house/chip_numbers.py "$tap_dir/few" "$tap_dir/planted/wheel.c"
}
check "comments and strings do not count" quiet
tap_done
