#!/bin/bash
# What make answers where it has nothing to do: a cause and what to do about it, before it builds anything.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED TESTS THOROUGH

refuses() { # STATUS PATTERN GOALS...: make's status is 2; the recipe's is in the line "Error STATUS", or 0: no recipe ran
    local status=$1 pattern=$2
    shift 2
    make BUILD="$build" "$@" > "$tap_dir/said" 2>&1
    local rc=$?
    cat "$tap_dir/said"
    [ $rc -eq 2 ] && grep -q -e "$pattern" "$tap_dir/said" || return 1
    [ "$status" -eq 0 ] || grep -q "Error $status\$" "$tap_dir/said"
}
check "a stage that is not there" refuses 0 "there is no stage-9; there are stage-1 " stage-9 run
check "options that a shell would take apart" refuses 2 "no option --causal;ls" stage-1 run "ARGS=--causal;ls"
check "a recorded run that a shell would take apart" refuses 0 "are names and numbers" stage-5 sweep "RECORDED=h200;ls"
check "a recorded run of two lines" refuses 0 "are names and numbers" stage-5 sweep "RECORDED=h200"$'\n'"ls"
check "a function of make's in its place" refuses 0 "are names and numbers" stage-5 sweep 'RECORDED=$(shell touch '"$tap_dir"'/made)'
check "options of two lines" make BUILD="$build" stage-1 run ARGS=$'--help\n--quiet' "DEVICE=emu"
make BUILD="$build" stage-1 run 'ARGS=$(shell touch '"$tap_dir"'/made)' $'DEVICE=emu\ntouch made' > /dev/null 2>&1
make BUILD="$build" stage-1 run ARGS="--help"$'\n'"touch $tap_dir/made" > /dev/null 2>&1
check "none of it was executed" [ ! -e "$tap_dir/made" ]

# Whatever a variable is set to, and wherever: no line of it becomes a command, no function is run.
refused_value() { # VARIABLE=VALUE...
    env "$@" make BUILD="$build" -s stage-1 run ARGS=--help > "$tap_dir/said" 2>&1
    [ $? -eq 2 ] && grep -q "are names and numbers" "$tap_dir/said" || touch "$tap_dir/made"
}
names="DEVICE J RECORDED WINDOW LINE ACCESS SWEEP_ARCH FUZZ_SECONDS"
for name in $names; do refused_value "$name="$'1\ntouch '"$tap_dir/made"; done
for value in '$(shell touch '"$tap_dir/made)" '`touch '"$tap_dir/made\`" "1;touch $tap_dir/made"; do
    all=()
    for name in $names; do all+=("$name=$value"); done
    refused_value "${all[@]}"
done
check "values of two lines, and functions, are refused" [ ! -e "$tap_dir/made" ]
for value in $'--help\ntouch '"$tap_dir/made" '--help $(shell touch '"$tap_dir/made)" '--help `touch '"$tap_dir/made\`" "--help;touch $tap_dir/made"; do
    env ARGS="$value" make BUILD="$build" -s stage-1 run DEVICE=emu > /dev/null 2>&1
    env PROBLEM="$value" make BUILD="$build" -s stage-1 compare RECORDED=h200 > /dev/null 2>&1
    env TESTS="$value" make BUILD="$build" -s -n test > /dev/null 2>&1
