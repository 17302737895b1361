/* Global memory: planted mistakes inside and between blocks, each with the lines of both sides, and
 * their correct twins, which nothing may be said about. */
#include "emu.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/state.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct emu_test t;
static const char *file = "/tmp/global.cu"; /* of LINE */
static uint32_t words[256];

#define LINE(n) "\n.loc 1 " #n " 1\n"

/* %rd0: 256 words of zeros; %r1: the block, %r0: the thread; %rd1: the block's word, %rd2: the
 * thread's. */
static void run(unsigned blocks, unsigned threads, const char *body) {
    char text[8192], whole[4096];
    snprintf(whole, sizeof whole,
             "mov.u32 %%r1, %%ctaid.x; mul.wide.u32 %%rd1, %%r1, 4; add.s64 %%rd1, %%rd1, %%rd0;\n"
             "mul.wide.u32 %%rd2, %%r0, 4; add.s64 %%rd2, %%rd2, %%rd0;\n%s",
             body);
    snprintf(text, sizeof text, ".file 1 \"%s\"\n%s", file, emu_test_kernel(1, "", whole));
    if (words[255] != 1) memset(words, 0, sizeof words);
    assert_fine(emu_test_run(&t, text, "test", blocks, threads, 0, 1, (void *[]){words},
                             (size_t[]){sizeof words}));
}

/* One report of this kind, with the two lines; by one thread, where the order is known, with `what`. */
static void planted(const char *kind, int line, int other, const char *what, unsigned blocks,
                    unsigned threads, const char *body) {
    static const enum emu_schedule schedules[] = {EMU_ROUND_ROBIN, EMU_ADVERSARIAL};
    for (int jobs = 1; jobs <= 2; jobs++) {
        t.options.n_threads = jobs;
        t.options.schedule = schedules[jobs - 1];
        run(blocks, threads, body);
        char here[32], there[32];
        snprintf(here, sizeof here, "global.cu:%d ", line);
        snprintf(there, sizeof there, "global.cu:%d ", other);
        /* with two threads other reports may come first: which block is ahead is not known */
        bool found = false;
        for (int n = 0; n < emu_result_reports(t.result); n++) {
            const char *report = emu_result_report(t.result, n);
            if (strstr(report, kind) && strstr(report, here) && (!other || strstr(report, there)))
                found |= jobs > 1 || (n == 0 && strstr(report, what));
        }
        if (!found)
            fail_msg("no '%s ... %s' of lines %d and %d, but: %s\n%s", kind, what, line, other,
                     emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing",
                     body);
    }
}

static void correct(unsigned blocks, unsigned threads, const char *body) {
    for (int jobs = 1; jobs <= 2; jobs++) {
        t.options.n_threads = jobs;
        t.options.schedule = EMU_ROUND_ROBIN;
        run(blocks, threads, body);
        if (emu_result_reports(t.result))
            fail_msg("%s\nof\n%s", emu_result_report(t.result, 0), body);
    }
}

#define LANE_0 "setp.ne.u32 %p1, %r0, 0; @%p1 bra END;"

/* Every block counts in one word. */
static void counters(void **state) {
    (void)state;
    planted("race", 3, 5, "no fence and flag order the two", 4, 32,
            LANE_0 LINE(3) "ld.global.u32 %r2, [%rd0];" LINE(4) "add.u32 %r2, %r2, 1;" LINE(
                5) "st.global.u32 [%rd0], %r2; END:");
    correct(4, 32, LANE_0 LINE(3) "red.global.add.u32 [%rd0], 1; END:");
    planted("race", 3, 3, "no fence and flag", 4, 32,
            LANE_0 LINE(3) "red.relaxed.cta.global.add.u32 [%rd0], 1; END:");
    correct(1, 128, LINE(3) "red.relaxed.cta.global.add.u32 [%rd0], 1;");
}

/* A neighbour's word is read, or written over, while the neighbour may not have got there. */
static void neighbours(void **state) {
    (void)state;
    planted("race", 4, 3, "which another block wrote", 2, 32,
            LANE_0 LINE(3) "add.u32 %r3, %r1, 1; st.global.u32 [%rd1], %r3;" LINE(
                4) "ld.global.u32 %r2, [%rd0]; END:");
    planted("race", 4, 3, "which another block read", 2, 32,
            LANE_0 "setp.eq.u32 %p2, %r1, 0;" LINE(3) "@%p2 ld.global.u32 %r2, [%rd0];" LINE(
                4) "@!%p2 st.global.u32 [%rd0], %r0; END:");
    correct(8, 32, LANE_0 LINE(3) "st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1]; END:");
}

/* Block 0 writes data, then a flag; the others wait for the flag, then read. */
#define FLAG(fence, set, look) FLAG_THEN(fence, set, look, "fence.acq_rel.gpu;")
#define FLAG_THEN(fence, set, look, behind)                                                        \
    LANE_0 "setp.ne.u32 %p2, %r1, 0; @%p2 bra WAIT;" LINE(                                         \
        10) "mov.u32 %r2, 7; st.global.u32 [%rd0+64], %r2;" fence "\n" set                         \
            " [%rd0], %r2; bra END;"                                                               \
            "WAIT: " look " %r3, [%rd0]; setp.eq.u32 %p3, %r3, 0; @%p3 bra WAIT;" behind LINE(     \
                20) "ld.global.u32 %r4, [%rd0+64]; END:"

