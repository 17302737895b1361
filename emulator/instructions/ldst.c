/* ld and st of every space. */
#include "access.h"
#include "cluster.h"
#include "handlers.h"
#include "poll.h"

#include "emulator/checks/global.h"
#include "emulator/checks/taint.h"
#include "emulator/core/failed_check.h"

#include "common/cuda/vector.h"

#include <string.h>

/* ---- Where lanes point ----------------------------------------------------------------------- */

/* One access by lanes that share a space: host addresses in `at`; returns the lanes that may go
 * on. */
static uint32_t resolve(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                        enum emu_space space, const uint64_t addr[32], unsigned bytes,
                        enum emu_access what, struct emu_place at[32]) {
    struct emu_block *b = w->block;
    if (space == EMU_SHARED) {
        uint32_t offset[EMU_LANES];
        for (int l = 0; l < EMU_LANES; l++)
            offset[l] = addr[l] >> 32 ? UINT32_MAX - 15 : (uint32_t)addr[l];
        mask = emu_shared_access(w, i, mask, offset, bytes, what);
        const struct emu_room room = emu_room_shared(b);
        EMU_EACH_LANE(l, mask) at[l] = emu_reach(room, offset[l], bytes, what);
    } else if (space == EMU_CLUSTER) {
        mask = emu_cluster_access(w, i, mask, addr, bytes, what, at);
    } else if (space == EMU_LOCAL) {
        uint32_t ok = mask, size = b->kernel->local_bytes;
        EMU_EACH_LANE(l, mask) {
            at[l] = emu_reach(emu_room_local(w, l), addr[l], bytes, what);
            if (addr[l] % bytes == 0 && at[l].byte) continue;
            emu_report(addr[l] % bytes ? EMU_MISALIGNED : EMU_BAD_LOCAL, w, i, NULL,
                       "lane %d: %u bytes at local address 0x%llx of 0x%x", l, bytes,
                       (unsigned long long)addr[l], size);
            ok &= ~(1u << l);
        }
        mask = ok;
        if (w->local_written) emu_local_check(w, i, mask, addr, bytes, what);
        w->count[i->pc].bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    } else {
        mask = emu_global_access(w, i, mask, addr, bytes, what);
        if (mask) emu_global_places(w, i, mask, addr, bytes, what, at);
    }
    return mask;
}

uint32_t emu_locate(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const struct emu_operand *op, unsigned bytes, enum emu_access what,
                    struct emu_place at[32]) {
    uint64_t addr[EMU_LANES];
    emu_addresses(w, op, addr);
    if (i->space != EMU_GENERIC)
        return resolve(w, i, mask, (enum emu_space)i->space, addr, bytes, what, at);
    uint32_t shared = 0, local = 0, peers = 0, ok = 0;
    EMU_EACH_LANE(l, mask) {
        shared |= (uint32_t)(addr[l] - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES) << l;
        local |= (uint32_t)(addr[l] - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES) << l;
        peers |= (uint32_t)(addr[l] - EMU_CLUSTER_WINDOW < EMU_MAX_CLUSTER * EMU_WINDOW_BYTES) << l;
    }
    for (int l = 0; l < EMU_LANES; l++)
        if ((shared | local) >> l & 1) addr[l] &= EMU_WINDOW_BYTES - 1;
    uint32_t global = mask & ~shared & ~local & ~peers;
    if (shared) ok |= resolve(w, i, shared, EMU_SHARED, addr, bytes, what, at);
    if (local) ok |= resolve(w, i, local, EMU_LOCAL, addr, bytes, what, at);
    if (peers) ok |= resolve(w, i, peers, EMU_CLUSTER, addr, bytes, what, at);
    if (global) ok |= resolve(w, i, global, EMU_GLOBAL, addr, bytes, what, at);
    return ok;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* memcpy of 1, 2, 4 or 8 bytes without a call */
static inline void copy(void *to, const void *from, unsigned bytes) {
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        return;
    case 2:
        memcpy(to, from, 2);
        return;
    case 4:
        memcpy(to, from, 4);
        return;
    default:
        memcpy(to, from, 8);
    }
}

/* Register element k of lane l: `bytes` of memory, sign-extended or zero-extended to the
 * register. */
