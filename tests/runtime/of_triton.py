"""Kernels in the manner of Triton's tutorials, compiled without a GPU and run on the emulator: a row for each.

    PYTHONPATH=runtime/python python tests/runtime/of_triton.py [NAME...]        python with triton; make python first

Each is compared with NumPy in float64. Exit status 1 if one is wrong, or if a check of the emulator failed."""
import os
import sys

os.environ.setdefault('TRITON_DEFAULT_FP_FUSION', '1')  # said, so that Triton does not warn
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice

import attnlab
from python_table import Table

TYPES = {np.float32: '*fp32', np.float16: '*fp16', np.int32: '*i32', np.int8: '*i8', np.uint8: '*u8', np.uint16: '*bf16', np.int64: '*i64'}
table = Table('triton')
random = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def compiled(kernel, args, constants, **options):
    """What triton.compile makes of a kernel whose arguments are these, as a launch on a GPU would: addresses and numbers that
    16 divides are said to be so."""
    names = [n for n in kernel.arg_names if n not in constants]
    signature = {n: TYPES[a.dtype.type] if isinstance(a, np.ndarray) else 'fp32' if isinstance(a, float) else 'i32'
                 for n, a in zip(names, args)}
    even = {(kernel.arg_names.index(n),): [['tt.divisibility', 16]] for n, a in zip(names, args)
            if isinstance(a, np.ndarray) or isinstance(a, int) and a % 16 == 0}
    source = ASTSource(kernel, {n: signature.get(n, 'constexpr') for n in kernel.arg_names},
                       {(kernel.arg_names.index(n),): v for n, v in constants.items()}, even)
    return triton.compile(source, target=GPUTarget('cuda', 90, 32), options=options)


def launch(kernel, grid, args, num_warps=4, num_stages=3, num_ctas=1, **constants):
    k = attnlab.TritonKernel(compiled(kernel, args, constants, num_warps=num_warps, num_stages=num_stages, num_ctas=num_ctas),
                             run=('--jobs', '1'))
    k(grid, args)
    return k


