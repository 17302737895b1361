#!/bin/bash
# The clock's program never prints a number that it does not have: chips without parameters, files that are
# not there, a stdout that is full.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
predict=$(realpath "$build/predict-4")
status "a chip without numbers" 3 "$predict" --chip a100 --seqlen 64 --heads 1
check "and no number for it" [ ! -s "$tap_dir/out" ]
status "parameters that are not there" 5 env PREDICTOR_CHIP=/nonexistent "$predict" --seqlen 64 --heads 1
status "an option that is none" 2 "$predict" --nosuch
status "nothing to sum up" 1 python3 emulator/predictor/validate/validate.py /dev/null records/validation/h200-1.jsonl.gz
frozen=records/validation/predictions-2.jsonl measured=records/validation/h200-2.jsonl.gz
validate() { python3 emulator/predictor/validate/validate.py "$@"; }
{ head -n 2 $frozen; echo '{"cut'; echo '{"elapsed": 1}'; tail -n +3 $frozen; } > "$tap_dir/damaged-2.jsonl"
damaged() { [ "$(validate "$@" 2> "$tap_dir/why" | tail -n 1)" = "$(validate $frozen $measured | tail -n 1)" ]; }
check "damaged lines are left out" damaged "$tap_dir/damaged-2.jsonl" $measured
check "and named by file and line" bash -c '[ "$(grep -cE "^validate: $2:[34]: no whole record, left out" "$1")" = 2 ]' - "$tap_dir/why" "$tap_dir/damaged-2.jsonl"
check "with --strict they are a failure" bash -c 'python3 emulator/predictor/validate/validate.py --strict "$@" > /dev/null 2>&1; [ $? -eq 5 ]' - "$tap_dir/damaged-2.jsonl" $measured
check "without them --strict is none" validate --strict $frozen $measured
grep -v '"case": 8,' $frozen > "$tap_dir/early.jsonl"; grep '"case": 8,' $frozen > "$tap_dir/late.jsonl"
late() { python3 emulator/predictor/validate/validate.py "$tap_dir/early.jsonl" $measured --late "$tap_dir/late.jsonl" > "$tap_dir/said" &&
    grep -q '^late: 1 cases, mean 36.1 %' "$tap_dir/said" && grep -qx 'in time: 75 cases, mean 5.0 %, worst 12.9 %' "$tap_dir/said" && grep -qx 'validation: 76 cases, mean 5.4 %, worst 36.1 %, 1 of them late' "$tap_dir/said"; }
check "what was predicted late stands apart, and in a second sum" late
now() { sed 's/"elapsed": 411962/"elapsed": 302620/' "$tap_dir/late.jsonl" > "$tap_dir/now.jsonl" && python3 emulator/predictor/validate/validate.py $frozen $measured --now "$tap_dir/now.jsonl" > "$tap_dir/said" &&
    grep -q '^development: frozen 1 cases, mean 36.1 %.*; now 1 cases, mean 0.0 %' "$tap_dir/said" && tail -n 1 "$tap_dir/said" | grep -qx 'validation: 76 cases, mean 5.4 %, worst 36.1 %'; }
check "a later model on known cases is development, and not in the sum" now
if ! [ -x .venv/bin/python ] || ! ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm > /dev/null 2>&1; then
    skip "a prediction" "no nvdisasm: make setup"
