"""Reads the fields back, as hardware would."""
CASES = [
    ("a start at 0x400", (0x400, 0, 0, 0), "addresses are in units of 16 bytes"),
    ("an LBO of 4096 bytes", (0x800, 4096, 0, 0), "LBO begins at bit 16, in units of 16 bytes"),
    ("an SBO of 1024 bytes", (0x800, 16, 1024, 0), "SBO begins at bit 32, in units of 16 bytes"),
    ("a swizzle of 128 bytes", (0x800, 16, 1024, 128), "the mode begins at bit 62: 1, 2, 3 for 128, 64, 32 bytes"),
    ("a swizzle of 32 bytes", (0x800, 16, 256, 32), "the mode begins at bit 62: 1, 2, 3 for 128, 64, 32 bytes"),
    ("a start, an LBO and an SBO of 0x3fff0", (0x3fff0, 0x3fff0, 0x3fff0, 64), "a field has 14 bits, and 0x3fff0 / 16 has them all set: cut with 0x3fff"),
    ("a start at 0x40400, beyond 18 bits", (0x40400, 16, 1024, 128), "a field has 14 bits: cut it with & 0x3fff, or it spoils its neighbour"),
]


def fields(d):
    return {"start": (d & 0xffff) * 16, "LBO": (d >> 16 & 0xffff) * 16, "SBO": (d >> 32 & 0xffff) * 16, "mode": d >> 62 & 3, "zeros": d >> 48 & 0x3fff}


def check(hole):
    for name, (start, lbo, sbo, swizzle), hint in CASES:
        d = hole.encode(start, lbo, sbo, swizzle)
        if not isinstance(d, int) or d < 0 or d >> 64:
            yield f"{name} gave {d!r}, which is no number of 64 bits", "return one integer: fields shifted to their places and joined with |"
            continue
        wanted = {"start": start % 0x40000, "LBO": lbo, "SBO": sbo, "mode": hole.MODES[swizzle], "zeros": 0}
        for field, value in fields(d).items():
            if value != wanted[field]:
                yield f"{name} gave {d:#018x}, whose {field} is {value}, not {wanted[field]}", hint


def key(hole):
    return [hole.encode(start, lbo, 1024, swizzle) for start in (0x400, 0x12340, 0x7fff0) for lbo in (0, 8192) for swizzle in (0, 32, 64, 128)]
