#include "stage.h"

#include "common/base/program.h"
#include "common/base/reason.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int stage_number(const char *folder) { return atoi(folder); }

const char *stage_image_folder(const char *folder) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/images/stage-%d", program_folder(), stage_number(folder));
    return path;
}

const char *stage_supports(const struct attention *a, const struct chip *chip) {
    if (a->dtype == DTYPE_BF16 && !stage.takes_bf16)
        return reason("stage %d takes fp16, not bf16, which stages 4 and 6 take",
                      stage_number(stage.name));
    return stage.supports(a, chip);
}

void stage_image_of_type(enum dtype t, const char *image, char *out, size_t bytes) {
    const char *end = strstr(image, "-bf16");
    const int n = end ? (int)(end - image) : (int)strlen(image);
    snprintf(out, bytes, "%.*s%s", n, image, n && t == DTYPE_BF16 ? "-bf16" : "");
}

const char *stage_plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                       struct stage_plan *out) {
    char image[sizeof out->image];
    stage_image_of_type(DTYPE_FP16, out->image, image, sizeof image); /* stages know of no types */
    memcpy(out->image, image, sizeof image);
    const char *why = stage.plan(a, d, t, out);
    stage_image_of_type(a->dtype, out->image, image, sizeof image);
    memcpy(out->image, image, sizeof image);
    return why;
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
