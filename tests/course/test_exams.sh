# The exams: solutions full, the empty signature not, wrong kernels lose, cheats have nothing (tests/course/exams/run.py); what make
# says. A sample, unless it is named: make test TESTS=exams [LAB=exam-1].
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset MAKEFLAGS MFLAGS # of the make that runs this
needs_grader exams
refused() { # STATUS TEXT COMMAND...: one line
    local status=$1 text=$2
    shift 2
    "$@" > "$tap_dir/out" 2> "$tap_dir/err"
    [ $? -eq "$status" ] && [ "$(wc -l < "$tap_dir/err")" -eq 1 ] && grep -q -e "$text" "$tap_dir/err" || { cat "$tap_dir/err"; false; }
}
exam() { BUILD=$build .venv/bin/python notebooks/course/exams/exam.py "$@"; }
launch() { "$build/run" --quiet --no-predict "$build/exams/launch" "$@"; }
one=notebooks/course/exams/1
check "no such exam" refused 2 "there is no exam-9: there are exam-1" exam check exam-9
check "no such folder" refused 2 "gemm.cu is missing: .make exam-1. makes it" exam check exam-1 --source "$tap_dir"
check "make: no such exam" refused 2 "there is no exam-9; there are exam-1" make -n exam-9 check
check "make: two exams" refused 2 "name one exam" make -n exam-1 exam-2 check
check "make: no verb of an exam's" refused 2 "exam-1 has no ladder" make -n exam-1 ladder
check "grade: a seed is wanted" refused 2 "a word that students do not know" env -u SEED LAB=exam-1 SUBMISSION=$one/gemm.cu notebooks/course/grade/grade.sh
beside() { # in exam 3 times are stage 4's
    mkdir -p "$tap_dir/three/ada/exam-3" && echo '{"score": 100, "seed_id": "s", "time": {"us": 15, "our_us": 20, "how": "predicted"}}' > "$tap_dir/three/ada/exam-3/grade.json" &&
        .venv/bin/python notebooks/course/grade/board.py exam-3 --grades "$tap_dir/three" --out "$tap_dir/three.html" > "$tap_dir/three.txt" && grep -q 'us times stage 4  points' "$tap_dir/three.txt" && grep -q '<th>times stage 4<th>' "$tap_dir/three.html"
}
check "board: exam 3's kernels stand beside stage 4" beside
refused_board() { refused 2 "nothing is graded of exam 1" .venv/bin/python notebooks/course/grade/board.py exam-1 --grades "$tap_dir"; }
check "board: nothing is graded" refused_board
graded() { # STUDENT SCORE US HOW SEED
    mkdir -p "$tap_dir/$1/exam-1"
    echo "{\"score\": $2, \"seed_id\": \"$5\", \"time\": $([ "$3" = none ] && echo null || echo "{\"us\": $3, \"our_us\": 20, \"how\": \"$4\"}")}" > "$tap_dir/$1/exam-1/grade.json"
}
board() { .venv/bin/python notebooks/course/grade/board.py exam-1 --grades "$tap_dir" --out "$tap_dir/board.html" "$@" > "$tap_dir/board.txt"; }
graded ada 100 20.0 predicted s && graded bob 90 10 predicted s && graded '<b>cem' 90 20.01 predicted s && graded dora 0 none - s
ranks() { board && [ "$(awk '/^ +[0-9]/ { printf "%s %s,", $1, $2 }' "$tap_dir/board.txt")" = "1 bob,2 ada,2 <b>cem," ] && grep -q ': 1$' "$tap_dir/board.txt"; }
check "board: by time, equal ones share a place, the wrong one has none" ranks
check "board: a name is text" bash -c "grep -q '&lt;b&gt;cem' '$tap_dir/board.html' && ! grep -q '<b>' '$tap_dir/board.html'"
unnamed() { board --anonymous w && ! grep -qE 'ada|bob|cem' "$tap_dir/board.txt" "$tap_dir/board.html" && grep -q ',ada' "$tap_dir/exam-1-names.csv"; }
check "board: no names" unnamed
graded ada 100 20.0 measured s
check "board: predicted and measured times are not compared" refused 2 "some times are predicted and some measured" board
graded ada 100 20.0 predicted t
check "board: nor those of two seeds" refused 2 "of several seeds" board
check "launch: no kernel" refused 2 "usage: launch exam-1" launch exam-1
check "launch: no sizes" refused 2 "64x64 is no problem: MxNxK" launch exam-1 x.ptx 64x64
check "launch: more than fits" refused 2 "from 1 to 8192 each" launch exam-1 x.ptx 100000x100000x8
check "launch: k is no multiple of 8" refused 2 "K a multiple of 8" launch exam-1 x.ptx 64x64x12
check "grade: no such exam" refused 2 "there is no exam-7" python3 notebooks/course/grade/grade.py --lab exam-7 --submission x.cu --seed s
shapes() { # that stage 4 takes its large tiles for, of 128 rows (stages/4-tuned/stage.c)
    for seed in $(seq 40); do "$build/trial-0" draw "$seed" full d128 | tr -d '\n' && echo || return 1; done > "$tap_dir/drawn"
    python3 - "$tap_dir/drawn" << 'P'
import json, sys
shapes = []
for line in open(sys.argv[1]):
    cases = json.loads(line)
    timed = [case for case in cases if case["kind"] in ("timed", "large", "clocked")]
    assert len(cases) == 13 and len({case["seed"] for case in timed}) == 3, cases
    found = {(case["batch"], case["heads"], case["kv_heads"], case["seqlen_q"], case["mask"]) for case in timed}
    assert len(found) == 1, found
    shapes += found
blocks = [batch * heads * -(-rows // 128) for batch, heads, _, rows, _ in shapes]
assert len(blocks) == 40 and all(3 * n >= 2 * 132 and n <= 2 * 132 for n in blocks), blocks
assert len(set(shapes)) > 30 and {mask for *_, mask in shapes} == {0, 1}, shapes
P
}
check "exam 3: the seed draws a problem that fills a GPU, where stage 4 takes its large tiles" shapes
points_for_time() { # as fast as stage 4 is not faster
    python3 - << 'P'
import sys
sys.path[:0] = ["notebooks/course/grade"]
import grade
def left(lab, ratio):
    one = grade.Grade(grade.lab_folder.read(lab), "x", "s", "emu")
    grade.grade_ratio(one, 100 * ratio, 100, "predicted for h200")
    return round(grade.TIME - sum(lost.points for lost in one.lost), 2)
assert [left("exam-3", r) for r in (0.5, 0.95, 0.96, 1, 2, 10)] == [10, 10, 4.98, 4.89, 3.42, 0]
assert [left("exam-1", r) for r in (0.95, 1.2, 10)] == [10, 10, 0] and 8 < left("exam-1", 1.5) < 9.5
P
}
check "exam 3: points for time want a lead of 5 %" points_for_time
products() { # counted in FLOP: half as many instructions, twice as wide, are as many
    python3 - << 'P'
import sys
sys.path[:0] = ["notebooks/course/grade"]
import evidence
gemm = {"kind": "product", "m": 256, "n": 512, "k": 128, "lda": 128}
product = {"kind": "product", "n": 64, "k_steps": 4}
plain = {"kind": "plain", "batch": 2, "heads": 3, "seqlen_q": 128, "seqlen_k": 256, "head_dim": 64}
def report(hgmma, flop, hmma=0, v=True):
    return {"counts": {"hgmma_instructions": hgmma, "hmma_instructions": hmma}, "tensor_flop": flop, "products": {"drawn": {"v": v}}}
def signs(case, hgmma, flop, hmma=0, of=100, v=True):
    return [sign.why for sign in evidence._counted(case, report(hgmma, flop, hmma), report(of, 1, v=v))]
whole = 2 * 256 * 512 * 128
assert not signs(gemm, 50, whole) and not signs(gemm, 200, whole) and not signs(gemm, 50, 0.96 * whole)
assert signs(gemm, 100, 0.94 * whole) and signs(gemm, 0, whole) == ["hgmma_instructions is 0"]
assert signs(gemm, 1, whole, hmma=whole // 4096) and not signs(gemm, 0, whole, hmma=whole // 4096, of=0)
assert not signs(product, 4, 2 * 64 * 64 * 64) and signs(product, 4, 64 * 64 * 64)
scores = 2 * 3 * 128 * 256 * 64 * 2
assert not signs(plain, 4, 2 * scores) and signs(plain, 4, scores) and not signs(plain, 4, scores, v=False)
assert not signs({**plain, "kind": "ragged"}, 4, scores)
P
}
check "the products are counted in FLOP, whatever the tiles" products
check "exam 3: other head dimensions are refused" refused 3 "exam 3 takes head_dim 128, not 64" "$build/stage-0" --device emu --quiet
problem() { make -n exam-3 run PROBLEM="--seqlen 300" | grep -q 'watch.py exam-3 --verb run $PROBLEM'; }
check "make: exam 3's problem is a stage's options" problem
secret() {
    python3 - << 'P'
import sys
sys.path[:0] = ["notebooks/course/grade"]
import handout
lab_folder = handout.lab_folder
for name in lab_folder.exams():
    exam = lab_folder.read(name)
    told = {line.strip() for line in exam.files[0].read_text().splitlines() if len(line.split("//")[0].strip()) > 40}
    told -= {line.strip() for line in (exam.path / exam.files[0].name).read_text().splitlines()}
    files = handout.exam_files(exam)
    assert len(told) > 10 and {"README.md", exam.files[0].name} <= {path.rpartition("/")[2] for path in files}
    bad = [path for path, data in files.items() for line in data.decode().splitlines() if line.strip() in told]
    assert not bad and handout.LEFT_OUT.match(str(exam.files[0])), bad
P
}
check "no archive has a line of a solution" secret
begins() { # a copy, so that nobody's my-labs is touched
    python3 -c 'import sys; sys.path.insert(0, "notebooks/course"); import start; sys.stdout.write(start.contents("exam-1")["README.md"])' > "$tap_dir/page" &&
        for link in $(grep -o '](../[^)]*)' "$tap_dir/page" | tr -d '()]'); do [ -e "notebooks/course/$link" ] || return 1; done && grep -q launch.cu "$tap_dir/page"
}
check "links of a student's page lead somewhere" begins
check "make help names exams" bash -c "make help | grep -q 'make exam-1' && make help exam-1 | grep -q mma.sync"
while IFS=$'\t' read -r result what how; do
    [[ $result == '#|'* ]] && echo "$result $what" && continue
    printf '%s\n' "$how" > "$tap_dir/how"
    tap_result "$what" "$([ "$result" = ok ] && echo 1 || echo 0)" "$tap_dir/how"
done < <(BUILD=$build .venv/bin/python tests/course/exams/run.py $THOROUGH $LAB)
check "kernels were tried" test "$tap_n" -gt 25
tap_done
