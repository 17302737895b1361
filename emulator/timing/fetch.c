#include "sm.h"

static int l0_find(const struct smsp *p, int lines, int32_t line) {
    for (int i = 0; i < lines; i++)
        if (p->l0_tag[i] == line) return i;
    return -1;
}

/* When L1 has the line; asks L2 for it if it was never asked for. */
static uint64_t l1_has(struct machine *m, struct sm *s, int32_t line, uint64_t t) {
    uint64_t *at = &s->l1_at[line % SM_L1_LINES];
    bool warm = m->chip->icache_warm && m->kernel->n_inst * 16 <= m->chip->icache_l1_bytes;
    if (!*at) *at = warm ? 1 : t + (uint64_t)m->chip->icache_l2_latency;
    return *at > t ? *at : t;
}

static uint64_t l0_load(struct machine *m, struct sm *s, struct smsp *p, int lines, int32_t line,
                        uint64_t t) {
    int victim = 0;
    for (int i = 1; i < lines; i++)
        if (p->l0_used[i] < p->l0_used[victim]) victim = i;
    p->l0_tag[victim] = line;
    p->l0_at[victim] = l1_has(m, s, line, t) + (uint64_t)m->chip->icache_l1_latency;
    p->l0_used[victim] = t;
    return p->l0_at[victim];
}

/* A miss loads the line, and every access those behind it: a run is late only at its start. */
uint64_t sm_fetch(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w, uint32_t pc,
                  uint64_t t) {
    int lines = (int)m->chip->icache_l0_bytes / SM_LINE_BYTES;
    int ahead = (int)m->chip->icache_l0_prefetch;
    int32_t line = (int32_t)(pc / SM_LINE_BYTES), last = m->kernel->n_inst * 16 / SM_LINE_BYTES;
    if (lines > SM_L0_LINES) lines = SM_L0_LINES;
    if (line == w->l0_line || !lines) return t;
    bool runs_on = line == w->l0_line + 1;
    w->l0_line = line;
    int i = l0_find(p, lines, line);
    uint64_t at = i < 0 ? l0_load(m, s, p, lines, line, t) : p->l0_at[i];
    if (i >= 0) p->l0_used[i] = t;
    for (int k = 1; k <= ahead && line + k <= last; k++)
        if (l0_find(p, lines, line + k) < 0)
            l0_load(m, s, p, lines, line + k, t + (uint64_t)(2 * k));
    bool warm = m->chip->icache_warm && m->kernel->n_inst * 16 <= m->chip->icache_l1_bytes;
    if (runs_on && warm) return t; /* the prefetch keeps up */
    return at > t ? at : t;
}
