/* Spinning waits: they sleep until what they poll changes, blocks that wait for each other run side
 * by side, spins are not counted, and a wait for what never comes is reported. */
#include "emu.h"
#include "emulator/core/state.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct emu_test t;
static uint32_t words[256];

static uint64_t run(unsigned blocks, unsigned threads, const char *declarations, const char *body) {
    memset(words, 0, sizeof words);
    assert_fine(emu_test_run(&t, emu_test_kernel(1, declarations, body), "test", blocks, threads, 0,
                             1, (void *[]){words}, (size_t[]){sizeof words}));
    uint64_t executed = 0;
    for (struct emu_counted c = {0}; emu_result_next(t.result, &c);) executed += c.count->executed;
    return executed;
}

static void expect(const char *report) {
    if (!emu_test_report(&t, report))
        fail_msg("no '%s', but: %s", report,
                 emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing");
}

static void expect_clean(void) {
    if (emu_result_reports(t.result)) fail_msg("%s", emu_result_report(t.result, 0));
}

/* A grid barrier: thread 0 of each block counts itself in, and waits for the others; then each block
 * adds up what all have written. N is the number that it waits for. */
#define GRID_BARRIER(n)                                                                            \
    "mov.u32 %r1, %ctaid.x; and.b32 %r7, %r1, 31; mul.wide.u32 %rd1, %r7, 4;\n"                    \
    "add.s64 %rd1, %rd1, %rd0;\n"                                                                  \
    "setp.ne.u32 %p1, %r0, 0; @%p1 bra MEET;\n"                                                    \
    "add.u32 %r2, %r1, 1; st.global.u32 [%rd1+128], %r2; fence.acq_rel.gpu;\n"                     \
    "red.global.add.u32 [%rd0], 1;\n"                                                              \
    "LOOK: ld.volatile.global.u32 %r3, [%rd0]; setp.lt.u32 %p2, %r3, " #n "; @%p2 bra LOOK;\n"     \
    "fence.acq_rel.gpu;\n"                                                                         \
    "MEET: bar.sync 0; @%p1 bra END; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u64 %rd2, %rd0;\n"        \
    "SUM: ld.global.u32 %r6, [%rd2+128]; add.u32 %r4, %r4, %r6; add.u64 %rd2, %rd2, 4;\n"          \
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 20; @%p3 bra SUM; st.global.u32 [%rd1+512], "      \
    "%r4;\n"                                                                                       \
    "END:"

static void grid_barrier(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 3; jobs++)
        for (int s = EMU_ROUND_ROBIN; s <= EMU_ADVERSARIAL; s++) {
            t.options.n_threads = jobs;
            t.options.schedule = (enum emu_schedule)s;
            t.options.seed = 3;
            uint64_t executed = run(20, 64, "", GRID_BARRIER(20));
            expect_clean();
            for (int b = 0; b < 20; b++) assert_int_equal(words[128 + b], 210);
            /* without a spin: 20 blocks of about 160; each look beyond the first costs 3 */
            assert_true(executed > 2000 && executed < 20 * 250);
        }
    t.options.n_threads = 0;
    t.options.schedule = EMU_ROUND_ROBIN;
}

/* Warps take turns at a lock; lane 0 of each adds to a word that nothing else protects. */
static void spin_lock(void **state) {
    (void)state;
    uint64_t executed =
        run(6, 128, "",
            "and.b32 %r1, %r0, 31; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n"
            "TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TAKE;\n"
            "fence.acq_rel.gpu; ld.volatile.global.u32 %r3, [%rd0+4]; add.u32 %r3, %r3, 1;\n"
            "nanosleep.u32 10; st.volatile.global.u32 [%rd0+4], %r3; fence.acq_rel.gpu;\n"
            "atom.global.exch.b32 %r4, [%rd0], 0; END:");
    expect_clean();
    assert_int_equal(words[1], 24);
    assert_true(executed < 24 * 80);
}

