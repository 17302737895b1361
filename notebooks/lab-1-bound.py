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
# You predict how fast `stages/1-scalar` can be, look at how fast it is, and let the counters say why.
# Read [`stages/1-scalar/kernel.cu`](../stages/1-scalar/kernel.cu) first: it is one page.
#
# The lab replays a run on an H200 that lies in `plots/recorded/`. To run the stage yourself, start
# Jupyter with `LAB_DEVICE=auto` (a GPU if there is one, else the emulator, which counts but has no clock).
#
# Replace each `None` by your answer; the cell after it tells you at once whether it is right.

# %%
from lab import attnlab
from IPython.display import Image

# %% [markdown]
# ## 1. Count before you measure
#
# The problem: batch 1, 8 heads, 512 queries and keys, head_dim 64, fp16. Attention is two matrix products,
# $S = QK^T$ and $O = PV$, each $2 \cdot S_q S_k D$ operations a head.

# %% nbgrader={"grade": false, "grade_id": "flops-answer", "locked": false, "schema_version": 3, "solution": true}
batch, heads, seqlen, head_dim = 1, 8, 512, 64
flops = None  # floating-point operations of both products, all heads
### BEGIN SOLUTION
flops = 4 * batch * heads * seqlen * seqlen * head_dim
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "flops", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("flops", flops, 5.3e8, 5.4e8, "two products, 2 operations for each multiply-add"), "flops"

# %% [markdown]
# The fewest bytes that must move: Q, K and V are read once, O is written once (fp16), LSE too (fp32).

# %% nbgrader={"grade": false, "grade_id": "bytes-answer", "locked": false, "schema_version": 3, "solution": true}
min_bytes = None
### BEGIN SOLUTION
min_bytes = 4 * batch * heads * seqlen * head_dim * 2 + batch * heads * seqlen * 4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bytes", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("bytes", min_bytes, 2.09e6, 2.12e6, "four fp16 tensors of B*H*S*D elements, and B*H*S floats"), "bytes"

# %% [markdown]
# ## 2. Two times, and the larger one
#
# An H200 has 132 SMs; each does 128 fp32 FMAs a clock (an FMA is 2 operations), at up to 1.98 GHz. Its memory
# moves 4.8 TB/s. How long, in microseconds, would the arithmetic take at that rate, and how long the bytes?

# %% nbgrader={"grade": false, "grade_id": "bounds-answer", "locked": false, "schema_version": 3, "solution": true}
fma_us = None
memory_us = None
### BEGIN SOLUTION
fma_us = flops / (132 * 128 * 2 * 1.98e9) * 1e6
memory_us = min_bytes / 4.8e12 * 1e6
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bounds", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("FMA time", fma_us, 7.9, 8.2, "flops / (SMs * FMAs * 2 * clock)"), "fma_us"
assert attnlab.check("memory time", memory_us, 0.42, 0.46, "bytes / bandwidth"), "memory_us"

# %% [markdown]
# The larger of the two is the floor: this problem is bound by arithmetic, by far. So a gate such as "DRAM above
# 60 %" is the wrong question to ask of it.
#
# ## 3. Run it, or replay it

# %%
record = attnlab.run("1-scalar")
measured_us = record.get("samples", {}).get("median_us")
print("check:", record["check"])
print("time:", f"{measured_us:.1f} us" if measured_us else "n/a (the emulator has no clock)")

# %% nbgrader={"grade": false, "grade_id": "share-answer", "locked": false, "schema_version": 3, "solution": true}
if measured_us is None:  # the counts come from your run, the time from the recorded one
    measured_us = attnlab.recorded("1-scalar")["samples"]["median_us"]
share_of_floor = None  # floor divided by measured time, in percent
### BEGIN SOLUTION
share_of_floor = 100 * max(fma_us, memory_us) / measured_us
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "share", "locked": true, "points": 1, "schema_version": 3, "solution": false}
expected_share = 100 * 8.02 / measured_us
assert attnlab.check("share of the floor", share_of_floor, 0.97 * expected_share, 1.03 * expected_share,
                     "100 * floor / measured"), "share"

# %% [markdown]
# ## 4. Where the rest went
#
# The counters of the same run. Bank conflicts first: the wavefronts of shared memory beyond the ideal, as a share
# of all of them; then the tensor instructions; then occupancy.

# %%
for name in ["shared_wavefronts", "bank_conflicts", "bank_conflict_pct", "tensor_instructions",
             "occupancy_theoretical_pct", "occupancy_achieved_pct"]:
    try:
        print(f"{name:28} {attnlab.counter(record, name):.6g}")
    except LookupError as reason:
        print(f"{name:28} n/a ({reason})")

# %% [markdown]
# The grid has `heads * seqlen / BQ` CTAs, BQ = 64 (see `tile.h`). How many are there, and for how many of the
# H200's 132 SMs is there one?

# %% nbgrader={"grade": false, "grade_id": "grid-answer", "locked": false, "schema_version": 3, "solution": true}
n_ctas = None
busy_sms_pct = None  # SMs that get a CTA, in percent of 132
### BEGIN SOLUTION
n_ctas = heads * seqlen // 64
busy_sms_pct = 100 * min(n_ctas, 132) / 132
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "grid", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("CTAs", n_ctas, 64, 64, "one CTA for 64 rows of one head"), "n_ctas"
assert attnlab.check("busy SMs", busy_sms_pct, 48, 49, "64 CTAs cannot occupy 132 SMs"), "busy"

# %% [markdown]
# Half of the chip is idle at this size, whatever the kernel does. At B4 H16 S1024 D64 it is not: there the share of
# the floor says what the kernel itself leaves.

# %%
large = attnlab.recorded("1-scalar", "B4 H16 S1024 D64")
large_tflops = large["samples"]["tflops"]
peak_tflops = 132 * 128 * 2 * 1.98e9 / 1e12
print(f"{large_tflops:.1f} TFLOPS of {peak_tflops:.1f}: {100 * large_tflops / peak_tflops:.0f} %")

# %% [markdown]
# In the inner product, a thread loads 4 + 8 values from shared memory for 32 FMAs. A warp's load takes one
# wavefront and an SM serves one wavefront a clock; its four schedulers issue four FMA warp instructions a clock. How
# many clocks do the loads of one step take, and how many the FMAs?

# %% nbgrader={"grade": false, "grade_id": "step-answer", "locked": false, "schema_version": 3, "solution": true}
load_clocks = None
fma_clocks = None
### BEGIN SOLUTION
load_clocks = (4 + 8) / 1
fma_clocks = 32 / 4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "step", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("loads", load_clocks, 12, 12, "12 wavefronts, one a clock"), "loads"
assert attnlab.check("FMAs", fma_clocks, 8, 8, "32 warp instructions, four a clock"), "fmas"

# %% [markdown]
# So shared memory, not arithmetic, bounds stage 1: two thirds of the FMA peak at best. Tensor cores do 16 x 16 x 16
# products from operands that are loaded once: that is stage 2.
#
# ## 5. The picture

# %%
Image(filename=str(attnlab.draw("tensor")))

# %%
print(f"{attnlab.right} of {attnlab.asked} right")
