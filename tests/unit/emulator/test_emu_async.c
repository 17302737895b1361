/* The emulator's checks of asynchronous operations: for each a kernel that is right, and the same
 * kernel with one thing wrong, which must be reported in words that name it. */
#include "tests/test.h"

#include "emulator/emulator.h"
#include "emulator/instructions/tensormap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every kernel has: in and out (4 KB each) in %in and %out, the thread in %t, %lead for thread 0;
 * shared memory `smem` (16 KB) at %s and an mbarrier at %b; a tensor map over `in` in %map: 2-D,
 * 64 x 32 halves, boxes of 64 x 8, 128-byte swizzle. */
static const char head[] =
    ".file 1 \"/tmp/async.cu\"\n.version 8.4\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .align 128 .b8 map[128])\n{\n"
    ".reg .b64 %in, %out, %map, %x<4>, %da, %db;\n.reg .b32 %t, %s, %b, %r<16>, %f<4>;\n.reg .pred "
    "%lead, %p<4>;\n"
    ".shared .align 1024 .b8 smem[16384];\n.shared .align 8 .b64 bar;\n"
    "ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\nmov.b64 %map, map;\ncvta.param.u64 "
    "%map, %map;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %s, smem;\nmov.u32 %b, bar;\nsetp.eq.u32 %lead, %t, 0;\n"
    "mul.wide.u32 %x0, %t, 16;\nadd.s64 %x1, %in, %x0;\nshl.b32 %r0, %t, 4;\nadd.s32 %r0, %r0, "
    "%s;\n"
    "xor.b32 %r1, %r0, 16;\n"; /* %r0: this thread's 16 bytes of smem, %r1: its neighbour's */

struct trial {
    const char *name, *body;
    const char *report; /* what must be said; NULL: nothing */
    int threads;        /* 0: 32 */
};

static struct emu_memory *memory;
static struct emu_result *result;
static uint64_t in, out;
static unsigned char map[128];

static int run(const struct trial *t, struct emu_options o) {
    char *text = malloc(sizeof head + strlen(t->body) + 16);
    struct emu_module *module = NULL;
    sprintf(text, "%s%s\nret;\n}\n", head, t->body);
    memset(emu_memory_at(memory, out, 4096), 0, 4096);
    struct emu_grid g = {.grid = {1, 1, 1},
                         .block = {t->threads ? (unsigned)t->threads : 32, 1, 1},
                         .n_args = 3,
                         .arg = {&in, &out, map},
                         .arg_bytes = {8, 8, 128}};
    emu_result_clear(result);
    o.n_threads = 1;
    const char *why = emu_module_open(memory, text, strlen(text), t->name, &module);
    if (!why)
        why = emu_launch(memory, emu_module_kernel(module, "k"), &g, chip_find("h200"), &o, result);
    if (why) print_error("%s: %s\n", t->name, why);
    assert_null(why);
    if (module) emu_module_close(module);
    free(text);
    return emu_result_reports(result);
}

/* Under every order of warps. */
static void all(const struct trial *trials, size_t n) {
    int n_bad = 0;
    for (size_t i = 0; i < n; i++)
        for (int schedule = EMU_ROUND_ROBIN; schedule <= EMU_ADVERSARIAL; schedule++) {
            const struct trial *t = &trials[i];
            int reports = run(
                    t, (struct emu_options){.schedule = (enum emu_schedule)schedule, .seed = 7}),
                said = 0;
            for (int r = 0; r < reports && t->report; r++)
                said |= strstr(emu_result_report(result, r), t->report) != NULL;
            if (t->report ? said : !reports) continue;
            print_error("%s (schedule %d): expected %s, got %d reports: %s\n", t->name, schedule,
                        t->report ? t->report : "none", reports,
                        reports ? emu_result_report(result, 0) : "");
            n_bad++;
        }
    assert_int_equal(n_bad, 0);
}
#define ALL(trials) all(trials, sizeof trials / sizeof *trials)

#define COPY "cp.async.cg.shared.global [%r0], [%x1], 16;\n"
#define READ "ld.shared.b32 %f0, [%r1];\nadd.s64 %x2, %out, %x0;\nst.global.b32 [%x2], %f0;\n"

static void cp_async(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"waited", COPY "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.warp.sync -1;\n" READ,
         NULL, 0},
        {"wait_all takes what was not committed",
         COPY "cp.async.wait_all;\nbar.warp.sync -1;\n" READ, NULL, 0},
        {"no wait", COPY "cp.async.commit_group;\nbar.warp.sync -1;\n" READ, "race", 0},
        {"wait for too few",
         COPY "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.warp.sync -1;\n" READ, "race",
         0},
        {"not committed", COPY "cp.async.wait_group 0;\nbar.warp.sync -1;\n" READ, "race", 0},
        {"another warp's, no barrier", COPY "cp.async.wait_all;\nxor.b32 %r1, %r0, 512;\n" READ,
         "race", 64},
        {"another warp's", COPY "cp.async.wait_all;\nbar.sync 0;\nxor.b32 %r1, %r0, 512;\n" READ,
         NULL, 64},
        {"overwritten in flight", COPY "st.shared.b32 [%r0], %t;\ncp.async.wait_all;\n", "race", 0},
        {"misaligned", "add.s32 %r0, %r0, 4;\n" COPY "cp.async.wait_all;\n", "not a multiple of 16",
         0},
        {"outside", "add.s32 %r0, %r0, 32768;\n" COPY "cp.async.wait_all;\n", "but the block has",
         0},
        {"source too large",
         "mov.u32 %r2, 20;\ncp.async.cg.shared.global [%r0], [%x1], 16, %r2;\ncp.async.wait_all;\n",
         "source size 20", 0},
        {"global memory outside", "add.s64 %x1, %x1, 1048576;\n" COPY "cp.async.wait_all;\n",
         "not allocated", 0},
    };
    ALL(trials);
}

