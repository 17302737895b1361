"""Tensors at every address and row stride that 16-byte reads allow: for tests of attnlab.forward."""


def places(draw, lay, shapes):
    """(name, q, k, v, o) of the same values. draw(shape) makes a tensor; lay(x, first, row) lays it
    into a flat one full of NaN, its first element at `first`, its rows `row` elements apart."""
    q, k, v = (draw(s) for s in shapes)
    d = shapes[0][-1]
    for n in range(8):
        at = [8 * (n * step % 8) for step in (1, 3, 5, 7)]
        yield (f'{2 * at[0]} {2 * at[1]} {2 * at[2]} {2 * at[3]} bytes past, rows of {d + 8 * n}',
               *(lay(x, first, d + 8 * n) for x, first in zip((q, k, v, q), at)))