static void flags(void **state) {
    static const char *const wrong[] = {
        FLAG("", "st.volatile.global.u32", "ld.volatile.global.u32"),
        FLAG("membar.cta;", "st.volatile.global.u32", "ld.volatile.global.u32"),
        FLAG("", "st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32"),
        /* a flag inside the block is no fence */
        FLAG(".shared .align 4 .b8 q[4]; st.release.cta.shared.u32 [q], %r2;"
             "ld.acquire.cta.shared.u32 %r4, [q];",
             "st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32"),
    };
    static const char *const right[] = {
        FLAG("membar.gl;", "st.volatile.global.u32", "ld.volatile.global.u32"),
        FLAG("fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32"),
        FLAG("", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"),
        FLAG("fence.acq_rel.gpu;", "red.global.add.u32", "ld.acquire.gpu.global.u32"),
    };
    (void)state;
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        planted("race", 20, 10, "no fence and flag order the two", 3, 32, wrong[n]);
    for (size_t n = 0; n < sizeof right / sizeof *right; n++) correct(3, 32, right[n]);
    /* the side that reads needs a fence, too, or .acquire */
    planted("race", 20, 10, "no fence is behind that read", 3, 32,
            FLAG_THEN("membar.gl;", "st.volatile.global.u32", "ld.volatile.global.u32", ""));
    planted("race", 20, 10, "no fence is behind that read", 3, 32,
            FLAG_THEN("", "st.release.gpu.global.u32", "ld.relaxed.gpu.global.u32",
                      "fence.acq_rel.cta;"));
    correct(3, 32, FLAG_THEN("", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", ""));
    correct(
        3, 32,
        FLAG_THEN("membar.gl;", "st.volatile.global.u32", "ld.volatile.global.u32", "membar.sys;"));
    /* the last block to come reads what all have written: a ticket */
#define TICKET(atomic, behind)                                                                     \
    LANE_0 "add.u32 %r2, %r1, 1;" LINE(                                                            \
        10) "st.global.u32 [%rd1+64], %r2; membar.gl;" atomic                                      \
            "setp.ne.u32 %p2, %r3, 5; @%p2 bra END;" behind LINE(                                  \
                20) "ld.global.u32 %r4, [%rd0+64]; ld.global.u32 %r5, [%rd0+84]; END:"
    correct(6, 32, TICKET("atom.global.inc.u32 %r3, [%rd0], 6;", "membar.gl;"));
    correct(6, 32, TICKET("atom.acquire.gpu.global.add.u32 %r3, [%rd0], 1;", ""));
    /* without a fence behind it, as CUDA's programming guide has it: a note, but only if the atomic counts */
    planted("note", 20, 10, "no fence is behind it", 6, 32,
            TICKET("atom.global.inc.u32 %r3, [%rd0], 6;", ""));
    planted("race", 20, 10, "no fence is behind that read", 6, 32,
            TICKET("mov.u32 %r5, 1; shl.b32 %r5, %r5, %r1; atom.global.or.b32 %r3, [%rd0], %r5;"
                   "popc.b32 %r3, %r3;",
                   ""));
    planted(
        "race", 20, 10, "which another block wrote", 6, 32,
        LANE_0 "add.u32 %r2, %r1, 1;" LINE(
            10) "st.global.u32 [%rd1+64], %r2;"
                "atom.global.inc.u32 %r3, [%rd0], 6; setp.ne.u32 %p2, %r3, 5; @%p2 bra END;" LINE(
                    20) "ld.global.u32 %r4, [%rd0+64]; ld.global.u32 %r5, [%rd0+84]; END:");
}

/* A lock of block scope orders the warps of a block, and no others. */
static void locks_of_a_block(void **state) {
#define BLOCK_LOCK(scope, before, behind)                                                          \
    LANE_OF_WARP "WAIT: atom." scope ".global.cas.b32 %r3, [%rd0], 0, 1; setp.ne.u32 %p3, %r3, "   \
                 "0; @%p3 bra WAIT;" before LINE(10) "ld.global.u32 %r4, [%rd0+64];" LINE(         \
                     20) "add.u32 %r4, %r4, 1; st.global.u32 [%rd0+64], %r4;" behind "atom." scope \
                         ".global.exch.b32 %r3, [%rd0], 0; END:"
#define LANE_OF_WARP "and.b32 %r5, %r0, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra END;"
    (void)state;
    correct(1, 128, BLOCK_LOCK("relaxed.cta", "membar.cta;", "membar.cta;"));
    correct(1, 128, BLOCK_LOCK("relaxed.gpu", "membar.cta;", "membar.cta;"));
    planted("race", 10, 20, "nothing orders the two", 1, 128,
            BLOCK_LOCK("relaxed.cta", "membar.cta;", ""));
    planted("race", 10, 20, "nothing orders the two", 1, 128,
            BLOCK_LOCK("relaxed.cta", "", "membar.cta;"));
    planted("race", 20, 0, "no fence and flag order the two", 2, 32,
            BLOCK_LOCK("relaxed.cta", "membar.cta;", "membar.cta;"));
}

/* What a block does weakly, or at block scope, is not hidden by what it does at gpu scope to the same word behind it. */
static void hidden_by_stronger(void **state) {
#define THEN_STRONG(first, between)                                                                \
    LANE_0 "mov.u32 %r2, 7; setp.ne.u32 %p2, %r1, 0; @%p2 bra OTHER;" LINE(10) first between       \
        "red.relaxed.gpu.global.add.u32 [%rd0], 1; bra END;"                                       \
        "OTHER:" LINE(20) "red.relaxed.gpu.global.add.u32 [%rd0], 1; END:"
    (void)state;
    planted("race", 20, 10, "which another block wrote", 2, 32,
            THEN_STRONG("red.relaxed.cta.global.add.u32 [%rd0], 1;", LINE(11)));
    planted("race", 20, 10, "which another block wrote", 2, 32,
            THEN_STRONG("st.global.u32 [%rd0], %r2;", LINE(11)));
    planted("race", 20, 10, "which another block read", 2, 32,
            THEN_STRONG("ld.global.u32 %r3, [%rd0];",
                        LINE(11) "ld.relaxed.gpu.global.u32 %r3, [%rd0];"));
    correct(2, 32, THEN_STRONG("red.relaxed.gpu.global.add.u32 [%rd0], 1;", LINE(11)));
    correct(2, 32, THEN_STRONG("st.global.u32 [%rd0+4], %r2;", LINE(11)));
    /* lanes side by side: kept by stretches until then */
#define ROW_THEN_STRONG(first)                                                                     \
    "setp.ne.u32 %p2, %r1, 0; @%p2 bra OTHER;" LINE(10)                                            \
        first LINE(11) "st.relaxed.gpu.global.u32 [%rd2], %r1; bra END;"                           \
                       "OTHER:" LINE(20) "red.relaxed.gpu.global.add.u32 [%rd2], 1; END:"
    planted("race", 20, 10, "which another block wrote", 2, 32,
            ROW_THEN_STRONG("st.global.u32 [%rd2], %r0;"));
    correct(2, 32, ROW_THEN_STRONG("st.relaxed.gpu.global.u32 [%rd2], %r0;"));
}

/* Volatile accesses do not race, for PTX. But nothing orders them: a note, unless one of them polls. */
static void volatiles(void **state) {
#define VOLATILE_DATA(fence, behind)                                                               \
    LANE_0 "setp.ne.u32 %p2, %r1, 0; @%p2 bra WAIT;" LINE(                                         \
        10) "mov.u32 %r2, 7; st.volatile.global.u32 [%rd0+64], %r2;" fence                         \
            "atom.global.exch.b32 %r3, [%rd0], 1; bra END;"                                        \
            "WAIT: atom.global.exch.b32 %r3, [%rd0], 0; setp.eq.u32 %p3, %r3, 0; @%p3 bra "        \
            "WAIT;" behind LINE(20) "ld.volatile.global.u32 %r4, [%rd0+64]; END:"
    (void)state;
    planted("note", 20, 10, "volatile orders nothing", 2, 32, VOLATILE_DATA("", "membar.gl;"));
    planted("note", 20, 10, "volatile orders nothing", 2, 32,
            VOLATILE_DATA("membar.cta;", "membar.gl;"));
    planted("note", 20, 10, "no fence is behind that read, and volatile orders nothing", 2, 32,
            VOLATILE_DATA("membar.gl;", ""));
    correct(2, 32, VOLATILE_DATA("membar.gl;", "membar.gl;"));
    planted("note", 5, 3, "volatile orders nothing", 4, 32,
            LANE_0 LINE(3) "ld.volatile.global.u32 %r2, [%rd0];" LINE(
                4) "add.u32 %r2, %r2, 1;" LINE(5) "st.volatile.global.u32 [%rd0], %r2; END:");
    planted("note", 3, 4, "volatile orders nothing", 2, 32, /* an atomic, and a store past it */
            LANE_0 "setp.ne.u32 %p2, %r1, 0; @%p2 bra OTHER;" LINE(
                3) "atom.global.exch.b32 %r3, [%rd0], "
                   "1; bra END; OTHER:" LINE(4) "mov.u32 %r2, 2; "
                                                "st.volatile.global.u32 "
                                                "[%rd0], %r2; END:");
    correct(4, 32, LANE_0 "mov.u32 %r2, 1; st.volatile.global.u32 [%rd0], %r2; END:");
    /* a loop that ends by a count does not poll, one that ends by what it reads does */
#define LOOP(count)                                                                                \
    LANE_0 "setp.ne.u32 %p2, %r1, 0; @%p2 bra READ;" LINE(                                         \
        10) "mov.u32 %r2, 7; st.volatile.global.u32 [%rd0+64], %r2; bra END;"                      \
            "READ: mov.u32 %r5, 0; mov.u32 %r6, 0; NEXT:" LINE(                                    \
                20) "ld.volatile.global.u32 %r4, [%rd0+64]; add.u32 %r6, %r6, %r4;"                \
                    "add.u32 %r5, %r5, 1; setp.lt.u32 %p3, " count                                 \
                    ", 3; @%p3 bra NEXT; st.global.u32 [%rd0+128], %r6; END:"
    planted("note", 20, 10, "volatile orders nothing", 2, 32, LOOP("%r5"));
    correct(2, 32, LOOP("%r6"));
}

/* Block 0 stores in bulk, then sets a flag: its wait must come before the fence. */
#define BULK(wait)                                                                                 \
    ".shared .align 16 .b8 buffer[16];" LANE_0                                                     \
    "setp.ne.u32 %p2, %r1, 0; @%p2 bra WAIT; mov.u32 %r5, buffer; mov.u32 %r2, 7;"                 \
    "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+4], %r2; st.shared.u32 [%r5+8], %r2;"            \
    "st.shared.u32 [%r5+12], %r2; fence.proxy.async;" LINE(                                        \
        10) "cp.async.bulk.global.shared::cta.bulk_group [%rd0+64], [%r5], 16;"                    \
            "cp.async.bulk.commit_group;" wait                                                     \
            "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd0], %r2;"                            \
            "cp.async.bulk.wait_group 0; bra END;"                                                 \
            "WAIT: ld.acquire.gpu.global.u32 %r3, [%rd0]; setp.eq.u32 %p3, %r3, 0;"                \
            "@%p3 bra WAIT;" LINE(20) "ld.global.u32 %r4, [%rd0+68]; END:"

static void bulk_stores(void **state) {
    (void)state;
    planted("race", 20, 10, "which another block wrote", 3, 32, BULK(""));
    planted("race", 20, 10, "which another block wrote", 3, 32,
            BULK("cp.async.bulk.wait_group.read 0;"));
    correct(3, 32, BULK("cp.async.bulk.wait_group 0;"));
}

/* A lock around an addition that is no atomic one. */
static void locks(void **state) {
    (void)state;
    for (unsigned threads = 32; threads <= 96; threads += 64) /* warps of one block too */
        correct(
            3, threads,
            "and.b32 %r5, %r0, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra END;"
            "TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1; setp.ne.u32 %p2, %r2, 0;"
            "@%p2 bra TAKE; membar.gl; ld.global.u32 %r3, [%rd0+4]; add.u32 %r3, %r3, 1;"
            "st.global.u32 [%rd0+4], %r3; membar.gl; atom.global.exch.b32 %r4, [%rd0], 0; END:");
    planted("race", 10, 12, "which another block", 3, 32,
            LANE_0 "TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1; setp.ne.u32 %p2, %r2, 0;"
                   "@%p2 bra TAKE;" LINE(10) "ld.global.u32 %r3, [%rd0+4]; add.u32 %r3, %r3, "
                                             "1;" LINE(12) "st.global.u32 [%rd0+4], %r3;" LINE(
                                                 13) "atom.global.exch.b32 %r4, [%rd0], 0; END:");
}

/* Blocks begin one after the other, so what a block does without a fence shows only if another one came before it. Another
 * schedule has another order of blocks, in which each of them runs once. */
static void order_of_blocks(void **state) {
    int found = 0;
    (void)state;
    t.options.n_threads = 1;
    for (int schedule = EMU_ROUND_ROBIN; schedule <= EMU_ADVERSARIAL; schedule++)
        for (unsigned seed = 0; seed < 4; seed++) {
            t.options.schedule = (enum emu_schedule)schedule;
            t.options.seed = seed;
            run(2, 32,
                LANE_0 "setp.eq.u32 %p3, %r1, 0; TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1;"
                       "setp.ne.u32 %p2, %r2, 0; @%p2 bra TAKE; @!%p3 membar.gl;"
                       "ld.global.u32 %r3, [%rd0+4]; add.u32 %r3, %r3, 1;"
                       "st.global.u32 [%rd0+4], %r3; membar.gl; atom.global.exch.b32 %r4, [%rd0], "
                       "0; END:");
            const bool race = emu_result_reports(t.result) > 0;
            if (schedule == EMU_ROUND_ROBIN) assert_false(race);
            if (schedule == EMU_ADVERSARIAL) assert_true(race);
            found += schedule == EMU_RANDOM && race;
            assert_int_equal(words[1], 2);
            run(250, 32, LANE_0 "red.global.add.u32 [%rd1], 1; END:");
            for (int b = 0; b < 250; b++) assert_int_equal(words[b], 1);
        }
    assert_true(found > 0 && found < 4);
    t.options.seed = 0;
    /* Adversarial or not, a block that waits for the one before it gets it, though not all fit the chip together. */
    for (int schedule = EMU_ROUND_ROBIN; schedule <= EMU_ADVERSARIAL; schedule++) {
        t.options.schedule = (enum emu_schedule)schedule;
        run(300, 1024,
            LANE_0
            "LOOK: ld.acquire.gpu.global.u32 %r2, [%rd0]; setp.ne.u32 %p2, %r2, %r1;"
            "@%p2 bra LOOK; add.u32 %r2, %r2, 1; st.release.gpu.global.u32 [%rd0], %r2; END:");
        if (emu_result_reports(t.result)) fail_msg("%s", emu_result_report(t.result, 0));
        assert_int_equal(words[0], 300);
    }
}

/* Block 1 reads where it does not hold the lock. If all of block 0 comes before it or after it, the lock orders the two; a
 * random schedule runs blocks in short turns, and shows the race. */
static void blocks_meet(void **state) {
    (void)state;
    t.options.n_threads = 1;
    for (int schedule = EMU_ROUND_ROBIN; schedule <= EMU_ADVERSARIAL; schedule++)
        for (unsigned seed = 0; seed < 3; seed++) {
            t.options.schedule = (enum emu_schedule)schedule;
            t.options.seed = seed;
            run(2, 32,
                LANE_0
                "mov.u32 %r5, 0; setp.eq.u32 %p3, %r1, 0;"
                "TAKE: atom.global.cas.b32 %r2, [%rd0], 0, 1; setp.ne.u32 %p2, %r2, 0;"
                "@%p2 bra TAKE; membar.gl; @!%p3 bra GIVE; ld.global.u32 %r3, [%rd0+4];"
                "add.u32 %r3, %r3, 1; st.global.u32 [%rd0+4], %r3;"
                "GIVE: membar.gl; atom.global.exch.b32 %r4, [%rd0], 0; add.u32 %r5, %r5, 1;"
                "setp.eq.u32 %p2, %r5, 1000; @%p2 bra END; @%p3 bra TAKE; mov.u32 %r6, 0;"
                "READ: ld.global.u32 %r3, [%rd0+4]; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 64;"
                "@%p2 bra READ; bra TAKE; END:");
            assert_int_equal(emu_result_reports(t.result) > 0, schedule == EMU_RANDOM);
            assert_int_equal(words[1], 1000);
        }
    t.options.schedule = EMU_ROUND_ROBIN;
    t.options.seed = 0;
}

/* Warps of one block, through global memory. */
static void warps(void **state) {
    (void)state;
#define EXCHANGE(between)                                                                          \
    LINE(3)                                                                                        \
    "st.global.u32 [%rd2], %r0; xor.b32 %r3, %r0, 32; mul.wide.u32 %rd3, %r3, 4;"                  \
    "add.s64 %rd3, %rd3, %rd0;" between LINE(6) "ld.global.u32 %r4, [%rd3];"
    planted("race", 6, 3, "nothing orders the two", 1, 64, EXCHANGE(""));
    correct(1, 64, EXCHANGE("bar.sync 0;"));
    planted("race", 4, 3, "no __syncwarp() orders the two", 1, 32,
            LINE(3) "st.global.u32 [%rd2], %r0;" LINE(4) "ld.global.u32 %r4, [%rd2+4];");
    planted("race", 4, 3, "neither __syncthreads() nor __syncwarp() orders the two", 1, 64,
            LINE(3) "st.global.u32 [%rd2], %r0;" LINE(4) "ld.global.u32 %r4, [%rd2+4];");
    correct(1, 32,
            LINE(3) "st.global.u32 [%rd2], %r0; bar.warp.sync -1; ld.global.u32 %r4, [%rd2+4];");
}

/* The look-back of CUB orders what it does in place by relaxed words. */
static void trusted(void **state) {
    static const struct emu_trust mine = {"/tmp/", "/other.h"};
    (void)state;
    t.options.n_threads = 1;
#define IN_PLACE                                                                                   \
    LANE_0 "setp.eq.u32 %p2, %r1, 0;" LINE(3) "@%p2 ld.global.u32 %r2, [%rd0];" LINE(              \
        4) "@!%p2 st.global.u32 [%rd0], %r0; END:"
    file = "/x/cccl/thrust/system/cuda/detail/unique.h";
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 0);
    assert_int_equal(emu_result_trusted(t.result), 1);
    t.options.trust = &mine; /* with n_trust 0: nothing */
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 1);
    t.options.n_trust = 1;
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 1);
    file = "/tmp/other.h";
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 0);
    file = "/tmp/global.cu";
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 1);
    file = "/tmp/other.h";
    run(1, 32,
        LINE(3) "st.global.u32 [%rd2], %r0; bar.warp.sync -1;" LINE(
            4) "ld.global.nc.u32 %r4, [%rd2];");
    assert_int_equal(emu_result_reports(t.result), 0);
    assert_int_equal(emu_result_trusted(t.result), 32);
    file = "/tmp/global.cu";
    t.options.trust = NULL, t.options.n_trust = 0;
    run(2, 32, IN_PLACE);
    assert_int_equal(emu_result_reports(t.result), 1);
}

