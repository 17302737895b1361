/* What the emulator must object to, and what it must not: planted races, wild pointers,
 * uninitialised bytes, deadlocks, divergence, unknown instructions; and what it counts. */
#include "emu.h"
#include "common/base/reason.h"
#include "common/device/emu_counters.h"
#include "common/device/source.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Runs a body in one block; %rd0 is a buffer of 256 words, %rd51 this thread's word, %r5 the
 * address of `tile`, %r6 this thread's word in it. Returns the first report with `text` in it. */
static struct emu_test t;
static uint32_t words[256];

static void run(unsigned threads, const char *body) {
    char text[4096];
    snprintf(text, sizeof text,
             "mul.wide.u32 %%rd50, %%r0, 4; add.s64 %%rd51, %%rd0, %%rd50; mov.u32 %%r5, tile;\n"
             "shl.b32 %%r6, %%r0, 2; add.s32 %%r6, %%r6, %%r5;\n%s",
             body);
    memset(words, 0, sizeof words);
    assert_fine(emu_test_run(&t, emu_test_kernel(1, ".shared .align 16 .b8 tile[4096];", text),
                             "test", 1, threads, 0, 1, (void *[]){words},
                             (size_t[]){sizeof words}));
}

static void expect(const char *kind, unsigned threads, const char *body) {
    run(threads, body);
    if (!emu_test_report(&t, kind))
        fail_msg("no '%s' was reported for\n%s\nbut: %s", kind, body,
                 emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing");
}

static void expect_clean(unsigned threads, const char *body) {
    run(threads, body);
    if (emu_result_reports(t.result))
        fail_msg("%s\nreports %s", body, emu_result_report(t.result, 0));
}

static const char *value = "st.local.u32 [%rd1], 42;";
/* What printf of a kernel prints, by one lane: FORMAT with that value. */
static void printed(const char *format, char *out, size_t out_bytes) {
    char declarations[2048], *at = declarations;
    at += sprintf(at, ".global .align 1 .b8 text[32] = {");
    for (size_t n = 0; n < 32; n++)
        at += sprintf(at, "%d%s", n < strlen(format) ? format[n] : 0, n < 31 ? "," : "};");
    sprintf(at, ".local .align 8 .b8 buffer[8]; .shared .b8 tile[4];"
                ".param .b64 format; .param .b64 arguments; .param .b32 result;");
    FILE *f = fdopen(memfd_create("said", 0), "w+");
    int before = dup(STDOUT_FILENO);
    fflush(stdout);
    assert_true(f && before >= 0 && dup2(fileno(f), STDOUT_FILENO) >= 0);
    char body[512];
    snprintf(body, sizeof body,
             "mov.u64 %%rd1, buffer; cvta.local.u64 %%rd2, %%rd1; mov.u64 %%rd3, text;"
             "%s st.param.b64 [format], %%rd3;"
             "st.param.b64 [arguments], %%rd2; call.uni (result), vprintf, (format, "
             "arguments); ld.param.b32 %%r1, [result];",
             value);
    const char *why = emu_test_run(&t, emu_test_kernel(1, declarations, body), "test", 1, 1, 0, 1,
                                   (void *[]){words}, (size_t[]){sizeof words});
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(f);
    out[fread(out, 1, out_bytes - 1, f)] = 0;
    fclose(f);
    assert_fine(why);
}

static void test_printf(void **state) {
    char text[64];
    (void)state;
    printed("%5d of 100%%\n", text, sizeof text);
    assert_string_equal(text, "   42 of 100%\n");
    assert_int_equal(emu_result_reports(t.result), 0);
    for (const char *const *wrong = (const char *const[]){"%d %d", "%f", "%lld", "%*d", "%s", NULL};
         *wrong; wrong++) {
        printed(*wrong, text, sizeof text);
        if (!emu_test_report(&t, "printf has fewer values than conversions"))
            fail_msg("%s: printed as %s", *wrong, text);
    }
    value = "st.local.u64 [%rd1], 42;";
    printed("%s", text, sizeof text);
    value = "st.local.u32 [%rd1], 42;";
    assert_non_null(emu_test_report(&t, "printf is given an address that is no string's"));
    printed("%x%n%q%", text, sizeof text); /* what a GPU's printf does not know is printed */
    assert_string_equal(text, "2a%n%q");
    printed("%-6.3d|", text, sizeof text);
    assert_string_equal(text, "042   |");
    static char wide[8192]; /* a GPU prints a gigabyte */
    printed("%999999999d|", wide, sizeof wide);
    assert_int_equal(strlen(wide), 4097);
    assert_non_null(emu_test_report(&t, "printf pads to more than 4096 characters"));
    printed("%.2000000000d|", wide, sizeof wide);
    assert_int_equal(strlen(wide), 4097);
    const char *why =
        emu_test_run(&t,
                     emu_test_kernel(1, ".global .b32 elsewhere; .param .b64 a; .param .b64 b;",
                                     "call.uni (elsewhere), vprintf, (a, b);"),
                     "test", 1, 1, 0, 1, (void *[]){words}, (size_t[]){sizeof words});
    assert_reason(why, "the result of the call is no .param");
}

#define NEIGHBOUR  "xor.b32 %r7, %r6, 128;" /* the same lane of the neighbouring warp */
#define OTHER_LANE "xor.b32 %r7, %r6, 4;"

/* The last warp to arrive goes on to the next reduction before the others have read this one. */
/* The star that opens a comment does not close it, and one before another slash does. */
static void test_comments(void **state) {
    (void)state;
    expect_clean(1, "/* first /*/ mov.u32 %r1, 5; /*/ second */ mov.u32 %r2, 6; /**/\n"
                    "add.u32 %r1, %r1, %r2; st.global.u32 [%rd0], %r1; /* third **/");
    assert_int_equal(words[0], 11);
}

static void test_reductions(void **state) {
    (void)state;
    expect_clean(96, "setp.lt.u32 %p1, %r0, 40; setp.lt.u32 %p2, %r0, 7;"
                     "bar.red.popc.u32 %r8, 0, %p1; bar.red.popc.u32 %r9, 0, %p2;"
                     "bar.red.or.pred %p3, 0, %p1; bar.red.and.pred %p4, 0, %p1;"
                     "mad.lo.u32 %r8, %r8, 100, %r9; selp.b32 %r10, 10000, 0, %p3;"
                     "selp.b32 %r11, 20000, 0, %p4; add.u32 %r8, %r8, %r10;"
                     "add.u32 %r8, %r8, %r11; st.global.u32 [%rd51], %r8;");
    for (int n = 0; n < 96; n++) assert_int_equal(words[n], 14007);
}

static void test_races(void **state) {
    static const enum emu_schedule schedules[] = {EMU_ROUND_ROBIN, EMU_RANDOM, EMU_ADVERSARIAL};
    (void)state;
    for (int s = 0; s < 3; s++) {
        t.options.schedule = schedules[s];
        t.options.seed = 7;
        expect("race", 64,
               NEIGHBOUR "st.shared.u32 [%r6], %r0; ld.shared.u32 %r8, [%r7];"); /* no barrier */
        expect("race", 64,
               NEIGHBOUR "st.shared.u32 [%r6], %r0; bar.sync 0; ld.shared.u32 %r8, [%r7];"
                         "st.shared.u32 [%r6], %r8;");   /* read, then overwritten by the other */
        expect("race", 64, "st.shared.u32 [%r5], %r0;"); /* all write one word */
        expect("__syncwarp", 32, OTHER_LANE "st.shared.u32 [%r6], %r0; ld.shared.u32 %r8, [%r7];");
        expect("__syncwarp", 32,
               OTHER_LANE "st.shared.u32 [%r6], %r0; bar.warp.sync -1; ld.shared.u32 %r8, [%r7];"
                          "st.shared.u32 [%r6], %r8;");
        /* named barrier 1 orders the first two warps, not the third */
        expect("race", 96,
               "setp.ge.u32 %p1, %r0, 64; @%p1 bra LAST; st.shared.u32 [%r6], %r0; bar.sync 1, 64; "
               "exit;"
               "LAST: ld.shared.u32 %r8, [%r5];");
    }
    t.options.schedule = EMU_ROUND_ROBIN;
    expect_clean(64, NEIGHBOUR
                 "st.shared.u32 [%r6], %r0; bar.sync 0; ld.shared.u32 %r8, [%r7]; bar.sync 0;"
                 "st.shared.u32 [%r6], %r8;");
    expect_clean(32,
                 OTHER_LANE "st.shared.u32 [%r6], %r0; bar.warp.sync -1; ld.shared.u32 %r8, [%r7];"
                            "bar.warp.sync -1; st.shared.u32 [%r6], %r8;");
    expect_clean(64, "st.shared.u32 [%r6], %r0; ld.shared.u32 %r8, [%r6]; st.shared.u32 [%r6], "
                     "%r8;"); /* its own */
    expect_clean(64, "add.s32 %r7, %r5, %r0; add.s32 %r7, %r7, %r0; cvt.u16.u32 %h1, %r0; "
                     "st.shared.u16 [%r7], %h1;"); /* halves of a word */
    /* four lanes have a byte each of one word, and no __syncwarp: its own byte anyone may read, the
     * word nobody */
    const char *bytes = "setp.ge.u32 %p1, %r0, 4; @%p1 bra DONE; add.s32 %r7, %r5, %r0;"
                        "cvt.u16.u32 %h1, %r0; st.shared.u8 [%r7], %h1;";
    char body[512];
    snprintf(body, sizeof body, "%s ld.shared.u8 %%h2, [%%r7]; DONE:", bytes);
    expect_clean(32, body);
    snprintf(
        body, sizeof body,
        "%s setp.ne.u32 %%p2, %%r0, 2; @%%p2 bra DONE; ld.shared.u8 %%h2, [%%r7]; DONE:", bytes);
    expect_clean(32, body);
    snprintf(
        body, sizeof body,
        "%s setp.ne.u32 %%p2, %%r0, 2; @%%p2 bra DONE; ld.shared.u32 %%r8, [%%r5]; DONE:", bytes);
    expect("__syncwarp", 32, body);
    /* one lane writes a word that all read, and again: each needs a __syncwarp */
    const char *first = "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [%r5], %r0;";
    snprintf(body, sizeof body, "%s ld.shared.u32 %%r8, [%%r5];", first);
    expect("a lane reads shared 0x400, which another lane of the warp wrote", 32, body);
    snprintf(body, sizeof body, "%s bar.warp.sync -1; ld.shared.u32 %%r8, [%%r5];", first);
    expect_clean(32, body);
    snprintf(body, sizeof body,
             "%s bar.warp.sync -1; ld.shared.u32 %%r8, [%%r5]; @%%p1 st.shared.u32 [%%r5], %%r8;",
             first);
    expect("a lane writes shared 0x400, which another lane of the warp read", 32, body);
    /* meant to meet */
    expect_clean(64, "st.volatile.shared.u32 [%r5], %r0; ld.volatile.shared.u32 %r8, [%r5];");
    /* volatile words are flags; a sum of a warp's words needs __syncwarp() between its steps */
#define STEP(at, between)                                                                          \
    "ld.volatile.shared.u32 %r8, [%r6+" at "]; ld.volatile.shared.u32 %r9, [%r6];" between         \
    "add.u32 %r8, %r8, %r9; st.volatile.shared.u32 [%r6], %r8;" between
#define SYNCWARP "bar.warp.sync -1;"
    expect("volatile orders no lanes", 32,
           "st.volatile.shared.u32 [%r6], %r0; st.shared.u32 [%r6+128], %r0;" SYNCWARP STEP(
               "64", "") STEP("32", ""));
    expect_clean(32,
                 "st.volatile.shared.u32 [%r6], %r0; st.shared.u32 [%r6+128], %r0;" SYNCWARP STEP(
                     "64", SYNCWARP) STEP("32", SYNCWARP));
    expect_clean(32, "st.volatile.shared.u32 [%r6], %r0; ld.volatile.shared.u32 %r8, [%r6];");
    expect_clean(32, "mov.u32 %r9, 1; st.shared.u32 [%r5], %r9; setp.eq.u32 %p1, %r0, 0;" SYNCWARP
                     "@%p1 st.volatile.shared.u32 [%r5], 0; W: ld.volatile.shared.u32 %r8, [%r5];"
                     "setp.eq.u32 %p2, %r8, 1; @%p2 bra W;");
    /* producer and consumer by bar.arrive and bar.sync */
    expect_clean(
        64, NEIGHBOUR
        "setp.ge.u32 %p1, %r0, 32; @%p1 bra READ; st.shared.u32 [%r6], %r0; bar.arrive 2, 64; exit;"
        "READ: bar.sync 2, 64; ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd51], %r8;");
    assert_int_equal(words[32 + 5], 5);
}

/* Reads are kept by pages of 256 bytes. Warp 0 reads and warp 1 writes; one of them touches 512 bytes on three pages,
 * the other one word there: the first, beside an edge of a page, or the last. */
static void test_pages(void **state) {
    static const int words_at[] = {64, 252, 256, 508, 512, 572};
    static const char *cases[] = {
        "@%%p1 ld.shared.v4.u32 {%%r8, %%r9, %%r10, %%r11}, [%%r7]; @%%p1 bra DONE;"
        "@%%p2 st.shared.u32 [%%r5+%d], %%r0; DONE:",
        "@%%p1 bra READ; st.shared.v4.u32 [%%r7], {%%r8, %%r9, %%r10, %%r11}; bra DONE;"
        "READ: @%%p2 ld.shared.u32 %%r8, [%%r5+%d]; DONE:"};
    (void)state;
    for (int n = 0; n < 12; n++) {
        char body[1024];
        int length =
            snprintf(body, sizeof body,
                     "mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u32 %%r10, 0; mov.u32 %%r11, 0;"
                     "setp.lt.u32 %%p1, %%r0, 32; and.b32 %%r7, %%r0, 31;"
                     "setp.eq.u32 %%p2, %%r7, 5; mad.lo.u32 %%r7, %%r7, 16, %%r5;"
                     "add.u32 %%r7, %%r7, 64; @%%p1 st.shared.v4.u32 [%%r7], "
                     "{%%r8, %%r9, %%r10, %%r11}; bar.sync 0;");
        snprintf(body + length, sizeof body - (size_t)length, cases[n / 6], words_at[n % 6]);
        expect("race", 64, body);
    }
}

static void test_bounds(void **state) {
    (void)state;
    expect("a line that the compiler does not name", 32,
           "\n.loc 1 0 0\nadd.s64 %rd5, %rd0, 4096; ld.global.u32 %r8, [%rd5];");
    expect("out of bounds", 32, "ld.global.u32 %r8, [%rd51+1024];");
    expect("out of bounds", 32, "st.global.u32 [%rd51+-4], %r0;");
    expect("out of bounds", 32, "mov.u64 %rd5, 0; ld.global.u32 %r8, [%rd5];");
    expect("shared access out of bounds", 32, "ld.shared.u32 %r8, [%r6+4096];");
    expect("misaligned", 32, "ld.shared.u32 %r8, [%r5+2];");
    expect("misaligned", 32, "ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd0+8];");
    expect("local access out of bounds", 32, "mov.u64 %rd5, 64; ld.local.u32 %r8, [%rd5];");
    expect("local access out of bounds", 32, "mov.u64 %rd5, 0; ld.local.u32 %r8, [%rd5-4];");
    /* the last word of both */
    expect_clean(32, "ld.global.u32 %r8, [%rd51+896]; st.shared.u32 [%r6+3968], %r8;");
}

/* Allocations lie far apart, however many there are; parameters and constants stay as they are. */
static void test_memory(void **state) {
    struct emu_memory *m;
    uint64_t a, b, first = 0;
    (void)state;
    assert_fine(emu_memory_open(&m));
    assert_fine(emu_memory_alloc(m, 100, &a));
    assert_fine(emu_memory_alloc(m, 100, &b));
    assert_true(b - a >= 1ull << 30);
    assert_null(emu_memory_at(m, a + 100, 1));
    assert_null(emu_memory_at(m, a + (b - a) / 2, 1));
    for (int n = 0; n < 100000; n++) { /* none is handed out twice */
        assert_fine(emu_memory_alloc(m, 5000, &a));
        assert_true(a > first);
        first = a;
        emu_memory_free(m, a);
    }
    emu_memory_close(m);
    expect("4096 bytes past the end of an allocation of 1024", 32,
           "ld.global.u32 %r8, [%rd0+5120];");
    expect("are not allocated", 32,
           "mul.wide.u32 %rd5, %r0, 33554432; add.s64 %rd5, %rd5, %rd0;"
           "ld.global.u32 %r8, [%rd5];");
    expect("are not allocated", 32, /* lanes from the last addresses to the first */
           "ld.global.u32 %r8, [%rd0];"
           "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, -64;"
           "ld.global.u32 %r8, [%rd5];");
#define WRITE(declare, space, name)                                                                \
    ".version 9.0\n.target sm_90a\n.address_size 64\n" declare                                     \
    ".visible .entry test(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r0; mov.b64 %rd1, " name   \
    ";"                                                                                            \
    "cvta." space ".u64 %rd2, %rd1; ld.u32 %r0, [%rd2]; st.u32 [%rd2], 7; ret; }"
    static const char *const texts[] = {WRITE("", "param", "p"),
                                        WRITE(".const .b32 c[4];", "const", "c")};
    for (int n = 0; n < 2; n++) {
        assert_fine(emu_test_run(&t, texts[n], "test", 1, 32, 0, 1, (void *[]){words},
                                 (size_t[]){sizeof words}));
        assert_non_null(emu_test_report(&t, "cannot be written"));
    }
}

/* Out of one shared array into its neighbour; `tile` has 4096 bytes and is the first. */
static void outside(const char *wanted, const char *body) {
    char text[2048];
    snprintf(text, sizeof text, "mov.u32 %%r5, tile; shl.b32 %%r6, %%r0, 2; %s", body);
    assert_fine(emu_test_run(&t,
                             emu_test_kernel(1,
                                             ".shared .align 16 .b8 tile[4096];"
                                             ".shared .align 16 .b8 _ZZ4testPfE4next[4096];",
                                             text),
                             "test", 1, 32, 0, 1, (void *[]){words}, (size_t[]){sizeof words}));
    if (wanted && !emu_test_report(&t, wanted)) fail_msg("no '%s' for %s", wanted, body);
    if (!wanted && emu_result_reports(t.result))
        fail_msg("%s reports %s", body, emu_result_report(t.result, 0));
}

static void test_arrays(void **state) {
    (void)state;
#define NEXT "mov.u32 %r7, _ZZ4testPfE4next; add.s32 %r7, %r7, %r6;"
    outside("4 bytes past the end of tile, a shared array of 4096 bytes at 0x400",
            "add.s32 %r7, %r5, %r6; st.shared.u32 [%r7+3972], %r0;");
    outside("128 bytes before next, a shared array of 4096 bytes at 0x1400",
            NEXT "st.shared.u32 [%r7+-128], %r0;");
    outside("128 bytes before next", /* a loop's pointer; generic addresses */
            NEXT "add.s32 %r7, %r7, 128; mov.u32 %r8, 0; L: add.s32 %r7, %r7, -128;"
                 "cvt.u64.u32 %rd5, %r7; cvta.shared.u64 %rd5, %rd5; st.u32 [%rd5], %r0;"
                 "add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, 2; @%p1 bra L;");
    outside("16 bytes past the end of tile", "st.shared.u32 [tile+4108], %r0;");
    outside(NULL, "add.s32 %r7, %r5, %r6; st.shared.u32 [%r7+3968], %r0;");
    outside(NULL, NEXT "st.shared.u32 [%r7], %r0; st.shared.u32 [%r7+3968], %r0;");
    /* one of two arrays, and an address that was computed from nothing known */
    outside(NULL, NEXT "setp.eq.u32 %p1, %r0, %r0; selp.b32 %r8, %r7, %r5, %p1;"
                       "st.shared.u32 [%r8], %r0; mad.lo.u32 %r9, %r0, 4, 4096;"
                       "st.shared.u32 [%r9], %r0;");
}

/* Where shared memory begins is drawn: a multiple of 1024 and of what its variables want, never 0; by
 * default as on an H200. */
static void test_shared_begins(void **state) {
    uint32_t seen = 0;
    (void)state;
    for (unsigned draw = 0; draw < 64; draw++) {
        t.options.draw = draw;
        expect_clean(1, "st.shared.u32 [tile+8], %r0; mov.u32 %r8, 7; st.shared.u32 [%r5+8], %r8;"
                        "ld.shared.u32 %r7, [tile+8]; mov.u64 %rd5, tile; cvt.u32.u64 %r8, %rd5;"
                        "sub.u32 %r8, %r8, %r5; add.u32 %r8, %r8, %r7;"
                        "st.global.u32 [%rd0], %r5; st.global.u32 [%rd0+4], %r8;");
        assert_int_equal(words[0] % 1024, 0);
        assert_in_range(words[0], 1024, 8192);
        assert_int_equal(words[1], 7);
        if (!draw) assert_int_equal(words[0], 1024);
        seen |= 1u << words[0] / 1024;
        expect("out of bounds", 1, "mov.u32 %r7, 0; st.shared.u32 [%r7], %r0;");
        expect("out of bounds", 1, "add.u32 %r7, %r5, -4; ld.shared.u32 %r8, [%r7];");
        assert_fine(emu_test_run(&t,
                                 emu_test_kernel(1, ".shared .align 4096 .b8 table[16];",
                                                 "mov.u32 %r1, table; st.global.u32 [%rd0], %r1;"),
                                 "test", 1, 1, 0, 1, (void *[]){words}, (size_t[]){sizeof words}));
        assert_int_equal(words[0] % 4096, 0);
        assert_int_not_equal(words[0], 0);
    }
    assert_int_equal(seen, 0x1fe); /* each of the eight */
    t.options.draw = 0;
}

static bool is_nan(uint32_t word) { return (word & 0x7fffffff) > 0x7f800000; }

/* What nobody has written is no number, whatever type it is read as, and another one in another draw. */
static void test_unwritten(void **state) {
    uint32_t first = 0, blocks[6];
    (void)state;
    for (unsigned draw = 0; draw < 8; draw++) {
        t.options.draw = draw;
        run(1, "st.global.f32 [%rd0], %f50; cvt.u32.u16 %r7, %h5; st.global.u32 [%rd0+4], %r7;"
               "st.global.f64 [%rd0+8], %d5; ld.shared.u32 %r7, [%r5+64];"
               "st.global.u32 [%rd0+16], %r7;");
        assert_true(is_nan(words[0]) && is_nan(words[0] << 16) && is_nan(words[3]));
        assert_true((words[1] & 0x7fff) > 0x7c00 && words[1] < 0x10000);
        assert_true(is_nan(words[4]));
        /* in each block anew */
        assert_fine(emu_test_run(
            &t,
            emu_test_kernel(
                1, "",
                "mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd4, %r5, 8; add.s64 %rd4, %rd0, %rd4;"
                "st.global.f32 [%rd4], %f50; selp.u32 %r6, 1, 0, %p3;"
                "st.global.u32 [%rd4+4], %r6; mov.f32 %f50, 0f3f800000;"
                "setp.ne.u32 %p3, %r6, 1;"),
            "test", 3, 1, 0, 1, (void *[]){blocks}, (size_t[]){sizeof blocks}));
        assert_true(is_nan(blocks[0]) && blocks[2] == blocks[0] && blocks[4] == blocks[0]);
        assert_true(blocks[3] == blocks[1] && blocks[5] == blocks[1]);
        if (!draw) first = words[0];
        if (draw == 7) assert_int_not_equal(words[0], first);
    }
    t.options.draw = 0;
}

/* A register that some way reads before it writes it is drawn in each block anew: %r5 is the block,
 * %rd4 its place; %f50 ends there. */
static void test_unwritten_by_way(void **state) {
    static const char *const bodies[] = {
        /* one way writes, the other does not */
        "@%p1 bra A; bra B; A: mov.f32 %f50, 0f3f800000; B:",
        "@!%p1 bra B; mov.f32 %f50, 0f3f800000; B:",
        "@%p1 mov.f32 %f50, 0f3f800000;",
        /* the first time round, it is read */
        "mov.u32 %r7, 0; L: mov.f32 %f51, %f50; mov.f32 %f50, 0f3f800000; add.u32 %r7, %r7, 1;"
        "setp.lt.u32 %p2, %r7, 1; @%p2 bra L; mov.f32 %f50, %f51;",
        /* a table that leads past the write */
        "T: .branchtargets A, B, B; brx.idx %r5, T; A: mov.f32 %f50, 0f3f800000; B:",
        /* lane 0 reads that of lane 1, which writes it in the first block alone */
        "setp.eq.u32 %p2, %r0, 0; @%p2 bra A; @!%p1 bra C; mov.f32 %f51, 0f3f800000; bra C;"
        "A: mov.f32 %f51, 0f3f800000; shfl.sync.idx.b32 %f50, %f51, 1, 31, 1;"
        "@!%p1 bra B; mov.f32 %f50, 0f3f800000; bra B; C: exit; B:",
        /* sums of a product, which only the first block writes */
        "mov.b32 %r8, 0; mov.f32 %f50, 0f00000000; mov.f32 %f51, %f50; mov.f32 %f52, %f50;"
        "@%p1 mov.f32 %f53, %f50; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
        "{%f50, %f51, %f52, %f54}, {%r8, %r8}, {%r8}, {%f50, %f51, %f52, %f53}; mov.f32 %f50, "
        "%f54;",
        /* a load that fails, of global memory, of shared memory, and as a look of a loop */
        "ld.global.u32 %r8, [%rd5]; mov.b32 %f50, %r8;",
        "ld.shared.f32 %f50, [%r6];",
        "ld.shared.v2.f32 {%f51, %f50}, [%r6];",
        "ld.shared.u8 %r8, [%r6]; mov.b32 %f50, %r8;",
    };
    uint32_t blocks[3];
    char text[1024];
    (void)state;
    t.options.n_threads = 1;
    t.options.no_checks = true;
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        snprintf(
            text, sizeof text,
            "mov.u32 %%r5, %%ctaid.x; mul.wide.u32 %%rd4, %%r5, 4; add.s64 %%rd4, %%rd0, %%rd4;"
            "setp.eq.u32 %%p1, %%r5, 0; selp.b64 %%rd5, %%rd4, 64, %%p1; mov.u32 %%r6, tile;"
            "@!%%p1 mov.u32 %%r6, 0; mov.u32 %%r9, 0x3f800000; st.global.u32 [%%rd4], %%r9;"
            "@%%p1 st.shared.v2.u32 [%%r6], {%%r9, %%r9};"
            "%s st.global.f32 [%%rd4], %%f50;",
            bodies[n]);
        assert_fine(emu_test_run(&t, emu_test_kernel(1, ".shared .align 16 .b8 tile[64];", text),
                                 "test", 3, 32, 0, 1, (void *[]){blocks},
                                 (size_t[]){sizeof blocks}));
        if (!is_nan(blocks[1]) || !is_nan(blocks[2]))
            fail_msg("%s\nleaves %#x, %#x, %#x", bodies[n], blocks[0], blocks[1], blocks[2]);
    }
    t.options.n_threads = 0;
    t.options.no_checks = false;
}

