# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2: from scalar code to tensor cores, on Ada
#
# You predict what four kernels execute on a GeForce RTX 4090, and count it. No GPU is needed: the emulator runs
# the kernels here and now, as that chip would, and counts exactly. It has no clock, so nothing in this lab is a
# time, unless it says that it was recorded on an H200.
#
# Read [`stages/2-wmma-qk/kernel.cu`](../stages/2-wmma-qk/kernel.cu) first: it is lab 1's kernel with one product
# changed. Build the kernels with `make stage-1 stage-2 stage-3 stage-4`.
#
# Replace each `None` by your answer; the cell after it takes the count and compares.

# %%
from collections import Counter

from lab import attnlab
from IPython.display import Image, display

heads, seqlen, head_dim = 48, 256, 64  # stage 4 takes its large tile from 43 heads on


def count(stage, *options, chip="rtx4090"):
    return attnlab.count(stage, "--chip", chip, "--heads", heads, "--seqlen", seqlen, "--head-dim", head_dim, *options)


# %% [markdown]
# ## 1. How many tensor instructions?
#
# An HMMA multiplies 16 x 16 by 16 x 8 numbers: 16 * 8 * 16 multiply-adds by one warp. $QK^T$ and $PV$ have
# $S_q S_k D$ multiply-adds each, for every head. How many HMMA instructions do the two take?

# %% nbgrader={"grade": false, "grade_id": "hmma-answer", "locked": false, "schema_version": 3, "solution": true}
hmma = None
### BEGIN SOLUTION
hmma = 2 * heads * seqlen * seqlen * head_dim // (16 * 8 * 16)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "hmma", "locked": true, "points": 1, "schema_version": 3, "solution": false}
stage3 = count("3-wmma-pv")
counted = stage3["hmma_instructions"]
assert attnlab.check("HMMA of stage 3", hmma, counted, counted,
                     "two products, each heads * seqlen^2 * head_dim multiply-adds, 2048 at a time"), "hmma"

# %% [markdown]
# Exact, to the last instruction. On a GPU each stage checks its formula, too (the gate `instructions`): a kernel that
# executes more computes something twice, one that executes fewer leaves something out.
#
# ## 2. What the FMA pipe is rid of
#
# In scalar code an FFMA of a warp is 32 multiply-adds, one a lane. Stage 2 moves $QK^T$ to the tensor cores, stage 3
# $PV$, too; softmax stays as it was. Here is what stage 1 executes. How many FMA-pipe instructions are left in
# stages 2 and 3?

# %%
stage1 = count("1-scalar")
print(f"stage 1: {stage1['fma_instructions']:.0f} on the FMA pipe, {stage1['instructions']:.0f} in all")

# %% nbgrader={"grade": false, "grade_id": "fma-answer", "locked": false, "schema_version": 3, "solution": true}
fma_stage2 = None
fma_stage3 = None
### BEGIN SOLUTION
one_product = heads * seqlen * seqlen * head_dim // 32
fma_stage2 = stage1["fma_instructions"] - one_product
fma_stage3 = stage1["fma_instructions"] - 2 * one_product
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fma", "locked": true, "points": 2, "schema_version": 3, "solution": false}
stage2, stage4 = count("2-wmma-qk"), count("4-tuned")
for stage, answer, counts in [("stage 2", fma_stage2, stage2), ("stage 3", fma_stage3, stage3)]:
    counted = counts["fma_instructions"]
    assert attnlab.check(f"FMA pipe, {stage}", answer, counted, counted,
                         "stage 1's, less heads * seqlen^2 * head_dim / 32 for each product that moved"), stage

# %% [markdown]
# One HMMA replaces 64 FFMAs. What else changed:

# %%
stages = {"1-scalar": stage1, "2-wmma-qk": stage2, "3-wmma-pv": stage3, "4-tuned": stage4}
names = ["hmma_instructions", "fma_instructions", "shared_load_instructions", "ldmatrix_instructions",
         "shared_store_instructions", "instructions"]