/* The read-only path may give what was there before the kernel. */
static void read_only_path(void **state) {
    (void)state;
    planted("stale read", 6, 3, "reads global", 1, 64, /* though a barrier orders the two */
            EXCHANGE("bar.sync 0;") LINE(6) "ld.global.nc.u32 %r4, [%rd3];");
    planted("stale read", 4, 3, "reads global", 1, 32,
            LINE(3) "st.global.u32 [%rd2], %r0;" LINE(4) "ld.global.nc.u32 %r4, [%rd2];");
    planted("stale read", 4, 3, "reads global", 1, 32, /* word by word */
            "and.b32 %r5, %r0, 1; mul.wide.u32 %rd4, %r5, 512; add.s64 %rd4, %rd4, %rd2;" LINE(
                3) "st.global.u8 [%rd4], %r0; bar.warp.sync -1;" LINE(4) "ld.global.nc.u8 %r4, "
                                                                         "[%rd4];");
    correct(1, 64, EXCHANGE("bar.sync 0;"));
    correct(2, 32,
            LINE(3) "ld.global.nc.u32 %r4, [%rd2+256];" LINE(4) "st.global.u32 [%rd1], %r1;");
    correct(1, 64, LINE(3) "ld.global.nc.u32 %r4, [%rd2];" LINE(4) "st.global.u32 [%rd2], %r0;");
}