/* Lanes whose mask names others that stand elsewhere for good. */
static void test_missing_lanes(void **state) {
    (void)state;
#define HALVES(a, b)                                                                               \
    "setp.lt.u32 %p1, %r0, 16; @%p1 bra A; " b "; bra B; A: " a "; B: bar.warp.sync -1;"
#define SHUFFLE(mask) "shfl.sync.bfly.b32 %r8, %r0, 1, 31, " mask
    expect("lanes 0000ffff wait for lanes that never come", 32,
           HALVES(SHUFFLE("-1"), SHUFFLE("-1")));
    assert_int_equal(emu_result_reports(t.result), 1);
    expect("wait for lanes that never come", 32,
           HALVES("vote.sync.any.pred %p2, %p1, -1", "mov.u32 %r8, 0"));
    expect("wait for lanes that never come", 32, HALVES("bar.warp.sync 131071", SHUFFLE("-65536")));
    /* lanes of one mask may meet at two instructions */
    expect_clean(32, HALVES("bar.warp.sync -1", "bar.warp.sync -1"));
    expect_clean(32, HALVES(SHUFFLE("65535"), SHUFFLE("-65536")));
    /* those that have exited are not waited for */
    expect_clean(32, "setp.lt.u32 %p1, %r0, 16; @!%p1 ret; " SHUFFLE("-1") ";");
}