static void put(struct emu_warp *w, const struct emu_operand *d, int k, uint32_t l,
                const void *from, unsigned bytes, bool is_signed) {
    uint64_t value = 0;
    copy(&value, from, bytes);
    if (is_signed && bytes < 8) {
        int shift = 64 - 8 * (int)bytes;
        value = (uint64_t)((int64_t)(value << shift) >> shift);
        if (d->bytes == 2) value &= 0xffff;
    }
    if (d->wide)
        emu_row64(w, d->rows[k])[l] = value;
    else
        emu_row32(w, d->rows[k])[l] = (uint32_t)value;
}

/* All elements of some lanes, from at[]. */
static void put_lanes(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const struct emu_place at[32]) {
    const struct emu_operand *d = &i->op[0];
    unsigned bytes = (unsigned)i->aux[0];
    for (unsigned k = 0; k < i->vec; k++) {
        uint32_t *row = emu_row32(w, d->rows[k]);
        if (bytes == 4 && !d->wide)
            EMU_EACH_LANE(l, mask) memcpy(row + l, at[l].byte + 4 * k, 4);
        else
            EMU_EACH_LANE(l, mask) put(w, d, (int)k, l, at[l].byte + k * bytes, bytes, i->aux[1]);
    }
}

/* A load that failed leaves what the launch drew: nothing of the block before (front/anew.c). */
static void failed(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes) {
    const struct emu_operand *d = &i->op[0];
    const uint32_t bytes = d->wide ? 8 : 4;
    for (int k = 0; k < i->vec; k++) EMU_EACH_LANE(l, lanes) {
            const uint32_t at = d->rows[k] + bytes * l;
            memcpy(w->rows + at, w->block->kernel->row_init + at, bytes);
        }
}

static void saw(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                const struct emu_place at[32]) {
    if (i->aux[2] & EMU_STRONG && (i->space == EMU_GLOBAL || i->space == EMU_GENERIC))
        emu_global_saw(w, i, mask, at);
}

static enum emu_step ld(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_place at[EMU_LANES];
    unsigned bytes = (unsigned)i->aux[0];
    uint32_t ok = emu_locate(w, i, mask, &i->op[1], bytes * i->vec,
                             (enum emu_access)(EMU_READ | i->aux[2]), at);
    put_lanes(w, i, ok, at);
    failed(w, i, mask & ~ok);
    saw(w, i, ok, at);
    return EMU_NEXT;
}

/* What may be a look of a spinning loop: poll.h. */
static enum emu_step ld_poll(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t addr[EMU_LANES];
    struct emu_place at[EMU_LANES];
    unsigned bytes = (unsigned)i->aux[0], all = bytes * i->vec;
    emu_addresses(w, &i->op[1], addr);
    if (emu_poll_sleeps(w, i, mask, addr)) return EMU_WAIT;
    uint32_t ok =
        emu_locate(w, i, mask, &i->op[1], all, (enum emu_access)(EMU_READ | i->aux[2]), at);
    if (!ok) return EMU_STOP; /* it was reported; in a loop it would never end */
    if (ok == mask) emu_poll_looked(w, i, mask, addr, at, NULL, all);
    put_lanes(w, i, ok, at);
    failed(w, i, mask & ~ok);
    saw(w, i, ok, at);
    return EMU_NEXT;
}

/* Every lane has the same. */
static inline bool uniform(const uint64_t row[32]) {
    uint64_t differ = 0;
    for (int l = 1; l < EMU_LANES; l++) differ |= row[l] ^ row[0];
    return !differ;
}

/* ld.param of a kernel parameter: nearly always the same for all lanes. */
static enum emu_step ld_param(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    unsigned bytes = (unsigned)i->aux[0];
    const struct emu_room room = emu_room_param(w->block->launch);
    const uint64_t *base = emu_row64(w, i->op[1].row);
    EMU_EACH_LANE(l, mask) {
        uint64_t offset = base[l] + (uint64_t)i->op[1].imm;
        struct emu_place at = emu_reach(room, offset, (uint64_t)bytes * i->vec, EMU_READ);
        if (!at.byte) {
            emu_report(EMU_BAD_GLOBAL, w, i, NULL, "parameter offset %llu of %u bytes",
                       (unsigned long long)offset, w->block->kernel->param_bytes);
            return EMU_STOP;
        }
        for (int k = 0; k < i->vec; k++)
            put(w, &i->op[0], k, l, at.byte + (unsigned)k * bytes, bytes, i->aux[1]);
        if (mask != EMU_FULL || l || !uniform(base)) continue;
        for (int k = 0; k < i->vec; k++) { /* of lane 0, for all */
            if (i->op[0].wide) {
                uint64_t *row = emu_row64(w, i->op[0].rows[k]), value = row[0];
                for (int n = 1; n < EMU_LANES; n++) row[n] = value;
            } else {
                uint32_t *row = emu_row32(w, i->op[0].rows[k]), value = row[0];
                for (int n = 1; n < EMU_LANES; n++) row[n] = value;
            }
        }
        break;
    }
    return EMU_NEXT;
}

