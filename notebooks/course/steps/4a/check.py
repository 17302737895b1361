"""An element of a tile is its own number, 16 * row + column, so a register says where it comes from."""
import struct

from cuda import f16, hint_of, out

TILE = list(range(256))
FIRST = {"Q": [(0, 0), (8, 0), (0, 8), (8, 8)], "K": [(0, 0), (0, 8), (8, 0), (8, 8)]}  # first element of r[0] .. r[3]


def element(name, number):
    return f"{name}[{int(number) // 16}][{int(number) % 16}]"


def check(hole):
    ran = hole.run("fragments", f16(16, 16, TILE), f16(16, 16, TILE), out("u32", 32, 4), out("u32", 32, 4))
    if ran.reports:
        yield ran.reports[0], "a row is 0 to 15, a chunk 0 or 1: which lanes give the address of another one?" if "shared" in ran.reports[0] else hint_of(ran.reports[0])
    for name, registers in zip("QK", ran.outs):
        for j, (row, column) in enumerate(FIRST[name]):
            for lane in range(32):
                got = struct.unpack("<2e", struct.pack("<I", registers[4 * lane + j]))
                first = 16 * (row + lane // 4) + column + lane % 4 * 2
                if got != (first, first + 1):
                    yield (f"{name}: r[{j}] of lane {lane} is {element(name, got[0])} and {element(name, got[1])}, not {element(name, first)} and "
                           f"{element(name, first + 1)}",
                           f"row {lane // 4} of r[{j}] has its address from lane {8 * j + lane // 4}: which row and chunk of the tile is it, in the picture?")


def key(hole):
    return hole.run("fragments", f16(16, 16, TILE), f16(16, 16, TILE[::-1]), out("u32", 32, 4), out("u32", 32, 4)).outs
