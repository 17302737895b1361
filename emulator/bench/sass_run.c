/* Runs a stage's SASS: what ptxas made of it, beside its PTX. Linked with one stage.
 *
 *   build/sass-stage-4 --seqlen 1024 --head-dim 128      O and LSE against the PTX run, bit by bit
 *   build/sass-stage-4 --schedule random --seed 3        the same in single steps, events late
 *   build/sass-stage-4 --no-check                        SASS alone: its speed
 *
 *   SASS_UNFUSE=1 build/sass-stage-4                     mul and sub that ptxas fused as two again
 *
 * Prints one line for each count, in the words of profiler/groups. Exit status 1: the bits differ. */
#include "common/harness/bench.h"
#include "common/device/device_ops.h"
#include "common/harness/options.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "emulator/sass/sass.h"
#include "emulator/sass/ops.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Late ------------------------------------------------------------------------------------
 * Warps take single steps in a random order, and what they tell each other arrives at random times:
 * as the predictor would, which O and LSE must not depend on. */

enum { TOGETHER = 4, IN_FLIGHT = 4096 };

struct late {
    uint64_t random;
    struct sass_event event[IN_FLIGHT]; /* in the order of their issue */
    int n;
    struct sass_effect effect;
};

static uint32_t dice(struct late *s, uint32_t n) { /* xorshift */
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 11) % n;
}

/* One of the events; of a warp's arrivals at barriers the first. */
static void deliver_one(struct late *s) {
    int which = (int)dice(s, (uint32_t)s->n);
    for (int i = 0; i < which; i++)
        if (s->event[i].by && s->event[i].by == s->event[which].by) which = i;
    sass_deliver(&s->event[which]);
    s->n--;
    memmove(s->event + which, s->event + which + 1, (size_t)(s->n - which) * sizeof *s->event);
}

/* Steps of one warp. *idle: it waits. */
static const char *stagger(struct late *s, struct sass_warp *w, bool *idle) {
    for (uint32_t left = 1 + dice(s, 50); left; left--) {
        bool waits = sass_waits(w) != SASS_WAIT_NONE;
        enum sass_status status = sass_step(w, &s->effect);
        if (status == SASS_FAULT) return reason("%s", sass_fault(w));
        if (waits && status == SASS_ISSUED) return "sass_waits() and sass_step() do not agree";
        if (status != SASS_ISSUED) return NULL;
        *idle = false;
        for (int i = 0; s->effect.deferred && i < s->effect.n_events; i++) {
            if (s->n == IN_FLIGHT) deliver_one(s);
            s->event[s->n++] = s->effect.event[i];
        }
        if (s->n && !dice(s, 40)) deliver_one(s);
    }
    return NULL;
}

static const char *run_late(struct sass_grid *g, uint64_t seed) {
    struct sass_cta *cta[TOGETHER * 16];
    struct late *s = calloc(1, sizeof *s);
    uint64_t n = g->n_ctas / g->cluster_size;
    const char *why = s ? NULL : "no memory for events";
    if (s) s->random = seed * 2 + 1;
    g->deferred = SASS_DEFER_ALL;
    for (uint64_t first = 0; first < n && !why; first += TOGETHER) {
        uint32_t many = n - first < TOGETHER ? (uint32_t)(n - first) : TOGETHER, left = 1, idle = 0;
        uint32_t n_ctas = many * g->cluster_size;
        for (uint32_t c = 0; c < many && !why; c++)
            why = sass_cluster_begin(g, first + c, cta + c * g->cluster_size);
        while (left && !why) {
            struct sass_cta *c = cta[dice(s, n_ctas)];
            bool waits = true;
            why = stagger(s, sass_cta_warp(c, (int)dice(s, (uint32_t)sass_cta_warps(c))), &waits);
            idle = waits ? idle + 1 : 0;
            if (waits && s->n && !dice(s, 4)) deliver_one(s);
            if (idle > 100000) why = "no warp goes on";
            left = 0;
            for (uint32_t i = 0; i < n_ctas; i++) left += !sass_cta_done(cta[i]);
        }
        while (!why && s->n) deliver_one(s);
        for (uint32_t i = 0; i < n_ctas && !why; i++) sass_cta_end(cta[i]);
    }
    free(s);
    return why;
}