static inline v8i same8(const unsigned char *at) {
    int32_t value;
    memcpy(&value, at, 4);
    return all8(value);
}

/* 2 or 4 bytes for every lane. Shared memory has a few bytes of slack behind it, so that 4 can
 * be read for 2. Whole vectors are stored, because what reads the row next loads whole vectors. */
static inline void load_row(uint32_t *d, const unsigned char *at, const int32_t delta[32],
                            unsigned bytes, enum emu_pattern_kind kind) {
    v8i keep = all8(bytes == 2 ? 0xffff : -1), eight;
    switch (kind) {
    case EMU_PATTERN_BROADCAST:
    case EMU_PATTERN_PERIOD8:
        eight = kind == EMU_PATTERN_BROADCAST ? same8(at) : gather8(at, load8(delta));
        for (int l = 0; l < EMU_LANES; l += 8) store8(d + l, eight & keep);
        return;
    case EMU_PATTERN_PERIOD16:
        for (int l = 0; l < 16; l += 8) {
            eight = gather8(at, load8(delta + l)) & keep;
            store8(d + l, eight);
            store8(d + l + 16, eight);
        }
        return;
    case EMU_PATTERN_RUNS8:
        for (int l = 0; l < EMU_LANES; l += 8) store8(d + l, same8(at + delta[l]) & keep);
        return;
    case EMU_PATTERN_CONTIGUOUS:
        for (int l = 0; l < EMU_LANES && bytes == 4; l += 8) store8(d + l, load8(at + 4 * l));
        for (int l = 0; l < EMU_LANES && bytes == 2; l += 8)
            store8(d + l, load8_halves(at + 2 * l));
        return;
    default:
        for (int l = 0; l < EMU_LANES; l += 8) store8(d + l, gather8(at, load8(delta + l)) & keep);
    }
}

/* Shared loads into 32-bit registers: the hot path. */
static enum emu_step ld_shared_fast(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *base = emu_row32(w, i->row[1]);
    uint32_t offset = (uint32_t)i->offset;
    unsigned bytes = (unsigned)i->aux[0], all = bytes * i->vec;
    const struct emu_again again = mask == EMU_FULL && bytes >= 2
                                       ? emu_shared_again(w, i, base, offset, all, EMU_READ)
                                       : (struct emu_again){0};
    const struct emu_pattern *p = again.pattern;
    if (p) {
        enum emu_pattern_kind kind = (enum emu_pattern_kind)p->kind; /* of whole vectors */
        if (kind == EMU_PATTERN_CONTIGUOUS && i->vec > 1) kind = EMU_PATTERN_OTHER;
        const unsigned char *at = again.first.byte;
        for (int k = 0; k < i->vec; k++)
            load_row(emu_row32(w, i->op[0].rows[k]), at + (unsigned)k * bytes, p->delta, bytes,
                     kind);
        return EMU_NEXT;
    }
    uint32_t addr[EMU_LANES];
    for (int l = 0; l < EMU_LANES; l++) addr[l] = base[l] + offset;
    uint32_t ok = emu_shared_access(w, i, mask, addr, all, EMU_READ);
    const struct emu_room room = emu_room_shared(w->block);
    EMU_EACH_LANE(l, ok) {
        struct emu_place at = emu_reach(room, addr[l], all, EMU_READ);
        for (int k = 0; k < i->vec; k++)
            put(w, &i->op[0], k, l, at.byte + (unsigned)k * bytes, bytes, false);
    }
    failed(w, i, mask & ~ok);
    return EMU_NEXT;
}

