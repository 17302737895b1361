# Streams and the host: what nothing orders is found, what is ordered is silent (tests/runtime/run_streams.cu).
. tests/tap.sh
source=tests/runtime/run_streams.cu program=$tap_dir/streams
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "streams" "no nvcc here"
    tap_done
fi
check "it compiles" env BUILD=$build runtime/attnlab-nvcc -O2 -g -std=c++17 -o "$program" $source
run() { "$build/run" --device emu --quiet --no-predict "$@"; }

# PATTERN NAME: that, and nothing else, is reported
finds() {
    run "$program" "$2" > "$tap_dir/said" 2>&1
    [ $? -eq 1 ] && [ "$(grep -c '^run: race' "$tap_dir/said")" -eq 1 ] && grep -Eq -- "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
silent() { # NAME OPTIONS...
    run "${@:2}" "$program" "$1" > "$tap_dir/said" 2>&1 && ! grep '^run:' "$tap_dir/said"
}
check "what is ordered is silent" silent right
check "and runs as written" grep -qx '5 7 1' "$tap_dir/said"
while read -r name pattern; do
    check "$name" finds "$pattern" "$name"
done << 'E'
no_event twice in stream 2 reads byte 0 of an allocation of 65536, which kernel fill in stream 1 writes
event_too_early twice in stream 2 reads byte 0 .* fill in stream 1 writes
wrong_stream_waits twice in stream 2 reads byte 0 .* fill in stream 1 writes
memset_and_nonblocking fill in stream 1 writes byte 0 .* a memset in the default stream writes
copy_and_kernel twice in stream 2 reads byte 0 .* a copy in stream 1 writes
one_element fill in stream 2 writes byte 32768 .* fill in stream 1 writes
write_after_read fill in stream 2 writes byte 0 .* twice in stream 1 reads
graph_and_stream twice in stream 2 reads byte 0 .* fill in stream 1 writes
kernel_then_host host uses byte 400 .* fill in the default stream writes
host_writes host writes byte 800 .* twice in the default stream reads
host_after_other host uses byte 1200 .* fill in stream 1 writes
pinned_too_early host uses byte 1600 .* a copy in stream 1 writes
pinned_rewritten host writes byte 2000 .* a copy in stream 1 reads
constant_set a copy in stream 2 writes byte 0 of an allocation of 4, which kernel scale in stream 1 reads
mapped_too_early host uses byte 2400 of an allocation of 65536, which kernel fill in the default stream writes
freed_elsewhere cudaFreeAsync in stream 2 writes byte 0 of an allocation of 65536, which kernel fill in stream 1 writes
allocated_elsewhere a copy in stream 2 writes byte 0 .* cudaMallocAsync in stream 1 writes
variable_too_early host uses byte 0 of an allocation of 16, .* set_variable in the default stream writes
E
line() { # TEXT: the last report's place is the line with this text
    sed -n 's/.*; \(addr2line -e .*\) shows the line$/\1/p' "$tap_dir/said" > "$tap_dir/command"
    bash "$tap_dir/command" | grep -q "run_streams.cu:$(grep -nF -- "$1" $source | tail -1 | cut -d: -f1)\b"
}
check "the line is that of the host" line 'printf("%d\n", variable[0]);'
check "--no-races looks for none" silent no_event --no-races
compiles() { env BUILD="$build" runtime/attnlab-nvcc -O2 -std=c++17 -o "$tap_dir/$1" "${@:2}" -lcuda; }
check "graphs compile" compiles graphs tests/runtime/run_graphs.cu
check "graphs by hand and captured; each asynchronous call waits for its graph's launch" run "$tap_dir/graphs"
check "rules of CUDA's guide compile" compiles rules tests/runtime/run_rules.cu
check "a module compiles" compiles whole.fatbin -fatbin tests/runtime/run_rules.cu
head -c -1 "$tap_dir/whole.fatbin" > "$tap_dir/cut.fatbin"
head -c 1000 "$tap_dir/whole.fatbin" > "$tap_dir/half.fatbin"
rules() { run "$tap_dir/rules" "$tap_dir" > "$tap_dir/said" 2>&1 && grep -qx '0 wrong' "$tap_dir/said" || { cat "$tap_dir/said"; false; }; }
check "ids, events without time, lists of nodes, waits in a capture, cooperative launches that are too large, wrong frees, wrong sizes, modules that are cut" rules
said() { grep -q -- "$1" "$tap_dir/said" || { cat "$tap_dir/said"; false; }; }
check "cudaFree of pinned memory is named" said '^run: the free of 0x[0-9a-f]* failed: it is pinned memory of the host, which cudaFreeHost frees;'
check "cudaFreeHost of device memory is" said '^run: the free of 0x[0-9a-f]* failed: it is no memory of cudaMallocHost; cudaFree frees it;'
check "cudaFree of registered memory is" said '^run: the free of 0x[0-9a-f]* failed: it is registered memory, which cudaHostUnregister gives up;'
tap_done
