"""Three tiles of small integers; what the emulator says of the mbarrier tells the hint."""
import re

from cuda import f32, hint_of, out, parts

TILES = [(7 * i) % 11 - 5 for i in range(3 * 512)]
ANNOUNCED = "the bytes announced must be the bytes that come, and only once a tile"
HINTS = [
    (r"deadlock.*tx-count 0\b", "who arrives in a phase, and how often? mbarrier_init says how many arrivals end it"),
    (r"deadlock.*0 of \d+ arrivals missing, tx-count", ANNOUNCED),
    (r"deadlock.*ever arrived", "a phase needs arrivals, and TMA does not arrive: which call arrives and announces the bytes?"),
    (r"deadlock", "who arrives in a phase, and how often? And are the bytes announced that come?"),
    (r"mbarrier misuse.*arrivals at the mbarrier", "mbarrier_init says how many arrive in a phase, and who calls this arrives: how many threads do?"),
    (r"mbarrier misuse.*there is an mbarrier", "one thread initialises it, once: which condition keeps the others away?"),
    (r"mbarrier misuse.*not initialised", "mbarrier_init comes before everything else"),
    (r"mbarrier misuse", ANNOUNCED),
    (r"race.*which warp \d+ initialised", "this thread may be earlier than the one that initialises the mbarrier: what makes it wait?"),
    (r"race.*TMA load.*TMA load", "one thread asks for a tile, once"),
    (r"race.*TMA load.*nothing orders", "the tile was still coming, and no wait kept this back: tile n is phase n, do all threads wait for it, and with which parity?"),
    (r"global access out of bounds", "tiles points to floats, of which a tile has BYTES / 4"),
    (r"note.*TMA may not see", "which fence comes between mbarrier_init and the first request?"),
]


def sums(tiles, of=range(3)):
    return [sum(tiles[512 * n + 128 * i + tid] for n in of for i in range(4)) for tid in range(128)]


def check(hole):
    ran = hole.run("add", f32(3 * 512, TILES), out("f32", 128), threads=128)
    if ran.reports:
        report = next((said for said in ran.reports if "bytes announced while" in said), ran.reports[0])
        yield report, next((hint for pattern, hint in HINTS if re.match(pattern, report, re.S)), hint_of(report))
    seen = parts("sums", ran.outs[0], sums(TILES), 128)
    if seen:
        yield seen, "each tile has a place of its own in global memory: tiles + n * BYTES / 4" if not parts("", ran.outs[0], sums(TILES, [0, 0, 0]), 128) else \
            "three tiles of BYTES bytes are loaded, each into tile_smem, and added up: is one of them missing or too short?"


def key(hole):
    return [hole.run("add", f32(3 * 512, [x * factor for x in TILES]), out("f32", 128), threads=128).outs for factor in (3, -2)]
