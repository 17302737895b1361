#include "sm.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const predictor_reason_name[PREDICTOR_REASONS] = {
    "selected",         "not_selected", "wait",         "long_scoreboard",
    "short_scoreboard", "math_pipe",    "mio_throttle", "lg_throttle",
    "barrier",          "branch",       "dispatch",     "no_instruction",
    "membar",           "gmma",         "sleeping",     "drain"};

/* ---- Open and close ---------------------------------------------------------------------------- */

void machine_open(struct machine *m, const struct predictor_chip *c,
                  const struct predictor_front *front, const struct sass_kernel *k, int n_sms) {
    size_t n = (size_t)k->n_inst;
    *m = (struct machine){.chip = c, .front = front, .kernel = k, .n_sms = n_sms};
    m->sm = heap_zeroed((size_t)n_sms, sizeof *m->sm);
    m->ops = heap_zeroed(n, sizeof *m->ops);
    m->counts.by_inst = heap_zeroed(n, sizeof *m->counts.by_inst);
    predictor_ops(k, c, m->ops);
    for (int i = 0; i < n_sms; i++) {
        memset(m->sm[i].l1.tag, 0xff, sizeof m->sm[i].l1.tag);
        for (int p = 0; p < SM_SMSPS; p++) {
            m->sm[i].smsp[p].last = m->sm[i].smsp[p].picked = -1;
            memset(m->sm[i].smsp[p].l0.tag, 0xff, sizeof m->sm[i].smsp[p].l0.tag);
        }
    }
    m->cluster_size = n_sms;
    m->part = m->start = 1;
    m->l2_rate = m->tma_rate = m->dram_rate = c->l2_sm_bytes_per_clk * n_sms;
    m->write_rate = c->l2_sm_write_bytes_per_clk * n_sms;
}

void machine_close(struct machine *m) {
    struct wheel_event e;
    for (uint64_t t = m->now; m->wheel.n; t++)
        while (wheel_take(&m->wheel, t, &e))
            if (e.kind == MACHINE_DELIVER) free(e.data);
    wheel_close(&m->wheel);
    free(m->sm);
    free(m->ops);
    free(m->counts.by_inst);
}

void machine_event(struct machine *m, uint64_t at, int kind, int barrier, void *who, void *data) {
    struct wheel_event e = {.at = later(at, m->now + 1),
                            .kind = (uint8_t)kind,
                            .barrier = (uint8_t)barrier,
                            .who = who,
                            .data = data};
    wheel_add(&m->wheel, &e);
}

/* ---- CTAs -------------------------------------------------------------------------------------- */

static int n_live(const struct sm *s, int smsp) { return __builtin_popcount(s->smsp[smsp].live); }

/* The sub-core of a CTA's warp: in turn, from another one on in each CTA of an SM (microbenchmark warps). If that one is full,
 * or the CTA has fewer warps than there are sub-cores, the sub-core with the fewest warps. */
static int place_of(const struct sm *s, int cta, int n_warps, int warp) {
    int best = (cta + warp) % SM_SMSPS;
    if (n_warps >= SM_SMSPS && n_live(s, best) < SM_SLOTS) return best;
    for (int i = 0; i < SM_SMSPS; i++)
        if (n_live(s, i) < n_live(s, best)) best = i;
    return best;
}

static struct sm_warp *free_slot(struct sm *s, int smsp, int *slot) {
    struct smsp *p = &s->smsp[smsp];
    uint32_t room = ~p->live & ((1u << SM_SLOTS) - 1);
    if (!room) return NULL;
    *slot = __builtin_ctz(room);
    p->live |= 1u << *slot;
    return &p->warp[*slot];
}

/* The warp's state has changed: look at it again. */
static void look_again(struct machine *m, struct sm_warp *w, uint64_t at) {
    struct sm *s = w->cta->sm;
    struct smsp *p = &s->smsp[w->smsp];
    (void)m;
    w->check = at;
    if (at < p->look) p->look = at;
    if (at < s->look) s->look = at;
}

static void next_inst(struct machine *m, struct sm_warp *w) {
    w->inst = m->front->next(w->warp);
    if (w->inst) w->op = &m->ops[w->inst->pc / 16];
}

void machine_place(struct machine *m, int sm, struct sass_cta *cta, int n_warps, uint64_t at) {
    struct sm *s = &m->sm[sm];
    int c = __builtin_ctz(~s->ctas);
    struct sm_cta *place = &s->cta[c];
    *place = (struct sm_cta){.cta = cta,
                             .sm = s,
                             .began = at,
                             .number = m->n_placed++,
                             .n_warps = n_warps,
                             .left = n_warps};
    s->ctas |= 1u << c;
    if (!s->n_warps) s->active_since = at;
    s->n_warps += n_warps;
    for (int i = 0; i < n_warps; i++) {
        int slot = 0, smsp = place_of(s, c, n_warps, i);
        struct sm_warp *w = free_slot(s, smsp, &slot);
        if (!w) {
            m->why = "more warps than an SM has places for";
            return;
        }
        *w = (struct sm_warp){.warp = m->front->warp(cta, i),
                              .cta = place,
                              .ready = at + (uint64_t)m->chip->cta_start,
                              .check = at,
                              .since = at,
                              .age = at * SM_WARPS + (uint64_t)i,
                              .l0_line = -1,
                              .index = (uint8_t)i,
                              .smsp = (uint8_t)smsp,
                              .slot = (uint8_t)slot,
                              .reason = PREDICTOR_NO_INSTRUCTION};
        next_inst(m, w);
        w->fetched = w->inst ? sm_fetch(m, s, &s->smsp[smsp], w, w->inst->pc, at) : at;
        w->fetch_reason = PREDICTOR_NO_INSTRUCTION;
        look_again(m, w, at);
    }
    machine_event(m, at, MACHINE_BEGIN, 0, place, NULL);
}

