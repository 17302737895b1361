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
# # Lab 0: a counter, a bank map, a race report
#
# Ten minutes, to learn to read what the other labs show. No GPU is needed: the emulator runs the kernels here. What
# is not built yet is built once, by the cell that needs it: half a minute.
#
# Replace each `None` by a number, or by text such as `'0.44'` or `'12 %'`; the cell after it compares.

# %%
import sys

sys.path[:0] = ["course", "../../notebooks/course"]  # from notebooks/, and from my-labs/N
from course import Lab
from IPython.display import Image, display
from collections import Counter

attnlab = Lab(0)

# %% [markdown]
# ## 1. A counter
#
# `make stage-2 run` prints counters, each with its unit and where it comes from. These are of stage 2 without
# padding, on a small problem. A wavefront is one cycle in which shared memory serves up to 32 banks; "ideal" is what
# the same bytes would take if no two wanted the same bank.

# %%
counts = attnlab.count("2-wmma-qk", "--heads", 2, "--seqlen", 128, "--image", "d64-nopad")
for name in ["shared_wavefronts", "shared_wavefronts_ideal", "hmma_instructions", "ldmatrix_instructions"]:
    print(f"{name:24} {counts[name]:8.0f}")

# %% [markdown]
# What share of the wavefronts, in percent, are conflicts?

# %% answer: conflict_pct
conflict_pct = None  # %
### BEGIN SOLUTION
conflict_pct = 100 * (1 - counts["shared_wavefronts_ideal"] / counts["shared_wavefronts"])
### END SOLUTION
attnlab.predict("conflict_pct", conflict_pct)

# %% points 1: conflict_pct
attnlab.compare("conflict_pct", counts["bank_conflict_pct"])

# %% [markdown]
# ## 2. A bank map
#
# Which bank does each lane want? Shared memory has 32 banks of 4 bytes: byte a lies in bank a / 4 % 32. The picture
# is of the load of K in this kernel: a row of the picture is a lane's 16 bytes, a colour is one wavefront. There are 16
# colours: lanes 0 to 15 and 16 to 31 reuse the same ones.

# %%
line = attnlab.line("2-wmma-qk", "load_matrix_sync(k_frag")
Image(filename=str(attnlab.make(f"banks/stage-2-{line}.png", "stage-2", "banks", f"LINE={line}",
                                "ARGS=--heads 1 --seqlen 64 --image d64-nopad")), width=560,
      alt="Bank map of the load of K without padding: each row is a lane's 16 bytes, a colour is a wavefront")

# %% [markdown]
# The rows of K are 128 bytes long here. In which bank does row 5 of K begin, and how many of 8 rows of K begin in that bank?

# %% answer: banks
bank_of_row_5 = None  # bank
rows_there = None  # rows
### BEGIN SOLUTION
bank_of_row_5 = 5 * 128 // 4 % 32
rows_there = sum(row * 128 // 4 % 32 == bank_of_row_5 for row in range(8))
### END SOLUTION
attnlab.predict("bank_of_row_5", bank_of_row_5)
attnlab.predict("rows_there", rows_there)

# %% points 1: bank_of_row_5
attnlab.compare("bank_of_row_5")

# %% points 1: rows_there
attnlab.compare("rows_there")

# %% [markdown]
# ## 3. A race report
#
# The emulator can run a kernel as if one of its barriers were not there. This is stage 1 without the barrier after
# its tiles are loaded. First line: what is wrong. Then two source lines: the access that was noticed, and the one
# that nothing orders with it.

# %%
report = attnlab.without("1-scalar", attnlab.line("1-scalar", "any warp may read them"), "--heads", 1, "--seqlen", 64)
print("\n".join(report.splitlines()[:3]))

# %% [markdown]
# On which line of kernel.cu does a lane read, and from which line was the function called whose store it races with?

# %% answer: race
reading_line = None  # line
storing_call = None  # line
### BEGIN SOLUTION
numbers = [int(word) for word in __import__("re").findall(r"(?:kernel.cu:|line )(\d+)", report)]
reading_line, storing_call = numbers[0], numbers[2]
### END SOLUTION
attnlab.predict("reading_line", reading_line)
attnlab.predict("storing_call", storing_call)

# %% points 1: reading_line
numbers = [int(word) for word in __import__("re").findall(r"(?:kernel.cu:|line )(\d+)", report)]
attnlab.compare("reading_line", numbers[0])

# %% points 1: storing_call
attnlab.compare("storing_call", numbers[2])

# %% [markdown]
# Next: `make step-1a`, the first of four steps to lab 1; then `make lab-1`.

# %%
attnlab.score()
