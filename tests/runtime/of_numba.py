"""Kernels in the manner of Numba's examples, compiled without a GPU and run on the emulator: a row for each.

    PYTHONPATH=runtime/python python tests/runtime/of_numba.py [NAME...]        python with numba-cuda; make python first

Each is compared with NumPy in float64. Exit status 1 if one is wrong, or if a check of the emulator failed."""
import math
import sys

import numpy as np
from numba import complex64, cuda, float32, int32
from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype, xoroshiro128p_uniform_float32

import attnlab
from python_table import Table

table = Table('numba')
random = np.random.default_rng(0)
TILE, PADDED = 16, 17
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def launch(function, grid, block, *args, shared=0):
    k = attnlab.NumbaKernel(function, run=('--jobs', '1'))
    k(grid, block, args, shared)
    return k


# ---- Elements -------------------------------------------------------------------------------------------------

@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def scale_strided(x, factor):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] *= factor


@cuda.jit
def add_2d(a, b, out):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column] + b[row, column]


@cuda.jit
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i >= price.shape[0]:
        return
    root = math.sqrt(years[i])
    d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root)
    n1, n2 = 0.5 * math.erfc(-d1 / math.sqrt(2.0)), 0.5 * math.erfc(-(d1 - volatility * root) / math.sqrt(2.0))
    discounted = strike[i] * math.exp(-rate * years[i])
    call[i] = price[i] * n1 - discounted * n2
    put[i] = discounted * (1 - n2) - price[i] * (1 - n1)


@cuda.jit(device=True)
def escapes(c, most):
    z = 0j
    for i in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return most


@cuda.jit
def mandelbrot(image, corner, step, most):
    y, x = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        image[y, x] = escapes(corner + complex(x * step, y * step), most)


@cuda.jit
def bits(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0], out[i, 1], out[i, 2] = cuda.popc(x[i]), cuda.clz(x[i]), cuda.brev(x[i])


@cuda.jit
def step_of(particles, dt):
    i = cuda.grid(1)
    if i < particles.size:
        particles[i].x += particles[i].v * dt
        particles[i].steps += 1


@table.row('axpy, float64')
def _():
    x, y = normal(1000, dtype=np.float64), normal(1000, dtype=np.float64)
    want = 2.5 * x + y
    return launch(axpy, 8, 128, 2.5, x, y), y, want, 1e-12


@table.row('grid-stride loop')
def _():
    x = normal(5000)
    want = x.astype('f8') * 3
    return launch(scale_strided, 4, 128, x, np.float32(3)), x, want, 1e-5


@table.row('sum of matrices, one by columns')
def _():
    a, b, out = normal(30, 50), np.asfortranarray(normal(30, 50)), np.zeros((30, 50), np.float32)
    return launch(add_2d, (2, 4), (16, 16), a, b, out), out, a.astype('f8') + b, 1e-6


@table.row('Black-Scholes')
def _():
    n = 500
    price, strike, years = random.uniform(5, 30, n), random.uniform(1, 100, n), random.uniform(.25, 10, n)
    call, put = np.zeros(n), np.zeros(n)
    k = launch(black_scholes, 4, 128, call, put, price, strike, years, 0.02, 0.3)
    d1 = (np.log(price / strike) + (0.02 + 0.045) * years) / (0.3 * np.sqrt(years))
    normal_below = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    n1, n2, k2 = normal_below(d1), normal_below(d1 - 0.3 * np.sqrt(years)), strike * np.exp(-0.02 * years)
    return k, np.stack([call, put]), np.stack([price * n1 - k2 * n2, k2 * (1 - n2) - price * (1 - n1)]), 1e-9


@table.row('Mandelbrot set, complex numbers')
def _():
    image, want = np.zeros((24, 32), np.int32), np.zeros((24, 32))
    k = launch(mandelbrot, (2, 2), (16, 16), image, np.complex128(-2 - 1j), 0.08, 20)
    for y in range(24):
        for x in range(32):
            want[y, x] = escapes.py_func((-2 - 1j) + complex(x * 0.08, y * 0.08), 20)
    return k, image, want, 0


