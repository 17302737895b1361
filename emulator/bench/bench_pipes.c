/* Predicts the microbenchmarks of chips/bench/pipes.py: the same lines as a GPU's
 * results/calibrate.tsv holds (bench, variant, what, value), to be laid beside them. The programs'
 * control flow is a few instructions on integers; the rest has no values, only time.
 *
 *   python3 emulator/bench/pipes_text.py chips/bench > build/pipes.txt
 *   build/bench-pipes chips/h200.txt < build/pipes.txt */
#include "emulator/predictor/sm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INST = 40000, MAX_CTAS = 3, MAX_STAMPS = 64, MAX_PASSES = 8, BARRIERS = 16 };

struct sass_warp {
    int at; /* instruction */
    int index;
    bool exited;
    int at_bar; /* 1 + id; 0: none */
    uint32_t generation;
    int32_t r[256][32];
    uint32_t p[8];
    uint32_t start[MAX_PASSES], end[MAX_PASSES], stamp[MAX_STAMPS];
    int n_start, n_end;
    struct sass_cta *cta;
};
struct sass_cta {
    struct sass_warp warp[16];
    int linear, n_warps;
    uint32_t arrived[BARRIERS], generation[BARRIERS];
};

static struct sass_inst inst[MAX_INST];
static const char *text[MAX_INST];
static char *line_of[MAX_INST];
static uint64_t low_of[MAX_INST];
static int n_inst;
static struct machine machine;
static struct sass_cta cta[MAX_CTAS];

/* ---- Decoding ---------------------------------------------------------------------------------- */

static bool begins(const char *t, const char *with) { return !strncmp(t, with, strlen(with)); }

static const char *unguarded(const char *t) { return *t == '@' ? strchr(t, ' ') + 1 : t; }

static int pipe_of(const char *t) {
    static const char *const alu[] = {"IADD3", "LOP3", "SHF",   "PRMT", "SEL",
                                      "ISETP", "MOV",  "FMNMX", "FSEL", "FSETP",
                                      "F2FP",  "I2FP", "VOTE",  "CS2R", NULL};
    static const char *const branch[] = {"BRA", "BSSY", "BSYNC", "EXIT", "WARPSYNC", NULL};
    for (int i = 0; alu[i]; i++)
        if (begins(t, alu[i])) return SASS_PIPE_ALU;
    for (int i = 0; branch[i]; i++)
        if (begins(t, branch[i])) return SASS_PIPE_BRANCH;
    if (begins(t, "U") || begins(t, "R2UR")) return SASS_PIPE_UNIFORM;
    if (begins(t, "FFMA") || begins(t, "FMUL") || begins(t, "FADD") || begins(t, "IMAD"))
        return SASS_PIPE_FMA;
    return SASS_PIPE_NONE;
}