/* One lane of a warp holds what the others of the warp wait for. */
/* Lanes 0 to 30 wait at a barrier when lane 31 exits: they still wait for the other warp, and have arrived once. */
static void exit_beside_a_wait(void **state) {
    (void)state;
    run(1, 33, "",
        "setp.eq.u32 %p1, %r0, 31; @%p1 bra LATE; setp.eq.u32 %p2, %r0, 32; @%p2 bra OTHER;\n"
        "barrier.sync 0; ld.global.u32 %r2, [%rd0]; mul.wide.u32 %rd1, %r0, 4;\n"
        "add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1+128], %r2; exit;\n"
        "OTHER: mov.u32 %r3, 0; WORK: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 100; @%p3 bra "
        "WORK;\n"
        "st.global.u32 [%rd0], %r3; barrier.sync 0; exit;\n"
        "LATE: exit;");
    expect_clean();
    for (int lane = 0; lane < 31; lane++) assert_int_equal(words[32 + lane], 100);
}

static void divergent_lock(void **state) {
    (void)state;
    run(2, 32, "",
        "mov.u32 %r5, 0;\n"
        "TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra NEXT;\n"
        "fence.acq_rel.gpu; ld.volatile.global.u32 %r3, [%rd0+4]; add.u32 %r3, %r3, 1;\n"
        "st.volatile.global.u32 [%rd0+4], %r3; fence.acq_rel.gpu;\n"
        "atom.global.exch.b32 %r4, [%rd0], 0; mov.u32 %r5, 1;\n"
        "NEXT: setp.eq.u32 %p3, %r5, 0; @%p3 bra TAKE;");
    expect_clean();
    assert_int_equal(words[1], 64);
}

/* With a timer in its loop it may end by itself: it is woken, and does. */
static void patience(void **state) {
    (void)state;
    run(3, 1, "",
        "mov.u32 %r1, 0;\n"
        "LOOK: ld.volatile.global.u32 %r2, [%rd0+64]; add.u32 %r1, %r1, 1;\n"
        "setp.lt.u32 %p1, %r1, 50000; setp.eq.and.u32 %p2, %r2, 0, %p1; @%p2 bra LOOK;\n"
        "red.global.add.u32 [%rd0], 1;");
    expect_clean();
    assert_int_equal(words[0], 3);
}

/* A block that waits for a later one and changes memory meanwhile does not sleep, and still the other one begins: once
 * the first has run for long, so it has one lane only. */
static void works_while_it_waits(void **state) {
    (void)state;
    t.options.n_threads = 1;
    t.options.max_instructions = 1 << 27;
    run(2, 1, "",
        "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;\n"
        "LOOK: red.global.add.u32 [%rd0+8], 1; ld.volatile.global.u32 %r2, [%rd0];\n"
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOK; bra END;\n"
        "OTHER: mov.u32 %r3, 1; st.volatile.global.u32 [%rd0], %r3; END:");
    expect_clean();
    assert_int_equal(words[0], 1);
    t.options.max_instructions = 0;
    t.options.n_threads = 0;
}

static void hangs(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 2; jobs++) {
        t.options.n_threads = jobs;
        run(20, 64, "", GRID_BARRIER(21));
        expect("deadlock");
        expect("which polls by ld.volatile.global.u32");
        assert_int_equal(emu_result_reports(t.result), 1);
        /* 2 blocks with so much shared memory fit an SM, and 264 the chip */
        run(300, 64, ".shared .b8 much[49152]; .shared .b8 more[49152];", GRID_BARRIER(300));
        expect("have not begun: the chip holds no more at once");
    }
    t.options.n_threads = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_barrier),   cmocka_unit_test(spin_lock),
        cmocka_unit_test(divergent_lock), cmocka_unit_test(exit_beside_a_wait),
        cmocka_unit_test(patience),       cmocka_unit_test(works_while_it_waits),
        cmocka_unit_test(hangs),
    };
    emu_test_open(&t);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_test_close(&t);
    return failed;
}
