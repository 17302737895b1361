/* Instruction caches: L0 of a sub-core, L1 of the SM, and behind it L1.5, which holds whole kernels.
 * Straight code finds its next line in L0 as long as L1 has it; a jump to a line that is not in
 * L0 waits. Lines that L1 lacks come one after the other. */
#include "sm.h"

static int find(const struct sm_lines *c, int n, int32_t line) {
    for (int i = 0; i < n; i++)
        if (c->tag[i] == line) return i;
    return -1;
}

static int load(struct sm_lines *c, int n, int32_t line, uint64_t at, uint64_t now) {
    int victim = 0;
    for (int i = 1; i < n; i++)
        if (c->used[i] < c->used[victim]) victim = i;
    c->tag[victim] = line;
    c->at[victim] = at;
    c->used[victim] = now + 1;
    return victim;
}

/* When a line from behind L1 is there. Straight code asks for it as early as possible. */
static uint64_t supply(struct machine *m, struct sm *s, bool runs_on, uint64_t t) {
    const struct predictor_chip *c = m->chip;
    bool fits = m->kernel->n_inst * 16 <= c->icache_l15_bytes;
    uint64_t latency = (uint64_t)(fits ? c->icache_l15_latency : c->icache_l2_latency);
    double asked = (double)(runs_on ? t > latency ? t - latency : 0 : t);
    if (asked < s->l15_free) asked = s->l15_free;
    s->l15_free = asked + c->icache_l15_interval;
    return later(t, (uint64_t)asked + latency);
}

/* How many lines of L1 were used after its i-th. */
static int depth(const struct sm_lines *l1, int n, int i) {
    int newer = 0;
    for (int k = 0; k < n; k++) newer += l1->used[k] > l1->used[i];
    return newer;
}

/* When L1 has the line. An earlier launch has left there the lines that fit. For straight code, lines
 * that were used longer ago count as missing. */
static uint64_t l1_has(struct machine *m, struct sm *s, int32_t line, bool runs_on, uint64_t t) {
    int n = (int)m->chip->icache_l1_bytes / SM_LINE_BYTES;
    int stream = (int)m->chip->icache_l1_stream_bytes / SM_LINE_BYTES;
    if (m->kernel->n_inst * 16 <= m->chip->icache_l1_stream_bytes) return t;
    if (n > SM_CODE_LINES) n = SM_CODE_LINES;
    int i = find(&s->l1, n, line);
    bool warm = s->l1.tag[n - 1] < 0 && m->kernel->n_inst * 16 <= m->chip->icache_l1_bytes;
    if (i < 0)
        i = load(&s->l1, n, line, warm ? t : supply(m, s, runs_on, t), t);
    else if (runs_on && depth(&s->l1, n, i) >= stream)
        s->l1.at[i] = supply(m, s, runs_on, t);
    s->l1.used[i] = t + 1;
    return later(t, s->l1.at[i]);
}

/* When a piece of the code of a kernel that has never run is in the SM's caches (microbenchmark habits, code). */
static uint64_t new_code(const struct machine *m, struct sm *s, uint32_t pc, uint64_t t) {
    uint32_t piece = pc / (uint32_t)m->chip->code_first_bytes;
    if (!m->is_first || piece >= SM_FIRST_CODE) return t;
    if (!s->code_at[piece]) s->code_at[piece] = t + (uint64_t)m->chip->code_first_latency;
    return later(t, s->code_at[piece]);
}

uint64_t sm_fetch(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w, uint32_t pc,
                  uint64_t t) {
    int lines = (int)m->chip->icache_l0_bytes / SM_LINE_BYTES;
    int32_t line = (int32_t)(pc / SM_LINE_BYTES);
    if (line == w->l0_line || !lines) return t;
    bool runs_on = line == w->l0_line + 1;
    t = new_code(m, s, pc, t);
    w->l0_line = line;
    int i = find(&p->l0, lines, line);
    if (i < 0) {
        uint64_t at = l1_has(m, s, line, runs_on, t);
        if (!runs_on) at += (uint64_t)m->chip->icache_l1_latency;
        i = load(&p->l0, lines, line, at, t);
    }
    p->l0.used[i] = t + 1;
    return later(t, p->l0.at[i]);
}
