#include "one_launch.h"

#include "common/base/reason.h"

#include <stdio.h>

enum { MAX_GRID_Y = 65535 };

const char *one_launch_supports(const struct attention *a, const struct one_launch *l) {
    if (a->seqlen_q <= MAX_GRID_Y * l->bq) return NULL;
    return reason("stage %d takes seqlen_q up to %d (grid.y), not %d", stage_number(stage.name),
                  MAX_GRID_Y * l->bq, a->seqlen_q);
}

void one_launch_plan(const struct attention *a, const struct stage_tensors *t, int dim,
                     const struct one_launch *l, struct stage_plan *out) {
    const struct attention_args args = stage_args(a, t);
    *out = (struct stage_plan){.n_launches = 1};
    snprintf(out->image, sizeof out->image, "d%d", dim);
    out->launch[0] = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)(a->batch * a->heads), (unsigned)((a->seqlen_q + l->bq - 1) / l->bq), 1},
        .block = {(unsigned)l->threads, 1, 1},
        .shared_bytes = (unsigned)l->shared_bytes,
    };
    device_launch_arg(&out->launch[0], &args, sizeof args);
}

double one_launch_tiles(const struct attention *a, const struct one_launch *l) {
    double n_tiles = 0;
    for (int64_t q0 = 0; q0 < a->seqlen_q; q0 += l->bq) {
        int64_t kv_end = a->seqlen_k, visible = q0 + l->bq + attention_diagonal(a);
        if (a->mask != MASK_NONE && visible < kv_end) kv_end = visible;
        if (kv_end > 0) n_tiles += (double)((kv_end + l->bkv - 1) / l->bkv);
    }
    return n_tiles * a->batch * a->heads;
}
