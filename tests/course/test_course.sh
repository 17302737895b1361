# What an instructor does: hand out, grade a folder, nbgrader by the lines of notebooks/INSTRUCTOR.md.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
page=notebooks/INSTRUCTOR.md
python=${PYTHON:-.venv/bin/python}
kernel=stages/2-wmma-qk/kernel.cu

# ---- Archives: no line of the lab's solution, nothing of later stages
whole() { # N: the archive is made, its holes are empty, and it has what a student builds with
    python3 notebooks/course/grade/handout.py "$1" "$tap_dir/lab-$1.tar.gz" && tar xzf "$tap_dir/lab-$1.tar.gz" -C "$tap_dir" &&
        python3 - "$1" "$tap_dir/attnlab-lab-$1" << 'P'
import pathlib, re, sys
sys.path.insert(0, "notebooks/course")
import lab_folder, strip
number, root = int(sys.argv[1]), pathlib.Path(sys.argv[2])
lab = lab_folder.read(number)
secret = set()
for file in lab.files:
    lines = file.read_text().splitlines()
    for first, last, of, sentence in strip.solutions(file.read_text()):
        if of == number:
            secret |= {line.strip() for line in lines[first:last - 1] if len(line.split("//")[0].strip()) > 40}
    secret -= {line.strip() for line in strip.strip(file.read_text(), number).splitlines()} # elsewhere in the skeleton too
assert len(secret) >= 2, secret
for path in root.rglob("*"):
    if not path.is_file() or path.suffix in (".cubin", ".gz", ".png"):
        continue
    told = [line for line in path.read_text(errors="replace").splitlines() if line.strip() in secret]
    stage = re.search(r"stages/(\d)", str(path))
    assert not told or stage and int(stage[1]) < int(lab.stage[0]), f"{path}: {told[0]}"
later = [path.name for path in (root / "stages").glob("[0-9]-*") if int(path.name[0]) > int(lab.stage[0])]
assert not later, later
assert not list(root.glob("notebooks/course/grade*")) and not list(root.glob("notebooks/INSTRUCTOR*")) and not list(root.glob("notebooks/TERM*")) and not list(root.rglob("lab-?.py"))
assert "hint:" in (root / f"notebooks/course/{number}/mistakes").read_text() and "edit:" not in (root / f"notebooks/course/{number}/mistakes").read_text()
for file in lab.files:
    assert "YOUR CODE HERE" in (root / file).read_text(), file
for name in ("Makefile", f"stages/{lab.stage}/stage.c", "emulator/emulator.h", f"build/images/stage-{lab.stage[0]}/{lab.images[0]}.sm_90a.cubin"):
    assert (root / name).exists(), name
P
}
if [ ! -x .venv/bin/jupytext ]; then
    status "no archive without what runs notebooks" 2 python3 notebooks/course/grade/handout.py 1 "$tap_dir/none.tar.gz"
    tap_done
fi
# What our notebooks count is counted once, whoever asks for it below or in test_notebooks.
export LAB_KEPT=${TESTS_KEPT:-$tap_dir}
for n in 1 2 3 4 5 6; do check "lab $n's archive tells no answer" whole $n; done
unbuilt() { ! MAKEFLAGS= make -n -C "$tap_dir/attnlab-lab-2" stage-2 2>&1 | grep nvcc; }
check "make leaves our compiled kernel" unbuilt
builds() { MAKEFLAGS= make -n -C "$tap_dir/attnlab-lab-2" lab-2 check 2>&1 | grep -q 'build/stage-2'; }
check "make lab-2 check builds its stage there" builds
# What its notebooks count and draw of kernels that it leaves out comes along: every cell runs, unanswered.
runs() { # ARCHIVE LAB
    local root=$tap_dir/attnlab-lab-$1 stage
    ln -sfn "$PWD/.venv" "$root/.venv"
    for stage in $(seq 1 $(($1 - 1))); do # earlier stages are whole: built as here
        ln -sfn "$PWD/$build/stage-$stage" "$root/build/" && ln -sfn "$PWD/$build/images/stage-$stage" "$root/build/images/"
    done
    MAKEFLAGS= env -u LAB_KEPT "$PWD/.venv/bin/python" "$root/notebooks/course/execute.py" --open "$root/notebooks/$2"-*.ipynb
}
check "lab 1's archive: lab 0 runs" runs 1 0
for n in 2 5; do check "lab $n's archive: its notebook runs" runs $n $n; done
# Counted anew: lab 6 has something of each kind, counts, lines, reports and pictures, and takes the least.
check "the same archive twice" bash -c "env -u LAB_KEPT python3 notebooks/course/grade/handout.py 6 '$tap_dir/again.tar.gz' && cmp <(zcat '$tap_dir/lab-6.tar.gz') <(zcat '$tap_dir/again.tar.gz')"

