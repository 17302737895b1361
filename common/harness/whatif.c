#include "whatif.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/reason.h"
#include "common/base/table.h"
#include "common/device/predictor.h"
#include "emulator/sass/without.h"

#include <stdlib.h>
#include <string.h>

/* ---- One limit after the other ------------------------------------------------------------------ */

/* `set` and `fast` take it away; latencies of the pipes stay. First those that another kernel for the same
 * problem would meet less often; from `is_chips` on those that the chip and the problem decide. */
static const struct limit {
    const char *name, *set;
    unsigned fast;
    bool is_chips;
} limits[] = {
    {"nothing: as it is", "", 0, false},
    {"tensor cores", "hmma_interval=0,hmma_k8_interval=0", PREDICTOR_FAST_TENSOR, false},
    {"MUFU", "xu_interval=0,match_interval=0", 0, false},
    {"FMA pipe",
     "fma_interval=0,fma_heavy_interval=0,fma_wide_interval=0,fma_wide_hold=0,fp64_interval=0", 0,
     false},
    {"ALU and uniform pipes",
     "alu_interval=0,uniform_interval=0,umov_interval=0,ldc_interval=0,ldc_place_interval=0", 0,
     false},
    {"issue slots, register ports",
     "port_window=0,hmma_port=0,hmma_reads=0,hmma_after_reads=0,hmma_after_many=0,"
     "hmma_after_alus=0,hmma_after_alu_reads=0,hmma_after_alu=0,hgmma_fma=0,"
     "hgmma_fma_spaced=0,hgmma_turn=0,hgmma_fma_read=0,hgmma_fma_n64=0,hgmma_ports=0,hgmma_alu=0,"
     "hgmma_xu=0",
     PREDICTOR_FAST_ISSUE, false},
    {"fixed latencies", "", PREDICTOR_FAST_FIXED, false},
    {"shared memory",
     "mio_read_interval=0,mio_sm_interval=0,s2r_sm_interval=0,data_spacing=0,ldgsts_line=0,"
     "dsmem_latency=0,"
     "dsmem_bytes_per_clk=1e9",
     PREDICTOR_FAST_SHARED, false},
    {"L2",
     "l2_latency=0,l2_spread=0,l2_line_spread=0,l2_uneven=0,ldgsts_line_latency=0,"
     "ldgsts_interval=0,atomic_interval=0,tma_latency=0,tma_interval=0,"
     "l2_sm_bytes_per_clk=1e9,l2_bytes_per_clk=1e12,l2_shared_bytes_per_clk=1e12,"
     "l2_tma_shared_bytes_per_clk=1e12,l2_sm_write_bytes_per_clk=1e9,l2_write_bytes_per_clk=1e12",
     0, true},
    {"DRAM",
     "dram_latency=0,dram_queue=0,dram_bytes_per_ns=1e9,dram_write_bytes_per_ns=1e9,"
     "dram_sm_bytes_per_clk=1e9",
     0, true},
    {"barriers, beyond waiting for others",
     "bar_arrive=0,bar_arv=0,bar_interval=0,bar_release=0,mbarrier_arrive=0,mbarrier_wake=0,"
     "mbarrier_wake_lane=0,mbarrier_try=0,cluster_release=0",
     0, false},
    {"branches, instruction caches",
     "branch_penalty=0,branch_untaken=0,bsync_penalty=0,icache_l1_latency=0,icache_l15_latency=0,"
     "icache_l15_interval=0,icache_l2_latency=0",
     0, false},
    {"launch of the kernel and of blocks",
     "launch_overhead=0,cta_spread=0,cta_launch=0,cta_interval=0,cta_start=0,constant_first=0,"
     "tma_map_first=0,drain=0",
     0, true},
};
enum { N_LIMITS = sizeof limits / sizeof *limits };

struct answer {
    const struct limit *limit;
    double cycles;
};

