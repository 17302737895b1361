"""attnlab.forward on a GPU's own tensors against PyTorch: every stage, masks, grouped heads, streams, graphs, strides,
CuPy, DLPack, refusals."""

import attnlab
import numpy as np
import torch
import torch.nn.functional as F

from placed import places
from tap import check, end, refused

torch.manual_seed(1)


def made(*shape):
    return torch.randn(shape, device='cuda', dtype=torch.float16)


def wanted(q, k, v, causal, half=False):
    """PyTorch's, in fp32; is_causal means top-left to it. half: its own fp16 kernels, on these very tensors."""
    if half:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal == 'top-left', enable_gqa=True).float()
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1).float() for x in (k, v))
    if causal in (True, 'bottom-right'):
        sq, sk = q.shape[2], k.shape[2]
        mask = torch.ones(sq, sk, device='cuda', dtype=torch.bool).tril(sk - sq)
        return F.scaled_dot_product_attention(q.float(), k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q.float(), k, v, is_causal=causal == 'top-left')


def close(a, b, most=1e-3):
    return bool(torch.isfinite(a).all()) and bool((a.float() - b).norm() / b.norm() < most)


SHAPES = ((1, 8, 8, 512, 512, 64), (2, 6, 2, 300, 777, 64), (1, 4, 4, 1024, 1024, 128), (3, 8, 1, 129, 2049, 128),
          (2, 8, 4, 1, 500, 64), (1, 4, 2, 190, 333, 256))
for stage in (1, 2, 3, 4, 6):
    for b, h, hk, sq, sk, d in SHAPES:
        if d == 256 and stage in (2, 3):
            continue
        for causal in (False, 'top-left', 'bottom-right'):
            q, k, v = made(b, h, sq, d), made(b, hk, sk, d), made(b, hk, sk, d)
            o = attnlab.forward(stage, q, k, v, causal=causal)
            name = f'stage {stage}, B{b} H{h}/{hk} {sq}x{sk} D{d} {causal}'
            check(name, o.is_cuda and close(o, wanted(q, k, v, causal)))
            if causal != 'bottom-right':
                check(f"{name}, PyTorch's fp16", close(o, wanted(q, k, v, causal, half=True), 2e-3))
    q, k, v = made(2, 512, 8, 64), made(2, 512, 8, 64), made(2, 512, 8, 64)
    rows = [x.transpose(1, 2) for x in (q, k, v)]  # (batch, heads, seqlen, head_dim), heads between the rows
    check(f'stage {stage}, strided', close(attnlab.forward(stage, *rows), wanted(*rows, False)))
    packed = made(2, 512, 3, 8, 64).permute(2, 0, 3, 1, 4)  # one product's q, k and v, side by side in a row
    into = torch.zeros(2, 512, 8, 64, device='cuda', dtype=torch.float16).transpose(1, 2)
    check(f'stage {stage}, strided, packed', close(attnlab.forward(stage, *packed, out=into), wanted(*packed, False)))

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

    # two calls in one graph, the second reads what the first wrote; captured on a stream of its own
    q, k, v = made(2, 8, 300, 64), made(2, 2, 300, 64), made(2, 2, 300, 64)
    attnlab.forward(stage, q, k, v, causal=True)
    pool, chain = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(chain, stream=pool):
        last = attnlab.forward(stage, attnlab.forward(stage, q, k, v, causal=True) * 4, k, v, causal=True)
    right = True
    for _ in range(3):
        q.copy_(torch.randn_like(q))
        chain.replay()
        first = wanted(q, k, v, 'bottom-right').half() * 4
        right &= bool((last.float() - wanted(first, k, v, 'bottom-right')).norm() / last.float().norm() < 3e-3)
    check(f'stage {stage}, two calls in one graph', right)

    # two streams at a time, each with tensors of its own
    streams, done = [torch.cuda.Stream() for _ in range(4)], []
    for i, one in enumerate(streams):
        one.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(one):
            given = [made(1, 8, 700 + i, 64) for _ in range(3)]
            for _ in range(5):
                o = attnlab.forward(stage, *given)
            done.append((o, given))
    torch.cuda.synchronize()
    check(f'stage {stage}, four streams', all(close(o, wanted(*given, False)) for o, given in done))


