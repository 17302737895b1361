/* mbarrier.*: arrivals, expected bytes, phases. The word's layout: async.h. */
#include "access.h"
#include "async.h"
#include "cluster.h"
#include "handlers.h"
#include "poll.h"

#include "emulator/checks/race.h"
#include "emulator/checks/vector_clock.h"
#include "emulator/core/failed_check.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { AUX_COUNT, AUX_STATE, AUX_FLAGS };
enum {
    EXPECT_TX = 1,
    DROP = 2,
    NO_COMPLETE = 4,
    PARITY = 8,
    POLL = 16,
    RELAXED = 32,
    CLUSTER = 64
};
enum { MAX_COUNT = (1 << 20) - 1 };

struct mbarrier_word {
    uint32_t pending, expected, phase;
    int32_t tx;
};

static bool load_word(const struct emu_block *b, uint32_t addr, struct mbarrier_word *out) {
    uint64_t bits = 0;
    struct emu_place at = emu_reach(emu_room_shared(b), addr, 8, EMU_READ);
    if (at.byte) memcpy(&bits, at.byte, 8);
    *out = (struct mbarrier_word){
        .pending = bits & 0xfffff, .expected = bits >> 20 & 0xfffff, .phase = bits >> 61 & 1};
    out->tx = (int32_t)((uint32_t)(bits >> 40 & 0x1fffff) << 11) >> 11;
    return bits >> 62 == 1;
}

static void store_word(struct emu_block *b, uint32_t addr, struct mbarrier_word w) {
    uint64_t bits = (uint64_t)w.pending | (uint64_t)w.expected << 20 |
                    ((uint64_t)(uint32_t)w.tx & 0x1fffff) << 40 | (uint64_t)w.phase << 61 |
                    1ull << 62;
    struct emu_place at = emu_reach(emu_room_shared(b), addr, 8, EMU_WRITE);
    if (at.byte) memcpy(at.byte, &bits, 8);
}

static struct emu_mbarrier *find(struct emu_block *b, uint32_t addr) {
    struct emu_async *a = emu_async(b);
    for (uint32_t n = 0; n < a->n_mbarriers; n++)
        if (a->mbarrier[n]->addr == addr) return a->mbarrier[n];
    return NULL;
}

static struct emu_mbarrier *make(struct emu_block *b, uint32_t addr) {
    struct emu_async *a = emu_async(b);
    struct emu_mbarrier *m = find(b, addr);
    if (m) return m;
    if (a->n_mbarriers == a->n_made) {
        a->mbarrier = heap_grown(a->mbarrier, (a->n_made + 1) * sizeof *a->mbarrier);
        a->mbarrier[a->n_made++] = heap_zeroed(1, sizeof *m);
    }
    m = a->mbarrier[a->n_mbarriers++];
    m->block = b;
    m->addr = addr;
    m->valid = false;
    return m;
}

struct emu_mbarrier *emu_mbarrier_at(struct emu_warp *w, struct emu_block *b,
                                     const struct emu_inst *i, uint32_t addr) {
    struct mbarrier_word word;
    struct emu_mbarrier *m = find(b, addr);
    if (m && m->valid && load_word(b, addr, &word)) {
        char me[64], them[64];
        uint32_t by = m->init_agent;
        bool met = m->init_meeting && m->init_meeting <= w->clock.meetings;
        if (b->shadow && by != w->agent && !met && m->init_stamp > w->clock.seen[by])
            emu_report(EMU_RACE, w, i, m->init,
                       "%s uses the mbarrier at shared 0x%x, which %s initialised: nothing orders "
                       "the two",
                       emu_agent_name(b, w->agent, me, sizeof me), addr,
                       emu_agent_name(b, by, them, sizeof them));
        return m;
    }
    if (addr % 8 || !emu_reach(emu_room_shared(b), addr, 8, EMU_READ).byte)
        emu_report(EMU_BAD_MBARRIER, w, i, NULL,
                   "shared %#x is no place for an mbarrier (8 bytes, aligned)", addr);
    else
        emu_report(EMU_BAD_MBARRIER, w, i, m ? m->init : NULL,
                   m && m->valid ? "the mbarrier at shared %#x was overwritten"
                                 : "there is no mbarrier at shared %#x: it was not initialised",
                   addr);
    return NULL;
}

