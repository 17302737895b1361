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
# # Lab 3: why WGMMA, TMA and warp specialisation
#
# Lab 2 left stage 4 with three limits close together on Hopper. You predict what Hopper's own instructions change,
# and look at an H200: its runs lie in `plots/recorded/`. The last two exercises run stage 6 on the emulator, here.
#
# Read the heads of [`stages/5-wgmma/kernel.cu`](../stages/5-wgmma/kernel.cu) and
# [`stages/6-wgmma-attention/kernel.cu`](../stages/6-wgmma-attention/kernel.cu) first; build with `make stage-6`.
#
# Replace each `None` by your answer; the cell after it compares.

# %%
import math
import re
import statistics

from lab import attnlab
from IPython.display import Image

# %% [markdown]
# ## 1. How long does a WGMMA take?
#
# `wgmma.m64nNk16` multiplies A (64 x 16) by B (16 x N), fp16, both read from shared memory by the instruction itself.
# An SM's tensor cores do 4096 floating-point operations a clock, 2 for each multiply-add; its shared memory gives
# 128 bytes a clock. With enough of them in flight the slower of the two decides. How many cycles for width N?

# %% nbgrader={"grade": false, "grade_id": "cycles-answer", "locked": false, "schema_version": 3, "solution": true}
def cycles(n):
    return None


### BEGIN SOLUTION
def cycles(n):
    return max(2 * 64 * n * 16 / 4096, (64 * 16 + 16 * n) * 2 / 128)
### END SOLUTION


# %% [markdown]
# Stage 5 measured all 32 widths on one SM of an H200. How far are you off, at most?

# %% nbgrader={"grade": true, "grade_id": "cycles", "locked": true, "points": 2, "schema_version": 3, "solution": false}
sweep = attnlab.records("h200-stage-5")
measured = {r["problem"]["n"]: r["cycles"]["median"] for r in sweep if r["sweep"] == "n" and r["problem"]["a"] == "smem"}
miss = None if cycles(64) is None else max(abs(cycles(n) - measured[n]) for n in measured)
assert attnlab.check(f"largest miss of {len(measured)} widths, cycles", miss, 0, 0.1,
                     "the larger of 2 * 64 * N * 16 / 4096 and the bytes of A and B, fp16, over 128"), "cycles"

# %%
Image(filename=str(attnlab.make("stage-5/sweep.png", "stage-5", "sweep", "RECORDED=h200")), width=700)

# %% [markdown]
# Below N = 64 shared memory is the limit, from there on the tensor cores, at their full rate.
# mma.sync reaches about two thirds of it.
#
# ## 2. How many must be in flight?
#
# One m64n64k16 that is waited for takes 78.4 cycles from issue to result, but occupies the tensor cores for 32. What
# is the least number under way at a time that keeps them busy?

# %% nbgrader={"grade": false, "grade_id": "flight-answer", "locked": false, "schema_version": 3, "solution": true}
in_flight = None
### BEGIN SOLUTION
in_flight = math.ceil(78.4 / 32)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "flight", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("in flight", in_flight, 3, 3, "latency / occupancy, rounded up: each must cover 32 cycles"), "flight"
for r in sweep:
    if r["sweep"] == "depth" and r["pipeline"]["group"] == 1 and r["problem"]["a"] == "smem":
        print(f"{r['pipeline']['depth'] + 1} in flight: {r['cycles']['median']:.2f} cycles each")

# %% [markdown]
# Two are not enough, four are. A warpgroup that does softmax meanwhile has none in flight, for a thousand cycles: this
# is what stage 6 is built around.
#
# ## 3. The peak
#
# 132 SMs, 4096 operations a clock, at most 1.98 GHz: how many TFLOPS?

# %% nbgrader={"grade": false, "grade_id": "peak-answer", "locked": false, "schema_version": 3, "solution": true}
peak_tflops = None
### BEGIN SOLUTION
peak_tflops = 132 * 4096 * 1.98e9 / 1e12
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "peak", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("peak", peak_tflops, 1065, 1075, "SMs * operations a clock * clock"), "peak"
for r in sweep:
    if r["sweep"] == "data" and r["problem"]["n"] == 64:
        print(f"{r['problem']['input']:6} on all SMs: {r['cycles']['median']:.2f} cycles each, {r['tflops']:.0f} TFLOPS,",
              f"clock {r['device']['clock_mhz_after']} MHz right after")

