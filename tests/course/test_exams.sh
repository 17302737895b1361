# The exams: solutions full, the empty signature not, wrong kernels lose, cheats have nothing (tests/course/exams.py); what make
# says. A sample, unless it is named: make test TESTS=exams [LAB=exam-1].
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset MAKEFLAGS MFLAGS # of the make that runs this
if ! command -v "${NVCC:-nvcc}" > /dev/null || [ ! -x .venv/bin/python ]; then
    skip exams "no nvcc or no .venv here: make setup"
    tap_done
fi
if ! bwrap --unshare-all --ro-bind / / --proc /proc true 2> /dev/null; then
    skip exams "no bubblewrap, or no namespaces for it: make setup"
    tap_done
fi
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
check "make: no verb of an exam's" refused 2 "ladder is nothing that an exam has" make -n exam-1 ladder
check "make: a seed is wanted" refused 2 "a word that students do not know" bash -c "make -s exam-1 grade 2>&1 | grep -v 'make: [*]' >&2; exit 2"
check "launch: no sizes" refused 2 "usage: launch exam-1" launch exam-1 x.ptx 64x64
check "launch: k is no multiple of 8" refused 2 "K a multiple of 8" launch exam-1 x.ptx 64x64x12
check "grade: no such exam" refused 2 "there is no exam-7" python3 notebooks/course/grade/grade.py --lab exam-7 --submission x.cu --seed s
check "make help names exams" bash -c "make help | grep -q 'make exam-1' && make help exam-1 | grep -q mma.sync"
while IFS=$'\t' read -r result what how; do
    [[ $result == '#|'* ]] && echo "$result $what" && continue
    printf '%s\n' "$how" > "$tap_dir/how"
    tap_result "$what" "$([ "$result" = ok ] && echo 1 || echo 0)" "$tap_dir/how"
done < <(BUILD=$build .venv/bin/python tests/course/exams.py $THOROUGH $LAB)
check "kernels were tried" test "$tap_n" -gt 25
tap_done
