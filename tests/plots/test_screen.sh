#!/bin/bash
# What a stage prints: one screen that fits, in words that a pipe, a plain terminal and a narrow one can show.
. tests/tap.sh
small="--seqlen-q 33 --seqlen-k 65 --heads 2 --min-time 0"

# Lines and columns, counted in characters.
fits() { # FILE COLUMNS
    python3 -c 'import sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
wide = [line for line in lines if len(line) > int(sys.argv[2])]
sys.exit("\n".join(wide + [f"{len(lines)} lines"]) if wide or not 8 <= len(lines) <= 28 else 0)' "$1" "$2"
}
ascii() { ! LC_ALL=C grep -n '[^ -~]' "$1"; }
plain() { ! LC_ALL=C grep -n $'\033' "$1"; }

for n in 1 2 3 4 5 6; do
    stage=$build/stage-$n screen=$tap_dir/screen-$n
    check "stage $n runs" bash -c "LC_ALL=C.UTF-8 '$stage' --device emu > '$screen'"
    check "stage $n: its screen fits" fits "$screen" 100
    check "stage $n: no colour in a pipe" plain "$screen"
    check "stage $n: meters of block characters" grep -q '█\|░' "$screen"
    COLUMNS=60 LC_ALL=C "$stage" --device emu > "$screen-60"
    check "stage $n: so it does in 60 columns" fits "$screen-60" 60
    check "stage $n: ASCII where the locale is" ascii "$screen-60"
    check "stage $n: the verdict stands first" bash -c "sed -n '/^verdict/q; p' '$screen' | grep -q '^stage $n' && grep -q '^verdict *RIGHT' '$screen'"
    check "stage $n: three meters" [ "$(grep -cE '^(tensor pipe|bank conflicts|occupancy) +[█▏▎▍▌▋▊▉░]+ ' "$screen")" -eq 3 ]
    check "stage $n: one line says what is not there" [ "$(grep -c '^n/a ' "$screen")" -eq 1 ]
    check "stage $n: and that is all of n/a" [ "$(grep -c 'n/a' "$screen")" -eq 1 ]
done
screen=$tap_dir/screen-3
in_readme() { # FILE: its lines are the README's block of output
    local block
    block=$(awk '/^```/ {on = !on; next} on' README.md)
    [ "$(wc -l <<< "$block")" -ge 10 ] && [[ $(cat "$1") == *"$block"* ]] || { diff <(echo "$block") "$1"; false; }
}
check "README shows what stage 3 prints" in_readme "$screen"
changed_output() { sed 's/RIGHT, 2/RIGHT, 3/' "$screen" > "$tap_dir/changed" && ! cmp -s "$screen" "$tap_dir/changed" && ! in_readme "$tap_dir/changed"; }
check "another output is seen" changed_output
check "a prediction says how good such ones were" grep -q '8 in 10' "$screen"
check "once" [ "$(grep -c 'validated cases' <(tr '\n' ' ' < "$screen"))" -eq 1 ]
check "its clock is named" grep -qE '^time .* cycles at [0-9]+ MHz' "$screen"
check "a gate that is out of reach has not failed" bash -c "! grep -q 'FAILED' '$tap_dir/screen-4' && grep -q 'Cannot pass at this problem: tensor' '$tap_dir/screen-4'"
check "one that has failed says so, and that the answer is another matter" grep -q '^gates *Of speed, not of the answer. FAILED: conflicts' "$screen"
check "the next stage is named" grep -q 'make stage-4 diff' <(tr -s '\n ' ' ' < "$screen")
check "like stands beside like: cycles beside cycles" grep -q '^beside *One launch on a recorded H200: [0-9,]* cycles' "$screen"
cycles() { "$build/stage-3" --device emu --csv --no-check --counters CYCLES | awk -F, '$5 == "cycles_elapsed" {printf "%.0f", $6}'; }
"$build/stage-3" --device emu --whatif > "$tap_dir/whatif" 2> /dev/null
check "--whatif begins with the same cycles" grep -qE "^nothing: as it is +$(cycles) " "$tap_dir/whatif"
check "what would gain nothing is counted and not listed" bash -c "grep -q '^[0-9]* more would gain nothing' '$tap_dir/whatif' && ! grep -qE ' -?0\.0$' '$tap_dir/whatif'"
check "first comes what a kernel's author can change" [ "$(awk 'NF == 0 {exit} /the chip/ {chips = 1; next} chips {print}' <(sed '1,/^nothing/d' "$tap_dir/whatif") | grep -vc ' gain nothing')" -eq 0 ]
check "--all is every value" bash -c "'$build/stage-3' --device emu --all | grep -q '^SHARED  *bank_conflicts_ldgsts '"