# %% [markdown]
# Not one cycle more than on a single SM, and yet a quarter of the TFLOPS is missing: the clock sinks, for the limit is
# power. Zeros toggle fewer transistors and are faster. Explain kernels in cycles, compare them in microseconds.
#
# ## 4. What shared memory is spared
#
# Take 8192 elements of S at head_dim 64, and the O they lead to; how many bytes of shared memory are touched?
#
# * Stage 4: 128 queries, 64 keys, four warps. Each warp reads all of K and of V into its registers (Q is there
#   already). And threads write K and V, by cp.async.
# * Stage 6: 64 queries, 128 keys, one warpgroup. S takes four m64n128k16, which read A (Q) and B (K) from shared memory;
#   O takes eight m64n72k16, of which only B (V) lies there: P is in registers. (The 72nd column is a row sum: 64
#   columns of V, and 8 of ones.) What TMA writes does not count here.

# %% nbgrader={"grade": false, "grade_id": "bytes-answer", "locked": false, "schema_version": 3, "solution": true}
stage4_bytes = None
stage6_bytes = None
### BEGIN SOLUTION
k_and_v = 2 * 64 * 64 * 2
stage4_bytes = 4 * k_and_v + k_and_v
stage6_bytes = 4 * (64 * 16 + 128 * 16) * 2 + 8 * 72 * 16 * 2
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bytes", "locked": true, "points": 2, "schema_version": 3, "solution": false}
problem = "B4 H16 S4096 D64"
pieces = 4 * 16 * 4096 * 4096 / 8192
stage4, stage6 = attnlab.recorded("4-tuned", problem), attnlab.recorded("6-wgmma-attention", problem)
for stage, answer, record, hint in [
        ("stage 4", stage4_bytes, stage4, "4 warps read, and one copy is written: 5 times K and V, 64 x 64 fp16 each"),
        ("stage 6", stage6_bytes, stage6, "4 * (64 * 16 + 16 * 128) and 8 * 16 * 72 numbers of 2 bytes")]:
    counted = 128 * attnlab.counter(record, "shared_wavefronts") / pieces
    assert attnlab.check(stage, answer, 0.97 * counted, counted, hint), stage
    print(f"by the H200's counters: {counted:.0f} bytes")

# %% [markdown]
# (The rest is Q and O.) Half the bytes, by reading K and V once for 64 rows instead of once for 32, with no instruction
# of a warp's for it. The other instructions that are gone, for the same 8192 elements:

# %%
for name in ["instructions", "ldmatrix_instructions", "cp_async_instructions", "tma_instructions"]:
    before, after = (attnlab.counter(record, name) / pieces for record in [stage4, stage6])
    print(f"{name:24} {before:8.1f} {after:8.1f}")

# %% [markdown]
# ## 5. Which unit is the limit?
#
# An element of S costs $4 D$ operations on the tensor cores, at 4096 a clock and SM, and one exponential, at 16 a clock.
# How many clocks of each, at head_dim 64 and 128?

# %% nbgrader={"grade": false, "grade_id": "units-answer", "locked": false, "schema_version": 3, "solution": true}
tensor_64 = None
tensor_128 = None
exponential = None
### BEGIN SOLUTION
tensor_64 = 4 * 64 / 4096
tensor_128 = 4 * 128 / 4096
exponential = 1 / 16
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "units", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("tensor cores, 64", tensor_64, 0.062, 0.063, "4 * head_dim / 4096"), "tensor"
assert attnlab.check("tensor cores, 128", tensor_128, 0.124, 0.126, "4 * head_dim / 4096"), "tensor"
assert attnlab.check("exponential", exponential, 0.062, 0.063, "one, at 16 a clock"), "exponential"

# %% [markdown]
# At 64 both are equally long, at 128 the tensor cores are the limit. What share of the time are the tensor cores busy,
# in percent, if the two units take turns and nothing else costs time?