static void test_barriers(void **state) {
    (void)state;
    expect("deadlock", 64, "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1, 64;"); /* half never comes */
    assert_non_null(emu_test_report(&t, "barrier 1: 32 of 64 threads have arrived"));
    expect("divergent", 32,
           "setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:");
    expect("barrier mismatch", 96,
           "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;");
    expect("bad operand", 32, "bar.sync 16;");
    expect("bad operand", 32, "T: .branchtargets A, A;\nmov.u32 %r1, 2; brx.idx %r1, T;\nA: ret;");
    expect("bad operand", 32, "T: .branchtargets A, A;\nmov.u32 %r1, -1; brx.idx %r1, T;\nA: ret;");
    expect("bad operand", 32, "T: .branchtargets A, A;\nbrx.idx -1, T;\nA: ret;");
    expect("not among the members", 32, "redux.sync.add.u32 %r8, %r0, 0xfffffffe;");
    expect("trap", 32, "trap;");
    expect("deadlock", 32,
           "setp.lt.u32 %p1, %r0, 16; @%p1 shfl.sync.bfly.b32 %r8, %r0, 1, 31, -1; @!%p1 bar.sync "
           "1, 64;");
    expect("deadlock", 32,
           "setp.eq.u32 %p1, %r0, 0; @%p1 barrier.sync 1, 64; @!%p1 barrier.sync 2, 64;");
    assert_non_null(emu_test_report(
        &t, "barrier 1: 1 of 64 threads have arrived, not: other lanes of the same warps\n"));
    expect_clean(
        64,
        "setp.lt.u32 %p1, %r0, 32; @%p1 exit; bar.sync 0;"); /* those who left are not waited for */
    expect_clean(40, "bar.sync 0; bar.sync 0;");
    expect_clean(
        64, "setp.lt.u32 %p1, %r0, 9; bar.red.popc.u32 %r8, 0, %p1; st.global.u32 [%rd51], %r8;");
    assert_int_equal(words[63], 9);
}

