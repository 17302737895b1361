/* Counters on a GPU against kernels whose counts can be told beforehand (gpu_counters.cu). */
#include "test.h"

#include "counters.h"
#include "reason.h"
#include "source.h"
#include "timeline.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    count("TENSOR,SHARED", "wgmma_loop", 128, 0);
    assert_value("hgmma_instructions", WARPS * N);
    assert_value("hmma_instructions", 0);
    assert_value("bank_conflicts_gmma", 0);
}

static void scalar_code_leaves_the_tensor_cores_alone(void **state) {
    (void)state;
    count("TENSOR", "scalar_loop", 256, 3);
    assert_value("tensor_instructions", 0);
    assert_value("tensor_active_pct", 0);
}

static void loads_conflict_as_their_stride_says(void **state) {
    (void)state;
    for (int stride = 1; stride <= 32; stride *= 2) {
        count("SHARED", "lds_loop", 256, stride);
        assert_value("shared_wavefronts", (double)WARPS * N * stride);
        assert_value("shared_wavefronts_ideal", WARPS * N);
        assert_value("bank_conflicts", (double)WARPS * N * (stride - 1));
        assert_value("bank_conflicts_ld", (double)WARPS * N * (stride - 1));
        assert_value("bank_conflicts_st", 0);
        assert_value("hardware_conflicts", (double)WARPS * N * (stride - 1));
        assert_value("bank_conflict_pct", 100.0 * (stride - 1) / stride);
    }
}

static void stores_conflict_as_their_stride_says(void **state) {
    (void)state;
    count("SHARED", "sts_loop", 256, 8);
    assert_value("bank_conflicts_st", WARPS * N * 7);
    assert_value("bank_conflicts_ld", 0);
}

static void ldmatrix_conflicts_as_its_pitch_says(void **state) {
    (void)state;
    count("SHARED,MIX", "ldsm_loop", 256, 16);
    assert_value("ldmatrix_instructions", WARPS * N);
    assert_value("shared_wavefronts", WARPS * N * 4);
    assert_value("bank_conflicts_ldmatrix", 0);
    count("SHARED", "ldsm_loop", 256, 128);
    assert_value("shared_wavefronts", WARPS * N * 32);
    assert_value("bank_conflicts_ldmatrix", WARPS * N * 28);
}

static void cp_async_conflicts_as_its_pitch_says(void **state) {
    (void)state;
    count("SHARED,MIX", "ldgsts_loop", 256, 16);
    assert_value("cp_async_instructions", WARPS * N);
    assert_value("bank_conflicts_ldgsts", 0);
    count("SHARED", "ldgsts_loop", 256, 128);
    assert_value("bank_conflicts_ldgsts", WARPS * N * 28);
}

static void exponentials_are_counted(void **state) {
    (void)state;
    count("MIX", "ex2_loop", 256, 0);
    assert_value("mufu_instructions", WARPS * N);
    assert_value("shared_load_instructions", 0);
}

static void several_launches_are_one_set(void **state) {
    (void)state;
    struct device_launch l[2] = {launch_of("ex2_loop", 256, N, 0),
                                 launch_of("mma_loop", 256, N, 0)};
    counters_free(&all);
    assert_fine(counters_collect(gpu, image, l, 2, "MIX,TENSOR", &all));
    assert_value("mufu_instructions", WARPS * N);
    assert_value("hmma_instructions", WARPS * N);
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

/* The line that holds "CONFLICTS HERE" has the conflicts, and no other line has any. */
static void conflicts_are_found_at_their_line(void **state) {
    (void)state;
    struct device_launch l = launch_of("lds_loop", 256, N, 32);
    struct source s;
    double conflicts = 0, elsewhere = 0;
    assert_fine(source_collect(gpu, image, &l, 1, &s));
    assert_true(s.n > 0);
    for (int i = 0; i < s.n; i++) {
        const struct source_line *line = &s.line[i];
        assert_non_null(strstr(line->file, "gpu_counters.cu"));
        if (line->wavefronts == (double)WARPS * N * 32)
            conflicts += line->wavefronts - line->wavefronts_ideal;
        else
            elsewhere += line->wavefronts - line->wavefronts_ideal;
    }
    assert_true(conflicts == (double)WARPS * N * 31);
    assert_true(elsewhere == 0);
    source_free(&s);
}

static void a_timeline_covers_the_run(void **state) {
    (void)state;
    struct device_launch l = launch_of("mma_loop", 256, 20000, 0);
    struct timeline t;
    assert_fine(timeline_collect(gpu, image, &l, 1, 4, 2, &t));
    double tensor = 0;
    for (int i = 0; i < t.n; i++) {
        assert_true(i == 0 || t.sample[i].us > t.sample[i - 1].us);
        assert_in_range((int)t.sample[i].tensor_pct, 0, 100);
        tensor += t.sample[i].tensor_pct / t.n;
    }
    print_message("# %d samples of %g us, tensor pipe %.1f %%\n", t.n, t.interval_us, tensor);
    assert_true(t.n > 100 && tensor > 10);
    timeline_free(&t);
}

static int open_gpu(void **state) {
    (void)state;
    char here[PATH_MAX], folder[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    if (n < 0) return 1;
    here[n] = 0;
    snprintf(folder, sizeof folder, "%s/images/tests", dirname(dirname(here)));
    const char *why = device_open(DEVICE_CUDA, NULL, &gpu);
    if (!why) why = device_load(gpu, folder, "gpu_counters", &image);
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
        cmocka_unit_test(loads_conflict_as_their_stride_says),
        cmocka_unit_test(stores_conflict_as_their_stride_says),
        cmocka_unit_test(ldmatrix_conflicts_as_its_pitch_says),
        cmocka_unit_test(cp_async_conflicts_as_its_pitch_says),
        cmocka_unit_test(exponentials_are_counted),
        cmocka_unit_test(several_launches_are_one_set),
        cmocka_unit_test(occupancy_is_that_of_the_launch),
        cmocka_unit_test(conflicts_are_found_at_their_line),
        cmocka_unit_test(a_timeline_covers_the_run),
    };
    return cmocka_run_group_tests_name("gpu counters", tests, open_gpu, close_gpu);
}