# ---- A terminal, by Python's pty
terminal() { # VARIABLE=VALUE... : the screen as a terminal gets it, into $tap_dir/terminal
    env -u NO_COLOR -u COLUMNS TERM=xterm LC_ALL=C "$@" python3 - "$build/stage-1" > "$tap_dir/terminal" << 'EOF'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
    os.execv(sys.argv[1], [sys.argv[1], "--device", "emu", "--seqlen", "64", "--heads", "1"])
text = b""
while True:
    try:
        some = os.read(fd, 4096)
    except OSError:
        break
    if not some:
        break
    text += some
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
EOF
}
coloured() { terminal "$@" && grep -q $'\033\[1;32mRIGHT' "$tap_dir/terminal"; }
uncoloured() { terminal "$@" && grep -q RIGHT "$tap_dir/terminal" && plain "$tap_dir/terminal"; }
check "colour on a terminal" coloured
sed -i $'s/\033\\[[0-9;]*m//g' "$tap_dir/terminal"
whole_words() { # in 40 columns: the words of 100 columns, none cut
    COLUMNS=40 LC_ALL=C "$build/stage-1" --device emu $small > "$tap_dir/narrow"
    COLUMNS=100 LC_ALL=C "$build/stage-1" --device emu $small > "$tap_dir/broad"
    comm -23 <(grep -oE '[A-Za-z]{3,}' "$tap_dir/narrow" | sort -u) <(grep -oE '[A-Za-z]{3,}' "$tap_dir/broad" | sort -u) > "$tap_dir/cut"
    cat "$tap_dir/cut"
    [ ! -s "$tap_dir/cut" ]
}
check "no word is cut in 40 columns" whole_words
check "folded to its 72 columns" fits "$tap_dir/terminal" 72
check "NO_COLOR" uncoloured NO_COLOR=1
check "TERM=dumb" uncoloured TERM=dumb

# ---- A wrong answer
wrong() {
    # shellcheck disable=SC2086
    env LD_LIBRARY_PATH="$build/tests/fake" FAKE_CUDA_BUG=zeros "$build/stage-1" $small --counters none > "$tap_dir/wrong" 2> /dev/null
    [ $? -eq 1 ] || return 1
    cat "$tap_dir/wrong"
    grep -q '^verdict *WRONG: ' "$tap_dir/wrong" && grep -q '^time *Not taken: the answer is wrong' "$tap_dir/wrong" &&
        ! grep -q ' us \|TFLOPS' "$tap_dir/wrong"
}
check "a wrong answer: said first, no time, status 1" wrong
on_gpu() { env LD_LIBRARY_PATH="$build/tests/fake" ATTNLAB_CUPTI="$(realpath "$build/tests/fake")" "$build/stage-1" --seqlen 64 --heads 1 "$@"; }
check "warps on a GPU: the default counters have them" grep -qE '^warps +[0-9]+ % .*; [0-9]+ %' <(on_gpu)
check "one CTA leaves, two leave" bash -c "grep -q '^limit *SMs: 1 CTA leaves 131 of 132' '$tap_dir/terminal'"
# shellcheck disable=SC2086
measured() { env LD_LIBRARY_PATH="$build/tests/fake" "$build/stage-1" $small --counters none > "$tap_dir/measured" && grep -q '^time *Measured 10 us, launches back to back at 1234 MHz' "$tap_dir/measured"; }
check "a measured time says which kind it is" measured
check "and nothing predicted stands beside it" bash -c "! grep -qi predicted '$tap_dir/measured'"
check "no values: the reason" grep -q '^n/a .*no measured chip file' <("$build/stage-3" --device emu --seqlen 64 --heads 1 --chip a100)
tap_done
