#!/bin/bash
# --watch-page: the page of stages, of one's own program and of a lab, and what a reader does with it in a browser.
. tests/tap.sh
python=.venv/bin/python
export OMP_NUM_THREADS=1
page() { # STAGE FILE OPTIONS...
    "${folder:-$build}/stage-$1" --device emu --heads 1 --seqlen 128 --jobs 1 "${@:3}" --quiet --watch-page "$2"
}
if ! make -s watch-page > "$tap_dir/out" 2>&1; then
    skip "pages" "$(tail -n 1 "$tap_dir/out")"
    tap_done
fi

check "stage 6 has a page" page 6 "$tap_dir/stage-6.html"
check "stage 4 has a page" page 4 "$tap_dir/stage-4.html"
small() { for f in "$tap_dir"/*.html; do [ "$(stat -c %s "$f")" -lt 3000000 ] || { stat -c "%n %s" "$f"; return 1; }; done; }
check "a long launch has one, too" page 1 "$tap_dir/long.html" --seqlen 1024 --no-check
check "each is smaller than 3 MB" small
cut_short() { grep -q '"shown":\([0-9]*\),"whole":\1[0-9]' "$tap_dir/long.html" || python3 - "$tap_dir/long.html" <<'P'
import re, sys
shown, whole = map(int, re.search(r'"shown":(\d+),"whole":(\d+)', open(sys.argv[1]).read()).groups())
assert 1000 < shown < whole, (shown, whole)
P
}
check "of a long launch the first part is kept" cut_short

# Its own program: the kernel that is asked for.
own() { "$build/run" --quiet --kernel-name tiled --watch-page "$tap_dir/own.html" "$build/examples/sgemm" && grep -q '"title":"sgemm_tiled' "$tap_dir/own.html"; }
names() { "$build/run" --kernel-name tiled --watch-page "$tap_dir/own.html" "$build/examples/sgemm" | grep -q "^$tap_dir/own.html: open it in a browser"; }
none() { ! "$build/run" --quiet --kernel-name nosuch --watch-page "$tap_dir/none.html" "$build/examples/sgemm" > "$tap_dir/said" 2>&1; [ ! -e "$tap_dir/none.html" ] && grep -q 'no page: ' "$tap_dir/said"; }
if [ -x "$build/examples/sgemm" ]; then
    check "a program of one's own has a page" own
    check "the run says where the page is" names
    check "a kernel that is not there has none, and a reason" none
else
    skip "a program of one's own has a page" "no $build/examples/sgemm: make examples"
fi

status "no folder for the page" 5 page 6 "$tap_dir/none/page.html"
status "two outputs into one file" 2 page 6 "$tap_dir/two" --json "$tap_dir/two"
full_disk "no room for the page" page 6 "$full"
quoted() { # a source line can not end the script
    ! sed -n '/^const data/,$p' "$tap_dir/stage-6.html" | sed '/^<\/script>$/,$d' | grep -n '</'
}
check "no source line ends the page's script" quoted

# A stage whose PTX computes a sine where it should compute 2^x: wrong, with a map of O.
copy=$build/tests/watch-wrong
spoilt() {
    mkdir -p "$copy/images" && cp -r "$build/images/stage-6" "$copy/images/" && cp "$build/stage-6" "$copy/" &&
        sed -i 's/ex2\.approx\.ftz\.f32/sin.approx.ftz.f32/' "$copy"/images/stage-6/*.ptx
}
check "a stage is spoilt" spoilt
wrong_page() { folder=$copy page 6 "$tap_dir/wrong.html"; }
status "a wrong answer has a page, and status 1" 1 wrong_page
rm -rf "$copy"

# A lab: its first mistake ends in a deadlock.
lab() {
    "$python" - "$tap_dir/lab" <<'P' && "$python" notebooks/course/watch.py 6 --source "$tap_dir/lab" --out "$tap_dir/deadlock.html"
import pathlib, sys
sys.path.insert(0, "notebooks/course")
import lab_folder, mistakes
folder = lab_folder.read(6)
pathlib.Path(sys.argv[1]).mkdir()
mistakes.make(folder, mistakes.read(folder)[0], pathlib.Path(sys.argv[1]))
P
    [ $? -eq 1 ] && [ -s "$tap_dir/deadlock.html" ]
}
lab_missing() { "$python" notebooks/course/watch.py 6 --source "$tap_dir/nowhere" --out "$tap_dir/x.html"; }
if [ -x "$python" ]; then
    check "a lab's kernel in a deadlock has a page, and status 1" lab
    status "a lab that is not begun has none" 2 lab_missing
else
    skip "a lab's kernel has a page" "no $python: make setup"
fi

# In a browser.
browser=$(command -v chromium chromium-browser google-chrome | head -n 1)
read_page() { # WANTED PAGE WIDTH
    { sed '/^<\/body>/,$d' "$2"; echo "<script>const wanted = '$1';</script><script>"; cat tests/watch/in_browser.js; echo "</script></body></html>"; } > "$tap_dir/tested.html"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tap_dir/chrome" --window-size="$3",1000 \
        --virtual-time-budget=60000 --dump-dom "file://$tap_dir/tested.html" 2> /dev/null > "$tap_dir/dom"
    sed -n '/<pre id="said">/,/end of /p' "$tap_dir/dom" | sed 's/<pre id="said">//'
    grep -q '^end of ' "$tap_dir/dom" && ! grep -q '^not ok\|<pre id="said">not ok' "$tap_dir/dom"
}
if [ -z "$browser" ]; then
    skip "the pages in a browser" "no chromium here: apt-get install chromium"
else
    for p in stage-6 stage-4 wrong deadlock; do
        [ ! -s "$tap_dir/$p.html" ] || check "$p in a browser" read_page "$p" "$tap_dir/$p.html" 1280
    done
    [ ! -s "$tap_dir/own.html" ] || check "a program's page in a browser" read_page any "$tap_dir/own.html" 1280
    check "stage 6 on a narrow screen" read_page any "$tap_dir/stage-6.html" 500
    # The test must be able to fail: a swizzle that is not there, a lane too far.
    unswizzled() { sed 's/(at >> 7 \& mask) << 4/0/' "$tap_dir/stage-6.html" > "$tap_dir/broken.html" && ! read_page stage-6 "$tap_dir/broken.html" 1280 && grep -q 'not ok 128-byte swizzle' "$tap_dir/dom"; }
    lane_off() { sed 's/lane: r % 8 \* 4 + c % 8 \/ 2, registers: \[first + i, first/lane: r % 8 * 4 + c % 4, registers: [first + i, first/' "$tap_dir/stage-6.html" > "$tap_dir/broken.html" && ! read_page stage-6 "$tap_dir/broken.html" 1280 && grep -q 'not ok accumulators' "$tap_dir/dom"; }
    check "a swizzle that is drawn wrong is found" unswizzled
    check "an owner that is drawn wrong is found" lane_off
fi
tap_done
