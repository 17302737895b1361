#!/bin/bash
# make stage-N against BASE=: the verdict on simulated boards, exact counts on the emulator, and what it refuses.
. tests/tap.sh
root=$PWD
dir=$tap_dir/work
mkdir -p "$dir/here/build" "$dir/base/build"

# How often the verdict is wrong, for boards whose turns scatter by 0.3 and 1 %.
cat > "$dir/simulate.py" <<'PY'
import random, sys
sys.path.insert(0, "profiler/peers")
import against
random.seed(13)
def judge(truth, noise):
    ratios = []
    for look in against.TURNS:
        while len(ratios) < look:
            ratios.append(truth * random.gauss(1, noise) / random.gauss(1, noise))
        kind = against.verdict(ratios)[0]
        if kind != "unsure":
            return kind
    return kind
for noise in 0.003, 0.01:
    same = [judge(1.0, noise) for _ in range(1000)]
    slow = [judge(1.03, noise) for _ in range(1000)]
    print(noise, same.count("slower") + same.count("faster"), slow.count("slower"))
    assert same.count("slower") + same.count("faster") <= 50, same
    assert slow.count("slower") >= 950
assert judge(0.97, 0.003) == "faster"
PY
check "of 1000 equal pairs at most 50 get a verdict, of 1000 that are 3 % slower 950 do" python3 "$dir/simulate.py"

# Two predictions: which is faster, or that the predictor cannot tell.
cat > "$dir/predictions.py" <<'PY'
import sys
sys.path.insert(0, "profiler/peers")
import against
said = against.prediction_verdict
assert "+3.0 % of the cycles" in said(1000, 1030, 0.07) and ": too close to call; 8 in 10" in said(1000, 1030, 0.07)
assert ": slower;" in said(1000, 1100, 0.07) and ": faster;" in said(1000, 900, 0.07)
assert "no validated pairs" in said(1000, 500, None)
assert 0 < against.pair_error("h200") < 0.2 and against.pair_error("none") is None
PY
check "two predictions are too close to call, or one is faster" python3 "$dir/predictions.py"

# A stage that takes what a file says: the first number of it, and one line less of it the next time.
for f in here base; do
    cat > "$dir/$f/build/stage-1" <<'FAKE'
#!/bin/bash
folder=$(dirname "$0")
while [ $# -gt 0 ]; do [ "$1" = --json ] && json=$2; [ "$1" = --turns ] && turns=1; shift; done
if [ -n "${turns-}" ]; then # base is so old that it does not know it
    [ -e "$folder/old" ] && { echo "stage-1: unknown option --turns" >&2; exit 2; }
    [ -e "$folder/breaks" ] && { echo "stage-1: the GPU is gone" >&2; exit 4; }
    while read -r _; do echo "$(cat "$folder/us") 1980"; done
    exit
fi
us=$(cat "$folder/us") passed=true
[ "$us" = wrong ] && us=1 passed=false
printf '{"schema": "attnlab-1.1", "time": "2026-01-02", "revision": "abc", "stage": "1-scalar", "problem": {"text": "B1"},
    "device": {"kind": "cuda", "name": "a GPU"}, "check": {"passed": %s}, "samples": {"median_us": %s, "us": [%s, %s, %s, %s, %s]},
    "counters": [{"name": "instructions", "value": %s, "unit": "warp inst"}]}' \
    $passed "$us" "$us" "$us" "$us" "$us" "$us" "$us" | tr -d '\n' > "$json"
echo >> "$json"
[ $passed = true ]
FAKE
    chmod +x "$dir/$f/build/stage-1"
done
touch "$dir/base/build/old"
ends() { # STATUS BASE: what against.py says is then in out and err
    (cd "$dir/here" && python3 "$root/profiler/peers/against.py" 1 "$2") > "$dir/out" 2> "$dir/err"
    [ $? -eq "$1" ]
}
said() { grep -q -- "$1" "$dir/out"; }
took() { echo "$1" > "$dir/base/build/us"; echo "$2" > "$dir/here/build/us"; }

took 100 100.1
check "a folder, the same time" ends 0 ../base
check "it is the same" said '^same: +0.10 %'
took 100 103
check "slower" ends 1 ../base
check "it is slower, by how much, and the count beside it" said '^slower: +3.00 %'
check "what differs stands below" said '^instructions *100 *103 *warp inst *+3.00 %'
took 100 97
check "faster" ends 0 ../base
check "it is faster" said '^faster: -3.00 %'
rm "$dir/base/build/old"
took 100 103
check "slower, by two that are started once" ends 1 ../base
check "by as much" said '^slower: +3.00 %.*8 turns'
touch "$dir/base/build/breaks"
check "one that breaks" ends 4 ../base
check "says so, and of which" grep -q '^against: \.\./base: stage-1: the GPU is gone$' "$dir/err"
rm "$dir/base/build/breaks"
took 100 wrong
check "a wrong answer" ends 1 ../base
check "says where" grep -q 'stage 1 gave a wrong answer' "$dir/err"
took 100 102
"$dir/base/build/stage-1" --json "$dir/base.jsonl"
check "a recorded run 2 % faster proves nothing" ends 0 ../base.jsonl
check "it is called the same" said '^same: .*another sitting'
took 100 110
check "10 % do" ends 1 ../base.jsonl
sed -i 's/a GPU/another GPU/' "$dir/base.jsonl"
check "a record of another device" ends 77 ../base.jsonl
echo '{"schema": "other-1.0"}' > "$dir/other.jsonl"
check "a file of something else" ends 5 ../other.jsonl
check "no BASE" ends 2 ""
check "no such BASE" ends 2 nosuch
check "one line" [ "$(wc -l < "$dir/err")" = 1 ]

# Another stage as the base: a stage of one's own against the one that it comes from.
sed 's/1-scalar/2-mine/; s,folder/us,folder/us-2,' "$dir/here/build/stage-1" > "$dir/here/build/stage-2"
chmod +x "$dir/here/build/stage-2"
echo 50 > "$dir/here/build/us-2"
took 100 40
check "a stage as BASE" ends 0 stage-2
check "it is faster than that" said '^faster: -20.00 %'
check "which is named" said 'here against stage-2$'
check "a stage that is not there" ends 2 stage-9
check "says so" grep -q '^against: BASE=stage-9 is no stage here' "$dir/err"
check "a stage against itself" ends 2 stage-1

# On the emulator: counts, exactly.
run=(--device emu --heads 1 --seqlen 64)
"$build/stage-1" "${run[@]}" --counters TENSOR,SHARED,OCCUPANCY,MEMORY,MIX --quiet --json "$dir/emu.jsonl" > /dev/null
ends_here() { # STATUS
    python3 profiler/peers/against.py 1 "$dir/emu.jsonl" "${run[@]}" > "$dir/out"
    [ $? -eq "$1" ]
}
unsaid() { ! said "$1"; }
check "the emulator: nothing differs" ends_here 0
check "it says so" said '^no count differs'
check "and that it is the same kernel" said '^the kernel is the same'
sed -i -E 's/"hash":"./&0/; s/("hash":"[0-9a-f]{16})./\1/' "$dir/emu.jsonl"
check "another kernel with the same counts" ends_here 0
check "is not called the same" unsaid '^the kernel is the same'
sed -i -E 's/("name":"fma_instructions","value":)[0-9.]+/\11/' "$dir/emu.jsonl"
check "one count higher than it was" ends_here 1
check "is a regression with its name" said '^regression: more fma_instructions'
tap_done