done
check "ARGS, PROBLEM and TESTS are not executed" [ ! -e "$tap_dir/made" ]
rm -f "$tap_dir/made"
check "a test that is not there, beside one that is" refuses 0 "there is no test nosuch" test TESTS="npy nosuch"
check "a stage without a sweep" refuses 2 "stage-6 has no sweep; these have: stage-4 stage-5" stage-6 sweep RECORDED=h200
check "a comparison that was not recorded" refuses 5 "there is no records/runs/none.jsonl; these can be drawn: .*h200\$" stage-1 compare RECORDED=none
check "only what it can draw is listed" [ "$(grep -c 'h200-hot\|h200-peers' "$tap_dir/said")" -eq 0 ]
check "it leaves no folder" [ ! -e results/compare-none ]
check "a line without a shared access" refuses 2 "makes no shared access at line 1 of stage-1; these lines make some: [1-9][0-9]* [1-9]" stage-1 banks LINE=1
check "a ladder that was not recorded" refuses 5 "no records/runs/none.jsonl" ladder RECORDED=none
check "a timeline that was not recorded" refuses 5 "no records/runs/none-timeline-6.tsv" stage-6 timeline RECORDED=none
check "it says which were" grep -q "recorded are: h200-timeline-6" "$tap_dir/said"
check "a timeline of no width" refuses 2 "WINDOW is a whole number" stage-6 timeline RECORDED=h200 WINDOW=0
check "fuzzing for no time" refuses 2 "FUZZ_SECONDS is a whole number" fuzz FUZZ_SECONDS=0
for n in 4 5; do
    check "a sweep of stage $n that was not recorded" refuses 5 "^stage-$n: there is no records/runs/none" stage-$n sweep RECORDED=none
    check "once" [ "$(grep -c "there is no" "$tap_dir/said")" -eq 1 ]
done
for verb in banks source timeline bench-emu peers-table; do
    check "stage 5 has no $verb" refuses 0 "stage-5 computes no attention (wgmma)" stage-5 $verb LINE=1
done
check "--banks of no line" refuses 2 "^stage-1: --banks takes" stage-1 banks LINE=9999999
check "and nothing else" [ "$(grep -c "shared access" "$tap_dir/said")" -eq 0 ]
load=$(grep -nF "q_d[i] = __half2float(" stages/1-scalar/kernel.cu | cut -d: -f1)
check "a shared access that a line has not" refuses 2 "makes [0-9]* shared accesses: ACCESS=0 to" stage-1 banks LINE="$load" ACCESS=99
check "peers that were not recorded" refuses 5 "there is no records/runs/none-peers.jsonl" stage-6 peers-table RECORDED=none
status "a table of what?" 1 python3 profiler/peers/peers_table.py


