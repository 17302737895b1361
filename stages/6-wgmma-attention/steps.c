/* The rungs on the host: a CTA for every tile of O, from rung 6 on as many as run at once. */
#include "steps.h"

#include "maps.h"
#include "stages/6-wgmma-attention/steps/tile.h"

#include <stdio.h>

/* The first rungs to take maps of Q, K and V, a schedule, no word of the mask, and a map of O. */
enum { WITH_MAPS = 2, WITH_SCHEDULE = 6, ALWAYS_CAUSAL = 9, WITH_O_MAP = 10 };

int step_of(const char *image) {
    int dim, step;
    return sscanf(image, "d%d-%d-", &dim, &step) == 2 ? step : 0;
}

/* Q in boxes of 64 rows, one for each warpgroup; K and V; O. */
static const char *make_maps(const struct attention *a, struct device *d,
                             const struct stage_tensors *t, int bkv, unsigned char maps[4][128]) {
    const char *why = map_rows(d, t->q, &a->q_stride, a, a->heads, a->seqlen_q, 64, maps[0]);
    if (!why) why = map_kv(d, t, a, bkv, maps + 1);
    return why ? why : map_packed_rows(d, t->o, &a->o_stride, a, 1, maps[3]);
}

const char *plan_step(const struct attention *a, struct device *d, const struct stage_tensors *t,
                      const struct schedule *schedule, struct stage_plan *out) {
    const int step = step_of(out->image);
    const struct tile tile = step_tile_of(a->head_dim, step);
    const int n_sms = device_info(d)->chip.n_sms;
    int64_t n_ctas = (int64_t)a->batch * a->heads * ((a->seqlen_q + tile.bq - 1) / tile.bq);
    if (step >= WITH_SCHEDULE && n_ctas > n_sms) n_ctas = n_sms;
    struct attention_args args = stage_args(a, t);
    /* Their image is for causal problems; without a mask the diagonal lies behind all keys. */
    if (step >= ALWAYS_CAUSAL && !args.causal) args.diagonal = args.seqlen_k;
    unsigned char maps[4][128];
    const char *why = make_maps(a, d, t, tile.bkv, maps);
    struct device_launch *l = &out->launch[0];
    out->n_launches = 1;
    out->is_other_kernel = true;
    *l = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)n_ctas, 1, 1},
        .block = {(unsigned)tile.threads, 1, 1},
        .overlaps_previous = step >= WITH_O_MAP,
        .shared_bytes = (size_t)step_shared_bytes(a->head_dim, step),
    };
    const int n_maps = step < WITH_MAPS ? 0 : step < WITH_O_MAP ? 3 : 4;
    device_launch_arg(l, &args, sizeof args);
    if (step >= WITH_SCHEDULE) device_launch_arg(l, schedule, sizeof *schedule);
    for (int i = 0; i < n_maps; i++) device_launch_arg(l, maps[i], sizeof maps[i]);
    return why;
}