/* What is kept for a line at once (checks/line.h): rows that begin in the middle of a line, other widths, other
 * lanes, and three stretches, which are one too many. */
static void stretches(void **state) {
    (void)state;
#define ROW "mad.lo.u32 %r5, %r1, 32, %r0; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd3, %rd0;"
    correct(4, 32, ROW "st.global.u32 [%rd3+32], %r0; ld.global.u32 %r4, [%rd3+32];");
    planted("race", 4, 3, "another block", 2, 32,
            ROW LINE(3) "st.global.u32 [%rd3+32], %r0;" LINE(4) "ld.global.u32 %r4, [%rd2+32];");
    planted("race", 4, 3, "another block", 2, 32, /* of a row, the end alone */
            ROW LINE(3) "st.global.u32 [%rd3+32], %r0; bar.warp.sync -1;" LINE(
                4) "ld.global.u32 %r4, [%rd2+156];");
#define VECTORS(between)                                                                           \
    "setp.ge.u32 %p1, %r0, 32; mul.wide.u32 %rd3, %r0, 16; add.s64 %rd3, %rd3, %rd0;" LINE(        \
        3) "@!%p1 st.global.v4.u32 [%rd3], {%r0, %r0, %r0, %r0};" between                          \
        LINE(6) "@%p1 ld.global.u32 %r4, [%rd2+128];"
    planted("race", 6, 3, "nothing orders the two", 1, 64, VECTORS(""));
    correct(1, 64, VECTORS("bar.sync 0;"));
    planted("race", 4, 3, "no __syncwarp() orders the two", 1, 32,
            LINE(3) "st.global.u32 [%rd2], %r0;" LINE(4) "st.global.u32 [%rd2+4], %r0;");
    correct(1, 32,
            LINE(3) "st.global.u32 [%rd2], %r0; bar.warp.sync -1; st.global.u32 [%rd2+4], %r0;");
    correct(1, 32, LINE(3) "st.global.u32 [%rd2], %r0; st.global.u32 [%rd2], %r1;");
#define EIGHTS(between)                                                                            \
    "and.b32 %r3, %r0, 31; setp.ge.u32 %p1, %r3, 8; shr.u32 %r4, %r0, 2; and.b32 %r4, %r4, 24;"    \
    "add.u32 %r3, %r3, %r4; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd0;" LINE(            \
        3) "@!%p1 st.global.u32 [%rd3], %r0;" between                                              \
           "setp.ge.u32 %p2, %r0, 32;" LINE(6) "@!%p2 ld.global.u32 %r5, [%rd2];"
    planted("race", 6, 3, "nothing orders the two", 1, 128, EIGHTS(""));
    correct(1, 128, EIGHTS("bar.sync 0;"));
}