# ---- Elements -------------------------------------------------------------------------------------------------

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def add_dependent(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out + i, a + b, mask=i < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def asin(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.asin(tl.load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def rotary(x, cos, sin, out, dim, HALF: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, HALF)
    a, b = tl.load(x + row * dim + i), tl.load(x + row * dim + HALF + i)
    c, s = tl.load(cos + row * HALF + i), tl.load(sin + row * HALF + i)
    tl.store(out + row * dim + i, a * c - b * s)
    tl.store(out + row * dim + HALF + i, b * c + a * s)


@table.row('vector add')
def _():
    x, y, out = normal(5000), normal(5000), np.zeros(5000, np.float32)
    return launch(add, 5, (x, y, out, 5000), BLOCK=1024), out, x.astype('f8') + y, 1e-6


@table.row('vector add, dependent launch')
def _():
    x, y, out = normal(4096), normal(4096), np.zeros(4096, np.float32)
    return launch(add_dependent, 4, (x, y, out, 4096), BLOCK=1024), out, x.astype('f8') + y, 1e-6


@table.row('dropout of a seed')
def _():
    x, out, again = normal(4096) + 10, np.zeros(4096, np.float32), np.zeros(4096, np.float32)
    k = launch(dropout, 4, (x, out, 4096, 0.5, 123), BLOCK=1024)
    k(4, (x, again, 4096, 0.5, 123))
    kept = out != 0
    assert np.array_equal(out, again) and 0.45 < kept.mean() < 0.55, kept.mean()
    return k, out, np.where(kept, x / 0.5, 0), 1e-6


@table.row('asin of libdevice')
def _():
    x, out = random.uniform(-1, 1, 3000).astype('f4'), np.zeros(3000, np.float32)
    return launch(asin, 3, (x, out, 3000), BLOCK=1024), out, np.arcsin(x.astype('f8')), 1e-6


@table.row('rotary embedding')
def _():
    x, angle, out = normal(8, 64), random.uniform(0, 6, (8, 32)), np.zeros((8, 64), np.float32)
    k = launch(rotary, 8, (x, np.cos(angle).astype('f4'), np.sin(angle).astype('f4'), out, 64), num_warps=1, HALF=32)
    a, b = x[:, :32].astype('f8'), x[:, 32:].astype('f8')
    return k, out, np.hstack([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)]), 1e-5


# ---- Rows -----------------------------------------------------------------------------------------------------

@triton.jit
def softmax(x, out, stride, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        v = tl.load(x + row * stride + i, mask=i < columns, other=-float('inf'))
        e = tl.exp(v - tl.max(v, 0))
        tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def layer_norm(x, out, weight, bias, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + i, mask=i < n, other=0.)
    m = tl.sum(total, 0) / n
    total = tl.zeros([BLOCK], tl.float32)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        d = tl.where(i < n, tl.load(x + row * stride + i, mask=i < n, other=0.) - m, 0.)
        total += d * d
    r = 1 / tl.sqrt(tl.sum(total, 0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = (tl.load(x + row * stride + i, mask=i < n) - m) * r
        tl.store(out + row * stride + i, v * tl.load(weight + i, mask=i < n) + tl.load(bias + i, mask=i < n), mask=i < n)


@triton.jit
def layer_norm_back(dx, dy, dw, db, x, weight, mean, rstd, lock, stride, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    there = i < n
    xi, dyi = tl.load(x + row * stride + i, mask=there, other=0.), tl.load(dy + row * stride + i, mask=there, other=0.)
    w, m, r = tl.load(weight + i, mask=there, other=0.), tl.load(mean + row), tl.load(rstd + row)
    xhat = tl.where(there, (xi - m) * r, 0.)
    wdy = tl.where(there, w * dyi, 0.)
    c1, c2 = tl.sum(xhat * wdy, 0) / n, tl.sum(wdy, 0) / n
    tl.store(dx + row * stride + i, (wdy - (xhat * c1 + c2)) * r, mask=there)
    group = row % GROUP
    count = lock + GROUP + group
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    pw, pb = dyi * xhat, dyi
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        pw += tl.load(dw + group * n + i, mask=there)
        pb += tl.load(db + group * n + i, mask=there)
    tl.store(dw + group * n + i, pw, mask=there)
    tl.store(db + group * n + i, pb, mask=there)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def column_sums(x, out, rows, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for at in range(0, rows, ROWS):
        r = at + tl.arange(0, ROWS)
        total += tl.load(x + r[:, None] * n + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < n), other=0.)
    tl.store(out + c, tl.sum(total, 0), mask=c < n)


@triton.jit
def rms_norm(x, weight, out, n, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(out + row * n + i, (v * r * tl.load(weight + i, mask=i < n)).to(tl.float16), mask=i < n)


@triton.jit
def cross_entropy(logits, target, loss, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(logits + row * n + i, mask=i < n, other=-float('inf'))
    top = tl.max(v, 0)
    tl.store(loss + row, top + tl.log(tl.sum(tl.exp(v - top), 0)) - tl.load(logits + row * n + tl.load(target + row)))


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + i, tl.cumsum(tl.load(x + row * n + i, mask=i < n, other=0.), 0), mask=i < n)


@triton.jit
def sort(x, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + i, tl.sort(tl.load(x + row * n + i)))


@triton.jit
def histogram(x, bins, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n))


def normed(x):
    x = x.astype('f8')
    m, r = x.mean(1, keepdims=True), 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return m, r, (x - m) * r


@table.row('softmax of rows')
def _():
    x, out = normal(37, 781), np.zeros((37, 781), np.float32)
    e = np.exp(x.astype('f8') - x.max(1, keepdims=True))
    return launch(softmax, 8, (x, out, 781, 37, 781), BLOCK=1024), out, e / e.sum(1, keepdims=True), 1e-6


@table.row('layer norm, forward')
def _():
    x, w, b, out = normal(6, 1000), normal(1000), normal(1000), np.zeros((6, 1000), np.float32)
    m, r = np.zeros(6, np.float32), np.zeros(6, np.float32)
    return launch(layer_norm, 6, (x, out, w, b, m, r, 1000, 1000, 1e-5), BLOCK=256), out, normed(x)[2] * w + b, 1e-5


@table.row('layer norm, backward, locks')
def _():
    x, dy, w = normal(8, 200), normal(8, 200), normal(200)
    m, r, xhat = normed(x)
    dx, dw, db, lock = np.zeros_like(x), np.zeros((2, 200), np.float32), np.zeros((2, 200), np.float32), np.zeros(4, np.int32)
    k = launch(layer_norm_back, 8, (dx, dy, dw, db, x, w, m.astype('f4'), r.astype('f4'), lock, 200, 200), GROUP=2, BLOCK=256)
    wdy = w * dy.astype('f8')
    want = (wdy - (xhat * (xhat * wdy).mean(1, keepdims=True) + wdy.mean(1, keepdims=True))) * r
    return k, np.vstack([dx, dw.sum(0), db.sum(0)]), np.vstack([want, (dy * xhat).sum(0), dy.sum(0)]), 1e-4


@table.row('sums of columns')
def _():
    x, out = normal(70, 100), np.zeros(100, np.float32)
    return launch(column_sums, 2, (x, out, 70, 100), ROWS=32, COLUMNS=64), out, x.astype('f8').sum(0), 1e-4


@table.row('RMS norm, fp16')
def _():
    x, w, out = normal(4, 512, dtype=np.float16), normal(512, dtype=np.float16), np.zeros((4, 512), np.float16)
    v = x.astype('f8')
    want = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-6) * w
    return launch(rms_norm, 4, (x, w, out, 512, 1e-6), BLOCK=512), out, want, 1e-2


@table.row('cross entropy')
def _():
    x, t, out = normal(9, 300), random.integers(0, 300, 9).astype('i4'), np.zeros(9, np.float32)
    v = x.astype('f8')
    return launch(cross_entropy, 9, (x, t, out, 300), BLOCK=512), out, np.log(np.exp(v).sum(1)) - v[np.arange(9), t], 1e-5


@table.row('prefix sums')
def _():
    x, out = normal(3, 700), np.zeros((3, 700), np.float32)
    return launch(scan, 3, (x, out, 700), BLOCK=1024), out, x.astype('f8').cumsum(1), 1e-3


@table.row('sort')
def _():
    x, out = normal(2, 256), np.zeros((2, 256), np.float32)
    return launch(sort, 2, (x, out, 256), BLOCK=256), out, np.sort(x), 0


@table.row('histogram')
def _():
    x, bins = random.integers(0, 64, 3000).astype('i4'), np.zeros(64, np.int32)
    return launch(histogram, 3, (x, bins, 3000), BINS=64, BLOCK=1024), bins, np.bincount(x, minlength=64), 0


# ---- Products -------------------------------------------------------------------------------------------------

@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, RELU: tl.constexpr,
           PRECISION: tl.constexpr):
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    m, n = first + pid % (GROUP * columns) % size, pid % (GROUP * columns) // size
    rm, rn, rk = (m * BM + tl.arange(0, BM)) % M, (n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    pa, pb = a + rm[:, None] * K + rk[None, :], b + rk[:, None] * N + rn[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        total = tl.dot(tl.load(pa, mask=rk[None, :] < left, other=0.), tl.load(pb, mask=rk[:, None] < left, other=0.), total,
                       input_precision=PRECISION)
        pa += BK
        pb += BK * N
    if RELU:
        total = tl.where(total >= 0, total, 0.01 * total)
    rm, rn = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    tl.store(c + rm[:, None] * N + rn[None, :], total.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_int8(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        total += tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]))
    tl.store(c + rm[:, None] * N + rn[None, :], total)


@triton.jit
def matmul_split(a, b, c, N, K, PART: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.program_id(1) * PART, (tl.program_id(1) + 1) * PART, BK):
        total += tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]))
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], total)


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), flatten=True):
        m, n = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(da.load([m, k]), db.load([n, k]).T, total)
        dc.store([m, n], total.to(tl.float16))


