/* Cycles, TFLOPS and counters of one instruction. */
#include "experiment.h"
#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/harness/stage.h"
#include "common/harness/timing.h"
#include "profiler/nvtx.h"

#include <stdlib.h>
#include <string.h>

enum { N_WGMMA = 4096, N_LAUNCHES = 15, ONE_CTA_AN_SM = 120 * 1024 };

double model_cycles(const struct experiment *e) {
    double tensor = e->n / 2.0, shared = e->n / 4.0 + (e->a_in_registers ? 0 : 16);
    return tensor > shared ? tensor : shared;
}

static void make_launch(const struct experiment *e, const struct measurement *m,
                        const struct placed *p, int rounds, struct device_launch *out) {
    *out = (struct device_launch){.grid = {m->n_ctas, 1, 1},
                                  .block = {128 * m->warpgroups, 1, 1},
                                  .shared_bytes = ONE_CTA_AN_SM};
    snprintf(out->kernel, sizeof out->kernel, "measure_%s_%d_%d",
             e->a_in_registers ? "regs" : "smem", m->group, m->depth);
    struct wgmma_args args = p->args;
    args.rounds = rounds;
    device_launch_arg(out, &args, sizeof args);
}

/* What a measurement needs on the device. */
struct rig {
    struct matrices matrices;
    struct placed placed;
    struct device_image *image;
};

static const char *rig_open(struct device *d, const struct experiment *e, int n_cycles,
                            struct rig *out) {
    *out = (struct rig){0};
    char image[48];
    if (e->a_m_major || e->b_n_major) return "only K-major operands are measured";
    const char *why = matrices_make(e, &out->matrices);
    if (!why) why = placed_make(d, e, &out->matrices, n_cycles, &out->placed);
    if (!why)
        why =
            device_load(d, stage_image_folder(stage.name), experiment_image(e, image), &out->image);
    return why;
}

static void rig_close(struct device *d, struct rig *b) {
    device_unload(d, b->image);
    placed_free(d, &b->placed);
    matrices_free(&b->matrices);
}

const char *measure_cycles(struct device *d, const struct experiment *e,
                           const struct measurement *m, struct cycles *out) {
    if (device_info(d)->is_emulator)
        return "clock64 counts no cycles on the emulator: a GPU measures this";
    int n = m->n_ctas * m->warpgroups;
    int64_t *cycles = heap_zeroed(n, sizeof *cycles);
    double *samples = heap_zeroed((size_t)n * N_LAUNCHES, sizeof *samples);
    struct rig b = {0};
    const char *why = rig_open(d, e, n, &b);
    struct device_launch launch;
    int rounds = N_WGMMA / m->group;
    if (!why) make_launch(e, m, &b.placed, rounds, &launch);
    for (int i = -1; i < N_LAUNCHES && !why; i++) { /* the first one warms up */
        if (!(why = device_launch(d, b.image, &launch)) && !(why = device_sync(d)))
            why = device_copy_out(d, cycles, b.placed.cycles, n * sizeof *cycles);
        for (int j = 0; j < n && i >= 0; j++)
            samples[i * n + j] = (double)cycles[j] / (rounds * m->group);
    }
    if (!why) {
        struct timing t;
        timing_statistics(samples, n * N_LAUNCHES, &t);
        *out = (struct cycles){n * N_LAUNCHES, t.median_us, t.iqr_us, t.min_us};
    }
    rig_close(d, &b);
    free(samples);
    free(cycles);
    return why;
}

const char *measure_chip(struct device *d, const struct experiment *e, const struct measurement *m,
                         double *tflops) {
    struct rig b = {0};
    struct device_launch launch;
    struct timing t;
    const char *why = rig_open(d, e, m->n_ctas * m->warpgroups, &b);
    int rounds = 16 * N_WGMMA / m->group;
    if (!why) {
        make_launch(e, m, &b.placed, rounds, &launch);
        why = timing_measure(d, b.image, &launch, 1, false, PREDICTOR_LOADED, 0.1, 20, &t);
    }
    if (!why) {
        double flops =
            2.0 * WGMMA_M * e->n * WGMMA_K * rounds * m->group * m->warpgroups * m->n_ctas;
        *tflops = flops / t.median_us * 1e-6;
    }
    rig_close(d, &b);
    return why;
}

/* What ncu looks at: the launch that would be counted, twice, the second with warm caches. */
static const char *launch_for_others(struct device *d, struct device_image *image,
                                     const struct device_launch *launch) {
    const char *why = NULL;
    nvtx_begin(NVTX_VERIFY);
    for (int i = 0; i < 2 && !why; i++)
        if (!(why = device_launch(d, image, launch))) why = device_sync(d);
    nvtx_end();
    return why;
}

const char *measure_counters(struct device *d, const struct experiment *e, const char *groups,
                             struct counters *out) {
    const struct measurement all = {4, 1, 1, device_info(d)->chip.n_sms}, one = {4, 1, 1, 1};
    struct rig b = {0};
    struct device_launch whole, part;
    const char *why = rig_open(d, e, all.n_ctas, &b);
    if (!why) {
        make_launch(e, &all, &b.placed, N_WGMMA / all.group, &whole);
        /* The emulator counts exactly: one SM says it all, and so many wgmma that the set-up,
         * before them, is below 1 %. */
        make_launch(e, &one, &b.placed, N_WGMMA / 4 / one.group, &part);
        part.on_gpu = &whole;
        const struct device_launch *launch = device_info(d)->is_emulator ? &part : &whole;
        if (!strcmp(groups, "none"))
            why = launch_for_others(d, b.image, launch);
        else
            why = counters_collect(d, b.image, launch, 1, groups, out);
    }
    rig_close(d, &b);
    return why;
}
