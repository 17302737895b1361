#!/bin/bash
# The emulator's front end takes what ptxas takes: instruction forms with their modifiers in other orders
# (orders.txt, which `tests/golden/orders.py draw 2 999 4` made with ptxas of CUDA 13.0; and some drawn anew where
# there is a ptxas), and the other spellings that compilers and people use.
. tests/tap.sh
load=$build/load-ptx

all_load() { # FILE WITH LINES
    python3 tests/golden/orders.py module "$1" > "$tap_dir/k.ptx" && "$load" "$tap_dir/k.ptx"
}
kernel() { # BODY: a module of one kernel loads
    printf '.version 9.0\n.target sm_90a\n.address_size 64\n%s\n' "$1" > "$tap_dir/k.ptx"
    "$load" "$tap_dir/k.ptx"
}
refused() { # TEXT COMMAND...: the command says so
    local text=$1
    shift
    ! "$@" > "$tap_dir/said" || return 1
    grep -qF -- "$text" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

check "$(grep -c . tests/golden/orders.txt) orders that ptxas takes" all_load tests/golden/orders.txt
if ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2> /dev/null); then
    PTXAS=$ptxas python3 tests/golden/orders.py draw 5 40 6 > "$tap_dir/drawn"
    check "some drawn anew" test "$(grep -c . "$tap_dir/drawn")" -ge 20
    check "$(grep -c . "$tap_dir/drawn") of those" all_load "$tap_dir/drawn"
else
    skip "orders drawn anew" "no ptxas"
fi
echo 'add.f32.rn.nearly %r0, %r1, %r2;' > "$tap_dir/strange"
check "a word too much is refused" refused 'add.f32.rn.nearly (PTX line 11)' all_load "$tap_dir/strange"
echo 'cvt.f32.rn %r0, %r1;' > "$tap_dir/strange"
check "a word too few is refused" refused 'cvt.f32.rn (PTX line 11)' all_load "$tap_dir/strange"

check "digits behind ::" kernel '.entry k(.param .u64 p) { .reg .b64 %l<2>; .reg .f32 %f<2>;
    ld.param.u64 %l0, [p]; ld.global.L2::128B.f32 %f0, [%l0]; ret; }'
check ".ptr and what it points to" kernel '.visible .entry k(.param .u64 .ptr .global .align 16 a,
    .param .u64 .ptr .align 4 b, .param .u64 .ptr c, .param .align 8 .b8 d[24]) { ret; }'
check "no blank between directives" kernel '.entry k() {.reg.b32 %r<4>;{.reg.pred p;.reg.b32 x;
    setp.eq.s32 p,%r0,3;@p mov.b32 x,%r1;}.shared.b32 s[16];ret;}'
check "reserved shared memory" kernel '.entry k() { .reg .b32 %r<2>; mov.u32 %r0, %reserved_smem_offset_1;
    st.shared.b32 [%r0], %r0; ret; }'
tap_done