# %% nbgrader={"grade": false, "grade_id": "turns-answer", "locked": false, "schema_version": 3, "solution": true}
turns_pct_64 = None
turns_pct_128 = None
### BEGIN SOLUTION
turns_pct_64 = 100 * tensor_64 / (tensor_64 + exponential)
turns_pct_128 = 100 * tensor_128 / (tensor_128 + exponential)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "turns", "locked": true, "points": 1, "schema_version": 3, "solution": false}
stage6_128 = attnlab.recorded("6-wgmma-attention", "B4 H16 S4096 D128")
assert attnlab.check("turns, 64", turns_pct_64, 49.9, 50.1, "tensor / (tensor + exponential)"), "turns"
assert attnlab.check("turns, 128", turns_pct_128, 66.5, 67, "tensor / (tensor + exponential)"), "turns"
for dim, record in [(64, stage6), (128, stage6_128)]:
    print(f"head_dim {dim}: the tensor pipe is active {attnlab.counter(record, 'tensor_active_pct'):.1f} % of the time")

# %% [markdown]
# Above what turns allow: the two units work at the same time. In microseconds, for the 4 * 16 * 4096 * 4096 elements of
# this problem on 132 SMs, at the clock that the board had after the run: how long if they take turns, how long if
# they overlap perfectly?

# %%
clock_64, clock_128 = (record["device"]["clock_mhz_after"] for record in [stage6, stage6_128])
print(f"clock: {clock_64} MHz at head_dim 64, {clock_128} MHz at 128")

# %% nbgrader={"grade": false, "grade_id": "overlap-answer", "locked": false, "schema_version": 3, "solution": true}
turns_us_64 = None
overlap_us_64 = None
turns_us_128 = None
overlap_us_128 = None
### BEGIN SOLUTION
elements = 4 * 16 * 4096 * 4096 / 132
turns_us_64 = elements * (tensor_64 + exponential) / clock_64
overlap_us_64 = elements * max(tensor_64, exponential) / clock_64
turns_us_128 = elements * (tensor_128 + exponential) / clock_128
overlap_us_128 = elements * max(tensor_128, exponential) / clock_128
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "overlap", "locked": true, "points": 2, "schema_version": 3, "solution": false}
for dim, turns, overlap, record, clock in [(64, turns_us_64, overlap_us_64, stage6, clock_64),
                                           (128, turns_us_128, overlap_us_128, stage6_128, clock_128)]:
    us = 4 * 16 * 4096 * 4096 / 132 / clock * 4 * dim / 4096
    assert attnlab.check(f"turns, {dim}", turns, 0.99 * us * (1 + 64 / dim), 1.01 * us * (1 + 64 / dim),
                         "elements / 132 * (sum of the two clocks) / MHz"), dim
    assert attnlab.check(f"overlap, {dim}", overlap, 0.99 * us, 1.01 * us,
                         "elements / 132 * (larger of the two) / MHz"), dim
    print(f"measured: {record['samples']['median_us']:.0f} us")

# %% [markdown]
# The measured times lie between. Overlap needs somebody who multiplies while somebody else does softmax: several
# warpgroups, and registers for all of them.
#
# ## 6. Why warps specialise
#
# An SM has 65536 registers. Stage 6 has four warpgroups of 128 threads in a CTA. How many registers has a thread if
# all get the same? How many do S (64 x 128, fp32), P (64 x 128, fp16) and O (64 x 72, fp32) take, spread over the 128
# threads of a warpgroup? One warpgroup is the producer, whose one thread asks TMA for tiles: if its threads keep 32
# each, how many has a thread of the three others?

# %% nbgrader={"grade": false, "grade_id": "registers-answer", "locked": false, "schema_version": 3, "solution": true}
equal_share = None
needed = None
consumer_share = None
### BEGIN SOLUTION
equal_share = 65536 // 512
needed = (64 * 128 + 64 * 128 // 2 + 64 * 72) // 128
consumer_share = (65536 - 128 * 32) // 384
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "registers", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("equal share", equal_share, 128, 128, "65536 over 4 * 128 threads"), "equal"
assert attnlab.check("needed", needed, 132, 132, "two halves to a register: 64 + 32 + 36"), "needed"
assert attnlab.check("consumer's share", consumer_share, 160, 160, "(65536 - 128 * 32) over 3 * 128 threads"), "share"

# %% [markdown]
# Equal shares would not even hold the operands. `setmaxnreg` moves registers from the producer to the consumers; TMA
# makes a producer of one thread possible. A fourth consumer would leave each of them 120.
#
# ## 7. A timeline
#
# What the chip did every 2 us, at B1 H16 S4096 D64: the first kernel of stage 6, one warpgroup that copies, multiplies
# and does softmax in turn, and the last one.

# %%
Image(filename=str(attnlab.make("timeline-stage-6.png", "stage-6", "timeline", "RECORDED=h200", "WINDOW=350")), width=800)

# %% [markdown]
# The tables behind it have the columns us, SMs with work, tensor pipe, special functions (percent). A launch of the
# naive kernel takes the first 324 us, one of the last kernel 130 us. What is the mean share of the tensor pipe?

# %%
naive, last = attnlab.table("h200-timeline-6-naive"), attnlab.table("h200-timeline-6")
print(*last[:6], sep="\n")

# %% nbgrader={"grade": false, "grade_id": "mean-answer", "locked": false, "schema_version": 3, "solution": true}
naive_pct = None
last_pct = None
### BEGIN SOLUTION
naive_pct = statistics.mean(row[2] for row in naive if row[0] <= 324)
last_pct = statistics.mean(row[2] for row in last if row[0] <= 130)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "mean", "locked": true, "points": 2, "schema_version": 3, "solution": false}
for name, answer, rows, end in [("naive", naive_pct, naive, 324), ("last", last_pct, last, 130)]:
    mean = statistics.mean(row[2] for row in rows if row[0] <= end)
    assert attnlab.check(f"mean of the {name} kernel", answer, mean - 0.5, mean + 0.5,
                         f"the third number of the rows up to {end} us"), name

