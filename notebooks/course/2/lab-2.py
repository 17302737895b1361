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
# # Lab 2: one product on the tensor cores
#
# You predict what WMMA replaces, write the product Q K^T with it, and find bank conflicts by arithmetic. Counts are
# made here, as a GeForce RTX 4090 would have them. A ratio of times is computed from counts. Where a time stands, the text
# says whether it was recorded on an H200 or is predicted for one.
#
# [Steps 2a to 2c](../notebooks/course/steps/README.md) prepare it, each in 5 to 15 minutes: `make step-2a` begins the first.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display
from collections import Counter

attnlab = Lab(2)

# %%
heads, seqlen, head_dim = 48, 256, 64


def count(stage, *options, chip="rtx4090"):
    return attnlab.count(stage, "--chip", chip, "--heads", heads, "--seqlen", seqlen, "--head-dim", head_dim, *options)

# %% [markdown]
# ## 1. Predict
#
# Replace each `None` by a number; `'0.44'` or `'440 ns'` will do. It is stored before anything runs, and
# compared further down.

# %% [markdown]
# **HMMAs.** An HMMA multiplies 16 x 16 by 16 x 8 numbers: 2048 multiply-adds by one warp. Q K^T has `Sq * Sk * D`
# multiply-adds for every head. How many HMMAs?

# %% answer: hmma
hmma = None  # HMMA
### BEGIN SOLUTION
hmma = heads * seqlen * seqlen * head_dim // 2048
### END SOLUTION
attnlab.predict("hmma", hmma)

# %% [markdown]
# **FMAs that are left.** In scalar code an FFMA of a warp is 32 multiply-adds. Stage 1 executes this many
# instructions on the FMA pipe. How many are left in stage 2, where Q K^T is gone?

# %%
stage1 = count("1-scalar")
print(f"stage 1: {stage1['fma_instructions']:.0f} on the FMA pipe, {stage1['instructions']:.0f} in all")

# %% answer: fma_left
fma_left = None  # instructions
### BEGIN SOLUTION
fma_left = stage1["fma_instructions"] - heads * seqlen * seqlen * head_dim // 32
### END SOLUTION
attnlab.predict("fma_left", fma_left)

# %% [markdown]
# **Amdahl.** If the two products were all that a kernel does, and one of them cost nothing, by what factor would the
# instructions fall?

# %% answer: amdahl
amdahl = None  # times
### BEGIN SOLUTION
amdahl = 1 / (1 - 0.5)
### END SOLUTION
attnlab.predict("amdahl", amdahl)

# %% [markdown]
# **Padding.** ldmatrix, which is what a WMMA load becomes, reads 8 rows of 16 bytes at a time. If a row begins
# `pitch` bytes after the one before, how many wavefronts do 8 rows take? (How many different words has the busiest
# bank to give? Byte a lies in bank a / 4 % 32.)

# %% answer: wavefronts
def wavefronts(pitch):
    return None
### BEGIN SOLUTION
def wavefronts(pitch):
    words = {(row * pitch + byte) // 4 for row in range(8) for byte in range(0, 16, 4)}
    return max(Counter(word % 32 for word in words).values())
### END SOLUTION
attnlab.predict("pitch_144", lambda: wavefronts(144))
attnlab.predict("pitch_128", lambda: wavefronts(128))

# %% [markdown]
# ## 2. Fill
#
# Open [kernel.cu](../stages/2-wmma-qk/kernel.cu), in your folder `my-labs/2`, and write the parts that say `YOUR CODE HERE`: Q's fragments, and
# the 16 rows of S that a warp computes. In a terminal, `make lab-2 hint` gives a first hint, then a second and a
# third.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-2 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See
#
# The counts of our stage 2, with padding and without.

# %% points 1: hmma
stage2, nopad = count("2-wmma-qk"), count("2-wmma-qk", "--image", "d64-nopad")
print(f"instructions, stage 1 over stage 2: {stage1['instructions'] / stage2['instructions']:.2f}")
attnlab.compare("hmma", stage2["hmma_instructions"])

# %% points 1: fma_left
attnlab.compare("fma_left", stage2["fma_instructions"])

# %% points 1: amdahl
attnlab.compare("amdahl")

# %% points 1: pitch_144
def for_8_rows(counts):  # an ldmatrix.x4 reads 4 times 8 rows; each needs one wavefront, the rest are conflicts
    return 1 + counts["bank_conflicts_ldmatrix"] / (4 * counts["ldmatrix_instructions"])
attnlab.compare("pitch_144", for_8_rows(stage2))

# %% points 1: pitch_128
attnlab.compare("pitch_128", for_8_rows(nopad))

# %% [markdown]
# The load of K without and with padding: each row is a lane's 16 bytes, a colour is a wavefront.

# %%
line = attnlab.line("2-wmma-qk", "load_matrix_sync(k_frag")
for image in ["d64-nopad", "d64"]:
    display(Image(filename=str(attnlab.make(f"banks/stage-2-{line}.png", "stage-2", "banks", f"LINE={line}",
                                            f"ARGS=--heads 1 --seqlen 64 --image {image}")), width=560,
                  alt=f"Bank map of the load of K, image {image}: each row is a lane's 16 bytes, a colour is a wavefront"))
for name, counts in [("with padding", stage2), ("without", nopad)]:
    print(f"{name:13} {counts['instructions']:9.0f} instructions, {counts['shared_wavefronts']:8.0f} wavefronts")

# %% [markdown]
# **What a conflict costs.** An SM serves one wavefront a clock and issues four instructions a clock. Of two resources
# side by side the slower one decides. By these counts, how many times as long should the kernel without padding take?

# %% answer: slowdown
slowdown = None  # times
### BEGIN SOLUTION
with_padding, without = (max(c["instructions"] / 4, c["shared_wavefronts"]) for c in [stage2, nopad])
slowdown = without / with_padding
### END SOLUTION
attnlab.predict("slowdown", slowdown)

# %% points 1: slowdown
attnlab.compare("slowdown")

# %%
slow, fast = (attnlab.recorded("2-wmma-qk", "B4 H16 S1024 D64", board)["samples"]["median_us"]
              for board in ["h200-stage-2-nopad", "h200"])
print(f"H200: {slow:.0f} us without, {fast:.0f} us with padding: {slow / fast:.2f}")

# %% [markdown]
# **Your kernel's time.** What it would take on an H200, predicted from its machine code, beside ours; the same as
# `make lab-2 see`. The most frequent waits say what to look at.

# %%
attnlab.see()

# %% [markdown]
# ## 5. Explain
#
# In two sentences: why is stage 2 not twice as fast as stage 1, and why does K, which the product needs transposed,
# need no transposing?

# %% explain: what_is_left
what_is_left = """
"""
attnlab.explain("what_is_left", what_is_left)

# %%
attnlab.score()