/* All write the same value: true or not, the result is the same. */
static void same_value(void **state) {
    (void)state;
    run(4, 32, LANE_0 LINE(3) "mov.u32 %r2, 0; st.global.u32 [%rd0], %r2; END:");
    assert_int_equal(emu_result_reports(t.result), 1);
    assert_int_equal(emu_result_report_kind(t.result, 0), EMU_NOTE);
    assert_non_null(emu_test_report(&t, "writes the same value"));
    /* a tile is no word: whose values lie where is not looked at */
    planted("race", 3, 3, "which another block wrote", 2, 32,
            LINE(3) "wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%rd0], {%r3, %r2};");
}

/* words[0..1] is the address of 64 words, of which the host wrote the first 32. */
static void uninitialised(void **state) {
    uint64_t p;
    uint32_t ones[32];
    (void)state;
    assert_fine(emu_memory_alloc(t.memory, 256, &p));
    emu_memory_watch(t.memory, p);
    for (int n = 0; n < 32; n++) ones[n] = 1;
    memcpy(emu_memory_at(t.memory, p, 128), ones, 128);
    emu_memory_written(t.memory, p, 128);
    memset(words, 0, sizeof words);
    memcpy(words, &p, 8);
    words[255] = 1; /* run() shall leave them */
#define PLACE "ld.global.u64 %rd3, [%rd0]; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd3, %rd3, %rd4;"
    planted("uninitialised global memory", 6, 5, "reaches a store", 1, 64,
            PLACE LINE(5) "ld.global.u32 %r2, [%rd3];" LINE(6) "st.global.u32 [%rd2+64], %r2;");
    planted("uninitialised global memory", 6, 5, "reaches a branch", 1, 64,
            PLACE LINE(5) "ld.global.u32 %r2, [%rd3]; setp.eq.u32 %p1, %r2, 1;" LINE(
                6) "@%p1 bra END; END:");
#define COPIED                                                                                     \
    ".shared .align 4 .b8 tile[256]; mov.u32 %r3, tile; mad.lo.u32 %r3, %r0, 4, %r3;"              \
    "st.shared.u32 [%r3], %r2;" LINE(8) "ld.shared.u32 %r4, [%r3];" LINE(9) "st.global.u32 "       \
                                                                            "[%rd2+64], %r4;"
    planted("uninitialised shared memory", 9, 8, "may be a copy of global memory", 1, 64,
            PLACE "ld.global.u32 %r2, [%rd3];" COPIED);
    planted("uninitialised shared memory", 9, 8, "may be a copy of global memory", 1, 64,
            PLACE ".shared .align 4 .b8 tile[256]; mov.u32 %r3, tile; mad.lo.u32 %r3, %r0, 4, %r3;"
                  "cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.wait_all;" LINE(
                      8) "ld.shared.u32 %r4, [%r3];" LINE(9) "st.global.u32 [%rd2+64], %r4;");
    correct(1, 32, PLACE "ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd2+64], %r2;");
    correct(1, 64, /* read beyond, and masked out */
            PLACE "ld.global.u32 %r2, [%rd3]; setp.lt.u32 %p1, %r0, 32; selp.b32 %r2, %r2, 0, %p1;"
                  "st.global.u32 [%rd2+64], %r2;");
    planted("uninitialised global memory", 6, 5, "lanes ffff0000", 1,
            32, /* 8 x 8, of which 4 rows are written */
            "ld.global.u64 %rd3, [%rd0];" LINE(5) "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r2, "
                                                  "%r3}, [%rd3];" LINE(
                                                      6) "st.global.u32 [%rd2+64], %r3;");
    correct(1, 1,
            PLACE LINE(5) "atom.global.exch.b32 %r2, [%rd3+252], 1;");   /* only overwrites it */
    run(1, 32, PLACE LINE(5) "atom.global.add.u32 %r2, [%rd3+128], 1;"); /* writes them, too */
    const char *report = emu_test_report(&t, "uninitialised global memory");
    assert_true(report && strstr(report, "an atomic") && strstr(report, "global.cu:5 "));
    correct(1, 64,
            PLACE "st.global.u32 [%rd3], %r0; ld.global.u32 %r2, [%rd3];"
                  "st.global.u32 [%rd2+64], %r2;");
    correct(1, 64, PLACE "ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd2+64], %r2;");
    emu_memory_free(t.memory, p);
    assert_fine(emu_memory_alloc(t.memory, 256, &p));
    emu_memory_watch(t.memory, p);
    memcpy(words, &p, 8);
    /* a byte is copied with its padding, over words that were written: they are written no more */
#define PADDED                                                                                     \
    PLACE "st.global.u8 [%rd3+128], %r0; ld.global.u32 %r2, [%rd3+128]; st.global.u32 [%rd3], "    \
          "%r2;"
    planted("uninitialised global memory", 6, 5, "reaches a store", 1, 32,
            PADDED LINE(5) "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1;" LINE(
                6) "st.global.u32 [%rd2+64], %r2;");
    correct(1, 32, PADDED "ld.global.u8 %r2, [%rd3]; st.global.u32 [%rd2+64], %r2;");
    emu_memory_free(t.memory, p);
    words[255] = 0;
}

