/* Launches that overlap: what a kernel must not touch before griddepcontrol.wait, and what it
 * may. */
#include "emu.h"

#include "emulator/core/footprint.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct emu_test t;
static uint64_t a, b; /* 4 KB each; kernels get their addresses in %rd0 and %rd1 */

/* %rd2 and %rd3: this thread's word of a and b; two blocks of 64 threads, whose warps 0 and 1 find %p0 true
 * and false */
static struct emu_module *module_of(const char *body) {
    char text[4096];
    struct emu_module *m;
    snprintf(text, sizeof text,
             "mov.u32 %%r6, %%ctaid.x; mad.lo.u32 %%r6, %%r6, 64, %%r0; "
             "mul.wide.u32 %%rd4, %%r6, 4; add.s64 %%rd2, %%rd0, %%rd4; add.s64 %%rd3, %%rd1, "
             "%%rd4;\nsetp.lt.u32 %%p0, %%r0, 32; mov.u32 %%r5, tile; mov.u32 %%r6, bar;\n%s",
             body);
    const char *whole =
        emu_test_kernel(2, ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;", text);
    assert_fine(emu_module_open(t.memory, whole, strlen(whole), "test.ptx", &m));
    return m;
}

static void launch(const struct emu_module *m, bool overlaps) {
    struct emu_grid g = {.grid = {2, 1, 1},
                         .block = {64, 1, 1},
                         .overlaps_previous = overlaps,
                         .n_args = 2,
                         .arg = {&a, &b},
                         .arg_bytes = {8, 8}};
    assert_fine(emu_launch(t.memory, emu_module_kernel(m, "test"), &g, chip_find("h200"),
                           &t.options, t.result));
}

/* Two launches with fresh buffers, the second overlapping the first: NULL or what was reported of
 * the second. The text lives until the next call. */
static const char *report_of(const char *first, const char *second, bool overlaps) {
    static char text[1024];
    struct emu_module *m[2] = {module_of(first), module_of(second)};
    assert_fine(emu_memory_alloc(t.memory, 4096, &a));
    assert_fine(emu_memory_alloc(t.memory, 4096, &b));
    emu_result_clear(t.result);
    launch(m[0], false);
    assert_int_equal(emu_result_reports(t.result), 0);
    launch(m[1], overlaps);
    int n = emu_result_reports(t.result);
    if (n) snprintf(text, sizeof text, "%s", emu_result_report(t.result, 0));
    emu_result_clear(t.result);
    for (int k = 0; k < 2; k++) emu_module_close(m[k]);
    emu_memory_free(t.memory, a);
    emu_memory_free(t.memory, b);
    return n ? text : NULL;
}

#define READ_A  "ld.global.u32 %r8, [%rd2];"
#define WRITE_A "st.global.u32 [%rd2], %r0;"
#define READ_B  "ld.global.u32 %r9, [%rd3];"
#define WRITE_B "st.global.u32 [%rd3], %r0;"
#define WAIT    "griddepcontrol.wait;"
#define GO      "griddepcontrol.launch_dependents;"

static void expect(const char *second, const char *words) {
    const char *report = report_of(GO READ_A WRITE_B, second, true);
    if (!report || !strstr(report, "missing griddepcontrol.wait") || !strstr(report, words))
        fail_msg("%s: expected '%s', not %s", second, words, report ? report : "silence");
    report = report_of(GO READ_A WRITE_B, second, false);
    if (report) fail_msg("%s, without overlap: %s", second, report);
}

static void expect_clean(const char *second) {
    const char *report = report_of(GO READ_A WRITE_B, second, true);
    if (report) fail_msg("%s: %s", second, report);
}

static void test_accesses(void **state) {
    (void)state;
    expect(READ_B WAIT, "where an earlier launch writes");
    expect(WRITE_B WAIT, "where an earlier launch writes");
    expect(WRITE_A WAIT, "where an earlier launch reads");
    expect("atom.global.add.u32 %r8, [%rd2], 1;", "where an earlier launch reads");
    expect("ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1];", "where an earlier launch writes");
    expect("shl.b32 %r7, %r0, 2; add.s32 %r7, %r7, %r5; cp.async.ca.shared.global [%r7], [%rd3], 4;"
           "cp.async.wait_all;",
           "where an earlier launch writes");
    expect_clean(WAIT READ_B WRITE_A WRITE_B);
    expect_clean(READ_A WAIT WRITE_A); /* both read */
    expect_clean(READ_A GO);
    /* what was written is known from its first byte to its last: an access is of at most 32 bytes */
    expect("ld.global.u32 %r8, [%rd1+508];", "where an earlier launch writes");
    expect_clean("ld.global.u32 %r8, [%rd1+512];");
    static const char upper[] = GO "st.global.u32 [%rd3+1024], %r0;";
    assert_null(report_of(upper, "ld.global.u32 %r8, [%rd1+992];", true));
    assert_non_null(report_of(upper, "ld.global.u32 %r8, [%rd1+1024];", true));
}

/* Bulk copies in both directions, by thread 0. */
#define BARRIER                                                                                    \
    "setp.ne.u32 %p1, %r0, 0; @%p1 bra END; mbarrier.init.shared.b64 [%r6], 1;"                    \
    "fence.mbarrier_init.release.cluster; fence.proxy.async;"
#define LOAD_B                                                                                     \
    "mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r6], 64;"                                        \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 64, [%r6];"  \
    "LOOP: mbarrier.try_wait.shared.b64 %p2, [%r6], %rd5; @!%p2 bra LOOP; END:"
#define STORE_A                                                                                    \
    "setp.ne.u32 %p1, %r0, 0; @%p1 bra END; st.shared.u32 [%r5], 0; st.shared.u32 [%r5+4], 0;"     \
    "st.shared.u32 [%r5+8], 0; st.shared.u32 [%r5+12], 0; fence.proxy.async;"
#define STORED                                                                                     \
    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r5], 16; cp.async.bulk.commit_group;"   \
    "cp.async.bulk.wait_group 0; END:"

