#!/bin/bash
# Pictures: drawn from tables, there whole or not at all; what compare and its like refuse.
. tests/tap.sh
dir=$tap_dir/work
mkdir "$dir"

# A picture is there whole or not at all: a gnuplot that is stopped in the middle of one.
mkdir "$dir/bin" "$dir/pictures"
cat > "$dir/bin/gnuplot" <<'FAKE'
#!/bin/bash
out=$(sed "s/.*out = '\([^']*\)'; term = '\([a-z]*\)'.*/\1.\2/" <<< "$2")
printf half > "$out"
touch "$STARTED"
exec sleep 60
FAKE
chmod +x "$dir/bin/gnuplot"
stopped() { # SIGNAL STATUS: it leaves the old picture, and nothing else
    echo old > "$dir/pictures/time.png"
    rm -f "$dir/started"
    STARTED=$dir/started PATH=$dir/bin:$PATH setsid env --default-signal=INT plots/draw.sh plots/time.gp "$dir/pictures/time" png "dir = '$dir'" &
    local id=$!
    until [ -e "$dir/started" ]; do sleep 0.05; done
    kill "-$1" -- -$id
    wait $id
    [ $? -eq "$2" ] && [ "$(cat "$dir/pictures/time.png")" = old ] && { [ "$1" = KILL ] || [ "$(ls "$dir/pictures")" = time.png ]; }
}
check "a picture that is interrupted" stopped INT 130
check "a picture that is terminated" stopped TERM 143
check "a picture that is killed" stopped KILL 137
cut_short() { # gnuplot ends well and leaves half a picture, as on a full disk
    echo old > "$dir/pictures/time.$1"
    mkdir -p "$dir/short"
    sed 's/^exec sleep.*/exit 0/' "$dir/bin/gnuplot" > "$dir/short/gnuplot" && chmod +x "$dir/short/gnuplot"
    STARTED=$dir/started PATH=$dir/short:$PATH plots/draw.sh plots/time.gp "$dir/pictures/time" "$1" "dir = '$dir'" 2> "$tap_dir/said"
    [ $? -eq 5 ] && [ "$(cat "$dir/pictures/time.$1")" = old ] && [ "$(wc -l < "$tap_dir/said")" -eq 1 ] && grep -q "time.$1 is not whole" "$tap_dir/said"
}
for term in png svg; do check "half of a $term is no picture" cut_short $term; done
c_locale() { # gnuplot would complain of what it cannot convert
    echo "load 'plots/style.gp'; plot x" > "$dir/x.gp"
    LC_ALL=C plots/draw.sh "$dir/x.gp" "$dir/x" png "title = ''" > "$tap_dir/said" 2>&1
    [ -s "$dir/x.png" ] && ! grep . "$tap_dir/said"
}
check "a picture in the C locale" c_locale
columns() { printf '%s\n' "stage  us" "1-scalar 9.5" "" "2 123" | awk -f plots/columns.awk | diff - <(printf '%s\n' "stage     us" "1-scalar  9.5" "2         123"); }
check "columns of a table" columns

# The same of a whole `make compare`, in a tree of its own.
tree=$tap_dir/tree
mkdir "$tree" && ln -s "$PWD/plots" "$PWD/records" "$PWD/stages" "$PWD/profiler" "$tree" && ln -s "$(realpath "$build")" "$tree/build"
compare_stopped() { # SIGNAL: no picture has the name of one
    rm -rf "$dir/started" "$tree/results"
    (cd "$tree" && STARTED=$dir/started PATH=$dir/bin:$PATH RECORDED=h200 TERM= exec setsid env --default-signal=INT plots/compare.sh stages/1-scalar) > "$dir/said" 2>&1 &
    local id=$!
    until [ -e "$dir/started" ] || ! kill -0 $id 2> /dev/null; do sleep 0.05; done
    kill "-$1" -- -$id
    wait $id
    cat "$dir/said"
    [ -e "$dir/started" ] && [ -s "$tree/results/compare-h200/table.txt" ] || return 1
    ls "$tree/results/compare-h200"
    ! ls "$tree/results/compare-h200" | grep -qE '^[a-z]+\.(png|svg)$'
}
for signal in INT TERM KILL; do check "a compare that is stopped by $signal" compare_stopped $signal; done

