/* Theoretical occupancy against launches whose answer is arithmetic that a reader can do. */
#include "tests/test.h"

#include "profiler/occupancy.h"
#include "common/base/ptxas.h"
#include "tests/fake/faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct occupancy on(const char *chip, int registers, int shared, int threads) {
    struct occupancy o;
    assert_null(occupancy_of(chip_find(chip), registers, 0, shared, threads, &o));
    return o;
}

/* 65536 registers / (64 * 256) = 4 blocks of 8 warps = 32 of 64 warps. */
static void registers_limit(void **state) {
    (void)state;
    struct occupancy o = on("h200", 64, 0, 256);
    assert_int_equal(o.blocks_per_sm, 4);
    assert_int_equal(o.warps_per_sm, 32);
    assert_true(o.pct == 50.0);
    assert_string_equal(o.limited_by, "registers");
    assert_string_equal(on("h200", 32, 0, 256).limited_by, "registers, warps");
}

/* Warps get registers in units of 256: 65 registers a thread cost as much as 72. */
static void registers_come_in_units(void **state) {
    (void)state;
    assert_int_equal(on("h200", 65, 0, 256).blocks_per_sm, on("h200", 72, 0, 256).blocks_per_sm);
    assert_int_equal(on("h200", 65, 0, 256).blocks_per_sm, 3);
}

/* 228 KB hold two blocks of 100 KB + 1 KB of the system's; 100 KB on AD104 hold none, but one of
 * 99 KB. */
static void shared_memory_limits(void **state) {
    (void)state;
    struct occupancy o = on("h200", 32, 100 << 10, 128);
    assert_int_equal(o.blocks_per_sm, 2);
    assert_string_equal(o.limited_by, "shared memory");
    assert_int_equal(on("h200", 32, 227 << 10, 128).blocks_per_sm, 1);
    assert_int_equal(on("l4", 32, 99 << 10, 128).blocks_per_sm, 1);
    assert_int_equal(on("l4", 32, 49 << 10, 128).blocks_per_sm, 2);
    /* 164 KB of an A100 are four of 40 KB + 1 KB */
    assert_int_equal(on("a100", 32, 40 << 10, 128).blocks_per_sm, 4);
    assert_int_equal(on("a100", 32, 41 << 10, 128).blocks_per_sm, 3);
    struct chip turing = *chip_find("a100"); /* the system keeps nothing there */
    turing.cc = 75;
    turing.shared_per_sm = turing.shared_per_block = 64 << 10;
    assert_fine(occupancy_of(&turing, 32, 0, 32 << 10, 128, &o));
    assert_int_equal(o.blocks_per_sm, 2);
    assert_fine(occupancy_of(chip_find("h200"), 32, 100, 50, 128, &o));
    assert_int_equal(o.shared_bytes, 150);
}

/* 48 warps an SM on Ada, 64 on Hopper; 24 and 32 blocks. */
static void warps_and_blocks_limit(void **state) {
    (void)state;
    assert_int_equal(on("l4", 32, 0, 1024).blocks_per_sm, 1);
    assert_int_equal(on("h200", 32, 0, 1024).blocks_per_sm, 2);
    assert_int_equal(on("l4", 32, 0, 32).blocks_per_sm, 24);
    assert_int_equal(on("h200", 32, 0, 32).blocks_per_sm, 32);
    assert_true(on("h200", 32, 0, 32).pct == 50.0);
    assert_string_equal(on("h200", 16, 0, 32).limited_by, "blocks");
    assert_int_equal(on("h200", 16, 0, 96).blocks_per_sm, 21); /* 64 / 3 */
    assert_int_equal(on("h200", 16, 0, 1024).warps, 32);
    assert_int_equal(on("h200", 0, 0, 1).warps, 1); /* the least launch that there is */
}

static void a_launch_that_cannot_run_has_none(void **state) {
    (void)state;
    assert_int_equal(on("l4", 32, 100 << 10, 128).blocks_per_sm, 0);
    assert_int_equal(on("h200", 255, 0, 1024).blocks_per_sm, 0);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    struct occupancy o;
    struct chip future = *chip_find("h200");
    assert_non_null(occupancy_of(chip_find("h200"), -1, 0, 0, 128, &o));
    assert_non_null(occupancy_of(chip_find("h200"), 32, 0, -5, 128, &o));
    assert_non_null(occupancy_of(chip_find("h200"), 32, 0, 0, 0, &o));
    future.cc = 987;
    const char *why = occupancy_of(&future, 32, 0, 0, 128, &o);
    assert_non_null(why);
    assert_non_null(strstr(why, "98.7"));
    future = *chip_find("h200");
    future.registers_per_sm = 0;
    assert_reason(occupancy_of(&future, 32, 100, 50, 128, &o),
                  "calculator refuses 32 registers, 150 bytes of shared memory and 128 threads");
}

static void registers_are_read_from_the_report(void **state) {
    (void)state;
    static const char report[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
        "ptxas info    : Used 12 registers, used 0 barriers\n"
        "ptxas info    : Compiling entry function 'attention' for 'sm_90a'\n"
        "ptxas info    : Function properties for attention\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 96 registers, used 1 barriers, 16640 bytes smem\n"
        "ptxas info    : Compiling entry function 'empty' for 'sm_90a'\n"
        "ptxas info    : Used 0 registers, used 0 barriers\n"
        "ptxas info    : Used 8 registers, used 0 barriers\n";
    char path[OWN_BYTES];
    int fd = own_file(path, "ptxas");
    assert_int_equal(write(fd, report, sizeof report - 1), (ssize_t)sizeof report - 1);
    close(fd);
    assert_int_equal(ptxas_registers(path, "attention"), 96);
    assert_int_equal(ptxas_registers(path, "other"), 12);
    assert_int_equal(ptxas_registers(path, "atten"), -1);
    assert_int_equal(ptxas_registers(path, "empty"), 0); /* the first is it */
    int files = open_files();
    ptxas_registers(path, "other");
    assert_int_equal(open_files(), files);
    assert_int_equal(ptxas_registers("/dev/null/report", "other"), -2); /* no folder */
    assert_int_equal(ptxas_registers("/tmp", "other"), -2);
    unlink(path);
    assert_int_equal(ptxas_registers(path, "attention"), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_limit),
        cmocka_unit_test(registers_come_in_units),
        cmocka_unit_test(shared_memory_limits),
        cmocka_unit_test(warps_and_blocks_limit),
        cmocka_unit_test(a_launch_that_cannot_run_has_none),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(registers_are_read_from_the_report),
    };
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
