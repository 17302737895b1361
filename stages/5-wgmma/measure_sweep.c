/* --sweep: everything that might change a wgmma's cycles, measured. */
#include "experiment.h"
#include "common/base/interrupt.h"
#include "common/base/reason.h"
#include "common/harness/record.h"
#include "common/harness/stage.h"

#include <errno.h>

struct point {
    const char *sweep; /* which question */
    struct experiment e;
    struct measurement m;
    bool chip; /* TFLOPS of all SMs too */
};

static int add_points(struct point *p, int n_sms) {
    static const int depths[][2] = {{1, 0}, {1, 1}, {1, 3}, {2, 0}, {2, 1},
                                    {4, 0}, {4, 1}, {8, 0}, {8, 1}};
    static const int widths[] = {64, 128, 256}, swizzles[] = {0, 32, 64, 128};
    const struct experiment base = {
        .n = 64, .k_steps = 1, .swizzle = 128, .input = "normal", .seed = 1};
    const struct measurement steady = {4, 1, 1, 1}, isolated = {1, 0, 1, 1};
    int n = 0;
#define ADD(...)                                                                                   \
    p[n++] = (struct point) { __VA_ARGS__ }
    for (int regs = 0; regs < 2; regs++)
        for (int i = 0; i < 9; i++) {
            ADD("depth", base, {depths[i][0], depths[i][1], 1, 1}, false);
            p[n - 1].e.a_in_registers = regs;
        }
    for (int regs = 0; regs < 2; regs++)
        for (int width = 8; width <= 256; width += 8) {
            ADD("n", base, steady, width % 64 == 0);
            p[n - 1].e.n = width, p[n - 1].e.a_in_registers = regs;
        }
    for (int i = 0; i < 3; i++) {
        ADD("isolated", base, isolated, false);
        p[n - 1].e.n = widths[i];
        for (int s = 0; s < 4; s++) {
            ADD("swizzle", base, steady, false);
            p[n - 1].e.n = widths[i], p[n - 1].e.swizzle = swizzles[s];
        }
        for (int warpgroups = 1; warpgroups <= 2; warpgroups++) {
            ADD("warpgroups", base, steady, false);
            p[n - 1].e.n = widths[i], p[n - 1].m.warpgroups = warpgroups;
        }
        for (int zeros = 0; zeros < 2; zeros++) {
            ADD("data", base, {4, 1, 1, n_sms}, true);
            p[n - 1].e.n = widths[i], p[n - 1].e.input = zeros ? "zeros" : "normal";
        }
    }
#undef ADD
    return n;
}

static json_t *point_record(struct device *d, const struct point *p, const struct cycles *c,
                            const double *tflops, int argc, char **argv) {
    double flop = 2.0 * WGMMA_M * p->e.n * WGMMA_K * p->m.warpgroups;
    int clock = device_clock_mhz(d);
    json_t *r = record_new(argc, argv);
    json_object_set_new(r, "stage", json_string(stage.name));
    json_object_set_new(r, "sweep", json_string(p->sweep));
    json_object_set_new(r, "problem", experiment_json(&p->e));
    json_object_set_new(r, "device", record_device(device_info(d), clock, clock));
    json_object_set_new(r, "pipeline",
                        json_pack("{si,si,si,si}", "group", p->m.group, "depth", p->m.depth,
                                  "warpgroups", p->m.warpgroups, "ctas", p->m.n_ctas));
    json_object_set_new(
        r, "cycles",
        json_pack("{si,sf,sf,sf,sf,sf}", "n", c->n, "median", c->median, "iqr", c->iqr, "min",
                  c->min, "model", model_cycles(&p->e), "peak_pct",
                  100 * flop / c->median / device_info(d)->chip.tensor_flop_per_clk));
    if (tflops) json_object_set_new(r, "tflops", json_real(*tflops));
    return r;
}

const char *measure_sweep(struct device *d, const char *json_path, int argc, char **argv) {
    struct point points[160];
    int n_sms = device_info(d)->chip.n_sms;
    int n = add_points(points, n_sms);
    if (device_info(d)->is_emulator)
        return reason_as(STATUS_NOTHING,
                         "a sweep measures time, and the emulator has none; draw the "
                         "recorded one: make stage-5 sweep RECORDED=h200");
    printf("%-10s %-46s %5s %5s %3s %4s %8s %6s %6s %7s\n", "sweep", "instruction", "group",
           "depth", "wgs", "ctas", "cycles", "iqr", "model", "TFLOPS");
    const char *why = NULL;
    for (int i = 0; i < n && !why && !interrupt_signal(); i++) {
        const struct point *p = &points[i];
        struct measurement all_sms = p->m;
        struct cycles c;
        double tflops = 0;
        char text[96];
        all_sms.n_ctas = n_sms;
        fprintf(stderr, "\r%s: %d of %d", program_invocation_short_name, i + 1, n);
        why = measure_cycles(d, &p->e, &p->m, &c);
        if (!why && p->chip) why = measure_chip(d, &p->e, &all_sms, &tflops);
        if (why) break;
        json_t *record = point_record(d, p, &c, p->chip ? &tflops : NULL, argc, argv);
        if (json_path) why = record_append(json_path, record);
        json_decref(record);
        printf("%-10s %-46s %5d %5d %3d %4d %8.2f %6.2f %6.1f ", p->sweep,
               experiment_text(&p->e, text), p->m.group, p->m.depth, p->m.warpgroups, p->m.n_ctas,
               c.median, c.iqr, model_cycles(&p->e));
        if (p->chip)
            printf("%7.1f\n", tflops);
        else
            printf("%7s\n", "-");
        fflush(stdout);
    }
    fputc('\n', stderr);
    return why;
}
