/* Handlers of loads, stores, copies, atomics, shuffles and votes. */
#include "exec.h"

#include "emulator/emulator.h"
#include "emulator/instructions/tensor/mma_fragment.h"
#include "emulator/core/memory.h"
#include "emulator/instructions/lanes.h"

#include <string.h>

/* ---- Where ----------------------------------------------------------------------------------- */

unsigned char *sass_global(struct sass_warp *w, uint64_t addr, uint64_t bytes,
                           enum emu_access what) {
    struct sass_cta *c = w->cta;
    if (addr - c->near.first >= c->near.bytes) c->near = emu_room_global(c->grid->memory, addr);
    return emu_reach(c->near, addr, bytes, what).byte;
}

/* Called before memory changes. False, after a message: the old bytes cannot be kept. */
bool sass_may_write(struct sass_warp *w, const struct sass_exec *x, const void *at, size_t bytes) {
    struct sass_undo *undo = w->cta->grid->undo;
    if (!undo || sass_undo_keep(undo, at, bytes)) return true;
    sass_stop(w, x, "it stores more than the predictor keeps to undo it, %d MiB",
              SASS_UNDO_BYTES >> 20);
    return false;
}

/* Shared addresses: the block's own, whatever CTA the upper byte names. False: out of bounds. */
static bool shared_addresses(struct sass_warp *w, const struct sass_exec *x, uint32_t mask,
                             unsigned bytes, uint32_t out[SASS_LANES]) {
    const uint32_t *base = sass_row(w, x->s[0].row), *more = sass_row(w, x->uniform_row);
    const uint32_t add = more[0] + (uint32_t)x->offset, size = w->cta->shared_bytes;
    uint32_t worst = 0, low = 0, bad = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        out[l] = ((base[l] << x->shift) + add) & 0xffffff;
        worst = out[l] > worst ? out[l] : worst;
        low |= out[l];
    }
    if (worst + bytes <= size && !(low & (bytes - 1))) return true;
    EMU_EACH_LANE(l, mask) bad |= (uint32_t)(out[l] + bytes > size || out[l] % bytes) << l;
    return !(bad & mask);
}

bool sass_shared_addresses(struct sass_warp *w, const struct sass_exec *x, uint32_t mask,
                           unsigned bytes, uint32_t out[SASS_LANES]) {
    const bool ok = shared_addresses(w, x, mask, bytes, out);
    if (w->effect) memcpy(w->effect->shared, out, sizeof w->effect->shared);
    EMU_EACH_LANE(l, ok ? 0 : mask)
    if (out[l] + bytes > w->cta->shared_bytes || out[l] % bytes) {
        sass_stop(w, x, "lane %u: %u bytes at shared address %#x of %#x", l, bytes, out[l],
                  w->cta->shared_bytes);
        return false;
    }
    return ok;
}

static void tell_global(struct sass_warp *w, const uint64_t addr[SASS_LANES]) {
    if (w->effect) memcpy(w->effect->global, addr, sizeof w->effect->global);
}

void sass_global_addresses(struct sass_warp *w, const struct sass_exec *x, unsigned source,
                           int64_t offset, uint64_t out[SASS_LANES]) {
    const uint32_t *low = sass_row(w, x->s[source].row), *high = low + SASS_LANES;
    for (int l = 0; l < SASS_LANES; l++)
        out[l] = (low[l] | (uint64_t)high[l] << 32) + (uint64_t)offset;
    tell_global(w, out);
}

enum sass_go sass_bad_global(struct sass_warp *w, const struct sass_exec *x, uint32_t lane,
                             uint64_t addr) {
    return sass_stop(w, x, "lane %u: %u bytes at %#llx: not inside one allocation, or misaligned",
                     lane, x->bytes, (unsigned long long)addr);
}

/* ---- Constant bank --------------------------------------------------------------------------- */

static unsigned places(const uint32_t at[SASS_LANES], uint32_t mask) {
    unsigned n = 0;
    EMU_EACH_LANE(l, mask) {
        bool seen = false;
        EMU_EACH_LANE(k, mask & ((1u << l) - 1)) seen |= at[k] == at[l];
        n += !seen;
    }
    return n;
}

struct sass_bank sass_bank_of(const struct sass_grid *g, int bank) {
    const struct sass_code *code = sass_code(g->kernel);
    const struct sass_bank of_kernel[] = {[0] = {g->bank, g->bank_bytes},
                                          [2] = {code->bank2, code->bank2_bytes},
                                          [3] = g->variables,
                                          [4] = {code->bank4, code->bank4_bytes}};
    return bank == 4 && g->addresses.at ? g->addresses : of_kernel[bank];
}

