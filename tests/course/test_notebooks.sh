# The labs' notebooks: each .ipynb is the students' version of its .py, and each .py runs without a GPU; its
# comparisons take the answers, refuse wrong ones with their hints, and stay open without one.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
nosuch() { LAB_DEVICE=nosuch python3 -c 'import sys; sys.path.insert(0, "notebooks/course"); import course; course.Lab(1)' 2>&1 | tail -n 1 | grep -q "ValueError: LAB_DEVICE is auto, cuda or emu"; }
check "LAB_DEVICE=nosuch is refused" nosuch
again() { # NAME NEXT: begun a second time, it says how to go on
    mkdir -p "$tap_dir/again" && cp -r --parents notebooks stages common/base "$tap_dir/again" &&
        (cd "$tap_dir/again" && python3 notebooks/course/start.py "$1" > /dev/null && ! python3 notebooks/course/start.py "$1" 2> "$tap_dir/err") && grep -qF "go on with $2; to begin anew: rm -r my-labs/$1" "$tap_dir/err"
}
check "a lab that is there" again 0 "make lab-0 notebook"
check "an exam that is there" again exam-1 "make exam-1 check"

if [ ! -x .venv/bin/jupytext ]; then
    skip notebooks "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi

# As a student has them: each is made in a tree of links to this one, and runs in its folder my-labs/N.
students() {
    local path n
    mkdir "$tap_dir/student" && cp -r notebooks "$tap_dir/student"
    for path in $(git ls-files | cut -d/ -f1 | sort -u) .venv build; do [ "$path" = notebooks ] || ln -s "$PWD/$path" "$tap_dir/student"; done
    MAKEFLAGS= make -s -C "$tap_dir/student" lab-0 && for n in 1 2 3 4 5 6; do python3 "$tap_dir/student/notebooks/course/start.py" $n || return; done
}
as_jupyter() { # N [CELLS]: all cells of lab-N.ipynb where it lies, or the first so many that are code
    LAB_SHEET= .venv/bin/python - "$tap_dir/student/my-labs/$1" "$@" << 'END'
import os, pathlib, sys
import nbformat
from nbclient import NotebookClient
folder, number, *first = sys.argv[1:]
notebook = nbformat.read(f"{folder}/lab-{number}.ipynb", 4)
if first:
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"][:int(first[0])]
NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
assert first or "0 of " in notebook.cells[-1].outputs[0].text, notebook.cells[-1]
END
}
# make lab-N notebook gives a kernel the way to the course, whatever the notebook's first cell says
anywhere() {
    printf '#!/bin/sh\ncd my-labs/0 && exec ../../.venv/bin/python -c "from course import Lab; Lab(0)"\n' > "$tap_dir/student/python" && chmod +x "$tap_dir/student/python"
    MAKEFLAGS= make -s -C "$tap_dir/student" lab-0 notebook PYTHON=./python
}
check "make lab-0, and the folders of the other labs" students
for n in 1 2 3 4 5 6; do check "my-labs/$n: the first cell runs" as_jupyter $n 1; done
check "make lab-0 notebook: the course is found" anywhere

waits() { # what a check prints while a kernel compiles: on a terminal a line that is replaced, elsewhere nothing
    .venv/bin/python - << 'END'
import contextlib, io, sys, types
sys.path.insert(0, "notebooks/course")
import check
folder = types.SimpleNamespace(early=0)
for terminal, begin in (True, "...  compiling\r"), (False, ""):
    seen = []
    out = io.StringIO()
    out.isatty = lambda: terminal
    kernel = types.SimpleNamespace(compile=lambda also: seen.append(out.getvalue()))
    with contextlib.redirect_stdout(out):
        assert check.Check(folder, kernel, "emu").compiles()
    assert seen == [begin] and out.getvalue() == begin + "ok   it compiles\n", (seen, out.getvalue())
END
}
check "a terminal is told that a kernel compiles" waits

