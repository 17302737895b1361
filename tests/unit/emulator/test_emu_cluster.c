/* Clusters of blocks in the emulator: addresses, accesses and barriers between blocks, and what
 * it must object to: for each mistake a kernel that is right but for it, under every order of
 * the warps. */
#include "emu.h"
#include "common/device/emu_counters.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct emu_test t;
static uint32_t words[4096];
static struct counters counts; /* of the last launch */

struct shape {
    unsigned grid[3], cluster[3], threads;
};
static const struct shape two = {{4, 1, 1}, {2, 1, 1}, 64};

/* Every kernel has: %rd0 `words`; the thread of the grid (1-D blocks) in %r1, its word in %rd3;
 * %r5 the address of `tile` (1 KB), %r6 this thread's word of it, %r4 an mbarrier; %r2 the
 * block's rank, %r3 the next one's, %r7 and %r8 what %r6 and %r4 are in that block. */
static const char *launch(const struct shape *s, const char *body) {
    char text[8192];
    snprintf(
        text, sizeof text,
        "mov.u32 %%r10, %%ctaid.x; mov.u32 %%r11, %%ntid.x; mad.lo.s32 %%r1, %%r10, %%r11, "
        "%%r0;\nmul.wide.u32 %%rd2, %%r1, 4; add.s64 %%rd3, %%rd0, %%rd2; mov.u32 %%r5, tile;\n"
        "shl.b32 %%r6, %%r0, 2; add.s32 %%r6, %%r6, %%r5; mov.u32 %%r4, bar;\n"
        "mov.u32 %%r2, %%cluster_ctarank; mov.u32 %%r12, %%cluster_nctarank;\n"
        "add.s32 %%r3, %%r2, 1; rem.u32 %%r3, %%r3, %%r12;\n"
        "mapa.shared::cluster.u32 %%r7, %%r6, %%r3; mapa.shared::cluster.u32 %%r8, %%r4, %%r3;"
        "setp.eq.u32 %%p0, %%r0, 0; setp.eq.u32 %%p1, %%r2, 0;\n%s",
        body);
    const char *whole =
        emu_test_kernel(1, ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar[2];", text);
    struct emu_module *m;
    uint64_t p;
    emu_result_clear(t.result);
    assert_fine(emu_module_open(t.memory, whole, strlen(whole), "test.ptx", &m));
    assert_fine(emu_memory_alloc(t.memory, sizeof words, &p));
    struct emu_grid g = {.grid = {s->grid[0], s->grid[1], s->grid[2]},
                         .block = {s->threads, 1, 1},
                         .cluster = {s->cluster[0], s->cluster[1], s->cluster[2]},
                         .n_args = 1,
                         .arg = {&p},
                         .arg_bytes = {8}};
    const char *why = emu_launch(t.memory, emu_module_kernel(m, "test"), &g, chip_find("h200"),
                                 &t.options, t.result);
    counters_free(&counts);
    assert_fine(emu_counters_of(t.result, chip_find("h200"), &counts));
    memcpy(words, emu_memory_at(t.memory, p, sizeof words), sizeof words);
    emu_memory_free(t.memory, p);
    if (!emu_result_reports(t.result)) emu_result_clear(t.result); /* it points into the module */
    emu_module_close(m);
    return why;
}

static const enum emu_schedule schedules[] = {EMU_ROUND_ROBIN, EMU_RANDOM, EMU_ADVERSARIAL};

static void expect(const char *words_of_it, const char *body) {
    for (int s = 0; s < 3; s++) {
        t.options.schedule = schedules[s];
        t.options.seed = 7;
        assert_fine(launch(&two, body));
        if (!emu_test_report(&t, words_of_it))
            fail_msg("schedule %d: no '%s' was reported for\n%s\nbut: %s", s, words_of_it, body,
                     emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing");
    }
}

static void expect_clean(const struct shape *shape, const char *body) {
    for (int s = 0; s < 3; s++) {
        t.options.schedule = schedules[s];
        t.options.seed = 7;
        assert_fine(launch(shape, body));
        if (emu_result_reports(t.result))
            fail_msg("schedule %d:\n%s\nreports %s", s, body, emu_result_report(t.result, 0));
    }
}

#define SYNC    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
#define RELAXED "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;"
#define OUT(r)  "st.global.u32 [%rd3], " r ";"

/* ---- What is right --------------------------------------------------------------------------- */

static void test_neighbours(void **state) {
    (void)state;
    static const struct shape shapes[] = {{{1, 1, 1}, {1, 1, 1}, 64},
                                          {{4, 1, 1}, {2, 1, 1}, 64},
                                          {{16, 1, 1}, {8, 1, 1}, 40},
                                          {{16, 1, 1}, {16, 1, 1}, 160}};
    for (int n = 0; n < 4; n++) {
        const struct shape *s = &shapes[n];
        unsigned cluster = s->cluster[0];
        /* every block reads the next one's words, then writes them into the one after it */
        expect_clean(s, "st.shared.u32 [%r6], %r1;" SYNC "ld.shared::cluster.u32 %r20, [%r7];" SYNC
                        "st.shared::cluster.u32 [%r7], %r20;" SYNC
                        "ld.shared.u32 %r21, [%r6];" OUT("%r21"));
        for (unsigned i = 0; i < s->grid[0] * s->threads; i++) {
            if (words[i] != i) fail_msg("cluster of %u: word %u is %u", cluster, i, words[i]);
        }
        expect_clean(s, "st.shared.u32 [%r6], %r1;" SYNC
                        "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
        for (unsigned i = 0; i < s->grid[0] * s->threads; i++) {
            unsigned block = i / s->threads, first = block / cluster * cluster,
                     next = first + (block - first + 1) % cluster;
            assert_int_equal(words[i], next * s->threads + i % s->threads);
        }
    }
}

/* Vectors, generic addresses, atomics, and the addresses themselves. */
static void test_forms(void **state) {
    (void)state;
    expect_clean(&two,
                 "shl.b32 %r20, %r0, 4; add.s32 %r20, %r20, %r5; mapa.shared::cluster.u32 %r21, "
                 "%r20, %r3;" SYNC "st.shared::cluster.v4.u32 [%r21], {%r1, %r2, %r1, %r3};" SYNC
                 "ld.shared.v2.u32 {%r22, %r23}, [%r20+8]; add.s32 %r22, %r22, %r23;" OUT("%r22"));
    assert_int_equal(words[5], 64 + 5); /* block 1 wrote its thread and the rank of block 0 */
    assert_int_equal(words[64 + 5], 5 + 1);
    assert_int_equal(words[192 + 5], 128 + 5 + 1);
    expect_clean(&two,
                 "st.shared.u32 [%r6], %r1;" SYNC
                 "cvt.u64.u32 %rd5, %r6; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r3;"
                 "ld.u32 %r20, [%rd6];" OUT("%r20") SYNC
                 "st.u32 [%rd6], %r2;" SYNC
                 "atom.add.u32 %r21, [%rd6], 10; red.shared::cluster.add.u32 [%r7], 7;" SYNC
                 "ld.shared.u32 %r22, [%r6]; mad.lo.s32 %r20, %r22, 1000, %r20;" OUT("%r20"));
    assert_int_equal(words[64 + 9],
                     9 + 1000 * 17); /* rank 0 wrote 0 there, both adds came on top */
    assert_int_equal(words[9], 64 + 9 + 1000 * 18);
    /* an address of this block is one of the cluster, too; atomics of a whole cluster meet in
     * one word */
    expect_clean(&two, "@%p0 st.shared::cluster.u32 [%r5], 0;" SYNC
                       "mov.u32 %r20, 0; mapa.shared::cluster.u32 %r21, %r5, %r20;"
                       "atom.relaxed.cluster.shared::cluster.add.u32 %r22, [%r21], 1;" SYNC
                       "ld.shared::cluster.u32 %r23, [%r21];" OUT("%r23") SYNC);
    assert_int_equal(words[0], 128);
    assert_int_equal(words[255], 128);
    expect_clean(
        &two,
        "mov.u32 %r22, 0; getctarank.shared::cluster.u32 %r20, %r7; getctarank.shared::cluster.u32 "
        "%r21, %r6;"
        "cvt.u64.u32 %rd5, %r7; isspacep.shared %p2, %rd5; isspacep.shared::cluster %p3, %rd5;"
        "@%p2 add.s32 %r22, %r22, 4; @%p3 add.s32 %r22, %r22, 8;"
        "mad.lo.s32 %r20, %r21, 2, %r20; add.s32 %r20, %r20, %r22;" OUT("%r20"));
    assert_int_equal(words[0], 8 + 1);
    assert_int_equal(words[64], 8 + 2);
}

static void test_places(void **state) {
    (void)state;
    static const struct shape shape = {{4, 6, 2}, {2, 3, 1}, 32};
    /* one word for each block of the 4 x 6 x 2 grid: digits of all special registers of its
     * place */
#define MY_WORD                                                                                    \
    "mov.u32 %r30, %ctaid.y; mov.u32 %r31, %ctaid.z; mad.lo.s32 %r30, %r31, 6, %r30;"              \
    "mad.lo.s32 %r30, %r30, 4, %r10; mul.wide.u32 %rd5, %r30, 4; add.s64 %rd5, %rd5, %rd0;"
#define DIGIT(name) "mov.u32 %r20, " name "; mad.lo.s32 %r21, %r21, 8, %r20;"
    expect_clean(&shape, MY_WORD "mov.u32 %r21, 0;" DIGIT("%clusterid.x") DIGIT("%clusterid.y")
                             DIGIT("%clusterid.z") DIGIT("%cluster_ctaid.x")
                                 DIGIT("%cluster_ctaid.y") DIGIT("%cluster_ctaid.z")
                                     DIGIT("%cluster_ctarank") "@%p0 st.global.u32 [%rd5], %r21;");
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 6; y++)
            for (unsigned x = 0; x < 4; x++) {
                unsigned digit[] = {x / 2, y / 3, z, x % 2, y % 3, 0, x % 2 + y % 3 * 2}, all = 0;
                for (int d = 0; d < 7; d++) all = all * 8 + digit[d];
                assert_int_equal(words[(z * 6 + y) * 4 + x], all);
            }
    expect_clean(
        &shape, MY_WORD
        "mov.u32 %r21, 0;" DIGIT("%nclusterid.x") DIGIT("%nclusterid.y") DIGIT("%nclusterid.z")
            DIGIT("%cluster_nctaid.x") DIGIT("%cluster_nctaid.y") DIGIT("%cluster_nctaid.z")
                DIGIT("%cluster_nctarank") "mov.pred %p5, %is_explicit_cluster; @!%p5 mov.u32 "
                                           "%r21, 0; @%p0 st.global.u32 [%rd5], %r21;");
    assert_int_equal(words[0], 02222316);
}

/* Threads that have exited are not waited for, be it before or after the others arrive. */
static void test_exits(void **state) {
    (void)state;
    expect_clean(&two, "setp.ge.u32 %p2, %r0, 32; @%p2 exit; st.shared.u32 [%r6], %r1;" SYNC
                       "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
    assert_int_equal(words[3], 64 + 3);
    expect_clean(
        &two, "setp.lt.u32 %p2, %r0, 32; @%p2 bra WORK; nanosleep.u32 20; nanosleep.u32 20; exit;"
              "WORK: st.shared.u32 [%r6], %r1;" SYNC
              "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
    assert_int_equal(words[64 + 3], 3);
    /* arrived, and gone: the arrival no longer counts for the threads that are left */
    expect_clean(
        &two,
        "setp.lt.u32 %p2, %r0, 32; @%p2 bra WORK; barrier.cluster.arrive.release.aligned; exit;"
        "WORK: nanosleep.u32 20; st.shared.u32 [%r6], %r1;" SYNC
        "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
}

/* On many host threads as on one. */
static void test_threads(void **state) {
    static const struct shape many = {{48, 1, 1}, {4, 1, 1}, 64};
    (void)state;
    for (int n = 1; n < 5; n += 3) {
        t.options.n_threads = n;
        expect_clean(&many, "st.shared.u32 [%r6], %r1;" SYNC
                            "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
        for (unsigned i = 0; i < 48 * 64; i++)
            assert_int_equal(words[i], (i / 256 * 4 + (i / 64 + 1) % 4) * 64 + i % 64);
    }
    t.options.n_threads = 1;
}

static double counted(const char *name) {
    int i = 0;
    while (i < counts.n && strcmp(counts.counter[i].name, name)) i++;
    return i < counts.n ? counts.counter[i].value : -1;
}

/* An access that names its own block counts as an ordinary one: an H200 judges when it runs. */
static void test_counts(void **state) {
    (void)state;
    expect_clean(&two,
                 SYNC "mapa.shared::cluster.u32 %r20, %r6, %r2; st.shared::cluster.u32 [%r20], %r1;"
                      "st.shared::cluster.u32 [%r7+512], %r1;" SYNC);
    assert_int_equal(counted("st_shared"), 8); /* warps */
    assert_int_equal(counted("st_shared.wavefronts"), 8);
    assert_int_equal(counted("st_dshared"), 8);
    assert_int_equal(counted("st_dshared.sectors"), 8 * 4);
    assert_int_equal(counted("shared_wavefronts"), 8);
}

/* --watch shared: also prints what other blocks do to that word. */
static void test_watch(void **state) {
    (void)state;
    char text[4096] = "";
    FILE *out = fdopen(memfd_create("said", 0), "w+");
    int keep = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(out), STDOUT_FILENO);
    t.options = (struct emu_options){.n_threads = 1, .watch_shared = true, .watch = 0x400 + 4 * 5};
    const char *why = launch(&two, SYNC "st.shared::cluster.u32 [%r7], %r1;" SYNC);
    t.options = (struct emu_options){.n_threads = 1};
    fflush(stdout);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    fclose(out);
    assert_fine(why);
    const char *first = strstr(text, "lane 5 writes 0x414 of rank 1: line 0, block (0,0,0)");
    if (!first || !strstr(text, "lane 5 writes 0x414 of rank 0: line 0, block (1,0,0)"))
        fail_msg("printed: %s", text);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static void test_life(void **state) {
    (void)state;
    /* the block may not have started */
    expect("may not have started", "ld.volatile.shared::cluster.u32 %r20, [%r7];" SYNC);
    expect_clean(&two, RELAXED "ld.volatile.shared::cluster.u32 %r20, [%r7];" SYNC);
    /* it may have ended */
    expect("access outside a block's life", SYNC "st.shared::cluster.u32 [%r7], %r0;");
    expect("access outside a block's life", SYNC "ld.volatile.shared::cluster.u32 %r20, [%r7];");
    expect("access outside a block's life", SYNC "red.shared::cluster.add.u32 [%r7], 1;");
    expect("access outside a block's life", SYNC "st.shared::cluster.u32 [%r7], %r0;" RELAXED);
    expect("access outside a block's life", /* one block waits, and the other leaves */
           SYNC "@%p1 bra WAIT; exit; WAIT: st.shared::cluster.u32 [%r7], %r0;");
    expect_clean(&two, SYNC "st.shared::cluster.u32 [%r7], %r0;" SYNC);
    /* one warp has met the other block, and its own block's other warp has met it */
    expect_clean(&two,
                 "setp.ge.u32 %p2, %r0, 32; barrier.cluster.arrive.aligned; @%p2 bra LATER;"
                 "barrier.cluster.wait.aligned; LATER: bar.sync 0; @!%p2 bra END;"
                 "st.shared::cluster.u32 [%r7], %r0; barrier.cluster.wait.aligned; END:" SYNC);
    /* bounds hold without the other checks */
    t.options = (struct emu_options){.n_threads = 1, .no_checks = true};
    assert_fine(
        launch(&two, SYNC "@!%p1 exit; nanosleep.u32 20; st.shared::cluster.u32 [%r7], %r0;"));
    assert_non_null(emu_test_report(&t, "rank 1 is gone"));
    t.options = (struct emu_options){.n_threads = 1};
    expect(
        "access outside a block's life", /* only its first warp waits for the other block's first */
        SYNC
        "setp.lt.u32 %p2, %r0, 32; @%p2 bra A; st.shared::cluster.u32 [%r7], %r0; exit; A:" SYNC);
}

static void test_races(void **state) {
    (void)state;
    expect("race", "st.shared.u32 [%r6], %r1;" RELAXED "ld.shared::cluster.u32 %r20, [%r7];" SYNC);
    assert_true(emu_test_report(&t, "of rank 0, which warp 0 of rank 0 wrote") ||
                emu_test_report(&t, "of rank 1, which warp 0 of rank 1 wrote"));
    expect("race", RELAXED "st.shared::cluster.u32 [%r7], %r1;"
                           "ld.shared.u32 %r20, [%r6];" SYNC);
    expect("race", SYNC "ld.shared::cluster.u32 %r20, [%r7]; st.shared.u32 [%r6], %r1;" SYNC);
    expect("race", SYNC "st.shared::cluster.u32 [%r7], %r1; st.shared.u32 [%r6], %r1;" SYNC);
    expect("race", SYNC "mov.u32 %r20, 0; mapa.shared::cluster.u32 %r21, %r6, %r20;"
                        "st.shared::cluster.u32 [%r21], %r1;" SYNC); /* both write into rank 0 */
    /* bar.sync orders the threads of one block only */
    expect("race",
           SYNC "st.shared::cluster.u32 [%r7], %r1; bar.sync 0; ld.shared.u32 %r20, [%r6];" SYNC);
    expect("uninitialised", SYNC "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
    expect_clean(&two, SYNC "st.shared::cluster.u32 [%r7], %r1;" SYNC
                            "ld.shared.u32 %r20, [%r6];" OUT("%r20"));
}

static void test_misuse(void **state) {
    (void)state;
    expect("deadlock", "@%p1 bra END;" SYNC "END:  @%p1 bar.sync 1, 96;");
    assert_non_null(emu_test_report(
        &t,
        "barrier.cluster: 64 of 128 threads have arrived, not: of rank 0 warps 0 to 1 at line"));
    expect("arrive again without barrier.cluster.wait",
           "barrier.cluster.arrive.aligned; bar.sync 0; barrier.cluster.arrive.aligned; "
           "barrier.cluster.wait.aligned;");
    expect("wait without barrier.cluster.arrive", "barrier.cluster.wait.aligned;");
    expect("divergent",
           "setp.lt.u32 %p2, %r0, 16; @%p2 bra A; barrier.cluster.arrive.aligned; bra B;"
           "A: barrier.cluster.arrive.aligned; B: barrier.cluster.wait;");
    expect("rank 2 of a cluster of 2",
           "mov.u32 %r20, 2; mapa.shared::cluster.u32 %r21, %r6, %r20;");
    expect("in the shared memory of no block",
           SYNC "add.s32 %r7, %r7, 0x02000000; st.shared::cluster.u32 [%r7], %r0;" SYNC);
    expect("out of bounds", SYNC "st.shared::cluster.u32 [%r7+2048], %r0;" SYNC);
    expect("misaligned", SYNC "st.shared::cluster.u32 [%r7+2], %r0;" SYNC);
    expect("out of bounds",
           SYNC "ld.shared.u32 %r20, [%r7];" SYNC); /* .shared is this block's alone */
}

/* ---- mbarriers of another block -------------------------------------------------------------- */

#define INIT(n)                                                                                    \
    "@%p0 mbarrier.init.shared.b64 [%r4], " #n "; fence.mbarrier_init.release.cluster;" SYNC
#define INIT_1        INIT(1)
#define INIT_64       INIT(64)
#define INIT_UNFENCED "@%p0 mbarrier.init.shared.b64 [%r4], 1;" SYNC
#define INIT_OTHER    /* a second mbarrier at %r13, for the threads of the block */                \
    "add.s32 %r13, %r4, 8; @%p0 mbarrier.init.shared.b64 [%r13], 32;"                              \
    "fence.mbarrier_init.release.cluster;" SYNC
#define ARRIVE "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];"
#define WAIT_AT(scope)                                                                             \
    "L: mbarrier.try_wait.parity." scope ".shared::cta.b64 %p2, [%r4], 0; @!%p2 bra L;"
#define WAIT         WAIT_AT("acquire.cluster")
#define WAIT_CTA     WAIT_AT("acquire.cta")
#define WAIT_RELAXED WAIT_AT("relaxed.cluster")
#define SEND         "st.shared::cluster.u32 [%r7], %r1;"
#define TAKE         "ld.shared.u32 %r20, [%r6];" OUT("%r20")

static void test_arrivals(void **state) {
    (void)state;
    expect_clean(&two, INIT_64 SEND ARRIVE WAIT TAKE SYNC);
    assert_int_equal(words[70], 6);
    assert_int_equal(words[129], 193);
    expect("race", INIT_64 SEND "mbarrier.arrive.shared::cluster.b64 _, [%r8];" /* at .cta scope */
           WAIT TAKE SYNC);
    expect("race", INIT_64 SEND
           "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r8];" WAIT TAKE SYNC);
    expect("race", INIT_64 SEND ARRIVE WAIT_CTA TAKE SYNC);
    expect("race", INIT_64 SEND ARRIVE WAIT_RELAXED TAKE SYNC);
    expect("race", INIT_64 ARRIVE SEND WAIT TAKE SYNC);
    /* within a block the scope does not matter, and what one thread learned it passes on */
    expect_clean(&two, "@%p0 mbarrier.init.shared.b64 [%r4], 32;" INIT_OTHER
                       "setp.lt.u32 %p3, %r0, 32; @!%p3 bra SECOND;" SEND ARRIVE WAIT
                       "mbarrier.arrive.shared.b64 %rd9, [%r13]; bra END;"
                       "SECOND: M: mbarrier.try_wait.parity.shared.b64 %p2, "
                       "[%r13], 0; @!%p2 bra M;"
                       "xor.b32 %r6, %r6, 128; ld.shared.u32 %r20, [%r6];" OUT("%r20") "END:" SYNC);
    assert_int_equal(words[32 + 3], 64 + 3);
    expect("which warp 0 of rank", "@%p0 mbarrier.init.shared.b64 [%r4], 64;" RELAXED ARRIVE SYNC);
    expect("access outside a block's life", INIT_64 "@%p1 bra A; bra END; A:" ARRIVE "END:");
    expect("no mbarrier at shared", SYNC ARRIVE SYNC);
    expect("65 arrivals",
           INIT_64 "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8], 65;" SYNC);
}

/* A deadlock says which blocks' warps have arrived, which have not, and where these are. */
static void test_deadlocks(void **state) {
    (void)state;
    expect("deadlock", INIT_64 "setp.lt.u32 %p3, %r0, 32; @!%p3 bra L;" ARRIVE WAIT SYNC);
    const char *said = emu_test_report(&t, "deadlock");
    assert_non_null(strstr(said, "32 of 64 arrivals missing"));
    assert_non_null(strstr(said, "arrived in this phase: of rank 1 warp 0 at line"));
    assert_non_null(strstr(said, "arrived in this phase: of rank 0 warp 0 at line"));
    assert_non_null(strstr(said, "; never, of rank 0"));
    /* one block goes away behind the first phase */
    expect("deadlock",
           INIT_64 ARRIVE WAIT "@%p1 bra END;" ARRIVE
                               "M: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, "
                               "[%r4], 1; @!%p2 bra M; END:" SYNC);
    said = emu_test_report(&t, "deadlock");
    assert_non_null(
        strstr(said, "arrived in earlier phases, not in this one: of rank 0 warps 0 to 1 at line"));
    said = strstr(said, "barrier.cluster: ");
    assert_non_null(said);
    assert_non_null(strstr(said, "of rank 1 warps 0 to 1 at line"));
    expect("deadlock", INIT_64 WAIT SYNC);
    assert_non_null(emu_test_report(&t, "no warp of the cluster has ever arrived"));
}

/* The start-up of CUTLASS and Triton: the fence publishes the mbarriers, and the barrier.cluster
 * behind it needs no release. */
#define INIT_AND(fence)                                                                            \
    "@%p0 mbarrier.init.shared.b64 [%r4], 64;" fence                                               \
    "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;"
#define FENCE_INIT "fence.mbarrier_init.release.cluster;"

static void test_start(void **state) {
    (void)state;
    expect_clean(&two, INIT_AND(FENCE_INIT) SEND ARRIVE WAIT TAKE SYNC);
    assert_int_equal(words[70], 6);
    expect_clean(&two, INIT_AND("@%p0 " FENCE_INIT) SEND ARRIVE WAIT TAKE SYNC);
    expect_clean(&two, INIT_AND(FENCE_INIT) "bar.sync 0;" SEND ARRIVE WAIT TAKE SYNC);
    /* no fence; a fence by a thread that initialised nothing; one that comes too late */
    expect("which warp 0 of rank", INIT_AND("") ARRIVE WAIT SYNC);
    expect("which warp 0 of rank", INIT_AND("@!%p0 " FENCE_INIT) ARRIVE WAIT SYNC);
    expect("which warp 0 of rank", INIT_AND("") FENCE_INIT ARRIVE WAIT SYNC);
    /* it publishes mbarriers, and nothing else */
    expect("race", "st.shared.u32 [%r6], %r1;" INIT_AND(
                       FENCE_INIT) "ld.shared::cluster.u32 %r20, [%r7];" OUT("%r20") SYNC);
}

/* A block that waits for an arrival from another one knows that it has come, at any scope. */
static void test_waits_for_arrivals(void **state) {
    (void)state;
#define ARRIVE_AT(how) "mbarrier.arrive" how ".shared::cluster.b64 _, [%r8];"
    expect_clean(&two, INIT_64 ARRIVE_AT("") WAIT);
    expect_clean(&two, INIT_64 ARRIVE_AT("") WAIT_CTA);
    expect_clean(&two, INIT_64 ARRIVE_AT(".release.cluster") WAIT_CTA);
    expect_clean(&two, INIT_64 ARRIVE_AT(".relaxed.cluster") WAIT_RELAXED);
    expect("access outside a block's life", INIT_64 ARRIVE_AT(""));
    expect("access outside a block's life", /* one block waits, the other does not */
           INIT_64 ARRIVE_AT("") "@%p1 bra END;" WAIT "END:");
    expect("access outside a block's life", INIT_64 ARRIVE WAIT SEND);
    expect("access outside a block's life", INIT_64 SEND ARRIVE_AT("") WAIT_CTA);
}

#define EXPECT(bytes) "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r4], " #bytes ";"
#define EXPECT_256    EXPECT(256)
#define EXPECT_260    EXPECT(260)
#define ASYNC         "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r1, [%r8];"
#define REDUCE                                                                                     \
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7], %r1, "  \
    "[%r8];"
#define BULK                                                                                       \
    "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+256], "      \
    "[%r5], 256, [%r8];"
#define TAKE_BULK "ld.shared.u32 %r20, [%r6+256];" OUT("%r20")

static void test_copies(void **state) {
    (void)state;
    expect_clean(&two, INIT_1 EXPECT_256 ASYNC WAIT TAKE SYNC);
    assert_int_equal(words[70], 6);
    expect_clean(&two, INIT_1 "@%p0 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 "
                              "_, [%r8], 256;" ASYNC WAIT TAKE SYNC);
    assert_int_equal(words[129], 193);
    expect_clean(&two, "st.shared.u32 [%r6], 1000;" INIT_1 EXPECT_256 REDUCE WAIT TAKE SYNC);
    assert_int_equal(words[70], 1006);
    expect_clean(
        &two,
        "st.shared.u32 [%r6], %r1; fence.proxy.async;" INIT_1 EXPECT_256 BULK WAIT TAKE_BULK SYNC);
    assert_int_equal(words[70], 6);

    expect("race", INIT_1 EXPECT_256 ASYNC TAKE WAIT SYNC); /* does not wait */
    expect_clean(&two,
                 INIT_1 EXPECT_256 ASYNC WAIT_CTA TAKE SYNC); /* the bytes come with the count */
    expect("race", INIT_1 EXPECT_256 "st.shared.u32 [%r6], %r1;" ASYNC WAIT SYNC);
    expect("announced and never came", INIT_1 EXPECT_260 ASYNC WAIT TAKE SYNC);
    expect("may not have started", "@%p0 mbarrier.init.shared.b64 [%r4], 1;" ASYNC SYNC);
    expect("access outside a block's life", INIT_1 EXPECT_256 ASYNC); /* nobody waits */
    expect("the bytes go to rank", INIT_1
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r1, [%r4];" SYNC);
    expect("misaligned", INIT_1 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 "
                                "[%r7], {%r1, %r2}, [%r8];" SYNC);
    expect("fence.proxy.async",
           "st.shared.u32 [%r6], %r1;" INIT_UNFENCED EXPECT_256 BULK WAIT TAKE_BULK SYNC);
    expect("race", "st.shared.u32 [%r6], %r1; fence.proxy.async;" INIT_1 EXPECT_256 BULK
                   "st.shared.u32 [%r6], 5;" WAIT TAKE_BULK SYNC); /* the source */
    expect("access outside a block's life", /* the source's block leaves: only the receiver waits */
           "st.shared.u32 [%r6], %r1; fence.proxy.async;" INIT_1 "@%p1 bra RECEIVE;" BULK
           "bra END; RECEIVE:" EXPECT_256 WAIT TAKE_BULK "END:");
    expect("misaligned",
           INIT_1 "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                  "[%r7+256], [%r5], 24, [%r8];" SYNC);
}

static void refuse(const char *why, struct shape s) { assert_reason(launch(&s, ""), why); }

static void test_launches(void **state) {
    (void)state;
    refuse("does not divide into clusters of 2 x 1 x 1", (struct shape){{3, 1, 1}, {2, 1, 1}, 32});
    refuse("does not divide", (struct shape){{4, 3, 1}, {2, 2, 1}, 32});
    refuse("20 blocks in a cluster", (struct shape){{20, 1, 1}, {20, 1, 1}, 32});
    refuse("does not divide", (struct shape){{4, 1, 1}, {2, 0, 1}, 32});
    /* what the kernel was compiled for */
    static const char text[] = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                               ".entry k() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }";
    struct emu_module *m;
    assert_fine(emu_module_open(t.memory, text, sizeof text - 1, "k", &m));
    struct emu_grid g = {.grid = {4, 1, 1}, .block = {32, 1, 1}};
    const struct emu_kernel *k = emu_module_kernel(m, "k");
    assert_fine(emu_launch(t.memory, k, &g, chip_find("h200"), &t.options, t.result));
    assert_reason(emu_launch(t.memory, k, &g, chip_find("l4"), &t.options, t.result),
                  "no clusters");
    g.cluster[0] = 4, g.cluster[1] = g.cluster[2] = 1;
    assert_reason(emu_launch(t.memory, k, &g, chip_find("h200"), &t.options, t.result),
                  "compiled for clusters of 2 x 1 x 1");
    g.cluster[0] = g.cluster[1] = g.cluster[2] = 0, g.grid[0] = 3;
    assert_reason(emu_launch(t.memory, k, &g, chip_find("h200"), &t.options, t.result),
                  "does not divide into clusters of 2 x 1 x 1");
    emu_result_clear(t.result);
    emu_module_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_neighbours),
                                       cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_exits),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_watch),
                                       cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_life),
                                       cmocka_unit_test(test_races),
                                       cmocka_unit_test(test_misuse),
                                       cmocka_unit_test(test_launches),
                                       cmocka_unit_test(test_arrivals),
                                       cmocka_unit_test(test_deadlocks),
                                       cmocka_unit_test(test_start),
                                       cmocka_unit_test(test_waits_for_arrivals),
                                       cmocka_unit_test(test_copies)};
    emu_test_open(&t);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counters_free(&counts);
    emu_test_close(&t);
    return failed;
}
