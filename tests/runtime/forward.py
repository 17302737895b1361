"""attnlab.forward on NumPy arrays and DLPack, on the emulator: every stage against NumPy, strides, refusals; records."""
import os

import attnlab
import numpy as np

from placed import places
from tap import check, end, refused


def wanted(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None]
    if causal:
        s = np.where(j <= i + (k.shape[2] - q.shape[2] if causal == 'bottom-right' else 0), s, -np.inf)
    m = s.max(-1, keepdims=True)
    p = np.exp(s - m)
    return p / p.sum(-1, keepdims=True) @ v, np.log(p.sum(-1)) + m[..., 0]


dice = np.random.default_rng(1)
q = dice.standard_normal((2, 4, 70, 64)).astype(np.float16)
k, v = (dice.standard_normal((2, 2, 130, 64)).astype(np.float16) for _ in range(2))
# Where O is above 1, fp16 rounds it by more. Stage 6 sums the rounded P, so its LSE is that much off.
for stage in (1, 2, 3, 4, 6):
    for causal in (False, 'bottom-right', 'top-left'):
        o, lse = attnlab.forward(stage, q, k, v, causal=causal, device='emu', return_lse=True)
        right, right_lse = wanted(q, k, v, causal)
        check(f'stage {stage}, causal {causal}', (abs(o - right) / np.maximum(1, abs(right))).max() < 1e-3
              and abs(lse - right_lse).max() < (1e-3 if stage == 6 else 1e-4))


def emulated(*arrays, **more):
    return attnlab.forward(2, *arrays, device='emu', **more)


plain = emulated(q, k, v)
rows = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for x in (q, k, v)]
check('heads between the rows: the same bits', np.array_equal(emulated(*rows), plain))
wide = np.full((2, 4, 70, 80), 7, np.float16)
emulated(q, k, v, out=wide[..., :64])
check('into a wider array, whose gaps stay', np.array_equal(wide[..., :64], plain) and (wide[..., 64:] == 7).all())


def lay(x, first, row):
    flat = np.full(first + x[..., 0].size * row, np.nan, np.float16)
    b, h, s, d = x.shape
    there = np.lib.stride_tricks.as_strided(flat[first:], x.shape, [2 * n for n in (h * s * row, s * row, row, 1)])
    there[...] = x
    return there


