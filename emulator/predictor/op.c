#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *m, const char *prefix) {
    size_t n = strlen(prefix);
    return !strncmp(m, prefix, n) && (!m[n] || m[n] == '.' || m[n] == ' ');
}

static bool any(const char *m, const char *const *names) {
    for (; *names; names++)
        if (is(m, *names)) return true;
    return false;
}

/* The mnemonic with its modifiers, behind the guard. */
static void mnemonic(const char *text, char out[48]) {
    text += strspn(text, " ");
    if (*text == '@') {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    snprintf(out, 48, "%.*s", (int)strcspn(text, " ;"), text);
}

static int last_number(const char *text) {
    const char *comma = strrchr(text, ',');
    return comma ? (int)strtol(comma + 1 + strspn(comma + 1, " "), NULL, 0) : 0;
}

static bool pipe_op(const char *m, const struct predictor_chip *c, struct predictor_op *o) {
    static const char *const fp32[] = {"FFMA", "FADD", "FMUL", NULL};
    static const char *const heavy[] = {"IMAD", "HADD2", "HFMA2", "HMUL2", "IDP", NULL};
    static const char *const xu[] = {"MUFU", "I2F",  "F2I",  "F2F",  "I2I",   "POPC",
                                     "FLO",  "BREV", "FCHK", "FRND", "REDUX", NULL};
    static const char *const fp64[] = {"DADD", "DMUL", "DFMA", "DSETP", NULL};
    if (any(m, fp32)) {
        *o = (struct predictor_op){
            .unit = PREDICTOR_UNIT_FMA, .is_fp32 = true, .interval = (uint16_t)c->fma_interval};
    } else if (any(m, heavy)) {
        bool wide = strstr(m, ".WIDE") || strstr(m, ".HI");
        double interval = wide ? c->fma_wide_interval : c->fma_heavy_interval;
        *o = (struct predictor_op){.unit = PREDICTOR_UNIT_FMA,
                                   .is_packed = m[0] == 'H' && !strstr(m, ".F32"),
                                   .hold = (uint8_t)(wide ? c->fma_wide_hold : 0),
                                   .interval = (uint16_t)interval};
    } else if (is(m, "HMMA")) {
        *o = (struct predictor_op){
            .unit = PREDICTOR_UNIT_TENSOR,
            .interval = (uint16_t)(strstr(m, "1688") ? c->hmma_k8_interval : c->hmma_interval)};
    } else if (any(m, fp64)) {
        *o = (struct predictor_op){.unit = PREDICTOR_UNIT_FP64,
                                   .interval = (uint16_t)c->fp64_interval};
    } else if (is(m, "MATCH")) {
        *o = (struct predictor_op){.unit = PREDICTOR_UNIT_XU,
                                   .kind = PREDICTOR_XU,
                                   .interval = (uint16_t)c->match_interval,
                                   .latency = (uint16_t)c->match_latency};
    } else if (any(m, xu)) {
        double latency = is(m, "REDUX") ? c->redux_latency : c->xu_latency;
        *o = (struct predictor_op){.unit = PREDICTOR_UNIT_XU,
                                   .kind = PREDICTOR_XU,
                                   .interval = (uint16_t)c->xu_interval,
                                   .latency = (uint16_t)latency};
    } else {
        return false;
    }
    return true;
}

static bool shared_op(const char *m, const struct predictor_chip *c, struct predictor_op *o) {
    bool wide = strstr(m, ".128"), two = strstr(m, ".64");
    *o = (struct predictor_op){.unit = PREDICTOR_UNIT_MIO};
    if (is(m, "LDS")) {
        o->kind = PREDICTOR_SHARED_LOAD;
        double latency = wide ? c->lds128_latency : two ? c->lds64_latency : c->lds_latency;
        o->latency = (uint16_t)latency;
        o->war = (uint16_t)c->lds_war;
    } else if (is(m, "LDSM")) {
        o->kind = PREDICTOR_SHARED_LOAD;
        o->latency = (uint16_t)c->ldsm_latency;
        o->war = (uint16_t)c->lds_war;
    } else if (is(m, "STS") || is(m, "STSM") || is(m, "ATOMS")) {
        bool all = wide || strstr(m, ".4");
        o->kind = PREDICTOR_SHARED_STORE;
        double war = all ? c->sts128_war : two || strstr(m, ".2") ? c->sts64_war : c->sts_war;
        o->war = (uint16_t)war;
        o->is_cas = is(m, "ATOMS") && strstr(m, ".CAST");
        o->latency = (uint16_t)(o->is_cas        ? c->cas_latency
                                : is(m, "ATOMS") ? c->atoms_latency
                                                 : c->lds_latency);
    } else if (is(m, "SHFL")) {
        o->kind = PREDICTOR_SHUFFLE;
        o->latency = (uint16_t)c->shfl_latency;
        o->war = (uint16_t)c->shfl_war;
    } else {
        return false;
    }
    return true;
}

static bool global_op(const char *m, const struct predictor_chip *c, struct predictor_op *o) {
    static const char *const loads[] = {"LDG", "LD", "LDL", NULL};
    static const char *const stores[] = {"STG", "ST", "STL", "REDG", "RED", NULL};
    *o = (struct predictor_op){.unit = PREDICTOR_UNIT_MIO,
                               .is_long = true,
                               .latency = (uint16_t)c->l1_latency,
                               .war = (uint16_t)c->l1_war};
    if (any(m, loads)) {
        o->kind = PREDICTOR_GLOBAL_LOAD;
        o->is_local = is(m, "LDL");
        o->past_l1 = strstr(m, ".STRONG.GPU") || strstr(m, ".STRONG.SYS");
        double latency = strstr(m, ".128")  ? c->l1_128_latency
                         : strstr(m, ".64") ? c->l1_64_latency
                                            : c->l1_latency;
        o->latency = (uint16_t)latency;
    } else if (any(m, stores)) {
        o->kind = PREDICTOR_GLOBAL_STORE;
        o->is_local = is(m, "STL");
        o->is_atomic = is(m, "REDG") || is(m, "RED");
        double war = strstr(m, ".128")  ? c->stg128_war
                     : strstr(m, ".64") ? c->stg64_war
                                        : c->stg_war;
        o->war = (uint16_t)war;
    } else if (is(m, "LDGSTS")) {
        o->kind = PREDICTOR_LDGSTS;
        o->war = (uint16_t)c->ldgsts_war;
    } else if (is(m, "ATOMG") || is(m, "ATOM")) {
        o->kind = PREDICTOR_ATOMIC;
        o->is_atomic = true;
        o->latency = (uint16_t)c->atomic_latency;
    } else {
        return false;
    }
    o->is_float = o->is_atomic && strstr(m, ".ADD.F");
    return true;
}

/* Special registers, constants, votes into uniform registers: a latency and nothing else. */
static bool special_op(const char *m, const struct predictor_chip *c, struct predictor_op *o) {
    double latency;
    *o =
        (struct predictor_op){.kind = PREDICTOR_SPECIAL, .interval = (uint16_t)c->uniform_interval};
    if (is(m, "S2R") || is(m, "S2UR") || is(m, "B2R")) {
        o->unit = PREDICTOR_UNIT_MIO;
        o->is_s2r = true;
        latency = c->s2r_latency;
    } else if (is(m, "LDC") || is(m, "ULDC")) {
        o->unit = is(m, "LDC") ? PREDICTOR_UNIT_MIO : PREDICTOR_UNIT_UNIFORM;
        o->is_ldc = is(m, "LDC");
        o->interval = (uint16_t)(is(m, "LDC") ? c->ldc_interval : c->uniform_interval);
        latency = c->ldc_latency;
    } else if (is(m, "R2UR") || is(m, "VOTEU") || is(m, "VOTE")) {
        o->unit = is(m, "VOTE") ? PREDICTOR_UNIT_ALU : PREDICTOR_UNIT_UNIFORM;
        latency = c->r2ur_latency;
    } else {
        return false;
    }
    o->latency = o->war = (uint16_t)latency;
    return true;
}

static bool sync_op(const char *m, const char *text, const struct predictor_chip *c,
                    struct predictor_op *o) {
    static const struct {
        const char *name;
        uint8_t kind, unit;
    } table[] = {{"LDGDEPBAR", PREDICTOR_LDGDEPBAR, PREDICTOR_UNIT_NONE},
                 {"DEPBAR", PREDICTOR_DEPBAR, PREDICTOR_UNIT_NONE},
                 {"BAR", PREDICTOR_BAR, PREDICTOR_UNIT_NONE},
                 {"SYNCS", PREDICTOR_SYNCS, PREDICTOR_UNIT_MIO},
                 {"HGMMA", PREDICTOR_HGMMA, PREDICTOR_UNIT_GMMA},
                 {"UTMALDG", PREDICTOR_TMA, PREDICTOR_UNIT_MIO},
                 {"UTMASTG", PREDICTOR_TMA, PREDICTOR_UNIT_MIO},
                 {"MEMBAR", PREDICTOR_MEMBAR, PREDICTOR_UNIT_NONE},
                 {"EXIT", PREDICTOR_EXIT, PREDICTOR_UNIT_NONE},
                 {"UCGABAR_ARV", PREDICTOR_CLUSTER, PREDICTOR_UNIT_NONE},
                 {"UCGABAR_WAIT", PREDICTOR_CLUSTER, PREDICTOR_UNIT_NONE}};
    if (is(m, "WARPGROUP") && strstr(m, "DEPBAR")) {
        *o =
            (struct predictor_op){.kind = PREDICTOR_GMMA_WAIT, .depth = (uint8_t)last_number(text)};
        return true;
    }
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (!is(m, table[i].name)) continue;
        *o = (struct predictor_op){.kind = table[i].kind, .unit = table[i].unit};
        o->depth = o->kind == PREDICTOR_DEPBAR ? (uint8_t)last_number(text) : 0;
        o->is_gpu = strstr(m, ".GPU") || strstr(m, ".SYS");
        o->war = o->latency = (uint16_t)c->mbarrier_arrive;
        if (strstr(m, "TRYWAIT")) {
            o->kind = PREDICTOR_TRYWAIT;
            o->is_long = true;
            o->latency = (uint16_t)c->mbarrier_try;
        }
        return true;
    }
    return false;
}