static void wake_all(struct machine *m, const struct sass_event *e, const struct sm_warp *by);

static void warp_exits(struct machine *m, struct sm *s, struct sm_warp *w) {
    struct sm_cta *cta = w->cta;
    s->smsp[w->smsp].live &= ~(1u << w->slot);
    if (s->smsp[w->smsp].last == w->slot) s->smsp[w->smsp].last = -1;
    s->warp_cycles += m->now + 1 - cta->began;
    s->n_warps--;
    wake_all(m, NULL, w); /* a warp that has exited counts as arrived at every later barrier */
    if (--cta->left) return;
    if (!s->n_warps) s->active += m->now + 1 - s->active_since;
    s->ctas &= ~(1u << (cta - s->cta));
    if (m->ended) m->ended(m->user, m, cta);
}

/* ---- Why a warp does not issue ------------------------------------------------------------------ */

void machine_reason(struct machine *m, struct sm_warp *w, int reason, uint64_t t) {
    if (t > w->since && w->inst) {
        m->counts.reason[w->reason] += t - w->since;
        m->counts.by_inst[w->inst->pc / 16][w->reason] += t - w->since;
        if (m->span) m->span(m->user, w, w->reason, w->since, t);
    }
    if (t > w->since) w->since = t;
    w->reason = (uint8_t)reason;
}

/* The warp is looked at again at `until`; UINT64_MAX: when an event comes. */
static bool stalls(struct machine *m, struct sm_warp *w, int reason, uint64_t until) {
    if (w->reason != reason) machine_reason(m, w, reason, m->now);
    w->check = until;
    return false;
}

static bool scoreboards_clear(struct machine *m, struct sm_warp *w) {
    uint32_t mask = w->inst->wait_mask;
    int left[SM_COUNTERS] = {0};
    if (w->op->kind == PREDICTOR_DEPBAR) {
        mask |= 1; /* DEPBAR.LE SB0, n */
        left[0] = w->op->depth;
    }
    for (int b = 0; b < SM_COUNTERS; b++)
        if ((mask >> b & 1) && w->counter[b] > left[b])
            return stalls(m, w,
                          w->is_long[b] ? PREDICTOR_LONG_SCOREBOARD : PREDICTOR_SHORT_SCOREBOARD,
                          UINT64_MAX);
    return true;
}

/* What the instruction waits for beyond its wait mask. */
static bool sync_clear(struct machine *m, struct sm_warp *w) {
    static const uint8_t reason_of[] = {[SASS_WAIT_BAR] = PREDICTOR_BARRIER,
                                        [SASS_WAIT_CLUSTER] = PREDICTOR_BARRIER,
                                        [SASS_WAIT_MBARRIER] = PREDICTOR_LONG_SCOREBOARD,
                                        [SASS_WAIT_REGISTERS] = PREDICTOR_SLEEPING};
    if (w->waits) {
        enum sass_wait_kind kind = m->front->waits(w->warp);
        if (kind) return stalls(m, w, reason_of[kind], UINT64_MAX);
        w->waits = false;
    }
    if (w->slept > m->now) return stalls(m, w, PREDICTOR_SLEEPING, w->slept);
    if (w->op->kind == PREDICTOR_GMMA_WAIT) { /* ncu calls it barrier */
        uint64_t done = sm_gmma_done(m, w, w->op->depth);
        if (done > m->now) return stalls(m, w, PREDICTOR_BARRIER, done);
    }
    if (w->op->kind == PREDICTOR_EXIT && w->stored) {
        uint64_t left = w->stored + (uint64_t)m->chip->drain - (uint64_t)m->chip->l2_latency;
        if (left > m->now) return stalls(m, w, PREDICTOR_DRAIN, left);
    }
    /* whether or not an instruction waits for the answer (microbenchmark fresh, exit) */
    if (w->op->kind == PREDICTOR_EXIT && w->answered > m->now)
        return stalls(m, w, PREDICTOR_DRAIN, w->answered);
    if (w->op->kind == PREDICTOR_MEMBAR) {
        uint64_t gpu = later(w->ready, w->stored) + (uint64_t)m->chip->membar_gpu;
        uint64_t done = w->op->is_gpu ? gpu : w->ready + (uint64_t)m->chip->membar_cta;
        if (done > m->now) return stalls(m, w, PREDICTOR_MEMBAR_REASON, done);
    }
    return true;
}

static int most_reads(const struct predictor_op *o) {
    return o->reads[0] > o->reads[1] ? o->reads[0] : o->reads[1];
}

/* An HMMA reads registers as long as it holds its pipe. An instruction behind it that reads a bank twice
 * waits for that, and so does a later FMA instruction that reads less. An HMMA behind them, or behind an
 * instruction that leaves the MIO queue, waits for their reads (microbenchmark hmmamix). */