/* 4 bytes for some lanes, those of `mask`. */
static inline void load_some(uint32_t *d, const unsigned char *at, const int32_t delta[32],
                             uint32_t mask) {
    for (int l = 0; l < EMU_LANES; l += 8)
        if (mask >> l & 255)
            store8(d + l, gather8_some(load8(d + l), lanes8(mask >> l), at, load8(delta + l)));
}

/* 16 bytes of two lanes. */
static inline v8i two16(const unsigned char *low, const unsigned char *high) {
    v8i v;
    memcpy(&v, low, 16);
    memcpy((char *)&v + 16, high, 16);
    return v;
}
#define LOWER(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define UPPER(a, b)  __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define FIRST(a, b)  __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SECOND(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)

/* Four words for every lane: 16 bytes of each, turned. Lanes l and l + distinct are alike. */
static inline void fetch(struct emu_pattern *p, const unsigned char *at, int distinct) {
    for (int l = 0; l < distinct; l += 8) {
        const int32_t *d = p->delta + l;
        v8i a = two16(at + d[0], at + d[4]), b = two16(at + d[1], at + d[5]),
            c = two16(at + d[2], at + d[6]), e = two16(at + d[3], at + d[7]);
        v8i ab = LOWER(a, b), ce = LOWER(c, e), ab_high = UPPER(a, b), ce_high = UPPER(c, e);
        for (int to = l; to < EMU_LANES; to += distinct) {
            store8(p->fetched[0] + to, FIRST(ab, ce));
            store8(p->fetched[1] + to, SECOND(ab, ce));
            store8(p->fetched[2] + to, FIRST(ab_high, ce_high));
            store8(p->fetched[3] + to, SECOND(ab_high, ce_high));
        }
    }
}

static void fetch_words(struct emu_pattern *p, const unsigned char *at) {
    switch (p->kind) {
    case EMU_PATTERN_BROADCAST:
    case EMU_PATTERN_PERIOD8:
        fetch(p, at, 8);
        return;
    case EMU_PATTERN_PERIOD16:
        fetch(p, at, 16);
        return;
    case EMU_PATTERN_RUNS8:
        for (int l = 0; l < EMU_LANES; l += 8)
            for (int k = 0; k < 4; k++) store8(p->fetched[k] + l, same8(at + p->delta[l] + 4 * k));
        return;
    default:
        fetch(p, at, 32);
    }
}

static inline void take(uint32_t *d, const uint32_t fetched[32]) {
    for (int l = 0; l < EMU_LANES; l += 8) store8(d + l, load8(fetched + l));
}

/* Global loads of 4-byte elements into 32-bit registers. */
static enum emu_step ld_global_fast(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint64_t *base = emu_row64(w, i->row[1]);
    unsigned all = 4u * i->vec;
    if (i->fetched_back) {
        const struct emu_pattern *p = w->pattern[i->pc - i->fetched_back];
        if (p && p->fetched_by == w && p->mask == mask) {
            emu_global_count(w, i, p, mask, 4);
            take(emu_row32(w, i->op[0].rows[0]), p->fetched[i->fetched_word]);
            return EMU_NEXT;
        }
    }
    if (i->fetches && w->pattern[i->pc]) w->pattern[i->pc]->fetched_by = NULL;
    const struct emu_again again = emu_global_again(w, i, mask, base, all);
    struct emu_pattern *p = again.pattern;
    if (!p) return ld(w, i, mask);
    enum emu_pattern_kind kind = (enum emu_pattern_kind)p->kind;
    if (kind == EMU_PATTERN_CONTIGUOUS && i->vec > 1) kind = EMU_PATTERN_OTHER;
    const unsigned char *at = again.first.byte;
    const uint64_t address = base[__builtin_ctz(mask)] + (uint64_t)(int64_t)i->offset;
    bool every = (mask | w->absent) == EMU_FULL;
    if (i->fetches && every && !(p->delta_bits & 31) && /* all words lie in as many sectors */
        emu_reach(emu_room_of(p->near), address + (uint64_t)p->max, 16, EMU_READ).byte) {
        fetch_words(p, at);
        p->fetched_by = w;
        take(emu_row32(w, i->op[0].rows[0]), p->fetched[0]);
        return EMU_NEXT;
    }
    for (int k = 0; k < i->vec; k++) {
        uint32_t *d = emu_row32(w, i->op[0].rows[k]);
        if (every)
            load_row(d, at + 4 * k, p->delta, 4, kind);
        else
            load_some(d, at + 4 * k, p->delta, mask);
    }
    return EMU_NEXT;
}

