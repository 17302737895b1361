/* Which tiles of O a launch has, and in which order they are handed out. */
#include "schedule.h"

#include <stdbool.h>

/* Causal tiles are handed out longest first, but only within a section: as many heads as L2 can hold
 * between one tile of a head and the next. These are their K and V (shared by a GQA group), and Q and
 * O of one tile each. Powers of two were faster than numbers in between. The last section has at
 * least a tile for every CTA, or long tiles would come last.
 *
 * Where a head has few tiles of 128 rows, DRAM is the limit up to head_dim 128. If all SMs computed
 * long tiles and then all of them short ones, it would be asked for too much and then for too
 * little, so there a section has no more tiles than half of the CTAs. Only the last one has, for the
 * gaps at the end. */
enum { FEW_TILES = 4 };
static const double SECTION_L2 = 0.66; /* of L2's bytes */

/* Heads of a section; `last` sections come before the last one. */
static int64_t heads_per_section(const struct attention *a, const struct chip *chip,
                                 const struct cut *cut, int64_t *last) {
    const int64_t n_heads = (int64_t)a->batch * a->heads / cut->pack;
    const int64_t per_head = cut_tiles(a, cut->shape, cut->pack) / n_heads;
    const struct tile tile = tile_of(a->head_dim, cut->shape);
    const double kv_rows = (double)a->seqlen_k * a->kv_heads / a->heads * cut->pack;
    const double rows = (double)tile.bq * cut->pack / packed_rows(cut->pack);
    const double bytes = 4.0 * a->head_dim * (kv_rows + rows);
    const double most = SECTION_L2 * chip->l2_bytes;
    const int64_t at_once = (int64_t)chip->n_sms * tile.ctas;
    const bool few = tile.bq == 128 && a->head_dim <= 128 && per_head > 1 && per_head <= FEW_TILES;
    const int64_t rest = ceil_div(at_once, per_head); /* heads of the last section, at least */
    *last = 0;
    if (cut->n_cut || n_heads <= rest || (!few && (double)n_heads * bytes <= most))
        return n_heads; /* of tiles that are cut, the longest of all heads are */
    int64_t n = 1;
    while (2 * n <= n_heads && 2 * (double)n * bytes <= most &&
           (!few || 2 * n * per_head <= at_once / 2))
        n *= 2;
    *last = (n_heads - rest) / n;
    return n;
}

static int log_2(int n) { return n < 2 ? 0 : 1 + log_2(n / 2); }

struct schedule schedule_of(const struct attention *a, const struct chip *chip,
                            const struct cut *cut) {
    int64_t last, section = heads_per_section(a, chip, cut, &last);
    int64_t tiles = cut_tiles(a, cut->shape, cut->pack);
    int heads = a->heads / cut->pack;
    int64_t per_head = tiles / ((int64_t)a->batch * heads);
    int64_t full = cut_full_tiles(a, cut->shape, cut->pack);
    return (struct schedule){
        .n_tiles = (int32_t)(tiles + (int64_t)cut->n_cut * (cut->parts - 1)),
        .last_section = (uint32_t)last,
        .n_full = (int32_t)(full * a->batch * heads),
        .full_per_head = divisor_of((uint32_t)(full ? full : 1)),
        .section_tiles = divisor_of((uint32_t)(section * per_head)),
        .section_heads = divisor_of((uint32_t)section),
        .heads = divisor_of((uint32_t)heads),
        .group = divisor_of((uint32_t)(heads / a->kv_heads)),
        .pack = log_2(packed_rows(cut->pack)),
        .n_packed = cut->pack,
        .split = log_2(cut->split),
        .n_cut = cut->n_cut,
        .parts = divisor_of((uint32_t)cut->parts),
    };
}
