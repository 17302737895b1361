/* mov with its packing and unpacking, cvta, special registers. */
#include "handlers.h"
#include "lanes.h"

#include <time.h>

static UNARY(mov32, uint32_t, a[l]);
static UNARY(mov64, uint64_t, a[l]);

/* mov.b32 d, {lo, hi}: n sources of equal width make one value. */
static enum emu_step mov_pack(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_operand *s = &i->op[1];
    bool wide = i->op[0].wide;
    int bits = (wide ? 64 : 32) / s->n;
    EMU_EACH_LANE(l, mask) {
        uint64_t value = 0;
        for (int k = 0; k < s->n; k++)
            value |=
                (uint64_t)(emu_row32(w, s->rows[k])[l] & (bits == 32 ? EMU_FULL : (1u << bits) - 1))
                << bits * k;
        if (wide)
            emu_row64(w, i->row[0])[l] = value;
        else
            emu_row32(w, i->row[0])[l] = (uint32_t)value;
    }
    return EMU_NEXT;
}

static enum emu_step mov_unpack(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_operand *d = &i->op[0];
    bool wide = i->op[1].wide;
    int bits = (wide ? 64 : 32) / d->n;
    EMU_EACH_LANE(l, mask) {
        uint64_t value = wide ? emu_row64(w, i->row[1])[l] : emu_row32(w, i->row[1])[l];
        for (int k = 0; k < d->n; k++)
            emu_row32(w, d->rows[k])[l] =
                (uint32_t)(value >> bits * k) & (bits == 32 ? EMU_FULL : (1u << bits) - 1);
    }
    return EMU_NEXT;
}

/* %clock: about the instructions the block has run, always growing; %globaltimer: the host's
 * nanoseconds. */
static enum emu_step mov_clock(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t value = ++w->block->ticks;
    if (i->aux[0]) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        value = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    }
    EMU_EACH_LANE(l, mask) {
        if (i->op[0].wide)
            emu_row64(w, i->row[0])[l] = value;
        else
            emu_row32(w, i->row[0])[l] = (uint32_t)value;
    }
    return EMU_NEXT;
}

/* Rows of special registers are 32 bits wide. */
static enum emu_step mov_widen(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t *d = ROW(uint64_t, 0);
    const uint32_t *a = ROW(uint32_t, 1);
    EACH(a[l]);
    return EMU_NEXT;
}

emu_handler *emu_select_mov(struct emu_inst *i, const char **why) {
    const struct emu_operand *d = &i->op[0], *s = &i->op[1];
    if (s->n == 1 && s->row == EMU_SPECIAL + 128 * EMU_CLOCK) return mov_clock;
    *why = "the operands have different widths";
    if (d->n > 1 || s->n > 1) {
        if (d->n > 1 && s->n > 1) return NULL;
        return d->n > 1 ? mov_unpack : mov_pack;
    }
    bool special = s->row >= EMU_SPECIAL && s->row < EMU_FIRST_ROW;
    if (special) return d->wide ? mov_widen : mov32;
    if (d->wide != s->wide && s->row != EMU_ZERO) return NULL;
    return d->wide ? mov64 : mov32;
}

/* cvta.SPACE: offset to generic address; cvta.to.SPACE: back. Global addresses are generic
 * already. */
static enum emu_step convert_address(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t *d = ROW(uint64_t, 0);
    const uint64_t *a = ROW(uint64_t, 1);
    uint64_t base = i->space == EMU_SHARED || i->space == EMU_CLUSTER ? EMU_SHARED_WINDOW
                    : i->space == EMU_LOCAL                           ? EMU_LOCAL_WINDOW
                    : i->space == EMU_PARAM                           ? w->block->launch->param
                                                                      : 0;
    if (i->aux[0]) base = -base;
    if (base == EMU_SHARED_WINDOW || -base == EMU_SHARED_WINDOW)
        EACH(a[l] < EMU_CLUSTER_WINDOW ? a[l] + base : a[l]); /* those of other blocks are both */
    else
        EACH(a[l] + base);
    return EMU_NEXT;
}
emu_handler *emu_select_cvta(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[0] = emu_has(i, "to");
    return convert_address;
}

/* isspacep.SPACE p, address */
enum emu_step emu_isspacep(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint64_t *a = ROW(uint64_t, 1);
    uint32_t m = 0;
    for (int l = 0; l < EMU_LANES; l++) {
        bool shared = a[l] - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES,
             local = a[l] - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES,
             peers = a[l] - EMU_CLUSTER_WINDOW < EMU_MAX_CLUSTER * EMU_WINDOW_BYTES;
        m |= (uint32_t)(i->space == EMU_SHARED    ? shared
                        : i->space == EMU_CLUSTER ? shared || peers
                        : i->space == EMU_LOCAL   ? local
                                                  : !shared && !local && !peers)
             << l;
    }
    write_pred(w, i->row[0], mask, m);
    return EMU_NEXT;
}

/* Hints, and fences: the emulator's memory is sequentially consistent, and ordering is the race
 * check's business. */
enum emu_step emu_nothing(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return EMU_NEXT;
}
