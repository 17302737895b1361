/* Timing against a device whose clock the test turns: statistics, sample length, cold and warm. */
#include "tests/test.h"

#include "common/base/interrupt.h"
#include "common/device/device_ops.h"
#include "common/harness/timing.h"
#include "tests/fake/faulty.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    double us_per_run;   /* what one run of the plan takes */
    double us_per_graph; /* where above 0: however many runs it has */
    int opened, open_fails_at, interrupt_at, clocks;
    int graphs_open, cold_graphs, replays, flushes, fail_at;
} fake;
static int replay_ms; /* how long a replay takes on the clock of the wall, at least */

struct fake_graph {
    struct device_graph graph;
    int runs, replays;
};

static const char *fake_open(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, int repeats, bool cold,
                             struct device_graph **out) {
    (void)image, (void)launches, (void)n;
    if (++fake.opened == fake.open_fails_at) return "no graph";
    fake.cold_graphs += cold;
    struct fake_graph *g = calloc(1, sizeof *g);
    *g = (struct fake_graph){{d}, repeats, 0};
    fake.graphs_open++;
    *out = &g->graph;
    return NULL;
}

static int clock_fails_at;
static bool slow_at_first; /* the first two replays of a graph, a hundred times */

static const char *fake_time(struct device_graph *graph, bool flush_l2, double *us_total) {
    fake.flushes += flush_l2;
    if (replay_ms) nanosleep(&(struct timespec){0, replay_ms * 1000000L}, NULL);
    if (++fake.replays == fake.fail_at) return "the device fell over";
    struct fake_graph *g = (struct fake_graph *)graph;
    if (fake.replays == fake.interrupt_at) interrupt_note(SIGINT);
    *us_total = (fake.us_per_graph > 0 ? fake.us_per_graph : fake.us_per_run * g->runs) *
                (slow_at_first && g->replays++ < 2 ? 100 : 1);
    return NULL;
}

static void fake_close(struct device_graph *g) {
    fake.graphs_open--;
    free(g);
}

static int fake_clock(struct device *d) {
    (void)d;
    return 1980;
}

/* Rises by 300 from sample to sample. */
static const char *fake_graph_clock(struct device_graph *g, double *mhz) {
    (void)g;
    *mhz = 1000 + 300 * fake.clocks++;
    return fake.clocks == clock_fails_at ? "the clock stood still" : NULL;
}

static const struct device_ops ops = {.graph_sm_clock_mhz = fake_graph_clock,
                                      .graph_open = fake_open,
                                      .graph_time = fake_time,
                                      .graph_close = fake_close,
                                      .clock_mhz = fake_clock};
static struct device device = {.ops = &ops};
static const struct device_launch launch;
static struct timing t;

static const char *measure_rested(double us_per_run, bool cold, int rest_ms, double min_time_s,
                                  int max_samples) {
    const int fail_at = fake.fail_at, open_fails_at = fake.open_fails_at,
              interrupt_at = fake.interrupt_at;
    const double us_per_graph = fake.us_per_graph;
    memset(&fake, 0, sizeof fake);
    fake.fail_at = fail_at;
    fake.open_fails_at = open_fails_at;
    fake.interrupt_at = interrupt_at;
    fake.us_per_graph = us_per_graph;
    fake.us_per_run = us_per_run;
    const char *why =
        timing_measure(&device, NULL, &launch, 1, cold, rest_ms, min_time_s, max_samples, &t);
    assert_int_equal(fake.graphs_open, 0);
    return why;
}

static const char *measure(double us_per_run, bool cold, double min_time_s, int max_samples) {
    return measure_rested(us_per_run, cold, PREDICTOR_LOADED, min_time_s, max_samples);
}

static void statistics_are_known(void **state) {
    (void)state;
    double five[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 2, 3}, one[] = {7};
    timing_statistics(five, 5, &t);
    assert_int_equal(t.n, 5);
    assert_float_equal(t.median_us, 3, 0);
    assert_float_equal(t.iqr_us, 2, 1e-12);
    assert_float_equal(t.min_us, 1, 0);
    timing_statistics(even, 4, &t);
    assert_float_equal(t.median_us, 2.5, 1e-12);
    assert_float_equal(t.iqr_us, 1.5, 1e-12);
    timing_statistics(one, 1, &t);
    assert_float_equal(t.median_us, 7, 0);
    assert_float_equal(t.iqr_us, 0, 0);
}

static void an_outlier_does_not_move_the_median(void **state) {
    (void)state;
    double x[] = {10, 10, 10, 10, 1000};
    timing_statistics(x, 5, &t);
    assert_float_equal(t.median_us, 10, 0);
}

static void short_kernels_share_a_sample(void **state) {
    (void)state;
    assert_fine(measure(5, false, 0.01, 1000));
    assert_int_equal(t.launches_per_sample, TIMING_SAMPLE_US / 5);
    assert_float_equal(t.median_us, 5, 1e-9);
    assert_true(t.n * t.launches_per_sample * 5 >= 10000);
    assert_int_equal(t.clock_mhz_before, 1980);
    assert_int_equal(fake.flushes, 0);
}