static enum emu_class class_of(enum emu_space space, bool store) {
    switch (space) {
    case EMU_SHARED:
        return store ? EMU_ST_SHARED : EMU_LD_SHARED;
    case EMU_CLUSTER:
        return store ? EMU_ST_CLUSTER : EMU_LD_CLUSTER;
    case EMU_LOCAL:
        return store ? EMU_ST_LOCAL : EMU_LD_LOCAL;
    case EMU_PARAM:
        return EMU_LD_PARAM;
    case EMU_CONST:
        return EMU_LD_CONST;
    default:
        return store ? EMU_ST_GLOBAL : EMU_LD_GLOBAL;
    }
}

/* Accesses that may meet others: the programmer said so. */
static int strength(const struct emu_inst *i) {
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (emu_has(i, words[n])) return EMU_STRONG;
    return 0;
}

static bool is_signed(const struct emu_inst *i) {
    enum emu_type t = (enum emu_type)i->type[i->n_types - 1];
    return t == EMU_S8 || t == EMU_S16 || t == EMU_S32;
}

emu_handler *emu_select_ld(struct emu_inst *i, const char **why) {
    unsigned bytes = emu_type_bytes((enum emu_type)i->type[i->n_types - 1]);
    i->aux[0] = (int32_t)bytes;
    i->aux[1] = is_signed(i);
    i->aux[2] = strength(i);
    i->read_only_path = emu_has(i, "nc");
    i->class = class_of((enum emu_space)i->space, false);
    *why = "the number of registers does not fit the vector";
    if (i->op[0].n != i->vec || bytes == 0 || bytes > 8 || bytes * i->vec > 16) return NULL;
    *why = "64-bit elements need 64-bit registers";
    if (bytes == 8 && !i->op[0].wide) return NULL;
    if (i->space == EMU_PARAM) return ld_param;
    bool polls = i->aux[2] || emu_has(i, "cg") || emu_has(i, "cv");
    if (polls && i->space != EMU_LOCAL && i->space != EMU_CONST && bytes * i->vec <= 16)
        return ld_poll;
    if (i->space == EMU_SHARED && !i->op[0].wide && !i->op[1].wide && !i->aux[1] && !i->aux[2])
        return ld_shared_fast;
    if (i->space == EMU_GLOBAL && !i->op[0].wide && i->op[1].wide && bytes == 4 && !i->aux[2])
        return ld_global_fast;
    return ld;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static enum emu_step st(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_place at[EMU_LANES];
    unsigned bytes = (unsigned)i->aux[0];
    uint32_t ok = emu_locate(w, i, mask, &i->op[0], bytes * i->vec,
                             (enum emu_access)(EMU_WRITE | i->aux[2]), at);
    const struct emu_operand *s = &i->op[1];
    *(i->space == EMU_LOCAL ? &w->local_effects : &w->effects) += 1;
    for (int k = 0; k < i->vec; k++) {
        const uint32_t *row = emu_row32(w, s->rows[k]);
        if (bytes == 4 && !s->wide)
            EMU_EACH_LANE(l, ok) memcpy(at[l].byte + 4 * (unsigned)k, row + l, 4);
        else
            EMU_EACH_LANE(l, ok) {
                uint64_t value =
                    s->wide ? emu_row64(w, s->rows[k])[l] : emu_row32(w, s->rows[k])[l];
                copy(at[l].byte + (unsigned)k * bytes, &value, bytes);
            }
    }
    return EMU_NEXT;
}

emu_handler *emu_select_st(struct emu_inst *i, const char **why) {
    unsigned bytes = emu_type_bytes((enum emu_type)i->type[i->n_types - 1]);
    i->aux[0] = (int32_t)bytes;
    i->aux[2] = strength(i);
    i->class = class_of((enum emu_space)i->space, true);
    *why = "the number of registers does not fit the vector";
    if (i->op[1].n != i->vec || bytes == 0 || bytes > 8 || bytes * i->vec > 16) return NULL;
    *why = "64-bit elements need 64-bit registers";
    if (bytes == 8 && !i->op[1].wide && i->op[1].row != EMU_ZERO) return NULL;
    *why = "parameters of kernels cannot be stored to";
    return i->space == EMU_PARAM ? NULL : st;
}
