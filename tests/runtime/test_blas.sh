# cuBLAS beside products, signals during one, and programs that end early (tests/runtime/run_blas.cu).
. tests/tap.sh
program=$tap_dir/blas
printf '#include <cublas_v2.h>\n' > "$tap_dir/header.cu"
if ! "${NVCC:-nvcc}" -M "$tap_dir/header.cu" > /dev/null 2>&1; then
    skip "cuBLAS" "no nvcc here, or no cublas_v2.h in this toolkit"
    tap_done
fi
check "it compiles" env BUILD=$build runtime/attnlab-nvcc -std=c++17 -o "$program" tests/runtime/run_blas.cu -lcublas -lcublasLt
run() { "$build/run" --device emu --no-predict "$@"; }
right() { run --quiet "$program" > "$tap_dir/said" 2>&1 && grep -qx '0 wrong' "$tap_dir/said" && ! grep '^run:' "$tap_dir/said" || { cat "$tap_dir/said"; false; }; }
check "vectors, sums, triangular systems, scalars in device memory, captured copies, a product of cuBLASLt in its stream, versions" right

# Each leaves one record with its launch and its status.
leaves() { # STATUS WHAT
    rm -f "$tap_dir/r.jsonl"
    run --quiet --json "$tap_dir/r.jsonl" "$program" "$2" > "$tap_dir/said" 2>&1
    [ $? -eq "$1" ] && [ "$(wc -l < "$tap_dir/r.jsonl")" -eq 1 ] && grep -q '"nothing"' "$tap_dir/r.jsonl" || { cat "$tap_dir/said"; false; }
}
check "_exit() leaves a record" leaves 7 _exit
check "_Exit() does" leaves 7 _Exit
check "a program that becomes another does" leaves 0 execv
check "a child that a fork made leaves none" leaves 0 fork

# A signal during a product of seconds: the report comes, and the status is the shell's.
ends() { # SIGNAL STATUS
    "$build/run" --device emu --no-predict "$program" long > "$tap_dir/said" 2>&1 &
    local pid=$! got begun
    for _ in $(seq 600); do grep -q begins "$tap_dir/said" && break; sleep 0.1; done
    sleep 0.3
    begun=$(date +%s%N)
    kill -s "$1" $pid
    wait $pid
    got=$?
    took=$((($(date +%s%N) - begun) / 1000000))
    [ $got -eq "$2" ] && grep -q '^run: .*interrupted' "$tap_dir/said" && [ $took -lt 3000 ] || { echo "status $got, $took ms"; cat "$tap_dir/said"; false; }
}
check "SIGTERM ends a product" ends TERM 143
tap_done
