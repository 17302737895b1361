"""attnlab.forward on a GPU's own tensors against PyTorch: every stage, streams, graphs, strides, refusals."""

import attnlab
import numpy as np
import torch
import torch.nn.functional as F

from placed import places
from tap import check, end

torch.manual_seed(1)


def made(*shape):
    return torch.randn(shape, device='cuda', dtype=torch.float16)


def wanted(q, k, v, causal):
    """PyTorch's, in fp32; causal means top-left to it."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1).float() for x in (k, v))
    return F.scaled_dot_product_attention(q.float(), k, v, is_causal=causal)


def close(a, b):
    return bool(torch.isfinite(a).all()) and (a.float() - b).norm() / b.norm() < 1e-3


for stage in (1, 2, 3, 4, 6):
    for b, h, hk, sq, sk, d in ((1, 8, 8, 512, 512, 64), (2, 6, 2, 300, 777, 64), (1, 4, 4, 1024, 1024, 128)):
        for causal in (False, 'top-left'):
            q, k, v = made(b, h, sq, d), made(b, hk, sk, d), made(b, hk, sk, d)
            o = attnlab.forward(stage, q, k, v, causal=causal)
            check(f'stage {stage}, B{b} H{h}/{hk} {sq}x{sk} D{d} {causal}', o.is_cuda and close(o, wanted(q, k, v, bool(causal))))
    q, k, v = made(2, 512, 8, 64), made(2, 512, 8, 64), made(2, 512, 8, 64)
    rows = [x.transpose(1, 2) for x in (q, k, v)]  # (batch, heads, seqlen, head_dim), heads between the rows
    check(f'stage {stage}, strided', close(attnlab.forward(stage, *rows), wanted(*rows, False)))

    # its own stream: a long wait ahead of the inputs, and no copy of ours may run before it
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        late = [made(1, 8, 512, 64) for _ in range(3)]
        o = attnlab.forward(stage, *late)
    side.synchronize()
    check(f'stage {stage}, on a stream that is busy', close(o, wanted(*late, False)))
    host = [x.cpu().numpy() for x in late]
    check(f'stage {stage}, NumPy on this GPU, the same bits',
          np.array_equal(attnlab.forward(stage, *host, device='cuda'), o.cpu().numpy()))

    graph, static = torch.cuda.CUDAGraph(), [x.clone() for x in late]
    with torch.cuda.graph(graph):
        captured = attnlab.forward(stage, *static)
    right = True
    for _ in range(3):
        for x in static:
            x.copy_(torch.randn_like(x))
        graph.replay()
        torch.cuda.synchronize()
        right &= close(captured, wanted(*static, False))
    check(f'stage {stage}, captured and replayed with other inputs', right)


def lay(x, first, row):
    b, h, s, d = x.shape
    there = torch.full((first + b * h * s * row,), float('nan'), device='cuda', dtype=torch.float16)[first:].as_strided(x.shape, (h * s * row, s * row, row, 1))
    return there.copy_(x)


# every address and stride that is a multiple of 16 bytes
for shape in [[(2, 8, 300, 64), (2, 2, 300, 64), (2, 2, 300, 64)], [(1, 4, 2100, 128), (1, 4, 2100, 128), (1, 4, 2100, 128)]]:
    first = {}
    for name, q, k, v, o in places(lambda s: made(*s), lay, shape):
        for stage in (1, 2, 3, 4, 6):
            attnlab.forward(stage, q, k, v, causal=True, out=o)
            torch.cuda.synchronize()
            gaps = o.as_strided((q[..., 0].numel() - 1, o.stride(2)), (o.stride(2), 1))[:, shape[0][3]:]
            check(f'stage {stage}, D{shape[0][3]}, {name}', close(first.setdefault(stage, o.clone()), wanted(q, k, v, True))
                  and torch.equal(first[stage], o) and bool(torch.isnan(gaps).all()))


class OnlyDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


q, k, v = (made(1, 8, 512, 64) for _ in range(3))
o, lse = torch.empty_like(q), torch.empty(1, 8, 512, device='cuda')
torch.cuda.synchronize()
attnlab.forward(4, *map(OnlyDLPack, (q, k, v)), out=o, lse=lse, stream=torch.cuda.current_stream())
torch.cuda.synchronize()
check('by DLPack', close(o, wanted(q, k, v, False)))
scores = (q.float() @ k.float().transpose(2, 3)) / 8
check('LSE', bool((lse - scores.logsumexp(-1)).abs().max() < 1e-3))
before = [x.clone() for x in (q, k, v)]
attnlab.forward(6, q, k, v)
check('inputs stay as they are', all(torch.equal(a, b) for a, b in zip(before, (q, k, v))))


def refused(name, text, call):
    try:
        call()
        check(name, False, 'it was not refused')
    except attnlab.KernelError as error:
        check(name, text in str(error), str(error))


refused('fp32 is refused', 'not <f2', lambda: attnlab.forward(4, q.float(), k, v))
refused('bf16 is refused', 'not <f2', lambda: attnlab.forward(4, q.bfloat16(), k, v))
refused('every second element is refused', 'lie 2 apart', lambda: attnlab.forward(4, q[..., ::2], k[..., ::2], v[..., ::2]))
refused('two devices are refused', 'one device', lambda: attnlab.forward(4, q.cpu().numpy(), k, v))
refused('the emulator is refused', 'copy them to the host', lambda: attnlab.forward(4, q, k, v, device='emu'))
refused('head_dim 40 is refused', 'head_dim', lambda: attnlab.forward(4, *(x[..., :40].contiguous() for x in (q, k, v))))
refused('an odd address is refused', '16 bytes', lambda: attnlab.forward(4, q.flatten()[1:].as_strided((1, 1, 8, 64), (512, 512, 64, 1)), k[:, :1], v[:, :1]))
end()