static const char *launch(struct device *d, const struct sass_module *m,
                          const struct device_launch *l, const struct options *o,
                          struct sass_counts *counts) {
    const struct emu_grid e = device_emu_grid(l);
    const struct sass_kernel *k = sass_find(m, l->kernel);
    struct sass_grid *g;
    if (!k) return reason_as(STATUS_DEVICE, "no kernel %s in the cubin", l->kernel);
    const char *why = sass_grid_open(device_emu_memory(d), k, &e, &g);
    if (why) return why;
    why = o->emulator.schedule == EMU_ROUND_ROBIN ? sass_run(g, counts) : run_late(g, o->seed);
    sass_grid_close(g);
    return why;
}

static const char *run(struct bench *b, const struct sass_module *m, const struct options *options,
                       half *o, float *lse, struct sass_counts *counts) {
    const char *why = device_fill(b->device, b->o, CHECK_POISON_WORD, (b->o_bytes + 3) / 4 * 4);
    if (!why) why = device_fill(b->device, b->lse, CHECK_POISON_WORD, b->lse_bytes);
    for (int i = 0; i < b->plan.n_launches && !why; i++)
        why = launch(b->device, m, &b->plan.launch[i], options, counts);
    if (!why) why = device_copy_out(b->device, o, b->o, b->o_bytes);
    if (!why) why = device_copy_out(b->device, lse, b->lse, b->lse_bytes);
    return why;
}

static size_t differences(const void *a, const void *b, size_t bytes, size_t element) {
    size_t n = 0;
    for (size_t i = 0; i < bytes / element; i++)
        n += memcmp((const char *)a + i * element, (const char *)b + i * element, element) != 0;
    return n;
}

static void print_counts(const struct sass_counts *c) {
    struct sass_counted row;
    for (int i = 0; sass_counted(c, i, &row); i++) printf("%-28s %.0f\n", row.name, row.value);
    for (int i = 0; i < SASS_N_OPS; i++)
        if (c->op[i]) printf("op.%-25s %llu\n", sass_op_name(i), (unsigned long long)c->op[i]);
}

int main(int argc, char **argv) {
    struct options o;
    struct device *d = NULL;
    struct inputs in = {0};
    struct bench b = {0};
    struct sass_module *m = NULL;
    struct sass_counts counts = {0};
    half *out[2] = {0};
    float *lse[2] = {0};
    size_t wrong = 0;
    char path[PATH_MAX], cache[PATH_MAX];
    const char *why = options_read(argc, argv, NULL, &o);
    if (!why) why = device_open(DEVICE_EMU, o.chip, &d);
    if (!why) why = inputs_make(&o.problem, o.input, o.seed, &in);
    if (!why) why = bench_open(d, &o.problem, &in, o.image, 0, &b);
    if (why) goto done;
    for (int r = 0; r < 2; r++) {
        out[r] = malloc(b.o_bytes);
        lse[r] = malloc(b.lse_bytes);
        if (!out[r] || !lse[r]) why = "no memory for two results";
    }
    snprintf(path, sizeof path, "%s/%s.%s.cubin", stage_image_folder(stage.name), b.plan.image,
             d->info.chip.cc >= 90 ? "sm_90a" : "sm_89");
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    if (!why) why = sass_open(path, cache, &m);
    if (!why && getenv("SASS_UNFUSE")) printf("%-28s %d\n", "unfused", sass_unfuse(m));
    double before = seconds();
    if (!why) why = run(&b, m, &o, out[0], lse[0], o.quiet && !o.check ? NULL : &counts);
    double took = seconds() - before;
    if (!why && o.check) {
        device_emulator_options(&(struct emu_options){.no_checks = true});
        why = bench_run(&b, out[1], lse[1]);
        if (why) goto done;
        size_t o_wrong = differences(out[0], out[1], b.o_bytes, sizeof **out);
        size_t lse_wrong = differences(lse[0], lse[1], b.lse_bytes, sizeof **lse);
        wrong = o_wrong + lse_wrong;
        printf("%-28s %s, O %zu of %zu, LSE %zu of %zu\n", "differ from PTX", b.plan.image, o_wrong,
               b.o_bytes / sizeof **out, lse_wrong, b.lse_bytes / sizeof **lse);
    }
    if (!why) {
        if (!o.quiet) print_counts(&counts);
        printf("%-28s %.3f (%.1f M warp inst/s)\n", "seconds", took,
               (double)counts.instructions / took / 1e6);
    }
done:
    if (why) fprintf(stderr, "sass %s: %s\n", stage.name, why);
    sass_close(m);
    for (int r = 0; r < 2; r++) free(out[r]), free(lse[r]);
    if (d && b.device) bench_close(&b);
    inputs_free(&in);
    device_close(d);
    return why ? reason_status(why, STATUS_DEVICE) : wrong ? STATUS_WRONG : 0;
}