static void long_kernels_have_a_sample_each(void **state) {
    (void)state;
    assert_fine(measure(1e5, false, 0.01, 1000));
    assert_int_equal(t.launches_per_sample, 1);
    assert_int_equal(t.n, 5); /* never fewer, however long */
}

static void a_kernel_of_no_time_ends_too(void **state) {
    (void)state;
    assert_fine(measure(0, false, 10, 20));
    assert_int_equal(t.launches_per_sample, TIMING_MAX_REPEATS);
    assert_int_equal(t.n, 20);
}

static void cold_samples_are_flushed_single_runs(void **state) {
    (void)state;
    assert_fine(measure(5, true, 0, 50));
    assert_true(t.cold);
    assert_int_equal(t.launches_per_sample, 1);
    assert_int_equal(fake.flushes, t.n);
    assert_int_equal(fake.cold_graphs, 1);
}

static void rested_samples_are_single_runs_without_load(void **state) {
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_fine(measure_rested(5, false, 3, 0.001, 20));
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_int_equal(t.rest_ms, 3);
    assert_int_equal(t.launches_per_sample, 1);
    assert_int_equal(t.n, 20);
    assert_in_range(fake.replays, 20, 22); /* no load before: nothing that heats */
    assert_int_equal(fake.cold_graphs, 0);
    double ms = 1e3 * (double)(after.tv_sec - before.tv_sec) +
                1e-6 * (double)(after.tv_nsec - before.tv_nsec);
    assert_true(ms >= 20 * 3);
    assert_fine(measure(5, false, 0.001, 20));
    assert_int_equal(t.rest_ms, PREDICTOR_LOADED);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_fine(measure_rested(5, false, 1000, 0, 1)); /* a whole second */
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true((double)(after.tv_sec - before.tv_sec) +
                    1e-9 * (double)(after.tv_nsec - before.tv_nsec) >=
                1);
}

/* What the first replays take is nobody's time. */
static void the_first_replays_are_no_samples(void **state) {
    (void)state;
    slow_at_first = true;
    for (int cold = 0; cold < 2; cold++) {
        assert_fine(measure(5, cold, 0, 3));
        assert_float_equal(t.median_us, 5, 1e-9);
        assert_float_equal(t.iqr_us, 0, 1e-9);
    }
    assert_fine(measure_rested(5, false, 1, 0, 3));
    assert_float_equal(t.iqr_us, 0, 1e-9);
    slow_at_first = false;
}

/* What a sample needs is measured in at most four graphs, each by its second replay. */
static void the_length_of_a_sample_is_found_in_few_graphs(void **state) {
    (void)state;
    assert_fine(measure(TIMING_SAMPLE_US, false, 0, 3));
    assert_int_equal(fake.opened, 1);
    assert_int_equal(fake.replays, 2 + 2 + 3); /* to find out, to warm up, to sample */
    assert_fine(measure(0.75, false, 0, 3));
    assert_int_equal(t.launches_per_sample, TIMING_MAX_REPEATS); /* 1334 were too many */
    assert_int_equal(fake.opened, 2);
    fake.us_per_graph = 0.9 * TIMING_SAMPLE_US; /* ceil(n / 0.9): 1, 2, 3, 4 */
    assert_fine(measure(1, false, 0, 3));
    assert_int_equal(t.launches_per_sample, 4);
    assert_int_equal(fake.opened, 4);
    assert_int_equal(fake.replays, 4 * 2 + 2 + 3);
    for (fake.open_fails_at = 1; fake.open_fails_at <= 4; fake.open_fails_at++)
        assert_reason(measure(1, false, 0, 3), "no graph");
    fake.us_per_graph = fake.open_fails_at = 0;
}

static void samples_last_the_least_time(void **state) {
    (void)state;
    double seven = 0;
    for (int i = 0; i < 7; i++) seven += 1e-6 * 1e4;
    assert_fine(measure(1e4, false, seven, 100));
    assert_int_equal(t.n, 7);
    assert_false(t.interrupted);
    assert_true(fabs(t.clock_mhz - (1000 + 300 * 3)) < 1e-6); /* the mean of 1000 ... 2800 */
    assert_int_equal(t.clock_mhz_after, 1980);
}