/* All have arrived and all bytes have come: the next phase begins. */
static void check_phase(struct emu_warp *w, const struct emu_inst *i, struct emu_mbarrier *m,
                        struct mbarrier_word *word) {
    if (word->pending || word->tx) return;
    if (m->in_flight)
        emu_report(EMU_BAD_MBARRIER, w, i, NULL,
                   "the mbarrier's phase ends with %llu bytes announced while %u of its copies are "
                   "still on "
                   "their way: expect_tx must count the bytes of all of them",
                   (unsigned long long)m->bytes_expected, m->in_flight);
    word->phase ^= 1;
    m->block->cluster->phases++;
    word->pending = word->expected;
    m->bytes_expected = 0;
    memset(m->came, 0, sizeof m->came);
    emu_vector_clock_pass(m->block, &m->done, &m->clock);
    emu_vector_clock_pass(m->block, &m->far_done, &m->far);
}

void emu_mbarrier_arrive(struct emu_warp *w, const struct emu_inst *i, struct emu_mbarrier *m,
                         uint32_t count) {
    struct mbarrier_word word;
    w->effects++;
    if (!load_word(m->block, m->addr, &word)) return;
    if (count > word.pending) {
        emu_report(EMU_BAD_MBARRIER, w, i, m->init,
                   "%u arrivals at the mbarrier at shared %#x, which waits for %u", count, m->addr,
                   word.pending);
        return;
    }
    word.pending -= count;
    if (w->block == m->block)
        m->arrival[w->index] = i;
    else
        m->far_arrival[w->block->rank] = i;
    m->ever[w->block->rank] |= 1u << w->index;
    m->came[w->block->rank] |= 1u << w->index;
    check_phase(w, i, m, &word);
    store_word(m->block, m->addr, word);
}

void emu_mbarrier_tx(struct emu_warp *w, const struct emu_inst *i, struct emu_mbarrier *m,
                     int64_t bytes) {
    struct mbarrier_word word;
    if (!load_word(m->block, m->addr, &word)) return;
    int64_t tx = word.tx + bytes;
    if (tx > MAX_COUNT || tx < -MAX_COUNT) {
        emu_report(EMU_BAD_MBARRIER, w, i, m->init, "tx-count %lld is out of range", (long long)tx);
        return;
    }
    word.tx = (int32_t)tx;
    if (bytes > 0)
        m->bytes_expected += (uint64_t)bytes;
    else
        check_phase(w, i, m, &word);
    store_word(m->block, m->addr, word);
}

void emu_mbarrier_pend(struct emu_mbarrier *m) {
    struct mbarrier_word word;
    if (!load_word(m->block, m->addr, &word)) return;
    word.pending++;
    store_word(m->block, m->addr, word);
}

/* ---- Handlers ------------------------------------------------------------------------------- */

static void addresses(const struct emu_warp *w, const struct emu_operand *op,
                      uint32_t out[EMU_LANES]) {
    uint64_t wide[EMU_LANES];
    emu_addresses(w, op, wide);
    emu_shared_offsets(wide, out);
}

/* Do all lanes mean the same place? */
static bool alike(uint32_t mask, const uint32_t addr[EMU_LANES]) {
    EMU_EACH_LANE(l, mask)
    if (addr[l] != addr[__builtin_ctz(mask)]) return false;
    return true;
}

/* The same for mbarriers of any block: the lanes that reach theirs, as `agent` does with `stamp`. */
static uint32_t targets(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                        const struct emu_operand *op, struct emu_block *block[EMU_LANES],
                        uint32_t addr[EMU_LANES], unsigned agent, uint32_t stamp) {
    uint64_t wide[EMU_LANES];
    uint32_t own = 0, ok = 0;
    emu_addresses(w, op, wide);
    for (uint32_t l = 0; l < EMU_LANES; l++) {
        addr[l] = 0;
        block[l] = mask >> l & 1 ? emu_peer(w, i, wide[l], &addr[l]) : NULL;
        own |= (uint32_t)(block[l] == w->block) << l;
    }
    if (own) ok = emu_shared_access(w, i, own, addr, 8, EMU_ATOM);
    EMU_EACH_LANE(l, mask & ~own) {
        if (!block[l] || !emu_visit(w, i, block[l], agent, stamp)) continue;
        ok |= emu_block_access(w, block[l], i, 1u << l, addr, 8, EMU_ATOM);
    }
    return ok;
}