/* 3 of 8 blocks are checked: 0, 2 and 5. A thread of warp 1 writes block `at`'s word, one of warp 0 reads it. */
#define RACE_IN(at)                                                                                \
    "setp.ne.u32 %p1, %r1, " #at "; @%p1 bra END; setp.ne.u32 %p2, %r0, 32;" LINE(                 \
        3) "@!%p2 st.global.u32 [%rd1], %r0;" LINE(4) "@%p2 ld.global.u32 %r2, [%rd1]; END:"

static void some_blocks(void **state) {
    uint64_t p;
    (void)state;
    t.options.check_blocks = 3;
    planted("race", 3, 4, "nothing orders", 8, 64, RACE_IN(0));
    planted("race", 3, 4, "nothing orders", 8, 64, RACE_IN(2));
    planted("race", 3, 4, "nothing orders", 8, 64, RACE_IN(5));
    correct(8, 64, RACE_IN(1));
    correct(8, 64, RACE_IN(7));
    correct(8, 32, LANE_0 "st.global.u32 [%rd0], %r1; END:"); /* of two blocks: not looked for */
    run(8, 32, LANE_0 "red.global.add.u32 [%rd0], 1; END:");
    assert_int_equal(words[0], 8); /* all run */
    /* what a block wrote that is not checked is written */
    assert_fine(emu_memory_alloc(t.memory, 32, &p));
    emu_memory_watch(t.memory, p);
    memset(words, 0, sizeof words);
    memcpy(words, &p, 8);
    words[255] = 1;
#define OWN "ld.global.u64 %rd3, [%rd0]; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4;"
    correct(8, 1, OWN "st.global.u32 [%rd3], %r1;");
    t.options.check_blocks = 0;
    correct(8, 1, OWN "ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd1+64], %r2;");
    emu_memory_free(t.memory, p);
    words[255] = 0;
}

