/* From what the emulator counted to the names of counters.txt and to source lines: kernels so small that
 * every value is known. */
#include "emu.h"
#include "common/device/emu_counters.h"
#include "common/device/source.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct emu_test t;
static struct counters counts;    /* of the last launch */
static struct emu_module *module; /* its own: what was counted names its kernels */

/* %r5 is the address of `tile`, %r4 of a barrier, %r6 this thread's word of the tile, %rd51 of the
 * buffer; of `blocks`, each a cluster's. */
static void launch(unsigned blocks, unsigned threads, const char *body) {
    char text[8192];
    uint64_t p;
    snprintf(text, sizeof text,
             "mov.u32 %%r5, tile; mov.u32 %%r4, bar; shl.b32 %%r6, %%r0, 2; cvt.u64.u32 %%rd51, "
             "%%r6;\nadd.s32 %%r6, %%r6, %%r5; add.s64 %%rd51, %%rd51, %%rd0;\n%s",
             body);
    char whole[16384];
    snprintf(whole, sizeof whole, "%s",
             emu_test_kernel(1, ".shared .align 1024 .b8 tile[32768]; .shared .align 8 .b64 bar;",
                             text));
    char *target = strstr(whole, ".visible"); /* the file names come before the kernel */
    char filed[17000];
    snprintf(filed, sizeof filed, "%.*s.file 1 \"kernel.cu\"\n.file 2 \"ptx.cuh\"\n%s",
             (int)(target - whole), whole, target);
    emu_result_clear(t.result);
    emu_module_close(module);
    module = NULL;
    assert_fine(emu_module_open(t.memory, filed, strlen(filed), "k", &module));
    assert_fine(emu_memory_alloc(t.memory, 65536, &p));
    struct emu_grid g = {.grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .cluster = {blocks, 1, 1},
                         .n_args = 1,
                         .arg = {&p},
                         .arg_bytes = {8}};
    struct emu_options options = {.n_threads = 1, .no_checks = true};
    assert_fine(emu_launch(t.memory, emu_module_kernel(module, "test"), &g, chip_find("h200"),
                           &options, t.result));
    emu_memory_free(t.memory, p);
    if (emu_result_reports(t.result)) fail_msg("%s", emu_result_report(t.result, 0));
    counters_free(&counts);
    assert_fine(emu_counters_of(t.result, chip_find("h200"), &counts));
}

static double counted(const char *name) {
    for (int i = 0; i < counts.n; i++)
        if (!strcmp(counts.counter[i].name, name)) return counts.counter[i].value;
    fail_msg("nobody counts %s", name);
    return 0;
}

