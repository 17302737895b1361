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
# # Lab 1: what bounds scalar attention?
#
# You predict what stage 1 costs, write the heart of its kernel, and let counters say what bounds it. Read the head of
# [kernel.cu](../stages/1-scalar/kernel.cu) first: the picture of who owns what.
#
# [Steps 1a to 1d](../notebooks/course/steps/README.md) prepare it, each in 5 to 15 minutes: `make step-1a` begins the first.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display

attnlab = Lab(1)

# %% [markdown]
# ## 1. Predict
#
# Replace each `None` by a number; `'0.44'` or `'440 ns'` will do. It is stored before anything runs; the cell
# after it compares.

# %% [markdown]
# **The arithmetic.** Batch 1, 8 heads, 512 queries and keys, head_dim 64, fp16. Attention is two matrix products, S =
# Q K^T and O = P V, each `2 * Sq * Sk * D` operations a head. How many operations, and how many bytes must move at
# least, if Q, K and V are read once and O (fp16) and LSE (fp32, one a row) are written once?

# %% answer: work
flops = None  # FLOP
min_bytes = None  # byte
### BEGIN SOLUTION
flops = 4 * 8 * 512 * 512 * 64
min_bytes = 4 * 8 * 512 * 64 * 2 + 8 * 512 * 4
### END SOLUTION
attnlab.predict("flops", flops)
attnlab.predict("min_bytes", min_bytes)

# %% points 1: flops
attnlab.compare("flops")

# %% points 1: min_bytes
attnlab.compare("min_bytes")

# %% [markdown]
# **Two times, and the larger one.** An H200 has 132 SMs; each does 128 fp32 FMAs a clock (an FMA is 2 operations), at
# up to 1.98 GHz. Its memory moves 4.8 TB/s. How long would the arithmetic take at that rate, and how long the bytes?

# %% answer: bounds
fma_us = None  # us
memory_us = None  # us
### BEGIN SOLUTION
fma_us = flops / (132 * 128 * 2 * 1.98e9) * 1e6
memory_us = min_bytes / 4.8e12 * 1e6
### END SOLUTION
attnlab.predict("fma_us", fma_us)
attnlab.predict("memory_us", memory_us)

# %% points 1: fma_us
attnlab.compare("fma_us")

# %% points 1: memory_us
attnlab.compare("memory_us")

# %% [markdown]
# The larger is the floor: arithmetic, by far.
#
# **Loads for each FMA.** In the inner product, a thread loads 4 + 8 values from shared memory for 32 FMAs. A warp's
# load takes one wavefront, and an SM serves one a clock; its four schedulers issue four FMA warp instructions a
# clock. How many clocks do the loads of one step take, and how many the FMAs?

# %% answer: step
load_clocks = None  # clocks
fma_clocks = None  # clocks
### BEGIN SOLUTION
load_clocks = (4 + 8) / 1
fma_clocks = 32 / 4
### END SOLUTION
attnlab.predict("load_clocks", load_clocks)
attnlab.predict("fma_clocks", fma_clocks)

# %% points 1: load_clocks
attnlab.compare("load_clocks")

# %% points 1: fma_clocks
attnlab.compare("fma_clocks")

# %% [markdown]
# **What rescaling costs.** When a tile of 64 keys raises the maximum, each row of O, 64 wide, is multiplied by one
# number. The two products take 2 * 64 * 64 multiply-adds a row and tile. What share of them, in percent, are the
# multiplications that rescale O?

# %% answer: rescale_pct
rescale_pct = None  # %
### BEGIN SOLUTION
rescale_pct = 100 * 64 / (2 * 64 * 64)
### END SOLUTION
attnlab.predict("rescale_pct", rescale_pct)

# %% points 1: rescale_pct
attnlab.compare("rescale_pct")

# %% [markdown]
# **The grid.** One CTA for 64 rows of a head: how many CTAs, and for what share of 132 SMs, in percent, is there one?

# %% answer: grid
n_ctas = None  # CTAs
busy_sms_pct = None  # %
### BEGIN SOLUTION
n_ctas = 8 * 512 // 64
busy_sms_pct = 100 * n_ctas / 132
### END SOLUTION
attnlab.predict("n_ctas", n_ctas)
attnlab.predict("busy_sms_pct", busy_sms_pct)

# %% points 1: n_ctas
attnlab.compare("n_ctas")

# %% points 1: busy_sms_pct
attnlab.compare("busy_sms_pct")

# %% [markdown]
# ## 2. Fill
#
# Open [kernel.cu](../stages/1-scalar/kernel.cu), in your folder `my-labs/1`, and write the parts that say `YOUR CODE HERE`: the copy of a tile
# between two barriers, the mask, and softmax with what it does to earlier tiles. In a terminal, `make lab-1 hint`
# gives a first hint, then a second and a third.
#
# Three names that you need: `args` is described in [attention_args.h](../common/cuda/attention_args.h), with `scale_log2` and
# `diagonal`; `ex2(x)` is 2^x, in [ptx.cuh](../common/cuda/ptx.cuh); the 8 lanes of a row exchange by `__shfl_xor_sync`.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-1 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See
#
# Our kernel on an H200, recorded, and its counters. With `LAB_DEVICE=auto` before `make lab-1 notebook` it runs here
# instead.

# %%
record = attnlab.run("1-scalar")
measured_us = record.get("samples", {}).get("median_us") or attnlab.recorded("1-scalar")["samples"]["median_us"]
print(f"{measured_us:.1f} us")
for name in ["shared_wavefronts", "bank_conflict_pct", "tensor_instructions", "occupancy_theoretical_pct"]:
    print(f"{name:28} {attnlab.text(record, name)}")

# %% [markdown]
# What share of the measured time, in percent, is your floor?

# %% answer: share_pct
share_pct = None  # %
### BEGIN SOLUTION
share_pct = 100 * max(fma_us, memory_us) / measured_us
### END SOLUTION
attnlab.predict("share_pct", share_pct)

# %% points 1: share_pct
floor_us = attnlab.given["fma_us"] if attnlab.points.get("fma_us") else None  # your answer, once it is right
attnlab.compare("share_pct", floor_us and 100 * floor_us / measured_us)

# %% [markdown]
# Half of the chip idles at this size, whatever the kernel does. At B4 H16 S1024 D64 it does not: there the share says
# what the kernel itself leaves. The picture is of the tensor cores, which stage 1 leaves idle and later ones do not.

# %%
large = attnlab.recorded("1-scalar", "B4 H16 S1024 D64")["samples"]["tflops"]
peak = 132 * 128 * 2 * 1.98e9 / 1e12
print(f"{large:.1f} TFLOPS of {peak:.1f}: {100 * large / peak:.0f} %")
Image(filename=str(attnlab.draw("tensor")), width=700, alt="How busy the tensor cores are, stage by stage, in percent; 0 for stage 1")

# %% [markdown]
# **Your kernel's time.** What it would take on an H200, predicted from its machine code, beside ours; the same as
# `make lab-1 see`. The most frequent waits say what to look at.

# %%
attnlab.see()

# %% [markdown]
# ## 5. Explain
#
# In two sentences: which resource bounds stage 1, by which of your numbers, and what could lower its load? And why
# must the barrier at the top of the loop be there, though the first tile is right without it?

# %% explain: why_not_peak
why_not_peak = """
"""
attnlab.explain("why_not_peak", why_not_peak)

# %%
attnlab.score()