static void test_bulk(void **state) {
    (void)state;
    expect(BARRIER LOAD_B, "where an earlier launch writes");
    expect_clean(BARRIER WAIT LOAD_B); /* setting up what the copies need is what overlaps */
    expect(STORE_A STORED, "where an earlier launch reads");
    expect_clean(STORE_A WAIT STORED);
    /* what a bulk copy wrote or read was touched as well */
    const char *report = report_of(STORE_A STORED, READ_A, true);
    if (!report || !strstr(report, "where an earlier launch writes"))
        fail_msg("expected a report, not %s", report ? report : "silence");
    report = report_of(BARRIER LOAD_B, WRITE_B, true);
    if (!report || !strstr(report, "where an earlier launch reads"))
        fail_msg("expected a report, not %s", report ? report : "silence");
    /* of memory that nobody has, the copy says more */
    report = report_of("", "mov.u64 %rd1, 0x7000000000000; " BARRIER LOAD_B, true);
    if (!report || strstr(report, "griddepcontrol"))
        fail_msg("expected another report, not %s", report ? report : "silence");
}

/* A bulk copy's bytes, for streams that nothing orders. */
static void test_footprint(void **state) {
    uint64_t at = 0, from = 0, to = 0;
    (void)state;
    emu_memory_trace(t.memory);
    assert_fine(emu_memory_alloc(t.memory, 4096, &a));
    assert_fine(emu_memory_alloc(t.memory, 4096, &b));
    struct emu_module *m = module_of("add.s64 %rd2, %rd2, 4080;" STORE_A STORED);
    launch(m, false);
    const struct emu_footprint *f = emu_memory_find(t.memory, a)->footprint;
    assert_true(f && emu_footprint_next(f, EMU_TRACE_WRITE, &at, &from, &to));
    assert_true(from == a + 4080 && to == a + 4096);
    emu_result_clear(t.result);
    emu_module_close(m);
    m = module_of("add.s64 %rd2, %rd2, 4080;" STORE_A /* half of it lies beyond: it has none */
                  "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r5], 32;"
                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:");
    launch(m, false);
    assert_int_not_equal(emu_result_reports(t.result), 0);
    at = 0;
    assert_false(emu_footprint_next(f, EMU_TRACE_WRITE, &at, &from, &to));
    emu_result_clear(t.result);
    emu_module_close(m);
    emu_memory_free(t.memory, a);
    emu_memory_free(t.memory, b);
}

/* One may wait for all, if the others synchronise with it. */
static void test_happens_before(void **state) {
    (void)state;
    expect("@%p0 " WAIT READ_B, "where an earlier launch writes"); /* warp 1 did not wait */
    expect_clean("@%p0 " WAIT "bar.sync 0;" READ_B);
    expect("bar.sync 0; @%p0 " WAIT READ_B, "lane 0 reads");
    expect("setp.eq.u32 %p1, %r0, 0; @%p1 " WAIT "@!%p0 exit;" READ_B, "lane 1 reads");
    expect_clean("setp.eq.u32 %p1, %r0, 0; @%p1 " WAIT "@!%p0 exit; bar.warp.sync -1;" READ_B);
    expect_clean("setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r6], 32; bar.sync 0; "
                 "@!%p0 bra READ;" WAIT "mbarrier.arrive.shared.b64 %rd5, [%r6]; exit; READ:"
                 "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0; @!%p2 bra LOOP;" READ_B);
}

/* A launch that overlaps may let what it overlaps go on, too; one that does not ends all before
 * it. */
static void test_chain(void **state) {
    (void)state;
    struct emu_module *write_b = module_of(WRITE_B), *nothing = module_of(""),
                      *read_b = module_of(READ_B);
    assert_fine(emu_memory_alloc(t.memory, 4096, &a));
    assert_fine(emu_memory_alloc(t.memory, 4096, &b));
    for (int middle_overlaps = 0; middle_overlaps < 2; middle_overlaps++) {
        emu_result_clear(t.result);
        launch(write_b, false);
        launch(nothing, middle_overlaps);
        launch(read_b, true);
        assert_int_equal(emu_result_reports(t.result) > 0, middle_overlaps);
    }
    emu_result_clear(t.result);
    emu_module_close(write_b);
    emu_module_close(nothing);
    emu_module_close(read_b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accesses), cmocka_unit_test(test_bulk),
                                       cmocka_unit_test(test_footprint),
                                       cmocka_unit_test(test_happens_before),
                                       cmocka_unit_test(test_chain)};
    emu_test_open(&t);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_test_close(&t);
    return failed;
}