/* Lanes that loop for long are waited for where the warp meets; lanes that wait for those behind
 * their loop are not. */
static void test_long_loops(void **state) {
    (void)state;
    expect_clean(32, "mov.u32 %r8, 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra MEET;\n"
                     "WORK: add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 2500000; @%p2 bra WORK;\n"
                     "st.shared.u32 [tile], %r8; MEET: bar.sync 0; ld.shared.u32 %r8, [tile];\n"
                     "st.global.u32 [%rd51], %r8;");
    assert_int_equal(words[31], 2500000);
    expect("race", 32,
           "mov.u32 %r8, 0; setp.ne.u32 %p1, %r0, 0; st.shared.u32 [tile], 0;\n"
           "bar.sync 0; @%p1 bra BEHIND;\n"
           "WAIT: ld.shared.u32 %r8, [tile]; setp.eq.u32 %p2, %r8, 0; @%p2 bra WAIT;\n"
           "BEHIND: st.shared.u32 [tile], 1;");
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* The module, or what is wrong with its kernel k. */
static void refuse(const char *why, const char *text) {
    struct emu_module *m = NULL;
    const char *said = emu_module_open(t.memory, text, strlen(text), "k.ptx", &m);
    assert_reason(said ? said : emu_kernel_refused(emu_module_kernel(m, "k")), why);
    emu_module_close(m);
}

/* What one kernel lacks is said all at once, and keeps no other from running. */
static void test_refused_kernel(void **state) {
    static const char text[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry bad(.param .u64 p) {\n.reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .b32 "
        "%r<2>;\n"
        "{ .reg .pred %p1; add.f99 %f1, %f2;\n@%p1 bra NOWHERE; }\n.loc 1 42 7\n"
        "tex.9d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r0}];\nadd.f99 %f1, %f2;\n"
        "tcgen05.fence::before_thread_sync;\nadd.s32 %r0, %r1, %rd0;\n}\n"
        ".visible .entry good(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n"
        "st.global.u32 [%rd1], 7; ret; }\n";
    (void)state;
    const char *why =
        emu_test_run(&t, text, "bad", 1, 32, 0, 1, (void *[]){words}, (size_t[]){sizeof words});
    assert_reason(why, "kernel bad of test.ptx cannot run here: the emulator does not know add.f99 "
                       "(PTX line 6, 2 times), tex.9d");
    assert_reason(why, "label NOWHERE is not defined");
    assert_reason(why, "tex.9d.v4.f32.s32 (line 42, PTX line 9), tcgen05.fence::before_thread_sync "
                       "(line 42, PTX line 11), operand 3 of add.s32 has the wrong width");
    assert_reason(why, "; compile for compute_90a");
    assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_UNSUPPORTED);
    assert_fine(
        emu_test_run(&t, text, "good", 1, 32, 0, 1, (void *[]){words}, (size_t[]){sizeof words}));
    assert_int_equal(words[0], 7);
}

static void test_refusals(void **state) {
    (void)state;
#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
    refuse("does not know fma.rn.f99",
           HEAD ".entry k() {\n.reg .f32 %f<4>;\n.loc 1 42 7\nfma.rn.f99 %f1, %f2, %f3;\n}");
    refuse("kernel k of k.ptx cannot run here: the emulator does not know fma.rn.f99 (line 42, PTX "
           "line 7)",
           HEAD ".entry k() {\n.reg .f32 %f<4>;\n.loc 1 42 7\nfma.rn.f99 %f1, %f2, %f3;\n}");
    refuse("is not declared", HEAD ".entry k() { .reg .b32 %r<4>; add.s32 %r1, %r2, %r9; }");
    refuse("wrong width",
           HEAD ".entry k() { .reg .b32 %r<4>; .reg .b64 %rd<4>; add.s32 %r1, %r2, %rd1; }");
    refuse("must be a predicate",
           HEAD ".entry k() { .reg .b32 %r<4>; selp.b32 %r1, %r2, %r3, %r0; }");
    refuse("what is no register", HEAD ".entry k() { .reg .b32 %r<4>; add.s32 5, %r2, %r3; }");
    refuse("label NOWHERE is not defined", HEAD ".entry k() { bra NOWHERE; }");
    refuse("does not define it", HEAD ".extern .func f();\n.entry k() { call.uni f; }");
    refuse("is no function", HEAD ".entry k() { .reg .b32 %r<2>; call.uni %r1; }");
    refuse("k.ptx cannot run here: the emulator does not know fma.rn.f99",
           HEAD ".func f() { fma.rn.f99 %f1, %f2, %f3; ret; }\n.entry k() { call.uni f; }");
    refuse("does not end", HEAD ".entry k() { ret;");
    refuse("expected ','", HEAD ".entry k() { .reg .b32 %r<4>; add.s32 %r1, %r2; }");
    refuse("not understood", HEAD ".entry k() { .reg .b32 %r<4>; add.s32 %r1, %r2, %r3, %r0; }");
    refuse("too large", HEAD ".entry k() { .shared .b8 x[99999999999]; }");
    refuse("too large", HEAD ".shared .b64 x[536870912]; .entry k() { ret; }"); /* 4 GiB */
    refuse("register count", HEAD ".entry k() { .reg .b32 %r<99999999>; }");
    refuse("is not understood", HEAD "rubbish");
    refuse("need registers of 64 bits",
           HEAD ".entry k() { .reg .b32 %r<4>; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                "{%r0,%r1}, {%r2}, {%r3}, {%r0,%r1}; }");
    refuse("another number of registers", HEAD
           ".entry k() { .reg .b32 %r<9>; wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 "
           "{%r1, %r2}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2}; }");
    refuse("another number of registers",
           HEAD ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<2>; wmma.store.d.sync.aligned.row."
                "m16n16k16.f32 [%rd1], {%r1}, %r2; }");
    refuse("not those of its vector",
           HEAD ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<2>; st.async.shared::cluster."
                "mbarrier::complete_tx::bytes.b32 [%r1], {%r1, %r2, %r3, %r4, %r5}, [%r2]; }");
    refuse("not those of its vector",
           HEAD ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<2>; st.async.shared::cluster."
                "mbarrier::complete_tx::bytes.b64 [%r1], %r1, [%r2]; }");
}

/* Warps that store the value that is there already are noted; who reads it meanwhile races. */
static void test_same_value(void **state) {
    static const char *const alike[] = {"st.shared.u32 [tile], 7;", "st.shared.u8 [tile+5], 7;",
                                        "st.shared.v2.u64 [tile+16], {%rd0, 3};"};
    static const char *const others[] = {
        "st.shared.u32 [tile], %r0;", "st.shared.v2.u32 [tile], {7, %r0};",
        "st.shared.u32 [tile+8], %r0;", "st.shared.u32 [tile], 7; ld.shared.u32 %r8, [tile];"};
    /* lanes 0 store 7 at 8; of the others, each with a word of its own, thread 33 has the one before */
    static const char *const neighbour =
        "and.b32 %r7, %r0, 31; add.s32 %r9, %r6, 128; setp.eq.u32 %p1, %r7, 0; "
        "@%p1 add.s32 %r9, %r5, 8; setp.eq.u32 %p2, %r0, 33; @%p2 add.s32 %r9, %r5, 4; "
        "selp.b32 %r8, 7, %r0, %p1; st.shared.u32 [%r9], %r8;";
    (void)state;
    for (size_t n = 0; n < sizeof alike / sizeof *alike; n++) {
        expect("writes the same value to shared", 64, alike[n]);
        assert_non_null(emu_test_report(&t, "note"));
        assert_null(emu_test_report(&t, "race"));
    }
    expect("writes the same value to shared 0x408", 64, neighbour);
    assert_null(emu_test_report(&t, "race"));
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) expect("race", 64, others[n]);
}

/* As nvcc leaves sin() of a double: declared, called, and defined behind the kernel, with what it
 * needs. */
static void test_defined_later(void **state) {
    static const char text[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".func (.param .b32 d) later (.param .b32 a);\n"
        ".visible .entry calls(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, 3;\n"
        "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 d; call.uni (d), later, (a);\n"
        "ld.param.b32 %r1, [d]; } st.global.u32 [%rd1], %r1; ret; }\n"
        ".global .align 4 .u32 much = 39;\n"
        ".func (.param .b32 d) later (.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n"
        "ld.global.u32 %r2, [much]; add.u32 %r1, %r1, %r2; st.param.b32 [d], %r1; ret; }\n";
    (void)state;
    assert_fine(
        emu_test_run(&t, text, "calls", 1, 32, 0, 1, (void *[]){words}, (size_t[]){sizeof words}));
    assert_int_equal(words[0], 42);
}

/* Registers that do not fit what an instruction moves: read or written beyond their rows, once. */
static void test_widths(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"narrower than its type", "cvt.f64.s16 %r1, %r2;"},
        {"narrower than its type", "cvt.rzi.u64.f64 %r1, 1;"},
        {"narrower than its type", "cvt.rzi.u32.f64 %r1, %r2;"},
        {"narrower than its type", "cvt.rn.f32.s32 %r1, %p1;"},
        {"wrong width", "atom.shared.add.u64 %r1, [%r2], %r3;"},
        {"wrong width", "red.shared.add.u64 [%r2], %r3;"},
        {"different widths", "st.shared.v2.b64 [%r1], {%r2, %rd1};"},
        {"does not fit the vector", "st.shared.v4.b64 [%r1], {%rd1, %rd1, %rd2, %rd1};"},
        {"does not fit the vector", "ld.shared.v4.b64 {%rd1, %rd2, %rd3, %rd3}, [%r1];"},
        {"a predicate or number in a group", "st.shared.b32 [%r1], %p1;"},
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEAD ".entry k() { .reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<2>; %s }",
                 wrong[n][1]);
        refuse(wrong[n][0], text);
    }
    run(1, "mov.u64 %rd9, 5; st.shared.u64 [%r5], %rd9; bar.sync 0;\n"
           "atom.shared.add.u64 %rd9, [%r5], -7; ld.shared.u64 %rd9, [%r5];\n"
           "st.global.u64 [%rd0], %rd9;");
    assert_int_equal(words[0], (unsigned)-2);
    assert_int_equal(words[1], (unsigned)-1); /* a number is as wide as its type */
}

