/* Atomics of every space: lanes in order; between host threads a lock keeps each one whole. */
#include "access.h"
#include "handlers.h"
#include "lanes.h"
#include "poll.h"

#include "common/cuda/half.h"
#include "emulator/checks/global.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t atomic_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t half_pair_add(uint64_t a, uint64_t b, enum emu_type t) {
    uint64_t r = 0;
    int n = t == EMU_F16X2 || t == EMU_BF16X2 ? 2 : 1;
    bool bf16 = t == EMU_BF16 || t == EMU_BF16X2;
    for (int k = 0; k < n; k++) {
        uint32_t x = a >> 16 * k & 0xffff, y = b >> 16 * k & 0xffff, s;
        if (bf16) {
            float sum = bits_float(x << 16) + bits_float(y << 16);
            uint32_t u = float_bits(sum);
            s = sum != sum ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
        } else {
            float sum = half_to_float((half)x) + half_to_float((half)y);
            s = sum != sum ? 0x7fff : half_from_float(sum);
        }
        r |= (uint64_t)(s & 0xffff) << 16 * k;
    }
    return r;
}

/* min and max: a number beats a NaN; -0 is below 0. */
static uint64_t half_less(uint64_t a, uint64_t b, enum emu_type t, bool larger) {
    bool bf16 = t == EMU_BF16;
    float x = bf16 ? bits_float((uint32_t)a << 16) : half_to_float((half)a);
    float y = bf16 ? bits_float((uint32_t)b << 16) : half_to_float((half)b);
    if (x != x && y != y) return 0x7fff;
    if (x != x) return b;
    if (y != y) return a;
    if (x == y) return (a >> 15) == larger ? b : a;
    return (x < y) != larger ? a : b;
}

uint64_t emu_combine(const struct emu_inst *i, uint64_t old, uint64_t b, uint64_t c) {
    enum emu_atomic op = (enum emu_atomic)i->aux[0];
    enum emu_type t = (enum emu_type)i->type[0];
    uint64_t keep = i->aux[1] == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * i->aux[1]) - 1;
    b &= keep, c &= keep;
    bool is_signed = t == EMU_S32 || t == EMU_S64;
    int64_t x = t == EMU_S32 ? (int32_t)old : (int64_t)old,
            y = t == EMU_S32 ? (int32_t)b : (int64_t)b;
    bool less = is_signed ? y < x : b < old;
    if ((op == EMU_ATOMIC_MIN || op == EMU_ATOMIC_MAX) && (t == EMU_F16 || t == EMU_BF16))
        return half_less(old, b, t, op == EMU_ATOMIC_MAX);
    switch (op) {
    case EMU_ATOMIC_ADD:
        if (t == EMU_F32) {
            float sum = bits_float((uint32_t)old) + bits_float((uint32_t)b);
            return sum != sum ? 0x7fffffff : float_bits(sum);
        }
        if (t == EMU_F64) {
            double p, q;
            memcpy(&p, &old, 8), memcpy(&q, &b, 8);
            if (p != p || q != q) return p != p ? old : b; /* as it is */
            p += q;
            memcpy(&old, &p, 8);
            return old;
        }
        if (t == EMU_F16 || t == EMU_BF16 || t == EMU_F16X2 || t == EMU_BF16X2)
            return half_pair_add(old, b, t);
        return old + b;
    case EMU_ATOMIC_MIN:
        return less ? b : old;
    case EMU_ATOMIC_MAX:
        return less ? old : b;
    case EMU_ATOMIC_AND:
        return old & b;
    case EMU_ATOMIC_OR:
        return old | b;
    case EMU_ATOMIC_XOR:
        return old ^ b;
    case EMU_ATOMIC_EXCH:
        return b;
    case EMU_ATOMIC_CAS:
        return old == b ? c : old;
    case EMU_ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    default:
        return old == 0 || old > b ? b : old - 1;
    }
}

void emu_reduce(const struct emu_inst *i, enum emu_type type, unsigned char *to,
                const unsigned char *from, uint32_t bytes) {
    struct emu_inst one = *i;
    one.type[0] = (uint8_t)type;
    one.aux[1] = (int32_t)emu_type_bytes(type);
    if (!one.aux[1]) return;
    pthread_mutex_lock(&atomic_lock);
    for (uint32_t at = 0; at + (uint32_t)one.aux[1] <= bytes; at += (uint32_t)one.aux[1]) {
        uint64_t old = 0, x = 0;
        memcpy(&old, to + at, (size_t)one.aux[1]);
        memcpy(&x, from + at, (size_t)one.aux[1]);
        old = emu_combine(&one, old, x, 0);
        memcpy(to + at, &old, (size_t)one.aux[1]);
    }
    pthread_mutex_unlock(&atomic_lock);
}

