"""Cases on both sides of the ridge; a chip of round numbers, on which one can compute by hand."""

CASES = [
    ((1, 1, 4e8, 1e30), 1e6, "bytes take no time here; 4 * S * S * D = 4e8 FLOP take one second: how many us is that, and are all four factors there?"),
    ((1, 1, 1e30, 8e5), 1e6, "arithmetic takes no time here; four arrays of S * D elements, 2 bytes each, are 8e5 bytes, which take one second: are all four counted, in bytes?"),
    ((2, 3, 4e8, 1e30), 6e6, "bytes take no time here; the FLOP of one head are needed for each of H heads of each of B batches"),
    ((2, 3, 1e30, 8e5), 6e6, "arithmetic takes no time here; the bytes of one head are needed for each of H heads of each of B batches"),
    ((2, 3, 4e8, 8e5), 6e6, "each of the two times is 6e6 us, and they overlap: a floor is the larger one, not the sum"),
]
SMALLER = "one of the two times is almost 0 here, and this is it: the floor is the larger of the two"


def check(hole):
    for (b, h, flops, bytes_per_s), wanted, hint in CASES:
        got = hole.floor_us(b, h, 1000, 100, flops, bytes_per_s)
        if got is None:
            yield "floor_us returned nothing", "end with return"
        if abs(got - wanted) > 1e-6 * wanted:
            yield f"floor_us(b={b}, h={h}, s=1000, d=100, flops={flops:g}, bytes_per_s={bytes_per_s:g}) gave {got:g}, not {wanted:g}", SMALLER if got < 1e-3 else hint


def key(hole):
    return [round(hole.floor_us(b, h, s, d, 989e12, 4.8e12), 6) for b, h, s, d in [(1, 8, 512, 64), (4, 16, 4096, 128), (1, 1, 64, 64)]]
