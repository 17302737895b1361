/* Counters on a GPU against kernels whose counts can be told beforehand (gpu_counters.cu). */
#include "tests/test.h"

#include "profiler/counters.h"
#include "images.h"
#include "common/base/reason.h"
#include "profiler/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 132, THREADS = 256, WARPS = BLOCKS * THREADS / 32, N = 64, SHARED = 8192 };

static struct device *gpu;
static struct device_image *image;
static device_ptr out;
static struct counters all; /* of the last count() */

static struct device_launch launch_of(const char *kernel, int threads, int n, int step) {
    struct device_launch l = {.grid = {BLOCKS * THREADS / (unsigned)threads, 1, 1},
                              .block = {(unsigned)threads, 1, 1},
                              .shared_bytes = SHARED};
    snprintf(l.kernel, sizeof l.kernel, "%s", kernel);
    device_launch_arg(&l, &out, sizeof out);
    device_launch_arg(&l, &n, sizeof n);
    device_launch_arg(&l, &step, sizeof step);
    return l;
}

static void count(const char *groups, const char *kernel, int threads, int step) {
    struct device_launch l = launch_of(kernel, threads, N, step);
    counters_free(&all);
    assert_fine(counters_collect(gpu, image, &l, 1, groups, &all));
}

static double value(const char *name) {
    int i = 0;
    while (i < all.n && strcmp(all.counter[i].name, name)) i++;
    if (i == all.n) fail_msg("no %s", name);
    if (*all.counter[i].reason) fail_msg("%s: n/a (%s)", name, all.counter[i].reason);
    return all.counter[i].value;
}

#define assert_value(name, expected)                                                               \
    do {                                                                                           \
        double value_ = value(name), expected_ = (expected);                                       \
        if (value_ != expected_) fail_msg("%s: %.10g instead of %.10g", name, value_, expected_);  \
    } while (0)

static void mma_counts_as_hmma(void **state) {
    (void)state;
    count("TENSOR", "mma_loop", 256, 0);
    assert_value("hmma_instructions", WARPS * N);
    assert_value("tensor_instructions", WARPS * N);
    assert_true(value("tensor_active_pct") > 5);
    assert_true(value("tensor_elapsed_pct") <= value("tensor_active_pct"));
}

static void wgmma_counts_as_hgmma_once_a_warp(void **state) {
    (void)state;
    if (device_info(gpu)->chip.cc != 90) SKIP("only Hopper has WGMMA");
    count("TENSOR", "wgmma_loop", 128, 0);
    assert_value("hgmma_instructions", WARPS * N);
    assert_value("hmma_instructions", 0);
}

static void scalar_code_leaves_the_tensor_cores_alone(void **state) {
    (void)state;
    count("TENSOR", "scalar_loop", 256, 3);
    assert_value("tensor_instructions", 0);
    assert_value("tensor_active_pct", 0);
}

/* CUPTI counts by instruction once in a process: one set of launches has an access of each kind. */
static void conflicts_are_told_apart_by_operation(void **state) {
    (void)state;
    struct device_launch l[] = {launch_of("lds_loop", 256, N, 32), launch_of("sts_loop", 256, N, 8),
                                launch_of("ldsm_loop", 256, N, 128),
                                launch_of("ldgsts_loop", 256, N, 128)};
    const double once = WARPS * N;
    counters_free(&all);
    assert_fine(counters_collect(gpu, image, l, 4, "SHARED,MIX", &all));
    assert_value("shared_load_instructions", once);
    assert_value("shared_store_instructions", once);
    assert_value("ldmatrix_instructions", once);
    assert_value("cp_async_instructions", once);
    assert_value("shared_wavefronts", once * (32 + 8 + 32 + 32));
    assert_value("shared_wavefronts_ideal", once * (1 + 1 + 4 + 4));
    assert_value("bank_conflicts_ld", once * (31 + 28));
    assert_value("bank_conflicts_ldmatrix", once * 28);
    assert_value("bank_conflicts_st", once * 7);
    assert_value("bank_conflicts_ldgsts", once * 28);
    assert_value("bank_conflicts", once * (31 + 7 + 28 + 28));
    assert_true(fabs(value("bank_conflict_pct") - 100.0 * 94 / 104) < 1e-9);
    /* The hardware's counter does not see cp.async, and may see arbitration. */
    assert_true(value("hardware_conflicts") >= once * (31 + 7 + 28));
    assert_true(value("hardware_conflicts") < once * (31 + 7 + 28) * 1.01);
}