static void same(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void is(const char *name, double expected) {
    double value = counted(name);
    if (value != expected) fail_msg("%s is %g, expected %g", name, value, expected);
}

#define ADDS_10                                                                                    \
    "add.s32 %r20, %r20, 1; add.s32 %r21, %r21, 1; add.s32 %r22, %r22, 1; add.s32 %r23, %r23, 1;"  \
    "add.s32 %r24, %r24, 1; add.s32 %r25, %r25, 1; add.s32 %r26, %r26, 1; add.s32 %r27, %r27, 1;"  \
    "add.s32 %r28, %r28, 1; add.s32 %r29, %r29, 1;"
#define MMA(k, a, b)                                                                               \
    "mma.sync.aligned.m16n8k" #k ".row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {" a "}, {" b     \
    "}, {%f0, %f1, %f2, %f3};"

static void tensor_cores_are_busy_for_their_flops(void **state) {
    (void)state;
    launch(1, 64, MMA(16, "%r10, %r11, %r12, %r13", "%r14, %r15"));
    is("hmma", 2);
    same(counted("bound.tensor"), 2 * 4096 / 2731. / 132);
    same(counted("bound.unit"), counted("bound.tensor"));
    launch(1, 64, MMA(16, "%r10, %r11, %r12, %r13", "%r14, %r15") ADDS_10 ADDS_10 ADDS_10 ADDS_10);
    assert_true(counted("bound.issue") > 3 * counted("bound.tensor")); /* which is no unit's */
    same(counted("bound.unit"), counted("bound.tensor"));
    launch(1, 128,
           "mov.b64 %rd5, 0x4000004000010040; wgmma.fence.sync.aligned;"
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd5, %rd5, "
           "%p3, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    is("hgmma", 4); /* one for each warp, a quarter of the rows each */
    same(counted("bound.tensor"), 2 * 64 * 8 * 16 / 4096. / 132);
    launch(1, 32,
           "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, "
           "%r14, %r15, %r16, %r17}, [%r5];"
           "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%r20, %r21, %r22, %r23, "
           "%r24, %r25, %r26, %r27}, [%r5];"
           "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, "
           "%f6, %f7}, {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, "
           "%r22, %r23, %r24, %r25, %r26, %r27}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};");
    is("hmma", 2); /* SASS instructions */
    same(counted("bound.tensor"), 2 * 16 * 16 * 16 / 2731. / 132);
}

/* One warp and nothing but this. */
static void launch_bare(const char *body) {
    char text[1024];
    snprintf(text, sizeof text, "%s", body);
    assert_fine(emu_test_run(&t, emu_test_kernel(0, "", text), "test", 1, 32, 0, 0, NULL, NULL));
    counters_free(&counts);
    assert_fine(emu_counters_of(t.result, chip_find("h200"), &counts));
    emu_result_clear(t.result);
}

/* Less than a cycle of an SM, and nothing at all. */
static void shares_of_next_to_nothing(void **state) {
    (void)state;
    struct emu_result *none;
    launch_bare(MMA(8, "%r10, %r11", "%r14") "exit;");
    is("instructions", 3); /* with the move of %tid */
    same(counted("bound.issue"), 0.75 / 132);
    same(counted("bound.unit"), 2048 / 2731. / 132);
    emu_result_clear(t.result);
    assert_fine(emu_result_open(&none));
    counters_free(&counts);
    assert_fine(emu_counters_of(none, chip_find("h200"), &counts));
    emu_result_close(none);
    is("instructions", 0);
    is("bound.issue", 0);
    is("bound.unit", 0);
}

/* One warp; %r5 is `tile`, nothing else is done. */
static double count(const char *name, const char *access) {
    launch(1, 32, access);
    return counted(name);
}

#define STRIDE(bytes) "mad.lo.s32 %r6, %r0, " #bytes ", %r5;"
#define WAVES(access) count("ld_shared.wavefronts", access)

static void banks_serve_a_word_a_wavefront(void **state) {
    (void)state;
    assert_int_equal(WAVES(STRIDE(4) "ld.shared.u32 %r8, [%r6];"), 1);
    assert_int_equal(WAVES(STRIDE(8) "ld.shared.u32 %r8, [%r6];"), 2);
    assert_int_equal(WAVES(STRIDE(64) "ld.shared.u32 %r8, [%r6];"), 16);
    assert_int_equal(WAVES(STRIDE(128) "ld.shared.u32 %r8, [%r6];"), 32);
    assert_int_equal(WAVES(STRIDE(132) "ld.shared.u32 %r8, [%r6];"), 1);
    assert_int_equal(WAVES(STRIDE(0) "ld.shared.u32 %r8, [%r6];"), 1); /* broadcast */
    assert_int_equal(WAVES(STRIDE(2) "ld.shared.u16 %h8, [%r6];"), 1);
    assert_int_equal(WAVES(STRIDE(8) "ld.shared.v2.u32 {%r8, %r9}, [%r6];"), 2); /* two phases */
    assert_int_equal(WAVES(STRIDE(16) "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r6];"), 4);
    assert_int_equal(WAVES(STRIDE(128) "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r6];"), 32);
    assert_int_equal(WAVES(STRIDE(144) "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r6];"), 4);
    assert_int_equal(count("st_shared.wavefronts", STRIDE(64) "st.shared.u32 [%r6], %r0;"), 16);
    assert_int_equal(count("st_shared.wavefronts_ideal", STRIDE(64) "st.shared.u32 [%r6], %r0;"),
                     1);
    /* the pattern of the first time must not be taken for that of the second */
    assert_int_equal(
        WAVES("mov.u32 %r1, 0; L: add.s32 %r2, %r1, 1; shl.b32 %r3, %r0, %r2; shl.b32 %r3, %r3, 1;"
              "add.s32 %r6, %r5, %r3; ld.shared.u32 %r8, [%r6]; add.s32 %r1, %r1, 1;"
              "setp.lt.u32 %p1, %r1, 3; @%p1 bra L;"),
        1 + 2 + 4);
}

/* cp.async of 16 bytes, eight lanes a row. An H200 counts 4 wavefronts for rows of 128 bytes,
 * and for rows padded to 144 bytes 10.5 wavefronts and 24 sectors on average (stage 3's K and
 * V): 10 and 11 in turn. */
static void copies_serve_rows(void **state) {
#define COPY(row_bytes, first_row)                                                                 \
    "shr.u32 %r7, %r0, 3; add.s32 %r7, %r7, " #first_row                                           \
    "; and.b32 %r8, %r0, 7; shl.b32 %r8, %r8, 4;"                                                  \
    "mad.lo.s32 %r6, %r7, " #row_bytes ", %r8; add.s32 %r6, %r6, %r5;"                             \
    "mul.wide.u32 %rd5, %r0, 16; add.s64 %rd5, %rd5, %rd0;"                                        \
    "cp.async.cg.shared.global [%r6], [%rd5], 16; cp.async.commit_group; cp.async.wait_group 0;"
    (void)state;
    assert_int_equal(count("ldgsts.wavefronts", COPY(128, 0)), 4);
    assert_int_equal(count("ldgsts.wavefronts", COPY(144, 0)), 10);
    assert_int_equal(count("ldgsts.wavefronts", COPY(144, 4)), 11);
    assert_int_equal(count("ldgsts.wavefronts_ideal", COPY(144, 4)), 4);
    assert_int_equal(count("ldgsts.sectors", COPY(128, 0)), 16);
    assert_int_equal(count("ldgsts.sectors", COPY(144, 0)) + count("ldgsts.sectors", COPY(144, 4)),
                     48);
}

static void counts_are_exact(void **state) {
    (void)state;
#define GLOBAL(bytes) "mul.wide.u32 %rd5, %r0, " #bytes "; add.s64 %rd5, %rd5, %rd0;"
    assert_int_equal(count("ld_global.sectors", GLOBAL(4) "ld.global.u32 %r8, [%rd5];"), 4);
    assert_int_equal(count("ld_global.sectors", GLOBAL(4) "ld.global.u32 %r8, [%rd5+4];"), 5);
    assert_int_equal(count("ld_global.sectors", GLOBAL(128) "ld.global.u32 %r8, [%rd5];"), 32);
    assert_int_equal(count("ld_global.sectors_ideal", GLOBAL(128) "ld.global.u32 %r8, [%rd5];"), 4);
    assert_int_equal(
        count("ld_global.sectors", GLOBAL(16) "ld.global.v4.u32 {%r8,%r9,%r10,%r11}, [%rd5];"), 16);
    assert_int_equal(
        count("ld_global.bytes", GLOBAL(16) "ld.global.v4.u32 {%r8,%r9,%r10,%r11}, [%rd5];"), 512);
    assert_int_equal(
        count("mufu",
              "mov.f32 %f1, 0f3F800000; ex2.approx.ftz.f32 %f2, %f1; lg2.approx.f32 %f3, %f2;"),
        2);
    assert_int_equal(
        count("branch_splits", "setp.lt.u32 %p1, %r0, 7; @%p1 bra L; add.s32 %r1, %r0, 1; L:"), 1);
    assert_int_equal(
        count("branch_splits", "setp.lt.u32 %p1, %r0, 32; @%p1 bra L; add.s32 %r1, %r0, 1; L:"), 0);
    assert_int_equal(count("barrier_arrivals", "bar.sync 0; bar.sync 0;"), 2);
    assert_int_equal(count("fp32",
                           "mov.u32 %r1, 0; L: fma.rn.f32 %f1, %f2, %f3, %f1; add.s32 %r1, %r1, 1;"
                           "setp.lt.u32 %p1, %r1, 10; @%p1 bra L;"),
                     10);
    /* 7 lanes of 32 run it */
    assert_int_equal(count("threads", "setp.ge.u32 %p1, %r0, 7; @%p1 exit; add.s32 %r1, %r0, 1;") -
                         count("threads", "setp.ge.u32 %p1, %r0, 7; @%p1 exit;"),
                     7);
}

/* Least cycles of an SM: of one warp on a chip of 132 SMs. */
static void units_bound_the_time(void **state) {
    (void)state;
    launch_bare("cvt.rn.f32.u32 %f0, %r0; ex2.approx.f32 %f1, %f0; ex2.approx.f32 %f2, %f1;"
                "fma.rn.f32 %f3, %f1, %f2, %f1;");
    same(counted("bound.tensor"), 0);
    same(counted("bound.mufu"), 2 * 32 / 16. / 132);
    same(counted("bound.fma"), 32 / 128. / 132);
    same(counted("bound.shared"), 0);
    same(counted("bound.issue"), counted("instructions") / 4 / 132);
    same(counted("bound.unit"), counted("bound.mufu"));
    launch_bare("exit;"); /* less than a cycle */
    assert_true(counted("instructions") < 4);
    same(counted("bound.issue"), counted("instructions") / 4 / 132);
    same(counted("bound.unit"), 0);
}

#define SYNC "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"

static void own_memory_of_a_cluster_is_shared_memory(void **state) {
    (void)state;
    /* two blocks of one warp: a load and two stores of their own, a load and a store next door */
    launch(2, 32,
           "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; shl.b32 %r7, %r0, 3;"
           "add.s32 %r7, %r7, %r5; mapa.shared::cluster.u32 %r8, %r7, %r2;"
           "mapa.shared::cluster.u32 %r9, %r6, %r3;" SYNC
           "st.shared::cluster.u32 [%r8], %r0; st.shared::cluster.u32 [%r8+512], %r0;"
           "ld.shared::cluster.u32 %r20, [%r8];" SYNC "st.shared::cluster.u32 [%r9], %r0;" SYNC
           "ld.shared::cluster.u32 %r20, [%r9];" SYNC);
    is("st_shared", 2 * 2);
    is("ld_shared", 2);
    is("st_shared.wavefronts", 2 * 2 * 2); /* every other word: two wavefronts */
    is("st_shared.wavefronts_ideal", 2 * 2);
    is("ld_shared.wavefronts", 2 * 2);
    is("ld_shared.wavefronts_ideal", 2);
    is("shared_wavefronts", 12);
    is("shared_wavefronts_ideal", 6);
    is("st_dshared", 2);
    is("ld_dshared", 2);
    is("st_dshared.sectors", 2 * 4);
    is("st_dshared.sectors_ideal", 2 * 4);
    is("ld_dshared.sectors", 2 * 4);
    same(counted("bound.shared"), 12 / 132.);
}

#define TMA_IN                                                                                     \
    "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;"                        \
    "fence.proxy.async.shared::cta; bar.sync 0;"                                                   \
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 512;"                                \
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd0], 512, "  \
    "[%r4];\nW: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0; @!%p1 bra W;"

static void bytes_of_global_memory(void **state) {
    (void)state;
    const double bytes_per_clk = 4800e3 / 1980;
    launch(1, 64,
           "bar.sync 0; setp.lt.u32 %p1, %r0, 7; @%p1 bra L; fma.rn.f32 %f1, %f2, %f3, %f1;"
           "L: bar.sync 0;");
    is("fp32", 2);
    is("branch_splits", 1);
    is("barrier_arrivals", 4);
    same(counted("bound.fma"), 2 * 32 / 128. / 132);
    is("threads", 32 * counted("instructions") - 57 - 7); /* who does not branch; who did */
    launch(1, 32, "ld.global.u32 %r20, [%rd51];");
    is("ld_global.bytes", 128);
    same(counted("uncached.dram"), 128 / bytes_per_clk);
    launch(1, 32, "ld.global.u32 %r20, [%rd51]; cvt.u16.u32 %h1, %r0; st.global.u16 [%rd51], %h1;");
    is("st_global.bytes", 64);
    same(counted("uncached.dram"), (128 + 64) / bytes_per_clk);
    launch(1, 32,
           "shl.b32 %r7, %r0, 4; add.s32 %r8, %r7, %r5; cvt.u64.u32 %rd5, %r7;"
           "add.s64 %rd5, %rd5, %rd0; ld.global.u32 %r20, [%rd51];"
           "cp.async.cg.shared.global [%r8], [%rd5], 16; cp.async.wait_all;");
    is("ldgsts.bytes", 512);
    same(counted("uncached.dram"), (128 + 512) / bytes_per_clk);
    launch(1, 32, TMA_IN "ld.shared.u32 %r20, [%r6];");
    is("tma", 1);
    is("tma.bytes", 512);
    same(counted("uncached.dram"), 512 / bytes_per_clk);
    /* what TMA writes is not among the wavefronts of instructions: the barrier's are, and the load's */
    is("tma.wavefronts", 4);
    const double with = counted("shared_wavefronts"), ideal = counted("shared_wavefronts_ideal");
    launch(1, 32, "ld.shared.u32 %r20, [%r6];");
    assert_true(with >= 1 && with - counted("shared_wavefronts") < 4);
    assert_true(ideal >= 1 && ideal - counted("shared_wavefronts_ideal") < 4);
    is("shared_wavefronts", 1);
    is("shared_wavefronts_ideal", 1);
}

static const struct source_inst *instruction(const struct source *s, const char *text) {
    for (int i = 0; i < s->n_insts; i++)
        if (strstr(s->inst[i].text, text)) return &s->inst[i];
    return NULL;
}

static void lines_have_their_instructions(void **state) {
    struct source s = {0};
    (void)state;
    launch(1, 64,
           ".loc 1 7 3\nst.shared.u32 [%r6], %r0;\nld.global.u32 %r9, [%rd51];\nbar.sync 0;\n"
           "$around:\n.loc 2 3 0, function_name $info, inlined_at 1 9 3\n"
           "fma.rn.f32 %f1, %f2, %f3, %f1;\n"
           ".loc 1 11 3\n" MMA(
               16, "%r10, %r11, %r12, %r13",
               "%r14, %r15") ".loc 1 12 3\nsetp.lt.u32 %p1, %r0, 7;\n@%p1 bra L;\nex2.approx.f32 "
                             "%f9, %f8;\nL:\n"
                             "@!%p1 bra M;\nM:\nbra N;\nlg2.approx.f32 %f5, %f6;\nN:\n");
    emu_source_of(t.result, chip_find("h200"), 2, &s);
    const struct source_inst *i = instruction(&s, "fma.rn.f32");
    assert_non_null(i);
    assert_int_equal(i->isa, SOURCE_PTX);
    assert_string_equal(s.place[i->place].at.file, "ptx.cuh");
    assert_int_equal(s.place[i->place].at.line, 3);
    const struct source_place *caller = &s.place[s.place[i->place].parent];
    assert_string_equal(caller->at.file, "kernel.cu");
    assert_int_equal(caller->at.line, 9);
    assert_int_equal(caller->parent, -1);
    same(i->counts.busy[SOURCE_FMA], 2 * 32 / 128. / 2); /* of two SMs */
    same(i->counts.busy[SOURCE_ISSUE], 2 / 4. / 2);
    i = instruction(&s, "mma.sync");
    same(i->counts.busy[SOURCE_TENSOR], 2 * 4096 / 2731. / 2);
    i = instruction(&s, "ex2.approx");
    same(i->counts.busy[SOURCE_MUFU], 2 * 32 / 16. / 2);
    assert_true(i->counts.threads == 64 - 7);
    i = instruction(&s, "st.shared");
    same(i->counts.busy[SOURCE_SHARED], 2 / 2.);
    assert_true(i->counts.wavefronts == 2);
    i = instruction(&s, "ld.global");
    same(i->counts.busy[SOURCE_GLOBAL], 8 * 32 / 64. / 2);
    assert_true(i->counts.sectors == 8);
    assert_true(instruction(&s, "bar.sync")->counts.splits == 0); /* arrivals divide no warp */
    assert_true(instruction(&s, "bra L")->counts.splits == 1);
    assert_true(instruction(&s, "bra N")->counts.splits == 0);
    assert_null(instruction(&s, "lg2.approx")); /* nobody came by */
    assert_true(s.total.splits == 2);           /* the way back of it too */
    assert_int_equal(s.n_lines,
                     5); /* 7, 9 and what is inlined there, 11, 12; and ptx.cuh beside it */
    source_free(&s);
}

/* The 255 first characters. */
static void long_instructions_are_cut(void **state) {
    struct source s = {0};
    char body[2048] = "mov.b64 %rd5, 0x4000004000010040; wgmma.fence.sync.aligned;\n"
                      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {";
    (void)state;
    for (int f = 0; f < 64; f++) sprintf(body + strlen(body), "%s%%f%d", f ? ", " : "", f);
    strcat(body, "}, %rd5, %rd5, %p3, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;");
    launch(1, 128, body);
    emu_source_of(t.result, chip_find("h200"), 1, &s);
    assert_int_equal(strlen(instruction(&s, "wgmma.mma_async")->text), 255);
    source_free(&s);
}

static int open(void **state) {
    (void)state;
    emu_test_open(&t);
    return 0;
}

static int close(void **state) {
    (void)state;
    counters_free(&counts);
    emu_result_clear(t.result);
    emu_module_close(module);
    emu_test_close(&t);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_cores_are_busy_for_their_flops),
        cmocka_unit_test(shares_of_next_to_nothing),
        cmocka_unit_test(banks_serve_a_word_a_wavefront),
        cmocka_unit_test(copies_serve_rows),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(units_bound_the_time),
        cmocka_unit_test(own_memory_of_a_cluster_is_shared_memory),
        cmocka_unit_test(bytes_of_global_memory),
        cmocka_unit_test(lines_have_their_instructions),
        cmocka_unit_test(long_instructions_are_cut),
    };
    return cmocka_run_group_tests_name("emu_counters", tests, open, close);
}
