/* A and B: made, laid out as in shared memory, and misplaced on purpose. */
#include "experiment.h"
#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/cuda/half.h"
#include "common/harness/input.h"

#include <stdlib.h>
#include <string.h>

/* A wrong descriptor leads past the tiles: zeros lie
 * there, so that its result is the same everywhere. */
enum { MISTAKE_BYTES = 40 * 1024 };

/* The matrices as an attention problem's Q and K: (1, 1, 64, K) and (1, 1, N, K). */
static const char *fill(const struct experiment *e, half *a, half *b) {
    if (!strcmp(e->input, "zeros")) return NULL;
    int k = WGMMA_K * e->k_steps;
    struct attention p = {.batch = 1,
                          .heads = 1,
                          .kv_heads = 1,
                          .seqlen_q = WGMMA_M,
                          .seqlen_k = e->n,
                          .head_dim = k};
    const char *why = attention_complete(&p);
    if (why) return why;
    half *unused = heap_zeroed((size_t)e->n * k, sizeof *unused);
    why = input_fill(e->input, e->seed, &p, a, b, unused);
    free(unused);
    return why;
}

static void lay_out(unsigned char *tile, const struct gmma_layout *l, const half *x) {
    for (int row = 0; row < l->rows; row++)
        for (int k = 0; k < l->k; k++)
            memcpy(tile + gmma_layout_offset(l, row, k), &x[row * l->k + k], sizeof *x);
}

static uint64_t describe(const struct experiment *e, const struct gmma_layout *l, uint32_t start) {
    struct gmma_desc d = gmma_layout_desc(l);
    d.start = start;
    if (experiment_makes(e, "wrong-swizzle")) d.swizzle = (d.swizzle + 1) % 4;
    if (experiment_makes(e, "lbo-sbo-swapped")) {
        uint32_t leading = d.leading_bytes;
        d.leading_bytes = d.stride_bytes;
        d.stride_bytes = leading;
    }
    return gmma_desc_encode(d);
}

const char *matrices_make(const struct experiment *e, struct matrices *out) {
    int k = WGMMA_K * e->k_steps;
    *out = (struct matrices){.a_layout = {WGMMA_M, k, e->a_m_major, e->swizzle},
                             .b_layout = {e->n, k, e->b_n_major, e->swizzle}};
    uint32_t shift = experiment_makes(e, "unaligned") ? 8 : 0;
    out->b_tile = ((uint32_t)gmma_layout_bytes(&out->a_layout) + 1023) / 1024 * 1024;
    uint32_t bytes = out->b_tile + (uint32_t)gmma_layout_bytes(&out->b_layout) + 16;
    if (e->mistake && bytes < MISTAKE_BYTES) bytes = MISTAKE_BYTES;
    out->args = (struct wgmma_args){.tile_bytes = bytes,
                                    .a_desc = describe(e, &out->a_layout, 0),
                                    .b_desc = describe(e, &out->b_layout, out->b_tile + shift),
                                    .k_steps = e->k_steps,
                                    .wrong_row_slot = experiment_makes(e, "row-slot"),
                                    .no_proxy_fence = experiment_makes(e, "missing-proxy-fence")};
    for (int s = 0; s < e->k_steps; s++) {
        out->args.a_start[s] = gmma_layout_step(&out->a_layout, s);
        out->args.b_start[s] = gmma_layout_step(&out->b_layout, s);
    }
    out->a = heap_zeroed((size_t)WGMMA_M * k, sizeof *out->a);
    out->b = heap_zeroed((size_t)e->n * k, sizeof *out->b);
    out->tiles = heap_zeroed(1, out->args.tile_bytes);
    const char *why = fill(e, out->a, out->b);
    if (why) return why;
    lay_out(out->tiles, &out->a_layout, out->a);
    lay_out(out->tiles + out->b_tile + shift, &out->b_layout, out->b);
    return NULL;
}

void matrices_free(struct matrices *m) {
    free(m->a);
    free(m->b);
    free(m->tiles);
}

const char *placed_make(struct device *d, const struct experiment *e, const struct matrices *m,
                        int n_cycles, struct placed *out) {
    size_t a_bytes = sizeof(half) * WGMMA_M * m->a_layout.k;
    size_t c_bytes = sizeof(float) * WGMMA_M * e->n;
    size_t cycles_bytes = sizeof(int64_t) * (n_cycles ? n_cycles : 1);
    *out = (struct placed){.args = m->args};
    const char *why;
    if ((why = device_alloc(d, a_bytes, &out->a)) ||
        (why = device_alloc(d, m->args.tile_bytes, &out->tiles)) ||
        (why = device_alloc(d, c_bytes, &out->c)) ||
        (why = device_alloc(d, cycles_bytes, &out->cycles)) ||
        (why = device_copy_in(d, out->a, m->a, a_bytes)) ||
        (why = device_copy_in(d, out->tiles, m->tiles, m->args.tile_bytes)) ||
        (why = device_fill(d, out->c, 0xffffffffu, c_bytes)) || /* NaN: unwritten is not right */
        (why = device_fill(d, out->cycles, 0, cycles_bytes)))
        return why;
    out->args.a = (const half *)(uintptr_t)out->a;
    out->args.tiles = (const unsigned char *)(uintptr_t)out->tiles;
    out->args.c = (float *)(uintptr_t)out->c;
    out->args.cycles = (long long *)(uintptr_t)out->cycles;
    return NULL;
}

void placed_free(struct device *d, struct placed *p) {
    device_free(d, p->a);
    device_free(d, p->tiles);
    device_free(d, p->c);
    device_free(d, p->cycles);
}