/* A read without a wait gives poison, unless copies complete early. */
static void completion_is_late(void **state) {
    (void)state;
    static const struct trial t = {"late", COPY "bar.warp.sync -1;\n" READ, NULL, 0};
    const uint32_t *seen = emu_memory_at(memory, out, 512), *data = emu_memory_at(memory, in, 512);
    run(&t, (struct emu_options){.no_checks = true});
    assert_int_equal(seen[0], 0xffffffff);
    run(&t, (struct emu_options){.no_checks = true, .async_early = true});
    assert_int_equal(seen[0], data[4]);
}

#define INIT(count)                                                                                \
    "@%lead mbarrier.init.shared::cta.b64 [%b], " count                                            \
    ";\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define WAIT   "wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;\n@!%p0 bra wait;\n"
#define ARRIVE "mbarrier.arrive.shared::cta.b64 _, [%b];\n"

static void mbarriers(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"all arrive",
         INIT("64") "st.shared.b32 [%r0], %t;\n" ARRIVE WAIT "xor.b32 %r1, %r0, 512;\n" READ, NULL,
         64},
        {"state token",
         INIT("64") "mbarrier.arrive.shared::cta.b64 %x3, [%b];\n"
                    "again: mbarrier.test_wait.shared::cta.b64 %p1, [%b], %x3;\n@!%p1 bra again;\n",
         NULL, 64},
        {"nobody waits",
         INIT("64") "st.shared.b32 [%r0], %t;\n" ARRIVE "xor.b32 %r1, %r0, 512;\n" READ, "race",
         64},
        {"one arrival too few", INIT("65") ARRIVE WAIT, "1 of 65 arrivals missing", 64},
        {"one too many",
         INIT("63") "setp.lt.u32 %p1, %t, 64;\n" ARRIVE
                    "setp.lt.u32 %p1, %t, 2;\n@%p1 mbarrier.arrive.shared::cta.b64 _, [%b], 63;\n",
         "which waits for", 64},
        {"not initialised", ARRIVE, "was not initialised", 0},
        {"initialised twice", INIT("1") INIT("1"), "already", 0},
        {"count of zero", INIT("0"), "takes 1 to", 0},
        {"used before the barrier",
         "@%lead mbarrier.init.shared::cta.b64 [%b], "
         "64;\nfence.mbarrier_init.release.cluster;\n" ARRIVE,
         "race", 64},
        {"overwritten",
         INIT("32") "mov.b64 %x3, 5;\n@%lead st.shared.b64 [%b], %x3;\nbar.sync 0;\n" ARRIVE,
         "was overwritten", 0},
        {"dropped out",
         INIT(
             "32") "@!%lead bra stay;\nmbarrier.arrive_drop.shared::cta.b64 %x3, [%b];\nbra done;\n"
                   "stay:\nmbarrier.arrive.shared::cta.b64 _, [%b];\ndone:\nbar.warp.sync "
                   "-1;\n" WAIT "@!%lead mbarrier.arrive.shared::cta.b64 _, [%b];\n"
                   "next: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 1;\n@!%p0 bra "
                   "next;\n",
         NULL, 0},
        {"copies arrive",
         INIT("32") COPY "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];\n" WAIT
                         "bar.warp.sync -1;\n" READ,
         NULL, 0},
        {"copies arrive, nobody waits",
         INIT("32") COPY
         "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];\nbar.warp.sync -1;\n" READ,
         "race", 0},
    };
    ALL(trials);
}

/* Warp 0 does something to shared memory and arrives; warp 1 waits, and its first lane overwrites
 * the first word, or all lanes theirs. */
#define HANDED(what, arrive, then)                                                                 \
    "st.shared.b32 [%r0], %t;\nbar.sync 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p1 bra second;\n" what     \
        arrive "bra done;\nsecond:\n" WAIT then "done:\n"
#define LEAD        "@%lead mbarrier.arrive.shared::cta.b64 _, [%b];\n"
#define READ_FIRST  "ld.shared.b32 %r3, [%s];\n"
#define READ_OWN    "ld.shared.b32 %r3, [%r0];\n"
#define WRITE_FIRST "setp.eq.u32 %p2, %t, 32;\n@%p2 st.shared.b32 [%s], %t;\n"
#define WRITE_ALL   "st.shared.b32 [%r0+-512], %t;\n"
#define SYNCWARP    "bar.warp.sync -1;\n"

