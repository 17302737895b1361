#!/bin/bash
# A handler reaches memory through emu_reach() of emulator/core/reach.h, and in no other way: no other
# source makes a room or a place, handlers do not name the memory of blocks, warps and launches, and no
# number becomes a pointer. The compiler does the rest: struct emu_bytes is never completed.
. tests/tap.sh

# none PATTERN FILE...: prints the lines with the pattern that are no comments; fails if there are some
none() { ! grep -HnE "$@" | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)'; }

# The rules, for the sources of the folder $1.
names_no_memory() { none '\b(shared|local|param)_memory\b|\bstruct emu_bytes\b' $(find "$1" -name "*.[ch]"); }
asks_no_other() { none '\bemu_memory_at\b|\bmmap\b' $(find "$1" -name "*.[ch]"); }
makes_no_pointer() { none '\bu?intptr_t\b|\(void \*\) *[a-z_]*(addr|address|handle|base)\b' $(find "$1" -name "*.[ch]"); }
makes_no_room() {
    none '\(struct emu_room\) *\{ *[^0} ]|\(struct emu_place\) *\{ *[^N} ]|struct emu_place [a-z_]+ = \{ *[^N} ]|(\.|->)byte *= [^=]|(\.|->)host\b' \
        $(find "$1" -name "*.[ch]")
}

# Casts from numbers to pointers, as clang sees them.
casts() { # FILE: how many there are
    clang -std=c11 -march=x86-64-v3 -I. -D_GNU_SOURCE -w -fsyntax-only -fno-color-diagnostics -Xclang -ast-dump "$1" 2> "$tap_dir/clang" |
        awk '/IntegralToPointer/ {n++} END {print n + 0}'
}
casts_nothing() {
    local bad=0 n
    for source in $(find "$1" -name "*.c"); do
        n=$(casts "$source")
        [ "$n" -eq 0 ] || { echo "$source: $n numbers become pointers"; bad=1; }
    done
    return $bad
}

folder=emulator/instructions
check "there are sources" test "$(find $folder -name "*.c" | wc -l)" -gt 30
for rule in names_no_memory asks_no_other makes_no_pointer makes_no_room; do
    check "handlers: $rule" $rule $folder
done
check "checks make no rooms or places" makes_no_room emulator/checks
check "one function makes places" test "$(grep -c '(struct emu_place){(' emulator/core/reach.h)" -eq 1
if command -v clang > /dev/null; then
    check "handlers: no number becomes a pointer, says clang" casts_nothing $folder
else
    skip "handlers: no number becomes a pointer, says clang" "there is no clang; install it"
fi

# Each of these must be able to fail.
planted=$tap_dir/planted
mkdir -p "$planted"
fails() { ! "$@"; }
plant() { # RULE LINE
    { echo '#include "emulator/core/reach.h"'; echo '#include "emulator/core/texture.h"'
      echo "void *handler(struct emu_warp *w, uint64_t handle) { $2 }"; } > "$planted/handler.c"
    check "found: $2" fails "$1" "$planted"
}
plant names_no_memory 'return w->block->shared_memory;'
plant names_no_memory 'return (unsigned char *)w->local_memory + handle;'
plant asks_no_other 'return emu_memory_at(w->block->launch->memory, handle, 4);'
plant makes_no_pointer 'return (void *)(uintptr_t)handle;'
plant makes_no_pointer 'return (void *)handle;'
plant makes_no_room 'struct emu_place at = {(unsigned char *)w + handle}; return at.byte;'
plant makes_no_room 'struct emu_place at; at.byte = (unsigned char *)w; return at.byte;'
plant makes_no_room 'return emu_room_shared(w->block).host;'
if command -v clang > /dev/null; then
    plant casts_nothing 'char *p = (char *)(handle + 8); return p;'
    plant casts_nothing 'unsigned char **p = (unsigned char **)emu_row64(w, 0)[1]; return *p;'
fi
echo 'void *handler(struct emu_warp *w, uint64_t offset) { return w->block->shared_memory + offset; }' |
    cat <(echo '#include "emulator/core/reach.h"') - > "$planted/handler.c"
check "adding an offset to a block's memory does not compile" fails ${CC:-gcc} -std=c11 -I. -D_GNU_SOURCE -fsyntax-only "$planted/handler.c"
tap_done