# every address and stride that is a multiple of 16 bytes: the same bits, and the gaps stay
first = {}
for name, *there, o in places(lambda shape: dice.standard_normal(shape).astype(np.float16), lay, [(1, 4, 70, 64), (1, 2, 130, 64), (1, 2, 130, 64)]):
    for stage in (1, 2, 3, 4, 6):
        attnlab.forward(stage, *there, causal=True, device='emu', out=o)
        gaps = np.lib.stride_tricks.as_strided(o, (4 * 70 - 1, o.strides[2] // 2), (o.strides[2], 2))[:, 64:]
        check(f'stage {stage}, {name}', np.array_equal(first.setdefault(stage, o.copy()), o) and np.isnan(gaps).all())
check('True is bottom-right', np.array_equal(emulated(q, k, v, causal=True), emulated(q, k, v, causal='bottom-right')))
check('scale', not np.array_equal(emulated(q, k, v, scale=0.5), plain))
check('no rows', emulated(q[:, :, :0], k, v).shape == (2, 4, 0, 64))


class OnlyDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


out, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
emulated(*map(OnlyDLPack, (q, k, v)), out=out, lse=lse)
check('by DLPack: the same bits', np.array_equal(out, plain))


class Differentiated:
    """As PyTorch's tensors whose gradient is wanted."""
    @property
    def __cuda_array_interface__(self):
        raise RuntimeError('use tensor.detach()')


odd = np.zeros(q.size + 8, np.float16)[1:q.size + 1].reshape(q.shape)
fixed = np.empty_like(q)
fixed.flags.writeable = False
refused('fp32', 'not <f2', lambda: emulated(q.astype(np.float32), k, v))
refused('a list', 'is a list', lambda: emulated([1], k, v))
refused('a gradient is wanted', 'q: use tensor.detach()', lambda: emulated(Differentiated(), k, v))
refused('three dimensions', '3 dimensions', lambda: emulated(q[0], k[0], v[0]))
refused('every second element', 'lie 2 apart', lambda: emulated(q[..., ::2], k[..., ::2], v[..., ::2]))
refused('backwards', 'stride of -64', lambda: emulated(q[:, :, ::-1], k, v))
refused('one row for all', 'stride of 0', lambda: emulated(np.broadcast_to(q[:, :, :1], q.shape), k, v))
refused('an odd address', '16 bytes', lambda: emulated(odd, k, v))
for at in range(1, 8):
    for n in range(4):
        there = [lay(x, at if m == n else 0, 64) for m, x in enumerate((q, k, v, q))]
        refused(f'{2 * at} bytes past', '16 bytes', lambda: emulated(*there[:3], out=there[3]))
refused('k and v differ', 'must be alike', lambda: emulated(q, k, v[:, :1]))
refused('batches differ', 'differ in batch', lambda: emulated(q[:1], k, v))
refused('causal', 'bottom-right', lambda: emulated(q, k, v, causal='left'))
refused('out is too small', 'not (2, 4, 70, 64)', lambda: emulated(q, k, v, out=np.empty_like(q)[:1]))
refused('out cannot be written', 'writeable', lambda: emulated(q, k, v, out=fixed))
for scale in (0.0, -1.0, float('inf'), float('nan')):
    refused(f'scale {scale}', f'scale is {scale}: a finite number above 0', lambda: emulated(q, k, v, scale=scale), ValueError)


class OnGPU:
    """As an array of a GPU: these are refused before it is looked at."""
    def __init__(self, x, **device):
        self.x, self.device = x, type('Device', (), device)()

    @property
    def __cuda_array_interface__(self):
        return self.x.__array_interface__


def on_gpu(q, k, v, out, lse=None):
    lse = np.empty(out.shape[:3], np.float32) if lse is None else lse
    return attnlab.forward(2, *(x if isinstance(x, OnGPU) else OnGPU(x) for x in (q, k, v)), out=OnGPU(out), lse=OnGPU(lse))


o = np.empty_like(q)
refused('k on another GPU, as PyTorch says it', 'k is on another GPU', lambda: on_gpu(q, OnGPU(k, index=1), v, o))
refused('v on another GPU, as CuPy says it', 'v is on another GPU', lambda: on_gpu(q, k, OnGPU(v, id=1), o))
refused('out is k', 'out overlaps k', lambda: on_gpu(k, k, v, k))
refused('out is v', 'out overlaps v', lambda: on_gpu(k, k, v, v))
moved = np.empty(q.size + 64, np.float16)
refused('out is q, moved by a row', 'out overlaps q and is not q',
        lambda: on_gpu(moved[:-64].reshape(q.shape), k, v, moved[64:].reshape(q.shape)))
refused('lse in q', 'lse overlaps q', lambda: on_gpu(q, k, v, o, q.reshape(-1)[:2 * 2 * 4 * 70].view(np.float32).reshape(2, 4, 70)))
packed = np.empty((2, 70, 3, 4, 64), np.float16)  # q, k and v between each other
there = [attnlab._Tensor(name, OnGPU(packed[:, :, n].transpose(0, 2, 1, 3))) for n, name in enumerate('qkv')]
attnlab._check_gpu(there, there[0], attnlab._Tensor('lse', np.empty((2, 4, 70), np.float32), '<f4'))
check('out is q, in memory that has k and v between its rows', True)
empty = attnlab._Tensor('q', OnGPU(np.empty((2, 4, 0, 64), np.float16)))
check('what is empty overlaps nothing', not empty.overlaps(there[0]) and not there[0].overlaps(empty) and there[0].overlaps(there[0]))
refused('no such stage', 'no stage 9', lambda: attnlab.forward(9, q, k, v))
refused('head_dim 32', 'head_dim 64 and 128', lambda: emulated(*(x[..., :32].copy() for x in (q, k, v))), attnlab.Unsupported)
refused('3 heads on 2', 'multiple of kv-heads', lambda: emulated(q[:, :3], k, v), attnlab.Unsupported)
refused('another chip', 'already stands for h200', lambda: emulated(q, k, v, chip='l4'))
os.environ['BUILD'] = '/nowhere'
refused('nothing built', 'make python', lambda: attnlab.forward(1, q, k, v) if 1 not in attnlab._stages else attnlab.forward(7, q, k, v))

try:
    import pandas  # noqa: F401
    frame = attnlab.records('h200')
    mine = frame[(frame.stage == '4-tuned') & (frame['problem.text'] == 'B1 H8 S512 D64')]
    check('records', len(frame) > 20 and mine['samples.median_us'].iloc[-1] < 20 and mine['tensor_active_pct'].notna().any())
    import tempfile
    import warnings
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl') as damaged, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        damaged.write('{"stage": "1", "counters": [{"name": "a", "value": 2}]}\n{"cut\n{"stage": "2"}\n')
        damaged.flush()
        frame = attnlab.records(damaged.name)
        check('a damaged line is named', list(frame.stage) == ['1', '2'] and frame.a[0] == 2 and
              [str(w.message).split(': no whole')[0] for w in said if 'no whole' in str(w.message)] == [f'{damaged.name}:2'])
except ImportError:
    check('records # SKIP no pandas', True)
try:
    attnlab.records('nothing')
    check('no such records', False)
except FileNotFoundError as error:
    check('no such records', 'nothing' in str(error))
end()