/* The operand cache (reuse bits): one register for each operand position and bank, kept until another
 * register of that bank is read in that position. */
struct kept {
    int16_t place[SASS_SOURCES][2]; /* 1 + register; 0: none */
};

static bool is_kept(const struct kept *c, const struct sass_inst *i, int s) {
    int r = i->src[s].first;
    return c->place[s][r & 1] == 1 + r;
}

static bool is_read_twice(const struct kept *c, const struct sass_inst *i, int s) {
    for (int k = 0; k < s; k++)
        if (i->src[k].n && i->src[k].first == i->src[s].first && !is_kept(c, i, k)) return true;
    return false;
}

static void keep(struct kept *c, const struct sass_inst *i) {
    if (i->pipe == SASS_PIPE_BRANCH) *c = (struct kept){0};
    for (int s = 0; s < SASS_SOURCES; s++) {
        const struct sass_span *r = &i->src[s];
        if (!r->n || r->first == SASS_RZ) continue;
        for (int n = 0; n < r->n && n < 2; n++) c->place[s][(r->first + n) & 1] = 0;
        if (i->reuse >> s & 1) c->place[s][r->first & 1] = (int16_t)(1 + r->first);
    }
}

/* Registers that must come through the ports: not RZ, not those in the operand cache, and each only
 * once. */