static void a_clock_is_of_all_samples(void **state) {
    (void)state;
    for (clock_fails_at = 1; clock_fails_at <= 5; clock_fails_at++) {
        assert_fine(measure(1e4, false, 0, 5));
        assert_float_equal(t.clock_mhz, 0, 0);
        assert_string_equal(t.no_clock, "the clock stood still");
    }
    assert_fine(measure(1e4, false, 0, 5)); /* the sixth is not asked for */
    assert_float_equal(t.clock_mhz, 1600, 1e-9);
    assert_string_equal(t.no_clock, "");
    clock_fails_at = 0;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Replays of no time: the warm-up alone takes some. */
static void the_board_is_warm_first(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double least = i ? 0.2 : 0.05, wall = seconds(CLOCK_MONOTONIC),
                     cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        assert_fine(measure(1e5, false, i ? 10 : 0.05, 1));
        assert_true(seconds(CLOCK_MONOTONIC) - wall >= least);
        assert_true(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu < least + 0.1);
        assert_true(fake.replays > 20);
    }
    replay_ms = 10; /* no more than that */
    assert_fine(measure(1e5, false, 10, 1));
    assert_in_range(fake.replays, 2 + 2 + 1, 2 + 20 + 1);
    replay_ms = 0;
}

static void the_first_samples_are_kept_in_their_order(void **state) {
    (void)state;
    double five[] = {5, 1, 4, 2, 3}, four[] = {40, 10, 80, 20}, one[] = {7, NAN};
    timing_statistics(five, 5, &t);
    assert_int_equal(t.n_kept, 5);
    assert_memory_equal(t.kept_us, ((const double[]){5, 1, 4, 2, 3}), 5 * sizeof(double));
    timing_statistics(four, 4, &t);
    assert_float_equal(t.median_us, 30, 1e-12);
    assert_float_equal(t.iqr_us, 50 - 17.5, 1e-12);
    timing_statistics(one, 1, &t);
    assert_true(t.median_us == 7);
    static double many[PREDICTOR_KEPT + 1];
    for (int i = 0; i <= PREDICTOR_KEPT; i++) many[i] = PREDICTOR_KEPT - i;
    timing_statistics(many, PREDICTOR_KEPT + 1, &t);
    assert_int_equal(t.n_kept, PREDICTOR_KEPT);
    assert_true(t.kept_us[PREDICTOR_KEPT - 1] == 1);
}

/* Last, for a signal that came stays: the row is finished with what there is. */
static void an_interrupt_ends_the_samples(void **state) {
    (void)state;
    fake.interrupt_at = 2 + 2 + 3; /* its third sample */
    assert_fine(measure(TIMING_SAMPLE_US, false, 0, 100));
    assert_true(t.interrupted);
    assert_int_equal(t.n, 3);
    fake.interrupt_at = 0;
}

static void max_samples_is_obeyed(void **state) {
    (void)state;
    assert_fine(measure(5, false, 100, 3));
    assert_int_equal(t.n, 3);
}

static void a_failing_device_is_reported(void **state) {
    (void)state;
    for (fake.fail_at = 1; fake.fail_at < 8; fake.fail_at++)
        assert_reason(measure(5, false, 1, 10), "fell over");
    for (fake.fail_at = 1; fake.fail_at < 5; fake.fail_at++) /* two to warm up, two samples */
        assert_reason(measure_rested(5, false, 1, 0, 10), "fell over");
    fake.fail_at = 0;
}

static void samples_have_memory_or_a_reason(void **state) {
    (void)state;
    unsigned long in_use = 0;
    for (int round = 0; round < 3; round++) { /* and give it back */
        assert_fine(measure(TIMING_SAMPLE_US, false, 0, 10000));
        if (round == 2) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
    if (SANITIZED) return; /* it wants all addresses for itself */
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30});
        const char *why =
            timing_measure(&device, NULL, &launch, 1, false, PREDICTOR_LOADED, 0, INT_MAX, &t);
        _exit(!why || !strstr(why, "out of memory for 2147483647 samples"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_device_without_a_clock_says_so(void **state) {
    (void)state;
    static const struct device_ops no_time = {0};
    struct device emulator = {.ops = &no_time};
    assert_reason(timing_measure(&emulator, NULL, &launch, 1, false, PREDICTOR_LOADED, 1, 10, &t),
                  "measures no time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_known),
        cmocka_unit_test(an_outlier_does_not_move_the_median),
        cmocka_unit_test(short_kernels_share_a_sample),
        cmocka_unit_test(long_kernels_have_a_sample_each),
        cmocka_unit_test(a_kernel_of_no_time_ends_too),
        cmocka_unit_test(cold_samples_are_flushed_single_runs),
        cmocka_unit_test(rested_samples_are_single_runs_without_load),
        cmocka_unit_test(max_samples_is_obeyed),
        cmocka_unit_test(the_first_replays_are_no_samples),
        cmocka_unit_test(a_failing_device_is_reported),
        cmocka_unit_test(samples_have_memory_or_a_reason),
        cmocka_unit_test(a_device_without_a_clock_says_so),
        cmocka_unit_test(the_length_of_a_sample_is_found_in_few_graphs),
        cmocka_unit_test(samples_last_the_least_time),
        cmocka_unit_test(a_clock_is_of_all_samples),
        cmocka_unit_test(the_board_is_warm_first),
        cmocka_unit_test(the_first_samples_are_kept_in_their_order),
        cmocka_unit_test(an_interrupt_ends_the_samples),
    };
    return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
