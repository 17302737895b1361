"""The problems that a check tries, notebooks/course/N/problems: NAME OPTIONS, from the simplest on; and their inputs.

Inputs are made here, so that a wrong answer can be compared with what a known mistake would give:
normal, and `rising`, where later keys have higher scores, so that maxima change in every tile. With strides, or scores so
far apart that the maximum of another row leaves nothing (`far`), the program makes them."""
import argparse
import dataclasses

import numpy as np

from lab_folder import lines_of


@dataclasses.dataclass
class Problem:
    name: str
    options: list             # for the program
    shape: argparse.Namespace = None  # None: the program makes the inputs


def read(folder):
    problems = []
    for _, line in lines_of(folder.path / "problems"):
        name, *options = line.split()
        problems.append(Problem(name, options, None if folder.stage == "5-wgmma" or set(PROGRAMS) & set(options) else shape_of(options)))
    return problems


PROGRAMS = ("--strides", "--scale")  # the program makes the inputs of such a problem


def shape_of(options):
    parser = argparse.ArgumentParser()
    for name, value in [("batch", 1), ("heads", 1), ("kv-heads", 0), ("seqlen", 0), ("seqlen-q", 0), ("seqlen-k", 0),
                        ("head-dim", 64), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--input", default="normal")
    parser.add_argument("--causal", action="store_true")
    shape = parser.parse_args(options)
    shape.kv_heads = shape.kv_heads or shape.heads
    shape.seqlen_q, shape.seqlen_k = shape.seqlen_q or shape.seqlen, shape.seqlen_k or shape.seqlen
    return shape


def names(shape):
    """What the expressions of conditions call it."""
    return {"B": shape.batch, "H": shape.heads, "SQ": shape.seqlen_q, "SK": shape.seqlen_k, "D": shape.head_dim}


def make_inputs(shape, folder):
    """Q, K, V in fp16 into folder/q.npy ...; the options that name them."""
    draw = np.random.default_rng(shape.seed)
    q = draw.standard_normal((shape.batch, shape.heads, shape.seqlen_q, shape.head_dim))
    k, v = (draw.standard_normal((shape.batch, shape.kv_heads, shape.seqlen_k, shape.head_dim)) for _ in range(2))
    if shape.input == "rising":
        q[..., 0], k[..., 0] = 4, 0.06 * np.arange(shape.seqlen_k)
    folder.mkdir(parents=True, exist_ok=True)
    for name, tensor in zip("qkv", (q, k, v)):
        np.save(folder / f"{name}.npy", tensor.astype(np.float16))
    return [word for name in "qkv" for word in (f"--{name}", folder / f"{name}.npy")] + ["--causal"] * shape.causal


def load(folder, name):
    """A tensor of (batch, heads, ...) with batch and heads as one."""
    tensor = np.load(folder / f"{name}.npy").astype(np.float64)
    return tensor.reshape(-1, *tensor.shape[2:])
