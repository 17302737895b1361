"""Cases on both sides of the ridge; a chip of round numbers, on which one can compute by hand."""


def check(hole):
    one = hole.floor_us(1, 1, 1000, 100, 4e8, 1e30)
    if one is None:
        yield "floor_us returned nothing", "end with return"
    if abs(one - 1e6) > 1:
        yield (f"S 1000, D 100 at 4e8 FLOPS, and bytes for nothing, took {one:g} us",
               "there are 4 * S * S * D FLOP here, 4e8, which take one second: how many us is that, and are all four factors there?")
    two = hole.floor_us(1, 1, 1000, 100, 1e30, 8e5)
    if abs(two - 1e6) > 1:
        yield (f"S 1000, D 100 at 8e5 bytes a second, and arithmetic for nothing, took {two:g} us",
               "four arrays of S * D elements, 2 bytes each, are 8e5 bytes, which take one second: are all four counted, in bytes?")
    both = hole.floor_us(2, 3, 1000, 100, 4e8, 8e5)
    if abs(both - 6e6) > 6:
        yield (f"two batches of three heads, both times 6e6 us, took {both:g} us",
               "the two happen at the same time: a floor is the larger one, not the sum or the smaller one; B and H count in both")


def key(hole):
    return [round(hole.floor_us(b, h, s, d, 989e12, 4.8e12), 6) for b, h, s, d in [(1, 8, 512, 64), (4, 16, 4096, 128), (1, 1, 64, 64)]]
