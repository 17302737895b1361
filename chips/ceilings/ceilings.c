/* What this board reaches, unit by unit, with the clock and the power at which it does:
 *
 *   ceilings IMAGES [TABLE]       `make ceilings`; the table is written to that file too
 *
 * Loaded: half a second of the same kernel first, so that the board is as warm as it gets and has
 * lowered its clock to its power limit; then the median of samples of 10 ms or more, back to back.
 * Burst: 50 ms of rest, then one sample of about 1 ms; the median of 9. Per clock
 * and SM stands beside the loaded rate: what the unit does, whatever the clock. */
#include "common/base/reason.h"
#include "common/device/device.h"
#include "common/harness/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What does `each` of a ceiling, once a round. */
enum scale { THREAD, WARP, WARPGROUP, BYTES, LAUNCH };

static const struct ceiling {
    const char *name, *kernel, *kind; /* kind: flop, byte, op, us */
    enum scale scale;
    double each; /* FLOP, bytes or operations a round */
    int threads, ctas_per_sm;
    unsigned shared_bytes;
    int steps; /* of all threads through the data: 64 bytes of each */
} ceilings[] = {
    {"FP32 FMA", "run_fma", "flop", THREAD, 64 * 2, 512, 4, 0, 0},
    {"ex2", "run_exp2", "op", THREAD, 64, 512, 4, 0, 0},
    {"mma.sync", "run_mma_sync", "flop", WARP, 16 * 4096, 256, 2, 0, 0},
    {"WGMMA", "run_wgmma", "flop", WARPGROUP, 32 * 2.0 * 64 * 256 * 16, 256, 1, 49152, 0},
    {"shared memory", "run_shared", "byte", THREAD, 16 * 16, 512, 3, 0, 0},
    {"L2, read", "run_read", "byte", BYTES, 1, 512, 4, 0, 1},
    {"DRAM, read", "run_read", "byte", BYTES, 1, 512, 4, 0, 200},
    {"DRAM, copy", "run_copy", "byte", BYTES, 2, 512, 4, 0, 100},
    {"launch", "run_empty", "us", LAUNCH, 1, 128, 1, 0, 0},
};
enum {
    N = sizeof ceilings / sizeof *ceilings,
    DATA_MB = 4096,
    MOST_ROUNDS = 100000000,
    BURSTS = 9,
    REST_MS = 50
};

struct measured {
    double us, mhz, watts, burst_us, burst_mhz; /* of one launch */
    double done;                                /* FLOP, bytes or operations of a launch */
};

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double operations(const struct ceiling *c, const struct device_launch *l, int rounds) {
    const double threads = (double)l->grid[0] * c->threads * rounds * c->each;
    switch (c->scale) {
    case THREAD:
        return threads;
    case WARP:
        return threads / 32;
    case WARPGROUP:
        return threads / 128;
    case BYTES:
        return threads * 64 * c->steps;
    default:
        return 1;
    }
}

static struct device_launch launch_of(const struct device *d, const struct ceiling *c,
                                      device_ptr data, int rounds) {
    struct device_launch l = {
        .grid = {(unsigned)(device_info(d)->chip.n_sms * c->ctas_per_sm), 1, 1},
        .block = {(unsigned)c->threads, 1, 1},
        .shared_bytes = c->shared_bytes};
    snprintf(l.kernel, sizeof l.kernel, "%s", c->kernel);
    device_launch_arg(&l, &data, sizeof data);
    device_launch_arg(&l, &data, sizeof data);
    device_launch_arg(&l, &c->steps, sizeof c->steps);
    device_launch_arg(&l, &rounds, sizeof rounds);
    return l;
}

/* How many rounds take about this long: measured with a few. */
static const char *choose_rounds(struct device *d, struct device_image *image,
                                 const struct ceiling *c, device_ptr data, double us, int *rounds) {
    const double overhead_us = 5;
    double took = 0;
    *rounds = 1;
    if (c->scale == LAUNCH) return NULL;
    for (int i = 0; i < 4; i++) {
        struct device_graph *g = NULL;
        struct device_launch l = launch_of(d, c, data, *rounds);
        const char *why = device_graph_open(d, image, &l, 1, 1, false, &g);
        for (int k = 0; !why && k < 2; k++) why = device_graph_time(g, false, &took);
        if (g) device_graph_close(g);
        if (why) return why;
        if (took > us / 2) break;
        double more = us / (took > overhead_us ? took : overhead_us);
        if (*rounds > MOST_ROUNDS / 100) break;
        *rounds = (int)(*rounds * (more > 100 ? 100 : more)) + 1;
    }
    return NULL;
}

/* The medians of a graph's replays: us, and as MHz what their cycles say. */
static const char *replay(struct device_graph *g, int rest_ms, double at_least_s, int at_least,
                          double *us, double *mhz) {
    enum { MOST = 10000 };
    static double sample[MOST], cycles[MOST];
    struct timing t = {0}, in_cycles = {0};
    const double start = seconds_now();
    int n = 0;
    while (n < MOST && (n < at_least || seconds_now() - start < at_least_s)) {
        struct timespec rest = {0, rest_ms * 1000000L};
        if (rest_ms) nanosleep(&rest, NULL);
        const char *why = device_graph_time(g, false, &sample[n]);
        if (why) return why;
        if ((why = device_graph_clock_mhz(g, &cycles[n]))) return why;
        cycles[n] *= sample[n];
        n++;
    }
    timing_statistics(sample, n, &t);
    timing_statistics(cycles, n, &in_cycles);
    *us = t.median_us;
    *mhz = in_cycles.median_us / t.median_us;
    return NULL;
}