/* An arrival tells of what came before it: its own block, or if it says .cluster another one. At any scope it tells which
 * asynchronous operations are complete, as their own arrivals would. */
static void release(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes,
                    struct emu_mbarrier *m) {
    bool own = m->block == w->block;
    if (!own && !(i->aux[AUX_FLAGS] & RELAXED)) emu_release_async(w, &m->clock);
    if (i->aux[AUX_FLAGS] & RELAXED)
        emu_release_relaxed(w, lanes, own ? &m->clock : &m->far, !own);
    else if (own)
        emu_release(w, lanes, &m->clock);
    else if (i->aux[AUX_FLAGS] & CLUSTER)
        emu_release(w, lanes, &m->far);
}

static int semantics(const struct emu_inst *i) {
    return (emu_has(i, "relaxed") ? RELAXED : 0) | (emu_has(i, "cluster") ? CLUSTER : 0);
}

/* mbarrier.init [a], count */
enum emu_step emu_mbarrier_init(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t addr[EMU_LANES], ok;
    const uint32_t *count = emu_row32(w, i->op[1].row);
    addresses(w, &i->op[0], addr);
    ok = emu_shared_access(w, i, mask, addr, 8, EMU_WRITE);
    EMU_EACH_LANE(l, ok) {
        struct emu_mbarrier *m = make(w->block, addr[l]);
        struct mbarrier_word old;
        if (count[l] < 1 || count[l] > MAX_COUNT)
            emu_report(EMU_BAD_MBARRIER, w, i, NULL, "an mbarrier takes 1 to %d arrivals, not %u",
                       MAX_COUNT, count[l]);
        if (m->valid && load_word(w->block, addr[l], &old))
            emu_report(EMU_BAD_MBARRIER, w, i, m->init,
                       "there is an mbarrier at shared %#x already", addr[l]);
        emu_shadow_mbarrier(w->block, addr[l], true);
        emu_shadow_strong(w->block, addr[l], 8); /* emu_mbarrier_at() says what comes too early */
        m->valid = true;
        m->init = i;
        m->init_agent = w->agent;
        m->init_stamp = w->clock.seen[w->agent];
        m->init_lane = l;
        m->init_fenced = false;
        m->init_meeting = 0;
        m->in_flight = 0;
        m->bytes_expected = 0;
        memset(m->came, 0, sizeof m->came), memset(m->ever, 0, sizeof m->ever);
        emu_vector_clock_clear(w->block, &m->clock);
        emu_vector_clock_clear(w->block, &m->far);
        store_word(w->block, addr[l],
                   (struct mbarrier_word){.pending = count[l], .expected = count[l]});
    }
    return EMU_NEXT;
}

enum emu_step emu_mbarrier_inval(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t addr[EMU_LANES];
    addresses(w, &i->op[0], addr);
    EMU_EACH_LANE(l, emu_shared_access(w, i, mask, addr, 8, EMU_WRITE)) {
        struct emu_mbarrier *m = emu_mbarrier_at(w, w->block, i, addr[l]);
        if (!m) continue;
        m->valid = false;
        emu_shadow_mbarrier(w->block, addr[l], false);
        memset(emu_reach(emu_room_shared(w->block), addr[l], 8, EMU_WRITE).byte, 0, 8);
    }
    return EMU_NEXT;
}

/* Does the phase end between the lanes' arrivals? Then the last of them belong to the next one. */
static bool ends_between(struct emu_block *const block[EMU_LANES], const uint32_t addr[EMU_LANES],
                         uint32_t lanes) {
    struct mbarrier_word word;
    uint32_t l = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    return lanes & (lanes - 1) && load_word(block[l], addr[l], &word) &&
           word.pending < (uint32_t)__builtin_popcount(lanes);
}

