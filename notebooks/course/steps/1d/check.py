"""Accesses whose cost can be counted on the drawing."""
LANES = range(32)
CASES = [
    ("neighbouring words", [4 * i for i in LANES], 1, "32 neighbouring words lie in 32 banks: word w = address / 4 lies in bank w % 32"),
    ("one word for all", [64] * 32, 1, "lanes that want the same word share it: count words, not lanes"),
    ("every second word", [8 * i for i in LANES], 2, "words 0 and 32 lie in one bank: the bank is the word modulo 32, and a word has 4 bytes"),
    ("a column of 32 floats", [128 * i for i in LANES], 32, "all words lie in one bank: as many wavefronts as words"),
    ("two words of bank 0, the rest beside", [0, 128] + [4 * i for i in range(2, 32)], 2, "the busiest bank decides, not the average and not the number of banks"),
]
SUM = "these are the words of all banks: each bank gives one word in the same wavefront, so only the busiest bank counts"


def check(hole):
    for name, addresses, wanted, hint in CASES:
        got = hole.wavefronts(addresses)
        if got != wanted:
            yield f"{name} gave {got} wavefronts, not {wanted}", SUM if got == len({a // 4 for a in addresses}) > wanted else hint


def key(hole):
    return [hole.wavefronts([stride * i % 4096 for i in LANES]) for stride in range(4, 260, 4)]
