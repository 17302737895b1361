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
# # Lab 6: a pipeline
#
# TMA loads, WGMMA computes, and the two overlap. The kernel is a rung of stage 6; its rings are in
# [pipeline.cuh](../stages/6-wgmma-attention/pipeline.cuh).

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display
import math
import re
import statistics

attnlab = Lab(6)

# %% [markdown]
# ## 1. Predict
#
# Replace each `None` by a number; `'0.44'` or `'440 ns'` will do. It is stored before anything runs, and
# compared further down.

# %% [markdown]
# **Two units.** An element of S costs `4 * D` operations on the tensor cores, at 4096 a clock and SM, and one
# exponential, at 16 a clock. How many clocks of each at head_dim 128? What share of the time, in percent, are the
# tensor cores busy if the two take turns and nothing else costs time?

# %% answer: units
tensor_clocks = None  # clocks
exp_clocks = None  # clocks
turns_pct = None  # %
### BEGIN SOLUTION
tensor_clocks = 4 * 128 / 4096
exp_clocks = 1 / 16
turns_pct = 100 * tensor_clocks / (tensor_clocks + exp_clocks)
### END SOLUTION
attnlab.predict("tensor_clocks", tensor_clocks)
attnlab.predict("exp_clocks", exp_clocks)
attnlab.predict("turns_pct", turns_pct)

# %% points 1: tensor_clocks
attnlab.compare("tensor_clocks")

# %% points 1: exp_clocks
attnlab.compare("exp_clocks")

# %% points 1: turns_pct
attnlab.compare("turns_pct")

# %% [markdown]
# **Registers.** An SM has 65536. A CTA has four warpgroups of 128 threads. How many has a thread if all get the same?
# S (64 x 128, fp32), P (64 x 128, fp16) and O (64 x 64, fp32) are spread over 128 threads: how many do they take? If
# the producer's threads keep 32 each, how many has one of the three consumers' threads?