@table.row('popc, clz, brev')
def _():
    x, out = random.integers(0, 1 << 31, 300).astype('u4'), np.zeros((300, 3), np.uint32)
    want = [[f'{v:032b}'.count('1'), 32 - int(v).bit_length(), int(f'{v:032b}'[::-1], 2)] for v in x]
    return launch(bits, 3, 128, x, out), out, np.array(want, 'f8'), 0


@table.row('arrays of records')
def _():
    p = np.zeros(200, np.dtype([('x', 'f4'), ('v', 'f4'), ('steps', 'i4')], align=True))
    p['v'] = normal(200)
    k = launch(step_of, 2, 128, p, np.float32(0.5))
    return k, np.stack([p['x'], p['steps']]), np.stack([p['v'] * 0.5, np.ones(200)]), 1e-7


# ---- Blocks that work together ----------------------------------------------------------------------------------

@cuda.jit
def sum_of_block(x, out):
    part = cuda.shared.array(128, float32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    part[tid] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step:
        if tid < step:
            part[tid] += part[tid + step]
        cuda.syncthreads()
        step //= 2
    if tid == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def sum_of_warp(x, out):
    value = x[cuda.grid(1)]
    for lanes in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xffffffff, value, lanes)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit
def scan_of_block(x, out):
    part = cuda.shared.array(0, float32)  # dynamic
    tid = cuda.threadIdx.x
    part[tid] = x[tid]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        add = part[tid - step] if tid >= step else float32(0)
        cuda.syncthreads()
        part[tid] += add
        cuda.syncthreads()
        step *= 2
    out[tid] = part[tid]


@cuda.jit
def histogram(x, bins):
    mine = cuda.shared.array(32, int32)
    tid = cuda.threadIdx.x
    if tid < 32:
        mine[tid] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if tid < 32:
        cuda.atomic.add(bins, tid, mine[tid])


@cuda.jit
def largest(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])


@cuda.jit
def odd_even_sort(x):
    s = cuda.shared.array(64, int32)
    tid = cuda.threadIdx.x
    s[tid], s[tid + 32] = x[tid], x[tid + 32]
    for turn in range(64):
        cuda.syncthreads()
        i = 2 * tid + turn % 2
        if i + 1 < 64 and s[i] > s[i + 1]:
            s[i], s[i + 1] = s[i + 1], s[i]
    cuda.syncthreads()
    x[tid], x[tid + 32] = s[tid], s[tid + 32]