/* atom d, [a], b[, c]; red [a], b. aux: operation, bytes, is red */
static enum emu_step atomic(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    int first = i->aux[2] ? 0 : 1;
    unsigned bytes = (unsigned)i->aux[1];
    const struct emu_operand *b = &i->op[first + 1],
                             *c = i->n_ops > first + 2 ? &i->op[first + 2] : b;
    struct emu_place at[EMU_LANES];
    uint64_t addr[EMU_LANES], seen[EMU_LANES], changed = 0;
    if (first) {
        emu_addresses(w, &i->op[1], addr);
        if (emu_poll_sleeps(w, i, mask, addr)) return EMU_WAIT;
    }
    uint32_t ok = emu_locate(w, i, mask, &i->op[first], bytes, EMU_ATOM, at);
    pthread_mutex_lock(&atomic_lock);
    EMU_EACH_LANE(l, ok) {
        uint64_t old = 0;
        memcpy(&old, at[l].byte, bytes);
        seen[l] = old;
        uint64_t x = b->wide ? emu_row64(w, b->row)[l] : emu_row32(w, b->row)[l];
        uint64_t y = c->wide ? emu_row64(w, c->row)[l] : emu_row32(w, c->row)[l];
        uint64_t new = emu_combine(i, old, x, y);
        memcpy(at[l].byte, &new, bytes);
        changed |= (new ^ old) << (64 - 8 * bytes);
        if (first && i->op[0].wide)
            emu_row64(w, i->row[0])[l] = old;
        else if (first)
            emu_row32(w, i->row[0])[l] = (uint32_t)old;
    }
    pthread_mutex_unlock(&atomic_lock);
    if (i->space != EMU_SHARED) emu_global_saw(w, i, ok, at);
    if (changed || !first)
        w->effects++;
    else if (ok == mask) /* a lock that another lane holds */
        emu_poll_looked(w, i, mask, addr, at, seen, bytes);
    return EMU_NEXT;
}

emu_handler *emu_select_atomic(struct emu_inst *i, const char **why) {
    static const char *const names[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    i->aux[0] = -1;
    for (int k = 0; k < 10; k++)
        if (emu_has(i, names[k])) i->aux[0] = k;
    i->aux[1] = (int32_t)emu_type_bytes((enum emu_type)i->type[0]);
    i->aux[2] = i->opcode[0] == 'r';
    *why = "this atomic operation is not supported";
    bool real = i->type[0] == EMU_F32 || i->type[0] == EMU_F64;
    return i->aux[0] < 0 || i->aux[1] > 8 ||
                   (real && i->aux[0] != EMU_ATOMIC_ADD && i->aux[0] != EMU_ATOMIC_EXCH)
               ? NULL
               : atomic;
}

/* atom.vec {d, ..}, [a], {b, ..}; red.vec [a], {b, ..}: each element is an atomic of its own */
static enum emu_step atomic_vector(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const int first = i->aux[2] ? 0 : 1;
    const unsigned bytes = (unsigned)i->aux[1];
    const struct emu_operand *d = &i->op[0], *b = &i->op[first + 1];
    struct emu_place at[EMU_LANES];
    uint32_t ok = emu_locate(w, i, mask, &i->op[first], bytes * i->vec, EMU_ATOM, at);
    pthread_mutex_lock(&atomic_lock);
    EMU_EACH_LANE(l, ok) {
        for (unsigned k = 0; k < i->vec; k++) {
            uint64_t old = 0;
            memcpy(&old, at[l].byte + k * bytes, bytes);
            uint64_t new = emu_combine(i, old, emu_row32(w, b->rows[k])[l], 0);
            memcpy(at[l].byte + k * bytes, &new, bytes);
            if (first) emu_row32(w, d->rows[k])[l] = (uint32_t)old;
        }
    }
    pthread_mutex_unlock(&atomic_lock);
    emu_global_saw(w, i, ok, at);
    w->effects++;
    return EMU_NEXT;
}

emu_handler *emu_select_atomic_vector(struct emu_inst *i, const char **why) {
    if (!emu_select_atomic(i, why)) return NULL;
    const enum emu_type t = (enum emu_type)i->type[0];
    const bool half = t == EMU_F16 || t == EMU_BF16, has_result = !i->aux[2];
    *why = "this atomic operation has no vectors of this type";
    if (i->aux[1] * i->vec > 16 || (i->aux[0] != EMU_ATOMIC_ADD && !half)) return NULL;
    *why = "the number of registers is not that of its vector";
    if (i->op[has_result ? 2 : 1].n != i->vec || (has_result && i->op[0].n != i->vec)) return NULL;
    return atomic_vector;
}
