"""A and B of small integers, so that every sum is exact; what was computed instead of A B tells the hint."""
from cuda import f16, hint_of, integers, near, out, parts, transposed

N = range(16)
A, B = integers(256, 1), integers(256, 2)


def times(a, b, scale):
    return [scale * sum(a[16 * i + k] * b[16 * k + j] for k in N) for i in N for j in N]


INSTEAD = [(times(B, A, 0.5), "this is B A: the first operand of a product is the one whose rows are multiplied"),
           (transposed(times(A, B, 0.5), 16), "this is C with rows and columns exchanged: with which layout is c_frag stored?"),
           (times(A, A, 0.5), "this is A A: which pointer does b_frag come from?"),
           ([0] * 256, "all is 0: is the product made before it is scaled and stored?")]
NO_VALUE = "a register that nothing was put into may hold anything, as nan: which fragment is used before it has a value?"


def check(hole):
    ran = hole.run("product", f16(16, 16, A), f16(16, 16, B), out("f32", 16, 16), 0.5)
    if ran.reports:
        yield ran.reports[0], NO_VALUE if ran.reports[0].startswith("uninitialised local") else hint_of(ran.reports[0])
    got = ran.outs[0]
    seen = parts("C", got, times(A, B, 0.5), 16)
    if seen and any(x != x for x in got):
        yield seen, NO_VALUE
    if seen and all(near(x, y) or near(x, y / 2) for x, y in zip(got, times(A, B, 1))):
        scaled = sum(near(x, y / 2) and y != 0 for x, y in zip(got, times(A, B, 1)))
        yield seen, (f"all is A B, and about {scaled} elements of 256 are scaled: the warp holds 256, so each of its 32 lanes must scale each of its own, x[0] to x[7]"
                     if scaled else "this is A B without scale: every x[i] is multiplied after the product, and before it is stored")
    if seen:
        yield seen, next((hint for other, hint in INSTEAD if not parts("C", got, other, 16)),
                         "does each of A, B and C have its own pointer, and is each element of a lane scaled, x[0] to x[7]?")


def key(hole):
    return [hole.run("product", f16(16, 16, A), f16(16, 16, B), out("f32", 16, 16), scale).outs for scale in (0.25, 3.0)]