static uint64_t beside_hmma(const struct machine *m, const struct smsp *p,
                            const struct predictor_op *o) {
    const struct predictor_chip *c = m->chip;
    if (o->unit == PREDICTOR_UNIT_TENSOR) {
        uint64_t mio = sm_mio_lets_hmma(m, p);
        if (mio > m->now) return mio;
        if (!p->hmma_at) return 0;
        if (p->fma_since) {
            uint64_t reads = p->read_at + (uint64_t)c->hmma_after_reads + (uint64_t)p->reads_since;
            /* from four FMA instructions on, one cycle less (microbenchmark hmmamix 1HMMA+4FFMA) */
            if (p->reads_since > 1) return reads - (p->n_since > 3);
            return p->n_since > 1 ? p->hmma_at + (uint64_t)c->hmma_after_many : 0;
        }
        uint64_t alu = p->read_at + (uint64_t)c->hmma_after_alu;
        if (p->n_since > 2) return alu;
        if (p->reads_since > 1) return p->hmma_at + (uint64_t)c->hmma_after_alu_reads;
        return p->n_since > 1 ? p->hmma_at + (uint64_t)c->hmma_after_alus : 0;
    }
    if (!p->hmma_at || (o->unit != PREDICTOR_UNIT_FMA && o->unit != PREDICTOR_UNIT_ALU)) return 0;
    bool waits =
        most_reads(o) > 1 || (most_reads(o) && p->n_since && o->unit == PREDICTOR_UNIT_FMA);
    return waits ? p->hmma_at + (uint64_t)c->hmma_reads : 0;
}

static void note_hmma(struct machine *m, struct smsp *p, const struct predictor_op *o) {
    if (o->unit == PREDICTOR_UNIT_TENSOR) {
        sm_mio_hmma(m, p);
        p->hmma_at = m->now;
        p->reads_since = p->n_since = 0;
        p->fma_since = false;
    } else if ((o->unit == PREDICTOR_UNIT_FMA || o->unit == PREDICTOR_UNIT_ALU) && most_reads(o)) {
        p->n_since++;
        p->read_at = m->now;
        p->fma_since |= o->unit == PREDICTOR_UNIT_FMA;
        if (most_reads(o) > p->reads_since) p->reads_since = most_reads(o);
    }
}

/* When its pipe is free. FMA has two halves; FFMA, FADD and FMUL take them in turn (microbenchmark halves). */
static uint64_t pipe_free(const struct smsp *p, const struct predictor_op *o) {
    uint64_t heavy = p->free[PREDICTOR_UNIT_FMA], lite = p->free[PREDICTOR_UNIT_LITE];
    if (o->is_fp32) return p->was_lite ? heavy : lite;
    return o->is_packed ? later(heavy, lite) : p->free[o->unit];
}

static void book_pipe(struct smsp *p, const struct predictor_op *o, uint64_t until) {
    bool lite = o->is_fp32 && !p->was_lite;
    if (lite || o->is_packed) p->free[PREDICTOR_UNIT_LITE] = until;
    if (!lite) p->free[o->unit] = until;
    if (o->unit == PREDICTOR_UNIT_FMA) p->was_lite = lite;
}

static bool unit_takes(struct machine *m, struct smsp *p, struct sm_warp *w) {
    const struct predictor_op *o = w->op;
    if (o->unit == PREDICTOR_UNIT_NONE) return true;
    uint64_t hmma = beside_hmma(m, p, o);
    if (hmma > m->now) return stalls(m, w, PREDICTOR_DISPATCH, hmma);
    if (o->unit < PREDICTOR_UNITS) {
        uint64_t free = pipe_free(p, o);
        return free <= m->now || stalls(m, w, PREDICTOR_MATH_PIPE, free);
    }
    if (o->unit == PREDICTOR_UNIT_GMMA) {
        uint64_t room = sm_gmma_room(m, w);
        return room <= m->now || stalls(m, w, PREDICTOR_MATH_PIPE, room);
    }
    if (o->unit == PREDICTOR_UNIT_XU) {
        uint64_t room = sm_xu_room(m, p);
        return room <= m->now || stalls(m, w, PREDICTOR_MIO_THROTTLE, room);
    }
    uint64_t room = sm_mio_room(m, p);
    if (room > m->now) return stalls(m, w, PREDICTOR_MIO_THROTTLE, room);
    bool global = o->kind == PREDICTOR_GLOBAL_LOAD || o->kind == PREDICTOR_GLOBAL_STORE ||
                  o->kind == PREDICTOR_LDGSTS || o->kind == PREDICTOR_ATOMIC;
    room = global ? sm_lg_room(m, p) : 0;
    return room <= m->now || stalls(m, w, PREDICTOR_LG_THROTTLE, room);
}

/* When the constants that an instruction reads are there: each launch has to load them once. */
static uint64_t constant_at(struct machine *m, const struct sm_warp *w) {
    if (!w->op->constant) return 0;
    uint64_t *at = &w->cta->sm->constant_at[w->op->constant - 1];
    if (!*at) *at = m->now + (uint64_t)m->chip->constant_first;
    return *at;
}

static bool eligible(struct machine *m, struct smsp *p, struct sm_warp *w) {
    if (w->ready > m->now) return stalls(m, w, PREDICTOR_WAIT, w->ready);
    if (w->fetched > m->now) return stalls(m, w, w->fetch_reason, w->fetched);
    uint64_t constant = constant_at(m, w);
    if (constant > m->now) return stalls(m, w, PREDICTOR_NO_INSTRUCTION, constant);
    return scoreboards_clear(m, w) && sync_clear(m, w) && unit_takes(m, p, w);
}

