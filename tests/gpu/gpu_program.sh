#!/bin/bash
# build/run of programs on a GPU: what CUPTI counts of the examples, beside what the emulator does.
. tests/tap.sh
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
records=$tap_dir/records
counted() { # DEVICE EXAMPLE OPTIONS...
    "$build/run" --device "$1" --quiet --no-predict --json "$records/$2.$1" "${@:3}" "$build/examples/$2" > "$tap_dir/run" 2>&1 ||
        { cat "$tap_dir/run"; false; }
}
mkdir -p "$records"
alike() { # NAME: the same launches, and counts that do not depend on SASS
    python3 - "$records/$1" << 'PYTHON'
import json, sys
emu, gpu = (json.loads(open(f'{sys.argv[1]}.{d}').read()) for d in ('emu', 'cuda'))
wrong = [k['name'] for k in emu['kernels']] != [k['name'] for k in gpu['kernels']]
for e, g in zip(emu['kernels'], gpu['kernels']):
    wrong |= len(e['launches']) != len(g['launches'])
    for n, (x, y) in enumerate(zip(e['launches'], g['launches'])):
        wrong |= any(x[f] != y[f] for f in ('grid', 'block', 'shared_bytes'))
        for f, most in (('global_sectors', .02), ('shared_wavefronts', None), ('tensor_instructions', 0), ('instructions', None)):
            far = abs(x[f] - y[f]) > (most or 0) * max(x[f], 1)
            print(e['name'], n + 1, f, x[f], y[f], 'WRONG' if far and most is not None else '')
            wrong |= far and most is not None
    na = [c['name'] for c in g['counters'] if 'na' in c]
    cycles = [c['value'] for c in g['counters'] if c['name'] == 'cycles_elapsed' and 'value' in c]
    print(e['name'], 'n/a:', *na, 'cycles', *cycles, 'registers', e.get('registers'), g.get('registers'))
    wrong |= e.get('registers') != g.get('registers')
sys.exit(wrong)
PYTHON
}
for example in sgemm softmax transpose reduction wgmma_gemm; do
    if [ ! -x "$build/examples/$example" ]; then skip "$example" "it is not built: make examples"; continue; fi
    check "$example on the emulator" counted emu $example
    check "$example on the GPU" counted cuda $example --counters TENSOR,OCCUPANCY,MEMORY,CYCLES
    check "$example: the same launches and counts" alike $example
done

# One kernel, without its program.
one() { # DEVICE OPTIONS...
    "$build/run" --device "$1" --quiet --no-predict --kernel sgemm_tiled --grid 4x4 --block 16x16 --arg 'f32[64x64]=normal' \
        --arg 'f32[64x64]=uniform' --arg "f32[64x64]=out:$tap_dir/$1.npy" --arg i32=64 "${@:2}" examples/sgemm.cu
}
if command -v "${NVCC:-nvcc}" > /dev/null; then
    check "one kernel on the emulator" one emu --json "$records/one.emu"
    check "and on the GPU: the same answer" one cuda --json "$records/one.cuda" --counters TENSOR,OCCUPANCY,MEMORY,CYCLES --expect "$tap_dir/emu.npy"
    check "its launch and counts, too" alike one
    status "another answer than expected" 1 one cuda --seed 2 --expect "$tap_dir/emu.npy"
    status "more shared memory than there is" 2 one cuda --shared 400000
    cat > "$tap_dir/few.cu" << 'CUDA'
__global__ void large(float *x) {
    extern __shared__ float s[];
    s[20000 + threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = 2 * s[20031 - threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) pair(unsigned *x) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    x[blockIdx.x] = rank;
}
__global__ void astray(int *x) { *x = *(volatile int *)8; }
CUDA
    few() { "$build/run" --device cuda --quiet --no-predict "$@" "$tap_dir/few.cu"; }
    check "98304 bytes of shared memory" few --kernel large --block 32 --shared 98304 --arg 'f32[32]=ramp'
    check "clusters that the kernel has of its own" few --kernel pair --grid 4 --arg 'u32[4]=out'
    astray() { few --kernel astray --arg 'i32[1]=zero' 2>&1 | grep CUDA_ERROR_; [ "${PIPESTATUS[0]}" -eq 4 ]; }
    check "a kernel that goes astray is the driver's failure" astray
else
    skip "one kernel" "no nvcc here"
fi
tap_done
