"""The two rules, on the places of 16 rows; then the tile itself, and its wavefronts as the emulator counts them."""
from cuda import array, hint_of, out, parts

IN = list(range(1024))  # a register is its own number: row * 32 + column


def drawn(rows, first, last):
    return "\n".join(f"    row {n}: chunks 0 to 7 at places " + " ".join(map(str, rows[n])) for n in range(first, last + 1))


def rules(rows):
    """(what was seen, hint) of the first rule that is broken."""
    for n, row in enumerate(rows):
        outside = [place for place in row if not 0 <= place < 8]
        if outside:
            return f"a chunk of row {n} lies at place {outside[0]}\n{drawn(rows, n, n)}", "places are 0 to 7: a row number of 8 and more must not reach them"
        if len(set(row)) < 8:
            return f"in row {n} two chunks lie at one place\n{drawn(rows, n, n)}", "with the row fixed, eight chunks must get eight places"
    for chunk in range(8):
        for first in (0, 8):
            column = [row[chunk] for row in rows[first:first + 8]]
            if len(set(column)) < 8:
                a, b = next((a, b) for a in range(8) for b in range(a + 1, 8) if column[a] == column[b])
                return (f"chunk {chunk} of rows {first + a} and {first + b} lies at one place\n{drawn(rows, first, first + 7)}",
                        "with the chunk fixed, eight neighbouring rows must get eight places: which bits of the row does the place depend on?")
    return None


def check(hole):
    ran = hole.run("places", out("i32", 16, 8), threads=128)
    seen = rules([ran.outs[0][8 * n:8 * n + 8] for n in range(16)])
    through = hole.run("through", array("u32", 32, 32, IN), out("u32", 32, 32))
    if seen:
        more = through.counters["bank_conflicts_ldmatrix"]
        yield seen[0] + (f"\n    8 ldmatrix took {more:g} wavefronts more than they must" if more else ""), seen[1]
    if through.reports:
        yield through.reports[0], hint_of(through.reports[0])
    wanted = [IN[(8 * j + lane // 4) * 32 + chunk * 4 + lane % 4] for chunk in range(8) for j in range(4) for lane in range(32)]
    seen = parts("out", through.outs[0], wanted, 32)
    if seen:
        yield seen, "the same chunk is looked for elsewhere than it was stored: may place depend on anything but row and chunk?"
    if through.counters["bank_conflicts"]:
        yield f"shared memory took {through.counters['bank_conflicts']:g} wavefronts more than it must", "which of the two rules does rows 16 to 31 break?"


def key(hole):
    ran = hole.run("through", array("u32", 32, 32, IN[::-1]), out("u32", 32, 32))
    return [ran.outs, ran.counters["bank_conflicts_ldmatrix"], ran.counters["bank_conflicts_st"]]
