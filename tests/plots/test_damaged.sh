#!/bin/bash
# Every program that reads records names each damaged line by file and number, uses the rest, and exits with 5 under
# --strict; a file without a record, or that is no text at all, is one line and no traceback.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
emu=$tap_dir/emu.jsonl
mkdir "$tap_dir/pictures" "$tap_dir/bad"
for seqlen in 64 128; do "$build/stage-1" --device emu --heads 1 --seqlen $seqlen --quiet --source --json "$emu" > /dev/null; done

# NAME FILE KEYS COMMAND...: the command's last word is the file; KEYS are those that a record needs.
reader() {
    local name=$1 file=$2 keys=$3 bad=$tap_dir/bad/${2##*/} said=$tap_dir/said
    shift 3
    python3 tests/plots/damage.py "$file" $keys > "$bad" 2> "$tap_dir/numbers"
    same() { # all but the file's name
        "$@" "$file" 2> /dev/null | sed "s,$bad,FILE,g; s,$file,FILE,g" > "$tap_dir/before"
        "$@" "$bad" 2> "$said" | sed "s,$bad,FILE,g; s,$file,FILE,g" > "$tap_dir/after"
        [ "${PIPESTATUS[0]}" -eq 0 ] && [ -s "$tap_dir/before" ] && diff "$tap_dir/before" "$tap_dir/after"
    }
    check "$name: the rest is used" same "$@"
    named() {
        grep -oE "^[a-z-]+: $bad:[0-9]+: no whole record, left out" "$said" | sed -E 's/.*:([0-9]+): no.*/\1/' | sort -nu | diff "$tap_dir/numbers" - &&
            ! grep -q Traceback "$said" && [ "$(awk '{if (length > n) n = length} END {print n}' "$said")" -lt 1000 ]
    }
    check "$name: each damaged line is named, in one short line" named
    strict() { "$@" --strict "$bad" > /dev/null 2>&1; [ $? -eq 5 ]; }
    check "$name: with --strict the status is 5" strict "$@"
    : > "$tap_dir/empty-2.jsonl"
    head -c 100000 "$build/stage-1" > "$tap_dir/binary-2.jsonl"
    for other in empty binary; do
        refused() { "$@" "$tap_dir/$other-2.jsonl" > "$tap_dir/out" 2> "$said"; [ $? -le 5 ] && ! grep -q Traceback "$said"; }
        check "$name: a file that is $other ends without a traceback" refused "$@"
    done
}

reader tabulate records/runs/h200.jsonl "" sh -c 'for file; do :; done; mkdir -p '"$tap_dir/t"'; case $* in *--strict*) s=--strict ;; esac
    '"$build"'/tabulate $s --out '"$tap_dir/t"' --problem "B4 H16 S4096 D128" --stages 6-wgmma-attention "it=$file" && cat '"$tap_dir/t"'/table.txt' -
reader columns records/runs/h200.jsonl "" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
    '"$build"'/columns $s "$file" -- stage samples.median_us' -
reader validate records/validation/predictions-2.jsonl "case elapsed" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
    python3 emulator/predictor/validate/validate.py "$file" records/validation/h200-2.jsonl.gz $s' -
zcat records/validation/h200-2.jsonl.gz > "$tap_dir/h200-2.jsonl"
reader "validate, measured" "$tap_dir/h200-2.jsonl" "command counters" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
    cp records/validation/cases-2.txt $(dirname "$file"); python3 emulator/predictor/validate/validate.py records/validation/predictions-2.jsonl "$file" $s' -
reader peers-table records/runs/h200-peers.jsonl "problem" python3 profiler/peers/peers_table.py
reader choices records/runs/h200-choices-6.jsonl "problem choices device" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
    python3 profiler/peers/choices.py $s --json "$file"' -
cat > "$tap_dir/predict-1" << 'END'
#!/bin/bash
echo '{"active": 9, "elapsed": 9, "instructions": 9, "host_seconds": 0, "tensor_active_pct": 1}'
END
chmod +x "$tap_dir/predict-1"
for stage in 2 3 4 6; do cp "$tap_dir/predict-1" "$tap_dir/predict-$stage"; done
reader "compare of the predictor" records/runs/h200-clock.jsonl "stage problem" python3 emulator/predictor/compare.py --build "$tap_dir"
if "$python" -c 'import jinja2' 2> /dev/null; then
    reader report "$emu" "" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
        '"$python"' plots/report.py $s --pictures '"$tap_dir/pictures --out $tap_dir/page"'.html --problem "B1 H1 S64 D64" --records "$file" > '"$tap_dir/end"' || exit; cat '"$tap_dir"'/page.html' -
    reader "report, hot lines" "$emu" "" sh -c 'for file; do :; done; case $* in *--strict*) s=--strict ;; esac
        '"$python"' plots/report.py $s --pictures '"$tap_dir/pictures --out $tap_dir/page"'.html --problem "B1 H1 S64 D64" --records '"$emu"' --hot "$file" > '"$tap_dir/end"' || exit; cat '"$tap_dir"'/page.html' -
else
    skip "report" "no jinja2: make setup"
fi

# What is no program: functions, each on the same damage.
both() { # FOLDER PYTHON: an expression of `path` with the same value on both files
    "$python" - "$file" "$bad" "$tap_dir/numbers" "$1" "$2" << 'END' 2> "$tap_dir/said"
import sys, warnings
file, bad, numbers, folder, expression = sys.argv[1:]
sys.path.insert(0, folder)
def value(path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = eval(expression, {"path": path, "__import__": __import__})
    return found, [str(w.message) for w in said]
first, (second, said) = value(file)[0], value(bad)
named = [int(line.split(":")[1]) for line in said] or sorted(n for _, n in sys.modules["records"].damaged)
assert first == second, (first, second)
assert named == [int(n) for n in open(numbers)], named
END
}
file=records/runs/h200.jsonl bad=$tap_dir/bad/h200.jsonl
python3 tests/plots/damage.py "$file" > "$bad" 2> "$tap_dir/numbers"
check "against: damage is named, the rest is used" both profiler/peers '__import__("against").newest(path, "6", "B4 H16 S4096 D128")["time"]'
if "$python" -c 'import pandas' 2> /dev/null; then
    check "attnlab.records: damage is warned of, the rest is used" both runtime/python '__import__("attnlab").records(path).to_json()'
else
    skip "attnlab.records" "no pandas: make setup"
fi
file=records/runs/h200-choices-6.jsonl bad=$tap_dir/bad/h200-choices-6.jsonl
python3 tests/plots/damage.py "$file" problem choices > "$bad" 2> "$tap_dir/numbers"
mkdir "$tap_dir/scipy"
echo 'minimize = least_squares = None' > "$tap_dir/scipy/optimize.py" # reading needs none of it
PYTHONPATH=$tap_dir check "fit: damage is named, the rest is used" both stages/6-wgmma-attention/fit \
    '__import__("fit").read([path], type("", (), {"lib": type("", (), {"model_chip": staticmethod(len)})})).us.sum()'
tap_done