static void decode(int k, uint64_t low, uint64_t high, const char *t) {
    const char *u = unguarded(t);
    struct sass_inst i = {.stall = high >> 41 & 15,
                          .yields = !(high >> 45 & 1),
                          .write_barrier = high >> 46 & 7,
                          .read_barrier = high >> 49 & 7,
                          .wait_mask = high >> 52 & 63,
                          .reuse = high >> 58 & 7,
                          .guard = low >> 12 & 7,
                          .guard_not = low >> 15 & 1,
                          .pc = (uint32_t)k * 16,
                          .pipe = (uint8_t)pipe_of(u)};
    bool three = begins(u, "FFMA") || begins(u, "IMAD") || begins(u, "IADD3") ||
                 begins(u, "FMUL") || begins(u, "FADD") || begins(u, "HFMA2") ||
                 begins(u, "HADD2") || begins(u, "F2FP") || begins(u, "FMNMX") ||
                 begins(u, "LOP3") || begins(u, "SHF.") || begins(u, "PRMT");
    bool immediate = (low & 0xe00) == 0x800;
    if (three) {
        uint8_t a = low >> 24 & 255, b = low >> 32 & 255, c = high & 255;
        i.src[0] = (struct sass_span){a, a != 255};
        i.src[1] = (struct sass_span){b, !immediate && b != 255};
        bool has_c = !begins(u, "FMUL") && !begins(u, "FADD") && !begins(u, "HADD2") &&
                     !begins(u, "F2FP") && !begins(u, "FMNMX");
        i.src[2] = (struct sass_span){c, has_c && c != 255};
    }
    if (begins(u, "MOV")) {
        uint8_t b = low >> 32 & 255;
        i.src[1] = (struct sass_span){b, !immediate && b != 255};
    }
    bool wide = strstr(u, ".128") || strstr(u, ".4 ");
    uint8_t data = wide ? 4 : strstr(u, ".64 ") || strstr(u, ".2 ") ? 2 : 1;
    uint8_t ra = low >> 24 & 255, rb = low >> 32 & 255, rd = low >> 16 & 255;
    if (begins(u, "LDS") || begins(u, "ATOMS")) i.src[0] = (struct sass_span){ra, ra != 255};
    if (begins(u, "STS")) {
        i.src[0] = (struct sass_span){ra, 1};
        i.src[1] = (struct sass_span){rb, data};
    }
    if (begins(u, "SHFL")) {
        i.src[0] = (struct sass_span){ra, 1};
        i.src[1] = (struct sass_span){rb, begins(u, "SHFL.IDX")};
    }
    if (begins(u, "LDG.") || begins(u, "STG") || begins(u, "LDGSTS")) {
        i.src[0] = (struct sass_span){ra, 2};
        if (begins(u, "STG")) i.src[1] = (struct sass_span){rb, data};
        if (begins(u, "LDGSTS")) i.src[1] = (struct sass_span){rd, 1};
    }
    if (begins(u, "MUFU")) i.src[1] = (struct sass_span){rb, 1};
    if (begins(u, "HMMA")) {
        bool k16 = strstr(u, "16816");
        i.src[0] = (struct sass_span){low >> 24 & 255, k16 ? 4 : 2};
        i.src[1] = (struct sass_span){low >> 32 & 255, k16 ? 2 : 1};
        i.src[2] = (struct sass_span){high & 255, 4};
    }
    if (begins(u, "BRA")) i.target = (uint32_t)strtoul(strrchr(t, ' ') + 1, NULL, 16);
    inst[k] = i;
    low_of[k] = low;
    text[k] = t;
}

/* ---- Execution --------------------------------------------------------------------------------- */

static const struct sass_inst *walk_next(const struct sass_warp *w) {
    return w->exited ? NULL : &inst[w->at];
}

static enum sass_wait_kind walk_waits(const struct sass_warp *w) {
    if (w->at_bar && w->cta->generation[w->at_bar - 1] == w->generation) return SASS_WAIT_BAR;
    return SASS_WAIT_NONE;
}

/* Integers that loops, places and addresses need. */
static void values(struct sass_warp *w, const char *t, uint64_t low, uint32_t active) {
    int d = low >> 16 & 255, a = low >> 24 & 255, pd = -1;
    int32_t imm = (int32_t)(low >> 32);
    int c = -1;
    const char *last = strrchr(t, ',');
    if (last && last[2] == 'R' && last[3] != 'Z') c = atoi(last + 3);
    if (begins(t, "ISETP")) pd = t[strcspn(t, "P ") + 0] ? atoi(strchr(t, ' ') + 2) : 0;
    for (int l = 0; l < 32; l++) {
        int32_t *r = &w->r[d][l], x = a == 255 ? 0 : w->r[a][l];
        if (!(active >> l & 1)) continue;
        if (begins(t, "S2R")) {
            if (strstr(t, "TID.X")) *r = w->index * 32 + l;
            if (strstr(t, "CTAID")) *r = w->cta->linear;
            if (strstr(t, "SMID")) *r = 0;
            if (strstr(t, "CLOCK")) *r = (int32_t)machine.now;
        } else if (begins(t, "CS2R") && strstr(t, "CLOCK")) {
            *r = (int32_t)machine.now;
        } else if (begins(t, "MOV")) {
            *r = (low & 0xe00) == 0x800 ? imm : w->r[low >> 32 & 255][l];
        } else if (begins(t, "IADD3") && strstr(t, ", RZ") && (low & 0xe00) == 0x800) {
            *r = x + imm;
        } else if (begins(t, "SHF.R.U32 ")) {
            *r = (int32_t)((uint32_t)x >> imm);
        } else if (begins(t, "LOP3.LUT") && (low & 0xe00) == 0x800) {
            *r = x & imm;
        } else if (begins(t, "IMAD") && (low & 0xe00) == 0x800) {
            *r = x * imm + (c < 0 ? 0 : w->r[c][l]);
        } else if (pd >= 0 && (low & 0xe00) == 0x800) {
            w->p[pd] = (w->p[pd] & ~(1u << l)) | (uint32_t)(x != imm) << l;
        } else if (begins(t, "ISETP.LT")) {
            w->p[pd] = (w->p[pd] & ~(1u << l)) | (uint32_t)(x < 0) << l;
        } else {
            return;
        }
    }
}