/* mbarrier.arrive[_drop][.expect_tx][.noComplete] state, [a][, count or bytes] */
static enum emu_step arrive(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_block *block[EMU_LANES];
    uint32_t addr[EMU_LANES];
    int flags = i->aux[AUX_FLAGS];
    const uint32_t *value = i->n_ops > 2 ? emu_row32(w, i->op[2].row) : NULL;
    uint64_t *state = emu_row64(w, i->op[0].row);
    unsigned agent = w->agent;
    uint32_t stamp = w->clock.seen[w->agent];
    if (w->block->cluster->n > 1) {
        agent = emu_agent(w->block, EMU_AGENT_ARRIVAL, w->index);
        stamp = emu_agent_issue(w->block, agent);
    }
    uint32_t ok = targets(w, i, mask, &i->op[1], block, addr, agent, stamp);
    if (agent != w->agent)
        emu_agent_done(&w->clock, agent, stamp); /* w passes it on with its own */
    bool one = alike(ok, addr) && !ends_between(block, addr, ok);
    EMU_EACH_LANE(l, ok) one = one && block[l] == block[__builtin_ctz(ok)];
    EMU_EACH_LANE(l, ok) {
        struct emu_mbarrier *m = emu_mbarrier_at(w, block[l], i, addr[l]);
        uint32_t count = value && !(flags & EXPECT_TX) ? value[l] : 1;
        struct mbarrier_word word;
        if (!m || !load_word(m->block, addr[l], &word)) continue;
        memcpy(&state[l], emu_reach(emu_room_shared(m->block), addr[l], 8, EMU_READ).byte, 8);
        if (flags & EXPECT_TX) emu_mbarrier_tx(w, i, m, (int64_t)value[l]);
        if (flags & DROP && load_word(m->block, addr[l], &word)) {
            word.expected -= word.expected < count ? word.expected : count;
            store_word(m->block, addr[l], word);
        }
        if (flags & NO_COMPLETE && count == word.pending && !word.tx)
            emu_report(EMU_BAD_MBARRIER, w, i, m->init,
                       "this .noComplete arrival would complete the phase");
        release(w, i, one ? ok : 1u << l, m);
        if (m->block != w->block) emu_agent_done(&m->clock, agent, stamp);
        emu_mbarrier_arrive(w, i, m, count);
    }
    return EMU_NEXT;
}

emu_handler *emu_select_arrive(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[AUX_FLAGS] = (strstr(i->opcode, ".expect_tx") ? EXPECT_TX : 0) |
                        (strstr(i->opcode, "arrive_drop") ? DROP : 0) |
                        (strstr(i->opcode, ".noComplete") ? NO_COMPLETE : 0) | semantics(i);
    return arrive;
}

/* mbarrier.expect_tx / complete_tx [a], bytes */
static enum emu_step transfer(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_block *block[EMU_LANES];
    uint32_t addr[EMU_LANES];
    const uint32_t *bytes = emu_row32(w, i->op[1].row);
    EMU_EACH_LANE(l,
                  targets(w, i, mask, &i->op[0], block, addr, w->agent, w->clock.seen[w->agent])) {
        struct emu_mbarrier *m = emu_mbarrier_at(w, block[l], i, addr[l]);
        if (m)
            emu_mbarrier_tx(w, i, m,
                            i->aux[AUX_FLAGS] & EXPECT_TX ? (int64_t)bytes[l] : -(int64_t)bytes[l]);
    }
    return EMU_NEXT;
}
emu_handler *emu_select_transfer(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[AUX_FLAGS] = strstr(i->opcode, ".expect_tx") ? EXPECT_TX : 0;
    return transfer;
}

/* mbarrier.(try|test)_wait[.parity] p, [a], state or parity. try_wait waits; test_wait lets others
 * run first, and sleeps if it is tested in a loop. */