try:
    import cupy
except ImportError:
    cupy = None
    check('CuPy # SKIP there is none', True)
if cupy:
    for stage in (1, 2, 3, 4, 6):
        given = [cupy.random.standard_normal((1, 8, 512, 64)).astype(cupy.float16) for _ in range(3)]
        o, lse = attnlab.forward(stage, *given, return_lse=True)
        same = [torch.from_dlpack(x) for x in given]
        check(f'stage {stage}, CuPy', type(o) is cupy.ndarray and type(lse) is cupy.ndarray
              and close(torch.from_dlpack(o), wanted(*same, False)))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        given = [cupy.random.standard_normal((1, 8, 512, 64)).astype(cupy.float16) for _ in range(3)]
        o = attnlab.forward(4, *given)
        stream.synchronize()
    check('CuPy, on its stream', close(torch.from_dlpack(o), wanted(*[torch.from_dlpack(x) for x in given], False)))


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


def rows_within(o, w):
    """No row is further from its own in w than a thousandth of it."""
    return max(float(((a.float() - b).norm(dim=-1) / b.norm(dim=-1)).nan_to_num(float('inf')).max()) for a, b in zip(o, w)) < 1e-3


def large(bh, kv, sq, sk, d):
    """Q and O, or K and V, of over 2^31 elements: every row compared."""
    q, k, v = made(*bh, sq, d), made(bh[0], kv, sk, d), made(bh[0], kv, sk, d)
    w = torch.empty(q.shape, device='cuda')
    for b in range(bh[0]):
        for h in range(0, bh[1], 8):
            kh, vh = ((x[b, h:h + 8] if kv > 1 else x[b]).float() for x in (k, v))
            w[b, h:h + 8] = torch.softmax(q[b, h:h + 8].float() @ kh.transpose(1, 2) / d ** .5, -1) @ vh
    for stage in (1, 2, 3, 4, 6):
        o = torch.full_like(q, float('nan'))
        attnlab.forward(stage, q, k, v, out=o)
        torch.cuda.synchronize()
        check(f'stage {stage}, {max(q.numel(), k.numel())} elements', rows_within(o.flatten(0, 1), w.flatten(0, 1)))


if torch.cuda.mem_get_info()[0] > 60e9:
    large((2, 64), 1, 131080, 16, 128)
    large((1, 64), 64, 16, 524289, 64)


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


refused('fp32 is refused', 'not <f2', lambda: attnlab.forward(4, q.float(), k, v))
refused('bf16 is refused', 'not <f2', lambda: attnlab.forward(4, q.bfloat16(), k, v))
refused('every second element is refused', 'lie 2 apart', lambda: attnlab.forward(4, q[..., ::2], k[..., ::2], v[..., ::2]))
refused('a gradient is wanted', 'requires grad', lambda: attnlab.forward(4, q.clone().requires_grad_(), k, v))
refused('two devices are refused', 'one device', lambda: attnlab.forward(4, q.cpu().numpy(), k, v))
refused('the emulator is refused', 'copy them to the host', lambda: attnlab.forward(4, q, k, v, device='emu'))
refused('head_dim 40 is refused', 'head_dim', lambda: attnlab.forward(4, *(x[..., :40].contiguous() for x in (q, k, v))))
refused('an odd address is refused', '16 bytes', lambda: attnlab.forward(4, q.flatten()[1:].as_strided((1, 1, 8, 64), (512, 512, 64, 1)), k[:, :1], v[:, :1]))
check('no rows', tuple(attnlab.forward(4, q[:, :, :0], k, v).shape) == (1, 8, 0, 64))
end()