else
    # What `run` says of a prediction: value, source, chip and how good it was; nothing without numbers.
    small="--device emu --seqlen 64 --heads 1 --no-check --all"
    # shellcheck disable=SC2086
    stage() { "$build/stage-4" $small "$@" > "$tap_dir/said" 2>&1; cat "$tap_dir/said"; }
    validated="h200: $(head -n 1 records/validation/h200.txt)"
    says() { stage && grep -qE "$1" "$tap_dir/said"; }
    check "a time with its clock and how good it is" says "^time +predicted +[0-9.]+ +us +predicted +[0-9]+ cycles at 1980 MHz, one launch alone$"
    check "how good it is, once" [ "$(grep -c "cases, mean" "$tap_dir/said")" -eq 1 ]
    check "with an interval" grep -qE "^  interval of cycles_elapsed: 80 % [0-9]+ to [0-9]+, 95 % [0-9]+ to [0-9]+, by [0-9]+ validated cases" "$tap_dir/said"
    check "and of which kind of value" grep -qE "^  cycles: 8 in 10 of [0-9]+ validated cases were within [0-9.]+ %$" "$tap_dir/said"
    check "tensor pipe, occupancy, stalls" says "^TENSOR +tensor_active_pct +[0-9.]+ +% +predicted +predictor.tensor_active_pct$"
    check "so small a problem is not held against it" says "^gate +tensor +n/a [(]cannot pass at this problem: [0-9]+ CTAs for the [0-9]+ places"
    value() { awk -v n="$1" '$2 == n {print $3}' "$tap_dir/said"; }
    slower() { stage --counters CYCLES --sm-clock 990 && c=$(value cycles_elapsed) && awk -v us="$(value duration_us)" -v c="$c" 'BEGIN {exit !(c > 1000 && us * 990 / c > 0.999 && us * 990 / c < 1.001)}'; }
    check "--sm-clock" slower
    stage --counters CYCLES > "$tap_dir/a"; OMP_THREAD_LIMIT=1 stage --counters CYCLES > "$tap_dir/b"
    check "the same whatever the host's threads" cmp "$tap_dir/a" "$tap_dir/b"
    other() { stage --chip a100 && grep -qE "^TENSOR +tensor_active_pct +n/a [(]no measured chip file chips/a100.txt" "$tap_dir/said" && ! grep -q "^STALL\|predicted" "$tap_dir/said"; }
    check "no number for a chip without measurements" other
    house=$tap_dir/house
    mkdir -p "$house/build/images/stage-4" "$house/chips" "$house/profiler" && cp "$build/stage-4" "$house/build/" && cp chips/h200.txt "$house/chips/" &&
        cp "$build"/images/stage-4/d64-small.*.ptx* "$house/build/images/stage-4/" && cp -r profiler/groups "$house/profiler/"
    away() { (cd "$house" && build/stage-4 $small) > "$tap_dir/said" 2>&1; cat "$tap_dir/said"; grep -qE "n/a [(]the predictor reads SASS, and .*d64-small.sm_90a.cubin: No such file" "$tap_dir/said"; }
    check "no number without a cubin" away
    cp "$build"/images/stage-4/d64-small.sm_90a.cubin "$house/build/images/stage-4/"
    unknown() { (cd "$house" && build/stage-4 $small) > "$tap_dir/said" 2>&1; cat "$tap_dir/said"; grep -q "^predicted values: h200: not validated" "$tap_dir/said"; }
    [ ! -d .venv ] || ln -s "$PWD/.venv" "$house/.venv"
    check "a chip that nobody validated says so" unknown
    # CUDA 13.0's nvdisasm, where there is no .venv: subroutines are functions of their own, LDS has a comma less.
    older=$tap_dir/older
    mkdir "$older" && cp "$build/predict-1" "$older/" && ln -s "$PWD/$build/images" "$older/images"
    cat > "$older/nvdisasm" << END
#!/usr/bin/env python3
import json, re, subprocess, sys
said = subprocess.run(["$(realpath "$(ls .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm | head -n 1)")", *sys.argv[1:]],
                      capture_output=True, text=True).stdout
if "-json" in sys.argv:
    all = json.loads(said)
    code = all[1][0]["sass-instructions"]
    for one in code:
        one["operands"] = re.sub(r"^(R\w+),\[", r"\1[", one.get("operands", ""))
    all[1][0]["sass-instructions"] = code[:-63]
    all[1].insert(1, {"function-name": "\$__internal_0", "start": 16 * (len(code) - 63), "sass-instructions": code[-63:]})
    said = json.dumps(all)