/* An arrival speaks for its lane, and for others only if they have synchronised with it. */
static void one_lane_arrives(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"all read a word, one arrives", INIT("1") HANDED(READ_FIRST, LEAD, WRITE_FIRST), "race",
         64},
        {"all read, one arrives", INIT("1") HANDED(READ_OWN, LEAD, WRITE_ALL), "race", 64},
        {"all wrote, one arrives",
         INIT("1") HANDED("st.shared.b32 [%r0], %t;\n", LEAD, "ld.shared.b32 %r3, [%r0+-512];\n"),
         "race", 64},
        {"they synchronise first", INIT("1") HANDED(READ_FIRST, SYNCWARP LEAD, WRITE_FIRST), NULL,
         64},
        {"a shuffle orders nothing",
         INIT("1") HANDED(READ_FIRST, "shfl.sync.idx.b32 %r3, %r3, 0, 31, -1;\n" LEAD, WRITE_FIRST),
         "race", 64},
        {"all arrive", INIT("32") HANDED(READ_FIRST, ARRIVE, WRITE_FIRST), NULL, 64},
        {"who reads arrives",
         INIT("1") HANDED("@%lead ld.shared.b32 %r3, [%s];\n", LEAD, WRITE_FIRST), NULL, 64},
        {"half arrive",
         INIT("16") HANDED(READ_OWN,
                           "setp.lt.u32 %p2, %t, 16;\n@%p2 mbarrier.arrive.shared::cta.b64 _, "
                           "[%b];\n",
                           WRITE_ALL),
         "race", 64},
        {"an arrival is no __syncwarp",
         INIT("32") "st.shared.b32 [%r0], %t;\n" ARRIVE "ld.shared.b32 %r3, [%r1];\n", "race", 0},
        {"but waiting for all is",
         INIT("32") "st.shared.b32 [%r0], %t;\n" ARRIVE WAIT "ld.shared.b32 %r3, [%r1];\n", NULL,
         0},
    };
    ALL(trials);
}

#define EXPECT(bytes) "@%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " bytes ";\n"
#define LOAD(at, x, y)                                                                             \
    "mov.u32 %r4, " x ";\nmov.u32 %r5, " y                                                         \
    ";\n@%lead cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"   \
    " [%s+" at "], [%map, {%r4, %r5}], [%b];\n"

/* Of `in`, nothing has written 16 bytes: columns 16 to 23 of row 8. What copies bring of them is unwritten, too. */
static void copies_of_unwritten(void **state) {
    (void)state;
#define STORE_32      "ld.shared.b32 %r2, [%r0];\nadd.s64 %x2, %out, %x0;\nst.global.b32 [%x2], %r2;\n"
#define COPY_OF(from) "cp.async.cg.shared.global [%r0], " from ";\ncp.async.wait_all;\n" STORE_32
#define BULK(from)                                                                                 \
    INIT("1")                                                                                      \
    EXPECT("512")                                                                                  \
    "@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], " from         \
    ", 512, [%b];\n" WAIT STORE_32
#define BOX(x, y) INIT("1") EXPECT("1024") LOAD("0", x, y) WAIT STORE_32
    static const struct trial trials[] = {
        {"cp.async", COPY_OF("[%x1+1024], 16"), "lanes 00000004", 0},
        {"cp.async of others", COPY_OF("[%x1], 16"), NULL, 0},
        {"cp.async of two words of them", "mov.u32 %r2, 8;\n" COPY_OF("[%x1+1024], 16, %r2"),
         "lanes 00000004", 0},
        {"cp.async of zeros", "mov.u32 %r2, 0;\n" COPY_OF("[%x1+1024], 16, %r2"), NULL, 0},
        {"the zeros behind two words",
         "mov.u32 %r2, 8;\ncp.async.cg.shared.global [%r0], [%x1+1024], 16, %r2;\n"
         "cp.async.wait_all;\nld.shared.b32 %r2, [%r0+8];\nadd.s64 %x2, %out, %x0;\n"
         "st.global.b32 [%x2], %r2;\n",
         NULL, 0},
        {"bulk", BULK("[%x1+1024]"), "lanes 00000004", 0},
        {"bulk of others", BULK("[%x1+1072]"), NULL, 0},
        {"its first row", BOX("0", "8"), "lanes 00000004", 0},
        {"its second row, swizzled", BOX("0", "7"), "lanes 00000800", 0},
        {"a box that begins 8 columns on", BOX("8", "8"), "lanes 00000002", 0},
        {"a box that begins 8 columns before", BOX("-8", "8"), "lanes 00000008", 0},
        {"a box without it", BOX("0", "9"), NULL, 0},
        {"a box with other columns", BOX("24", "8"), NULL, 0},
    };
    emu_memory_watch(memory, in);
    emu_memory_written(memory, in, 1024 + 32);
    emu_memory_written(memory, in + 1024 + 48, 4096);
    ALL(trials);
    emu_memory_written(memory, in, 4096);
}

