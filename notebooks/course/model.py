"""Attention in NumPy, tile by tile as the kernels do it; right, or with one well-known mistake.

A wrong answer is compared with what each mistake would give: so a hint can name the cause. Nothing here
knows how a kernel is written; it knows what comes out if, say, O is not rescaled.

    o, lse = model.attention(q, k, v, causal=False, mistake="no-rescale-o", bq=64, bkv=64)

q (heads, Sq, D), k, v (kv_heads, Sk, D): float64. o (heads, Sq, D), lse (heads, Sq)."""
import numpy as np

LOG2E = np.log2(np.e)


def attention(q, k, v, causal=False, mistake="", bq=64, bkv=64):
    group = q.shape[0] // k.shape[0]
    heads = [_head(q[h], k[h // group], v[h // group], causal, mistake, bq, bkv) for h in range(q.shape[0])]
    return np.stack([o for o, _ in heads]), np.stack([lse for _, lse in heads])


def _padded(x, rows):
    return np.concatenate([x, np.zeros((rows - x.shape[0], x.shape[1]))])


def _blocks_transposed(x, size):
    """Each size x size block transposed where it lies."""
    r, c = x.shape[0] // size, x.shape[1] // size
    return x.reshape(r, size, c, size).transpose(0, 3, 2, 1).reshape(x.shape)


def _scores(q, k, mistake):
    """S of one tile: q (64 n, D), k (bkv, D)."""
    d = np.arange(q.shape[1])
    if mistake == "k-transposed":  # K's 16 x 16 squares read the other way round
        k = _blocks_transposed(k, 16)
    if mistake == "q-rows-of-warp-0":
        rows = np.arange(q.shape[0])
        q = q[rows // 64 * 64 + rows % 16]
    if mistake == "first-square-of-q":
        q = q[:, d % 16]
    if mistake == "first-square-of-k":
        k = k[:, d % 16]
    if mistake == "places-by-plus":  # chunk c of row r at (c + r) % 8, and reached by XOR
        q, k = (_at(x, lambda r, c: ((((c & 1) + r) % 8 ^ c & 6) - r) % 8) for x in (q, k))
    if mistake == "first-square":
        q, k = q[:, d % 16], k[:, d % 16]
    if mistake == "places-without-xor":  # at c ^ r, reached by addition from chunk 0 or 1
        q, k = (_walked(x) for x in (q, k))
    s = q @ k.T
    if mistake == "s-transposed":
        s = _blocks_transposed(s, 16)
    if mistake == "s-summed-over-squares":
        s = np.cumsum(s.reshape(s.shape[0], -1, 16), axis=1).reshape(s.shape)
    return s


def _at(x, chunk_of):
    """x (rows, D) as it is read if chunk c of row r (8 elements each) turns out to be chunk_of(r, c)."""
    rows, chunks = np.arange(x.shape[0]), np.arange(x.shape[1] // 8)
    r, c = np.meshgrid(rows, chunks, indexing="ij")
    return x.reshape(x.shape[0], -1, 8)[r, chunk_of(r, c)].reshape(x.shape)


def _walked(x):
    """x as it is read if right() adds where places are XORed: past the end of a row the next one begins."""
    r, c = np.meshgrid(np.arange(x.shape[0]), np.arange(x.shape[1] // 8), indexing="ij")
    at = 8 * r + (c & 1 ^ r % 8) + (c & 6)
    row = np.minimum(at // 8, x.shape[0] - 1)
    return x.reshape(x.shape[0], -1, 8)[row, at % 8 ^ row % 8].reshape(x.shape)


def _product(p, v, mistake):
    """P V of one tile: p (64 n, bkv), v (bkv, D)."""
    if mistake == "first-square":
        v = v[:, np.arange(v.shape[1]) % 16]
    if mistake == "places-by-plus":
        v = _at(v, lambda r, c: ((((c & 1) + r) % 8 ^ c & 6) - r) % 8)
    if mistake == "places-without-xor":
        v = _walked(v)
    if mistake in ("v-transposed-16", "v-transposed-8"):
        v = _blocks_transposed(v, int(mistake.rsplit("-", 1)[1]))
    if mistake == "first-square-of-p":
        p = p[:, np.arange(p.shape[1]) % 16]
    if mistake in ("v-order", "p-order"):  # registers 1 and 2 of 16 x 16 exchanged
        x = v.copy() if mistake == "v-order" else p.copy()
        old = x.copy().reshape(x.shape[0] // 16, 2, 8, x.shape[1] // 16, 2, 8)
        new = x.reshape(old.shape)
        if mistake == "v-order":
            new[:, 1, :, :, 0], new[:, 0, :, :, 1] = old[:, 0, :, :, 1], old[:, 1, :, :, 0]
            return p @ new.reshape(v.shape)
        new[:, 1, :, :, 0], new[:, 0, :, :, 1] = old[:, 0, :, :, 1], old[:, 1, :, :, 0]
        return new.reshape(p.shape) @ v
    return p @ v


def _visible(sq, sk, rows, causal, mistake, bkv):
    i, j = np.arange(rows)[:, None], np.arange(-(-sk // bkv) * bkv)[None, :]
    diagonal = 0 if mistake == "top-left" else sk - sq
    if mistake == "nothing-masked":
        return np.ones((rows, j.size), bool)
    seen = np.ones((rows, j.size), bool) if mistake == "ends-as-zeros" and not causal else (j < sk + (mistake == "one-more")) & (i >= 0)
    if causal and mistake != "unmasked":
        seen &= j <= i + diagonal + {"causal+1": 1, "causal-1": -1, "one-more": 1}.get(mistake, 0)
    return seen


def _head(q, k, v, causal, mistake, bq, bkv):
    sq, sk = q.shape[0], k.shape[0]
    rows, keys = -(-sq // 64) * 64, -(-sk // bkv) * bkv
    seen = _visible(sq, sk, rows, causal, mistake, bkv)
    q, k, v = _padded(q, rows), _padded(k, keys), _padded(v, keys)
    scale = {"unscaled": 1, "base-e": LOG2E**2 / np.sqrt(q.shape[1])}.get(mistake, LOG2E / np.sqrt(q.shape[1]))
    lanes = 8 if mistake == "maximum-of-a-lane" else 1  # a lane has every 8th column
    o, l = np.zeros((rows, q.shape[1])), np.zeros((rows, lanes))
    m = np.full((rows, lanes), -np.inf)
    wide = lambda x, n: np.tile(x, (1, n // lanes))  # of each lane, to its columns
    with np.errstate(all="ignore"):
        # A CTA ends with the tile of its last row's last key.
        n_keys = np.arange(rows) // bq * bq + bq + sk - sq if causal else np.full(rows, keys)
        for t in range(0, keys, bkv):
            before, on = (m, l, o), (t < n_keys)[:, None]
            own = slice(keys - bkv, keys) if mistake == "k-of-the-first-stage" else slice(t, t + bkv)  # tiles are taken from the last one
            s = np.where(seen[:, t:t + bkv], _scores(q, k[own], mistake) * scale, -np.inf)
            new = np.maximum(m, s.reshape(rows, -1, lanes).max(axis=1))
            base = np.where(np.isneginf(new), 0, new)
            alpha = np.ones_like(m) if mistake == "no-rescale" else np.exp2(m - base)
            m = m if mistake == "old-maximum" else new
            p = (np.exp if mistake == "p-base-e" else np.exp2)(s - wide(base, bkv))
            l = l * (1 if mistake == "no-rescale-l" else alpha) + p.reshape(rows, -1, lanes).sum(axis=1)
            by_row = wide(alpha, q.shape[1])
            if mistake == "alpha-by-column":
                by_row = np.tile(alpha.reshape(-1, 16), (1, q.shape[1] // 16)).repeat(16, axis=0)
            if mistake == "no-rescale-o" or mistake == "no-rescale-last" and t + bkv >= keys:
                by_row = 1
            o = o * by_row + _product(p, v[t:t + bkv], mistake)
            m, l, o = (np.where(on, new, old) for new, old in zip((m, l, o), before))
        total = l.sum(axis=1)
        o = np.where(total[:, None] > 0, o / total[:, None], 0)
        lse = np.where(total > 0, (m[:, 0] + np.log2(total)) / LOG2E, -np.inf)
    return o[:sq], lse[:sq]


def far(answer, expected):
    """How far rows are off: 0.9 of them are closer than this, relative; not a number counts as far."""
    with np.errstate(all="ignore"):
        off = np.linalg.norm(answer - expected, axis=-1) / np.maximum(np.linalg.norm(expected, axis=-1), 1e-3)
    return np.quantile(np.nan_to_num(off, nan=1e9, posinf=1e9), 0.9)