@triton.jit
def matmul_roles(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        total = tl.dot(da.load([m, k]), db.load([n, k]).T, total)
    dc.store([m, n], total.to(tl.float16))


@triton.jit
def attention(q, k, v, out, scale, n, BQ: tl.constexpr, BKV: tl.constexpr, DIM: tl.constexpr, CAUSAL: tl.constexpr):
    rows, d, head = tl.program_id(0) * BQ + tl.arange(0, BQ), tl.arange(0, DIM), tl.program_id(1) * n * DIM
    tile = tl.load(q + head + rows[:, None] * DIM + d[None, :])
    m, l, o = tl.full([BQ], -float('inf'), tl.float32), tl.zeros([BQ], tl.float32), tl.zeros([BQ, DIM], tl.float32)
    for at in range(0, (tl.program_id(0) + 1) * BQ if CAUSAL else n, BKV):
        keys = at + tl.arange(0, BKV)
        s = tl.dot(tile, tl.load(k + head + keys[None, :] * DIM + d[:, None])) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(keys[None, :] <= rows[:, None], s, -float('inf'))
        top = tl.maximum(m, tl.max(s, 1))
        p, alpha = tl.exp2(s - top[:, None]), tl.exp2(m - top)
        l = l * alpha + tl.sum(p, 1)
        o = tl.dot(p.to(tl.float16), tl.load(v + head + keys[:, None] * DIM + d[None, :]), o * alpha[:, None])
        m = top
    tl.store(out + head + rows[:, None] * DIM + d[None, :], (o / l[:, None]).to(tl.float16))


def product(kernel, grid, dtype, tolerance, m=128, n=128, k=96, transposed=False, out=None, **more):
    a, b = normal(m, k).astype(dtype), normal(k, n).astype(dtype)
    c = np.zeros((m, n), out or dtype)
    given = (a, np.ascontiguousarray(b.T) if transposed else b, c)
    want = a.astype('f8') @ b.astype('f8')
    sizes = (m, n, k) if 'M' in kernel.arg_names else (n, k)
    return launch(kernel, grid, (*given, *sizes), **more), c, want, tolerance


@table.row('product, fp16, leaky ReLU')
def _():
    k, c, want, tolerance = product(matmul, 4, np.float16, 5e-2, m=100, n=112, BM=64, BN=64, BK=32, GROUP=2, RELU=True, PRECISION='tf32')
    return k, c, np.where(want >= 0, want, 0.01 * want), tolerance


@table.row('product, TF32')
def _():
    return product(matmul, 4, np.float32, 5e-2, BM=64, BN=64, BK=32, GROUP=2, RELU=False, PRECISION='tf32')


@table.row('product, three TF32 for fp32')
def _():
    return product(matmul, 4, np.float32, 1e-4, BM=64, BN=64, BK=32, GROUP=2, RELU=False, PRECISION='tf32x3')


@table.row('product, fp32 without tensor cores')
def _():
    return product(matmul, 4, np.float32, 1e-4, BM=64, BN=64, BK=32, GROUP=2, RELU=False, PRECISION='ieee')


@table.row('product, int8')
def _():
    a, b, c = random.integers(-99, 99, (128, 64)).astype('i1'), random.integers(-99, 99, (64, 128)).astype('i1'), np.zeros((128, 128), np.int32)
    return launch(matmul_int8, (2, 2), (a, b, c, 128, 64), BM=64, BN=64, BK=32), c, a.astype('i8') @ b, 0


@table.row('product, parts added by atomics')
def _():
    return product(matmul_split, (2, 3), np.float16, 5e-2, n=64, k=192, out=np.float32, PART=64, BM=64, BN=64, BK=32)


@table.row('product, persistent, TMA')
def _():
    return product(matmul_tma, 2, np.float16, 5e-2, k=128, transposed=True, BM=64, BN=64, BK=64)


@table.row('product, warps with roles')
def _():
    return product(matmul_roles, (1, 2), np.float16, 5e-2, k=256, transposed=True, BM=128, BN=64, BK=64)


@table.row('product, clusters of two')
def _():
    return product(matmul, 2, np.float16, 5e-2, BM=128, BN=64, BK=32, GROUP=1, RELU=False, PRECISION='tf32', num_ctas=2)


def attended(causal):
    q, k, v = (normal(2, 128, 64, dtype=np.float16) for _ in range(3))
    out = np.zeros_like(q)
    done = launch(attention, (2, 2), (q, k, v, out, 0.125, 128), BQ=64, BKV=32, DIM=64, CAUSAL=causal)
    s = q.astype('f8') @ k.astype('f8').transpose(0, 2, 1) * 0.125
    if causal:
        s = np.where(np.tri(128, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(2, keepdims=True))
    return done, out, p / p.sum(2, keepdims=True) @ v.astype('f8'), 1e-2


@table.row('attention')
def _():
    return attended(False)


@table.row('attention, causal')
def _():
    return attended(True)


# ---- Scans of pairs, small floats --------------------------------------------------------------------------------

@triton.jit
def combine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, out, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + r * N + i), tl.load(b + r * N + i)), 0, combine)
    tl.store(out + r * N + i, h)