/* Fences and waits of a kernel that has no product do nothing; offsets are added as addresses. */
static void test_nothing_to_wait_for(void **state) {
    (void)state;
    expect_clean(128, "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned;\n"
                      "wgmma.wait_group.sync.aligned 0;");
    expect("out of bounds", 32, "ld.global.u32 %r8, [%rd51+0x7ffffffffffffff8];");
}

/* Inline assembly as nvcc leaves it: scopes, labels that repeat, names that hide others,
 * comments. */
static void test_scopes(void **state) {
    (void)state;
    expect_clean(32, "mov.u32 %r1, 3;\n// begin inline asm\n{ .reg .pred p; .reg .b32 %r1; mov.u32 "
                     "%r1, 4; setp.eq.s32 p,%r1,4;\n"
                     "L: @p bra D;\n add.s32 %r1,%r1,1; bra L;\nD: add.u32 %r2, %r1, 0; }\n"
                     "{ .reg .pred p; setp.eq.s32 p,%r1,3; /* the outer one\n again */\n"
                     "L: @!p bra L;\nD: }\nadd.s32 %r2, %r2, %r1; st.global.u32 [%rd51], %r2;");
    assert_int_equal(words[7], 7);
}

static void test_launches(void **state) {
    uint64_t p = 0;
    struct emu_module *m;
    const char *text = emu_test_kernel(1, "", "");
    (void)state;
    assert_fine(emu_module_open(t.memory, text, strlen(text), "k", &m));
    const struct emu_kernel *k = emu_module_kernel(m, "test");
    struct emu_grid good = {.grid = {1, 1, 1},
                            .block = {32, 1, 1},
                            .n_args = 1,
                            .arg = {&p},
                            .arg_bytes = {8}},
                    g;
    const struct chip *chip = chip_find("h200");
    assert_null(emu_module_kernel(m, "other"));
    assert_fine(emu_launch(t.memory, k, &good, chip, &t.options, t.result));
    g = good, g.block[0] = 1025;
    assert_reason(emu_launch(t.memory, k, &g, chip, &t.options, t.result), "1025 threads");
    g = good, g.grid[1] = 0;
    assert_reason(emu_launch(t.memory, k, &g, chip, &t.options, t.result), "grid is empty");
    g = good, g.n_args = 0;
    assert_reason(emu_launch(t.memory, k, &g, chip, &t.options, t.result), "0 arguments");
    g = good, g.arg_bytes[0] = 4;
    assert_reason(emu_launch(t.memory, k, &g, chip, &t.options, t.result), "4 bytes");
    g = good, g.shared_bytes = 300000;
    assert_reason(emu_launch(t.memory, k, &g, chip, &t.options, t.result), "shared memory");
    emu_result_clear(t.result);
    emu_module_close(m);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* The same block on one host thread and on many, in any order, gives the same counts and
 * results. */
static void test_schedules(void **state) {
    static const char body[] =
        "mov.u32 %r1, %ctaid.x; mad.lo.s32 %r1, %r1, 256, %r0; mul.wide.u32 %rd5, %r1, 4; add.s64 "
        "%rd5, %rd5, %rd0;\n"
        "mov.u32 %r5, tile; shl.b32 %r6, %r0, 2; add.s32 %r6, %r6, %r5; st.shared.u32 [%r6], %r1; "
        "bar.sync 0;\n"
        "xor.b32 %r7, %r6, 516; ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd5], %r8;";
    static uint32_t first[32 * 256], out[32 * 256];
    (void)state;
    for (int n = 0; n < 9; n++) {
        t.options = (struct emu_options){.n_threads = n / 3 * 2 + 1,
                                         .schedule = (enum emu_schedule)(n % 3),
                                         .seed = (uint64_t)n};
        assert_fine(emu_test_run(&t, emu_test_kernel(1, ".shared .align 16 .b8 tile[1024];", body),
                                 "test", 32, 256, 0, 1, (void *[]){n ? out : first},
                                 (size_t[]){sizeof out}));
        assert_int_equal(emu_result_reports(t.result), 0);
        if (n) assert_memory_equal(first, out, sizeof out);
    }
    t.options = (struct emu_options){.n_threads = 1};
    assert_int_equal(first[1000], 1000 ^ 129);
}

/* A short source: what is read must be there, the rest is zeros; 20 bytes are an allocation. */
static void test_short_copies(void **state) {
    (void)state;
    const struct {
        int source, at;
        bool bad;
    } copies[] = {{16, 0, false}, {4, 16, false}, {0, 16, false},
                  {5, 16, true},  {16, 16, true}, {12, 16, true}};
    for (size_t n = 0; n < sizeof copies / sizeof *copies; n++) {
        uint32_t in[5] = {1, 2, 3, 4, 5}, out[4] = {9, 9, 9, 9};
        char body[1024];
        snprintf(body, sizeof body,
                 "mov.u32 %%r5, tile; mov.u32 %%r6, %d; add.s64 %%rd5, %%rd0, %d;\n"
                 "cp.async.cg.shared.global [%%r5], [%%rd5], 16, %%r6; cp.async.wait_all;\n"
                 "ld.shared.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%r5];\n"
                 "st.global.v4.u32 [%%rd1], {%%r1, %%r2, %%r3, %%r4};",
                 copies[n].source, copies[n].at);
        assert_fine(emu_test_run(&t, emu_test_kernel(2, ".shared .align 16 .b8 tile[64];", body),
                                 "test", 1, 1, 0, 2, (void *[]){in, out},
                                 (size_t[]){sizeof in, sizeof out}));
        if (!!emu_test_report(&t, "not allocated") != copies[n].bad)
            fail_msg("%d bytes at %d: %d reports", copies[n].source, copies[n].at,
                     emu_result_reports(t.result));
        for (int k = 0; k < 4 && !copies[n].bad; k++)
            assert_int_equal(out[k], 4 * k < copies[n].source ? in[copies[n].at / 4 + k] : 0);
    }
}

static void test_octal_numbers(void **state) {
    (void)state;
    run(1,
        "mov.u32 %r1, 010; st.global.u32 [%rd0], %r1; mov.u32 %r1, 0777; st.global.u32 [%rd0+4], "
        "%r1;\n"
        "mov.u32 %r1, 0; st.global.u32 [%rd0+8], %r1; mov.u32 %r1, -017; st.global.u32 [%rd0+12], "
        "%r1;\n"
        "mov.u32 %r1, 010U; st.global.u32 [%rd0+16], %r1; mov.f64 %d1, 00.5; st.global.f64 "
        "[%rd0+24], %d1;");
    const uint32_t expected[] = {8, 511, 0, (uint32_t)-15, 8, 0, 0, 0x3fe00000};
    assert_memory_equal(words, expected, sizeof expected);
    const char *why = emu_test_run(&t, emu_test_kernel(0, "", "mov.u32 %r1, 08;"), "test", 1, 1, 0,
                                   0, NULL, NULL);
    assert_non_null(why); /* 8 is no octal digit */
}

/* p of the low halves, q of the high ones: 1 < 2 and not 4 < 3. */
static void test_pairs_compared(void **state) {
    (void)state;
    const struct {
        const char *setp;
        uint32_t p, q;
    } pairs[] = {{"setp.lt.f16x2 %p1|%p2, %r1, %r2;", 1, 0},
                 {"setp.gt.f16x2 %p1|%p2, %r1, %r2;", 0, 1},
                 {"setp.ne.f16x2 %p1|%p2, %r1, %r2;", 1, 1},
                 {"setp.ltu.ftz.f16x2 %p1|%p2, %r1, %r3;", 1, 1}, /* a NaN above */
                 {"setp.lt.f16x2 %p1|%p2, %r1, %r3;", 1, 0},
                 {"setp.lt.and.f16x2 %p1|%p2, %r1, %r2, %p3;", 0, 0},
                 {"setp.gt.or.f16x2 %p1|%p2, %r1, %r2, !%p3;", 1, 1},
                 {"setp.lt.bf16x2 %p1|%p2, %r1, %r2;", 1, 0}};
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "setp.ne.u32 %%p3, %%r0, %%r0; mov.u32 %%r1, 0x44003c00; mov.u32 %%r2, "
                 "0x42004000;\n"
                 "mov.u32 %%r3, 0x7e004000; %s\nselp.u32 %%r8, 1, 0, %%p1; selp.u32 %%r9, 1, 0, "
                 "%%p2;\n"
                 "st.global.v2.u32 [%%rd0], {%%r8, %%r9};",
                 pairs[n].setp);
        run(1, body);
        if (words[0] != pairs[n].p || words[1] != pairs[n].q)
            fail_msg("%s: %u %u", pairs[n].setp, words[0], words[1]);
    }
}

