/* What stages of one launch share on the host: a CTA for each head (grid.x) and tile of queries
 * (grid.y), the image dDIM. */
#pragma once

#include "stage.h"

struct one_launch {
    int bq, bkv;      /* query rows of a CTA, keys of a tile */
    int threads;      /* of a CTA */
    int shared_bytes; /* of a CTA */
};

/* NULL, or the rule of grid.y that the problem breaks. */
const char *one_launch_supports(const struct attention *a, const struct one_launch *l);

/* The plan; dim is the image's, head_dim or wider. */
void one_launch_plan(const struct attention *a, const struct stage_tensors *t, int dim,
                     const struct one_launch *l, struct stage_plan *out);

/* Tiles of bq x bkv that a kernel walks which stops at the last key that the last row of a CTA can
 * see; of all heads. */
double one_launch_tiles(const struct attention *a, const struct one_launch *l);
