/* Local memory, and loads by generic address. The k-th words of a warp's lanes lie side by side:
 *
 *   address of word k of lane l   window + 128 * k + 4 * l      (l = 0 to 31) */
#include "exec.h"

#include <string.h>

/* Where the words of local memory of all warps would lie: no allocation is so high. */
#define WINDOW 0x4000000000000000ull

static uint64_t word_address(const struct sass_warp *w, uint32_t at, uint32_t l) {
    const uint64_t words = (w->cta->grid->kernel->local_bytes + 3) / 4;
    const uint64_t warp = w->cta->linear * SASS_MAX_WARPS + (uint64_t)w->index;
    return WINDOW + (warp * words + at / 4) * SASS_ROW + 4 * l;
}

/* Bytes of local memory of lane l at its address; NULL: outside, or misaligned. */
static unsigned char *local(struct sass_warp *w, const struct sass_exec *x, uint32_t l) {
    const uint32_t size = w->cta->grid->kernel->local_bytes;
    const uint32_t at = (sass_row(w, x->s[0].row)[l] << x->shift) + sass_row(w, x->uniform_row)[0] +
                        (uint32_t)x->offset;
    if (w->effect) w->effect->global[l] = word_address(w, at, l);
    if (at % x->bytes || at > size || size - at < x->bytes) return NULL;
    return w->cta->local + ((size_t)w->index * SASS_LANES + l) * size + at;
}

static enum sass_go outside(struct sass_warp *w, const struct sass_exec *x, uint32_t l) {
    return sass_stop(w, x, "lane %u: %u bytes outside of its %u bytes of local memory", l, x->bytes,
                     w->cta->grid->kernel->local_bytes);
}

enum sass_go sass_ldl(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) {
        const unsigned char *from = local(w, x, l);
        if (!from) return outside(w, x, l);
        sass_load_lane(d, l, from, x->bytes);
    }
    if (x->mode) sass_extend_sign(d, mask, x->bytes);
    return SASS_GO_NEXT;
}

enum sass_go sass_stl(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *s = sass_row(w, x->s[1].row);
    EMU_EACH_LANE(l, mask) {
        unsigned char *to = local(w, x, l);
        if (!to) return outside(w, x, l);
        sass_store_lane(s, l, to, x->bytes);
    }
    return SASS_GO_NEXT;
}

/* ---- Generic addresses ----------------------------------------------------------------------- */

static bool is_shared(uint64_t addr) { return addr >> 32 == SASS_SWINHI; }

/* QSPC.E.S: is it shared memory? */
enum sass_go sass_is_shared(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    uint32_t shared = 0;
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) shared |= (uint32_t)is_shared(addr[l]) << l;
    sass_write_pred(w, x->pd, mask, shared);
    return SASS_GO_NEXT;
}

static const unsigned char *generic(struct sass_warp *w, const struct sass_exec *x, uint64_t addr) {
    const struct sass_cluster *cluster = w->cta->cluster;
    const uint32_t rank = (uint32_t)addr >> 24, at = (uint32_t)addr & 0xffffff;
    if (addr % x->bytes) return NULL;
    if (!is_shared(addr)) return sass_global(w, addr, x->bytes, EMU_READ);
    if (rank >= cluster->n || at + x->bytes > cluster->cta[rank]->shared_bytes) return NULL;
    return sass_shared(cluster->cta[rank], at, x->bytes);
}

/* LD: global memory, or shared memory of a CTA of the cluster */
enum sass_go sass_ld_generic(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    uint32_t *d = sass_row(w, x->d), window = 0, own = 0;
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) {
        const unsigned char *from = generic(w, x, addr[l]);
        if (!from) return sass_bad_global(w, x, l, addr[l]);
        window |= (uint32_t)is_shared(addr[l]) << l;
        own |= (uint32_t)(is_shared(addr[l]) && (uint32_t)addr[l] >> 24 == w->cta->rank) << l;
        sass_load_lane(d, l, from, x->bytes);
    }
    if (x->mode) sass_extend_sign(d, mask, x->bytes);
    if (!w->effect) return SASS_GO_NEXT;
    for (int l = 0; own == mask && l < SASS_LANES; l++)
        w->effect->shared[l] = (uint32_t)addr[l] & 0xffffff;
    w->effect->memory = own == mask ? SASS_LDS : window == mask ? SASS_DSMEM : SASS_LDG;
    return SASS_GO_NEXT;
}