print(f"{'':10} {'products on':>12} " + " ".join(f"{name.removesuffix('_instructions'):>12}" for name in names))
print(f"{'':10} {'tensor cores':>12}")
for stage, counts in stages.items():
    share = 100 * counts["hmma_instructions"] * 2048 / (2 * heads * seqlen * seqlen * head_dim)
    print(f"{stage:10} {share:11.0f}% " + " ".join(f"{counts[name]:12.0f}" for name in names))

# %% [markdown]
# The loads go with the FFMAs: a scalar product loads 12 values for 32 FFMAs, a 16 x 16 block of K comes by one
# ldmatrix. (Instruction totals are of PTX, before ptxas; HMMA, ldmatrix and shared accesses are what the hardware
# executes.)
#
# From stage 1 to 2 half of the products moved. If $QK^T$ and $PV$ were all that a kernel does, and one of two cost
# nothing, by what factor would the instructions fall? No kernel can do better (Amdahl's law).

# %% nbgrader={"grade": false, "grade_id": "amdahl-answer", "locked": false, "schema_version": 3, "solution": true}
limit = None
### BEGIN SOLUTION
limit = 1 / (1 - 0.5)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "amdahl", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("limit of stage 2", limit, 2, 2, "what is left is half: 1 / (1 - 1/2)"), "limit"
print(f"counted: {stage1['instructions'] / stage2['instructions']:.2f} from stage 1 to 2,",
      f"{stage2['instructions'] / stage3['instructions']:.2f} from 2 to 3,",
      f"{stage3['instructions'] / stage4['instructions']:.2f} from 3 to 4")

# %% [markdown]
# With both products gone the limit is gone, too: that is why stage 3 gains more than stage 2. Stage 4 has the same
# HMMAs as stage 3; most of what it saves is the way of S and P through shared memory.
#
# ## 3. Why rows have padding
#
# Shared memory has 32 banks of 4 bytes: byte $a$ lies in bank $a / 4 \bmod 32$. One wavefront takes one 4-byte word
# from each bank. ldmatrix, which is what a WMMA load becomes, reads 8 rows of 16 bytes at a time. If a row begins
# `pitch` bytes after the one before, how many wavefronts do 8 rows take? (Count how many different words the
# busiest bank has to give.)

# %% nbgrader={"grade": false, "grade_id": "wavefronts-answer", "locked": false, "schema_version": 3, "solution": true}
def wavefronts(pitch):
    return None