# ---- A folder of submissions
course=$tap_dir/course
mkdir -p "$course"/{alice,bob,mallory,zoe}/lab-2
cp $kernel "$course/alice/lab-2"
python3 notebooks/course/strip.py --lab 2 $kernel > "$course/bob/lab-2/kernel.cu"
{ echo '#define mma_sync(d, a, b, c) fill_fragment(d, 0.0f)'; cat $kernel; } > "$course/mallory/lab-2/kernel.cu"
echo '{"amdahl": 2}' > "$course/alice/lab-2/answers.json"
echo '{"amdahl": "many"}' > "$course/bob/lab-2/answers.json"
echo "nothing of the lab" > "$course/zoe/lab-2/notes.txt"
printf 'lab-2 2026-12-01T12:00+00:00\nlate-days 1\nlate-percent 20\nextension alice 1\n' > "$course/deadlines"
printf 'lab-2 2026-12-01T11:00+00:00 %s\n' mallory zoe > "$course/collected"
printf 'lab-2 2026-12-03T11:00+00:00 %s\n' alice bob >> "$course/collected"
graded() { BUILD=$build .venv/bin/python notebooks/course/grade/grade_all.py "$course" --seed s --out "$tap_dir/grades" > "$tap_dir/said"; }
row() { grep -E "$1" "$tap_dir/grades/grades.csv" || { cat "$tap_dir/grades/grades.csv"; false; }; }
if ! command -v "${NVCC:-nvcc}" > /dev/null || ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip "grade-all" "no nvcc or no bubblewrap here"
else
    check "grade-all" graded
    check "the good one, late with an extension" row '^alice,2,100.0,1,6,2,0,1.0,'
    check "the bad one, a day beyond" row '^bob,2,0.0,0,6,2,0,0.8,'
    check "the cheating one" row '^mallory,2,0.0,.*,0,1,1.0,'
    check "the one without a kernel" row '^zoe,2,0.0,.*kernel.cu: not submitted'
    check "a page of the class" grep -q "zoe" "$tap_dir/grades/index.html"
    check "it says what cost points" grep -q "kernel.cu: not submitted\|no kernel submitted" "$tap_dir/grades/index.html"
    check "feedback with file and line" grep -qE 'kernel.cu:[0-9]+' "$tap_dir/grades/bob.txt"
    before=$(stat -c %Y "$tap_dir"/grades/*/lab-2/kept.json | paste -sd' ')
    sleep 1
    echo "// once more" >> "$course/alice/lab-2/kernel.cu"
    again() {
        graded && set -- $(stat -c %Y "$tap_dir"/grades/*/lab-2/kept.json) && [ "$1" != "${before%% *}" ] && [ "$2 $3 $4" = "${before#* }" ]
    }
    check "again: only what changed is graded" again
fi
status "a bad deadline" 1 bash -c "echo lab-2 soon > '$course/deadlines'; python3 notebooks/course/grade/grade_all.py '$course' --seed s"
status "a bad time of collection" 1 bash -c "rm '$course/deadlines'; echo lab-2 alice > '$course/collected'; python3 notebooks/course/grade/grade_all.py '$course' --seed s"
status "no folder" 2 python3 notebooks/course/grade/grade_all.py "$tap_dir/none" --seed s