static void tensor_loads(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"waited", INIT("1") EXPECT("1024") LOAD("0", "0", "0") WAIT READ, NULL, 0},
        {"two boxes", INIT("1") EXPECT("2048") LOAD("0", "0", "0") LOAD("1024", "0", "8") WAIT READ,
         NULL, 0},
        {"past the edges", INIT("1") EXPECT("1024") LOAD("0", "-8", "28") WAIT READ, NULL, 0},
        {"nobody waits", INIT("1") EXPECT("1024") LOAD("0", "0", "0") READ, "race", 0},
        {"nobody waits at all", INIT("1") EXPECT("1024") LOAD("0", "0", "0"), "the block ends", 0},
        {"announced too much", INIT("1") EXPECT("2048") LOAD("0", "0", "0") WAIT,
         "were announced and never came", 0},
        {"announced too little", INIT("1") EXPECT("512") LOAD("0", "0", "0") WAIT,
         "came and were never announced", 0},
        {"one of two announced",
         INIT("1") EXPECT("1024") LOAD("0", "0", "0") LOAD("1024", "0", "8") WAIT,
         "expect_tx must count", 0},
        {"nothing announced", INIT("1") "@%lead " ARRIVE LOAD("0", "0", "0") WAIT, "", 0},
        {"initialisation not fenced",
         "@%lead mbarrier.init.shared::cta.b64 [%b], 1;\nbar.sync 0;\n" EXPECT("1024")
             LOAD("0", "0", "0") WAIT,
         "note in kernel k, block (0,0,0), warp 0: TMA may not see", 0},
        {"misaligned", INIT("1") EXPECT("1024") LOAD("64", "0", "0") WAIT, "not a multiple of 128",
         0},
        {"shared memory too small", INIT("1") EXPECT("1024") LOAD("16384", "0", "0") WAIT,
         "but the block has", 0},
        {"odd coordinate", INIT("1") EXPECT("1024") LOAD("0", "4", "0") WAIT,
         "multiple of 16 bytes", 0},
        {"no map", INIT("1") EXPECT("1024") "mov.b64 %map, %in;\n" LOAD("0", "0", "0") WAIT,
         "does not hold a tensor map", 0},
        {"three dimensions",
         INIT("1") EXPECT(
             "1024") "mov.u32 %r4, 0;\n@%lead cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%s], [%map, {%r4, %r4, %r4}], [%b];\n" WAIT,
         "has 2 dimensions, the instruction 3", 0},
        {"overwrites what others read",
         "st.shared.b32 [%r0], %t;\n" INIT("1") READ EXPECT("1024") LOAD("0", "0", "0") WAIT,
         "race", 64},
        {"bulk copy",
         INIT("1") EXPECT(
             "512") "@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                    "[%s], [%in], 512, [%b];\n" WAIT READ,
         NULL, 0},
        {"bulk copy of 8 bytes",
         INIT("1") "@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], "
                   "[%in], 8, [%b];\n",
         "multiples of 16", 0},
    };
    ALL(trials);
}

/* A deadlock is explained: what is waited for, who has come, and where those stand that have not. */
static void deadlocks(void **state) {
    (void)state;
#define SECOND "setp.ge.u32 %p1, %t, 32;\n@%p1 bra second;\n"
#define NEXT   "next: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 1;\n@!%p0 bra next;\n"
#define AT(n)  ".loc 1 " #n " 1\n"
    static const struct trial trials[] = {
        {"one warp forgets to arrive", AT(3) INIT("64") SECOND AT(5) ARRIVE "second:\n" AT(9) WAIT,
         "for the end of phase 0 of the mbarrier at shared 0x4400", 64},
        {"who has come", AT(3) INIT("64") SECOND AT(5) ARRIVE "second:\n" AT(9) WAIT,
         "arrived in this phase: warp 0 at line 9 (by line 5)", 64},
        {"who came to the phase before, and where it is",
         AT(3) INIT("64") AT(5) ARRIVE AT(9) WAIT SECOND AT(11) ARRIVE "second:\n" AT(13) NEXT,
         "arrived in earlier phases, not in this one: warp 1 at line 13 (by line 5)", 64},
        {"a barrier", SECOND AT(5) "bar.sync 0;\nret;\nsecond:\n" AT(7) "bar.sync 1, 64;\n",
         "barrier 0: 32 of 64 threads have arrived, not: warp 1 at line 7", 64},
        {"a wait for the wrong parity",
         INIT("1") EXPECT("1024") LOAD("0", "0", "0")
             AT(9) "w: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 1;\n@!%p0 bra w;\n" READ
                 WAIT,
         "the last wait of the warp for that mbarrier, at line 9, asked for parity 1", 0},
    };
    ALL(trials);
}

/* A map that the kernel makes at smem + 8192 and copies to %out, from which it is used. */
#define REPLACE(field, value)                                                                      \
    "@%lead tensormap.replace.tile." field ".shared::cta.b1024.b32 [%s+8192], " value ";\n"
#define REPLACE_WIDE(field, value)                                                                 \
    "@%lead tensormap.replace.tile." field ".shared::cta.b1024.b64 [%s+8192], " value ";\n"
#define ZEROED                                                                                     \
    "shl.b32 %r6, %t, 2;\nadd.s32 %r6, %r6, %s;\nmov.b32 %r7, 0;\nst.shared.b32 [%r6+8192], "      \
    "%r7;\n"                                                                                       \
    "bar.warp.sync -1;\nmov.b64 %x3, 128;\nmov.u32 %r7, 64;\nmov.u32 %r8, 32;\n"
