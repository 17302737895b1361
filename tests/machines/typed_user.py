"""What a user writes, with every type that attnlab gives him: mypy --strict finds nothing (test_package.sh)."""
from __future__ import annotations

import attnlab
import numpy as np
import numpy.typing as npt


def attention(q: npt.NDArray[np.float16], k: npt.NDArray[np.float16], v: npt.NDArray[np.float16]) -> float:
    """q, k, v: (batch, heads, seqlen, head_dim). The largest element of the output."""
    o = attnlab.forward(4, q, k, v, causal=True, device='emu')
    o, lse = attnlab.forward(4, q, k, v, return_lse=True, device='emu')
    return float(o.max() + lse.max())


def kernel(code: str) -> list[str]:
    run = attnlab.RawKernel(code, 'twice', ['-O3'], chip='h100', run=('--jobs', '1'))
    x = np.zeros(96, np.float32)
    run((3, 1, 1), 32, (x, np.int32(96)), shared_mem=0, cluster=None)
    counts: dict[str, float] = run.counters
    shared: dict[str, float] = run.groups('SHARED')
    said: str = run.prediction + run.source()
    try:
        run(0, 32)
    except attnlab.Unsupported as why:
        said += str(why)
    except attnlab.KernelError as why:
        said += str(why)
    return [*run.reports, said, *counts, *shared]