static void exponentials_are_counted(void **state) {
    (void)state;
    count("MIX", "ex2_loop", 256, 0);
    assert_value("mufu_instructions", WARPS * N);
    assert_value("shared_load_instructions", 0);
}

/* Shares are averaged over the cycles that they are
 * shares of: the longer launch has the greater say. */
static void several_launches_are_one_set(void **state) {
    (void)state;
    struct device_launch l[2] = {launch_of("ex2_loop", 256, N, 0),
                                 launch_of("mma_loop", 256, N, 0)};
    counters_free(&all);
    assert_fine(counters_collect(gpu, image, l, 2, "MIX,TENSOR", &all));
    assert_value("mufu_instructions", WARPS * N);
    assert_value("hmma_instructions", WARPS * N);
    double both = value("tensor_active_pct");
    count("TENSOR", "mma_loop", 256, 0);
    assert_true(both > 0 && both < value("tensor_active_pct"));
}

static void occupancy_is_that_of_the_launch(void **state) {
    (void)state;
    struct device_launch l = launch_of("ex2_loop", 256, 20000, 0);
    l.grid[0] *= 16;
    l.shared_bytes = 40 << 10;
    counters_free(&all);
    assert_fine(counters_collect(gpu, image, &l, 1, "OCCUPANCY", &all));
    assert_value("shared_bytes", 40 << 10);
    int fit = device_info(gpu)->chip.shared_per_sm / (41 << 10);
    assert_value("blocks_per_sm", fit);
    double theoretical = 100.0 * fit * 8 / device_info(gpu)->chip.max_warps_per_sm;
    assert_value("occupancy_theoretical_pct", theoretical);
    assert_true(value("occupancy_achieved_pct") <= theoretical * 1.001);
    assert_true(value("occupancy_achieved_pct") > theoretical * 0.8);
}

static void a_timeline_covers_the_run(void **state) {
    (void)state;
    struct device_launch l = launch_of("mma_loop", 256, 20000, 0);
    struct timeline t;
    assert_fine(timeline_collect(gpu, image, &l, 1, 4, 2, &t));
    double tensor = 0;
    for (int i = 0; i < t.n; i++) {
        assert_true(i == 0 || t.sample[i].us > t.sample[i - 1].us);
        assert_true(i == 0 || t.sample[i].us < t.sample[i - 1].us + 10 * t.interval_us);
        assert_in_range((int)t.sample[i].tensor_pct, 0, 100);
        tensor += t.sample[i].tensor_pct / t.n;
    }
    print_message("# %d samples of %g us, tensor pipe %.1f %%\n", t.n, t.interval_us, tensor);
    assert_true(t.n > 100 && tensor > 10);
    timeline_free(&t);
}

static int open_gpu(void **state) {
    (void)state;
    const char *why = device_open(DEVICE_CUDA, NULL, &gpu);
    if (!why) why = device_load(gpu, test_images(), "gpu_counters", &image);
    if (!why) why = device_alloc(gpu, BLOCKS * THREADS * 16 * 4, &out);
    if (why) print_message("%s\n", why);
    return why != NULL;
}

static int close_gpu(void **state) {
    (void)state;
    counters_free(&all);
    device_free(gpu, out);
    device_unload(gpu, image);
    device_close(gpu);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_counts_as_hmma),
        cmocka_unit_test(wgmma_counts_as_hgmma_once_a_warp),
        cmocka_unit_test(scalar_code_leaves_the_tensor_cores_alone),
        cmocka_unit_test(exponentials_are_counted),
        cmocka_unit_test(several_launches_are_one_set),
        cmocka_unit_test(occupancy_is_that_of_the_launch),
        cmocka_unit_test(a_timeline_covers_the_run),
        cmocka_unit_test(conflicts_are_told_apart_by_operation), /* patches code: nearly last */
    };
    return cmocka_run_group_tests_name("gpu counters", tests, open_gpu, close_gpu);
}