static void store(struct sass_warp *w, const char *t) {
    const char *data = strrchr(t, ',');
    uint32_t value = (uint32_t)w->r[atoi(data + 3)][0];
    if (strstr(t, "[R16.64]")) {
        if (begins(data, ", R6") && w->n_start < MAX_PASSES) w->start[w->n_start++] = value;
        if (begins(data, ", R8") && w->n_end < MAX_PASSES) w->end[w->n_end++] = value;
    }
    const char *plus = strstr(t, "[R2.64+");
    long offset = plus ? strtol(plus + 7, NULL, 16) : 0;
    if (offset >= 68) w->stamp[(offset - 68) / 4] = value;
}

static void barrier(struct sass_warp *w, const char *t, struct sass_effect *e) {
    int id = (int)strtol(strchr(t, ' '), NULL, 16);
    const char *comma = strchr(t, ',');
    uint32_t n = comma ? (uint32_t)strtol(comma + 1, NULL, 16) : (uint32_t)w->cta->n_warps * 32;
    e->waits = !strstr(t, "ARV");
    if (e->waits) {
        w->at_bar = id + 1;
        w->generation = w->cta->generation[id];
    }
    e->deferred = true;
    e->n_events = 1;
    e->event[0] = (struct sass_event){.kind = SASS_EVENT_BAR,
                                      .cta = w->cta,
                                      .id = (uint8_t)id,
                                      .waits = e->waits,
                                      .count = 32,
                                      .expected = n};
}

static enum sass_status walk_step(struct sass_warp *w, struct sass_effect *e) {
    int k = w->at;
    const struct sass_inst *i = &inst[k];
    const char *t = unguarded(text[k]);
    uint32_t active = i->guard == 7 ? ~0u : w->p[i->guard];
    if (i->guard_not) active = ~active;
    e->inst = i;
    e->active = active;
    e->group = ~0u;
    e->taken = e->waits = e->deferred = false;
    e->n_events = 0;
    w->at_bar = 0;
    w->at++;
    if (begins(t, "EXIT") && active) w->exited = true;
    if (begins(t, "BRA") && active == ~0u) {
        w->at = (int)i->target / 16;
        e->taken = true;
    }
    if (begins(t, "BAR") && active) barrier(w, t, e);
    if (begins(t, "STG")) store(w, t);
    if (begins(t, "HGMMA")) {
        e->gmma.n = (uint16_t)atoi(strstr(t, "64x") + 3);
        e->gmma.a_in_registers = !strstr(strchr(t, ',') + 1, " gdesc") || strchr(t, ',')[2] == 'R';
        e->gmma.ends_group = strstr(t, "gsb0") != NULL;
    }
    int base = low_of[k] >> (begins(t, "LDGSTS") ? 16 : 24) & 255;
    if (i->pipe == SASS_PIPE_NONE)
        for (int l = 0; l < 32 && base != 255; l++) e->shared[l] = (uint32_t)w->r[base][l];
    if (strstr(t, "R10.64"))
        for (int l = 0; l < 32; l++) e->global[l] = (uint32_t)w->r[10][l] + 0x1000000u;
    values(w, t, low_of[k], active);
    return SASS_ISSUED;
}

