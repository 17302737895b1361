#!/bin/bash
# Asynchronous calls of the libraries that stand in for NVIDIA's look whether their stream is captured.
. tests/tap.sh
look() { python3 tests/house/asynchronous.py "$@"; }
mapfile -t sources < <(git ls-files 'runtime/shim/*.c')
check "sources were found" test "${#sources[@]}" -gt 10
check "each looks whether its stream is captured, or leaves that to another" look "${sources[@]}"
finds() { # NAME SOURCE
    printf '%s\n' "$2" > "$tap_dir/x.c"
    ! look "$tap_dir/x.c" > "$tap_dir/said" && grep -qx "$tap_dir/x.c: $1" "$tap_dir/said"
}
check "one that does not is found" finds cudaSetAsync 'cudaError_t cudaSetAsync(void *p,
                         cudaStream_t s) { /* graph_capturing(s) */
    if (p) { stream_enter(s); }
    return stream_leave(cudaSet(p));
}
int other(void) { return graph_capturing(0); }'
check "one that a macro makes, too" finds 'cublas##name##Async' '#define COPY(name) \
    EXPORT int cublas##name##Async(void *s) { \
        return copy(s); \
    }'
tap_done
