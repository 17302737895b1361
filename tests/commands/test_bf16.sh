#!/bin/bash
# --dtype bf16: stages 4 and 6 are right on all inputs and on random problems, other stages refuse it, files hold
# bits, the record says it, and Python's forward takes it.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
. tests/commands/stages.sh
python=${PYTHON:-.venv/bin/python}
STAGES="4 6" device=emu
options="--dtype bf16"
stages_inputs "--seqlen-q 70 --seqlen-k 130 --heads 2 --kv-heads 1"
stages_shapes "--seqlen 300 --heads 1 --head-dim 128 --causal" "--seqlen-q 3 --seqlen-k 700 --heads 2 --head-dim 128" \
    "--seqlen 130 --heads 1 --head-dim 256 --strides 5" "--seqlen 0"
stages_sweep "${BF16_PROBLEMS:-8}"

quick="--device emu --seqlen 64 --heads 1 --no-time --counters none"
status "stage 1 takes fp16" 3 "$build/stage-1" $quick --dtype bf16
status "no such type" 2 "$build/stage-6" $quick --dtype fp32
status "an image for bf16, and fp16" 2 "$build/stage-6" $quick --image d64-split-bf16
check "an image by its short name" "$build/stage-4" $quick --quiet --dtype bf16 --image d64-small
check "an image by its whole name" "$build/stage-4" $quick --quiet --dtype bf16 --image d64-small-bf16

# What bf16 loses is eight times what fp16 loses; a kernel for the wrong type is far off.
error() { # OPTION...: log2 of the row error, rounded
    "$build/stage-4" $quick --quiet --json "$tap_dir/run.jsonl" "$@" > /dev/null &&
        python3 -c 'import json, math, sys; print(round(math.log2(json.loads(open(sys.argv[1]).readlines()[-1])["check"]["row_error"])))' "$tap_dir/run.jsonl"
}
check "fp16 is off by 2^-12 or so" [ "$(error)" -le -11 ]
check "bf16 is off by 2^-9 or so" [ "$(error --dtype bf16)" -ge -9 ]
check "the record says bf16, and only then" python3 - "$tap_dir/run.jsonl" <<'P'
import json, sys
fp16, bf16 = (json.loads(line)["problem"] for line in open(sys.argv[1]))
assert "dtype" not in fp16 and bf16["dtype"] == "bf16" and bf16["text"] == fp16["text"] + " bf16", (fp16, bf16)
P
mkdir "$tap_dir/wrong"
cp -r "$build/images" "$tap_dir/wrong/images" 2> /dev/null
cp "$build/stage-4" "$tap_dir/wrong"
for arch in compute_89.ptx compute_90a.ptx sm_90a.cubin; do
    cp "$build/images/stage-4/d64-small.$arch" "$tap_dir/wrong/images/stage-4/d64-small-bf16.$arch"
done
status "the kernel for fp16 is wrong for bf16" 1 "$tap_dir/wrong/stage-4" $quick --quiet --dtype bf16

check "files hold the bits, and O comes back so" $python - "$build" "$tap_dir" <<'P'
import subprocess, sys
import numpy as np
build, folder = sys.argv[1:]
rng = np.random.default_rng(1)
def bits(x): return (x.astype("<f4").view("<u4") >> 16).astype("<u2")
def value(b): return (b.astype("<u4") << 16).view("<f4")
q, k, v = (bits(rng.standard_normal((1, 2, 64, 64))) for _ in "qkv")
for name, x in zip("qkv", (q, k, v)): np.save(f"{folder}/{name}.npy", x)
subprocess.run([f"{build}/stage-6", "--device", "emu", "--dtype", "bf16", "--no-time", "--counters", "none", "--quiet",
                *(w for n in "qkv" for w in (f"--{n}", f"{folder}/{n}.npy")), "--out", f"{folder}/o.npy"], check=True)
s = value(q).astype("f8") @ value(k).astype("f8").swapaxes(2, 3) / 8
p = np.exp(s - s.max(-1, keepdims=True)); p /= p.sum(-1, keepdims=True)
o, wanted = value(np.load(f"{folder}/o.npy")), p @ value(v).astype("f8")
assert np.load(f"{folder}/o.npy").dtype == np.dtype("<u2")
error = np.linalg.norm(o - wanted) / np.linalg.norm(wanted)
assert 2**-11 < error < 2**-7, error
P
$python -c 'import numpy; numpy.save("'"$tap_dir"'/f.npy", numpy.zeros((1, 1, 64, 64), "<f2"))'
status "a file of fp16" 5 "$build/stage-6" --device emu --dtype bf16 --q "$tap_dir/f.npy" --k "$tap_dir/f.npy" --v "$tap_dir/f.npy"
tap_done