print(said, end="")
END
    chmod +x "$older/nvdisasm"
    as_newer() {
        PREDICTOR_CHIP=$PWD/chips/h200.txt PATH=$older:$PATH "$older/predict-1" --seqlen 64 --heads 1 > "$tap_dir/said" 2>&1; cat "$tap_dir/said"
        "$build/predict-1" --seqlen 64 --heads 1 > "$tap_dir/newer" && diff <(sed 's/"host_seconds": [0-9.]*//' "$tap_dir/said") <(sed 's/"host_seconds": [0-9.]*//' "$tap_dir/newer")
    }
    check "an older nvdisasm: the same prediction" as_newer
    whatif() {
        stage --counters CYCLES && c=$(value cycles_elapsed) && stage --whatif && grep -qE "^nothing: as it is +$c " "$tap_dir/said" &&
            awk '/^launch of the kernel/ {n = $(NF - 2); gain = $NF} /^nothing/ {base = $(NF - 1)} END {exit !(n < base - 2000 && gain > 10)}' "$tap_dir/said"
    }
    check "--whatif: the prediction, and what a free launch would gain" whatif
    left_out() { # the barrier before the tile is read: a gain, and no line with none of them
        line=$(awk -F: '/^If a line did not wait/ {on = 1; next} on && (NF == 0 || /would gain nothing/) {exit} on' "$tap_dir/said")
        echo "$line"
        grep -qE "^--without +which is +cycles +gain, %" <<< "$line" && grep -qE "^[0-9]+ +(BAR.SYNC|DEPBAR.LE, BAR.SYNC|DEPBAR.LE).* [0-9]+ +-?[0-9.]+$" <<< "$line" &&
            awk -v c="$c" '$NF > 0 && $(NF - 1) > 0 {n++; differ += n > 1 && $(NF - 1) != last; last = $(NF - 1); if (last > c) exit 1} END {exit !differ}' <<< "$line" && ! grep -q "n/a" <<< "$line"
    }
    check "--whatif: and what each line's wait costs" left_out
    rates() { # in predictor_chip.def, and not taken away in whatif.c; TMA's into shared memory is never the limit
        comm -23 <(grep -oE '[a-z0-9_]+_(interval|hold|bytes_per_(clk|ns))' emulator/predictor/predictor_chip.def | grep -v '^tma_bytes' | sort -u) \
            <(grep -oE '[a-z0-9_]+=' common/harness/whatif.c | tr -d = | sort -u) > "$tap_dir/rates"
        cat "$tap_dir/rates"
        [ ! -s "$tap_dir/rates" ]
    }
    check "--whatif: each rate of the chip is some resource's" rates
    shares() { awk '/%/ && / cycles each/ {exit 1} /^ +[0-9.]+ %  / {sum += $1} END {exit !(sum > 80 && sum <= 100.5)}' "$tap_dir/said"; }
    check "--whatif: what warps do is (nearly) all of their time" shares
    roles() { "$build/stage-6" $small --whatif > "$tap_dir/said" && grep -q "warpgroup [0-9] (loads)" "$tap_dir/said" && grep -q "waits for TMA, line [1-9]" "$tap_dir/said" && grep -qE "waits for warpgroup [0-9] .*, line [1-9]" "$tap_dir/said"; }
    check "--whatif: who waits for whom" roles
    sentence() { tail -n 1 "$tap_dir/said" | grep -qE '^In a sentence: of the time of warpgroup [0-9] [(]products[)] [0-9]+ % goes to this: it waits .*; the most would be gained by free [a-zA-Z ,-]+: [0-9]+ %[.]$'; }
    check "--whatif: and in a sentence" sentence
    status "--whatif where nobody measured the chip" 3 "$build/stage-4" $small --whatif --chip a100 --quiet
    # One block over time: the table, and the trace, which say the same; each warp's stretches follow one another.
    timeline() { # TABLE
        python3 - "$1" "${1%.tsv}.json" << 'EOF'
import json, sys
rows = [l.rstrip("\n").split("\t") for l in open(sys.argv[1]) if not l.startswith("#")][1:]
events = json.load(open(sys.argv[2]))["traceEvents"]
lanes = {}
for lane, name, what, _, begin, end, share in rows:
    lanes.setdefault(name, []).append((float(begin), float(end), what))
assert sum(e["ph"] == "X" for e in events) == len(rows) and {e["args"]["name"] for e in events if e["name"] == "thread_name"} == set(lanes)
for name, some in lanes.items():
    assert all(a[1] <= b[0] + 1e-3 for a, b in zip(some, some[1:])), name
    assert "warp" not in name or sum(e - b for b, e, _ in some) > 0.98 * (some[-1][1] - some[0][0]), name
assert "warp 0, products" in lanes and any(n.endswith("loads") for n in lanes) and "MUFU" in lanes and "tensor cores" in lanes
wait = [(b, e) for b, e, what in lanes["warp 0, products"] if what == "waits for its own WGMMA"]
assert any(b < e2 and b2 < e for b, e in wait for b2, e2, _ in lanes["tensor cores"]), "a wait for WGMMA while none ran"
EOF
    }
    drawn() { "$build/stage-6" $small --timeline "$tap_dir/t.tsv" && timeline "$tap_dir/t.tsv"; }
    check "--timeline: a block's warps by role, and a trace" drawn
    check "--timeline: the trace is in Chrome's format" python3 tests/commands/trace_conform.py "$tap_dir/t.json"
    misshapen() { # SED
        sed "$1" "$tap_dir/t.json" > "$tap_dir/bad.json" && ! cmp -s "$tap_dir/t.json" "$tap_dir/bad.json" && ! python3 tests/commands/trace_conform.py "$tap_dir/bad.json" 2> "$tap_dir/said"
    }
    faults() { misshapen 's/"dur":0/"dur":-0/' && misshapen 's/"tid":1,"args"/"tid":99,"args"/' && misshapen 's/"ts":1[.]/"ts":0./8' && misshapen 's/"ph":"X"/"ph":"B"/' && misshapen 's/"pid":1/"pid":0/'; }
    check "a trace that is not is seen" faults
    wrong() { sed -i 's/waits for its own WGMMA/waits for other warps/' "$tap_dir/t.tsv" && ! timeline "$tap_dir/t.tsv"; }
    check "a wrong one is seen" wrong
    status "--timeline into no folder" 5 "$build/stage-6" $small --timeline "$tap_dir/none/t.tsv"
    status "--timeline where nobody measured the chip" 3 "$build/stage-6" $small --timeline "$tap_dir/u.tsv" --chip a100
    check "and leaves none" [ ! -e "$tap_dir/u.tsv" ]
    lines() { "$build/stage-1" --device emu --seqlen 128 --heads 1 --source > "$tap_dir/said" && grep -q "predicted: $validated" "$tap_dir/said" &&
        grep -qE '^ +([0-9.]+ +)?[0-9.]+ barrier ' "$tap_dir/said" &&
        awk '/[|]line$/ {on = 1} on && split($0, half, "|") > 1 {n = split(half[1], f, " "); for (i = 2; i <= n; i++) if (f[i] ~ /^[a-z_]+$/) sum += f[i - 1]} END {exit !(sum > 90 && sum < 100.5)}' "$tap_dir/said"; }
    check "--source: cycles and stalls beside the lines" lines
    interrupted() { # a while after the first word of its progress, at 2 s, of some 25: what is known of the blocks that ended
        "$build/stage-1" --device emu --no-check --all --counters CYCLES --heads 5000 --kv-heads 1 --progress > "$tap_dir/said" 2> "$tap_dir/err" &
        until grep -q "predicting, [0-9]" "$tap_dir/err" || ! kill -0 $! 2> /dev/null; do sleep 0.2; done
        sleep 6
        kill -INT $!
        wait $!
        [ $? -eq 130 ] && cat "$tap_dir/said" "$tap_dir/err" && grep -qE "^predicted values: .*; extrapolated from [0-9.]+ %" "$tap_dir/said"
    }
    check "Ctrl-C ends it with what is known" interrupted
    sum() { # make validate's own command, into another folder
        mkdir -p "$tap_dir/sum" && emulator/predictor/validate/freezes.sh "$tap_dir/sum" "$tap_dir/all" > "$tap_dir/page" &&
            diff "$tap_dir/sum/h100.txt" records/validation/h100.txt && diff "$tap_dir/sum/h200.txt" records/validation/h200.txt
    }
    check "the sum beside predictions is validate's own" sum
    page() { # with each freeze, families, programs
        cat "$tap_dir/page"
        [ "$(wc -l < "$tap_dir/page")" -le 66 ] && [ "$(grep -c '^freeze .* pairs in order$' "$tap_dir/page")" = "$(grep -c '^freeze ' "$tap_dir/all")" ] &&
            [ "$(grep -c '^latency .*%$' "$tap_dir/page")" = 2 ] && grep -q '^all .* [+]' "$tap_dir/page"
    }
    check "validate prints one page" page
    one() { (cd / && "$predict" --seqlen 64 --heads 1 --device emu) > "$tap_dir/one" 2>&1; cat "$tap_dir/one"; grep -q '"elapsed": [1-9]' "$tap_dir/one"; }
    check "a prediction, from any folder" one
    # 100 heads of three tiles are 36 tiles more than the chip has places for; 88 heads are one for each.
    elapsed() { "$build/predict-6" "$@" --head-dim 64 --seqlen 288 --image d64-many | grep -o '"elapsed": [0-9]*' | tr -dc 0-9; }
    left_over() { few=$(elapsed --heads 88) more=$(elapsed --heads 100); echo "$few $more"; [ "$more" -gt $((few * 11 / 10)) ]; }
    check "tiles that a counter gives out beyond the first take time" left_over
    freeze() { # cases of a stage and of stage 5, whose program predicts by itself; those that are there are kept
        printf '# cases\n4\tsmall\t--seqlen 64 --heads 1\n5\tchain\t--n 8 --k-steps 1\n' > "$tap_dir/cases" && rm -f "$tap_dir/frozen"
        for k in 1 2; do BUILD=$build emulator/predictor/validate/predict.sh "$tap_dir/cases" "$tap_dir/frozen" || return; done
        cat "$tap_dir/frozen"
        [ "$(grep -cE '^[{]"case": [12], .*"elapsed": [1-9]' "$tap_dir/frozen")" -eq 2 ] && [ "$(wc -l < "$tap_dir/frozen")" -eq 2 ]
    }
    check "a freeze predicts its cases" freeze
    cut() { # a program that is stopped ends with what it has: no prediction
        mkdir -p "$tap_dir/slow" && printf '5\tchain\t--n 8\n' > "$tap_dir/cases" && rm -f "$tap_dir/frozen"
        printf '#!/bin/sh\necho cycles_elapsed,9000,cycles,model,extrapolated,\nexit %s\n' "$1" > "$tap_dir/slow/stage-5" && chmod +x "$tap_dir/slow/stage-5"
        BUILD=$tap_dir/slow emulator/predictor/validate/predict.sh "$tap_dir/cases" "$tap_dir/frozen" && cat "$tap_dir/frozen" && grep -q "$2" "$tap_dir/frozen"
    }
    check "not by one that was stopped" cut 143 '^{"case": 1, "none"'
    check "but by one that ended" cut 0 '"elapsed": 9000'
    full_disk "a full disk under stdout" bash -c "'$predict' --seqlen 64 --heads 1 > $full"
fi
tap_done