static int by_cycles(const void *a, const void *b) {
    const struct answer *x = a, *y = b;
    if (x->limit->is_chips != y->limit->is_chips) return x->limit->is_chips ? 1 : -1;
    return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

static const char *take_away(struct predictor_chip *c, const struct limit *l) {
    char *text = heap_text(l->set), *save;
    const char *why = NULL;
    for (char *one = strtok_r(text, ",", &save); one && !why; one = strtok_r(NULL, ",", &save))
        why = predictor_chip_set(c, one);
    free(text);
    return why;
}

/* ---- Who waits for whom, in the first block ----------------------------------------------------- */

enum { MAX_ROLES = 8, TMA = MAX_ROLES, OTHER_BLOCK, NOBODY };

/* Warp cycles of a role, spent for one reason; `line` of the kernel's file, 0: all. */
struct whatif_share {
    int role, by, reason, line;
    double cycles;
};

struct roles {
    const struct sass_kernel *kernel;
    bool specialised; /* a role a warpgroup; else all warps have the same */
    bool loads[MAX_ROLES], multiplies[MAX_ROLES];
    int first[MAX_ROLES], last[MAX_ROLES]; /* warps; last -1: there is no such role */
    double cycles[MAX_ROLES];              /* of all its warps */
    struct whatif_share *share;
    int n;
};

static int role_of(const struct roles *r, int warp) {
    int role = r->specialised ? warp / 4 : 0;
    return role < MAX_ROLES ? role : MAX_ROLES - 1;
}

static void add(struct roles *r, int warp, int by, int reason, int line, double cycles) {
    int role = role_of(r, warp), i = 0;
    for (; i < r->n; i++) {
        const struct whatif_share *s = &r->share[i];
        if (s->role == role && s->by == by && s->reason == reason && s->line == line) break;
    }
    if (i == r->n) {
        r->share = heap_grown(r->share, (size_t)++r->n * sizeof *r->share);
        r->share[i] = (struct whatif_share){role, by, reason, line, 0};
    }
    r->share[i].cycles += cycles;
}

static bool has(const struct roles *r, int i, const char *word) {
    return i >= 0 && i < r->kernel->n_inst && strstr(r->kernel->text[i], word);
}

static int line_of(const struct roles *r, int i) {
    return r->kernel->origin ? r->kernel->origin[i].kernel_line : 0;
}

/* The wait for an event is told by woke(), when it is over. */
static void span(void *user, int warp, uint32_t pc, int reason, uint64_t from, uint64_t to) {
    struct roles *r = user;
    int i = (int)pc / 16, role = role_of(r, warp);
    bool products = has(r, i, "WARPGROUP.DEPBAR");
    if (r->last[role] < warp) r->last[role] = warp;
    if (r->first[role] > warp) r->first[role] = warp;
    r->cycles[role] += (double)(to - from);
    if (reason == PREDICTOR_SELECTED) {
        r->loads[role] |= has(r, i, "UTMALDG") || has(r, i, "UBLKCP");
        r->multiplies[role] |= has(r, i, "HGMMA");
    }
    if (reason == PREDICTOR_BARRIER && !products) return;
    if (reason == PREDICTOR_LONG_SCOREBOARD && has(r, i, "TRYWAIT")) return;
    bool where = reason == PREDICTOR_BARRIER || reason == PREDICTOR_LONG_SCOREBOARD;
    add(r, warp, NOBODY, reason, where ? line_of(r, i) : 0, (double)(to - from));
}

static void woke(void *user, int warp, int by, uint32_t pc, uint64_t cycles) {
    struct roles *r = user;
    int i = (int)pc / 16;
    if (!has(r, i, "TRYWAIT") && has(r, i - 1, "BAR")) i--; /* it waits behind its BAR */
    add(r, warp,
        by == -1   ? TMA
        : by == -2 ? OTHER_BLOCK
                   : role_of(r, by),
        0, line_of(r, i), (double)cycles);
}

static const char *role_text(const struct roles *r, int role, char out[64]) {
    if (role == TMA) return "TMA";
    if (role == OTHER_BLOCK) return "the cluster's other blocks";
    if (!r->specialised) return "the other warps";
    snprintf(out, 64, "warpgroup %d%s", role,
             r->multiplies[role] ? " (products)"
             : r->loads[role]    ? " (loads)"
                                 : "");
    return out;
}

static void print_what(const struct roles *r, const struct whatif_share *s, FILE *out) {
    static const char *const what[PREDICTOR_REASONS] = {
        [PREDICTOR_SELECTED] = "issues",
        [PREDICTOR_NOT_SELECTED] = "waits for its turn to issue",
        [PREDICTOR_WAIT] = "waits a fixed number of cycles for its own last result",
        [PREDICTOR_LONG_SCOREBOARD] = "waits for global memory",
        [PREDICTOR_SHORT_SCOREBOARD] = "waits for shared memory or MUFU",
        [PREDICTOR_MATH_PIPE] = "waits for a pipe that is taken",
        [PREDICTOR_MIO_THROTTLE] = "waits for room in the queue to shared memory and MUFU",
        [PREDICTOR_LG_THROTTLE] = "waits for room in the queue to global memory",
        [PREDICTOR_BARRIER] = "waits for its own WGMMA",
        [PREDICTOR_BRANCH] = "waits at branches",
        [PREDICTOR_DISPATCH] = "waits for register ports",
        [PREDICTOR_NO_INSTRUCTION] = "waits for instructions",
        [PREDICTOR_MEMBAR_REASON] = "waits at memory fences",
        [PREDICTOR_GMMA] = "waits for the warpgroup before a WGMMA",
        [PREDICTOR_SLEEPING] = "sleeps",
        [PREDICTOR_DRAIN] = "waits at its end for its last stores",
    };
    char text[64];
    if (s->by == NOBODY)
        fprintf(out, "%s", what[s->reason]);
    else
        fprintf(out, "waits for %s", role_text(r, s->by, text));
    if (s->line) fprintf(out, ", line %d", s->line);
}

static void print_share(const struct roles *r, const struct whatif_share *s, FILE *out) {
    fprintf(out, "    %5.1f %%  ", 100 * s->cycles / r->cycles[s->role]);
    print_what(r, s, out);
    fprintf(out, "\n");
}

/* Of the warps that multiply, or of all where none does alone: the longest wait, and the limit whose
 * end would gain most. */
static void print_sentence(const struct roles *r, const struct answer *most, double base,
                           FILE *out) {
    const struct whatif_share *longest = NULL;
    char text[64];
    for (int i = 0; i < r->n; i++) {
        const struct whatif_share *s = &r->share[i];
        bool works =
            s->by == NOBODY && (s->reason == PREDICTOR_SELECTED || s->reason == PREDICTOR_WAIT);
        if (works || (r->specialised && !r->multiplies[s->role])) continue;
        if (!longest || s->cycles / r->cycles[s->role] > longest->cycles / r->cycles[longest->role])
            longest = s;
    }
    if (!longest) return;
    const double pct = 100 * longest->cycles / r->cycles[longest->role];
    if (r->specialised)
        fprintf(out, "\nIn a sentence: of the time of %s %.0f %% goes to this: it ",
                role_text(r, longest->role, text), pct);
    else
        fprintf(
            out,
            "\nIn a sentence: beside results of fixed latency, a warp waits longest, %.0f %% of "
            "its time, for this: it ",
            pct);
    print_what(r, longest, out);
    fprintf(out, "; the most would be gained by free %s: %.0f %%.\n", most->limit->name,
            100 * (base / most->cycles - 1));
}

static int by_share(const void *a, const void *b) {
    const struct whatif_share *x = a, *y = b;
    if (x->role != y->role) return x->role - y->role;
    return (x->cycles < y->cycles) - (x->cycles > y->cycles);
}

static void print_roles(struct roles *r, FILE *out) {
    char text[64];
    const double least_pct = 1;
    qsort(r->share, (size_t)r->n, sizeof *r->share, by_share);
    fprintf(out, "\nThe first block, by role: what its warps do with their time\n");
    for (int role = 0; role < MAX_ROLES; role++) {
        if (r->last[role] < 0) continue;
        int n = r->last[role] - r->first[role] + 1;
        fprintf(out, "  %s: warps %d to %d, %.0f cycles each\n",
                r->specialised ? role_text(r, role, text) : "all warps", r->first[role],
                r->last[role], r->cycles[role] / n);
        for (int i = 0; i < r->n; i++)
            if (r->share[i].role == role && 100 * r->share[i].cycles >= least_pct * r->cycles[role])
                print_share(r, &r->share[i], out);
    }
}

/* ---- Both --------------------------------------------------------------------------------------- */

static const char *ask(struct predictor *c, const struct limit *l,
                       const struct device_launch *launches, int n, double *cycles) {
    enum { PLACES = 4 };
    const struct predictor_chip as_it_is = c->chip;
    const char *why = take_away(&c->chip, l);
    *cycles = 0;
    for (int i = 0; i < n && !why; i++) {
        struct prediction p;
        why = predictor_launch(c, &launches[i],
                               &(struct predictor_options){.places = PLACES, .fast = l->fast}, &p);
        if (why) break;
        *cycles += p.elapsed;
        prediction_close(&p);
    }
    c->chip = as_it_is;
    return why;
}

/* As `run` predicts the launches: at all places that blocks have on the chip. */
struct whole {
    double cycles, us, mhz; /* the SMs' mean clock */
};

static const char *ask_whole(struct predictor *c, const struct device_launch *launches, int n,
                             struct whole *out) {
    const char *why = NULL;
    double boost = 0;
    *out = (struct whole){0};
    for (int i = 0; i < n && !why; i++) {
        struct prediction p;
        why = predictor_launch(c, &launches[i], NULL, &p);
        if (why) break;
        out->cycles += p.elapsed;
        boost += p.boost;
        prediction_close(&p);
    }
    out->us = boost / c->mhz;
    if (boost > 0) out->mhz = out->cycles / out->us;
    return why;
}

/* The answers are of fewer places: their ratios are put onto the whole prediction. */
static void scale(struct answer *a, int n, const struct whole *whole) {
    const double by = whole->cycles / a[0].cycles;
    for (int i = 0; i < n; i++) a[i].cycles *= by;
}

static double gain_pct(double base, double cycles) { return 100 * (base / cycles - 1); }

/* Is it 0.0 as printed, or less? */
static bool gains_nothing(double gain) { return gain < 0.05; }

static void print_limits(struct answer *a, int n, const struct whole *whole, FILE *out) {
    const char *heading[] = {"if this took no time", "cycles", "us", "gain, %"};
    const double base = a[0].cycles;
    int n_nothing = 0;
    struct table t;
    table_open(&t, 4, heading);
    qsort(a + 1, (size_t)n - 1, sizeof *a, by_cycles);
    for (int i = 0; i < n; i++) {
        const double gain = gain_pct(base, a[i].cycles);
        char name[64], cycles[32], us[32], percent[32];
        if (i && gains_nothing(gain)) {
            n_nothing++;
            continue;
        }
        snprintf(name, sizeof name, "%s%s", a[i].limit->name,
                 a[i].limit->is_chips ? " (the chip's)" : "");
        snprintf(cycles, sizeof cycles, "%.0f", a[i].cycles);
        snprintf(us, sizeof us, "%.4g", a[i].cycles / whole->mhz);
        snprintf(percent, sizeof percent, "%.1f", gain);
        table_row(&t, (const char *[]){name, cycles, us, i ? percent : ""});
    }
    table_print(&t, out);
    table_close(&t);
    if (n_nothing) fprintf(out, "%d more would gain nothing.\n", n_nothing);
}

/* ---- Without a line ----------------------------------------------------------------------------- */

struct left_out {
    char place[SASS_PLACE_BYTES], what[SASS_PLACE_BYTES], why[192];
    double cycles; /* 0: there is no prediction, and `why` */
};

static int by_gain(const void *a, const void *b) {
    double x = ((const struct left_out *)a)->cycles, y = ((const struct left_out *)b)->cycles;
    return x && y ? (x > y) - (x < y) : (y > 0) - (x > 0);
}

/* All launches again, the main kernel without the line. */
static const char *ask_without(struct device *d, const char *dir, const char *name,
                               const struct device_launch *launches, int n, struct left_out *x) {
    enum { LIMIT_S = 60 }; /* who waits for what was left out waits for ever */
    const char *kernel = device_main_launch(launches, n)->kernel;
    struct predictor c;
    const char *why = predictor_open(&c, d, dir, name);
    c.limit_s = LIMIT_S;
    if (!why && !sass_without(sass_find(c.module, kernel), x->place)) why = "nothing is there";
    if (!why) why = ask(&c, &limits[0], launches, n, &x->cycles);
    if (why) {
        x->cycles = 0;
        snprintf(x->why, sizeof x->why, "n/a (%.170s)",
                 strstr(why, "a deadlock") ? "warps would wait for ever" : why);
    }
    predictor_close(&c);
    return why;
}

static void print_left_out(struct left_out *x, int n, double base, FILE *out) {
    struct table t;
    int n_nothing = 0;
    table_open(&t, 4, (const char *[]){"--without", "which is", "cycles", "gain, %"});
    qsort(x, (size_t)n, sizeof *x, by_gain);
    for (int i = 0; i < n; i++) {
        const double gain = x[i].cycles ? gain_pct(base, x[i].cycles) : 0;
        char cycles[32], percent[32] = "";
        if (x[i].cycles && gains_nothing(gain)) {
            n_nothing++;
            continue;
        }
        snprintf(cycles, sizeof cycles, "%.0f", x[i].cycles);
        if (x[i].cycles) snprintf(percent, sizeof percent, "%.1f", gain);
        table_row(
            &t, (const char *[]){x[i].place, x[i].what, x[i].cycles ? cycles : x[i].why, percent});
    }
    fprintf(out, "\nIf a line did not wait (its answer would be wrong: what the wait costs)\n");
    table_print(&t, out);
    table_close(&t);
    if (n_nothing)
        fprintf(out, "%d more wait%s would gain nothing.\n", n_nothing, n_nothing == 1 ? "" : "s");
}

static void without_lines(struct predictor *c, struct device *d, const char *dir, const char *name,
                          const struct device_launch *launches, int n, double by, double base,
                          FILE *out) {
    enum { MOST = 64 };
    const struct sass_kernel *k = sass_find(c->module, device_main_launch(launches, n)->kernel);
    struct left_out x[MOST];
    int n_places = 0, n_known = 0;
    while (k && n_places < MOST &&
           sass_without_place(k, n_places, x[n_places].place, x[n_places].what))
        n_places++;
    for (; n_known < n_places && !interrupt_signal(); n_known++)
        ask_without(d, dir, name, launches, n, &x[n_known]);
    for (int i = 0; i < n_known; i++) x[i].cycles *= by;
    if (interrupt_signal() && n_known) n_known--; /* the last was cut */
    if (n_known) print_left_out(x, n_known, base, out);
}

static const char *roles_of(struct predictor *c, const struct device_launch *launches, int n,
                            const struct answer *answer, FILE *out) {
    const struct device_launch *l = device_main_launch(launches, n);
    struct roles r = {0};
    struct prediction p;
    r.kernel = sass_find(c->module, l->kernel);
    for (int i = 0; r.kernel && i < r.kernel->n_inst; i++) r.specialised |= has(&r, i, "HGMMA");
    for (int i = 0; i < MAX_ROLES; i++) r.last[i] = -1, r.first[i] = SASS_MAX_WARPS;
    const char *why = predictor_launch(
        c, l, &(struct predictor_options){.places = 1, .span = span, .woke = woke, .user = &r}, &p);
    if (!why) {
        print_roles(&r, out);
        const struct answer *most = &answer[1];
        for (int i = 2; i < N_LIMITS; i++)
            if (answer[i].cycles < most->cycles) most = &answer[i];
        print_sentence(&r, most, answer[0].cycles, out);
        prediction_close(&p);
    }
    free(r.share);
    return why;
}

const char *whatif_print(struct device *d, const char *dir, const char *name,
                         const struct device_launch *launches, int n, FILE *out) {
    struct predictor c;
    struct answer answer[N_LIMITS];
    struct whole whole;
    double by = 1;
    int n_answers = 0;
    if (!device_info(d)->is_emulator)
        return reason_as(STATUS_USAGE, "--whatif asks the predictor: add --device emu");
    const char *why = predictor_open(&c, d, dir, name);
    if (!why) why = ask_whole(&c, launches, n, &whole);
    if (!why) fprintf(out, "predicted at %.0f MHz; %s\n\n", whole.mhz, c.validated);
    for (int i = 0; i < N_LIMITS && !why && !interrupt_signal(); i++) {
        answer[i].limit = &limits[i];
        why = ask(&c, &limits[i], launches, n, &answer[i].cycles);
        n_answers += !why && !interrupt_signal();
    }
    if (interrupt_signal()) why = NULL; /* what is known is printed */
    if (!why && n_answers) {
        by = whole.cycles / answer[0].cycles;
        scale(answer, n_answers, &whole);
        print_limits(answer, n_answers, &whole, out);
    }
    if (!why && !interrupt_signal())
        without_lines(&c, d, dir, name, launches, n, by, answer[0].cycles, out);
    if (!why && !interrupt_signal()) why = roles_of(&c, launches, n, answer, out);
    predictor_close(&c);
    return why;
}
