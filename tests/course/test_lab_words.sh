# What a check of a student's kernel says: of keys that a row may not see, of rows that see none, of files that are none.
. tests/tap.sh
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import numpy' 2> /dev/null; then
    skip "checks" "no numpy in .venv; make setup installs it"
    tap_done
fi
followed() { # of numbers that a line computes: P, and P of keys past the end or right of the diagonal
    .venv/bin/python - << 'END'
import sys
sys.path.insert(0, "notebooks/course")
import numpy as np, follow
draw = np.random.default_rng(1)
for keys, causal in (40, False), (64, True):
    q, k = draw.standard_normal((16, 64)), draw.standard_normal((keys, 64))
    steps, hidden = follow.expected(q, k, causal, (64, 64), False)
    assert len(hidden) >= 16
    for more, wanted in ((np.zeros(64), False), (hidden, True), (hidden.astype(np.float16), True)):
        rows = np.concatenate([steps["P"][steps["P"] > 0], more])
        rows = np.pad(rows, (0, -len(rows) % 32)).reshape(-1, 32)
        p = next(step for step in follow.found({7: [("ex2.approx", rows)]}, (q, k), causal, (64, 64), False) if step.name == "P")
        assert p.lines == [7] and p.hidden == wanted and p.right != wanted, (keys, wanted, p)
assert follow.expected(q, k, False, (64, 64), False)[1].size == 0
# the row maximum: the last line that makes it, not one that moves it
rows = np.tile(steps["the row maximum"], 2).reshape(-1, 32)
made = {9: [("mov.f32", rows)], 5: [("max.f32", rows)], 6: [("shfl.sync", rows)], 8: [("selp.f32", rows)]}
for values, lines in ((made, [6]), ({9: made[9]}, [])):
    one = next(step for step in follow.found(values, (q, k), causal, (64, 64), False) if step.name == "the row maximum")
    assert one.right and one.lines == lines, one
END
}
check "P is right only where rows may see the keys; the maximum has the line that makes it" followed
unseeing() { # a row that sees no key: what is true of it
    .venv/bin/python - << 'END'
import sys, types
sys.path.insert(0, "notebooks/course")
import numpy as np, worked
shape = types.SimpleNamespace(causal=True)
folder, run = types.SimpleNamespace(tile=(64, 64)), types.SimpleNamespace(problem=types.SimpleNamespace(shape=shape), inputs=(np.ones((1, 8, 64)), np.ones((1, 4, 64)), np.ones((1, 4, 64))))
error = types.SimpleNamespace(folder=folder, run=run, expected=np.zeros((1, 8, 64)), got=np.ones((1, 8, 64)))
for row, wanted in ((0, {"S": "none", "the row maximum": "-inf", "P": "none", "the row sum": "0.0000", "O": "0.0000,", "LSE": "-inf"}), (4, {"the row maximum": "11.5416", "the row sum": "1.0000"})):
    error.first = lambda: (0, row, 0)
    said = "\n".join(worked.lines(error, None))
    for name, value in wanted.items():
        line = next(line.split() for line in said.splitlines() if line.startswith(f"  {name} "))
        assert value in line, said
    assert ("LSE" in said) == (row == 0), said
END
}
check "a row that sees no key" unseeing

mkdir -p "$tap_dir/1/kernel.cu"
status "a kernel that is a folder" 4 .venv/bin/python notebooks/course/check.py 1 --source "$tap_dir/1"
says() { grep -q "kernel.cu is no file, but a folder or something else: move it away, and .make lab-1. makes the file" "$tap_dir/$1"; }
check "what to do then" says err
hint() { # of my-labs/1 under $tap_dir
    .venv/bin/python - "$tap_dir" << 'END'
import pathlib, sys
sys.path[:0] = ["notebooks/course"]
import hint
hint.ROOT = pathlib.Path(sys.argv.pop())
sys.argv += ["1"]
sys.exit(hint.main())
END
}
mkdir "$tap_dir/my-labs" && mv "$tap_dir/1" "$tap_dir/my-labs/1"
status "hint: the same" 2 hint
rmdir "$tap_dir/my-labs/1/kernel.cu" && notebooks/course/strip.py --lab 1 stages/1-scalar/kernel.cu > "$tap_dir/my-labs/1/kernel.cu"
anew() { # $1: what hints-given has
    printf '%s' "$1" > "$tap_dir/my-labs/1/hints-given" && hint > "$tap_dir/said" && grep -q '^  1\. ' "$tap_dir/said" && ! grep -q '^  2\. ' "$tap_dir/said" && hint | grep -q '^  2\. '
}
check "an empty hints-given: hints begin anew" anew ""
check "one that is no object" anew "[1]"

