#include "gmma_layout.h"

static int round_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

/* Bytes from one slab, or column of core matrices, to the next. */
static uint32_t slab_bytes(const struct gmma_layout *l) {
    return (uint32_t)(l->mn_major ? l->k : l->rows) * (l->swizzle ? l->swizzle : 16);
}

size_t gmma_layout_bytes(const struct gmma_layout *l) {
    int slab = l->swizzle ? l->swizzle / 2 : 8; /* elements across a slab */
    return (size_t)round_up(l->mn_major ? l->rows : l->k, slab) / slab * slab_bytes(l);
}

uint32_t gmma_layout_offset(const struct gmma_layout *l, int row, int k) {
    int across = l->mn_major ? row : k, along = l->mn_major ? k : row;
    int pitch = l->swizzle ? l->swizzle : 16; /* bytes from one line of a slab to the next */
    int slab = pitch / 2;
    uint32_t in_slab = (uint32_t)(along * pitch + across % slab * 2);
    return across / slab * slab_bytes(l) + gmma_swizzled(in_slab, l->swizzle);
}

struct gmma_desc gmma_layout_desc(const struct gmma_layout *l) {
    static const uint32_t code[] = {GMMA_SWIZZLE_NONE, GMMA_SWIZZLE_32,
                                    GMMA_SWIZZLE_64, [4] = GMMA_SWIZZLE_128};
    struct gmma_desc d = {.swizzle = code[l->swizzle / 32]};
    if (l->swizzle) {
        d.stride_bytes = 8 * l->swizzle;                    /* the next 8 lines */
        d.leading_bytes = l->mn_major ? slab_bytes(l) : 16; /* K-major: not read */
    } else if (l->mn_major) {
        d.leading_bytes = 128;          /* the next 8 of k */
        d.stride_bytes = slab_bytes(l); /* the next 8 rows */
    } else {
        d.leading_bytes = slab_bytes(l); /* the next 8 of k */
        d.stride_bytes = 128;            /* the next 8 rows */
    }
    return d;
}

uint32_t gmma_layout_step(const struct gmma_layout *l, int s) {
    int pitch = l->swizzle ? l->swizzle : 16;
    if (l->mn_major) return (uint32_t)(16 * s * pitch); /* 16 lines of the slab */
    int slab = pitch / 2;
    return 16 * s / slab * slab_bytes(l) +
           16 * s % slab * 2; /* swizzles act on the final address */
}
