/* How a problem is cut for the chip: shape of tile, heads that share tiles, CTAs that share keys.
 * All ways that fit are considered, what each would take is estimated, the fastest is taken;
 * `--explain` prints them. */
#pragma once

#include "common/harness/stage.h"
#include "tile.h"

#include <stdbool.h>

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct cut {
    int shape;   /* tile.h */
    int pack;    /* so many heads, a GQA group, share tiles: packed_rows() of tile.h; or 1 */
    int split;   /* CTAs of a cluster that share a tile's keys: SHAPE_SPLIT */
    int n_cut;   /* tiles whose keys are cut in `parts` parts, handed out like tiles; 0: none */
    int parts;   /* 1 where n_cut is 0 */
    double us;   /* what it is expected to take */
    double fill; /* of the time that warpgroups have, the part in which they have something to do */
};

enum { MAX_CUTS = 128 };

/* All ways for this problem, the fastest first; at least one. */
int cuts_of(const struct attention *a, const struct chip *chip, struct cut out[MAX_CUTS]);

/* The fastest that the image of this name can run; false: none, or no such image. */
bool cut_for_image(const struct attention *a, const struct chip *chip, const char *image,
                   struct cut *out);

/* The image that runs it: "d64-split-causal". */
void cut_image(const struct attention *a, const struct cut *c, char *out, size_t bytes);

/* Tiles of O of the whole problem. */
int64_t cut_tiles(const struct attention *a, int shape, int pack);

/* Tiles of one head, or of packed heads, in which every warpgroup has rows: all, or all but one. */
int64_t cut_full_tiles(const struct attention *a, int shape, int pack);

/* KV tiles that the last row of the q-th tile of a head can see, as tile_at() of schedule.cuh
 * counts them. */
int64_t cut_blocks(const struct attention *a, const struct cut *c, int64_t q);

/* Bytes of what the parts find, O and then bases and row sums. */
size_t cut_part_o_bytes(const struct attention *a, const struct cut *c);
size_t cut_part_ml_bytes(const struct attention *a, const struct cut *c);