@table.row('linear recurrence, tuple scan')
def _():
    a, b, out = random.uniform(.5, 1, (3, 256)).astype('f4'), normal(3, 256), np.zeros((3, 256), np.float32)
    want, h = np.zeros((3, 256)), np.zeros(3)
    for t in range(256):
        want[:, t] = h = h * a[:, t] + b[:, t]
    return launch(recurrence, (3,), (a, b, out), N=256), out, want, 1e-4


@triton.jit
def fp8(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    ka, kb = tl.arange(0, K)[None, :], tl.arange(0, K)[:, None]
    x = tl.load(a + m * K + ka).to(tl.float8e4nv, bitcast=True)
    y = tl.load(b + n * K + kb).to(tl.float8e4nv, bitcast=True)
    tl.store(c + m * N + n, tl.dot(x, y))


@table.row('product, fp8')
def _():
    bits = np.array([0x30, 0x38, 0x40, 0xb8, 0x00, 0xb0, 0x3c], 'u1')  # as e4m3
    real = np.array([.5, 1, 2, -1, 0, -.5, 1.5])
    ia, ib = random.integers(0, 7, (64, 128)), random.integers(0, 7, (64, 128))
    a, b, c = bits[ia], bits[ib], np.zeros((64, 64), np.float32)
    return launch(fp8, (1,), (a, b, c), M=64, N=64, K=128), c, real[ia] @ real[ib].T, 0


@triton.jit
def scaled(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(a + m * (K // 2) + tl.arange(0, K // 2)[None, :])
    y = tl.load(b + n * (K // 2) + tl.arange(0, K // 2)[:, None])
    s = tl.arange(0, K // 32)[None, :]
    xs = tl.load(sa + m * (K // 32) + s)
    ys = tl.load(sb + tl.arange(0, N)[:, None] * (K // 32) + s)
    tl.store(c + m * N + n, tl.dot_scaled(x, xs, 'e2m1', y, ys, 'e2m1'))


@table.row('product, mxfp4')
def _():
    e2m1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
    a, b = random.integers(0, 16, (2, 128, 128))
    sa, sb = random.integers(125, 130, (2, 128, 4)).astype('u1')  # exponents, each of 32 elements
    wide = [e2m1[x] * np.repeat(2. ** (s.astype('f8') - 127), 32, 1) for x, s in ((a, sa), (b, sb))]
    pa, pb = [(x[:, ::2] | x[:, 1::2] << 4).astype('u1') for x in (a, b)]
    c = np.zeros((128, 128), np.float32)
    return launch(scaled, (1,), (pa, sa, pb, sb, c), M=128, N=128, K=128), c, wide[0] @ wide[1].T, 0

sys.exit(table.print(sys.argv[1:]))