#define MADE                                                                                       \
    ZEROED REPLACE_WIDE("global_address", "%in") REPLACE("rank", "1") REPLACE("box_dim", "0, %r7") \
        REPLACE("box_dim", "1, 8") REPLACE("global_dim", "0, %r7") REPLACE("global_dim", "1, %r8") \
            REPLACE_WIDE("global_stride", "0, %x3") REPLACE("element_stride", "0, 1")              \
                REPLACE("element_stride", "1, 1") REPLACE("elemtype", "6")                         \
                    REPLACE("interleave_layout", "0") REPLACE("fill_mode", "0")                    \
                        REPLACE("swizzle_mode", "3")
#define PUBLISHED                                                                                  \
    "bar.warp.sync -1;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu" \
    ".sync.aligned [%out], [%s+8192], 128;\n"                                                      \
    "fence.proxy.tensormap::generic.acquire.gpu [%out], 128;\n"
#define SAME /* as by the host's map; else the kernel traps */                                     \
    LOAD("0", "0", "8")                                                                            \
    "mov.b64 %map, %out;\n" LOAD("1024", "0", "8") WAIT                                            \
        "ld.shared.b32 %r9, [%r6];\nld.shared.b32 %r10, [%r6+1024];\nsetp.ne.b32 %p1, %r9, "       \
        "%r10;\n"                                                                                  \
        "@%p1 trap;\n"

static void maps_that_kernels_make(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"made", INIT("1") MADE PUBLISHED EXPECT("2048") SAME, NULL, 0},
        {"in global memory",
         INIT("1") MADE PUBLISHED
         "@%lead tensormap.replace.tile.global_dim.global.b1024.b32 [%out], 1, %r8;\n" EXPECT(
             "2048") SAME,
         NULL, 0},
        {"another swizzle",
         INIT("1") MADE REPLACE("swizzle_mode", "2") PUBLISHED EXPECT("2048") SAME, "does not hold",
         0},
        {"a narrower tensor",
         INIT("1") MADE "mov.u32 %r8, 8;\n" REPLACE("global_dim", "1, %r8") PUBLISHED EXPECT("2048")
             SAME,
         "trap", 0},
        {"another address",
         INIT("1") MADE "add.s64 %x3, %in, 256;\n" REPLACE_WIDE("global_address", "%x3")
             PUBLISHED EXPECT("2048") SAME,
         "trap", 0},
        {"another stride",
         INIT("1") MADE "mov.b64 %x3, 64;\n" REPLACE_WIDE("global_stride", "0, %x3")
             PUBLISHED EXPECT("2048") SAME,
         "trap", 0},
        {"bytes", INIT("1") MADE REPLACE("elemtype", "0") PUBLISHED EXPECT("1536") SAME, "trap", 0},
        {"three dimensions", INIT("1") MADE REPLACE("rank", "2") PUBLISHED EXPECT("2048") SAME,
         "does not hold", 0},
        {"no rank", INIT("1") ZEROED REPLACE("elemtype", "6") PUBLISHED EXPECT("2048") SAME,
         "does not hold", 0},
        {"too many dimensions", INIT("1") MADE REPLACE("rank", "5") PUBLISHED EXPECT("2048") SAME,
         "does not hold", 0},
        {"no such type", MADE REPLACE("elemtype", "13"), "element type 13", 0},
        {"no such swizzle", MADE REPLACE("swizzle_mode", "4"), "swizzle mode 4", 0},
        {"a step", MADE REPLACE("element_stride", "0, 2"), "a step between elements", 0},
        {"interleaved", MADE REPLACE("interleave_layout", "1"), "an interleaved layout", 0},
        {"filled with NaN", MADE REPLACE("fill_mode", "1"), "a fill with NaN", 0},
        {"misaligned", ZEROED "add.s32 %s, %s, 16;\n" REPLACE("rank", "1"),
         "cannot hold a tensor map", 0},
        {"outside", ZEROED "add.s32 %s, %s, 16384;\n" REPLACE("rank", "1"), "but the block has", 0},
        {"past the end", "@%lead tensormap.replace.tile.rank.global.b1024.b32 [%out+4032], 1;\n",
         "cannot hold a tensor map", 0},
        {"half a copy",
         MADE
         "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
         "[%out], [%s+8192], 64;\n",
         "takes 128 bytes", 0},
        {"made by another warp",
         "setp.eq.u32 %lead, %t, 32;\nmov.u32 %r7, 64;\n" REPLACE(
             "box_dim", "0, %r7") "setp.lt.u32 %p1, %t, 32;\n"
                                  "@%p1 "
                                  "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
                                  "release.gpu.sync.aligned "
                                  "[%out], [%s+8192], 128;\n",
         "race", 64},
    };
    ALL(trials);
}

#define FILL   "st.shared.v4.b32 [%r0], {%t, %t, %t, %t};\n"
#define FILL_2 "st.shared.v4.b32 [%r0+512], {%t, %t, %t, %t};\n" /* a warp's second half */
#define STORE(x, y)                                                                                \
    "mov.u32 %r4, " x ";\nmov.u32 %r5, " y                                                         \
    ";\n@%lead cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%r4, %r5}], [%s];\n"
