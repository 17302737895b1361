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
# # Lab 3: both products, and copies ahead
#
# You predict what the second product saves and what fits into an SM, and write the ring of two tiles and P V on the
# tensor cores.
#
# [Steps 3a to 3c](../notebooks/course/steps/README.md) prepare it, each in 5 to 15 minutes: `make step-3a` begins the first.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display

attnlab = Lab(3)

# %%
heads, seqlen, head_dim = 48, 256, 64
stages = ["1-scalar", "2-wmma-qk", "3-wmma-pv"]


def count(stage, chip="rtx4090"):
    return attnlab.count(stage, "--chip", chip, "--heads", heads, "--seqlen", seqlen, "--head-dim", head_dim)


below = count("2-wmma-qk")
print(f"stage 2: {below['hmma_instructions']:.0f} HMMA, {below['fma_instructions']:.0f} on the FMA pipe")

# %% [markdown]
# ## 1. Predict
#
# Replace each `None` by a number; `'0.44'` or `'440 ns'` will do. It is stored before anything runs, and
# compared further down.

# %% [markdown]
# **Counts.** How many HMMAs has stage 3, and how many instructions are left on the FMA pipe?

# %% answer: counts
hmma = None  # HMMA
fma_left = None  # instructions
### BEGIN SOLUTION
hmma = 2 * heads * seqlen * seqlen * head_dim // 2048
fma_left = below["fma_instructions"] - heads * seqlen * seqlen * head_dim // 32
### END SOLUTION
attnlab.predict("hmma", hmma)
attnlab.predict("fma_left", fma_left)

# %% [markdown]
# **Copies.** A cp.async of a warp copies 32 times 16 bytes. A CTA copies its 64 rows of Q once, and for each of its
# tiles of 64 keys K and V. How many cp.async instructions?

# %% answer: cp_async
cp_async = None  # instructions
### BEGIN SOLUTION
cp_async = heads * (seqlen // 64) * (1 + 2 * seqlen // 64) * 64 * head_dim * 2 // 512
### END SOLUTION
attnlab.predict("cp_async", cp_async)

# %% [markdown]
# **How many CTAs fit?** 128 threads each. An SM has 65536 registers, and 100 KB (102400 bytes) of shared memory on
# Ada, 228 KB (233472) on Hopper; each CTA takes 1024 bytes more than it asks for. Stage 3 has 128 registers a thread
# and asks for 55552 bytes.

# %% answer: fit
ctas_ada = None  # CTAs
ctas_hopper = None  # CTAs
### BEGIN SOLUTION
ctas_ada = min(65536 // (128 * 128), 102400 // (55552 + 1024))
ctas_hopper = min(65536 // (128 * 128), 233472 // (55552 + 1024))
### END SOLUTION
attnlab.predict("ctas_ada", ctas_ada)
attnlab.predict("ctas_hopper", ctas_hopper)

# %% [markdown]
# **Barriers.** In the loop there is one `__syncthreads()`. It guards two things, K and V of this tile and the buffers
# of the next. How many would there be for each tile, if one buffer had to do for both (as in stage 2)?

# %% answer: barriers
barriers = None  # barriers
### BEGIN SOLUTION
barriers = 2
### END SOLUTION
attnlab.predict("barriers", barriers)

# %% [markdown]
# ## 2. Fill
#
# Open [kernel.cu](../stages/3-wmma-pv/kernel.cu), in your folder `my-labs/3`, and write the parts that say `YOUR CODE HERE`: the ring of two
# tiles, and alpha and P V. In a terminal, `make lab-3 hint` gives a first hint, then a second and a third.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-3 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See

# %% points 1: hmma
counts = {stage: count(stage) for stage in stages}
attnlab.compare("hmma", counts["3-wmma-pv"]["hmma_instructions"])

# %% points 1: fma_left
attnlab.compare("fma_left", counts["3-wmma-pv"]["fma_instructions"])

# %% points 1: cp_async
attnlab.compare("cp_async", counts["3-wmma-pv"]["cp_async_instructions"])

# %% points 1: ctas_ada
attnlab.compare("ctas_ada", counts["3-wmma-pv"]["blocks_per_sm"])

# %% points 1: ctas_hopper
attnlab.compare("ctas_hopper", count("3-wmma-pv", chip="h200")["blocks_per_sm"])

# %% points 1: barriers
attnlab.compare("barriers")

# %%
names = ["hmma_instructions", "fma_instructions", "shared_load_instructions", "ldmatrix_instructions",
         "shared_store_instructions", "instructions"]
print(f"{'':10} " + " ".join(f"{name.removesuffix('_instructions'):>12}" for name in names))
for stage, of in counts.items():
    print(f"{stage:10} " + " ".join(f"{of[name]:12.0f}" for name in names))

# %% [markdown]
# The loads go with the FMAs: a scalar product loads 12 values for 32 FMAs, a 16 x 16 block of K comes by one
# ldmatrix. (Instruction totals are of PTX, before ptxas; HMMA, ldmatrix and shared accesses are what the hardware
# executes.)
#
# What if your barrier were not there? The emulator runs our kernel so:

# %%
line = attnlab.line("3-wmma-pv", "all threads' parts have; all warps have read the other buffers")
print(attnlab.without("3-wmma-pv", line, "--heads", 1, "--seqlen", 256))

# %% [markdown]
# **Your kernel's time.** What it would take on an H200, predicted from its machine code, beside ours; the same as
# `make lab-3 see`. The most frequent waits say what to look at.

# %%
attnlab.see()

# %% [markdown]
# ## 5. Explain
#
# In two sentences: which accesses does the one barrier of the loop keep apart, on both of its sides? And why does
# `cp_async_wait<0>` have to come before it, not after?

# %% explain: which_barrier
which_barrier = """
"""
attnlab.explain("which_barrier", which_barrier)

# %%
attnlab.score()