static void walk_deliver(const struct sass_event *event) {
    struct sass_cta *c = event->cta;
    c->arrived[event->id] += event->count;
    if (c->arrived[event->id] < event->expected) return;
    c->arrived[event->id] = 0;
    c->generation[event->id]++;
}

static struct sass_warp *walk_warp(struct sass_cta *c, int index) { return &c->warp[index]; }

static const char *walk_fault(const struct sass_warp *w) {
    (void)w;
    return "fault";
}

static uint32_t bytes_of(const char *t) {
    return strstr(t, "128") || strstr(t, ".4") ? 16 : strstr(t, ".64 ") || strstr(t, ".2") ? 8 : 4;
}

/* Distinct words of the busiest bank; matrices: 8 rows of 16 bytes each. */
static uint32_t walk_wavefronts(const struct sass_effect *e, uint32_t *ideal) {
    const char *t = unguarded(text[e->inst->pc / 16]);
    bool matrix = begins(t, "LDSM") || begins(t, "STSM");
    uint32_t bytes = bytes_of(t), most = 0, lanes = 32;
    if (matrix) lanes = bytes == 16 ? 32 : bytes == 8 ? 16 : 8;
    uint32_t group = matrix ? 8 : lanes, sum = 0;
    if (matrix) bytes = 16;
    for (uint32_t from = 0; from < lanes; from += group) {
        uint32_t word[32][128], n[32] = {0};
        most = 0;
        for (uint32_t l = from; l < from + group; l++)
            for (uint32_t b = 0; b < bytes; b += 4) {
                uint32_t a = (e->shared[l] + b) / 4, bank = a % 32, x = 0;
                while (x < n[bank] && word[bank][x] != a) x++;
                if (x == n[bank]) word[bank][n[bank]++] = a;
                if (n[bank] > most) most = n[bank];
            }
        sum += most;
    }
    return *ideal = sum;
}

static uint32_t walk_sectors(const struct sass_effect *e, uint64_t sector[64]) {
    uint32_t bytes = bytes_of(unguarded(text[e->inst->pc / 16])), n = 0;
    for (int l = 0; l < 32; l++)
        for (uint64_t s = e->global[l] / 32; s <= (e->global[l] + bytes - 1) / 32; s++) {
            uint32_t x = 0;
            while (x < n && sector[x] != s) x++;
            if (x == n && n < 64) sector[n++] = s;
        }
    return n;
}

/* Addresses of global memory are of consecutive words, so a line of them has no conflicts in L1. */
static uint32_t walk_l1_wavefronts(const struct sass_effect *e) {
    (void)e;
    return 1;
}

static const struct predictor_front front = {.next = walk_next,
                                             .waits = walk_waits,
                                             .step = walk_step,
                                             .deliver = walk_deliver,
                                             .warp = walk_warp,
                                             .fault = walk_fault,
                                             .wavefronts = walk_wavefronts,
                                             .l1_wavefronts = walk_l1_wavefronts,
                                             .sectors = walk_sectors};

/* ---- Programs ---------------------------------------------------------------------------------- */

struct pipes_program {
    char bench[32], variant[64];
    int threads, ctas, smem, passes, stamps, instructions;
};