### BEGIN SOLUTION
def wavefronts(pitch):
    words = {(row * pitch + byte) // 4 for row in range(8) for byte in range(0, 16, 4)}
    return max(Counter(word % 32 for word in words).values())
### END SOLUTION


# %% [markdown]
# Rows of K are 64 fp16 long, 128 bytes; stage 2 pads them by 16. Its image `d64-nopad` is the same kernel without.

# %% nbgrader={"grade": true, "grade_id": "wavefronts", "locked": true, "points": 2, "schema_version": 3, "solution": false}
def for_8_rows(counts):  # an ldmatrix.x4 reads 4 times 8 rows; each needs one wavefront, the rest are conflicts
    return 1 + counts["bank_conflicts_ldmatrix"] / (4 * counts["ldmatrix_instructions"])


no_padding = count("2-wmma-qk", "--image", "d64-nopad")
for pitch, counts in [(144, stage2), (128, no_padding)]:
    counted = for_8_rows(counts)
    assert attnlab.check(f"pitch {pitch}", wavefronts(pitch), counted, counted,
                         "row r begins in bank r * pitch / 4 % 32 and takes 4 banks; rows in the same bank wait"), "pitch"

# %% [markdown]
# The first load of K, without and with padding: each row is a lane's 16 bytes, a colour is a wavefront.

# %%
line = attnlab.line("2-wmma-qk", "load_matrix_sync(k_frag")
for image in ["d64-nopad", "d64"]:
    display(Image(filename=str(attnlab.make(f"banks/stage-2-{line}.png", "stage-2", "banks", f"LINE={line}",
                                            f"ARGS=--heads 1 --seqlen 64 --image {image}")), width=420))

# %% [markdown]
# ## 4. What a conflict costs
#
# An SM serves one wavefront a clock and issues four instructions a clock. Of two resources that work side by side
# the slower one decides. So how many times as long should the kernel without padding take?

# %%
for name, counts in [("with padding", stage2), ("without", no_padding)]:
    print(f"{name:13} {counts['instructions']:9.0f} instructions, {counts['shared_wavefronts']:8.0f} wavefronts")

# %% nbgrader={"grade": false, "grade_id": "slowdown-answer", "locked": false, "schema_version": 3, "solution": true}
slowdown = None
### BEGIN SOLUTION
with_padding, without = (max(c["instructions"] / 4, c["shared_wavefronts"]) for c in [stage2, no_padding])
slowdown = without / with_padding
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "slowdown", "locked": true, "points": 1, "schema_version": 3, "solution": false}
counted = no_padding["bound_largest"] / stage2["bound_largest"]
assert attnlab.check("slowdown", slowdown, 0.99 * counted, 1.01 * counted,
                     "max(instructions / 4, wavefronts) without padding, divided by the same with"), "slowdown"
problem = "B4 H16 S1024 D64"
slow, fast = (attnlab.recorded("2-wmma-qk", problem, board)["samples"]["median_us"]
              for board in ["h200-stage-2-nopad", "h200"])
print(f"H200, {problem}: {slow:.0f} us without, {fast:.0f} us with padding: {slow / fast:.2f}")

# %% [markdown]
# 16 bytes a row decide which resource is the limit: issue with them, shared memory without.
#
# ## 5. A swizzle instead of padding
#
# Padding takes memory, and cp.async does not like it (stage 3's README). Stage 4 keeps rows of 128 bytes, eight
# chunks of 16 bytes each, and stores chunk $c$ of row $r$ at another place of the same row. ldmatrix reads the same
# chunk of 8 rows. Give every chunk a place from 0 to 7, such that each row keeps all its chunks and no two of the 8
# rows collide.

# %% nbgrader={"grade": false, "grade_id": "swizzle-answer", "locked": false, "schema_version": 3, "solution": true}
def place(row, chunk):
    return None


### BEGIN SOLUTION
def place(row, chunk):
    return chunk ^ row % 8
### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "swizzle", "locked": true, "points": 2, "schema_version": 3, "solution": false}
places = [[place(row, chunk) for chunk in range(8)] for row in range(8)]
lost = any(sorted(row) != list(range(8)) for row in places) if place(0, 0) is not None else False
worst = None if place(0, 0) is None else 99 if lost else max(max(Counter(column).values()) for column in zip(*places))
counted = for_8_rows(stage4)
assert attnlab.check("wavefronts with your places", worst, counted, counted,
                     "two chunks of a row share a place" if lost else
                     "the place of chunk c must differ in all 8 rows: let it depend on c and r, by ^ or +"), "swizzle"

# %%
print("row  place of chunks 0 to 7")
for row in range(8):
    print(f"{row:3}  ", *places[row])

# %% [markdown]
# Stage 4 uses `^`: with it a lane works out one address and reaches the others by XOR with constants
# ([swizzle.cuh](../stages/4-tuned/swizzle.cuh)).
#
# ## 6. How many CTAs fit?
#
# A CTA of these stages has 128 threads. An SM has 65536 registers. It has 100 KB (102400 bytes) of shared memory on
# Ada, 228 KB (233472) on Hopper, and each CTA takes 1024 bytes more than it asks for. How many CTAs does an SM hold?

# %% nbgrader={"grade": false, "grade_id": "blocks-answer", "locked": false, "schema_version": 3, "solution": true}
def blocks(registers_per_thread, shared_bytes, shared_per_sm):
    return None