@cuda.jit
def vote(x, out):
    i = cuda.grid(1)
    ballot = cuda.ballot_sync(0xffffffff, x[i] > 0)
    if cuda.laneid == 0:
        out[i // 32] = cuda.popc(ballot)


@table.row('sum by shared memory')
def _():
    x, out = normal(1000), np.zeros(1, np.float32)
    return launch(sum_of_block, 8, 128, x, out), out, x.astype('f8').sum(keepdims=True), 1e-3


@table.row('sum by shuffles')
def _():
    x, out = normal(512), np.zeros(1, np.float32)
    return launch(sum_of_warp, 4, 128, x, out), out, x.astype('f8').sum(keepdims=True), 1e-3


@table.row('prefix sums, dynamic shared memory')
def _():
    x, out = normal(128), np.zeros(128, np.float32)
    return launch(scan_of_block, 1, 128, x, out, shared=512), out, x.astype('f8').cumsum(), 1e-4


@table.row('histogram by atomics')
def _():
    x, bins = random.integers(0, 32, 1000).astype('i4'), np.zeros(32, np.int32)
    return launch(histogram, 8, 128, x, bins), bins, np.bincount(x, minlength=32), 0


@table.row('largest, float64')
def _():
    x, out = normal(300, dtype=np.float64), np.full(1, -9.0)
    return launch(largest, 3, 128, x, out), out, x.max(keepdims=True), 0


@table.row('sort of a block')
def _():
    x = random.integers(0, 999, 64).astype('i4')
    want = np.sort(x)
    return launch(odd_even_sort, 1, 32, x), x, want, 0


@table.row('ballots')
def _():
    x, out = normal(256), np.zeros(8, np.int32)
    return launch(vote, 2, 128, x, out), out, (x.reshape(8, 32) > 0).sum(1), 0


# ---- Matrices and grids -----------------------------------------------------------------------------------------

@cuda.jit
def matmul(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def matmul_shared(a, b, c):
    a_tile, b_tile = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for at in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = a[y, tx + at] if y < a.shape[0] and tx + at < a.shape[1] else 0
        b_tile[ty, tx] = b[ty + at, x] if x < b.shape[1] and ty + at < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if row + ty < x.shape[0] and column + tx < x.shape[1]:
        tile[ty, tx] = x[row + ty, column + tx]
    cuda.syncthreads()
    if column + ty < x.shape[1] and row + tx < x.shape[0]:
        out[column + ty, row + tx] = tile[tx, ty]


@cuda.jit
def heat(before, after, k):
    i = cuda.grid(1)
    if i < before.size:
        left, right = before[i - 1] if i > 0 else before[i], before[i + 1] if i + 1 < before.size else before[i]
        after[i] = before[i] + k * (left - 2 * before[i] + right)


@cuda.jit
def blur(image, out):
    weights = cuda.const.array_like(WEIGHTS)
    y, x = cuda.grid(2)
    if 0 < y < image.shape[0] - 1 and 0 < x < image.shape[1] - 1:
        total = float32(0)
        for i in range(3):
            for j in range(3):
                total += weights[i] * weights[j] * image[y + i - 1, x + j - 1]
        out[y, x] = total


@cuda.jit
def life(before, after):
    y, x = cuda.grid(2)
    h, w = before.shape
    if y < h and x < w:
        near = 0
        for i in range(-1, 2):
            for j in range(-1, 2):
                near += before[(y + i) % h, (x + j) % w]
        near -= before[y, x]
        after[y, x] = 1 if near == 3 or (near == 2 and before[y, x]) else 0


@cuda.jit
def n_body(place, force):
    i = cuda.grid(1)
    if i < place.shape[0]:
        mine = cuda.local.array(3, float32)
        for k in range(3):
            mine[k] = 0
        for j in range(place.shape[0]):
            d2 = float32(1e-3)
            for k in range(3):
                d2 += (place[j, k] - place[i, k]) ** 2
            for k in range(3):
                mine[k] += (place[j, k] - place[i, k]) / (d2 * math.sqrt(d2))
        for k in range(3):
            force[i, k] = mine[k]


@cuda.jit
def pi_of(states, out, n):
    i = cuda.grid(1)
    inside = 0
    for _ in range(n):
        x, y = xoroshiro128p_uniform_float32(states, i), xoroshiro128p_uniform_float32(states, i)
        inside += x * x + y * y <= 1
    out[i] = 4 * inside / n


def product(function, m, n, k, grid):
    a, b, c = normal(m, k), normal(k, n), np.zeros((m, n), np.float32)
    return launch(function, grid, (TILE, TILE), a, b, c), c, a.astype('f8') @ b, 1e-4


@table.row('product')
def _():
    return product(matmul, 40, 24, 30, (3, 2))


@table.row('product by tiles')
def _():
    return product(matmul_shared, 40, 24, 30, (2, 3))


@table.row('transposition')
def _():
    x, out = normal(40, 50), np.zeros((50, 40), np.float32)
    return launch(transpose, (4, 3), (TILE, TILE), x, out), out, x.T.astype('f8'), 0


@table.row('heat equation, one step a launch')
def _():
    u, v = np.zeros(100, np.float32), np.zeros(100, np.float32)
    u[50] = 1000
    want = u.astype('f8')
    k = attnlab.NumbaKernel(heat, run=('--jobs', '1'))
    for _ in range(10):
        k(1, 128, (u, v, np.float32(0.25)))
        u, v = v, u
        want += 0.25 * np.diff(np.concatenate([want[:1], want, want[-1:]]), n=2)
    return k, u, want, 1e-3


@table.row('blur, constant weights')
def _():
    x, out = normal(20, 30), np.zeros((20, 30), np.float32)
    want = np.zeros((20, 30))
    for i in range(3):
        for j in range(3):
            want[1:-1, 1:-1] += WEIGHTS[i] * WEIGHTS[j] * x[i:i + 18, j:j + 28].astype('f8')
    return launch(blur, (2, 2), (16, 16), x, out), out, want, 1e-6


@table.row('game of life')
def _():
    x, out = random.integers(0, 2, (24, 24)).astype('i4'), np.zeros((24, 24), np.int32)
    near = sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
    return launch(life, (2, 2), (16, 16), x, out), out, (near == 3) | ((near == 2) & (x == 1)), 0


@table.row('n bodies, local arrays')
def _():
    place, force = normal(60, 3), np.zeros((60, 3), np.float32)
    d = place[None].astype('f8') - place[:, None]
    want = (d / ((d * d).sum(2, keepdims=True) + 1e-3) ** 1.5).sum(1)
    return launch(n_body, 1, 64, place, force), force, want, 1e-1


@table.row('pi by random numbers')
def _():
    states, out = np.zeros(64, xoroshiro128p_dtype), np.zeros(64, np.float32)
    init_xoroshiro128p_states_cpu(states, 1, 0)
    k = launch(pi_of, 1, 64, states, out, 200)
    return k, out.mean(keepdims=True), np.array([math.pi]), 0.05


# ---- Transforms, votes -------------------------------------------------------------------------------------------

@cuda.jit
def fft(x, out):
    s = cuda.shared.array(64, complex64)
    t = cuda.threadIdx.x
    r = 0
    for b in range(6):
        r |= ((t >> b) & 1) << (5 - b)
    s[r] = x[cuda.blockIdx.x, t]
    cuda.syncthreads()
    h = 1
    while h < 64:
        if t < 32:
            i = (t // h) * 2 * h + t % h
            w = -math.pi * (t % h) / h
            b = s[i + h] * complex64(complex(math.cos(w), math.sin(w)))
            a = s[i]
            s[i] = a + b
            s[i + h] = a - b
        cuda.syncthreads()
        h *= 2
    out[cuda.blockIdx.x, t] = s[t]


@table.row('FFT, complex numbers shared')
def _():
    x = (normal(3, 64) + 1j * normal(3, 64)).astype('c8')
    out = np.zeros_like(x)
    k = launch(fft, 3, 64, x, out)
    return k, np.abs(out - np.fft.fft(x.astype('c16'))), np.zeros((3, 64)), 1e-4


@cuda.jit
def match_count(keys, out):
    i = cuda.grid(1)
    m = cuda.match_any_sync(0xffffffff, keys[i])
    lead = cuda.ffs(m) - 1
    if cuda.laneid == lead:
        cuda.atomic.add(out, keys[i], cuda.popc(m))


@table.row('counts by match_any')
def _():
    keys, out = random.integers(0, 7, 256).astype('i4'), np.zeros(7, np.int32)
    return launch(match_count, 2, 128, keys, out), out, np.bincount(keys, minlength=7), 0


@cuda.jit
def reversed_by_grid(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] *= 2
    grid.sync()
    out[i] = x[x.size - 1 - i]


@table.row('grid.sync() of a cooperative grid')
def _():
    x, out = normal(192), np.zeros(192, np.float32)
    want = 2 * x[::-1].astype(float)
    return launch(reversed_by_grid, 3, 64, x, out), out, want, 0

sys.exit(table.print(sys.argv[1:]))