static void tell(const struct pipes_program *p, int n_ctas) {
    uint32_t first = 0, last = 0;
    bool any = false;
    printf("%s\t%s\tinstructions\t%d\n", p->bench, p->variant, p->instructions);
    printf("%s\t%s\tpasses\t", p->bench, p->variant);
    for (int pass = 0; pass < p->passes; pass++) {
        any = false;
        for (int c = 0; c < n_ctas; c++)
            for (int i = 0; i < cta[c].n_warps; i++) {
                const struct sass_warp *w = &cta[c].warp[i];
                if (w->n_end <= pass) continue;
                if (!any || w->start[pass] < first) first = w->start[pass];
                if (!any || w->end[pass] > last) last = w->end[pass];
                any = true;
            }
        printf("%s%u", pass ? " " : "", last - first);
    }
    printf("\n%s\t%s\tspan\t%u\n%s\t%s\teach\t", p->bench, p->variant, last - first, p->bench,
           p->variant);
    for (int c = 0; c < n_ctas; c++)
        for (int i = 0; i < cta[c].n_warps; i++) {
            const struct sass_warp *w = &cta[c].warp[i];
            if (w->n_end < p->passes) continue;
            printf("%d.%d:%u ", c ? 132 * c : 0, i,
                   w->end[p->passes - 1] - w->start[p->passes - 1]);
        }
    printf("\n");
    for (int c = 0; c < n_ctas && p->stamps; c++)
        for (int i = 0; i < cta[c].n_warps; i++) {
            const struct sass_warp *w = &cta[c].warp[i];
            if (w->n_end < p->passes) continue;
            printf("%s\t%s\tstamps %d.%d\t", p->bench, p->variant, c ? 132 * c : 0, i);
            for (int k = 0; k < p->stamps; k++)
                printf("%s%d", k ? " " : "", (int)(w->stamp[k] - first));
            printf("\n");
        }
    fflush(stdout);
}

static void run(const struct predictor_chip *chip, const struct pipes_program *p) {
    struct sass_kernel k = {.name = p->bench, .n_inst = n_inst, .inst = inst, .text = text};
    int n_ctas = p->ctas > 1 ? 2 : 1;
    memset(cta, 0, sizeof cta);
    const char *why = NULL;
    machine_open(&machine, chip, &front, &k, 1);
    machine.sm[0].n_ways = SM_L1_WAYS;
    for (int c = 0; c < n_ctas && !why; c++) {
        cta[c].linear = 132 * c;
        cta[c].n_warps = p->threads / 32;
        for (int i = 0; i < cta[c].n_warps; i++) {
            cta[c].warp[i].index = i;
            cta[c].warp[i].cta = &cta[c];
        }
        machine_place(&machine, 0, &cta[c], cta[c].n_warps, 0);
    }
    if (!why) {
        machine_run(&machine);
        why = machine.why;
    }
    if (why)
        printf("%s\t%s\tfailed\t%s\n", p->bench, p->variant, why);
    else
        tell(p, n_ctas);
    machine_close(&machine);
}

int main(int argc, char **argv) {
    struct predictor_chip chip;
    struct pipes_program p = {0};
    char *line = NULL;
    size_t room = 0;
    const char *why = predictor_chip_read(argc > 1 ? argv[1] : "chips/h200.txt", &chip);
    for (int a = 2; a < argc && !why; a++) why = predictor_chip_set(&chip, argv[a]);
    if (why) return fprintf(stderr, "bench-pipes: %s\n", why), 2;
    for (;;) {
        ssize_t n = getline(&line, &room, stdin);
        if ((n <= 0 || *line == 'P') && n_inst) {
            run(&chip, &p);
            for (int i = 0; i < n_inst; i++) free(line_of[i]);
            n_inst = 0;
        }
        if (n <= 0) break;
        if (*line == 'P')
            sscanf(line, "P %31s %63s %d %d %d %d %d %d", p.bench, p.variant, &p.threads, &p.ctas,
                   &p.smem, &p.passes, &p.stamps, &p.instructions);
        if (*line != 'I' || n_inst == MAX_INST) continue;
        uint64_t low, high;
        int at = 0;
        sscanf(line, "I %lx %lx %n", &low, &high, &at);
        line[strcspn(line, "\n")] = 0;
        line_of[n_inst] = strdup(line + at);
        decode(n_inst, low, high, line_of[n_inst]);
        n_inst++;
    }
    free(line);
    return 0;
}
