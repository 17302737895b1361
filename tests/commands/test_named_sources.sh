#!/bin/bash
# A kernel names its source files. Whatever it names, the run ends, a terminal obeys nothing of it, and the record has the
# failed check.
. tests/tap.sh
limit() { timeout -s KILL 20 "$build/run" --device emu --no-predict --count-ptx --kernel k --arg 'f32[16]=zero' "$@"; }

# NAME: a kernel that writes past its array, and says that it comes from the file NAME
kernel() {
    printf '.version 8.7\n.target sm_90a\n.address_size 64\n.file 1 "%b"\n' "$1"
    cat << 'PTX'
.visible .entry k(.param .u64 p)
{
 .reg .b64 %rd<2>; .reg .b32 %r<2>;
 .loc 1 1 0
 ld.param.u64 %rd0, [p];
 .loc 1 2 0
 mov.u32 %r0, 7;
 st.global.u32 [%rd0+4096], %r0;
 ret;
}
PTX
}
reported() { # NAME TEXT: exit 1, the text in what is printed and in the record, and no control character
    kernel "$1" > "$tap_dir/k.ptx"
    rm -f "$tap_dir/k.json"
    limit --source --json "$tap_dir/k.json" "$tap_dir/k.ptx" > "$tap_dir/said" 2>&1
    [ $? -eq 1 ] && grep -qF "$2" "$tap_dir/said" && ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$tap_dir/said" &&
        grep -qF '"reports":["global access out of bounds' "$tap_dir/k.json" && grep -qF "$2" "$tap_dir/k.json"
}
mkfifo "$tap_dir/pipe"
printf 'a\033[2J\r\n%s\n' 'b\t' > "$tap_dir/screen.cu"
check "a file that is there" reported "$PWD/README.md" "README.md:2"
check "a device that never ends" reported /dev/zero "/dev/zero:2"
check "a pipe that nobody writes" reported "$tap_dir/pipe" "pipe:2"
check "a folder" reported "$tap_dir" ":2"
check "a source that clears the screen" reported "$tap_dir/screen.cu" "screen.cu:2"
check "a name that clears the screen" reported 'x\033[2J\007.cu' "x?[2J?.cu:2"
check "a name that is no UTF-8" reported 'x\377\376.cu' "x??.cu:2"
check "a name that is" reported 'x\303\251.cu' ".cu:2"
tap_done
