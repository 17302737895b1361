#!/bin/bash
# public_code.sh llmc=DIR sgemm_cuda=DIR samples=DIR fastcu=DIR [ONLY]: builds the CUDA programs of these
# repositories, as they are, with runtime/attnlab-nvcc, runs each under build/run, and prints a table: what
# ran, its exit status, seconds, kernels launched, failed checks, the first line of what went wrong. Fetches
# nothing. ONLY: an extended regular expression on the names. TIMEOUT=600 seconds each, BUILD=build.
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build} work=$(mktemp -d) timeout=${TIMEOUT:-600}
trap 'rm -rf "$work"' EXIT
printf '%-34s %-10s %6s %8s %8s %6s  %s\n' program arguments status seconds launches failed said

compile() { # NAME FLAGS AND SOURCES...: 0, or a row that says why not
    local name=$1
    shift
    [[ $name =~ $only ]] || return 1
    nice runtime/attnlab-nvcc -O3 -o "$work/program" "$@" > "$work/err" 2>&1 && return
    printf '%-34s %-10s %6s %8s %8s %6s  %s\n' "$name" - build - - - "$(grep -m1 -E 'error|fatal' "$work/err" | cut -c1-110)"
    return 1
}
run() { # NAME FOLDER ARGS...
    local name=$1 folder=$2 begin end status
    shift 2
    begin=$(date +%s%N)
    (cd "$folder" && nice timeout "$timeout" "$here/$build/run" --device emu --repeats 1 --json "$work/r.jsonl" "$work/program" "$@") \
        > "$work/out" 2> "$work/err" < /dev/null
    status=$?
    end=$(date +%s%N)
    local facts
    facts=$(tail -n 1 "$work/r.jsonl" 2> /dev/null | python3 -c '
import json, sys
r = json.loads(sys.stdin.read() or "{}")
print(sum(len(k["launches"]) for k in r.get("kernels", [])), len(r.get("reports", [])))')
    rm -f "$work/r.jsonl"
    printf '%-34s %-10s %6s %8.1f %8s %6s  %s\n' "$name" "$*" $status "$(((end - begin) / 1000000))e-3" $facts \
        "$(grep -m1 '^run: ' "$work/err" | cut -c6-115)"
}

here=$PWD only=.
for word in "$@"; do [[ $word == *=* ]] || only=$word; done
for word in "$@"; do
    folder=${word#*=}
    case $word in
        llmc=*)
            for source in "$folder"/dev/cuda/*.cu; do
                name=$(basename "$source" .cu)
                case $name in nccl_*) continue ;; esac
                compile "llmc/$name" --use_fast_math -Xcompiler -fopenmp -lcublas -lcublasLt "$source" || continue
                n=$(grep -cE '^ *case [0-9]+:' "$source")
                for ((k = 1; k <= (n ? n : 1); k++)); do run "llmc/$name" "$folder/dev/cuda" $k; done
            done ;;
        sgemm_cuda=*)
            compile sgemm_cuda -I"$folder/src" "$folder/sgemm.cu" "$folder/src/runner.cu" -lcublas || continue
            for k in {0..12}; do run sgemm_cuda "$folder" $k; done ;;
        fastcu=*)
            for source in matmul sum; do
                compile "fastcu/$source" -std=c++17 -I"$folder" "$folder/$source.cu" -lcuda -lcublas && run "fastcu/$source" "$folder"
            done ;;
        samples=*)
            for sample in "$folder"/Samples/*/*/; do
                name=$(basename "$sample")
                compile "samples/$name" -std=c++17 -I"$folder/Common" $(ls "$sample"*.cu "$sample"*.cpp "$sample"*.c 2> /dev/null) -lcuda -lcublas && run "samples/$name" "$sample"
            done ;;
    esac
done