/* ---- Issue ------------------------------------------------------------------------------------- */

static void counter_up(struct machine *m, struct sm_warp *w, int b, bool is_long, uint64_t down) {
    if (b >= SM_COUNTERS) return;
    w->counter[b]++;
    w->is_long[b] = is_long;
    machine_event(m, down, MACHINE_COUNTER, b, w, (void *)(uintptr_t)w->age);
}

static void post(struct machine *m, struct sm_warp *by, const struct sass_event *e, uint64_t at) {
    struct sass_event *copy = heap_take(sizeof *copy);
    *copy = *e;
    machine_event(m, at, MACHINE_DELIVER, 0, e->is_tma ? NULL : by, copy);
}

static void post_all(struct machine *m, struct sm *s, struct sm_warp *w,
                     const struct sass_effect *e, uint64_t tma_done) {
    const struct predictor_chip *c = m->chip;
    for (int i = 0; i < e->n_events; i++) {
        uint64_t at = m->now;
        switch (e->event[i].kind) {
        case SASS_EVENT_BAR: /* one after the other */
            at = later(at, s->bar_free);
            s->bar_free = at + (uint64_t)c->bar_interval;
            at += (uint64_t)c->bar_arrive;
            if (!e->event[i].waits) at += (uint64_t)c->bar_arv;
            break;
        case SASS_EVENT_CLUSTER:
            at += (uint64_t)c->bar_arrive;
            break;
        case SASS_EVENT_ARRIVE:
            at += (uint64_t)c->mbarrier_arrive;
            break;
        default:
            at = e->event[i].is_tma ? tma_done : m->now + (uint64_t)c->dsmem_latency;
        }
        post(m, w, &e->event[i], at);
    }
}

/* An LDC whose lanes read n places takes the SM's constant cache for each (microbenchmark patterns, constants). */
static uint64_t constants_late(const struct machine *m, struct sm *s, uint64_t at, unsigned n) {
    s->constants_free = fmax(s->constants_free, (double)at) + n * m->chip->ldc_place_interval;
    return (uint64_t)(s->constants_free - (double)at);
}

/* Books the pipes that the instruction uses; returns when its results are there. */
static struct sm_access book(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                             const struct sass_effect *e) {
    const struct predictor_op *o = w->op;
    uint64_t t = m->now;
    struct sm_access a = {t + o->latency, t + o->war};
    m->asking = w->cta->number;
    m->asking_sm = (int)(s - m->sm);
    if (o->unit < PREDICTOR_UNITS) {
        book_pipe(p, o, t + o->interval);
        if (o->unit != PREDICTOR_UNIT_TENSOR) return a;
        p->tensor_cycles += o->interval;
        m->multiplies = true;
        if (m->busy) m->busy(m->user, s, (int)(p - s->smsp), o->unit, t, t + o->interval);
        return a;
    }
    if (!e->active && (o->unit == PREDICTOR_UNIT_MIO || o->unit == PREDICTOR_UNIT_XU))
        return a; /* its guard switched it off */
    if (o->unit == PREDICTOR_UNIT_XU) {
        a.done = sm_xu(m, p, o);
        if (m->busy)
            m->busy(m->user, s, (int)(p - s->smsp), o->unit, p->xu_free - o->interval, p->xu_free);
        return a;
    }
    switch (o->kind) {
    case PREDICTOR_HGMMA:
        sm_gmma_issue(m, s, w, e);
        return a;
    case PREDICTOR_SHARED_LOAD:
    case PREDICTOR_SHUFFLE:
    case PREDICTOR_SHARED_STORE:
        return sm_shared(m, s, p, w, e);
    case PREDICTOR_GLOBAL_LOAD:
    case PREDICTOR_GLOBAL_STORE:
    case PREDICTOR_ATOMIC:
    case PREDICTOR_LDGSTS:
        a = o->is_atomic && e->memory != SASS_DSMEM ? sm_atomic(m, s, p, w, e)
                                                    : sm_global(m, s, p, w, e);
        if (o->kind == PREDICTOR_LDGSTS) w->copied = later(w->copied, a.done);
        if (o->kind == PREDICTOR_GLOBAL_STORE)
            w->stored = later(w->stored, a.done);
        else
            w->answered = later(w->answered, a.done);
        return a;
    case PREDICTOR_TMA:
        return (struct sm_access){sm_tma(m, s, e, sm_mio(m, s, p, w)), t + o->war};
    default: {
        if (o->unit != PREDICTOR_UNIT_MIO) return a;
        uint64_t late = sm_mio(m, s, p, w) - t - (uint64_t)m->chip->mio_start;
        if (e->constants > 1) late += constants_late(m, s, t + late, e->constants);
        return (struct sm_access){a.done + late, a.read + late};
    }
    }
}

static bool is_half_rate(const struct predictor_op *o) {
    return (o->unit == PREDICTOR_UNIT_FMA && !o->is_fp32) || o->unit == PREDICTOR_UNIT_ALU;
}

