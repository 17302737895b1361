#include "tensormap.h"

#include "common/base/reason.h"

#include <stddef.h>
#include <string.h>

/* The emulator's 128 bytes: a magic word, then the numbers. */
struct packed {
    uint32_t magic;
    uint8_t rank, element_bytes, swizzle_bytes, type;
    uint64_t base;
    uint64_t stride[4];
    uint32_t extent_less_1[5], box[5];
    int16_t lower[3], upper[3];
    uint8_t flags; /* 1: im2col */
};
enum { MAGIC = 0x70614d54 };
_Static_assert(sizeof(struct packed) <= 128, "the packed map must fit in a CUtensorMap");

static const char *check_dimension(const struct tensormap *m, int i) {
    if (!m->extent[i] || m->extent[i] > 1ull << 32)
        return reason("extent %d of the tensor is %llu; it must be 1 to 2^32", i,
                      (unsigned long long)m->extent[i]);
    uint32_t most = m->im2col && i == 1 ? 1024 : 256;
    if ((!m->im2col || i < 2) && (!m->box[i] || m->box[i] > most))
        return reason("extent %d of the box is %u; it must be 1 to %u", i, m->box[i], most);
    if (m->im2col && i > 0 && i < m->rank - 1 &&
        (int64_t)m->extent[i] - 1 + m->upper[i - 1] < m->lower[i - 1])
        return reason("the bounding box has no pixels in dimension %d", i);
    if (i && (m->stride[i] % 16 || m->stride[i] >= 1ull << 40))
        return reason("stride %d is %llu bytes; it must be a multiple of 16 below 2^40", i,
                      (unsigned long long)m->stride[i]);
    return NULL;
}

static const char *check(const struct tensormap *m) {
    int e = m->element_bytes;
    if (m->rank < 1 || m->rank > 5)
        return reason("a tensor map has 1 to 5 dimensions, not %d", m->rank);
    if (m->im2col && m->rank < 3)
        return reason("an im2col tensor map has 3 to 5 dimensions, not %d", m->rank);
    if (e != 1 && e != 2 && e != 4 && e != 8)
        return reason("elements of %d bytes have no tensor map type", e);
    if (m->type && emu_type_bytes(m->type) != (unsigned)e)
        return reason("the elements' type has not %d bytes", e);
    if (!m->base || m->base % 16)
        return reason("the tensor's address must be a multiple of 16 bytes");
    for (int i = 0; i < m->rank; i++) {
        const char *why = check_dimension(m, i);
        if (why) return why;
    }
    int s = m->swizzle_bytes;
    uint32_t inner = m->box[0] * (uint32_t)e;
    if (s != 0 && s != 32 && s != 64 && s != 128) return reason("there is no %d-byte swizzle", s);
    if (inner % 16)
        return reason("the box's rows are %u bytes; they must be a multiple of 16", inner);
    if (s && inner > (uint32_t)s)
        return reason("the box's rows are %u bytes; a %d-byte swizzle takes at most %d", inner, s,
                      s);
    return NULL;
}

const char *tensormap_encode(const struct tensormap *m, void *map_128_bytes) {
    const char *why = check(m);
    if (why) return why;
    struct packed p = {.magic = MAGIC,
                       .rank = (uint8_t)m->rank,
                       .element_bytes = (uint8_t)m->element_bytes,
                       .swizzle_bytes = (uint8_t)m->swizzle_bytes,
                       .type = (uint8_t)m->type,
                       .flags = m->im2col,
                       .base = m->base};
    for (int i = 0; i < 3; i++) {
        p.lower[i] = (int16_t)m->lower[i];
        p.upper[i] = (int16_t)m->upper[i];
    }
    for (int i = 0; i < m->rank; i++) {
        p.extent_less_1[i] = (uint32_t)(m->extent[i] - 1);
        p.box[i] = m->box[i];
        if (i) p.stride[i - 1] = m->stride[i];
    }
    memset(map_128_bytes, 0, 128);
    memcpy(map_128_bytes, &p, sizeof p);
    return NULL;
}

bool tensormap_decode(const void *map_128_bytes, struct tensormap *out) {
    struct packed p;
    memcpy(&p, map_128_bytes, sizeof p);
    *out = (struct tensormap){0};
    /* any bytes, of any program */
    if (p.magic != MAGIC || p.rank < 1 || p.rank > 5 || p.type >= EMU_N_TYPES || p.flags > 1)
        return false;
    *out = (struct tensormap){.base = p.base,
                              .rank = p.rank,
                              .element_bytes = p.element_bytes,
                              .swizzle_bytes = p.swizzle_bytes,
                              .type = (enum emu_type)p.type,
                              .im2col = p.flags};
    for (int i = 0; i < 3; i++) {
        out->lower[i] = p.lower[i];
        out->upper[i] = p.upper[i];
    }
    for (int i = 0; i < p.rank; i++) {
        out->extent[i] = p.extent_less_1[i] + 1ull;
        out->box[i] = p.box[i];
        if (i) out->stride[i] = p.stride[i - 1];
    }
    return check(out) == NULL;
}

