"""Step 6a: a tensor map, and the place of a box."""


def tensor_map(batches, heads, rows, head_dim, batch_stride, head_stride, row_stride, tile_rows):
    """(extents, strides, box), lists with the innermost dimension first. The strides given are in elements of 2 bytes."""
    ### BEGIN SOLUTION: 4 extents in elements, 3 strides in bytes, 4 lengths of the box in elements
    extents = [head_dim, rows, heads, batches]
    strides = [2 * row_stride, 2 * head_stride, 2 * batch_stride]
    box = [64, tile_rows, 1, 1]
    return extents, strides, box
    ### END SOLUTION


def coordinates(page, n, tile_rows, head, batch):
    """Where the box begins, 4 numbers, the innermost first."""
    ### BEGIN SOLUTION: an element of the row, a row, a head, a batch
    return [64 * page, n * tile_rows, head, batch]
    ### END SOLUTION


ANSWER = None  # to the question: a number
