"""Plays TMA: encodes the map as the driver would, copies boxes, and compares them with what a tile should hold."""
SHAPES = [
    # name, batches, heads, rows, head_dim, heads before rows?, tile_rows
    ("one head of 8 rows, head_dim 64", 1, 1, 8, 64, True, 8),
    ("two heads of 6 rows, head_dim 64", 1, 2, 6, 64, True, 4),
    ("two heads of 6 rows, head_dim 128", 1, 2, 6, 128, True, 4),
    ("two batches of three heads of 6 rows, head_dim 128", 2, 3, 6, 128, True, 4),
    ("the same with rows before heads", 2, 3, 6, 128, False, 4),
]


def strides_of(heads, rows, head_dim, heads_first):
    """batch, head and row stride in elements"""
    return heads * rows * head_dim, (rows if heads_first else 1) * head_dim, (1 if heads_first else heads) * head_dim


def refused(extents, strides, box):
    """Why the driver would not make this map."""
    for name, got, n in (("extents", extents, 4), ("strides", strides, 3), ("box", box, 4)):
        if not isinstance(got, (list, tuple)) or len(got) != n or not all(isinstance(x, int) and x > 0 for x in got):
            return f"{name} are {got}, not {n} positive numbers", "4 extents, 3 strides (the innermost elements lie side by side) and 4 lengths of the box"
    if 2 * box[0] > 128:
        return f"rows of the box have {2 * box[0]} bytes, more than the swizzle of 128", "the innermost dimension comes first, and a box takes 64 elements of it"
    if any(s % 16 for s in strides):
        return f"strides {strides} are not multiples of 16 bytes", "strides are in bytes, an element has two"
    if max(box) > 256:
        return f"a box {box} is longer than 256 somewhere", "the box is what one request copies: 64 elements, the rows of a tile, one head, one batch"


def copied(extents, strides, box, at):
    """What one request brings: offsets of elements, None where a zero arrives. Rows of the box in order."""
    found = []
    for batch in range(at[3], at[3] + box[3]):
        for head in range(at[2], at[2] + box[2]):
            for row in range(at[1], at[1] + box[1]):
                for d in range(at[0], at[0] + box[0]):
                    inside = d < extents[0] and row < extents[1] and head < extents[2] and batch < extents[3]
                    found.append(d + (row * strides[0] + head * strides[1] + batch * strides[2]) // 2 if inside else None)
    return found


def named(offset, batches, batch_stride, head_stride, row_stride, heads_first):
    """The element at an offset, in words."""
    if offset is None:
        return "a zero"
    if offset >= batches * batch_stride:
        return "something behind the tensor"
    batch, rest = divmod(offset, batch_stride)
    outer, inner = (head_stride, row_stride) if heads_first else (row_stride, head_stride)
    first, rest = divmod(rest, outer)
    second, d = divmod(rest, inner)
    head, row = (first, second) if heads_first else (second, first)
    return f"batch {batch}, head {head}, row {row}, element {d}"


def hint(got, wanted, batch_stride, head_stride, row_stride):
    if wanted is None:
        return "TMA fills with zeros what lies outside an extent: is the extent of the rows the rows of one head?"
    if got is None:
        return "TMA took this for outside: compare the extents' order with the drawing, and the coordinates' with the extents'"
    return "each stride is that of the dimension beside it in the drawing: row, head, batch; the coordinates have the same order, in elements, not tiles"


def unit(given, at, strides, page, n, tile_rows):
    """The hint where the order is right and a unit is not, or None."""
    if list(given) == list(strides[::-1]):
        return "these strides are in elements: the map's are in bytes, and an element has 2"
    if page and at[0] in (page, 128 * page):
        return "the first coordinate is in elements of the row: page 1 begins at element 64"
    if n and tile_rows != 1 and at[1] == n:
        return f"the second coordinate is a row, not a tile: in elements, not tiles, tile {n} begins at row {n * tile_rows}"
    return None


def check(hole):
    for name, batches, heads, rows, head_dim, heads_first, tile_rows in SHAPES:
        strides = strides_of(heads, rows, head_dim, heads_first)
        made = hole.tensor_map(batches, heads, rows, head_dim, *strides, tile_rows)
        if not isinstance(made, tuple) or len(made) != 3:
            yield f"tensor_map gave {made}", "return three lists: extents, strides, box"
        why = refused(*made)
        if why:
            yield f"{name}: the driver refuses the map: {why[0]}", why[1]
        for batch in range(batches):
            for head in range(heads):
                for n in range(-(-rows // tile_rows)):
                    for page in range(head_dim // 64):
                        yield from box_of(hole, made, name, strides, batches, rows, heads_first, tile_rows, page, n, head, batch)


def box_of(hole, made, name, strides, batches, rows, heads_first, tile_rows, page, n, head, batch):
    at = hole.coordinates(page, n, tile_rows, head, batch)
    where = f"{name}: page {page} of tile {n} of head {head}, batch {batch}"
    if not isinstance(at, (list, tuple)) or len(at) != 4:
        yield f"{where} has the coordinates {at}", "return four numbers, the innermost first"
    got = copied(*made, at)
    wanted = [64 * page + d + row * strides[2] + head * strides[1] + batch * strides[0] if row < rows else None
              for row in range(n * tile_rows, (n + 1) * tile_rows) for d in range(64)]
    if len(got) != len(wanted):
        yield f"{where} has {len(got)} elements, not {len(wanted)}", f"a box has 64 elements of each of {tile_rows} rows, of one head and one batch"
    for i, (g, w) in enumerate(zip(got, wanted)):
        if g != w:
            yield (f"{where}: element {i % 64} of the box's row {i // 64} is {named(g, batches, *strides, heads_first)}, not {named(w, batches, *strides, heads_first)}",
                   unit(made[1], at, strides, page, n, tile_rows) or hint(g, w, *strides))


def key(hole):
    return [[list(x) for x in hole.tensor_map(3, 5, 77, 128, 49280, 9856, 128, 96)], list(hole.coordinates(1, 7, 96, 4, 2))]