/* As Numba compiles grid.sync(): each thread reads what one of another block wrote. */
static void grid_sync_of_numba(void **state) {
    static const char *const declared =
        ".extern .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
        ".extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 "
        "flags);\n.visible .entry";
    static const char *const body =
        "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0; mul.wide.u32 %rd1, %r2, 4;"
        "add.s64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r2;"
        "{ .param .b32 scope; .param .b64 handle; st.param.b32 [scope], 1;"
        "call.uni (handle), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %rd3, [handle]; }"
        "{ .param .b64 handle; .param .b32 flags; .param .b32 error; st.param.b64 [handle], %rd3;"
        "st.param.b32 [flags], 0; call.uni (error), cudaCGSynchronize, (handle, flags); }"
        "sub.u32 %r3, 191, %r2; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd4, %rd4, %rd0;"
        "ld.global.u32 %r4, [%rd4]; add.s32 %r4, %r4, 1000;"
        "{ .param .b64 handle; .param .b32 flags; .param .b32 error; st.param.b64 [handle], %rd3;"
        "st.param.b32 [flags], 0; call.uni (error), cudaCGSynchronize, (handle, flags); }"
        "st.global.u32 [%rd2], %r4;";
    char text[8192];
    (void)state;
    const char *plain = emu_test_kernel(1, "", body), *entry = strstr(plain, ".visible .entry");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(entry - plain), plain, declared,
             entry + strlen(".visible .entry"));
    for (int jobs = 1; jobs <= 2; jobs++) {
        t.options.n_threads = jobs;
        assert_fine(emu_test_run(&t, text, "test", 3, 64, 0, 1, (void *[]){words},
                                 (size_t[]){sizeof words}));
        if (emu_result_reports(t.result)) fail_msg("%s", emu_result_report(t.result, 0));
        for (uint32_t n = 0; n < 192; n++) assert_int_equal(words[n], 1191 - n);
    }
}