# %% [markdown]
# The first does not even reach the 50 % of perfect turns: its copies and barriers take turns, too.
#
# The last one is at 77 % until 86 us and then at 46 %. A tile has 192 rows of a head, an SM works at one tile at
# a time: how many rounds of tiles do 16 heads of 4096 rows make on 132 SMs? (The last tile of a head may be short.)
# The last round costs as much time as a whole one. So what share of the SMs' time is used, in percent, at B4 H16, four
# times as many tiles?

# %% nbgrader={"grade": false, "grade_id": "rounds-answer", "locked": false, "schema_version": 3, "solution": true}
rounds = None
used_pct_b4 = None
### BEGIN SOLUTION
rounds = 16 * math.ceil(4096 / 192) / 132
used_pct_b4 = 100 * 4 * rounds / math.ceil(4 * rounds)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rounds", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert attnlab.check("rounds", rounds, 2.66, 2.67, "16 * 22 tiles over 132 SMs"), "rounds"
assert attnlab.check("used at B4", used_pct_b4, 96.5, 97.5, "4 times the tiles: 10.67 rounds that take 11"), "used"
steady = statistics.mean(row[2] for row in last if 10 <= row[0] <= 40)
print(f"{steady:.1f} % while all SMs have tiles; of that {used_pct_b4:.1f} %: {steady * used_pct_b4 / 100:.1f} %.",
      f"The counter at {problem}: {attnlab.counter(stage6, 'tensor_active_pct'):.1f} %")

# %% [markdown]
# Table and counter tell the same story. What is missing: start-up, the end, and the notches between rounds.
#
# ## 8. The ladder
#
# An SM has four tensor cores; each takes an mma.sync m16n8k16 (4096 operations) every 6.2 clocks at best. If both kernels
# were bound by the tensor cores alone, how many times as fast as stage 4 would stage 6 be?

# %% nbgrader={"grade": false, "grade_id": "ladder-answer", "locked": false, "schema_version": 3, "solution": true}
gain = None
### BEGIN SOLUTION
gain = 4096 / (4 * 4096 / 6.2)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "ladder", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attnlab.check("stage 6 / stage 4", gain, 1.54, 1.56, "4096 a clock against 4 * 4096 / 6.2"), "gain"
ladder = [attnlab.recorded(name, "B4 H16 S4096 D128")
          for name in ["1-scalar", "2-wmma-qk", "3-wmma-pv", "4-tuned", "6-wgmma-attention"]]
for below, record in zip([None, *ladder], ladder):
    tflops = record["samples"]["tflops"]
    ratio = f"{tflops / below['samples']['tflops']:.2f} times the one before" if below else ""
    active = attnlab.counter(record, "tensor_active_pct")
    print(f"{record['stage']:18} {tflops:4.0f} TFLOPS, tensor pipe {active:4.1f} %", ratio)

# %%
Image(filename=str(attnlab.make("compare/tensor.png", "compare", "RECORDED=h200", "PROBLEM=B4 H16 S4096 D128")), width=800)