/* More releases than a stamp has bits: what was not ordered before is still reported, and nothing
 * that is in order. */
static void test_long_blocks(void **state) {
    (void)state;
    /* warp 0 knows of warp 1's first 100000; those after 2^24 must not look like them;
     * it idles for longer than a turn, so that warp 1 stores first */
    const char *loop =
        "setp.lt.u32 %%p1, %%r0, 32; mov.u32 %%r8, 0; @%%p1 bra meet;\n"
        "first: bar.warp.sync -1; add.u32 %%r8, %%r8, 1;\n"
        "setp.lt.u32 %%p2, %%r8, 100000; @%%p2 bra first;\nmeet: bar.sync 0;\n"
        "@%%p1 bra idle;\nagain: bar.warp.sync -1; add.u32 %%r8, %%r8, 1;\n"
        "setp.lt.u32 %%p2, %%r8, 16800000; @%%p2 bra again;\n"
        "st.shared.u32 [%%r5], %%r8;\nbra done;\n"
        "idle: add.u32 %%r8, %%r8, 1; setp.lt.u32 %%p2, %%r8, 200000; @%%p2 bra idle;\n"
        "done: %s\n"
        "setp.ge.u32 %%p1, %%r0, 32; @%%p1 bra end; ld.shared.u32 %%r8, [%%r5];\n"
        "st.global.u32 [%%rd51], %%r8;\nend:";
    char body[1024];
    t.options.schedule = EMU_ADVERSARIAL; /* warp 1 first */
    snprintf(body, sizeof body, loop, "bar.sync 0;");
    expect_clean(64, body);
    snprintf(body, sizeof body, loop, "");
    expect("race", 64, body);
    t.options.schedule = EMU_ROUND_ROBIN;
}

