/* Predicts what a stage program would take: build/predict-4 --seqlen 1024 --batch 4 --heads 16.
 * One JSON line on stdout for each launch. Linked with one stage. A chip has its parameters in
 * chips/NAME.txt; one without such a file is refused.
 *
 *   PREDICTOR_CHIP   parameter file, instead of that of --chip
 *   PREDICTOR_SET    name=value,... instead of the file's
 *   PREDICTOR_MHZ    SM clock, instead of the chip's boost clock
 *   PREDICTOR_FULL   set: every CTA of the launch is simulated, however long that takes
 *   PREDICTOR_LINES  set: stalls of each instruction, on stderr
 *   PREDICTOR_TIMELINE  a file for what the warps of the first CTA did:
 *                    warp, pc, reason, from, to */
#include "emulator/predictor/predict.h"

#include "common/harness/bench.h"
#include "common/device/device_ops.h"
#include "common/harness/options.h"
#include "common/base/chip.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *read_chip(const char *name, struct predictor_chip *c) {
    const char *asked = getenv("PREDICTOR_CHIP"), *set = getenv("PREDICTOR_SET");
    char file[64], path[PATH_MAX];
    snprintf(file, sizeof file, "chips/%.32s.txt", name ? name : "h200");
    if (!asked && !program_find(file, path, sizeof path))
        return reason_as(STATUS_UNSUPPORTED,
                         "there is no %s: no microbenchmarks of that chip; make calibrate measures "
                         "a GPU, --chip h200 is known",
                         file);
    const char *why = predictor_chip_read(asked ? asked : path, c);
    char *copy = strdup(set ? set : ""), *rest = copy;
    for (char *one; !why && (one = strtok_r(rest, ",", &rest));) why = predictor_chip_set(c, one);
    free(copy);
    return why;
}

static void print_span(void *user, int warp, uint32_t pc, int reason, uint64_t from, uint64_t to) {
    fprintf(user, "%d\t%#x\t%s\t%llu\t%llu\n", warp, pc, predictor_reason_name[reason],
            (unsigned long long)from, (unsigned long long)to);
}

/* Warp cycles by instruction, with their line. */
static void print_lines(const struct sass_kernel *k, const struct prediction *p) {
    for (int i = 0; i < k->n_inst; i++) {
        double sum = 0;
        for (int r = 0; r < PREDICTOR_REASONS; r++) sum += p->by_inst[i][r];
        if (!sum) continue;
        fprintf(stderr, "%05x %-52.52s line %4d %10.0f", 16 * i, k->text[i],
                k->origin ? k->origin[i].kernel_line : 0, sum);
        for (int r = 0; r < PREDICTOR_REASONS; r++)
            if (p->by_inst[i][r] > sum / 500)
                fprintf(stderr, " %s %.0f", predictor_reason_name[r], p->by_inst[i][r]);
        fprintf(stderr, "\n");
    }
}

static const char *one_launch(struct device *d, const struct predictor_chip *c, double mhz,
                              struct sass_module *module, const struct device_launch *l,
                              struct prediction *out) {
    const struct emu_grid launch = device_emu_grid(l);
    struct sass_grid *g = NULL;
    const struct sass_kernel *k = sass_find(module, l->kernel);
    if (!k) return reason("no kernel '%s'", l->kernel);
    const char *why = sass_grid_open(device_emu_memory(d), k, &launch, &g);
    const char *timeline = getenv("PREDICTOR_TIMELINE"), *lines = getenv("PREDICTOR_LINES");
    FILE *f = timeline ? fopen(timeline, "w") : NULL;
    struct predictor_options o = {
        .mhz = mhz, .is_full = getenv("PREDICTOR_FULL"), .span = f ? print_span : NULL, .user = f};
    if (!why) why = predict_launch(c, g, &o, out);
    if (f) fclose(f);
    if (!why && lines) print_lines(k, out);
    if (g) sass_grid_close(g);
    return why;
}

static void print(const struct options *o, const char *kernel, const struct prediction *p) {
    char text[128];
    attention_describe(&o->problem, text, sizeof text);
    printf("{\"stage\": \"%s\", \"problem\": \"%s\", \"kernel\": \"%s\", \"elapsed\": %.0f, "
           "\"active\": %.0f, \"issue_active_pct\": %.2f, \"tensor_active_pct\": %.2f, "
           "\"warps\": %.2f, \"instructions\": %.0f, \"wavefronts\": %.0f, \"sectors\": %.0f, "
           "\"l2_sectors\": %.0f, \"host_seconds\": %.2f",
           stage.name, text, kernel, p->elapsed, p->active, p->issue_active_pct,
           p->tensor_active_pct, p->warps, p->instructions, p->wavefronts, p->sectors,
           p->l2_sectors, p->host_seconds);
    for (int r = 0; r < PREDICTOR_REASONS; r++)
        printf(", \"%s\": %.3f", predictor_reason_name[r], p->stall[r]);
    printf("}\n");
}

int main(int argc, char **argv) {
    struct options o;
    struct device *d = NULL;
    struct inputs in = {0};
    struct bench b = {0};
    struct predictor_chip c;
    struct sass_module *module = NULL;
    char path[PATH_MAX], cache[PATH_MAX];
    const char *asked = getenv("PREDICTOR_MHZ");
    const char *why = options_read(argc, argv, NULL, &o);
    if (!why && o.help) {
        options_help(stdout, program_invocation_short_name, NULL);
        goto done;
    }
    if (!why) why = read_chip(o.chip, &c);
    double mhz = asked ? atof(asked) : why ? 0 : chip_find(o.chip ? o.chip : "h200")->clock_mhz;
    if (!why) why = device_open(DEVICE_EMU, o.chip, &d);
    if (!why) why = inputs_make(&o.problem, o.input, o.seed, &in);
    if (!why) why = bench_open(d, &o.problem, &in, o.image, 0, &b);
    if (why) goto done;
    snprintf(path, sizeof path, "%s/%s.%s.cubin", stage_image_folder(stage.name), b.plan.image,
             c.is_ada ? "sm_89" : "sm_90a");
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    why = sass_open(path, cache, &module);
    for (int i = 0; i < b.plan.n_launches && !why; i++) {
        struct prediction p;
        why = one_launch(d, &c, mhz, module, &b.plan.launch[i], &p);
        if (!why) print(&o, b.plan.launch[i].kernel, &p);
        if (!why) prediction_close(&p);
    }
done:
    if (!why) why = path_stdout();
    if (why) fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    sass_close(module);
    if (d && b.device) bench_close(&b);
    inputs_free(&in);
    device_close(d);
    return why ? reason_status(why, STATUS_DEVICE) : 0;
}