/* mode: bank; mode2: sign-extended; bytes; s[0] is added. A uniform load has one address. */
enum sass_go sass_ldc(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const struct sass_bank of = sass_bank_of(w->cta->grid, x->mode);
    const unsigned char *bank = of.at;
    const uint32_t size = of.bytes;
    const uint32_t *at = sass_row(w, x->s[0].row);
    uint32_t *d = sass_row(w, x->d);
    const bool uniform = x->uniform || x->s[0].row == SASS_ROW_ZERO;
    if (uniform) { /* one address for all */
        uint32_t offset = at[0] + (uint32_t)x->offset;
        if (offset > size || size - offset < x->bytes)
            return sass_stop(w, x, "c[%#x][%#x] lies outside of the bank", x->mode, offset);
        for (unsigned k = 0; k < x->bytes; k += 4, d += SASS_LANES) {
            uint32_t value = 0;
            memcpy(&value, bank + offset + k, x->bytes < 4 ? x->bytes : 4);
            EACH(value);
        }
        if (x->mode2) sass_extend_sign(sass_row(w, x->d), mask, x->bytes);
        return SASS_GO_NEXT;
    }
    if (w->effect) w->effect->constants = (uint8_t)places(at, mask);
    EMU_EACH_LANE(l, mask) {
        uint32_t offset = at[l] + (uint32_t)x->offset;
        if (offset > size || size - offset < x->bytes)
            return sass_stop(w, x, "c[%#x][%#x] lies outside of the bank", x->mode, offset);
        sass_load_lane(d, l, bank + offset, x->bytes);
    }
    if (x->mode2) sass_extend_sign(d, mask, x->bytes);
    return SASS_GO_NEXT;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

/* The lanes' bytes to n / 4 rows; whole warps without looking at the mask. */
static inline void gather_n(uint32_t *d, const unsigned char *from, const uint32_t addr[SASS_LANES],
                            uint32_t mask, unsigned n) {
    if (mask == EMU_FULL)
        for (uint32_t l = 0; l < SASS_LANES; l++) sass_load_lane(d, l, from + addr[l], n);
    else
        EMU_EACH_LANE(l, mask) sass_load_lane(d, l, from + addr[l], n);
}
static void gather(uint32_t *d, const unsigned char *from, const uint32_t addr[SASS_LANES],
                   uint32_t mask, unsigned n) {
    switch (n) {
    case 1:
        gather_n(d, from, addr, mask, 1);
        break;
    case 2:
        gather_n(d, from, addr, mask, 2);
        break;
    case 4:
        gather_n(d, from, addr, mask, 4);
        break;
    case 8:
        gather_n(d, from, addr, mask, 8);
        break;
    default:
        gather_n(d, from, addr, mask, 16);
    }
}

enum sass_go sass_lds(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t addr[SASS_LANES], *d = sass_row(w, x->d);
    const unsigned char *shared = sass_shared(w->cta, 0, w->cta->shared_bytes);
    if (!sass_shared_addresses(w, x, mask, x->bytes, addr)) return SASS_GO_FAULT;
    gather(d, shared, addr, mask, x->bytes);
    if (x->mode) sass_extend_sign(d, mask, x->bytes);
    return SASS_GO_NEXT;
}

enum sass_go sass_sts(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t addr[SASS_LANES];
    const uint32_t *s = sass_row(w, x->s[1].row);
    if (!sass_shared_addresses(w, x, mask, x->bytes, addr)) return SASS_GO_FAULT;
    EMU_EACH_LANE(l, mask) sass_store_lane(s, l, sass_shared(w->cta, addr[l], x->bytes), x->bytes);
    return SASS_GO_NEXT;
}

/* Four 8x8 matrices of halves: lane 8r + j points at row j of matrix r. mode: transposed */
enum sass_go sass_ldsm(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t addr[SASS_LANES];
    if (mask != EMU_FULL) return sass_stop(w, x, "not all lanes of the warp are here");
    if (!sass_shared_addresses(w, x, mask, 16, addr)) return SASS_GO_FAULT;
    uint32_t data[4][8][4];
    for (int r = 0; r < 4; r++)
        for (int j = 0; j < 8; j++)
            memcpy(data[r][j], sass_shared(w->cta, addr[8 * r + j], 16), 16);
    for (int r = 0; r < 4; r++) {
        uint32_t *d = sass_row(w, x->d + (uint32_t)r * SASS_ROW);
        if (!x->mode) {
            memcpy(d, data[r], sizeof data[r]); /* lane 4 * row + word */
            continue;
        }
        const uint16_t(*half)[8] = (const void *)data[r];
        for (int lane = 0; lane < SASS_LANES; lane++) {
            struct fragment_at low = fragment_matrix(lane, 0, 1),
                               high = fragment_matrix(lane, 1, 1);
            d[lane] = half[low.row][low.col] | (uint32_t)half[high.row][high.col] << 16;
        }
    }
    return SASS_GO_NEXT;
}

enum sass_go sass_stsm(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t addr[SASS_LANES];
    if (mask != EMU_FULL) return sass_stop(w, x, "not all lanes of the warp are here");
    if (!sass_shared_addresses(w, x, mask, 16, addr)) return SASS_GO_FAULT;
    for (int r = 0; r < 4; r++) {
        const uint32_t *s = sass_row(w, x->s[1].row + (uint32_t)r * SASS_ROW);
        for (int row = 0; row < 8; row++)
            memcpy(sass_shared(w->cta, addr[8 * r + row], 16), s + 4 * row, 16);
    }
    return SASS_GO_NEXT;
}

/* ---- Global memory --------------------------------------------------------------------------- */

enum sass_go sass_ldg(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    uint32_t *d = sass_row(w, x->d);
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) {
        const unsigned char *from =
            addr[l] % x->bytes ? NULL : sass_global(w, addr[l], x->bytes, EMU_READ);
        if (!from) return sass_bad_global(w, x, l, addr[l]);
        sass_load_lane(d, l, from, x->bytes);
    }
    if (x->mode) sass_extend_sign(d, mask, x->bytes);
    return SASS_GO_NEXT;
}

