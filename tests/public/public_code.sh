#!/bin/bash
# public_code.sh llmc=DIR sgemm_cuda=DIR fastcu=DIR learncuda=DIR samples=DIR [ONLY]: builds the CUDA programs of these
# repositories, as they are, with runtime/attnlab-nvcc, runs each under build/run, and prints a table for each:
# tests/public/public_code.txt. Fetches nothing. ONLY: an extended regular expression on "repository/program arguments".
#
#   status    of the program: 0 if it found its own results right and no check of the emulator failed
#   wall, cpu seconds of the run; a program that would take all cores for 600 s is stopped after CPU=1200 (two cores),
#             and after WALL seconds if that is said
#   launches  run, and made: --repeats 1 leaves out repetitions for timing, OPTIONS="--repeats 0" all that nobody looks at
#   failed    checks; after it the first line of what went wrong, or of what the program says of its result
#
# KEEP=DIR keeps the programs there and uses what it finds. BUILD=build.
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}") cpu=${CPU:-1200} stop=${WALL:+timeout $WALL} work=$(mktemp -d) only=.
keep=${KEEP:-$work}
trap 'rm -rf "$work"' EXIT
for word in "$@"; do [[ $word == *=* ]] || only=$word; done
row() { printf '%-36s %-12s %6s %7s %7s %9s %6s  %s\n' "$@"; }

header() { # NAME FOLDER FLAGS...: the section's first lines
    local name=$1 folder=$2
    shift 2
    printf '# %s %s; build/run %s, %s cores, %s\n# compiled with: attnlab-nvcc %s\n' "$name" \
        "$(git -C "$folder" log -1 --format='%h (%cs)' 2> /dev/null || echo '(not a checkout)')" "$(git log -1 --format=%h)" \
        "$(nproc)" "$(date -u +%F)" "${*//$folder/$name}"
    row program arguments status wall cpu launches failed said
}

compile() { # NAME FLAGS AND SOURCES...: $program; else a row that says why not
    local name=$1
    shift
    program=$keep/${name//\//-}
    [ -x "$program" ] && return
    nice runtime/attnlab-nvcc -O3 -o "$program" "$@" > "$work/err" 2>&1 && return
    row "$name" - build - - - - "$(grep -m1 -E 'error|fatal' "$work/err" | cut -c1-110)"
    return 1
}

run() { # NAME FOLDER ARGS...
    local name=$1 folder=$2 status wall=0 spent=0
    shift 2
    [[ "$name $*" =~ $only ]] || return 0
    rm -f "$work/r.jsonl"
    (cd "$folder" && ulimit -t "$cpu" && bash -c 'TIMEFORMAT="%R %U %S"; time "$@"' time $stop "$build/run" --device emu --repeats 1 \
        ${OPTIONS:-} --json "$work/r.jsonl" "$program" "$@") > "$work/out" 2> "$work/err" < /dev/null
    status=$?
    read -r wall spent < <(tail -n 1 "$work/err" | awk 'NF == 3 {print $1, $2 + $3}')
    local facts said
    facts=$(python3 -c '
import json, sys
try: r = json.loads(open(sys.argv[1]).read())
except (OSError, ValueError): r = {}
l = [x for k in r.get("kernels", []) for x in k["launches"]]
print(f"""{sum(x["emulator_s"] > 0 for x in l)}/{r.get("launches", len(l))} {sum(not x.startswith("note") for x in r.get("reports", []))}""" if r else "- -")' "$work/r.jsonl")
    said=$(grep '^run: ' "$work/err" | grep -v -m1 '^run: note' | cut -c6-)
    sed -i '/^run: emulator/,$d' "$work/out" # what the program says
    [ -n "$said" ] || said=$(grep -m1 -iE 'error|mismatch|wrong|fail|diverge' "$work/out")
    [ -n "$said" ] || said=$(grep -iE 'match|pass|right|correct' "$work/out" | tail -n 1)
    [ -n "$said" ] || said=$(grep . "$work/out" | tail -n 1)
    [ $status -ne 124 ] || said="stopped after $WALL s; ${said:-nothing said until then}"
    [ $status -lt 128 ] || said="stopped after $cpu s on the processor; ${said:-nothing said until then}"
    row "$name" "$*" $status "${wall:--}" "${spent:--}" $facts "${said:0:150}"
}

llmc() { # FOLDER
    local flags=(--use_fast_math -std=c++17 -Xcompiler -fopenmp -lcublas -lcublasLt) source name
    header llmc "$1" "${flags[@]}"
    for source in "$1"/dev/cuda/*.cu; do
        name=llmc/$(basename "$source" .cu)
        [[ $name == */nccl_* ]] && continue
        kernels=$(sed -n '/switch *(kernel_num)/,/default:/p' "$source" | sed '/ENABLE_CUDNN/,/#endif/d' | grep -oE 'case [0-9]+' | cut -c6-)
        for k in ${kernels:-""}; do [[ "$name $k" =~ $only ]] && break; done || continue
        compile "$name" "$source" "${flags[@]}" || continue
        for k in ${kernels:-""}; do run "$name" "$1/dev/cuda" $k; done
    done
}

sgemm_cuda() {
    local flags=(-std=c++20 -I"$1/src" -lcublas)
    header SGEMM_CUDA "$1" "${flags[@]}"
    compile sgemm_cuda "${flags[@]}" "$1/sgemm.cu" "$1/src/runner.cu" || return
    for k in {0..12}; do run sgemm_cuda "$1" $k; done
}

# Its matmul runs all kernels at 8192: tests/public/public_matmul.cu calls one, at 2048.
fastcu() {
    local flags=(-std=c++17 -DNDEBUG -w --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math -I"$1" -lcublas -lcuda)
    header fastcu "$1" "${flags[@]}"
    compile fastcu/matmul -Xcompiler -fopenmp "${flags[@]}" tests/public/public_matmul.cu && for k in {1..12}; do run fastcu/matmul "$1" $k; done
    compile fastcu/sum "${flags[@]}" "$1/sum.cu" && run fastcu/sum "$1"
}

# Its programs are Python modules for PyTorch: tests/public/public_attention.cu calls their kernels instead.
learncuda() {
    local source
    header learn-cuda "$1" -I07_attention
    compile learn-cuda/attention -std=c++17 -I"$1/07_attention" tests/public/public_attention.cu "$1"/07_attention/attention_v?.cu &&
        for k in {1..5}; do run learn-cuda/attention "$1/07_attention" $k; done
    compile learn-cuda/matmul_simt "$1/02a_matmul_simt/main.cu" "$1/02a_matmul_simt/matmul.cu" &&
        for k in {1..7}; do run learn-cuda/matmul_simt "$1/02a_matmul_simt" $k; done
    compile learn-cuda/sum "$1/03_sum/main.cu" "$1/03_sum/sum.cu" && run learn-cuda/sum "$1/03_sum"
}

samples() {
    local flags=(-std=c++17 -I"$1/Common" -lcuda -lcublas) sample name
    header cuda-samples "$1" "${flags[@]}"
    for sample in "$1"/Samples/*/*/; do
        name=samples/$(basename "$sample")
        compile "$name" "${flags[@]}" $(ls "$sample"*.cu "$sample"*.cpp "$sample"*.c 2> /dev/null) && run "$name" "$sample"
    done
}

for word in "$@"; do
    case $word in
        llmc=* | sgemm_cuda=* | fastcu=* | learncuda=* | samples=*) "${word%%=*}" "$(realpath "${word#*=}")" ;;
        *=*) echo "public_code.sh: what is ${word%%=*}? see its first lines" >&2; exit 2 ;;
    esac
done