static void port_reads(const struct kept *c, const struct sass_inst *i, struct predictor_op *o) {
    for (int s = 0; s < SASS_SOURCES; s++) {
        const struct sass_span *r = &i->src[s];
        if (!r->n || r->first == SASS_RZ || is_read_twice(c, i, s) || is_kept(c, i, s)) continue;
        for (int n = 0; n < r->n; n++) o->reads[(r->first + n) & 1]++;
    }
}

/* The line of constants that an operand c[0x0][address] is in. */
static uint8_t constant_line(const struct predictor_chip *c, const char *text) {
    enum { LINES = 64 };
    const char *at = strstr(text, "c[0x0][");
    char *end;
    if (!at || c->constant_line_bytes < 1) return 0;
    unsigned long address = strtoul(at + strlen("c[0x0]["), &end, 16);
    return (uint8_t)(*end == ']' ? 1 + address / (unsigned long)c->constant_line_bytes % LINES : 0);
}

void predictor_ops(const struct sass_kernel *k, const struct predictor_chip *c,
                   struct predictor_op *ops) {
    struct kept kept = {0};
    for (int i = 0; i < k->n_inst; i++) {
        const struct sass_inst *in = &k->inst[i];
        struct predictor_op *o = &ops[i];
        char m[48];
        mnemonic(k->text[i], m);
        if (!pipe_op(m, c, o) && !shared_op(m, c, o) && !global_op(m, c, o) &&
            !special_op(m, c, o) && !sync_op(m, k->text[i], c, o)) {
            *o = (struct predictor_op){0};
            if (in->pipe == SASS_PIPE_ALU) {
                o->unit = PREDICTOR_UNIT_ALU;
                o->interval = (uint16_t)c->alu_interval;
            } else if (in->pipe == SASS_PIPE_FMA) {
                o->unit = PREDICTOR_UNIT_FMA;
                o->interval = (uint16_t)c->fma_heavy_interval;
            } else if (in->pipe == SASS_PIPE_UNIFORM) {
                o->unit = PREDICTOR_UNIT_UNIFORM;
                o->interval = (uint16_t)(is(m, "UMOV") ? c->umov_interval : c->uniform_interval);
                o->latency = (uint16_t)c->r2ur_latency;
            }
        }
        if (!o->latency)
            o->latency =
                (uint16_t)c->fixed_latency; /* a write barrier on what has a fixed latency */
        if (!o->war) o->war = (uint16_t)c->fixed_latency;
        o->is_bsync = is(m, "BSYNC");
        o->is_pack = is(m, "F2FP");
        o->constant = constant_line(c, k->text[i]);
        if (in->guard == SASS_PT && in->guard_not) o->unit = PREDICTOR_UNIT_NONE; /* never runs */
        int registers = 0;
        for (int s = 0; s < SASS_SOURCES; s++)
            if (in->src[s].first != SASS_RZ) registers += in->src[s].n;
        if (o->unit == PREDICTOR_UNIT_MIO)
            o->interval = (uint16_t)(c->mio_read_interval * (registers ? registers : 1));
        bool reads = o->unit == PREDICTOR_UNIT_FMA || o->unit == PREDICTOR_UNIT_ALU ||
                     o->unit == PREDICTOR_UNIT_XU || o->unit == PREDICTOR_UNIT_MIO;
        if (reads) port_reads(&kept, in, o);
        keep(&kept, in);
    }
}
