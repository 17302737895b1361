#include "stage.h"

#include "common/base/program.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int stage_number(const char *folder) { return atoi(folder); }

const char *stage_image_folder(const char *folder) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/images/stage-%d", program_folder(), stage_number(folder));
    return path;
}

struct attention_args stage_args(const struct attention *a, const struct stage_tensors *t) {
    const double log2_e = 1.4426950408889634;
    double scale = a->scale != 0 ? a->scale : 1 / sqrt(a->head_dim);
    int64_t diagonal = attention_diagonal(a);
    return (struct attention_args){
        .q = (const half *)t->q,
        .k = (const half *)t->k,
        .v = (const half *)t->v,
        .o = (half *)t->o,
        .lse = (float *)t->lse,
        .q_stride = a->q_stride,
        .k_stride = a->k_stride,
        .v_stride = a->v_stride,
        .o_stride = a->o_stride,
        .batch = a->batch,
        .heads = a->heads,
        .kv_heads = a->kv_heads,
        .seqlen_q = a->seqlen_q,
        .seqlen_k = a->seqlen_k,
        .head_dim = a->head_dim,
        .causal = a->mask != MASK_NONE,
        .diagonal = (int32_t)diagonal,
        .scale_log2 = (float)(scale * log2_e),
    };
}
