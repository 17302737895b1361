# The diary of checks that a student keeps and may hand in (notebooks/course/diary.py).
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED
. tests/tap.sh
step() { python3 notebooks/course/steps/step.py 1c --source "$tap_dir/1c.py"; }
log=$tap_dir/checks.jsonl
lines() { # NUMBER WORDS-OF-THE-LAST
    [ "$(wc -l < "$log")" -eq "$1" ] && tail -n 1 "$log" | grep -q "$2"
}
python3 -c "
import sys
sys.path[:0] = ['notebooks/course']
import strip
print(strip.strip(open('notebooks/course/steps/1c/hole.py').read()))" > "$tap_dir/1c.py"
open_hole() { ! step && lines 1 '"what": "step-1c", "result": "not yet", "seen": "nothing stands between the marks'; }
check "an open hole is noted" open_hole
wrong() { sed 's/seqlen_k - seqlen_q/seqlen_k/' notebooks/course/steps/1c/hole.py > "$tap_dir/1c.py" && ! step && lines 2 '"result": "not yet", "seen": ".*", "hint": "'; }
check "a wrong solution, what was seen and the hint" wrong
right() { cp notebooks/course/steps/1c/hole.py "$tap_dir/1c.py" && step && lines 3 '"result": "right"}'; }
check "a right one" right
unasked() { sed -i 's/^ANSWER = None/ANSWER = 7/' "$tap_dir/1c.py" && ! step && lines 4 '"result": "right", "seen": "the code is right, but 7 is not the answer'; }
check "a wrong answer to the question" unasked
full_diary() { ln -sf /dev/full "$log.full" && mv "$log.full" "$log" && cp notebooks/course/steps/1c/hole.py "$tap_dir/1c.py" && step 2> "$tap_dir/said" && grep -q '^note: this check is not in checks.jsonl: ' "$tap_dir/said"; }
if [ -c /dev/full ]; then check "without room for it, a check still checks" full_diary; fi

# A lab's, without compiling: its holes are open.
lab() {
    mkdir -p "$tap_dir/lab" && python3 - "$tap_dir/lab" <<'P'
import pathlib, sys
sys.path[:0] = ["notebooks/course"]
import start
for name, text in start.contents(1).items():
    (pathlib.Path(sys.argv[1]) / name).write_text(text)
P
    ! BUILD=$build .venv/bin/python notebooks/course/check.py 1 --source "$tap_dir/lab" > "$tap_dir/said" || return 1
    log=$tap_dir/lab/checks.jsonl
    lines 1 '"what": "lab-1", "result": "not yet", "seen": ".*still to be written'
}
check "a lab's check is noted" lab
asked() {
    mkdir -p "$tap_dir/my-labs" && mv "$tap_dir/lab" "$tap_dir/my-labs/1" && .venv/bin/python - "$tap_dir" <<'P' || return 1
import pathlib, sys
sys.path[:0] = ["notebooks/course"]
import hint
hint.ROOT = pathlib.Path(sys.argv.pop())
sys.argv += ["1"]
sys.exit(hint.main() or hint.main())
P
    log=$tap_dir/my-labs/1/checks.jsonl
    lines 3 '"result": "asked", "seen": "part 1, hint 2"}'
}
check "so are the hints that were asked for" asked

# What a class's page makes of diaries: minutes, pauses, what follows a pass.
worked() {
    python3 - <<'P'
import sys
sys.path[:0] = ["notebooks/course"]
import diary
def lines(*given):
    return "\n".join(f'{{"when": "2026-12-01T{h:02}:{m:02}:00+01:00", "what": "{what}", "result": "{result}"}}' for h, m, what, result in given).encode()
known = diary.read(lines((9, 0, "step-2a", "begun"), (9, 5, "step-2a", "not yet"), (9, 6, "lab-2", "begun"), (11, 0, "step-2a", "not yet"), (11, 3, "lab-2", "asked"),
                         (11, 10, "step-2a", "right"), (11, 20, "step-2a", "not yet"), (11, 21, "lab-2", "not yet")))
work = diary.work(known[4:] + known[:4])
step, lab = work["step-2a"], work["lab-2"]
assert (step.checks, step.minutes, step.passed, step.stuck) == (3, 12, True, False), step
assert (lab.checks, lab.asked, lab.minutes, lab.passed) == (1, 1, 4, False), lab
stuck = diary.work(diary.read(lines(*[(9, m, "step-2a", "not yet") for m in range(diary.STUCK)])))["step-2a"]
assert stuck.stuck and len(stuck.seen) == diary.STUCK
for bad in (b"[" * 100000, b'{"when": 1}', b"1" * 5000, lines((9, 0, "step-2A", "right")), lines((9, 0, "step-2a", "paid")), b'{"when": "0001-01-01T00:00:00+14:00", "what": "step-2a", "result": "right"}', b"\xff\0\n[]"):
    assert diary.read(bad) == [], bad[:60]
P
}
check "checks, minutes and who is stuck" worked
tap_done