/* Which host thread is faster does not show: each place is reported by the first block, and the
 * reports of the first block come first. */
static void test_order(void **state) {
    (void)state;
    t.options.n_threads = 4;
    for (int turn = 0; turn < 50; turn++) {
        assert_fine(emu_test_run(
            &t,
            emu_test_kernel(
                1, ".shared .align 16 .b8 tile[4096];",
                "mov.u32 %r5, tile; mov.u32 %r9, %ctaid.x; mov.u32 %r10, 0;\n"
                "setp.eq.u32 %p2, %r9, 0; @!%p2 bra begin;\n"
                "slow: add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 2000; @%p3 bra slow;\n"
                "begin:\n"
                "shl.b32 %r6, %r0, 2; add.s32 %r6, %r6, %r5;\n"
                "xor.b32 %r7, %r6, 128;\n"
                "setp.gt.u32 %p1, %r9, 2;\n"
                "@%p1 ld.shared.u32 %r8, [%r7];\n"
                "st.shared.u32 [%r6], %r0;\n"
                "@%p2 ld.shared.u32 %r8, [%r7];\n"),
            "test", 64, 64, 0, 1, (void *[]){words}, (size_t[]){sizeof words}));
        const int n = emu_result_reports(t.result);
        assert_true(n > 1);
        assert_non_null(strstr(emu_result_report(t.result, 0), "block (0,0,0)"));
        for (int r = 0; r < n; r++)
            assert_true(!!strstr(emu_result_report(t.result, r), "block (0,0,0)") ||
                        strstr(emu_result_report(t.result, r), "block (3,0,0)"));
        assert_non_null(strstr(emu_result_report(t.result, n - 1), "block (3,0,0)"));
    }
    t.options.n_threads = 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_printf),
                                       cmocka_unit_test(test_reductions),
                                       cmocka_unit_test(test_comments),
                                       cmocka_unit_test(test_races),
                                       cmocka_unit_test(test_pages),
                                       cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_arrays),
                                       cmocka_unit_test(test_shared_begins),
                                       cmocka_unit_test(test_unwritten),
                                       cmocka_unit_test(test_unwritten_by_way),
                                       cmocka_unit_test(test_missing_lanes),
                                       cmocka_unit_test(test_barriers),
                                       cmocka_unit_test(test_long_loops),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_scopes),
                                       cmocka_unit_test(test_launches),
                                       cmocka_unit_test(test_schedules),
                                       cmocka_unit_test(test_short_copies),
                                       cmocka_unit_test(test_octal_numbers),
                                       cmocka_unit_test(test_pairs_compared),
                                       cmocka_unit_test(test_long_blocks),
                                       cmocka_unit_test(test_nothing_to_wait_for),
                                       cmocka_unit_test(test_widths),
                                       cmocka_unit_test(test_defined_later),
                                       cmocka_unit_test(test_same_value),
                                       cmocka_unit_test(test_refused_kernel),
                                       cmocka_unit_test(test_order)};
    emu_test_open(&t);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_test_close(&t);
    return failed;
}