# ---- What it does
says() { # PATTERN GOALS...: make succeeds, and says so
    local pattern=$1
    shift
    make BUILD="$build" "$@" > "$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; return 1; }
    grep -q -e "$pattern" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
check "attention's options leave stage 5 out" says "left out, with options of their own: stage-5" -n run ARGS=--causal
check "stage 6 runs then" grep -q "$build/stage-6 " "$tap_dir/said"
check "DEVICE= is the default" says "stage 1-scalar" stage-1 run DEVICE= ARGS="--no-time --counters none"
silent() { make BUILD="$build" "$@" > "$tap_dir/said" 2>&1 && [ ! -s "$tap_dir/said" ] || { cat "$tap_dir/said"; false; }; }
check "a stage that is built needs no word" silent stage-1
check "stages without a recorded timeline are left out" says 'TABLES="records/runs/h200-timeline-6' -n timeline RECORDED=h200

# ---- What is refused before anything is built
check "a lab that is not there" refuses 0 "there is no lab 9 with a kernel: LAB is one of 1 2" grade LAB=9 SUBMISSION=my.cu SEED=x
check "no sed complains of it" [ "$(wc -l < "$tap_dir/said")" -eq 1 ]
check "a handout of it" refuses 0 "there is no lab 9 with a kernel" handout LAB=9
check "a chip that a verb does not use" refuses 0 "ladder does not use CHIP=h100: leave CHIP out" ladder CHIP=h100
check "a chip that there is not" refuses 2 "b200" stage-3 run CHIP=b200
check "it is not called another one" [ "$(grep -c h200 "$tap_dir/said")" -eq "$(grep -c b200 "$tap_dir/said")" ]
declare -A on=([steps]=6 [sweep]=5)
for verb in "source" "banks LINE=99" whatif timeline "compare PROBLEM=" sweep steps "against BASE=h200"; do
    check "CHIP reaches ${verb%% *}" says 'CHIP:+"--chip=$CHIP"' -n stage-${on[$verb]:-4} $verb CHIP=h100
done
check "a freeze of another chip is predicted" make BUILD="$build" -n freeze-predict CHIP=h100
check "and measured" make BUILD="$build" -n freeze-measure CHIP=h100
check "CHIP is the chip" says "NVIDIA L4\|l4" stage-1 run CHIP=l4 DEVICE=emu ARGS="--seqlen 64 --heads 1 --no-time --counters none"
for verb in "lab-1 check" handout report; do
    check "no .venv: $verb" refuses 0 "needs /none/python, which is missing: run make setup" $verb PYTHON=/none/python RECORDED=h200
    check "nothing is built for it: $verb" [ "$(wc -l < "$tap_dir/said")" -eq 1 ]
done
empty=$tap_dir/empty
check "a compiler that is not there" refuses 77 "there is no nvcc at NVCC=/none/nvcc: run make setup" NVCC=/none/nvcc BUILD="$empty" "$empty/images/stage-1/d64.compute_89.ptx"
check "it is named before anything is compiled" refuses 77 "there is no nvcc at NVCC=/none/nvcc" NVCC=/none/nvcc CUDA= BUILD="$empty" "$empty/common/base/npy.o"
check "stage 5 has no report" refuses 0 "stage-5 computes no attention" BUILD="$empty" stage-5 report
check "it is said before stage 5 is built" [ ! -e "$empty/stage-5" ]

# ---- Chosen tests build what they need
needs() { make -n BUILD="$empty" test TESTS="$1" > "$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; false; }; }
check "one C test" needs npy
check "needs its own program" grep -q "$empty/tests/test_npy" "$tap_dir/said"
check "and no stage, image or other test" [ "$(grep -cE 'nvcc .*-cubin|-o [^ ]*/stage-1 |-o [^ ]*/test_check ' "$tap_dir/said")" -eq 0 ]
check "a script" needs make
check "may need all" grep -q "$empty/stage-1 " "$tap_dir/said"
rm -rf "$empty"
make -n test > "$tap_dir/short" 2>&1
make -n test THOROUGH=all > "$tap_dir/whole" 2>&1
tests_in() { grep -oE '(build/tests|tests/[a-z]+)/test_[a-z0-9_]+' "$1" | sort -u | wc -l; }
check "make test leaves some out" grep -q -e '--left-out=tests/' "$tap_dir/short"
make -n BUILD="$empty" test > "$tap_dir/plan" 2>&1
check "its plan builds stages" grep -q "ld $empty/stage-1\"" "$tap_dir/plan"
check "and nothing that only those run" bash -c "! grep -qE 'ld $empty/(trial-|sass-|predict-)' '$tap_dir/plan'"
rm -rf "$empty"
check "THOROUGH=all leaves none out" bash -c "! grep -q -e '--left-out' '$tap_dir/whole'"
check "an example that is run is built first" bash -c "make -n BUILD='$empty' run PROGRAM='$empty/examples/sgemm 64' | grep -q 'nvcc $empty/examples/sgemm'"
check "a test that is named is run" bash -c "make -n test TESTS=labs | grep -q 'run.sh.* tests/course/test_labs.sh'"
summary() { # two programs that pass, one that is left out
    mkdir -p "$tap_dir/b"
    for n in 1 2; do printf 'echo "ok 1 - yes"; echo 1..1\n' > "$tap_dir/test_$n.sh"; done
    BUILD=$tap_dir/b tests/run.sh "$tap_dir"/test_[12].sh --left-out=tests/test_long.sh > "$tap_dir/said" && cat "$tap_dir/said"
    grep -q '^ *2/2 test_[12] ' "$tap_dir/said" && grep -q '^1 test program left out: make test THOROUGH=all' "$tap_dir/said" &&
        [ "$(tail -n 1 "$tap_dir/said")" = "2 passed, 0 failed, 0 skipped" ]
}
check "progress, and a count of what is left out" summary
several() { # two at a time, those that say that they are long first; of both sides of a meeting each waits for the other
    local meets='touch "$0.here"; for i in $(seq 300); do [ -e "$there" ] && break; sleep 0.1; done; [ -e "$there" ] && echo "ok 1 - met"; echo 1..1'
    for n in 3 4; do printf '# Thorough: long\nthere=%s.here\n%s\n' "$tap_dir/test_$((7 - n)).sh" "$meets" > "$tap_dir/test_$n.sh"; done
    printf 'echo "ok 1 - short"; echo "ok 2 - none # SKIP why"; echo "not ok 3 - no"; echo "# because"; echo "#| a table"; echo 1..3; exit 1\n' > "$tap_dir/test_0.sh"
    BUILD=$tap_dir/b TESTS_AT_ONCE=2 tests/run.sh "$tap_dir"/test_[034].sh > "$tap_dir/said"
    [ $? -eq 1 ] && [ "$(tail -n 1 "$tap_dir/said")" = "3 passed, 1 failed, 1 skipped" ] && grep -q '^ *[23]/3 test_0 .*1 passed, 1 FAILED, 1 skipped' "$tap_dir/said" &&
        grep -q '^    # because' "$tap_dir/said" && grep -q '^    a table' "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "tests run beside each other, long ones first" several
namesakes() {
    mkdir -p "$tap_dir/other" && cp "$tap_dir/test_1.sh" "$tap_dir/other/"
    BUILD=$tap_dir/b tests/run.sh "$tap_dir"/{,other/}test_1.sh 2>&1 | grep -q '^run.sh: two tests are called test_1,' && [ "${PIPESTATUS[0]}" -eq 2 ]
}
check "two tests of one name are refused" namesakes
troubled() { # one that dies, one that leaves a file, one that plans more
    printf 'kill -9 $$\n' > "$tap_dir/test_5.sh"
    printf 'touch "$TMPDIR/x"; echo "ok 1 - yes"; echo 1..1\n' > "$tap_dir/test_6.sh"
    printf 'echo "ok 1 - yes"; echo 1..2\n' > "$tap_dir/test_7.sh"
    BUILD=$tap_dir/b tests/run.sh "$tap_dir"/test_[567].sh > "$tap_dir/said" 2>&1
    [ $? -eq 1 ] && [ "$(tail -n 1 "$tap_dir/said")" = "2 passed, 3 failed, 0 skipped" ] && grep -q 'it ran no test' "$tap_dir/said" &&
        grep -q 'it left files behind: x' "$tap_dir/said" && grep -q 'it ran 1 of 2 tests' "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "one that dies, leaves a file or ends early is a failure" troubled
interrupted() { # Ctrl-C ends what runs, too
    printf 'exec sleep 98.%s\n' $$ > "$tap_dir/test_8.sh"
    python3 - "$tap_dir" $$ << 'P'
import os, signal, subprocess, sys, time
folder, mark = sys.argv[1:]
def sleeps():
    return subprocess.run(["pgrep", "-f", f"^sleep 98.{mark}$"], capture_output=True).returncode == 0
run = subprocess.Popen(["tests/run.sh", f"{folder}/test_8.sh"], env={**os.environ, "BUILD": f"{folder}/b"}, start_new_session=True,
                       stdout=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
until = time.monotonic() + 60
while not sleeps() and time.monotonic() < until:
    time.sleep(0.05)
begun = sleeps()
os.killpg(run.pid, signal.SIGINT)
status = run.wait(60)
while sleeps() and time.monotonic() < until:
    time.sleep(0.05)
sys.exit(not (begun and status == 130 and not sleeps()))
P
}
check "Ctrl-C" interrupted

# ---- One's own program and kernel
if [ -x "$build/run" ]; then
    check "KERNEL alone lists the kernels" says "^    sgemm_naive$" run KERNEL=examples/sgemm.cu DEVICE=emu
    check "and says how to run one" grep -q -e "--kernel" "$tap_dir/said"
    check "of PTX, too" says "^    attention" run KERNEL="$build/images/stage-1/d64.compute_89.ptx"
    check "a file without kernels" refuses 2 "has no kernel: nothing in it is declared __global__" run KERNEL=common/cuda/half.h
    check "a file that is not there" refuses 2 "there is no none.cu" run KERNEL=none.cu
    check "a program that launches no kernel" says "/bin/ls ended without launching a kernel" run PROGRAM=/bin/ls DEVICE=emu
fi

# ---- Doctor: tools before anything is built
doctor() { # PATTERN VARIABLE=VALUE...: on a fresh clone
    make BUILD="$tap_dir/fresh" doctor "${@:2}" > "$tap_dir/said" 2>&1
    grep -q -e "$1" "$tap_dir/said" && [ ! -e "$tap_dir/fresh/libattnlab.a" ] || { cat "$tap_dir/said"; false; }
}
check "doctor without a compiler builds nothing" doctor "^missing *compiler.*make setup installs gcc" CC=/none/gcc
check "it ends with a remedy" grep -q "Stages cannot be built here: run make setup" "$tap_dir/said"
for each in AVX2 jansson cmocka nvdisasm bubblewrap gnuplot jupyterlab nbclient; do
    check "doctor looks at $each" grep -qE "^(ok|missing) +$each" "$tap_dir/said"
done
check "doctor misses Python" doctor "^missing *python.*make setup" PYTHON=/none/python CC=/none/gcc
check "doctor misses nvcc" doctor "^missing *nvcc.*make setup" NVCC=/none/nvcc
if [ -x "$build/doctor" ]; then
    check "doctor: the emulator predicts times" says "^Stages run here, on the .*" doctor
    check "it does not say that there are none" bash -c "! grep -q 'no times' '$tap_dir/said'"
fi

# ---- What takes long says so; what was written is named
check "whatif of all stages says how long it takes" says "takes about a minute for each" -n whatif
check "a recorded timeline has a name of its own" says "^results/timeline-h200-stage-6.png" stage-6 timeline RECORDED=h200
check "compare ends with the picture to open" says "Open results/compare-h200/tensor.png. Next: make" -n compare RECORDED=h200
in_c() { # GOALS...: make in the C locale, where bytes above 127 are no letters
    LC_ALL=C make BUILD="$build" "$@" > "$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; false; }
}
for verb in help help-more doctor "ladder RECORDED=h200" "stage-6 peers-table RECORDED=h200" "stage-3 diff" "stage-6 steps RECORDED=h200" \
    "compare RECORDED=h200" "report RECORDED=h200" "stage-6 timeline RECORDED=h200" "stage-4 sweep RECORDED=h200" \
    "stage-1 source DEVICE=emu ARGS=--seqlen=64" "run KERNEL=examples/sgemm.cu"; do
    check "LC_ALL=C make $verb" in_c $verb
done

# Pictures of one stage: no values, no conflicts, a single reason for a gap.
drawn() { # PLOT STAGE: and gnuplot says nothing
    "$build/tabulate" --out "$tap_dir" --problem "B4 H16 S4096 D128" --stages "$2" "h200=records/runs/h200.jsonl" &&
        LC_ALL=C.UTF-8 gnuplot -e "dir = '$tap_dir'; out = '$tap_dir/$1'; term = 'svg'; problem = ''; ceilings = '$tap_dir/roofs'" "plots/$1.gp" > "$tap_dir/said" 2>&1 &&
        [ ! -s "$tap_dir/said" ] && grep -q "</svg>" "$tap_dir/$1.svg" || { cat "$tap_dir/said"; false; }
}
if command -v gnuplot > /dev/null; then
    plots/ceilings.sh h200 1980 > "$tap_dir/roofs"
    for stage in 1-scalar 4-tuned 5-wgmma; do
        for plot in tensor time tflops conflicts occupancy stalls roofline; do check "$plot of $stage alone" drawn $plot $stage; done
    done
    check "conflicts of a stage without records" drawn conflicts 7-none
fi

for n in 4 5; do
    status "no place for the sweep of stage $n" 5 $(echo stages/$n-*)/sweep/draw.sh records/runs/h200-stage-$n.jsonl /dev/null/no
done

# Two compares at once, in a tree of their own: the second waits, and says so.
tree=$tap_dir/tree
mkdir -p "$tree/results/compare" && ln -s "$PWD/plots" "$PWD/records" "$PWD/stages" "$PWD/profiler" "$tree" && ln -s "$(realpath "$build")" "$tree/build"
waits() {
    : > "$tap_dir/said"
    flock -F "$tree/results/compare/.lock" bash -c 'until grep -q "waits for another" "$1"; do sleep 0.1; done' - "$tap_dir/said" &
    until ! flock -n "$tree/results/compare/.lock" true; do sleep 0.1; done
    (cd "$tree" && DEVICE=emu timeout 120 plots/compare.sh stages/1-scalar --seqlen 64 --heads 1 > "$tap_dir/table" 2> "$tap_dir/said") || return
    cat "$tap_dir/said"
    wait
    grep -q "waits for another compare" "$tap_dir/said" && [ "$(grep -c '^[0-9]-' "$tap_dir/table")" -eq 1 ]
}
check "two compares at once" waits

# A compiler that says when it begins and ends; of a stage without images, it compiles each one once.
mkdir -p "$tap_dir/cuda/bin"
cat > "$tap_dir/cuda/bin/nvcc" << 'END'
#!/bin/bash
echo begins >> "${0%/*}/said"; sleep "${PAUSE:-1}"; echo ends >> "${0%/*}/said"
while [ "$1" != -o ]; do shift; done
echo made > "$2"
END
chmod +x "$tap_dir/cuda/bin/nvcc"
compiles() { # STAGE MOST-AT-ONCE IMAGES MAKE-OPTIONS...: in $tap_dir/built
    local stage=$1 most=$2 images=$3 at_once
    shift 3
    rm -f "$tap_dir/cuda/bin/said"
    cp -a "$build"/{common,emulator,profiler,stages,include,revision,libattnlab.a,"$stage",alone} "$tap_dir/built" || return
    OMP_NUM_THREADS=2 make BUILD="$tap_dir/built" NVCC="$tap_dir/cuda/bin/nvcc" "$stage" "$@" || return
    at_once=$(awk '/begins/ { n++; if (n > most) most = n } /ends/ { n-- } END { print most }' "$tap_dir/cuda/bin/said")
    echo "$at_once at once"
    [ "$at_once" -eq "$most" ] && [ "$(grep -c begins "$tap_dir/cuda/bin/said")" -eq "$images" ]
}
compiled() { # MOST-AT-ONCE MAKE-OPTIONS...
    rm -rf "$tap_dir/built"
    mkdir "$tap_dir/built" && compiles stage-3 "$1" 6 "${@:2}"
}
bf16() { # those for fp16 are there
    rm -rf "$tap_dir/built"
    mkdir -p "$tap_dir/built/images" && cp -a "$build"/images/{stage-4,*.mk} "$tap_dir/built/images" || return
    rm -f "$tap_dir/built/images/stage-4/"*-bf16.*
    PAUSE=0.1 compiles stage-4 2 "$(sed -n '/^bf16-images-stage-4 :=/,/[^\\]$/p' "$build/images/stage-4.mk" | grep -c /stage-4/)" ARGS="--dtype bf16"
}
check "what is not there is compiled on all cores" compiled 2
check "unless make is told how many" compiled 1 -j1
check "and each once" compiled 3 -j3
check "so are the images for bf16" bf16

# Ctrl-C reaches all of make's processes: the lock is the stage's own, so make waits for the stage
interrupted_make() {
    setsid make BUILD="$build" stage-1 source DEVICE=emu ARGS="--seqlen 8192" > "$tap_dir/said" 2>&1 &
    local group=$! stage
    until stage=$(pgrep -g $group -x stage-1) && grep -q '^SigCgt:.*[2367abef]$' "/proc/$stage/status" || ! kill -0 $group 2> /dev/null; do
        sleep 0.1 # until it has a handler for SIGINT
    done
    kill -INT -- -$group
    wait $group
    ! pgrep -g $group > /dev/null && grep -q "^stage-1: interrupted" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
if command -v pgrep > /dev/null && command -v setsid > /dev/null; then
    check "make ends after the stage that was interrupted" interrupted_make
else
    skip "make ends after the stage that was interrupted" "no pgrep or no setsid"
fi
tap_done