# %% answer: registers
equal_share = None  # registers
needed = None  # registers
consumer_share = None  # registers
### BEGIN SOLUTION
equal_share = 65536 // 512
needed = (64 * 128 + 64 * 128 // 2 + 64 * 64) // 128
consumer_share = (65536 - 128 * 32) // 384
### END SOLUTION
attnlab.predict("equal_share", equal_share)
attnlab.predict("needed", needed)
attnlab.predict("consumer_share", consumer_share)

# %% points 1: equal_share
attnlab.compare("equal_share")

# %% points 1: needed
attnlab.compare("needed")

# %% points 1: consumer_share
attnlab.compare("consumer_share")

# %% [markdown]
# **The ring.** Barriers start in phase 0, and a wait for parity p returns when the phase of that parity is over. For
# which parity must the producer wait first, so that it does not wait? And how many arrivals end a phase of an `empty`
# barrier, if each of three warpgroups arrives once a warp?

# %% answer: ring
first_parity = None  # parity
arrivals = None  # arrivals
### BEGIN SOLUTION
first_parity = 1
arrivals = 3 * 4
### END SOLUTION
attnlab.predict("first_parity", first_parity)
attnlab.predict("arrivals", arrivals)

# %% points 1: first_parity
attnlab.compare("first_parity")

# %% points 1: arrivals
attnlab.compare("arrivals")

# %% [markdown]
# **HGMMA.** A wgmma is issued by four warps, so it counts four. For 64 rows and a tile of 128 keys S takes head_dim /
# 16 of them and O 128 / 16. A CTA has three warpgroups of 64 rows. How many for 2 heads, 512 queries and keys,
# head_dim 64? (A CTA computes all its rows, also those past the end.)

# %% answer: hgmma
hgmma = None  # HGMMA
### BEGIN SOLUTION
hgmma = 4 * 2 * 3 * math.ceil(512 / 192) * (512 // 128) * (64 // 16 + 128 // 16)
### END SOLUTION
attnlab.predict("hgmma", hgmma)

# %% [markdown]
# ## 2. Fill
#
# Open [5-turns.cu](../stages/6-wgmma-attention/steps/5-turns.cu) and [pipeline.cuh](../stages/6-wgmma-attention/pipeline.cuh), in your folder `my-labs/6`, and write the parts that say
# `YOUR CODE HERE`: the producer, its parities, what a release is, and the turn in which S of one tile overlaps with P
# V of the one before. In a terminal, `make lab-6 hint` gives a first hint, then a second and a third.

# %% [markdown]
# ## 3. Check
#
# The same as `make lab-6 check`: are answers right, does anything race under three schedules, do the counts hold?
# Until all is right it says where to look.

# %%
attnlab.check()

# %% [markdown]
# ## 4. See

# %% points 1: hgmma
attnlab.compare("hgmma", attnlab.count("6-wgmma-attention", "--heads", 2, "--seqlen", 512, "--image", "d64-5-turns")["hgmma_instructions"])

# %% [markdown]
# **Leave a wait out.** A consumer waits until TMA has filled a stage of K before it multiplies: in the last kernel of
# stage 6, this line. On which line of it is the instruction that writes, and on which the one that reads?

# %%
stage = "6-wgmma-attention"
report = attnlab.without(stage, attnlab.line(stage, "wait_full(k); // k_smem is written by TMA"),
                         "--heads", 1, "--seqlen", 512, "--image", "d64")
print("\n".join(report.splitlines()[:3]))

# %% answer: race
writing_line = None  # line
reading_line = None  # line
### BEGIN SOLUTION
writing_line, reading_line = (int(re.search(rf"kernel\.cu:(\d+).*  {opcode}", report)[1]) for opcode in ["cp.async.bulk", "wgmma"])
### END SOLUTION
attnlab.predict("writing_line", writing_line)
attnlab.predict("reading_line", reading_line)

# %% points 1: writing_line
written, read = (int(re.search(rf"kernel\.cu:(\d+).*  {opcode}", report)[1]) for opcode in ["cp.async.bulk", "wgmma"])
attnlab.compare("writing_line", written)

# %% points 1: reading_line
attnlab.compare("reading_line", read)

# %% [markdown]
# **A timeline.** What an H200 did every 2 us, at B1 H16 S4096 D64: the first kernel of stage 6, one warpgroup that
# copies, multiplies and does softmax in turn, and the last one.

# %%
display(Image(filename=str(attnlab.make("timeline-h200-stage-6.png", "stage-6", "timeline", "RECORDED=h200", "WINDOW=350")),
              width=800, alt="What all SMs of an H200 do over time in the first and the last kernel: SMs with work, tensor pipe, exponentials"))
naive, last = attnlab.table("h200-timeline-6-naive"), attnlab.table("h200-timeline-6")
print(f"{'the last one: us':>16} {'SMs with work, %':>16} {'tensor pipe, %':>16} {'exponentials, %':>16}")
for row in last[:4]:
    print(*(f"{value:16.1f}" for value in row))

# %% [markdown]
# A launch of the first takes 324 us, of the last 130 us. What is the mean share of the tensor pipe in each? And a
# tile has 192 rows of a head: how many rounds of tiles do 16 heads of 4096 rows make on 132 SMs? A round that has work for
# some SMs only is a round, too.

# %% answer: timeline
naive_pct = None  # %
last_pct = None  # %
rounds = None  # rounds
### BEGIN SOLUTION
naive_pct = statistics.mean(row[2] for row in naive if row[0] <= 324)
last_pct = statistics.mean(row[2] for row in last if row[0] <= 130)
rounds = math.ceil(16 * math.ceil(4096 / 192) / 132)
### END SOLUTION
attnlab.predict("naive_pct", naive_pct)
attnlab.predict("last_pct", last_pct)
attnlab.predict("rounds", rounds)

# %% points 1: naive_pct
attnlab.compare("naive_pct")

# %% points 1: last_pct
attnlab.compare("last_pct")

# %% points 1: rounds
attnlab.compare("rounds")

# %%
ladder = [attnlab.recorded(name, "B4 H16 S4096 D128")
          for name in ["1-scalar", "2-wmma-qk", "3-wmma-pv", "4-tuned", "6-wgmma-attention"]]
for record in ladder:
    print(f"{record['stage']:18} {record['samples']['tflops']:4.0f} TFLOPS, tensor pipe {attnlab.text(record, 'tensor_active_pct')} %")
Image(filename=str(attnlab.make("compare-h200/tensor.png", "compare", "RECORDED=h200", "PROBLEM=B4 H16 S4096 D128")), width=800,
      alt="How busy the tensor cores are at B4 H16 S4096 D128, stage by stage, on an H200")

# %% [markdown]
# **Your kernel's time.** What it would take on an H200, predicted from its machine code, beside ours; the same as
# `make lab-6 see`. The most frequent waits say what to look at.

# %%
attnlab.see()

# %% [markdown]
# ## 5. Explain
#
# In two sentences: what runs at the same time as what in your kernel, and which of your waits allows it? And why does
# the producer need a full and an empty barrier for each stage?

# %% explain: overlap
overlap = """
"""
attnlab.explain("overlap", overlap)

# %%
attnlab.score()