#define DONE(how) "@%lead cp.async.bulk.commit_group;\n@%lead cp.async.bulk.wait_group" how " 0;\n"

static void tensor_stores(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"right",
         FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n" STORE("0", "0") DONE(".read"), NULL,
         64},
        {"no fence", FILL "bar.sync 0;\n" STORE("0", "0") DONE(".read"),
         "fence.proxy.async must come between", 64},
        {"no barrier", FILL "fence.proxy.async.shared::cta;\n" STORE("0", "0") DONE(".read"), "",
         64},
        {"of one warp",
         FILL FILL_2 "fence.proxy.async.shared::cta;\nbar.warp.sync -1;\n" STORE("0", "0")
             DONE(".read"),
         NULL, 0},
        {"of one warp, no __syncwarp",
         FILL FILL_2 "fence.proxy.async.shared::cta;\n" STORE("0", "0") DONE(".read"), "race", 0},
        {"no wait",
         FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n" STORE(
             "0", "0") "@%lead cp.async.bulk.commit_group;\n",
         "wait_group.read is missing", 64},
        {"overwritten",
         FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n" STORE(
             "0", "0") "@%lead st.shared.b32 [%s+512], %t;\nbar.sync 0;\n" FILL DONE(".read"),
         "race", 64},
        {"before the tensor",
         FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n" STORE("0", "-1") DONE(".read"),
         "cannot begin before", 64},
    };
    ALL(trials);
}

#define GSYNC  "bar.sync 0;\n"
#define STORED FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n" STORE("0", "0")
#define BACK   "@%lead ld.global.b32 %r6, [%in];\n"
#define AGAIN  "@%lead st.global.b32 [%in], %t;\n"
#define BULK_OUT                                                                                   \
    FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n"                                           \
         "@%lead cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n"
#define BULK_ADD                                                                                   \
    FILL "fence.proxy.async.shared::cta;\nbar.sync 0;\n"                                           \
         "@%lead cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%s], 512;\n"
#define OUT_BACK "@%lead ld.global.b32 %r6, [%out];\n"
#define BULK_IN                                                                                    \
    "@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 512, "  \
    "[%b];\n"

/* The other side of a copy, in global memory. */
static void copies_in_global_memory(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"store, waited for", STORED DONE("") BACK, NULL, 64},
        {"store, only its reads waited for", STORED DONE(".read") BACK, "race", 64},
        {"bulk store, waited for", BULK_OUT DONE("") OUT_BACK, NULL, 64},
        {"bulk store, only its reads waited for", BULK_OUT DONE(".read") OUT_BACK,
         "which the TMA store of warp 0", 64},
        {"bulk store read by another warp",
         BULK_OUT DONE("") GSYNC "setp.eq.u32 %p1, %t, 32;\n@%p1 ld.global.b32 %r6, [%out];\n",
         NULL, 64},
        {"bulk store read by another warp, no barrier",
         BULK_OUT DONE("") "setp.eq.u32 %p1, %t, 32;\n@%p1 ld.global.b32 %r6, [%out];\n", "race",
         64},
        {"bulk sum, waited for", BULK_ADD DONE("") OUT_BACK, NULL, 64},
        {"two bulk sums",
         BULK_ADD "@%lead cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%s], "
                  "512;\n" DONE("") OUT_BACK,
         NULL, 64},
        {"bulk sum read back", BULK_ADD DONE(".read") OUT_BACK, "race", 64},
        {"TMA load, then overwritten", INIT("1") EXPECT("1024") LOAD("0", "0", "0") WAIT AGAIN,
         NULL, 0},
        {"TMA load, overwritten in flight", INIT("1") EXPECT("1024") LOAD("0", "0", "0") AGAIN WAIT,
         "race", 0},
        {"bulk load, then overwritten", INIT("1") EXPECT("512") BULK_IN WAIT AGAIN, NULL, 0},
        {"bulk load, overwritten in flight", INIT("1") EXPECT("512") BULK_IN AGAIN WAIT, "race", 0},
        {"bulk load of what another warp writes",
         INIT("1") "setp.eq.u32 %p1, %t, 32;\n@%p1 st.global.b32 [%in], %t;\n" EXPECT("512")
             BULK_IN WAIT,
         "race", 64},
        {"cp.async, then overwritten", COPY "cp.async.wait_all;\nst.global.b32 [%x1], %t;\n", NULL,
         0},
        {"cp.async, overwritten in flight", COPY "st.global.b32 [%x1], %t;\ncp.async.wait_all;\n",
         "which cp.async of warp 0", 0},
        {"cp.async, overwritten by another warp",
         COPY "cp.async.wait_all;\nxor.b32 %r2, %t, 32;\nmul.wide.u32 %x2, %r2, 16;\nadd.s64 %x2, "
              "%in, %x2;\nst.global.b32 [%x2], %t;\n",
         "race", 64},
        {"cp.async, overwritten by another warp behind a barrier",
         COPY "cp.async.wait_all;\nbar.sync 0;\nxor.b32 %r2, %t, 32;\nmul.wide.u32 %x2, %r2, "
              "16;\nadd.s64 %x2, %in, %x2;\nst.global.b32 [%x2], %t;\n",
         NULL, 64},
    };
    ALL(trials);
}

