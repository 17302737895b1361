# Stage 5 on the emulator: every mistake is caught by name, every layout gives what an H200 gave.
. tests/tap.sh
golden=tests/golden/stage-5-h200.txt
stage5() { "$build/stage-5" --device emu --no-time --counters none --all "$@"; }

right() { stage5 "$@" | grep -q '^check  *PASS'; }
caught() { # MISTAKE [OPTIONS]: exit 1, and the name
    local mistake=$1
    shift
    stage5 --break "$mistake" "$@" > "$tap_dir/caught"
    [ $? -eq 1 ] && grep "^caught: $mistake: " "$tap_dir/caught" || { cat "$tap_dir/caught"; false; }
}
explains() { # a byte of the map: in 128-byte rows, line 1 starts with the second 16 bytes
    "$build/stage-5" --explain > "$tap_dir/map" && grep -q '^    128    1,8       1,0' "$tap_dir/map" &&
        grep -q 'bits 62-63  swizzle  *1   128 bytes' "$tap_dir/map"
}
as_recorded() { BUILD=$build stages/5-wgmma/modes.sh emu > "$tap_dir/modes" && diff $golden "$tap_dir/modes"; }

# What comes before the products must not be counted as if it were part of them.
fills_the_pipe() { stage5 --counters TENSOR | awk '$1 == "tensor_bound_pct" {bound = $2} END {print bound; exit !(bound >= 99)}'; }

check "one wgmma is right" right
every_width() { # with A from both places: each is an instruction of its own, in an image of its own
    local n a
    for n in $(seq 8 8 256); do
        for a in smem regs; do right --n "$n" --a $a --k-steps 2 || { echo "--n $n --a $a"; return 1; }; done
    done
}
check "every width is right" every_width
check "nothing but tensor cores bounds a chain of them" fills_the_pipe
check "A from registers, B N-major, n 256" right --a regs --major-b n --n 256 --k-steps 4
for mistake in lbo-sbo-swapped wrong-swizzle unaligned row-slot missing-proxy-fence missing-fence missing-wait; do
    check "--break $mistake is caught" caught $mistake
done
check "--explain draws the map" explains
check "$(wc -l < $golden) modes are bit-equal to an H200's" as_recorded
status "--n 12 is no width" 2 stage5 --n 12
status "--n 0 is no width" 2 stage5 --n 0
check "it names the option once" grep -q "^stage-5: --n takes" "$tap_dir/err"
status "--input nonsense" 2 stage5 --input nonsense
status "--counters nonsense" 2 stage5 --counters NONSENSE
check "--jobs 1, which make J=1 run asks for" right --jobs 1
status "--jobs 0" 2 stage5 --jobs 0
counts() { "$build/stage-5" --device emu --no-time --all "$@" | grep -q '^hgmma_instructions  *4096 '; }
check "it counts unless told not to" counts
check "--counters none" right --counters none
none_counted() { ! counts --counters none; }
check "and none are counted" none_counted
status "attention's options are none of its own" 2 stage5 --heads 4
check "those of every stage are" right --early --schedule random --seed 7
check "--version" stage5 --version
check "--list-counters" stage5 --list-counters
helps() { stage5 --help > "$tap_dir/help" && grep -q '^  --n N  *columns' "$tap_dir/help" && grep -q '^  --device D' "$tap_dir/help" && ! grep -q -e --heads "$tap_dir/help"; }
check "--help has its options, those of every stage, and no others" helps
for file in "" "$tap_dir" "$tap_dir/none/r.jsonl"; do status "--json '$file'" 5 stage5 --json "$file"; done
before_it_runs() { [ -z "$(stage5 --json "$tap_dir" 2> /dev/null)" ]; }
check "a file that cannot be written is said first" before_it_runs
csv() { stage5 --csv "$@" > "$tap_dir/csv"; awk -F, 'NF < 5 {print; bad = 1} END {exit bad || NR < 5}' "$tap_dir/csv"; }
check "--csv prints nothing else" csv
check "--csv prints nothing else of a mistake" csv --break row-slot
quiet() { [ -z "$(stage5 --quiet "$@")" ]; }
check "--quiet prints nothing" quiet --csv
check "--quiet prints nothing of a mistake" quiet --break row-slot
status "--a regs has one layout" 2 stage5 --a regs --major-a m
status "--break nonsense" 2 stage5 --break nonsense
status "a chip without wgmma" 3 "$build/stage-5" --device emu --chip l4
status "a sweep needs a clock" 77 stage5 --sweep
negated() { # a wrong image beside the program: -1 for scale-b
    mkdir -p "$tap_dir/images/stage-5" && cp "$build/stage-5" "$tap_dir" &&
        sed '/^wgmma.mma_async/s/ p, 1, 1,/ p, 1, -1,/' "$build/images/stage-5/n64.compute_90a.ptx" > "$tap_dir/images/stage-5/n64.compute_90a.ptx"
    "$tap_dir/stage-5" --device emu --no-time --counters none
}
status "a wrong answer is said" 1 negated
check "with how much of it is wrong" grep -q "^stage-5: wrong answer: 4096 of 4096 elements" "$tap_dir/err"
full_disk "a full disk under stdout" bash -c "'$build/stage-5' --device emu --no-time > $full"
full_disk "a full disk under --help" bash -c "'$build/stage-5' --help > $full"
tap_done
