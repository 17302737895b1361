/* Counters of launches that ran just now: the emulator does not run them again, unless something has changed. */
#include "common/base/reason.h"
#include "common/device/device_ops.h"
#include "emulator/core/emulator_options.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = ".version 8.0\n.target sm_89\n.address_size 64\n"
                           ".visible .entry runs(.param .u64 at) { .reg .b64 %a; .reg .b32 %n;\n"
                           "ld.param.u64 %a, [at]; ld.global.u32 %n, [%a]; add.u32 %n, %n, 1;\n"
                           "st.global.u32 [%a], %n; ret; }\n";

static char dir[] = "/tmp/counted.XXXXXX";
static struct device *device;
static struct device_image *image;
static device_ptr at;
static struct device_launch launch[2];

static int n_runs(void) {
    int n;
    assert_fine(device_copy_out(device, &n, at, sizeof n));
    return n;
}

static void run(int first, int n) {
    for (int i = first; i < first + n; i++) assert_fine(device_launch(device, image, &launch[i]));
    assert_fine(device_sync(device));
}

/* The counts of the first n launches; how often they ran for that. */
static int runs_of_counting(int n) {
    struct counters c;
    const int before = n_runs();
    assert_fine(device->ops->counters(device, image, launch, n, &c));
    for (int i = 0; i < c.n; i++)
        if (!strcmp(c.counter[i].name, "instructions"))
            assert_int_equal((int)c.counter[i].value, 5 * n);
    counters_free(&c);
    return n_runs() - before;
}

static void test_same(void **state) {
    (void)state;
    run(0, 1);
    assert_int_equal(runs_of_counting(1), 0);
    assert_int_equal(runs_of_counting(1), 0);
    run(0, 2);
    assert_int_equal(runs_of_counting(2), 0);
    run(0, 2);
    assert_int_equal(runs_of_counting(1), 1);
}

static void test_changed(void **state) {
    const int zero = 0;
    device_ptr other;
    (void)state;
    run(0, 1);
    assert_int_equal(runs_of_counting(2), 2);
    assert_int_equal(runs_of_counting(1), 1); /* the counting wrote, too */
    run(1, 1);
    assert_int_equal(runs_of_counting(1), 1);
    run(0, 1);
    assert_fine(device_copy_in(device, at, &zero, sizeof zero));
    assert_int_equal(runs_of_counting(1), 1);
    run(0, 1);
    assert_fine(device_fill(device, at, 0, 4));
    assert_int_equal(runs_of_counting(1), 1);
    run(0, 1);
    assert_fine(device_alloc(device, 4, &other));
    assert_int_equal(runs_of_counting(1), 1);
    run(0, 1);
    device_free(device, other);
    assert_int_equal(runs_of_counting(1), 1);
    run(0, 1);
    device_emulator_options(&(struct emu_options){.no_checks = true});
    assert_int_equal(runs_of_counting(1), 1);
    device_emulator_options(&(struct emu_options){0});
    run(0, 1);
    device_unload(device, image);
    assert_fine(device_load(device, dir, "image", &image));
    assert_int_equal(runs_of_counting(1), 1);
}

/* What changes between launches is not known of the second alone. */
static void test_between(void **state) {
    (void)state;
    assert_fine(device_launch(device, image, &launch[0]));
    assert_fine(device_fill(device, at, 0, 4));
    run(1, 1);
    assert_int_equal(runs_of_counting(2), 2);
    assert_fine(device_launch(device, image, &launch[1]));
    assert_fine(device_fill(device, at, 0, 4));
    run(0, 1);
    assert_int_equal(runs_of_counting(1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_changed),
                                       cmocka_unit_test(test_between)};
    char path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/image.compute_89.ptx", dir);
    FILE *f = fopen(path, "w");
    assert_true(f && fputs(text, f) >= 0 && !fclose(f));
    assert_fine(device_open(DEVICE_EMU, "h200", &device));
    assert_fine(device_load(device, dir, "image", &image));
    assert_fine(device_alloc(device, 4, &at));
    assert_fine(device_fill(device, at, 0, 4));
    for (unsigned i = 0; i < 2; i++) {
        launch[i] = (struct device_launch){
            .kernel = "runs", .grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 16 * i};
        device_launch_arg(&launch[i], &at, sizeof at);
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_unload(device, image);
    device_free(device, at);
    device_close(device);
    unlink(path);
    rmdir(dir);
    return failed;
}