# %% [markdown]
# Stage 2 stays below its limit of 2 (lab 2). Stage 6 gains somewhat more than the rate alone: it also keeps the tensor
# pipe busier, for which the clock sinks further.
#
# ## 9. Count it yourself
#
# From here on the emulator runs stage 6. A wgmma is issued by four warps, so it counts four HGMMA instructions. 64
# rows need, for each tile of `bkv` keys, head_dim / 16 of them for S and bkv / 16 for O. How many in all, for `heads`
# heads of `seqlen` rows and keys?

# %% nbgrader={"grade": false, "grade_id": "hgmma-answer", "locked": false, "schema_version": 3, "solution": true}
def hgmma(heads, seqlen, head_dim, bkv):
    return None


### BEGIN SOLUTION
def hgmma(heads, seqlen, head_dim, bkv):
    return 4 * heads * (seqlen // 64) * (seqlen // bkv) * (head_dim // 16 + bkv // 16)
### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "hgmma", "locked": true, "points": 2, "schema_version": 3, "solution": false}
for problem in [(4, 512, 64, 128), (2, 256, 128, 64)]:  # tile.h says how many keys a tile has
    options = zip(["--heads", "--seqlen", "--head-dim"], problem)
    counted = attnlab.count("6-wgmma-attention", *sum(options, ()))["hgmma_instructions"]
    assert attnlab.check(f"HGMMA, heads, seqlen, head_dim, bkv = {problem}", hgmma(*problem), counted, counted,
                         "4 * heads * seqlen / 64 * seqlen / bkv * (head_dim + bkv) / 16"), "hgmma"

# %% [markdown]
# ## 10. Leave a wait out
#
# A consumer waits until TMA has filled a stage of K before it multiplies. Find that loop in kernel.cu ("for each further
# KV tile"): the emulator can run the kernel as if this line were not there.

# %%
stage = "6-wgmma-attention"
the_wait = attnlab.line(stage, "wait_full(k); // k_smem is written by TMA")
print(f"line {the_wait}")

# %% [markdown]
# Two accesses to the same shared memory are unordered then. On which line of kernel.cu is the instruction that writes,
# and on which the one that reads? (Not where a function is called: where it issues the instruction.)

# %% nbgrader={"grade": false, "grade_id": "race-answer", "locked": false, "schema_version": 3, "solution": true}
writer_line = None
reader_line = None
### BEGIN SOLUTION
writer_line = attnlab.line(stage, "if (!IS_Q) tma_load_4d(")
reader_line = attnlab.line(stage, "wgmma_m64k16_ss<BKV>(s_frag")
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "race", "locked": true, "points": 2, "schema_version": 3, "solution": false}
long_tiles = ["--heads", 1, "--seqlen", 512, "--image", "d64"]
report = attnlab.without(stage, the_wait, *long_tiles)
written, read = (int(re.search(rf"kernel\.cu:(\d+).*  {opcode}", report)[1]) for opcode in ["cp.async.bulk", "wgmma"])
assert attnlab.check("who writes", writer_line, written, written, "the producer's load() asks TMA for the box"), "writer"
assert attnlab.check("who reads", reader_line, read, read, "issue_qk() has the wgmma that reads K"), "reader"
print(report)

# %% [markdown]
# First line: what is wrong, and where. Then the access that was noticed, with all lines it was called from, and the one
# that nothing orders with it. A GPU reports nothing: its answer is right or wrong, as the copy comes in time or not.
#
# The other direction: "S is there, k_smem has been read" comes before the consumer gives the stage back. Without it,
# which of your two lines comes too early?

# %% nbgrader={"grade": false, "grade_id": "early-answer", "locked": false, "schema_version": 3, "solution": true}
early_line = None
### BEGIN SOLUTION
early_line = writer_line
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "early", "locked": true, "points": 1, "schema_version": 3, "solution": false}
report = attnlab.without(stage, attnlab.line(stage, "wgmma_wait_group<1>(); // S is there"), *long_tiles)
early = int(re.findall(r"kernel\.cu:(\d+)", report)[0])
assert attnlab.check("too early", early_line, early, early,
                     "the stage is given back while wgmma still reads it: who fills it?"), "early"
print(report)

# %% [markdown]
# A full barrier for what was written, an empty one for what was read: every ring of stages has both.
#
# To go on: `build/stage-6 --device emu --without list` names all waits, barriers and fences. Which can be left out
# without a report, and why? (`tests/mutants_emu.txt` has the answers.)

# %%
print(f"{attnlab.right} of {attnlab.asked} right")
