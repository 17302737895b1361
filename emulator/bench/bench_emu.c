/* How fast the emulator runs a stage at the mission shape: counting alone on one host thread, then
 * with every check on all threads. Linked with one stage; `make bench-emu` runs it for each. */
#include "common/harness/bench.h"
#include "common/device/device_ops.h"
#include "common/device/emu_counters.h"
#include "common/harness/options.h"
#include "common/base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The machine's clock now, GHz, as Linux says; 0 if it does not. */
static double machine_ghz(void) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    double mhz = 0;
    while (f && !mhz && fgets(line, sizeof line, f)) sscanf(line, "cpu MHz : %lf", &mhz);
    if (f) fclose(f);
    return mhz / 1e3;
}

static double counted(struct device *d, struct device_image *image, const struct stage_plan *p,
                      const char *name) {
    struct counters c;
    double value = 0;
    if (d->ops->counters(d, image, p->launch, p->n_launches, &c)) return 0;
    for (int i = 0; i < c.n; i++)
        if (!strcmp(c.counter[i].name, name)) value = c.counter[i].value;
    counters_free(&c);
    return value;
}

/* Best of three, by CPU time of the whole process or by the wall clock. */
static const char *best_of_three(struct bench *b, clockid_t clock, double *best) {
    *best = 1e9;
    for (int n = 0; n < 3; n++) {
        double before = seconds(clock);
        const char *why = bench_launch(b);
        if (!why) why = device_sync(b->device);
        if (why) return why;
        double took = seconds(clock) - before;
        if (took < *best) *best = took;
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options o;
    struct device *d = NULL;
    struct inputs in = {0};
    struct bench b = {0};
    double alone = 0, all = 0;
    const char *why = options_read(argc, argv, NULL, &o);
    if (!why) why = device_open(DEVICE_EMU, o.chip, &d);
    if (!why) why = inputs_make(&o.problem, o.input, o.seed, &in);
    if (!why) why = bench_open(d, &o.problem, &in, o.image, 0, &b);
    if (why) goto done;
    double instructions = counted(d, b.image, &b.plan, "instructions");
    double threads = counted(d, b.image, &b.plan, "threads");
    device_emulator_options(&(struct emu_options){.n_threads = 1, .no_checks = true});
    if ((why = best_of_three(&b, CLOCK_PROCESS_CPUTIME_ID, &alone))) goto done;
    device_emulator_options(&(struct emu_options){0});
    if ((why = best_of_three(&b, CLOCK_MONOTONIC, &all))) goto done;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-18s %6.2f M warp inst  counting, 1 core: %6.3f s %5.2f G thread inst/s (%.2f GHz)  "
           "all checks: %6.3f s  %ld MiB\n",
           stage.name, instructions / 1e6, alone, threads / alone / 1e9, machine_ghz(), all,
           usage.ru_maxrss / 1024);
done:
    if (why) fprintf(stderr, "bench-emu %s: %s\n", stage.name, why);
    if (d && !why) bench_close(&b);
    inputs_free(&in);
    device_close(d);
    return why ? reason_status(why, STATUS_DEVICE) : 0;
}
