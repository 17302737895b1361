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
# # Lab 4: a swizzle instead of padding
#
# S and P stay in registers now, and shared rows have no padding. You find the places of their chunks, and the order
# of fragments. The kernel is a rung of stage 4.
#
# [Steps 4a to 4d](../notebooks/course/steps/README.md) prepare it, each in 5 to 15 minutes: `make step-4a` begins the first.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display
from collections import Counter

attnlab = Lab(4)

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
# **Places.** A row of 128 bytes has eight chunks of 16. ldmatrix reads the same chunk of 8 rows. Give every chunk a
# place from 0 to 7, such that each row keeps all its chunks, and no two of the 8 rows of a chunk collide.

# %% answer: place
def place(row, chunk):
    return None
### BEGIN SOLUTION
def place(row, chunk):
    return chunk ^ row % 8
### END SOLUTION


def busiest():
    """Wavefronts for the worst chunk of 8 rows; 99 if a row loses a chunk."""
    places = [[place(row, chunk) for chunk in range(8)] for row in range(8)]
    if any(p is None for row in places for p in row):
        return None
    if any(sorted(row) != list(range(8)) for row in places):
        return 99
    return max(max(Counter(column).values()) for column in zip(*places))


attnlab.predict("places", busiest)

# %% [markdown]
# **ldmatrix for each HMMA.** An ldmatrix.x4 brings four 8 x 8 blocks: 16 x 16 of K or V, which serve two HMMAs of 16
# rows. Q is loaded once and hardly counts. How many ldmatrix for each HMMA?

# %% answer: per_hmma
per_hmma = None  # ldmatrix
### BEGIN SOLUTION
per_hmma = 0.5
### END SOLUTION
attnlab.predict("per_hmma", per_hmma)

# %% [markdown]
# **What remains.** An RTX 4090 has 128 SMs; each does 512 tensor FLOP (fp16 with fp32 sums) and 16 exponentials a
# clock. How many cycles do the products take on the whole chip, how many the exponentials, one for each element of S?
# And how many TFLOPS is the chip's peak, at 2.52 GHz?

# %% answer: bound
tensor_cycles = None  # cycles
exp_cycles = None  # cycles
peak_tflops = None  # TFLOPS
### BEGIN SOLUTION
tensor_cycles = 4 * heads * seqlen * seqlen * head_dim / 512 / 128
exp_cycles = heads * seqlen * seqlen / 16 / 128
peak_tflops = 128 * 512 * 2.52e9 / 1e12
### END SOLUTION
attnlab.predict("tensor_cycles", tensor_cycles)
attnlab.predict("exp_cycles", exp_cycles)
attnlab.predict("peak_tflops", peak_tflops)

# %% [markdown]
# ## 2. Fill
#
# Open [3-swizzle.cu](../stages/4-tuned/steps/3-swizzle.cu), in your folder `my-labs/4`, and write the parts that say `YOUR CODE HERE`: the place of
# a chunk, how to walk to the right from there, and the order of P's and V's fragments. In a terminal, `make lab-4
# hint` gives a first hint, then a second and a third.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-4 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See
#
# Counted for both chips now, half a minute in all.

# %% points 1: places
rung, last = count("4-tuned", "--image", "d64-3-swizzle"), count("4-tuned")
attnlab.compare("places", 1 + rung["bank_conflicts_ldmatrix"] / (4 * rung["ldmatrix_instructions"]))

# %% points 1: per_hmma
attnlab.compare("per_hmma", rung["ldmatrix_instructions"] / rung["hmma_instructions"])

# %% points 1: tensor_cycles
attnlab.compare("tensor_cycles", last["bound_tensor"])

# %% points 1: exp_cycles
attnlab.compare("exp_cycles", last["bound_mufu"])

# %% points 1: peak_tflops
attnlab.compare("peak_tflops")

# %%
print("row  place of chunks 0 to 7")
for row in range(8):
    print(f"{row:3}  ", *[place(row, chunk) for chunk in range(8)])
stages = {stage: count(stage) for stage in ["1-scalar", "2-wmma-qk", "3-wmma-pv"]} | {"4-tuned": last}
hopper = {stage: count(stage, chip="h200") for stage in stages}
Image(filename=str(attnlab.bounds({"rtx4090": stages, "h200": hopper})),
      alt="Cycles that each resource needs at least, stage by stage, on an RTX 4090 and on an H200; the longest bar is the limit")

# %% [markdown]
# On the RTX 4090 the tensor cores are the limit from stage 3 on: what remains is to keep them busy. On the H200 three
# bounds lie close together: issue, tensor cores by mma.sync (two thirds of what they can do), shared memory. Labs 5
# and 6 show what Hopper has for that.

# %% [markdown]
# **Your kernel's time.** What it would take on an H200, predicted from its machine code, beside ours; the same as
# `make lab-4 see`. The most frequent waits say what to look at.

# %%
attnlab.see()

# %% [markdown]
# ## 5. Explain
#
# In two sentences: why can `right()` not work if places are `(chunk + row) % 8`? And why does P never have to leave
# the registers?

# %% explain: why_xor
why_xor = """
"""
attnlab.explain("why_xor", why_xor)

# %%
attnlab.score()