/* How wide the running HGMMA is: from 0 (hgmma_narrow columns or fewer) to 1 (hgmma_wide or more). */
static double wide_hgmma(const struct machine *m, const struct sm *s) {
    double narrow = m->chip->hgmma_narrow,
           share = (s->gmma_n - narrow) / (m->chip->hgmma_wide - narrow);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* A running HGMMA leaves other instructions a share of each bank's port. Reads beyond that share, and beyond a
 * buffer, delay the HGMMA, a quarter for each sub-core (microbenchmark besidewg). A single warp beside a wide
 * HGMMA waits itself instead (hgmma_delay). */
static void hold_up_hgmma(struct machine *m, struct sm *s, struct smsp *p,
                          const struct sm_warp *w) {
    const double buffered = m->chip->hgmma_buffered;
    uint64_t recent = m->now - p->beside_at;
    bool alone = p->beside_slot == w->slot || recent > (uint64_t)buffered;
    double left = p->beside - m->chip->hgmma_ports_free * (double)recent;
    p->beside = (left > 0 ? left : 0) + most_reads(w->op);
    p->beside_at = m->now;
    p->beside_slot = w->slot;
    if (p->beside <= buffered) return;
    double narrow = 1 - wide_hgmma(m, s);
    double cost = m->chip->hgmma_ports * (alone ? narrow : 1 + m->chip->hgmma_ports_n64 * narrow);
    s->gmma_debt += (p->beside - buffered) * cost / SM_SMSPS;
    p->beside = buffered;
    s->gmma_free += (uint64_t)s->gmma_debt;
    s->gmma_debt -= (double)(uint64_t)s->gmma_debt;
}

/* Extra cycles of an instruction that shares the register file with a running HGMMA. */
static double hgmma_cost(const struct machine *m, const struct sm *s, const struct smsp *p,
                         const struct sm_warp *w, bool spaced) {
    const struct predictor_chip *c = m->chip;
    const struct predictor_op *o = w->op;
    bool half_rate = is_half_rate(o);
    double wide = wide_hgmma(m, s),
           turn = spaced && p->was_half_rate != half_rate ? c->hgmma_turn : 0;
    if (o->is_fp32) {
        int more = most_reads(o) > 1 ? most_reads(o) - 1 : 0;
        double own = (spaced ? c->hgmma_fma_spaced : c->hgmma_fma) + c->hgmma_fma_read * more;
        return wide * own + (spaced ? 0 : (1 - wide) * c->hgmma_fma_n64) + turn;
    }
    if (half_rate)
        return (spaced || p->was_half_rate || o->is_pack ? 1 : wide) * c->hgmma_alu + turn;
    return o->unit == PREDICTOR_UNIT_XU ? c->hgmma_xu : 0;
}

/* The accumulators of a running HGMMA pass the same register file, so an instruction beside it takes longer.
 * This holds up its warp, its pipe (except FMA at full rate), and the dispatch of its sub-core, unless it is *own: then
 * only its warp. FP32 at full rate, and what takes turns with it, holds up its warp only: two warps together get twice as
 * much done as one, three all that the pipe takes (microbenchmarks mixwg, crowdwg). */
static uint64_t hgmma_delay(struct machine *m, struct sm *s, struct smsp *p,
                            const struct sm_warp *w, bool spaced, bool *own) {
    const struct predictor_op *o = w->op;
    if (s->gmma_began > m->now || s->gmma_free <= m->now) return 0;
    double cost = hgmma_cost(m, s, p, w, spaced);
    bool shares = is_half_rate(o) || o->is_fp32;
    *own = !spaced && (o->is_fp32 || (is_half_rate(o) && !p->was_half_rate && !o->is_pack));
    if (shares) {
        hold_up_hgmma(m, s, p, w);
        p->was_half_rate = is_half_rate(o);
    }
    if (!cost) return 0;
    if (o->is_pack && !spaced) /* F2FP also keeps MUFU from its pipe */
        p->xu_free =
            later(p->xu_free, m->now) + o->interval + (uint64_t)(cost + m->chip->hgmma_pack);
    p->debt += cost;
    uint64_t whole = (uint64_t)p->debt;
    p->debt -= (double)whole;
    return whole;
}

/* Registers come through two ports, one register a cycle each. Reads that do not fit into the window delay
 * the sub-core. */
static uint64_t port_delay(struct machine *m, struct smsp *p, const struct predictor_op *o) {
    uint64_t window = (uint64_t)m->chip->port_window, delay = 0;
    if (!window) return 0;
    for (int b = 0; b < 2; b++) {
        if (!o->reads[b]) continue;
        p->port[b] = later(p->port[b], m->now) + o->reads[b];
        if (o->unit == PREDICTOR_UNIT_MIO || o->unit == PREDICTOR_UNIT_XU)
            continue; /* they read later */
        uint64_t limit = m->now + window;
        if (o->unit == PREDICTOR_UNIT_TENSOR) limit += o->interval;
        if (p->port[b] > limit + delay) delay = p->port[b] - limit;
    }
    return delay;
}

static uint64_t stall_of(const struct machine *m, const struct sass_inst *i) {
    if (m->fast & PREDICTOR_FAST_FIXED) return 1;
    if (!i->stall) return i->yields ? (uint64_t)m->chip->long_stall : 1;
    return i->stall == 1 && i->yields ? 2 : i->stall;
}

/* When a call of vprintf has returned. Warps are in the driver's code at once, but lanes of the whole chip get their places
 * in its buffer one after the other. */
static uint64_t prints(struct machine *m, const struct sass_effect *e) {
    const struct predictor_chip *c = m->chip;
    const double lanes = __builtin_popcount(e->active) / m->part, now = (double)m->now;
    m->printf_free = (m->printf_free > now ? m->printf_free : now) + lanes * c->printf_lane;
    double done = m->printf_free + c->printf_call + (e->prints - 1) * c->printf_character;
    if (m->prints_first && (!m->printed || m->now < m->printed)) done += c->printf_first;
    if (!m->printed) m->printed = (uint64_t)done;
    return (uint64_t)done;
}

static void after_issue(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                        const struct sass_inst *i, const struct sass_effect *e) {
    bool bsync = w->op->is_bsync;
    w->ready = m->now + stall_of(m, i);
    w->fetched = 0;
    next_inst(m, w);
    if (!w->inst) {
        warp_exits(m, s, w);
        return;
    }
    bool branch = i->pipe == SASS_PIPE_BRANCH && (e->taken || i->target);
    double penalty = e->taken ? m->chip->branch_penalty : branch ? m->chip->branch_untaken : 0;
    if (bsync) penalty = m->chip->bsync_penalty;
    uint64_t at = w->ready + (uint64_t)penalty;
    w->fetch_reason = PREDICTOR_BRANCH;
    w->fetched = at;
    uint64_t fetched = sm_fetch(m, s, p, w, w->inst->pc, at);
    if (fetched > at) {
        w->fetched = fetched;
        w->fetch_reason = PREDICTOR_NO_INSTRUCTION;
    }
    if (e->prints) {
        w->fetched = later(w->fetched, prints(m, e));
        w->fetch_reason = PREDICTOR_NO_INSTRUCTION;
    }
    w->check = w->ready;
    w->waits = e->waits;
}

/* True: an instruction was issued. False: it has to wait for an event. */
static bool issue(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w) {
    static _Thread_local struct sass_effect e; /* large, and only ever one */
    const struct sass_inst *i = w->inst;
    enum sass_status status = m->front->step(w->warp, &e);
    if (status == SASS_WAIT) {
        w->waits = true;
        w->tried = m->now;
        return false;
    }
    if (status == SASS_FAULT) {
        m->why = m->front->fault(w->warp);
        return false;
    }
    if (e.active) note_hmma(m, p, w->op);
    machine_reason(m, w, PREDICTOR_SELECTED, m->now);
    m->counts.reason[PREDICTOR_SELECTED]++;
    m->counts.by_inst[i->pc / 16][PREDICTOR_SELECTED]++;
    if (m->span) m->span(m->user, w, PREDICTOR_SELECTED, m->now, m->now + 1);
    if (m->executed) m->executed(m->user, w, &e);
    w->since = m->now + 1;
    w->reason = PREDICTOR_WAIT;
    m->counts.issued++;
    w->cta->issued++;
    p->issued++;
    p->last = w->slot;
    w->issued = m->now;
    if (w->op->unit == PREDICTOR_UNIT_TENSOR) p->multiplied = w->cta;
    w->stalled = stall_of(m, i) > 1;
    if (e.sleeps) w->slept = m->now + (uint64_t)(e.sleeps * m->mhz / 1000);
    struct sm_access a = book(m, s, p, w, &e);
    bool own = false;
    uint64_t beside = e.active ? hgmma_delay(m, s, p, w, w->stalled, &own) : 0;
    if (w->op->unit < PREDICTOR_UNITS && !w->op->is_fp32 && !own)
        p->free[w->op->unit] += beside; /* it enters its pipe later */
    if (w->op->unit == PREDICTOR_UNIT_XU) p->xu_free += beside;
    uint64_t held = e.active ? w->op->hold : 0;
    uint64_t delay = beside + held + (e.active ? port_delay(m, p, w->op) : 0);
    p->hold = m->now + 1 + delay - (own ? beside : 0);
    if (w->woken) {
        bool whole = e.active == e.group && (e.active & (e.active - 1));
        a.done = m->now + (uint64_t)(whole ? m->chip->mbarrier_wake : m->chip->mbarrier_wake_lane);
    }
    w->woken = false;
    if (w->op->kind == PREDICTOR_LDGDEPBAR) a.done = w->copied;
    bool is_long = w->op->is_long || w->op->kind == PREDICTOR_LDGDEPBAR;
    counter_up(m, w, i->write_barrier, is_long, later(a.done, m->now + 1) + delay);
    counter_up(m, w, i->read_barrier, is_long, later(a.read, m->now + 1) + delay);
    if (e.deferred) post_all(m, s, w, &e, a.done);
    after_issue(m, s, p, w, i, &e);
    /* While a WGMMA runs, a warp that has issued loses its priority (microbenchmarks crowdwg, mixwg). */
    if (s->gmma_free > m->now) p->last = -1;
    if (beside && w->inst) w->ready = later(w->ready, m->now + 1 + delay);
    if (w->inst) w->ready += held;
    return true;
}

/* If two CTAs want the tensor cores, the one that used them last goes on (microbenchmark arbitration). */
static bool goes_on(const struct smsp *p, const struct sm_warp *w, const struct sm_warp *other) {
    return w->cta != other->cta && p->multiplied == w->cta &&
           w->op->unit == PREDICTOR_UNIT_TENSOR && other->op->unit == PREDICTOR_UNIT_TENSOR;
}

static bool is_elder(const struct sm_cta *a, const struct sm_cta *b) {
    return a->began != b->began ? a->began < b->began : a < b;
}

/* When the warp issued last. If two warps did so within two cycles of each other, chance decides which is first. */
static double issued_about(const struct sm_warp *w) {
    return (double)w->issued + 1 + sm_spread(w->issued * SM_WARPS + w->age);
}

/* The warp that issued last goes on while it can. Else the oldest CTA comes first, and within a CTA the warp
 * that has waited longest since it issued (microbenchmark arbitration). */
static bool is_before(const struct smsp *p, const struct sm_warp *w, const struct sm_warp *than) {
    if (goes_on(p, w, than)) return true;
    if (goes_on(p, than, w)) return false;
    if (w->cta != than->cta) return is_elder(w->cta, than->cta);
    return issued_about(w) < issued_about(than);
}

static bool is_ready(uint32_t ready, int slot) { return slot >= 0 && (ready >> slot & 1); }

static int choose(const struct smsp *p, uint32_t ready) {
    int best = -1;
    if (is_ready(ready, p->last)) return p->last;
    for (uint32_t r = ready; r; r &= r - 1) {
        int i = __builtin_ctz(r);
        if (best < 0 || is_before(p, &p->warp[i], &p->warp[best])) best = i;
    }
    return best;
}

/* The warp that issued last keeps its priority while only its stall count, or the half rate of ALU or FMA,
 * holds it up. After any other wait it loses it. */
static void keep_turn(struct smsp *p, const struct sm_warp *w) {
    bool half_rate = w->reason == PREDICTOR_MATH_PIPE &&
                     (w->op->unit == PREDICTOR_UNIT_ALU || w->op->unit == PREDICTOR_UNIT_FMA ||
                      w->op->unit == PREDICTOR_UNIT_UNIFORM);
    bool only_late = w->reason == PREDICTOR_WAIT || w->reason == PREDICTOR_DISPATCH ||
                     w->reason == PREDICTOR_NOT_SELECTED;
    if (p->last == w->slot && !half_rate && !only_late) p->last = -1;
}

/* One cycle of a sub-core. Returns when to look at it again. */
static uint64_t smsp_step(struct machine *m, struct sm *s, struct smsp *p) {
    uint32_t ready = 0;
    uint64_t next = UINT64_MAX;
    for (uint32_t l = p->live; l; l &= l - 1) {
        struct sm_warp *w = &p->warp[__builtin_ctz(l)];
        if (w->check <= m->now && eligible(m, p, w)) {
            ready |= 1u << w->slot;
            continue;
        }
        keep_turn(p, w);
        if (w->check < next) next = w->check;
    }
    if (!ready) return next;
    bool all = m->fast & PREDICTOR_FAST_ISSUE, held = p->hold > m->now && !all;
    if (held && !is_ready(ready, p->picked)) p->picked = choose(p, ready);
    for (int n = 0; ready && !held; n++) {
        int chosen = is_ready(ready, p->picked) ? p->picked : choose(p, ready);
        p->picked = -1;
        ready &= ~(1u << chosen);
        if (all && n && !eligible(m, p, &p->warp[chosen])) continue; /* what others took */
        if (issue(m, s, p, &p->warp[chosen])) {
            if (all) continue;
            break;
        }
        if (m->why) return m->now;
        p->warp[chosen].check = m->now;
        eligible(m, p, &p->warp[chosen]);
    }
    for (; ready; ready &= ready - 1) {
        struct sm_warp *w = &p->warp[__builtin_ctz(ready)];
        stalls(m, w, held ? PREDICTOR_DISPATCH : PREDICTOR_NOT_SELECTED, m->now + 1);
    }
    return m->now + 1;
}

static void sm_step(struct machine *m, struct sm *s) {
    s->look = UINT64_MAX;
    for (int p = 0; p < SM_SMSPS; p++)
        if (s->smsp[p].look <= m->now) {
            s->smsp[p].look = UINT64_MAX; /* what a step changes of others lowers it again */
            uint64_t t = smsp_step(m, s, &s->smsp[p]);
            if (t < s->smsp[p].look) s->smsp[p].look = t;
        }
    for (int p = 0; p < SM_SMSPS; p++)
        if (s->smsp[p].look < s->look) s->look = s->smsp[p].look;
}

/* ---- The machine -------------------------------------------------------------------------------- */

/* Warps of the CTA that wait for an event look again. */
static void wake(struct machine *m, struct sm_cta *cta, uint64_t delay, const struct sm_warp *by) {
    struct sm *s = cta->sm;
    for (int p = 0; p < SM_SMSPS; p++)
        for (uint32_t l = s->smsp[p].live; l; l &= l - 1) {
            struct sm_warp *w = &s->smsp[p].warp[__builtin_ctz(l)];
            if (w->cta != cta || !w->waits || m->front->waits(w->warp)) continue;
            w->waits = false;
            if (m->woke) m->woke(m->user, w, by);
            if (w->op->kind == PREDICTOR_TRYWAIT) {
                w->woken = true;
                look_again(m, w, m->now);
                continue;
            }
            w->ready = later(w->ready, m->now + delay);
            look_again(m, w, later(m->now, w->ready));
        }
}

/* Warps that an event may have freed look again; NULL: all waiting warps of the cluster. What a warp sends reaches its
 * own cluster only; `by` NULL: TMA sent it. */
static void wake_all(struct machine *m, const struct sass_event *e, const struct sm_warp *by) {
    bool cluster = !e || e->kind == SASS_EVENT_CLUSTER;
    uint64_t bar = (uint64_t)m->chip->bar_release, all = (uint64_t)m->chip->cluster_release;
    int size = by ? m->cluster_size : m->n_sms;
    int from = by ? (int)(by->cta->sm - m->sm) / size * size : 0;
    for (int i = from; i < from + size && i < m->n_sms; i++)
        for (uint32_t c = m->sm[i].ctas; c; c &= c - 1) {
            struct sm_cta *cta = &m->sm[i].cta[__builtin_ctz(c)];
            if (cluster || cta->cta == e->cta) wake(m, cta, cluster ? all : bar, by);
        }
}

static void deliver(struct machine *m, struct sass_event *e, const struct sm_warp *by) {
    m->front->deliver(e);
    if (m->delivered) m->delivered(m->user, e);
    wake_all(m, e, by);
    free(e);
}

static void run_events(struct machine *m) {
    struct wheel_event e;
    while (wheel_take(&m->wheel, m->now, &e)) {
        if (e.kind == MACHINE_DELIVER) deliver(m, e.data, e.who);
        if (e.kind == MACHINE_TENSOR) sm_gmma_go_on(m, e.data);
        if (e.kind != MACHINE_COUNTER) continue;
        struct sm_warp *w = e.who;
        if (w->age != (uintptr_t)e.data) continue; /* another warp has its slot now */
        if (w->late[e.barrier]) {
            machine_event(m, m->now + w->late[e.barrier], MACHINE_COUNTER, e.barrier, w, e.data);
            w->late[e.barrier] = 0;
            continue;
        }
        w->counter[e.barrier]--;
        if (w->check == UINT64_MAX) look_again(m, w, m->now);
    }
}

/* No event is left: NULL if all warps have ended, else a reason that says which warp waits where. */
static const char *stuck(struct machine *m) {
    for (int i = 0; i < m->n_sms; i++)
        for (int p = 0; p < SM_SMSPS; p++)
            for (uint32_t l = m->sm[i].smsp[p].live; l; l &= l - 1) {
                const struct sm_warp *w = &m->sm[i].smsp[p].warp[__builtin_ctz(l)];
                return reason("a deadlock: warp %d waits at %#x (%s) for %s", w->index, w->inst->pc,
                              m->kernel->text[w->inst->pc / 16], predictor_reason_name[w->reason]);
            }
    return NULL;
}

void machine_run(struct machine *m) {
    enum { ASK = 1 << 16 }; /* cycles of an SM stepped between two questions */
    const uint64_t ask = ASK / (uint64_t)m->n_sms + 1;
    for (uint64_t n = 1; !m->why; n++) {
        uint64_t next = UINT64_MAX;
        if (n % ask == 0 && m->stop && (m->stopped = m->stop(m->user))) return;
        run_events(m);
        for (int i = 0; i < m->n_sms && !m->why; i++)
            if (m->sm[i].look <= m->now) sm_step(m, &m->sm[i]);
        for (int i = 0; i < m->n_sms; i++) /* one may have woken another's warps */
            if (m->sm[i].look < next) next = m->sm[i].look;
        uint64_t event = wheel_next(&m->wheel, m->now + 1);
        if (event < next) next = event;
        if (next == UINT64_MAX) break;
        m->now = next > m->now ? next : m->now + 1;
    }
    if (!m->why) m->why = stuck(m);
}

/* Delivers all events that are on their way: no time passes that would bring them. */
static void deliver_all(struct machine *m) {
    struct wheel_event e;
    for (uint64_t t = m->now; m->wheel.n; t++)
        while (wheel_take(&m->wheel, t, &e)) {
            if (e.kind != MACHINE_DELIVER) continue;
            m->front->deliver(e.data);
            free(e.data);
        }
}

/* Up to `most` instructions of a warp, until it waits or has ended; false: a fault. */
static bool skip_warp(struct machine *m, struct sass_warp *warp, int most, double *by_inst,
                      double *n) {
    enum sass_status status = SASS_ISSUED;
    for (int k = 0; k < most && status == SASS_ISSUED; k++) {
        struct sass_effect e;
        status = m->front->step(warp, &e);
        if (status != SASS_ISSUED) break;
        by_inst[e.inst->pc / 16]++;
        ++*n;
    }
    if (status == SASS_FAULT) m->why = m->front->fault(warp);
    return status != SASS_FAULT;
}

double machine_skip(struct machine *m, double most, double *by_inst) {
    enum { TURN = 4096 };
    double n = 0, before = -1;
    const uint32_t first = m->sm[0].cta[__builtin_ctz(m->sm[0].ctas)].number;
    deliver_all(m);
    while (n > before) {
        before = n;
        for (int i = 0; i < m->n_sms && i < m->cluster_size; i++)
            for (uint32_t c = m->sm[i].ctas; c; c &= c - 1) {
                const struct sm_cta *cta = &m->sm[i].cta[__builtin_ctz(c)];
                if (cta->number - first >= (uint32_t)m->cluster_size) continue;
                for (int w = 0; w < cta->n_warps; w++)
                    if (!skip_warp(m, m->front->warp(cta->cta, w), TURN, by_inst, &n) || n > most)
                        return -1;
            }
    }
    return n;
}
