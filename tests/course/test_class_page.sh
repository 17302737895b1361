#!/bin/bash
# The instructor's page of a class (notebooks/course/grade/class_page.py).
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c "import jinja2" 2> /dev/null; then
    skip "the page of a class" "no jinja2: make setup"
    tap_done
fi
check "it says where each student stands, and is text alone" "$python" tests/course/class_page.py
# The check itself: pages that are wrong in one thing.
for wrong in "class_page.MOST = 30" "class_page.alike = lambda why: why" "class_page.band = lambda points: 0" \
    "class_page.jinja2.Environment = lambda **k: real(**{**k, 'autoescape': False})"; do
    check "found: ${wrong%% =*}" bash -c "! $(printf '%q ' "$python") -c \"
import sys
sys.path[:0] = ['notebooks/course/grade']
import class_page
real = class_page.jinja2.Environment
$wrong
exec(open('tests/course/class_page.py').read())\""
done

# Grades that cannot be written: a line, and no traceback.
mkdir -p "$tap_dir/course/alice/lab-0" "$tap_dir/grades" && echo '{"amdahl": 2}' > "$tap_dir/course/alice/lab-0/answers.json"
grades() { BUILD=$build "$python" notebooks/course/grade/grade_all.py "$tap_dir/course" --seed s --out "$tap_dir/grades"; }
for file in grades.csv index.html; do
    ln -sf "$full" "$tap_dir/grades/$file.new"
    full_disk "no room for $file" grades
    rm -f "$tap_dir/grades/$file.new"
done
tap_done
