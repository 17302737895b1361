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
# # Lab 5: one WGMMA, and what its mistakes look like
#
# One instruction: `wgmma.m64nNk16` multiplies A (64 x 16) by B (16 x N), both read from shared memory by the
# instruction itself. Read the head of [kernel.cu](../stages/5-wgmma/kernel.cu); for the layout and the descriptors, in a terminal,
# `build/stage-5 --explain`. An H200's measurements lie in `records/runs/`.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display

attnlab = Lab(5)

# %% [markdown]
# ## 1. Predict
#
# Replace each `None` by a number; `'0.44'` or `'440 ns'` will do. It is stored before anything runs, and
# compared further down.

# %% [markdown]
# **Cycles.** An SM's tensor cores do 4096 operations a clock, 2 for each multiply-add; its shared memory gives 128
# bytes a clock. With enough of them in flight the slower of the two decides. How many cycles for width N?

# %% answer: cycles
def cycles(n):
    return None
### BEGIN SOLUTION
def cycles(n):
    return max(2 * 64 * n * 16 / 4096, (64 * 16 + 16 * n) * 2 / 128)
### END SOLUTION
attnlab.predict("cycles_32", lambda: cycles(32))
attnlab.predict("cycles_64", lambda: cycles(64))
attnlab.predict("cycles_256", lambda: cycles(256))

# %% [markdown]
# **In flight.** One m64n64k16 that is waited for takes 78.4 cycles from issue to result, but occupies the tensor
# cores for 32. What is the least number under way that keeps them busy? And what is the peak of 132 SMs at 1.98 GHz,
# in TFLOPS?

# %% answer: flight
in_flight = None  # wgmma
peak_tflops = None  # TFLOPS
### BEGIN SOLUTION
in_flight = -(-78.4 // 32)
peak_tflops = 132 * 4096 * 1.98e9 / 1e12
### END SOLUTION
attnlab.predict("in_flight", in_flight)
attnlab.predict("peak_tflops", peak_tflops)

# %% [markdown]
# **A descriptor.** A lies K-major with rows of 128 bytes, swizzled by 128 (the default). The unit is 8 rows. What are
# the stride, in bytes, and what do bits 32 to 45 hold, which count in 16 bytes?

# %% answer: descriptor
stride_bytes = None  # bytes
stride_bits = None  # units
### BEGIN SOLUTION
stride_bytes = 8 * 128
stride_bits = stride_bytes // 16
### END SOLUTION
attnlab.predict("stride_bytes", stride_bytes)
attnlab.predict("stride_bits", stride_bits)

# %% [markdown]
# ## 2. Fill
#
# Open [kernel.cu](../stages/5-wgmma/kernel.cu) and [wgmma_fragment.h](../stages/5-wgmma/wgmma_fragment.h), in your folder `my-labs/5`, and write the parts that
# say `YOUR CODE HERE`: what wgmma must see, one product from fence to wait, and which element a register holds. In a
# terminal, `make lab-5 hint` gives a first hint, then a second and a third.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-5 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See

# %% points 1: cycles_32
sweep = attnlab.records("h200-stage-5")
measured = {r["problem"]["n"]: r["cycles"]["median"] for r in sweep if r["sweep"] == "n" and r["problem"]["a"] == "smem"}
attnlab.compare("cycles_32", measured[32])

# %% points 1: cycles_64
attnlab.compare("cycles_64", measured[64])

# %% points 1: cycles_256
attnlab.compare("cycles_256", measured[256])

# %% points 1: in_flight
attnlab.compare("in_flight")

# %% points 1: peak_tflops
attnlab.compare("peak_tflops")

# %% points 1: stride_bytes
attnlab.compare("stride_bytes")

# %% points 1: stride_bits
attnlab.compare("stride_bits")

# %%
for r in sweep:
    if r["sweep"] == "depth" and r["pipeline"]["group"] == 1 and r["problem"]["a"] == "smem":
        print(f"{r['pipeline']['depth'] + 1} in flight: {r['cycles']['median']:.2f} cycles each")
Image(filename=str(attnlab.make("stage-5/sweep.png", "stage-5", "sweep", "RECORDED=h200")), width=700,
      alt="Rate of WGMMA by the columns N of its product, measured on an H200: it grows up to N = 64 and is flat from there on")

# %% [markdown]
# Below N = 64 shared memory is the limit, from there on the tensor cores, at their full rate; mma.sync reaches about
# two thirds of it.
#
# ### Counters first, code later
#
# Four kernels of this course ran the same problem on an H200; here are their counters, without their names. Say which
# stage, 1, 2, 3, 4 or 6, each is, before you look at any code.

# %%
suspects = dict(zip("ABCD", attnlab.suspects()))
names = ["tensor_active_pct", "hmma_instructions", "hgmma_instructions", "shared_load_instructions", "ldmatrix_instructions",
         "cp_async_instructions", "bank_conflict_pct"]
print(f"{'':26}" + "".join(f"{suspect:>14}" for suspect in suspects))
for name in names:
    print(f"{name:26}" + "".join(f"{attnlab.text(record, name):>14}" for record in suspects.values()))

# %% answer: suspects
suspect_a = None  # stage
suspect_b = None  # stage
suspect_c = None  # stage
suspect_d = None  # stage
### BEGIN SOLUTION
suspect_a, suspect_b, suspect_c, suspect_d = 4, 2, 6, 3
### END SOLUTION
attnlab.predict("suspect_a", suspect_a)
attnlab.predict("suspect_b", suspect_b)
attnlab.predict("suspect_c", suspect_c)
attnlab.predict("suspect_d", suspect_d)

# %% points 1: suspect_a
attnlab.compare("suspect_a")

# %% points 1: suspect_b
attnlab.compare("suspect_b")

# %% points 1: suspect_c
attnlab.compare("suspect_c")

# %% points 1: suspect_d
attnlab.compare("suspect_d")

# %% [markdown]
# Now the code: `make stage-3 source DEVICE=emu`, in a terminal, has these counts beside the lines of stage 3. Which lines
# gave each one away? (Stage 6 comes with lab 6.)

# %% [markdown]
# ## 5. Explain
#
# In two sentences: why does a missing `fence.proxy.async` not show on a GPU, mostly? And why are two products under way
# too few to keep the tensor cores busy?

# %% explain: silence
silence = """
"""
attnlab.explain("silence", silence)

# %%
attnlab.score()