/* One m64n8k16 product, A and B in shared memory (128-byte swizzle: zeros as they are), 128
 * threads. */
#define ZERO                                                                                       \
    "mov.u32 %r3, 0;\nst.shared.v4.b32 [%r0], {%r3, %r3, %r3, %r3};\nst.shared.v4.b32 "            \
    "[%r0+2048], {%r3, %r3, %r3, %r3};\n"                                                          \
    "st.shared.v4.b32 [%r0+4096], {%r3, %r3, %r3, %r3};\nst.shared.v4.b32 [%r0+6144], {%r3, %r3, " \
    "%r3, %r3};\n"                                                                                 \
    "st.shared.v4.b32 [%r0+8192], {%r3, %r3, %r3, %r3};\n"
#define DESCRIPTORS                                                                                \
    "shr.u32 %r6, %s, 4;\ncvt.u64.u32 %da, %r6;\nor.b64 %da, %da, 0x4000004000010000;\nadd.s64 "   \
    "%db, %da, 512;\n"
#define SYNC "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
#define START                                                                                      \
    "mov.u32 %f0, 0;\nmov.u32 %f1, 0;\nmov.u32 %f2, 0;\nmov.u32 %f3, 0;\nsetp.eq.u32 %p3, 0, 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define MMA                                                                                        \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %p3, 1, "   \
    "1, 0, 0;\n"
#define MMA_RS                                                                                     \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r8, %r9, %r10, "    \
    "%r11}, %db, %p3, 1, 1, 0;\n"
#define A_REGISTERS    "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.u32 %r10, 0;\nmov.u32 %r11, 0;\n"
#define COMMIT         "wgmma.commit_group.sync.aligned;\n"
#define WAITED         "wgmma.wait_group.sync.aligned 0;\n"
#define USE            "add.s64 %x2, %out, %x0;\nst.global.b32 [%x2], %f0;\n"
#define LINE(n)        ".loc 1 " #n " 1\n"
#define INLINED(n, at) ".loc 1 " #n " 1, function_name $f, inlined_at 1 " #at " 1\n"
#define BEFORE         ZERO DESCRIPTORS SYNC START

static void products(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"right", BEFORE FENCE MMA MMA COMMIT WAITED USE, NULL, 128},
        {"A in registers", BEFORE A_REGISTERS FENCE MMA_RS COMMIT WAITED USE, NULL, 128},
        {"no proxy fence", ZERO DESCRIPTORS "bar.sync 0;\n" START FENCE MMA COMMIT WAITED USE,
         "fence.proxy.async must come between", 128},
        {"no barrier",
         ZERO DESCRIPTORS "fence.proxy.async.shared::cta;\n" START FENCE MMA COMMIT WAITED USE, "",
         128},
        {"no wgmma.fence", BEFORE MMA COMMIT WAITED USE, "no wgmma.fence before this first", 128},
        {"accumulator written after the fence",
         BEFORE FENCE "mov.u32 %f1, 0;\n" MMA COMMIT WAITED USE,
         "accumulator register 1 was written", 128},
        {"moved behind the fence by nvcc",
         BEFORE LINE(5) FENCE LINE(4) "mov.u32 %f1, 0;\n" LINE(6) MMA COMMIT WAITED USE,
         "wgmma.fence (line 5): nvcc moved the write", 128},
        {"moved, in a function above",
         BEFORE LINE(5) FENCE INLINED(3, 4) "mov.u32 %f1, 0;\n" LINE(6) MMA COMMIT WAITED USE,
         "wgmma.fence (line 5): nvcc moved the write", 128},
        {"behind the fence, in a function above",
         BEFORE LINE(5) FENCE INLINED(3, 6) "mov.u32 %f1, 0;\n" LINE(7) MMA COMMIT WAITED USE,
         "wgmma misuse", 128},
        {"behind the fence in the source, too",
         BEFORE LINE(4) FENCE LINE(5) "mov.u32 %f1, 0;\n" LINE(6) MMA COMMIT WAITED USE,
         "wgmma misuse", 128},
        {"between two products, the fence behind both",
         BEFORE LINE(9) FENCE LINE(4) "mov.u32 %f1, 0;\n" LINE(6) MMA COMMIT WAITED USE,
         "wgmma misuse", 128},
        {"A written after the fence", BEFORE FENCE A_REGISTERS MMA_RS COMMIT WAITED USE,
         "A register 0 was written", 128},
        {"no wait", BEFORE FENCE MMA COMMIT USE, "reads an accumulator before", 128},
        {"wait for too few", BEFORE FENCE MMA COMMIT "wgmma.wait_group.sync.aligned 1;\n" USE,
         "reads an accumulator before", 128},
        {"not committed", BEFORE FENCE MMA "wgmma.wait_group.sync.aligned 0;\n" USE,
         "reads an accumulator before", 128},
        {"accumulator written in flight", BEFORE FENCE MMA COMMIT "mov.u32 %f2, 0;\n" WAITED USE,
         "writes an accumulator", 128},
        {"A overwritten in flight",
         BEFORE A_REGISTERS FENCE MMA_RS COMMIT "mov.u32 %r9, 1;\n" WAITED USE,
         "overwrites an A register", 128},
        {"operand overwritten in flight",
         BEFORE FENCE MMA COMMIT "bar.sync 0;\n@%lead st.shared.b32 [%s+8192], %r3;\n" WAITED USE,
         "race", 128},
        {"nobody waits", BEFORE FENCE MMA COMMIT, "ends before wgmma.wait_group", 128},
        {"descriptor leads outside", BEFORE "add.s64 %db, %db, 1024;\n" FENCE MMA COMMIT WAITED USE,
         "leads to shared address", 128},
        {"descriptor differs between lanes",
         BEFORE "cvt.u64.u32 %x3, %t;\nadd.s64 %db, %db, %x3;\n" FENCE MMA COMMIT WAITED USE,
         "differs between lanes", 128},
        {"descriptor differs between warps",
         BEFORE "shr.u32 %r7, %t, 5;\ncvt.u64.u32 %x3, %r7;\nadd.s64 %da, %da, %x3;\n" FENCE MMA
             COMMIT WAITED USE,
         "issue different products", 128},
        {"reserved bits", BEFORE "or.b64 %da, %da, 0x8000;\n" FENCE MMA COMMIT WAITED USE,
         "reserved bits", 128},
        {"diverged",
         BEFORE FENCE "setp.lt.u32 %p1, %t, 16;\n@%p1 bra skip;\n" MMA "skip:\n" COMMIT WAITED, "",
         128},
    };
    ALL(trials);
}

