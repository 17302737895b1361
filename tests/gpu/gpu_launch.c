/* What device.h promises of launches, on a GPU: that overlapping ones keep their order and save
 * time, in a stream and in a graph, and that blocks of a cluster run together. */
#include "tests/test.h"

#include "profiler/counters.h"
#include "common/device/device.h"
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 32, THREADS = 128, N = BLOCKS * THREADS, STEPS = 20, CLOCKS = 10000 };

#define HOPPER                                                                                     \
    if (device_info(gpu)->chip.cc < 90) SKIP("only Hopper has clusters and overlapping launches")

static struct device *gpu;
static struct device_image *image;
static device_ptr data;
static uint32_t words[N];

static struct device_launch step_launch(uint32_t value, bool overlaps) {
    struct device_launch l = {.kernel = "step",
                              .grid = {BLOCKS, 1, 1},
                              .block = {THREADS, 1, 1},
                              .overlaps_previous = overlaps};
    long long clocks = CLOCKS;
    device_launch_arg(&l, &data, sizeof data);
    device_launch_arg(&l, &value, sizeof value);
    device_launch_arg(&l, &clocks, sizeof clocks);
    return l;
}

static void steps(struct device_launch launch[STEPS], bool overlaps) {
    for (uint32_t i = 0; i < STEPS; i++) launch[i] = step_launch(i + 1, overlaps);
    assert_fine(device_fill(gpu, data, 0, sizeof words));
}

static void assert_stepped(void) {
    assert_fine(device_copy_out(gpu, words, data, sizeof words));
    for (int i = 0; i < N; i++)
        if (words[i] != STEPS) fail_msg("word %d is %u instead of %d", i, words[i], STEPS);
}

static void overlapping_launches_keep_their_order(void **state) {
    struct device_launch launch[STEPS];
    (void)state;
    HOPPER;
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        steps(launch, overlaps);
        for (int i = 0; i < STEPS; i++) assert_fine(device_launch(gpu, image, &launch[i]));
        assert_stepped();
    }
}

/* Their own work takes most of the time: two of them side by side. */
static void overlapping_launches_save_time(void **state) {
    struct device_launch launch[STEPS];
    double us[2];
    (void)state;
    HOPPER;
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        struct device_graph *g;
        steps(launch, overlaps);
        assert_fine(device_graph_open(gpu, image, launch, STEPS, 1, false, &g));
        us[overlaps] = 1e9;
        for (int n = 0; n < 5; n++) {
            double once;
            assert_fine(device_fill(gpu, data, 0, sizeof words));
            assert_fine(device_graph_time(g, false, &once));
            assert_stepped();
            if (once < us[overlaps]) us[overlaps] = once;
        }
        device_graph_close(g);
    }
    print_message("# %d launches in a graph: %.1f us one after the other, %.1f us overlapping\n",
                  STEPS, us[0], us[1]);
    assert_true(us[1] < 0.8 * us[0]);
}

static void overlapping_launches_can_be_counted(void **state) {
    struct device_launch launch[STEPS];
    struct counters c[2];
    (void)state;
    HOPPER;
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        steps(launch, overlaps);
        assert_fine(counters_collect(gpu, image, launch, STEPS, "TENSOR", &c[overlaps]));
    }
    assert_int_equal(c[0].n, c[1].n);
    for (int i = 0; i < c[0].n; i++)
        print_message("# %s: %g, overlapping %g %s\n", c[0].counter[i].name, c[0].counter[i].value,
                      c[1].counter[i].value, c[1].counter[i].reason);
    for (int n = 0; n < 2; n++) counters_free(&c[n]);
}

static struct device_launch rotation(unsigned blocks, unsigned cluster) {
    struct device_launch l = {.kernel = "rotate",
                              .grid = {blocks, 1, 1},
                              .block = {THREADS, 1, 1},
                              .cluster = {cluster, 1, 1}};
    device_launch_arg(&l, &data, sizeof data);
    return l;
}

static void blocks_of_a_cluster_meet(void **state) {
    static const unsigned sizes[] = {1, 2, 4, 8, 16};
    (void)state;
    HOPPER;
    for (int s = 0; s < 5; s++)
        for (int overlaps = 0; overlaps < 2; overlaps++) {
            unsigned n = sizes[s];
            struct device_launch l = rotation(BLOCKS, n);
            l.overlaps_previous = overlaps;
            assert_fine(device_fill(gpu, data, 0, sizeof words));
            assert_fine(device_launch(gpu, image, &l));
            assert_fine(device_copy_out(gpu, words, data, sizeof words));
            for (unsigned i = 0; i < N; i++) {
                unsigned block = i / THREADS, next = block / n * n + (block + 1) % n;
                assert_int_equal(words[i], 1000 * next + i % THREADS);
            }
        }
}

static void impossible_clusters_are_refused(void **state) {
    (void)state;
    HOPPER;
    static const unsigned bad[][2] = {{4, 3}, {32, 32}};
    for (int i = 0; i < 2; i++) {
        struct device_launch l = rotation(bad[i][0], bad[i][1]);
        const char *why = device_launch(gpu, image, &l);
        print_message("# %u blocks in clusters of %u: %s\n", bad[i][0], bad[i][1],
                      why ? why : "fine");
        assert_non_null(why);
    }
}

static int open_gpu(void **state) {
    (void)state;
    const char *why = device_open(DEVICE_CUDA, NULL, &gpu);
    if (!why && device_info(gpu)->chip.cc < 90) return 0; /* nothing here is for it */
    if (!why) why = device_load(gpu, test_images(), "gpu_launch", &image);
    if (!why) why = device_alloc(gpu, sizeof words, &data);
    if (why) print_message("%s\n", why);
    return why != NULL;
}

static int close_gpu(void **state) {
    (void)state;
    device_free(gpu, data);
    if (image) device_unload(gpu, image);
    device_close(gpu);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_launches_keep_their_order),
        cmocka_unit_test(overlapping_launches_save_time),
        cmocka_unit_test(blocks_of_a_cluster_meet),
        cmocka_unit_test(impossible_clusters_are_refused),
        cmocka_unit_test(overlapping_launches_can_be_counted),
    };
    return cmocka_run_group_tests_name("gpu launches", tests, open_gpu, close_gpu);
}