### BEGIN SOLUTION
def blocks(registers_per_thread, shared_bytes, shared_per_sm):
    return min(65536 // (128 * registers_per_thread), shared_per_sm // (shared_bytes + 1024))
### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "blocks", "locked": true, "points": 2, "schema_version": 3, "solution": false}
hopper = {stage: count(stage, chip="h200") for stage in stages}
for stage in ["2-wmma-qk", "3-wmma-pv", "4-tuned"]:
    for chip, shared_per_sm, counts in [("Ada", 102400, stages[stage]), ("Hopper", 233472, hopper[stage])]:
        answer = blocks(counts["registers"], counts["shared_bytes"], shared_per_sm)
        assert attnlab.check(f"{stage}, {counts['registers']:.0f} registers, {counts['shared_bytes']:.0f} bytes, {chip}",
                             answer, counts["blocks_per_sm"], counts["blocks_per_sm"],
                             "whole CTAs only; the scarcer of registers and shared memory decides"), stage

# %% [markdown]
# Stage 3's shared memory was planned for Hopper, where 4 CTAs fit. On Ada one is left, 4 warps on an SM that could
# hold 48: nobody works while they wait. Stage 4 holds S and P in registers, and its 2 CTAs are the same on both
# chips: on Hopper registers are the limit, not shared memory.
#
# ## 7. Which bound remains?
#
# An RTX 4090 has 128 SMs. Each does 512 tensor FLOP (fp16 with fp32 sums, at half the rate that the L4 has) and 16
# exponentials a clock ([chip.c](../common/base/chip.c)). How many cycles do the products take on the whole chip, and how
# many the exponentials, one for each element of S?

# %% nbgrader={"grade": false, "grade_id": "bound-answer", "locked": false, "schema_version": 3, "solution": true}
tensor_cycles = None
exp_cycles = None
### BEGIN SOLUTION
tensor_cycles = 4 * heads * seqlen * seqlen * head_dim / 512 / 128
exp_cycles = heads * seqlen * seqlen / 16 / 128
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bound", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("tensor cycles", tensor_cycles, stage4["bound_tensor"], stage4["bound_tensor"],
                     "4 * heads * seqlen^2 * head_dim FLOP, over 512 a clock and 128 SMs"), "tensor"
assert attnlab.check("cycles for exponentials", exp_cycles, 0.95 * stage4["bound_mufu"], stage4["bound_mufu"],
                     "heads * seqlen^2 of them, over 16 a clock and 128 SMs"), "exp"

# %% [markdown]
# (The count has 3 % more: a few for each row, not for each element.) Now all resources, each as if it were alone, on
# both chips:

# %%
Image(filename=str(attnlab.bounds({"rtx4090": stages, "h200": hopper})))

# %% [markdown]
# On the RTX 4090 the tensor cores are the limit from stage 3 on, and in stage 4 nothing else comes near: what
# remains is to keep them busy, and no arrangement of loads can move this bound. It is the chip's peak. How many
# TFLOPS is that, at its 2.52 GHz?

# %% nbgrader={"grade": false, "grade_id": "peak-answer", "locked": false, "schema_version": 3, "solution": true}
peak_tflops = None
### BEGIN SOLUTION
peak_tflops = 128 * 512 * 2.52e9 / 1e12
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "peak", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("peak", peak_tflops, 164.5, 166, "SMs * FLOP a clock * clock"), "peak"

# %% [markdown]
# On the H200 the same kernel has three bounds close together: issue, tensor cores by mma.sync (which reaches two
# thirds of what they can do), shared memory. None of them can be lowered alone. Lab 3 shows what Hopper has for that.
#
# To go on: `chip="l4"` in `count`. Its tensor cores are twice as fast; which stage is the first that they bound?

# %%
print(f"{attnlab.right} of {attnlab.asked} right")
