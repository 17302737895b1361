/* Tensor maps of stage 6. */
#include "maps.h"

#include "common/base/reason.h"
#include "tile.h"

#include <string.h>

const char *map_rule(const char *name, const struct tensor_stride *s) {
    if (s->batch % 8 || s->head % 8)
        return reason("stage 6 takes head and batch strides that are multiples of 8 elements (TMA "
                      "counts in 16 bytes), not %s's %lld and %lld",
                      name, (long long)s->head, (long long)s->batch);
    return NULL;
}

const char *map_rows(struct device *d, device_ptr base, const struct tensor_stride *s,
                     const struct attention *a, int heads, int seqlen, int rows, void *map) {
    struct device_tensor_map m = {
        .base = base,
        .rank = 4,
        .extent = {a->head_dim, seqlen, heads, a->batch},
        .stride = {2, 2 * s->row, 2 * s->head, 2 * s->batch},
        .box = {64, rows, 1, 1},
        .swizzle_bytes = 128,
    };
    return device_tensor_map(d, &m, map);
}

const char *map_packed_rows(struct device *d, device_ptr base, const struct tensor_stride *s,
                            const struct attention *a, int pack, void *map) {
    const int rows = packed_rows(pack);
    struct device_tensor_map m = {
        .base = base,
        .rank = 5,
        .extent = {a->head_dim, pack, a->seqlen_q, a->heads / pack, a->batch},
        .stride = {2, 2 * s->head, 2 * s->row, 2 * s->head * pack, 2 * s->batch},
        .box = {64, rows, 64 / rows, 1, 1},
        .swizzle_bytes = 128,
    };
    return device_tensor_map(d, &m, map);
}

const char *map_kv(struct device *d, const struct stage_tensors *t, const struct attention *a,
                   int bkv, unsigned char maps[2][128]) {
    const char *why;
    if (a->seqlen_k ==
        0) { /* an empty tensor has no map; all keys are masked, so Q's rows will do */
        why = map_rows(d, t->q, &a->q_stride, a, a->heads, a->seqlen_q, bkv, maps[0]);
        memcpy(maps[1], maps[0], 128);
        return why;
    }
    why = map_rows(d, t->k, &a->k_stride, a, a->kv_heads, a->seqlen_k, bkv, maps[0]);
    if (!why) why = map_rows(d, t->v, &a->v_stride, a, a->kv_heads, a->seqlen_k, bkv, maps[1]);
    return why;
}