enum sass_go sass_stg(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    const uint32_t *s = sass_row(w, x->s[1].row);
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) {
        unsigned char *to =
            addr[l] % x->bytes ? NULL : sass_global(w, addr[l], x->bytes, EMU_WRITE);
        if (!to) return sass_bad_global(w, x, l, addr[l]);
        if (!sass_may_write(w, x, to, x->bytes)) return SASS_GO_FAULT;
        sass_store_lane(s, l, to, x->bytes);
    }
    return SASS_GO_NEXT;
}

/* [shared], [global], predicate pin[0]: false fills with zeros and reads nothing. imm: the offset
 * of the global address. */
enum sass_go sass_ldgsts(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t to[SASS_LANES], reads = sass_pred_value(w, x->pin[0]);
    uint64_t from[SASS_LANES];
    if (!sass_shared_addresses(w, x, mask, x->bytes, to)) return SASS_GO_FAULT;
    sass_global_addresses(w, x, 1, (int32_t)x->imm, from);
    EMU_EACH_LANE(l, mask) {
        const unsigned char *source = NULL;
        if (!(reads >> l & 1)) {
            memset(sass_shared(w->cta, to[l], x->bytes), 0, x->bytes);
            continue;
        }
        if (!(from[l] % x->bytes)) source = sass_global(w, from[l], x->bytes, EMU_READ);
        if (!source) return sass_bad_global(w, x, l, from[l]);
        memcpy(sass_shared(w->cta, to[l], x->bytes), source, x->bytes);
    }
    if (w->effect) w->effect->reads = mask & reads;
    return SASS_GO_NEXT;
}

/* ST by generic address: global memory, or shared memory of a CTA of the cluster */
enum sass_go sass_st_generic(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    const uint32_t *s = sass_row(w, x->s[1].row);
    uint32_t window = 0, own = 0;
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) {
        unsigned char *to = NULL;
        if (addr[l] >> 32 == SASS_SWINHI) {
            uint32_t rank = (uint32_t)addr[l] >> 24, at = (uint32_t)addr[l] & 0xffffff;
            const struct sass_cluster *cluster = w->cta->cluster;
            window |= 1u << l;
            own |= (uint32_t)(rank == w->cta->rank) << l;
            if (rank < cluster->n && at + x->bytes <= cluster->cta[rank]->shared_bytes)
                to = sass_shared(cluster->cta[rank], at, x->bytes);
        } else {
            to = sass_global(w, addr[l], x->bytes, EMU_WRITE);
            if (to && !sass_may_write(w, x, to, x->bytes)) return SASS_GO_FAULT;
        }
        if (!to || addr[l] % x->bytes) return sass_bad_global(w, x, l, addr[l]);
        sass_store_lane(s, l, to, x->bytes);
    }
    if (w->effect && own == mask) { /* to the block's own: an ordinary store, in wavefronts too */
        for (int l = 0; l < SASS_LANES; l++) w->effect->shared[l] = (uint32_t)addr[l] & 0xffffff;
        w->effect->memory = SASS_STS;
    } else if (w->effect) {
        w->effect->memory = window == mask ? SASS_DSMEM : SASS_STG;
    }
    return SASS_GO_NEXT;
}

