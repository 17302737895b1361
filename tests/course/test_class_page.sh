#!/bin/bash
# The instructor's page of a class (notebooks/course/grade/class_page.py).
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c "import jinja2" 2> /dev/null; then
    skip "the page of a class" "no jinja2: make setup"
    tap_done
fi
check "it says where each student stands, and is text alone" "$python" tests/course/class/page.py
# The check itself: pages that are wrong in one thing.
for wrong in "class_page.MOST = 30" "class_page.alike = lambda why: why" "class_page.band = lambda points: 0" "class_page.FOLLOWS = class_page.re.compile('never')" \
    "class_page.jinja2.Environment = lambda **k: real(**{**k, 'autoescape': False})"; do
    check "found: ${wrong%% =*}" bash -c "! $(printf '%q ' "$python") -c \"
import sys
sys.path[:0] = ['notebooks/course/grade']
import class_page
real = class_page.jinja2.Environment
$wrong
exec(open('tests/course/class/page.py').read())\""
done

# In a browser.
browser=$(command -v chromium chromium-browser google-chrome | head -n 1)
page=$tap_dir/class.html
in_browser() { # WIDTH PAGE
    { sed '/^<\/body>/,$d' "$2"; echo "<script>"; cat tests/course/class/in_browser.js; echo "</script></body></html>"; } > "$tap_dir/tested.html"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tap_dir/chrome" --window-size="$1",1000 \
        --virtual-time-budget=20000 --dump-dom "file://$tap_dir/tested.html" 2> /dev/null > "$tap_dir/dom"
    sed -n '/<pre id="said">/,/end of /p' "$tap_dir/dom" | sed 's/<pre id="said">//'
    grep -q '^end of ' "$tap_dir/dom" && ! grep -q '^not ok\|<pre id="said">not ok' "$tap_dir/dom"
}
if [ -z "$browser" ]; then
    skip "the page in a browser" "no chromium here: apt-get install chromium"
else
    "$python" tests/course/class/page.py "$page"
    check "the page in a browser" in_browser 1280 "$page"
    check "on a narrow screen" in_browser 500 "$page"
    shut() { sed 's/\.open = true/.open = false/' "$page" > "$tap_dir/broken.html" && ! in_browser 1280 "$tap_dir/broken.html" && grep -q "not ok a link opens" "$tap_dir/dom"; }
    unsorted() { sed 's/rows\.sort(/(rows, /' "$page" > "$tap_dir/broken.html" && ! in_browser 1280 "$tap_dir/broken.html" && grep -q "not ok a title sorts" "$tap_dir/dom"; }
    check "feedback that does not open is found" shut
    check "a table that does not sort is found" unsorted
fi

# Grades that cannot be written: a line, and no traceback.
mkdir -p "$tap_dir/course/alice/lab-0" "$tap_dir/grades" && echo '{"amdahl": 2}' > "$tap_dir/course/alice/lab-0/answers.json"
grades() { BUILD=$build "$python" notebooks/course/grade/grade_all.py "$tap_dir/course" --seed s --out "$tap_dir/grades"; }
for file in grades.csv index.html; do
    ln -sf "$full" "$tap_dir/grades/$file.new"
    full_disk "no room for $file" grades
    rm -f "$tap_dir/grades/$file.new"
done
tap_done