generated() { # LAB: generating it once more changes nothing
    .venv/bin/python notebooks/course/student.py "notebooks/course/$1/lab-$1.py" "$tap_dir/$1.ipynb" && diff "notebooks/$1"-*.ipynb "$tap_dir/$1.ipynb"
}
bare() { ! grep -E '"output_type"|SOLUTION' "notebooks/$1"-*.ipynb; }
links() { # as JupyterLab resolves them from my-labs/N, and from the pages of notebooks/course/: to files, for it opens no folder
    .venv/bin/python - "$1" << 'END'
import json, pathlib, re, sys
sys.path.insert(0, "notebooks/course")
import start
number, root, dead = int(sys.argv[1]), pathlib.Path.cwd(), []
files = start.contents(number)
def text(page):
    return "\n".join("".join(cell["source"]) for cell in json.loads(page)["cells"] if cell["cell_type"] == "markdown")
pages = {root / f"my-labs/{number}/lab-{number}.ipynb": text(files[f"lab-{number}.ipynb"])}
pages |= {path: text(path.read_text()) for path in root.glob("notebooks/*.ipynb")}
pages |= {path: path.read_text() for path in [*root.glob("notebooks/*.md"), *root.glob("notebooks/course/**/*.md")]}
there = {root / f"my-labs/{number}/{name}" for name in files}
for page, text in pages.items():
    for link in re.findall(r"\]\(([^)\s]+)\)|<(?:a href|img src)=[\"']([^\"']+)|^\[[^\]]+\]: *(\S+)", text, re.M):
        target = "".join(link).split("#")[0]
        path = pathlib.Path((page.parent / target).as_posix()).resolve() if target else page
        if re.match(r"\w+:", target) or not path.is_relative_to(root) or path not in there and not path.is_file():
            dead.append(f"{page.relative_to(root)}: {target}")
assert not dead and (number == 0 or len(there) > 1), dead
END
}
understood() { # what answers may look like: ANSWER UNIT -> NUMBER, or a complaint
    .venv/bin/python - << 'END'
import sys
sys.path.insert(0, "notebooks/course")
import numpy, answers
for answer, unit, wanted in [("0.44", "us", 0.44), ("440 ns", "us", 0.44), ("0,44", "us", 0.44), ("1,048,576", "FLOP", 1048576),
                             ("12 %", "%", 12), (numpy.float32(0.5), "us", 0.5), (numpy.array([3]), "us", 3), (7, "us", 7),
                             (lambda: 4, "us", 4), ("0.5 GFLOP", "FLOP", 5e8), (None, "us", None), (" ", "us", None),
                             ("12 percent", "%", 12), ("537 MFLOPs", "FLOP", 5.37e8), ("1 PFLOPS", "TFLOPS", 1000), ("1 TFLOP/s", "TFLOPS", 1),
                             ("2 MB", "byte", 2e6), ("1 KiB", "bytes", 1024), ("3 B", "byte", 3), ("1 wavefront", "wavefronts", 1),
                             ("8 \u03bcs", "us", 8), ("8 cycles", "clocks", 8), ("2x", "times", 2), ("stage 2", "stage", 2), ("~8", "us", 8),
                             ("line 102", "line", 102), ("1 048 576", "FLOP", 1048576), ("8e-6 s", "us", 8)]:
    value, why = answers.number_of(answer, unit)
    assert why is None and (value == wanted or abs(value - wanted) < 1e-9 * wanted), (answer, value, why)
for answer in ["fast", "3 kg", True, [1, 2], float("nan"), float("inf"), lambda: 1 / 0, "1.2.3", "1/3", "2**20", "8 - 2", "kernel.cu:102", "5 M", "1 0"]:
    value, why = answers.number_of(answer, "us")
    assert value is None and len(why) > 10, (answer, value, why)
assert answers.in_another_unit(1, "x", 440, 0.01, 0.44) == 1e-3 and answers.in_another_unit(1, "x", 0.5, 0.01, 0.44) is None
END
}
bare_clone() { # what a count needs is built where nothing is: registers are in the chip's cubin
    .venv/bin/python - "$tap_dir" << 'END'
import os, pathlib, sys, time
sys.path.insert(0, "notebooks/course")
import course
clone, asked = pathlib.Path(sys.argv[1]) / "clone", []
clone.mkdir()
(clone / "stages").symlink_to(course.ROOT / "stages")
course.ROOT, course.Lab._make = clone, lambda self, *words: asked.extend(words)
wanted = ["build/stage-3", "build/images/stage-3/d64.compute_89.ptx", "build/images/stage-3/d64.sm_89.cubin"]
course.Lab(3)._build("3-wmma-pv", None, "64", "rtx4090")
assert asked == wanted, asked
asked.clear()
for path in wanted:
    (clone / path).parent.mkdir(parents=True, exist_ok=True)
    (clone / path).touch()
course.Lab(3)._build("3-wmma-pv", None, "64", "rtx4090")
assert not asked, asked
(clone / "profiler").mkdir()
(clone / "profiler/MIX.txt").touch()
os.utime(clone / "profiler/MIX.txt", (time.time() + 9, time.time() + 9))
course.Lab(3)._build("3-wmma-pv", None, "64", "rtx4090")
assert asked == wanted, asked
END
}
check "what a count needs is built, and anew after an update" bare_clone
check "answers in many forms are understood, or explained" understood

jobs=()
for n in 0 1 2 3 4 5 6; do
    check "notebook $n is what lab-$n.py gives" generated $n
    check "notebook $n has no outputs and no answers" bare $n
    check "lab-$n's links lead somewhere" links $n
    jobs+=("notebooks/course/$n/lab-$n.py")
done
# The longest is the last lab's. What a notebook counts, with its answers, is counted once: the same cells ask for it again,
# and test_course does.
mapfile -t jobs < <(printf '%s\n' "${jobs[@]}" | tac)
for n in 0 1 2 3 4 5 6; do jobs+=("--wrong notebooks/course/$n/lab-$n.py" "--open $(echo notebooks/$n-*.ipynb)"); done
export LAB_KEPT=${TESTS_KEPT:-$tap_dir}
check "my-labs/0: all cells run" as_jupyter 0
# As many at a time as there are cores: what each said, and its status, by number.
run_one() { # shellcheck disable=SC2086
    .venv/bin/python notebooks/course/execute.py $2 > "$tap_dir/run-$1" 2>&1
    echo $? > "$tap_dir/run-$1.status"
}
for i in "${!jobs[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    run_one "$i" "${jobs[$i]}" &
done
wait
for i in "${!jobs[@]}"; do
    tap_result "execute.py ${jobs[$i]}" "$([ "$(cat "$tap_dir/run-$i.status")" = 0 ] && echo 1 || echo 0)" "$tap_dir/run-$i"
done
tap_done
