#include "smem_desc.h"

#include "common/base/reason.h"

#include <stddef.h>

static const int row_bytes[4] = {16, 128, 64, 32};
static const int swizzle_bits[4] = {0, 3, 2, 1};

struct smem_desc smem_desc_decode(uint64_t bits) {
    struct smem_desc d = {.start = (uint32_t)(bits & 0x3fff) << 4,
                          .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                          .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                          .base = (uint32_t)(bits >> 49 & 7),
                          .mode = (int)(bits >> 62)};
    d.row_bytes = row_bytes[d.mode];
    return d;
}

uint32_t smem_desc_address(const struct smem_desc *d, bool mn_major, int element_bytes, int mn,
                           int k) {
    uint32_t w = (uint32_t)d->row_bytes, at = d->start, m = (uint32_t)mn, depth = (uint32_t)k;
    uint32_t mask = (1u << swizzle_bits[d->mode]) - 1;
    if (mn_major) {
        uint32_t across = w / (uint32_t)element_bytes;
        at += m % across * (uint32_t)element_bytes + depth % 8 * w;
        at += m / across * (d->mode ? d->leading : d->stride) +
              depth / 8 * (d->mode ? d->stride : d->leading);
    } else {
        uint32_t bytes = depth * (uint32_t)element_bytes;
        at += m % 8 * w + m / 8 * d->stride;
        at += d->mode ? bytes : bytes / 16 * d->leading + bytes % 16;
    }
    uint32_t row = (at >> 7) - d->base;
    return (at ^ (row & mask) << 4) & 0x3ffff;
}

const char *smem_desc_check(uint64_t bits) {
    struct smem_desc d = smem_desc_decode(bits);
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    if (bits & ~used)
        return reason("descriptor %016llx sets reserved bits", (unsigned long long)bits);
    if (!d.mode && d.base) return reason("descriptor has base offset %u but no swizzle", d.base);
    return NULL;
}