printf '{"flops": 1,' > "$tap_dir/answers.json"
damaged() {
    LAB_SHEET=$tap_dir/answers.json python3 -c 'import sys; sys.path.insert(0, "notebooks/course"); import course; course.Lab(1).predict("flops", 2)' 2> "$tap_dir/err"
    tail -n 1 "$tap_dir/err" | grep -qF "ValueError: $tap_dir/answers.json is no JSON (" && tail -n 1 "$tap_dir/err" | grep -q "correct it, or remove it"
}
check "a damaged answers.json is named" damaged
factors() { # what a wrong answer is told about its factor
    python3 - << 'END'
import contextlib, io, sys
sys.path.insert(0, "notebooks/course")
import course
lab = course.Lab(1)
lab._store = lambda *_: None
for name, right, given, wanted in (("fma_us", 8, 16, "It is twice what is right."), ("fma_us", 8, 4, "It is half what is right."),
        ("fma_us", 8, 64, "It is 8 times what is right."), ("fma_us", 8, 1, "It is 1/8 of what is right."), ("min_bytes", 800, 6400, "8 times what is right: are these bits? The unit is byte."),
        ("fma_us", 8, 8000, "off by a factor of 1000: the unit is us."), ("min_bytes", 1000, 1024000, "a factor of 1024: the unit is byte."), ("share_pct", 50, .5, "a factor of 0.01: the unit is %."),
        ("fma_us", 8, 24, "")):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        lab.predict(name, given)
        lab.compare(name, right)
    said = out.getvalue().splitlines()[-1]
    assert wanted in said and ("unit is" in said) == ("unit is" in wanted) and ("what is right" in said) == ("what is right" in wanted), said
END
}
check "twice and half are no units" factors
printf '{}' > "$tap_dir/answers.json"
status "grade: a sheet's record that cannot be written" 5 .venv/bin/python notebooks/course/grade/sheet.py 1 "$tap_dir/answers.json" --json "$tap_dir/nosuch/x.json"
check "it is named" grep -qF "grade: $tap_dir/nosuch/x.json: No such file" "$tap_dir/err"

share() { # lab 1: the share of the floor is compared with the student's own floor, and only where that is right
    python3 - << 'END'
import contextlib, io, json, pathlib, sys
sys.path.insert(0, "notebooks/course")
import course
cell = next("".join(cell["source"]) for cell in json.loads(next(pathlib.Path("notebooks").glob("1-*.ipynb")).read_text())["cells"] if 'compare("share_pct"' in "".join(cell["source"]))
for floor, share, points in ((8.02, 16.04, 1), (8.02, 20, 0), (16, 32, 0), (None, 0, 0)):
    lab = course.Lab(1)
    lab._store = lambda *_: None
    with contextlib.redirect_stdout(io.StringIO()):
        lab.predict("fma_us", floor)
        lab.compare("fma_us")
        lab.predict("share_pct", share)
        exec(cell, {"attnlab": lab, "measured_us": 50})
    assert lab.points["share_pct"] == points, (floor, share)
END
}
check "lab 1: a share is compared with the student's own floor" share
told() { ! grep -hE 'attnlab.compare\(.*[0-9]\.[0-9]' notebooks/*.ipynb; }
check "no comparison has its answer in the cell" told
in_order() { # TEXT... stand in a file in this order, each for the first time
    python3 - "$@" << 'END'
import json, pathlib, sys
text = pathlib.Path(sys.argv[1]).read_text()
at = [text.index(word) for word in sys.argv[2:]]
assert at == sorted(at), at
END
}
check "the course's page begins with the order" in_order notebooks/README.md "make lab-0" "make step-1a" "make lab-1" "## "
check "lab 0 says what colours are, and whose rows" in_order notebooks/0-read-a-profile.ipynb "lanes 0 to 15 and 16 to 31 reuse the same" "row 5 of K"
check "lab 1 gives the names that it needs" in_order notebooks/1-online-softmax.ipynb "## 2. Fill" "attention_args.h" scale_log2 diagonal "ex2(x)" ptx.cuh __shfl_xor_sync "## 3. Check"
tap_done