/* ---- Across lanes ---------------------------------------------------------------------------- */

/* mode: 0 up, 1 down, 2 butterfly, 3 index; as op shfl.sync: warpops.c */
enum sass_go sass_shfl(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t a[SASS_LANES], inside = 0, *d = sass_row(w, x->d);
    const uint32_t *b = sass_row(w, x->s[1].row), *c = sass_row(w, x->s[2].row);
    memcpy(a, sass_row(w, x->s[0].row), sizeof a);
    for (int l = 0; l < SASS_LANES; l++) {
        int segment = (int)(c[l] >> 8 & 31), clamp = (int)(c[l] & 31), n = (int)(b[l] & 31);
        int max = (l & segment) | (clamp & ~segment);
        int j = x->mode == SHFL_UP     ? l - n
                : x->mode == SHFL_DOWN ? l + n
                : x->mode == SHFL_BFLY ? l ^ n
                                       : (l & segment) | (n & ~segment);
        bool ok = x->mode != SHFL_UP ? j <= max : j >= max;
        if (!(mask >> l & 1)) continue;
        d[l] = a[ok ? j : l];
        inside |= (uint32_t)ok << l;
    }
    sass_write_pred(w, x->pd, mask, inside);
    return SASS_GO_NEXT;
}

/* mode: 0 any, 1 all. The lanes that are here vote; the register, if there is one, gets the lanes that voted yes. */
enum sass_go sass_vote(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t here = x->uniform ? w->active : mask, yes = sass_pred_value(w, x->pin[0]) & here;
    bool r = x->mode ? yes == here : yes != 0;
    uint32_t *d = sass_row(w, x->d);
    sass_write_pred(w, x->pd, mask, r ? EMU_FULL : 0);
    if (x->d != SASS_ROW_SINK) EACH(yes);
    return SASS_GO_NEXT;
}

/* ELECT: the lowest lane gets true. */
enum sass_go sass_elect(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t lane = (uint32_t)__builtin_ctz(mask), *u = sass_row(w, x->d);
    sass_write_pred(w, x->pd, mask, 1u << lane);
    for (int l = 0; l < SASS_LANES; l++) u[l] = lane;
    return SASS_GO_NEXT;
}

enum sass_go sass_r2ur(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t value = sass_row(w, x->s[0].row)[__builtin_ctz(mask)], *u = sass_row(w, x->d);
    for (int l = 0; l < SASS_LANES; l++) u[l] = value;
    return SASS_GO_NEXT;
}

/* mode: which special register, decode_flow.c's list; 11: both halves of the clock */
enum sass_go sass_s2r(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const struct sass_cta *c = w->cta;
    const uint32_t *block = c->grid->block;
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) {
        uint32_t t = (uint32_t)w->index * 32 + l, v = 0;
        switch (x->mode) {
        case 0:
            v = t % block[0];
            break;
        case 1:
            v = t / block[0] % block[1];
            break;
        case 2:
            v = t / block[0] / block[1];
            break;
        case 3:
        case 4:
        case 5:
            v = c->id[x->mode - 3];
            break;
        case 6:
            v = l;
            break;
        case 7:
            v = c->rank;
            break;
        case 8:
            v = SASS_SWINHI;
            break;
        case 9:
            v = (1u << l) - 1;
            break;
        case 12:
            v = 1u << l;
            break;
        case 13:
            v = (2u << l) - 1;
            break;
        case 14:
            v = EMU_FULL << l;
            break;
        case 15:
            v = EMU_FULL << 1 << l;
            break;
        default:
            v = (uint32_t)c->ticks; /* clock: instructions of the block */
            if (x->mode == 11) d[SASS_LANES + l] = (uint32_t)((uint64_t)c->ticks >> 32);
        }
        d[l] = v;
    }
    return SASS_GO_NEXT;
}