const char *tensormap_replace(void *map_128_bytes, enum tensormap_field field, int dimension,
                              uint64_t value) {
    static const enum emu_type types[] = {EMU_U8,   EMU_U16,  EMU_U32, EMU_S32, EMU_U64,
                                          EMU_S64,  EMU_F16,  EMU_F32, EMU_F32, EMU_F64,
                                          EMU_BF16, EMU_TF32, EMU_TF32};
    struct packed p;
    memcpy(&p, map_128_bytes, sizeof p);
    p.magic = MAGIC;
    switch (field) {
    case TENSORMAP_ADDRESS:
        p.base = value;
        break;
    case TENSORMAP_RANK:
        p.rank = value < 5 ? (uint8_t)(value + 1) : UINT8_MAX;
        break;
    case TENSORMAP_BOX:
        p.box[dimension] = (uint32_t)value;
        break;
    case TENSORMAP_EXTENT:
        p.extent_less_1[dimension] = (uint32_t)value - 1;
        break;
    case TENSORMAP_STRIDE:
        p.stride[dimension] = value;
        break;
    case TENSORMAP_ELEMENT:
        if (value >= sizeof types / sizeof *types)
            return reason("element type %llu of a tensor map is not supported",
                          (unsigned long long)value);
        p.type = (uint8_t)types[value];
        p.element_bytes = (uint8_t)emu_type_bytes(types[value]);
        break;
    case TENSORMAP_SWIZZLE:
        if (value > 3)
            return reason("swizzle mode %llu of a tensor map is not supported",
                          (unsigned long long)value);
        p.swizzle_bytes = value ? (uint8_t)(16 << value) : 0;
        break;
    default:
        if (value != (field == TENSORMAP_STEP))
            return reason("%s of a tensor map is not supported",
                          field == TENSORMAP_STEP     ? "a step between elements"
                          : field == TENSORMAP_LAYOUT ? "an interleaved layout"
                                                      : "a fill with NaN");
    }
    memcpy(map_128_bytes, &p, sizeof p);
    return NULL;
}

uint64_t tensormap_box_bytes(const struct tensormap *m) {
    return tensormap_rows(m) * m->box[0] * (uint32_t)m->element_bytes;
}

uint64_t tensormap_rows(const struct tensormap *m) {
    uint64_t rows = 1;
    if (m->im2col) return m->box[1];
    for (int i = 1; i < m->rank; i++) rows *= m->box[i];
    return rows;
}

/* Where row r lies in dimension i; r goes on to the next dimension. */
static int64_t row_coordinate(const struct tensormap *m, const int32_t coordinate[5], int i,
                              int64_t *r) {
    if (!m->im2col) { /* r is that of a row: neither negative nor wide */
        const uint32_t row = (uint32_t)*r;
        *r = row / m->box[i];
        return coordinate[i] + (int64_t)(row % m->box[i]);
    }
    if (i == m->rank - 1) return coordinate[i] + *r;
    const int64_t first = m->lower[i - 1], extent = (int64_t)m->extent[i] + m->upper[i - 1] - first;
    *r += coordinate[i] - first;
    const int64_t rest = (*r % extent + extent) % extent; /* never negative */
    *r = (*r - rest) / extent;
    return m->offset[i - 1] + first + rest;
}

struct tensormap_row tensormap_row(const struct tensormap *m, const int32_t coordinate[5], int r) {
    struct tensormap_row row = {m->base, 0, 0};
    int64_t left = r;
    for (int i = 1; i < m->rank; i++) {
        int64_t x = row_coordinate(m, coordinate, i, &left);
        if (x < 0 || (uint64_t)x >= m->extent[i]) return row;
        row.global += (uint64_t)x * m->stride[i];
    }
    int64_t first = coordinate[0], end = first + m->box[0], skip = first < 0 ? -first : 0;
    if (end > (int64_t)m->extent[0]) end = (int64_t)m->extent[0];
    if (end <= first + skip) return row;
    row.skip = (uint32_t)skip * (uint32_t)m->element_bytes;
    row.bytes = (uint32_t)(end - first - skip) * (uint32_t)m->element_bytes;
    row.global += (uint64_t)(first + skip) * (uint64_t)m->element_bytes;
    return row;
}

uint32_t tensormap_pitch(const struct tensormap *m) {
    return m->swizzle_bytes ? (uint32_t)m->swizzle_bytes : m->box[0] * (uint32_t)m->element_bytes;
}

uint64_t tensormap_shared_bytes(const struct tensormap *m) {
    return tensormap_rows(m) * tensormap_pitch(m);
}

uint32_t tensormap_shared(const struct tensormap *m, uint32_t start, int r, uint32_t offset) {
    uint32_t at = start + (uint32_t)r * tensormap_pitch(m) + offset;
    uint32_t mask = m->swizzle_bytes ? (uint32_t)m->swizzle_bytes / 16 - 1 : 0;
    return at ^ (at >> 7 & mask) << 4;
}