static const char *measure(struct device *d, struct device_image *image, const struct ceiling *c,
                           device_ptr data, struct measured *out) {
    enum { LAUNCHES = 1000 };
    const double loaded_us = 10000, burst_us = 1000, warm_s = 0.5, loaded_s = 0.5;
    struct device_graph *g = NULL;
    const int n = c->scale == LAUNCH ? LAUNCHES : 1;
    int rounds;
    const char *why = choose_rounds(d, image, c, data, burst_us, &rounds);
    struct device_launch l = launch_of(d, c, data, rounds);
    if (!why) why = device_graph_open(d, image, &l, 1, n, false, &g);
    if (!why) why = replay(g, REST_MS, 0, BURSTS, &out->burst_us, &out->burst_mhz);
    if (g) device_graph_close(g);
    g = NULL;
    if (why) return why;
    out->burst_us /= n;
    const double burst_done = operations(c, &l, rounds);
    if (!why) why = choose_rounds(d, image, c, data, loaded_us, &rounds);
    l = launch_of(d, c, data, rounds);
    out->done = operations(c, &l, rounds);
    out->burst_us *= out->done / burst_done; /* as long as a loaded launch */
    if (!why) why = device_graph_open(d, image, &l, 1, n, false, &g);
    if (!why) why = replay(g, 0, warm_s, 2, &out->us, &out->mhz);
    if (!why) why = replay(g, 0, loaded_s, 5, &out->us, &out->mhz);
    out->us /= n;
    out->watts = device_power_watts(d);
    if (g) device_graph_close(g);
    return why;
}

/* TFLOPS, TB/s and Tera-operations a second; us as they are. */
static double rate(const struct ceiling *c, const struct measured *m, double us) {
    return c->scale == LAUNCH ? us : m->done / us * 1e-6;
}

static void print(FILE *f, const struct device *d, const struct ceiling *c,
                  const struct measured *m) {
    static const char *const unit[][2] = {
        {"flop", "TFLOPS"}, {"byte", "TB/s"}, {"op", "T/s"}, {"us", "us"}};
    const char *u = "";
    for (int i = 0; i < 4; i++)
        if (!strcmp(unit[i][0], c->kind)) u = unit[i][1];
    fprintf(f, "\"%s\" %s %.4g %s %.0f %.0f ", c->name, c->kind, rate(c, m, m->us), u, m->mhz,
            m->watts);
    if (c->scale == LAUNCH || m->mhz <= 0)
        fputs("-", f);
    else
        fprintf(f, "%.5g", m->done / (m->us * m->mhz) / device_info(d)->chip.n_sms);
    fprintf(f, " %.4g %.0f\n", rate(c, m, m->burst_us), m->burst_mhz);
}

static const char *run(struct device *d, const char *images, FILE **out, int n_out) {
    struct device_image *image = NULL;
    device_ptr data = 0;
    const char *why = device_load(d, images, "ceilings", &image);
    if (!why) why = device_alloc(d, (size_t)DATA_MB << 20, &data);
    if (!why) why = device_fill(d, data, 0x3c5a3a5c, (size_t)DATA_MB << 20);
    for (int i = 0; !why && i < n_out; i++)
        fprintf(out[i], "# %s, driver %s: name kind loaded unit MHz W per_clock_and_SM burst MHz\n",
                device_info(d)->name, device_info(d)->driver);
    for (int i = 0; !why && i < N; i++) {
        struct measured m = {0};
        struct device_kernel_info info;
        if (device_kernel_info(d, image, ceilings[i].kernel, &info))
            continue; /* not on this chip */
        why = measure(d, image, &ceilings[i], data, &m);
        for (int k = 0; !why && k < n_out; k++) print(out[k], d, &ceilings[i], &m);
    }
    if (data) device_free(d, data);
    if (image) device_unload(d, image);
    return why;
}

int main(int argc, char **argv) {
    struct device *d = NULL;
    FILE *out[2] = {stdout, NULL};
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "ceilings: usage: ceilings IMAGES [TABLE]\n");
        return STATUS_USAGE;
    }
    const char *why = device_open(DEVICE_CUDA, NULL, &d);
    if (!why && argc == 3 && !(out[1] = fopen(argv[2], "w")))
        why = reason_as(STATUS_FILE, "cannot write %s", argv[2]);
    if (!why) why = run(d, argv[1], out, argc - 1);
    if (out[1] && fclose(out[1]) && !why) why = reason_as(STATUS_FILE, "%s is incomplete", argv[2]);
    if (fflush(stdout) && !why) why = reason_as(STATUS_FILE, "standard output is incomplete");
    if (d) device_close(d);
    if (why) fprintf(stderr, "ceilings: %s\n", why);
    return why ? (int)reason_status(why, STATUS_DEVICE) : STATUS_RIGHT;
}