/* All lanes of a warp, or two, add to one word without an atomic: sums are lost. */
static void lost_sums(void **state) {
    (void)state;
    const char *what = "which another lane of the warp read: no __syncwarp() orders the two";
#define SUM(word, between)                                                                         \
    LINE(10)                                                                                       \
    "ld.global.u32 %r2, [" word "]; add.u32 %r2, %r2, 1; " between LINE(20) "st.global.u32 [" word \
                                                                            "], %r2;"
#define HALF "shr.u32 %r4, %r0, 1; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd0;"
    planted("race", 20, 10, what, 1, 32, SUM("%rd0", ""));
    planted("race", 20, 10, what, 1, 32, HALF SUM("%rd3", ""));
    correct(1, 32, SUM("%rd2", ""));                          /* a word each */
    correct(1, 1, SUM("%rd0", ""));                           /* one lane */
    correct(1, 32, SUM("%rd0", "bar.warp.sync 0xffffffff;")); /* all have read before one writes */
    correct(1, 32, "ld.global.u32 %r2, [%rd0]; st.global.u32 [%rd0], %r2;"); /* changes nothing */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_sums),
        cmocka_unit_test(counters),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(flags),
        cmocka_unit_test(bulk_stores),
        cmocka_unit_test(volatiles),
        cmocka_unit_test(locks_of_a_block),
        cmocka_unit_test(locks),
        cmocka_unit_test(warps),
        cmocka_unit_test(same_value),
        cmocka_unit_test(uninitialised),
        cmocka_unit_test(grid_sync_of_numba),
        cmocka_unit_test(trusted),
        cmocka_unit_test(read_only_path),
        cmocka_unit_test(stretches),
        cmocka_unit_test(some_blocks),
        cmocka_unit_test(order_of_blocks),
        cmocka_unit_test(blocks_meet),
        cmocka_unit_test(hidden_by_stronger),
    };
    emu_test_open(&t);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_test_close(&t);
    return failed;
}
