# The labs: each .ipynb is the students' version of its .py, and each .py runs without a GPU; its checks take the
# answers, refuse wrong ones with their hints, and stay open without one.
. tests/tap.sh
nosuch() { LAB_DEVICE=nosuch python3 -c 'import sys; sys.path.insert(0, "notebooks"); import lab' 2>&1 | tail -n 1 | grep -q "ValueError: LAB_DEVICE is auto, cuda or emu"; }
check "LAB_DEVICE=nosuch is refused" nosuch

if [ ! -x .venv/bin/jupytext ]; then
    skip notebooks "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi

generated() { # NAME: generating it once more changes nothing
    .venv/bin/python notebooks/student.py "notebooks/$1.py" "$tap_dir/$1.ipynb" &&
        diff "notebooks/$1.ipynb" "$tap_dir/$1.ipynb"
}
bare() { ! grep -E '"output_type"|SOLUTION' "notebooks/$1.ipynb"; }

for lab in notebooks/lab-*.py; do
    name=$(basename "$lab" .py)
    check "$name.ipynb is what $name.py gives" generated "$name"
    check "$name.ipynb has no outputs and no answers" bare "$name"
    check "$name.py runs" .venv/bin/python notebooks/execute.py "notebooks/$name.py"
    check "$name.py: wrong answers are refused" .venv/bin/python notebooks/execute.py --wrong "notebooks/$name.py"
    check "$name.ipynb: graded cells fail, and no others" .venv/bin/python notebooks/execute.py --open "notebooks/$name.ipynb"
done
tap_done