static void matrices_and_registers(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"ldmatrix",
         FILL "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f0}, [%r0];\n" USE,
         NULL, 0},
        {"ldmatrix, no barrier",
         FILL "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f0}, [%r1];\n" USE, "race", 0},
        {"ldmatrix misaligned",
         FILL "bar.warp.sync -1;\nadd.s32 %r0, %r0, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 "
              "{%f0}, [%r0];\n",
         "not a multiple of 16", 0},
        {"ldmatrix of half a warp",
         FILL "bar.warp.sync -1;\nsetp.lt.u32 %p1, %t, 16;\n@%p1 bra "
              "skip;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f0}, [%r0];\nskip:\n",
         "aligned", 0},
        {"registers handed over",
         "setp.lt.u32 %p1, %t, 128;\n@%p1 bra low;\nsetmaxnreg.dec.sync.aligned.u32 64;\nbra "
         "done;\n"
         "low:\nsetmaxnreg.inc.sync.aligned.u32 256;\ndone:\n",
         NULL, 256},
        {"nobody lets go of registers", "setmaxnreg.inc.sync.aligned.u32 256;\n",
         "no warp can go on", 512},
        {"one warp of a warpgroup gives up registers",
         "setp.lt.u32 %p1, %t, 32;\n@!%p1 bra done;\nsetmaxnreg.dec.sync.aligned.u32 64;\ndone:\n",
         "setmaxnreg is for a whole warpgroup", 128},
        {"one warp asks for another number",
         "setp.lt.u32 %p1, %t, 32;\n@%p1 bra low;\nsetmaxnreg.dec.sync.aligned.u32 64;\nbra "
         "done;\nlow:\nsetmaxnreg.dec.sync.aligned.u32 72;\ndone:\n",
         "setmaxnreg is for a whole warpgroup", 128},
        {"setmaxnreg of 100", "setmaxnreg.dec.sync.aligned.u32 100;\n", "in steps of 8", 128},
        {"cluster of one",
         "st.shared.b32 [%r0], "
         "%t;\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\nxor."
         "b32 %r1, %r0, 512;\n" READ,
         NULL, 64},
        {"cluster barrier not waited for",
         "st.shared.b32 [%r0], %t;\nbarrier.cluster.arrive.release.aligned;\nxor.b32 %r1, %r0, "
         "512;\n" READ "barrier.cluster.wait.acquire.aligned;\n",
         "", 64},
    };
    ALL(trials);
}

static int setup(void **state) {
    (void)state;
    if (emu_memory_open(&memory) || emu_result_open(&result) ||
        emu_memory_alloc(memory, 4096, &in) || emu_memory_alloc(memory, 4096, &out))
        return 1;
    for (int i = 0; i < 1024; i++)
        ((uint32_t *)emu_memory_at(memory, in, 4096))[i] = 0x10001u * (uint32_t)i;
    struct tensormap m = {.base = in,
                          .rank = 2,
                          .element_bytes = 2,
                          .extent = {64, 32},
                          .stride = {0, 128},
                          .box = {64, 8},
                          .swizzle_bytes = 128};
    return tensormap_encode(&m, map) != NULL;
}

static int teardown(void **state) {
    (void)state;
    emu_result_close(result);
    emu_memory_close(memory);
    return 0;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cp_async),
        cmocka_unit_test(completion_is_late),
        cmocka_unit_test(mbarriers),
        cmocka_unit_test(one_lane_arrives),
        cmocka_unit_test(tensor_loads),
        cmocka_unit_test(copies_of_unwritten),
        cmocka_unit_test(deadlocks),
        cmocka_unit_test(tensor_stores),
        cmocka_unit_test(copies_in_global_memory),
        cmocka_unit_test(products),
        cmocka_unit_test(maps_that_kernels_make),
        cmocka_unit_test(matrices_and_registers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
