#!/bin/bash
# A stage of one's own: a copied folder is a stage that runs its own kernel, and never another's images.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED

refuses() { # PATTERN STAGE FROM
    stages/new.sh "$2" "$3" > "$tap_dir/said" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l < "$tap_dir/said")" -eq 1 ] && grep -q -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "no name" refuses "say both" "" 1-scalar
check "a name without a number" refuses "is no number-name" mine 1-scalar
check "a name with a path" refuses "is no number-name" 77-../x 1-scalar
check "from a stage that is not there" refuses "there is no stages/9-none; there are 1-scalar" 77-mine 9-none
check "a number that is taken" refuses "stages/1-scalar is there already" 1-mine 2-wmma-qk

# In a copy of the tree, so that an interrupted test leaves nothing in this one. The library is not built
# again: the copy has this tree's build.
tree=$tap_dir/tree
mkdir "$tree"
git ls-files -z | tar --null -T - -cf - 2> /dev/null | tar -xf - -C "$tree"
cp -rp stages "$tree" && mkdir "$tree/build" && cp -rp "$build/common" "$build/profiler" "$build/emulator" "$build/libattnlab.a" "$tree/build" 2> /dev/null
build_new() { (cd "$tree" && make stage-77 > "$tap_dir/made" 2>&1) || { cat "$tap_dir/made"; false; }; }
right() { "$tree/build/stage-77" --device emu --seqlen 32 --quiet --counters none > "$tap_dir/out" 2>&1 || { cat "$tap_dir/out"; false; }; }
check "a new stage" bash -c "cd $tree && stages/new.sh 77-mine 1-scalar > $tap_dir/said"
check "it says what it comes from" grep -q "previous 1-scalar" "$tree/stages/77-mine/images"
check "it builds" build_new
check "it has images of its own" [ -e "$tree/build/images/stage-77/d64.compute_89.ptx" ]
check "it runs" right
check "under its own name" grep -q '^stage 77-mine' <("$tree/build/stage-77" --device emu --seqlen 32 --counters none)
check "nothing has changed yet" bash -c "cd $tree && make stage-77 diff | grep -q 'is stages/.*/kernel.cu so far' && ! make stage-77 diff | grep -q '^[+-][^+-]'"
# Its kernel writes a wrong answer: only its own images can show that.
sed -i 's/^\(__global__.*\)$/\1/; s/expf\|ex2(/0.5f * &/; s/ex2_ftz(/0.5f * &/' "$tree/stages/77-mine/kernel.cu"
if cmp -s "$tree/stages/77-mine/kernel.cu" stages/1-scalar/kernel.cu; then
    skip "a broken copy is wrong" "nothing to break was found in stages/1-scalar/kernel.cu"
else
    check "a broken copy builds" build_new
    check "and is wrong" bash -c "! '$tree/build/stage-77' --device emu --seqlen 32 --quiet --counters none 2> $tap_dir/out && grep -q 'wrong answer' $tap_dir/out"
    check "the diff shows it" bash -c "cd $tree && make stage-77 diff | grep -q '0.5f'"
fi
check "a plain copy is a stage as well" bash -c "cp -r $tree/stages/77-mine $tree/stages/78-copy && cd $tree && make -n stage-78 | grep -q 'stages/78-copy/kernel.cu'"

# ---- --strict: what a course's machine wants to know by the exit status
gate() { "$build/stage-1" --device emu --seqlen 64 --quiet "$@" 2> "$tap_dir/said"; }
check "a failed gate alone is no failure" gate
check "with --strict it is" bash -c "'$build/stage-1' --device emu --seqlen 64 --quiet --strict 2> $tap_dir/said; [ \$? -eq 1 ] && grep -q 'the gate occupancy failed' $tap_dir/said"
tap_done