static enum emu_step wait(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t addr[EMU_LANES], done = 0, *p = emu_mask(w, i->op[0].row);
    bool tests = i->aux[AUX_FLAGS] & POLL;
    uint64_t wide[EMU_LANES];
    struct emu_place at[EMU_LANES];
    emu_addresses(w, &i->op[1], wide);
    emu_shared_offsets(wide, addr);
    if (tests && emu_poll_sleeps(w, i, mask, wide)) return EMU_WAIT;
    if (!w->resumed) mask = emu_shared_access(w, i, mask, addr, 8, EMU_ATOM);
    bool one = alike(mask, addr);
    EMU_EACH_LANE(l, mask) {
        struct emu_mbarrier *m = emu_mbarrier_at(w, w->block, i, addr[l]);
        struct mbarrier_word word;
        if (!m || !load_word(w->block, addr[l], &word)) return EMU_STOP;
        uint32_t waited = i->aux[AUX_FLAGS] & PARITY
                              ? emu_row32(w, i->op[2].row)[l] & 1
                              : (uint32_t)(emu_row64(w, i->op[2].row)[l] >> 61 & 1);
        if (word.phase == waited) continue;
        done |= 1u << l;
        w->passed = (struct emu_passed){i, addr[l], waited};
        if (i->aux[AUX_FLAGS] & RELAXED) {
            emu_acquire_arrivals(w, &m->done);
            emu_acquire_relaxed(w, &m->done, false);
            if (i->aux[AUX_FLAGS] & CLUSTER) emu_acquire_relaxed(w, &m->far_done, true);
            continue;
        }
        if (one && done != 1u << l) continue; /* the first lane acquired for all */
        uint32_t lanes = one ? mask : 1u << l;
        emu_acquire(w, lanes, &m->done);
        if (i->aux[AUX_FLAGS] & CLUSTER) emu_acquire(w, lanes, &m->far_done);
    }
    if (done != mask && !tests) return EMU_WAIT;
    if (done != mask) {
        EMU_EACH_LANE(l, mask)
        at[l] = emu_reach(emu_room_shared(w->block), addr[l], 8, EMU_READ);
        emu_poll_looked(w, i, mask, wide, at, NULL, 8);
    }
    *p = (*p & ~mask) | done;
    return EMU_NEXT;
}

void emu_mbarrier_wait_print(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                             FILE *out) {
    uint32_t addr[EMU_LANES], lane = (uint32_t)__builtin_ctz(mask);
    if (i->run != wait) return;
    addresses(w, &i->op[1], addr);
    uint32_t phase = i->aux[AUX_FLAGS] & PARITY
                         ? emu_row32(w, i->op[2].row)[lane] & 1
                         : (uint32_t)(emu_row64(w, i->op[2].row)[lane] >> 61 & 1);
    fprintf(out, " for the end of phase %u of the mbarrier at shared 0x%x", phase, addr[lane]);
}

emu_handler *emu_select_wait(struct emu_inst *i, const char **why) {
    (void)why;
    i->aux[AUX_FLAGS] = (strstr(i->opcode, ".parity") ? PARITY : 0) |
                        (strstr(i->opcode, ".test_wait") ? POLL : 0) | semantics(i);
    return wait;
}

enum emu_step emu_mbarrier_pending_count(struct emu_warp *w, const struct emu_inst *i,
                                         uint32_t mask) {
    EMU_EACH_LANE(l, mask)
    emu_row32(w, i->op[0].row)[l] = (uint32_t)(emu_row64(w, i->op[1].row)[l] & 0xfffff);
    return EMU_NEXT;
}

/* ---- Fences ---- */

/* fence.proxy.async: of both memories, unless it names one */
enum emu_step emu_fence_proxy(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)mask;
    if (!strstr(i->opcode, ".shared")) emu_proxy_fence_global(w);
    if (!emu_has(i, "global")) emu_proxy_fence(w);
    return EMU_NEXT;
}

/* fence.mbarrier_init: TMA sees the mbarriers that these lanes have initialised, and so do all threads of
 * the cluster behind the next barrier.cluster, even a relaxed one. It fences nothing else. */
enum emu_step emu_fence_mbarrier_init(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_async *a = emu_async(w->block);
    (void)i;
    for (uint32_t n = 0; n < a->n_mbarriers; n++) {
        struct emu_mbarrier *m = a->mbarrier[n];
        m->init_fenced |= m->init_agent == w->agent && mask >> m->init_lane & 1;
    }
    return EMU_NEXT;
}

void emu_mbarriers_meet(struct emu_warp *w, uint32_t mask) {
    struct emu_async *a = emu_async(w->block);
    for (uint32_t n = 0; n < a->n_mbarriers; n++) {
        struct emu_mbarrier *m = a->mbarrier[n];
        if (m->init_fenced && !m->init_meeting && m->init_agent == w->agent &&
            mask >> m->init_lane & 1)
            m->init_meeting = w->block->cluster->meetings + 1;
    }
}
