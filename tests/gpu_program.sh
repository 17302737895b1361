#!/bin/bash
# build/run of programs on a GPU: what CUPTI counts of the examples, beside what the emulator does.
. tests/tap.sh
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
records=$tap_dir/records
counted() { # DEVICE EXAMPLE OPTIONS...
    "$build/run" --device "$1" --quiet --no-clock --json "$records/$2.$1" "${@:3}" "$build/examples/$2" > "$tap_dir/run" 2>&1 ||
        { cat "$tap_dir/run"; false; }
}
mkdir -p "$records"
for example in sgemm softmax transpose reduction wgmma_gemm; do
    if [ ! -x "$build/examples/$example" ]; then skip "$example" "it is not built: make examples"; continue; fi
    check "$example on the emulator" counted emu $example
    check "$example on the GPU" counted cuda $example --counters TENSOR,OCCUPANCY,MEMORY,CYCLES
    check "$example: the same launches, and counts that do not depend on SASS" python3 - "$records/$example" << 'PYTHON'
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
done
tap_done
