/* Instructions that look across the lanes of a warp: shfl, vote, match, redux, elect,
 * activemask. */
#include "flow.h"
#include "handlers.h"
#include "lanes.h"

#include "emulator/checks/taint.h"
#include "emulator/core/failed_check.h"

#include <string.h>

/* ---- Teams -------------------------------------------------------------------------------------
 * Lanes that name the same members work together; several such teams may run an instruction at
 * once. */

/* Computes for the lanes `here`, which are all the members that live. */
typedef void team_work(struct emu_warp *w, const struct emu_inst *i, uint32_t here);

static enum emu_step by_team(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                             const struct emu_operand *members, team_work *work) {
    for (uint32_t left = mask, here; left; left &= ~here) {
        here = emu_team(w, members, left);
        uint32_t named = emu_row32(w, members->row)[__builtin_ctz(here)];
        if (!emu_converged(w, mask, named)) return EMU_WAIT;
        if (emu_team_outside(w, i, here, named)) return EMU_STOP;
    }
    for (uint32_t left = mask, here; left; left &= ~here)
        work(w, i, here = emu_team(w, members, left));
    return EMU_NEXT;
}

/* The lane that lane l takes its value from: b and c as in shfl.sync; -1: none, so its own. */
static inline int source_of(int mode, int l, uint32_t b, uint32_t c) {
    int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31), n = (int)(b & 31);
    int max = (l & segment) | (clamp & ~segment), min = l & segment;
    int j;
    switch (mode) {
    case 0:
        j = l - n;
        return j >= max ? j : -1; /* up: c's clamp is the lower end */
    case 1:
        j = l + n;
        break;
    case 2:
        j = l ^ n;
        break;
    default:
        j = min | (n & ~segment);
        break;
    }
    return j <= max ? j : -1;
}

/* aux: mode 0 up, 1 down, 2 bfly, 3 idx. shfl.sync d|p, a, b, c, members */
static void shfl(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a[EMU_LANES], result[EMU_LANES], inside = 0;
    memcpy(a, emu_row32(w, i->row[2]), sizeof a);
    const uint32_t *b = ROW(uint32_t, 3), *c = ROW(uint32_t, 4);
    int mode = i->aux[0];
    for (int l = 0; l < EMU_LANES; l++) {
        int j = source_of(mode, l, b[l], c[l]);
        bool ok = j >= 0;
        if (!ok) j = l;
        result[l] = a[j & 31];
        inside |= (uint32_t)ok << l;
    }
    uint32_t *d = ROW(uint32_t, 0);
    EACH(result[l]);
    if (i->row[1] != EMU_SINK) write_pred(w, i->row[1], mask, inside);
}
static enum emu_step shfl_sync(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t b[EMU_LANES], c[EMU_LANES], absent = 0;
    if (__builtin_expect(mask == EMU_FULL || !w->block->shadow, 1))
        return by_team(w, i, mask, &i->op[5], shfl);
    memcpy(b, emu_row32(w, i->row[3]), sizeof b); /* the result may go there */
    memcpy(c, emu_row32(w, i->row[4]), sizeof c);
    enum emu_step step = by_team(w, i, mask, &i->op[5], shfl);
    if (step != EMU_NEXT) return step;
    EMU_EACH_LANE(l, mask) {
        int j = source_of(i->aux[0], (int)l, b[l], c[l]);
        if (j >= 0 && !(mask >> j & 1)) absent |= 1u << l;
    }
    if (absent) emu_taint_absent(w, i, absent);
    return EMU_NEXT;
}
emu_handler *emu_select_shfl(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[0] = emu_has(i, "up") ? 0 : emu_has(i, "down") ? 1 : emu_has(i, "bfly") ? 2 : 3;
    return shfl_sync;
}

/* vote.sync.{all,any,uni}.pred d, p, members; .ballot.b32 */
static void vote(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t yes = read_pred(w, &i->op[1]) & mask;
    if (i->aux[0] == 3) {
        uint32_t *d = ROW(uint32_t, 0);
        EACH(yes);
    } else {
        bool r = i->aux[0] == 0 ? yes == mask : i->aux[0] == 1 ? yes != 0 : yes == mask || !yes;
        write_pred(w, i->row[0], mask, r ? EMU_FULL : 0);
    }
}
static enum emu_step vote_sync(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return by_team(w, i, mask, &i->op[2], vote);
}
emu_handler *emu_select_vote(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[0] = emu_has(i, "all") ? 0 : emu_has(i, "any") ? 1 : emu_has(i, "uni") ? 2 : 3;
    return vote_sync;
}

/* match.{any,all}.sync.{b32,b64} d[|p], a, members */
static void match(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool wide = i->type[0] == EMU_B64, all = emu_has(i, "all");
    uint32_t r[EMU_LANES] = {0};
    EMU_EACH_LANE(l, mask) {
        EMU_EACH_LANE(m, mask) {
            bool same = wide ? ROW(uint64_t, 2)[l] == ROW(uint64_t, 2)[m]
                             : ROW(uint32_t, 2)[l] == ROW(uint32_t, 2)[m];
            r[l] |= (uint32_t)same << m;
        }
    }
    uint32_t *d = ROW(uint32_t, 0);
    bool unanimous = r[__builtin_ctz(mask)] == mask;
    EACH(all ? (unanimous ? mask : 0) : r[l]);
    if (all && i->row[1] != EMU_SINK) write_pred(w, i->row[1], mask, unanimous ? EMU_FULL : 0);
}
enum emu_step emu_match(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return by_team(w, i, mask, &i->op[3], match);
}

/* redux.sync.op.type d, a, members */
static void redux(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *a = ROW(uint32_t, 1);
    uint32_t r = a[__builtin_ctz(mask)];
    bool is_signed = i->type[0] == EMU_S32;
    EMU_EACH_LANE(l, mask & (mask - 1)) {
        bool less = is_signed ? (int32_t)a[l] < (int32_t)r : a[l] < r;
        switch (i->aux[0]) {
        case 0:
            r += a[l];
            break;
        case 1:
            r = less ? a[l] : r;
            break;
        case 2:
            r = less ? r : a[l];
            break;
        case 3:
            r &= a[l];
            break;
        case 4:
            r |= a[l];
            break;
        default:
            r ^= a[l];
        }
    }
    uint32_t *d = ROW(uint32_t, 0);
    EACH(r);
}
static enum emu_step redux_sync(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return by_team(w, i, mask, &i->op[2], redux);
}
emu_handler *emu_select_redux(struct emu_inst *i, const char **why) {
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    (void)why;
    for (int k = 0; k < 6; k++)
        if (emu_has(i, names[k])) i->aux[0] = k;
    return redux_sync;
}

/* elect.sync d|p, members: the lowest lane */
static void elect(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    uint32_t *d = ROW(uint32_t, 0);
    EACH(leader);
    write_pred(w, i->row[1], mask, 1u << leader);
}
enum emu_step emu_elect(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return by_team(w, i, mask, &i->op[2], elect);
}

enum emu_step emu_activemask(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t *d = ROW(uint32_t, 0);
    EACH(mask);
    return EMU_NEXT;
}