# What it has finished is kept for the next one, if that asks the same.
compare() { (cd "$tree" && DEVICE=emu TERM= "$@") > "$dir/said" 2>&1; }
tiny() { compare plots/compare.sh stages/1-scalar --heads 1 --seqlen 64; }
records() { grep -c . "$tree/results/compare/run.jsonl"; }
kept() { grep -q 'stage 1-scalar \.\.\. kept: it ended before the interruption$' "$dir/said"; }
interrupted() { # leaves a compare that has finished its stage and not its pictures
    rm -rf "$dir/started" "$tree/results"
    (cd "$tree" && DEVICE=emu STARTED=$dir/started PATH=$dir/bin:$PATH TERM= exec setsid plots/compare.sh stages/1-scalar --heads 1 --seqlen 64) > "$dir/said" 2>&1 &
    local id=$!
    until [ -e "$dir/started" ] || ! kill -0 $id 2> /dev/null; do sleep 0.05; done
    kill -TERM -- -$id
    wait $id
    [ "$(records)" -eq 1 ] && ! kept
}
resumed() { interrupted && { tiny; kept && [ "$(records)" -eq 1 ]; } }
other_problem() { interrupted && { compare plots/compare.sh stages/1-scalar --heads 1 --seqlen 72; ! kept && [ "$(records)" -eq 1 ]; } }
after_the_end() { interrupted && { tiny; tiny; ! kept; } }
check "after an interruption compare keeps what it has finished" resumed
check "of the same problem only" other_problem
check "and a compare that has ended leaves nothing to keep" after_the_end

rm -rf "$dir/pictures"
mkdir "$dir/pictures"
if command -v gnuplot > /dev/null; then
    "$build/tabulate" --out "$dir" --stages "1-scalar 2-wmma-qk" --problem "B1 H8 S512 D64" here=records/runs/h200.jsonl
    check "a picture that is drawn" plots/draw.sh plots/time.gp "$dir/pictures/time" svg "dir = '$dir'; problem = ''"
    check "it is all that is left" [ "$(ls "$dir/pictures")" = time.svg ]
    # Lab 4's picture: a panel for each chip, a bar for each resource
    for chip in h200 l4; do
        printf '%s "tensor cores" issue "shared memory" fp32 exponentials\n1 0 500 210 420 90\n6 20 40 0 30 90\n\n\n' $chip
    done > "$dir/bounds.txt"
    bounds() { # N_CHIPS: bytes of the picture, of which gnuplot says nothing
        LC_ALL=C.UTF-8 gnuplot -e "table = '$dir/bounds.txt'; out = '$dir/bounds'; n_chips = $1; foot = 'B1'" plots/bounds.gp > "$tap_dir/said" 2>&1 &&
            [ ! -s "$tap_dir/said" ] && stat -c %s "$dir/bounds.png"
    }
    two=$(bounds 2)
    check "the bounds of two chips" [ "${two:-0}" -gt 10000 ]
    check "is more than those of one" [ "$(bounds 1)" -lt "$two" ]
    sed -i 's/"shared memory"/memory/' "$dir/bounds.txt"
    missing() { ! bounds 2; }
    check "a resource that the table has not is said" missing
    check "stage 4's tiles" stages/4-tuned/sweep/draw.sh records/runs/h200-stage-4.jsonl "$dir/tiles"
    # a row for each of the 24 large tiles of head_dim 128, the fastest last, and their names in its picture
    rising() { awk '$1 == 0 && $2 == 128 {n++; if ($4 < last) exit 1; last = $4} END {if (n != 24) exit 1}' "$dir/tiles/sweep.txt"; }
    check "are sorted" rising
    names() { for tile in $(awk '$2 == 128 {print $3}' "$dir/tiles/sweep.txt"); do grep -q "$tile, [0-9]* regs" "$dir/tiles/sweep-d128.svg" || return 1; done; }
    check "and drawn, a picture for each head_dim" eval 'names && [ "$(ls "$dir/tiles"/*.png | wc -l)" -eq 5 ]'
fi
in_tree() { (cd "$tree" && "$@"); }
status "PROBLEM without RECORDED" 2 in_tree env PROBLEM="B1 H8 S512 D64" plots/compare.sh stages/1-scalar
status "options with RECORDED" 2 in_tree env RECORDED=h200 plots/compare.sh stages/1-scalar --causal
status "a ladder of some stages" 5 plots/ladder.sh h200-peers
status "a problem of two lines" 2 in_tree env RECORDED=h200 PROBLEM=$'B1 H8 S512 D64\nB4 H16 S4096 D128' plots/compare.sh stages/1-scalar
tap_done