# ---- nbgrader, by the lines of the page
block() { # FROM: the indented lines that follow the line with this text, up to the next line of text
    awk -v from="$1" 'index($0, from) {on = 1; next} on && /^    / {print substr($0, 5); seen = 1} on && seen && /^[^ ]/ {exit}' $page
}
if [ ! -e notebooks/course/student.py ] || ! [ -x .venv/bin/nbgrader ]; then
    skip "nbgrader" "no prediction sheets here, or no nbgrader: make setup"
    tap_done
fi
export ATTNLAB=$PWD PATH=$PWD/.venv/bin:$PATH PYTHONWARNINGS=ignore JUPYTER_CONFIG_DIR=$tap_dir/jupyter
nb=$tap_dir/nbgrader
mkdir -p "$nb" "$tap_dir/exchange"
page_says() { (cd "$nb" && set -e && eval "$1"); }
release=$(block "with ATTNLAB set")
grade_lines=$(block "Then:")
start=$(echo "$release" | sed -n '1,2p') rest=$(echo "$release" | sed '1,2d')
check "the page has its lines" test "$(echo "$release" | grep -c nbgrader)" -ge 3 -a "$(echo "$grade_lines" | grep -c nbgrader)" -eq 3
check "a course folder" page_says "$start; echo 'c.Exchange.root = \"$tap_dir/exchange\"' >> nbgrader_config.py"
check "generate, release" page_says "$rest"
right=$(python3 - << 'P'
import json, sys
sys.path[:0] = ["notebooks/course/grade", "notebooks/course"]
import sheet, answers
key = sheet.key(2)
print(json.dumps({name: value for name, value in key.items() if value is not None} | {"amdahl": 2, "slowdown": 1.6185}))
P
)
student() { # fetches, answers, submits
    mkdir -p "$tap_dir/home" && cd "$tap_dir/home" && cp "$nb/nbgrader_config.py" . && nbgrader fetch_assignment lab-2 &&
        echo "$right" > lab-2/answers.json && nbgrader submit lab-2
}
check "fetch, submit" bash -c "$(declare -f student); nb='$nb' tap_dir='$tap_dir' right='$right'; student"
sent() { # NAME ANSWERS: what came by another way
    mkdir -p "$nb/submitted/$1/lab-2" && cp "$nb/release/lab-2/lab-2.ipynb" "$nb/submitted/$1/lab-2" && echo "$2" > "$nb/submitted/$1/lab-2/answers.json"
}
cheat() { # a notebook that patches the judge, writes the sheet at the end, and claims points
    $python - "$nb/submitted/mallory/lab-2/lab-2.ipynb" << 'P'
import sys, nbformat
nb = nbformat.read(sys.argv[1], 4)
for cell in nb.cells:
    if "attnlab = Lab" in cell.source:
        cell.source += "\ntype(attnlab).compare = lambda *a, **k: 1\nopen('/tmp/attnlab-cheat', 'w').write('ran')"
    if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
        cell.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "1"}, execution_count=1)]
        cell.source = "1"
nbformat.write(nb, sys.argv[1])
P
}
rm -f /tmp/attnlab-cheat
sent bob '{"hmma": 1, "fma_left": "many", "amdahl": 3}'
sent mallory '{"hmma": true, "fma_left": [1], "amdahl": {"passed": 1}, "slowdown": NaN}'
check "a cheating notebook" cheat
check "collect" page_says "nbgrader collect lab-2"
check "autograde, feedback, export" page_says "$grade_lines"
points() { grep -E ",$1,.*,$2,[0-9.]+\$" "$nb/grades.csv" || { cat "$nb/grades.csv"; false; }; }
all=$(grep -c '# %% points' notebooks/course/2/lab-2.py)
check "the good one: all points" points "$(id -un)" "$all.0"
check "the bad one: none" points bob 0.0
check "the cheating one: none" points mallory 0.0
check "nothing of hers was run" test ! -e /tmp/attnlab-cheat
check "feedback says why" bash -c "grep -q 'is not right' '$nb'/feedback/bob/lab-2/lab-2.html"
tap_done
