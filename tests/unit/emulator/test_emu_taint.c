/* Uninitialised memory: what is read and never used is no mistake, what reaches a store, a branch or an
 * address is. */
#include "emu.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct emu_test t;
static uint32_t words[256];

/* One warp; %rd0 is a buffer of 256 words, %rd51 this thread's word, %r5 the address of `tile`, of
 * which nothing is written, %r6 this thread's word in it, %r7 its pair of words 2048 bytes on. %p1:
 * thread 5; %p2: threads below 16. */
static uint32_t n_threads = 32;
static void run(const char *body) {
    char text[4096];
    snprintf(text, sizeof text,
             "mul.wide.u32 %%rd50, %%r0, 4; add.s64 %%rd51, %%rd0, %%rd50; mov.u32 %%r5, tile;\n"
             "shl.b32 %%r6, %%r0, 2; add.s32 %%r6, %%r6, %%r5; mad.lo.u32 %%r7, %%r0, 8, 2048;\n"
             "setp.eq.u32 %%p1, %%r0, 5; setp.lt.u32 %%p2, %%r0, 16;\n%s",
             body);
    memset(words, 0, sizeof words);
    assert_fine(emu_test_run(&t, emu_test_kernel(1, ".shared .align 128 .b8 tile[4096];", text),
                             "test", 1, n_threads, 0, 1, (void *[]){words},
                             (size_t[]){sizeof words}));
}

static void expect(const char *what, const char *body) {
    run(body);
    if (!emu_test_report(&t, "uninitialised") || !emu_test_report(&t, what))
        fail_msg("nothing uninitialised was said to reach %s in\n%s\nbut: %s", what, body,
                 emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing");
    assert_int_equal(emu_result_reports(t.result), 1);
}

static void expect_clean(const char *body) {
    run(body);
    if (emu_result_reports(t.result))
        fail_msg("%s\nreports %s", body, emu_result_report(t.result, 0));
}

#define STORE(r) "st.global.u32 [%rd51], " r ";"

static void what_is_used_is_told(void **state) {
    (void)state;
    expect("", "ld.shared.u32 %r8, [%r6]; add.s32 %r8, %r8, 1; st.global.u32 [%rd51], %r8;");
    expect("", "ld.shared.u32 %r8, [%r6]; setp.eq.u32 %p1, %r8, 0; @%p1 bra X; X:");
    expect("",
           "ld.shared.u32 %r8, [%r5]; and.b32 %r8, %r8, 252; add.s32 %r8, %r8, %r5; ld.shared.u32 "
           "%r9, [%r8];");
    expect("", "setp.lt.u32 %p1, %r0, 16; @%p1 st.shared.u32 [%r6], %r0; bar.warp.sync -1; "
               "ld.shared.u32 %r8, [%r6];"
               "shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1; @%p1 st.global.u32 [%rd51], %r9;");
    /* through shared memory, which keeps what it is */
    expect("", "ld.shared.u32 %r8, [%r6]; st.shared.u32 [%r6+2048], %r8; ld.shared.u32 %r9, "
               "[%r6+2048]; st.global.u32 [%rd51], %r9;");
    expect_clean("ld.shared.u32 %r8, [%r6]; st.shared.u32 [%r6+2048], %r8; bar.warp.sync -1; "
                 "st.shared.u32 [%r6+2048], %r0; ld.shared.u32 %r9, [%r6+2048];"
                 "st.global.u32 [%rd51], %r9;");
    /* of a pair, the half that it was */
#define PAIR(a, b)                                                                                 \
    "ld.shared.u32 %r8, [%r6]; mad.lo.u32 %r7, %r0, 8, 2048; st.shared.v2.u32 [%r7], {" a ", " b   \
    "}; ld.shared.u32 %r9, [%r7+4]; st.global.u32 [%rd51], %r9;"
    expect("", PAIR("%r0", "%r8"));
    expect_clean(PAIR("%r8", "%r0"));
    /* read and thrown away: what padding does */
    expect_clean("ld.shared.u32 %r8, [%r6]; setp.lt.u32 %p1, %r0, 99; selp.b32 %r8, 5, %r8, "
                 "%p1; st.global.u32 [%rd51], %r8;");
    expect_clean("setp.lt.u32 %p1, %r0, 16; @%p1 st.shared.u32 [%r6], %r0; bar.warp.sync -1; "
                 "ld.shared.u32 %r8, [%r6];"
                 "shfl.sync.bfly.b32 %r9, %r8, 1, 31, -1; @%p1 st.global.u32 [%rd51], %r9;");
}

/* What a shuffle takes from a lane that does not run it is unpredictable. */
static void run_half(const char *body) {
    memset(words, 0, sizeof words);
    char text[4096];
    snprintf(text, sizeof text,
             "mul.wide.u32 %%rd50, %%r0, 4; add.s64 %%rd51, %%rd0, %%rd50; mov.u32 %%r8, %%r0;\n"
             "setp.eq.u32 %%p1, %%r0, 0;\n%s",
             body);
    assert_fine(emu_test_run(&t, emu_test_kernel(1, "", text), "test", 1, 16, 0, 1,
                             (void *[]){words}, (size_t[]){sizeof words}));
}
#define DOWN(n, members)                                                                           \
    "shfl.sync.down.b32 %r9, %r8, " #n ", 31, " #members "; add.s32 %r8, %r8, %r9;"
#define DOWN_8 DOWN(8, -1) DOWN(4, -1) DOWN(2, -1) DOWN(1, -1)

static void shuffles_from_absent_lanes(void **state) {
    (void)state;
    static const char *const wrong[] = {
        DOWN(16, -1) DOWN_8 "@%p1 st.global.u32 [%rd0], %r8;",
        "shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1;" STORE("%r9"),
        "shfl.sync.idx.b32 %r9, %r8, 20, 31, 0xffff;" STORE("%r9"),
        "shfl.sync.up.b32 %r9|%p2, %r8, 1, 0, -1; shfl.sync.idx.b32 %r10, %r9, 31, 31, -1;"
        "setp.eq.u32 %p3, %r10, 7; @%p3 bra X; X:",
        /* lane 3 has left */
        "setp.eq.u32 %p2, %r0, 3; @%p2 exit;" DOWN(1, 0xfff7) STORE("%r8")};
    static const char *const right[] = {
        DOWN_8 "@%p1 st.global.u32 [%rd0], %r8;", /* lanes that nothing uses take what is absent */
        DOWN(16, -1) "@%p1 st.global.u32 [%rd0], %r0;",
        "shfl.sync.bfly.b32 %r9, %r8, 8, 31, -1;" STORE("%r9"),
        "shfl.sync.down.b32 %r9|%p2, %r8, 8, 0x100f, -1;" STORE("%r9"), /* width 16 */
        "shfl.sync.down.b32 %r9, %r8, 8, 31, -1; setp.lt.u32 %p2, %r0, 8;"
        "selp.b32 %r9, %r9, 0, %p2;" STORE("%r9")};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        run_half(wrong[n]);
        if (!emu_test_report(&t, "shuffle from an absent lane"))
            fail_msg("no shuffle was reported in\n%s\nbut: %s", wrong[n],
                     emu_result_reports(t.result) ? emu_result_report(t.result, 0) : "nothing");
    }
    for (size_t n = 0; n < sizeof right / sizeof *right; n++) {
        run_half(right[n]);
        if (emu_result_reports(t.result))
            fail_msg("%s\nreports %s", right[n], emu_result_report(t.result, 0));
    }
}

/* Loads of every kind take it. */
static void loads_take_it(void **state) {
    (void)state;
    expect("a store",
           "mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; ld.u32 %r8, [%rd6];" STORE("%r8"));
    expect("a store",
           "mapa.shared::cluster.u32 %r9, %r6, 0; ld.shared::cluster.u32 %r8, [%r9];" STORE("%r8"));
    /* of a vector, the words that nothing wrote */
#define WORDS "st.shared.u32 [%r7], %r0; ld.shared.v2.u32 {%r8, %r9}, [%r7];"
    expect("a store", WORDS STORE("%r9"));
    expect_clean(WORDS STORE("%r8"));
    /* and of a word, the bytes */
#define HALF "cvt.u16.u32 %h1, %r0; st.shared.u16 [%r6+2], %h1;"
    expect_clean(HALF "ld.shared.u16 %h2, [%r6+2]; st.global.u16 [%rd51], %h2;");
    expect("a store", HALF "ld.shared.u16 %h2, [%r6]; st.global.u16 [%rd51], %h2;");
    expect("a store", HALF "ld.shared.u32 %r8, [%r6];" STORE("%r8"));
    expect(
        "a store",
        "cvt.u16.u32 %h1, %r0; st.shared.u8 [%r6], %h1; st.shared.u8 [%r6+1], %h1;"
        "st.shared.u8 [%r6+3], %h1; ld.shared.u32 %r8, [%r6]; add.u32 %r8, %r8, 1;" STORE("%r8"));
    expect_clean(
        "cvt.u16.u32 %h1, %r0; st.shared.u8 [%r6], %h1; st.shared.u8 [%r6+1], %h1;"
        "st.shared.u8 [%r6+3], %h1; ld.shared.u8 %h2, [%r6+3]; st.global.u16 [%rd51], %h2;");
}

/* Arrays of local memory: what a lane has not written itself. */
#define LOCAL(body) "{ .local .align 16 .b8 d[64]; mov.u32 %r7, d; st.local.u32 [d], %r0;" body "}"
static void local_arrays(void **state) {
    (void)state;
    static const char *const clean[] = {
        LOCAL("ld.local.u32 %r8, [d];" STORE("%r8")),
        LOCAL("ld.local.u32 %r8, [d+4];"),
        /* a store of what nothing wrote leaves nothing for the next load */
        LOCAL("ld.local.u32 %r8, [d+4]; st.local.u32 [d+8], %r8; @%p2 st.local.u32 [d+12], %r0;"
              "ld.local.u32 %r9, [d+12]; @%p2 " STORE("%r9")),
        LOCAL(
            "st.local.v2.u32 [d+8], {%r0, %r0}; ld.local.v4.u32 {%r8, %r9, %r10, %r11}, [d];" STORE(
                "%r10")),
        /* a struct of 2 bytes and 6 of padding; one with a word of padding */
        LOCAL("cvt.u16.u32 %h1, %r0; st.local.u16 [d+8], %h1; ld.local.v2.u32 {%r8, %r9}, [d+8];"
              "and.b64 %rd9, %rd51, -8; st.global.v2.u32 [%rd9], {%r8, %r9};"),
        LOCAL("ld.local.v2.u32 {%r8, %r9}, [d]; st.local.v2.u32 [d+8], {%r8, %r9};"
              "ld.local.u32 %r8, [d+8];" STORE("%r8")),
        LOCAL("@%p2 st.local.u32 [d+4], %r0; ld.local.u32 %r8, [d+4]; @%p2 " STORE("%r8")),
    };
    static const char *const told[] = {
        LOCAL("ld.local.u32 %r8, [d+4];" STORE("%r8")),
        LOCAL("mov.u64 %rd5, d; cvta.local.u64 %rd6, %rd5; ld.u32 %r8, [%rd6+4];" STORE("%r8")),
        LOCAL("@%p1 st.local.u32 [d+4], %r0; ld.local.u32 %r8, [d+4];" STORE("%r8")),
        LOCAL("st.local.u8 [d+4], %r0; ld.local.u8 %r8, [d+5];" STORE("%r8")),
        LOCAL("ld.local.v2.u32 {%r8, %r9}, [d]; st.local.v2.u32 [d+8], {%r8, %r9};"
              "ld.local.u32 %r8, [d+12];" STORE("%r8")),
        LOCAL("ld.local.v2.u32 {%r8, %r9}, [d+8];"
              "and.b64 %rd9, %rd51, -8; st.global.v2.u32 [%rd9], {%r8, %r9};"),
        LOCAL("ld.local.u32 %r8, [d+4]; setp.eq.u32 %p3, %r8, 0; @%p3 bra X; X:"),
    };
    for (size_t n = 0; n < sizeof clean / sizeof *clean; n++) expect_clean(clean[n]);
    for (size_t n = 0; n < sizeof told / sizeof *told; n++) {
        expect("reaches", told[n]);
        assert_true(emu_test_report(&t, "uninitialised local memory"));
    }
}

/* A byte that was written beside seven that were not, as a bool and its padding: read as one value, it is used alone. */
#define BOOL "cvt.u16.u32 %h1, %r0; st.shared.u8 [%r7], %h1; ld.shared.u64 %rd8, [%r7];"
#define ONE                                                                                        \
    "add.u32 %r10, %r0, 1; cvt.u16.u32 %h1, %r10; st.shared.u8 [%r7], %h1;"                        \
    "ld.shared.u64 %rd8, [%r7];"
#define LOW    "cvt.u16.u64 %h2, %rd8;"
#define BYTE   "st.global.u8 [%rd51], %h2;"
#define HALVES "mov.b64 {%r8, %r9}, %rd8;"
static void bytes_move(void **state) {
    (void)state;
    static const char *const clean[] = {
        BOOL LOW BYTE,
        BOOL LOW "and.b16 %h2, %h2, 255; st.global.u16 [%rd51], %h2;",
        BOOL LOW "and.b16 %h2, %h2, 255; setp.eq.s16 %p3, %h2, 0; @%p3 st.shared.u32 [%r6], %r0;",
        /* a copy with its padding: what is made of that later is told later */
        BOOL "mul.wide.u32 %rd9, %r0, 8; add.s64 %rd9, %rd9, %rd0; and.b64 %rd9, %rd9, -8;"
             "st.global.u64 [%rd9], %rd8;",
        BOOL "st.shared.u64 [%r7+256], %rd8; ld.shared.u64 %rd8, [%r7+256];" LOW BYTE,
        BOOL HALVES "and.b32 %r8, %r8, 255;" STORE("%r8"),
        BOOL HALVES "mov.b64 %rd8, {%r8, %r9};" LOW BYTE,
        BOOL HALVES "shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1; and.b32 %r8, %r8, 255;" STORE("%r8"),
        BOOL HALVES "shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1; st.shared.u32 [%r6], %r8;"
                    "ld.shared.u8 %h2, [%r6];" BYTE,
        BOOL "shl.b64 %rd8, %rd8, 8; shr.u64 %rd8, %rd8, 8;" LOW BYTE,
        BOOL "shl.b64 %rd8, %rd8, 56; shr.u64 %rd8, %rd8, 56; cvt.u32.u64 %r8, %rd8;" STORE("%r8"),
        BOOL HALVES "bfe.u32 %r8, %r8, 0, 8;" STORE("%r8"),
        BOOL HALVES "prmt.b32 %r8, %r8, %r0, 0x6540;" STORE("%r8"),
        BOOL HALVES "prmt.b32 %r8, 0, %r8, 0x1114;" STORE("%r8"),
        BOOL HALVES "bfi.b32 %r8, %r8, %r0, 8, 8;" STORE("%r8"),
        BOOL HALVES
        "or.b32 %r8, %r8, %r0;  xor.b32 %r8, %r8, %r0; and.b32 %r8, 1, %r8;" STORE("%r8"),
        BOOL LOW "selp.b16 %h2, %h2, 1, %p2; selp.b16 %h2, 2, %h2, %p1;" BYTE,
        BOOL HALVES "mov.b32 %r8, %r8; cvt.u32.u8 %r8, %r8;" STORE("%r8"),
        /* where to put them is no value that moves */
        BOOL HALVES "mov.u32 %r10, 8; bfi.b32 %r8, %r0, %r8, %r10, 24;"
                    "prmt.b32 %r8, %r8, %r0, 0x3333;" STORE("%r8"),
        /* lane 0 holds a 1, too */
        ONE HALVES "and.b32 %r8, %r8, 255;" STORE("%r8"),
        ONE HALVES "shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1; and.b32 %r8, %r8, 255;" STORE("%r8"),
    };
    static const char *const told[] = {
        BOOL LOW "setp.eq.s16 %p3, %h2, 0; @%p3 st.shared.u32 [%r6], %r0;",
        BOOL LOW "and.b16 %h2, %h2, 256; setp.eq.s16 %p3, %h2, 0; @%p3 st.shared.u32 [%r6], %r0;",
        BOOL "shr.u64 %rd8, %rd8, 8;" LOW BYTE,
        BOOL "st.shared.u64 [%r7+256], %rd8; ld.shared.u8 %h2, [%r7+257];" BYTE,
        BOOL HALVES STORE("%r9"),
        BOOL HALVES "add.u32 %r8, %r8, 1;" STORE("%r8"),
        BOOL HALVES "and.b32 %r8, %r8, %r9;" STORE("%r8"),
        BOOL HALVES "xor.b32 %r8, %r8, %r8;" STORE("%r8"),
        BOOL HALVES "shr.u32 %r8, %r8, %r8;" STORE("%r8"),
        BOOL HALVES "mov.b64 %rd8, {%r9, %r8};" LOW BYTE,
        BOOL HALVES "shfl.sync.bfly.b32 %r8, %r9, 1, 31, -1;" STORE("%r8"),
        BOOL HALVES "prmt.b32 %r8, %r8, %r0, 0x1111;" STORE("%r8"),
        BOOL HALVES "cvt.s32.s16 %r8, %r8; shr.u32 %r8, %r8, 24; add.u32 %r8, %r8, 1;" STORE("%r8"),
        BOOL HALVES "setp.eq.u32 %p3, %r8, 0; selp.b32 %r8, 1, 2, %p3;" STORE("%r8"),
        BOOL HALVES "ld.shared.u32 %r10, [%r6]; bfi.b32 %r8, %r10, %r8, 8, 24;" STORE("%r8"),
        BOOL HALVES "bfe.u32 %r8, %r0, %r8, 8;" STORE("%r8"), /* where to begin is not moved */
        BOOL HALVES "cvt.sat.u8.s32 %h2, %r8;" BYTE,          /* nor is what it compares */
        BOOL HALVES
        "bfe.u32 %r8, %r8, 8, 8; st.shared.u32 [%r6], %r8; ld.shared.u8 %h2, [%r6];" BYTE,
        /* nor is what chooses: nothing is known of either choice */
        BOOL HALVES "setp.eq.u32 %p3, %r9, 77; selp.b32 %r8, %r8, %r0, %p3;" STORE("%r8"),
        BOOL HALVES "setp.ne.u32 %p3, %r9, 77; mov.u32 %r10, %r0; @%p3 mov.u32 %r10, %r8;"
                    "prmt.b32 %r10, %r10, %r0, 0;" STORE("%r10"),
        /* of one lane a value that nothing is known of */
        BOOL HALVES "mov.u32 %r10, %r0; @%p1 ld.shared.u32 %r10, [%r6]; bfi.b32 %r8, %r10, %r8, 8, "
                    "24; @%p1 st.global.u32 [%rd51], %r8;",
        /* lane 0 takes what lane 1 has */
        "setp.eq.u32 %p3, %r0, 1; st.shared.v2.u32 [%r7+512], {%r0, %r0};" BOOL
        "@!%p3 ld.shared.u64 %rd8, [%r7+512];" HALVES
        "shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1; add.u32 %r8, %r8, 1;" STORE("%r8"),
    };
    for (size_t k = 0; k < sizeof clean / sizeof *clean; k++) expect_clean(clean[k]);
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) expect("a store", told[k]);
    /* the values are what they were */
    expect_clean(BOOL HALVES "prmt.b32 %r9, %r8, %r8, 0; and.b32 %r9, %r9, 0xffff;"
                             "and.b32 %r8, %r8, 255; add.u32 %r9, %r8, 7;" STORE("%r9"));
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(words[l], l + 7);
}

/* ldmatrix and stmatrix move it by halves, products by rows and columns. */
static void matrices_take_it(void **state) {
    (void)state;
    /* row 1 of the 8 x 8 halves at tile (words 4 to 7) is written, 16 bytes for each row */
#define ROW_1   "and.b32 %r10, %r0, 28; setp.eq.u32 %p3, %r10, 4; @%p3 st.shared.u32 [%r6], %r0;"
#define ROW_0   "and.b32 %r10, %r0, 28; setp.eq.u32 %p3, %r10, 0; @!%p3 st.shared.u32 [%r6], %r0;"
#define POINTER "and.b32 %r9, %r0, 7; shl.b32 %r9, %r9, 4; add.s32 %r9, %r9, %r5;"
#define MATRIX(trans)                                                                              \
    "bar.warp.sync -1;" POINTER "ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%r8}, [%r9];"
    expect("a store", MATRIX("") STORE("%r8"));
    expect_clean(ROW_1 MATRIX("") "@%p3 " STORE("%r8"));
    expect("a store", ROW_1 MATRIX("") "@%p1 bra X;" STORE("%r8") "X:");
    /* transposed, rows 0 and 1 are in lanes that 4 divides */
    expect("a store", ROW_1 MATRIX(".trans") STORE("%r8"));
    expect_clean(ROW_0 MATRIX(
        ".trans") "and.b32 %r10, %r0, 3; setp.ne.u32 %p3, %r10, 0; @%p3 " STORE("%r8"));
    expect("a store",
           ROW_0 MATRIX(".trans") "and.b32 %r10, %r0, 3; setp.eq.u32 %p3, %r10, 0; @%p3 " STORE(
               "%r8"));
    /* back by stmatrix: what was unwritten is so again */
#define THERE                                                                                      \
    "add.s32 %r9, %r9, 2048; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r8}; "              \
    "bar.warp.sync -1; ld.shared.u32 %r11, [%r6+2048];"
    expect("a store", ROW_1 MATRIX("") THERE STORE("%r11"));
    expect_clean(ROW_1 MATRIX("") THERE "@%p3 " STORE("%r11"));
    /* one row alone, by its own pointer */
#define BUT_ROW_1 "and.b32 %r10, %r0, 28; setp.ne.u32 %p3, %r10, 4; @%p3 st.shared.u32 [%r6], %r0;"
    expect("lanes 000000f0", BUT_ROW_1 MATRIX("") THERE STORE("%r11"));
    expect_clean(BUT_ROW_1 MATRIX("") THERE "@%p3 " STORE("%r11"));
    /* D (row, column) is of A's row, of B's column and of C; lane 4g + q holds rows g and g + 8, columns 2q and 2q + 1 */
#define TAINTED                                                                                    \
    "ld.shared.u32 %r8, [%r6]; setp.eq.u32 %p3, %r0, 21; selp.b32 %r8, %r8, 0, %p3; mov.f32 %f0, " \
    "0f00000000;"
#define PRODUCT(a0, a1, b)                                                                         \
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, {" a0 ", " a1 "}, {" b \
    "}, {%f0, %f0, %f0, %f0};"
#define ZERO           "mov.u32 %r10, 0;"
#define LANES(test, n) "setp." test ".u32 %p3, %r9, " n "; @%p3 st.global.f32 [%rd51], "
#define GROUP          "shr.u32 %r9, %r0, 2;" /* g */
#define QUAD           "and.b32 %r9, %r0, 3;" /* q */
    /* lane 21 (g 5, q 1): of A's first register row 5; of the second, row 13 */
    expect("a store", TAINTED ZERO PRODUCT("%r8", "%r10", "%r10") GROUP LANES("eq", "5") "%f4;");
    expect_clean(TAINTED ZERO PRODUCT("%r8", "%r10", "%r10") GROUP LANES("ne", "5") "%f4;");
    expect_clean(TAINTED ZERO PRODUCT("%r8", "%r10", "%r10") "st.global.f32 [%rd51], %f6;");
    expect("a store", TAINTED ZERO PRODUCT("%r10", "%r8", "%r10") GROUP LANES("eq", "5") "%f7;");
    expect_clean(TAINTED ZERO PRODUCT("%r10", "%r8", "%r10") "st.global.f32 [%rd51], %f5;");
    /* of B column 5, which is the second one of q = 2 */
    expect("a store", TAINTED ZERO PRODUCT("%r10", "%r10", "%r8") QUAD LANES("eq", "2") "%f5;");
    expect_clean(TAINTED ZERO PRODUCT("%r10", "%r10", "%r8") QUAD LANES("ne", "2") "%f5;");
    expect_clean(TAINTED ZERO PRODUCT("%r10", "%r10", "%r8") "st.global.f32 [%rd51], %f4;");
    /* the values themselves are those of the product */
    run("mov.u32 %r8, 0x3c003c00; mov.f32 %f0, 0f3f800000;" PRODUCT(
        "%r8", "%r8",
        "%r8") "st.global.f32 [%rd51], %f4; ld.shared.u32 %r9, [%r6];" PRODUCT("%r8", "%r9",
                                                                               "%r8") "st.global."
                                                                                      "f32 "
                                                                                      "[%rd51+128],"
                                                                                      " %f4;");
    assert_int_equal(emu_result_reports(t.result), 0);
    assert_true(words[0] == 0x41100000 && words[32] == 0x41100000 && words[63] == 0x41100000);
}

/* One m64n8k16 product of 128 threads. A (64 x 16 halves, 16 bytes a thread) is at tile, B behind it; lane 4g + q holds rows
 * g and g + 8, columns 2q and 2q + 1. %r20: nothing wrote it; %p5: lane 21, so g is 5. */
static void products_of_a_group(void **state) {
    (void)state;
#define A_BUT_ROW_5                                                                                \
    "mov.u32 %r12, 0; mad.lo.u32 %r13, %r0, 16, %r5; setp.ne.u32 %p6, %r0, 5;"                     \
    "@%p6 st.shared.v4.u32 [%r13], {%r12, %r12, %r12, %r12};"
#define B_AND_SUMS                                                                                 \
    "setp.lt.u32 %p6, %r0, 16; @%p6 st.shared.v4.u32 [%r13+2048], {%r12, %r12, %r12, %r12};"       \
    "fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r12, %r5, 4; cvt.u64.u32 %rd5, %r12;"     \
    "or.b64 %rd5, %rd5, 0x1000080000; add.s64 %rd6, %rd5, 128;"                                    \
    "and.b32 %r12, %r0, 31; setp.eq.u32 %p5, %r12, 21; ld.shared.u32 %r20, [tile+3072];"           \
    "mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r15, 0;"           \
    "mov.u32 %r16, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, "  \
    "%f0; setp.eq.u32 %p3, %r0, %r0; setp.ne.u32 %p4, %r0, %r0;"
#define A_AND_B   A_BUT_ROW_5 "@!%p6 st.shared.v4.u32 [%r13], {%r12, %r12, %r12, %r12};" B_AND_SUMS
#define TAINTS(r) "selp.b32 " r ", %r20, 0, %p5;"
#define DONE      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
#define WGMMA(type, d, a, scale)                                                                   \
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16." type ".f16.f16 {" d "}, " a \
    ", %rd6, " scale ", 1, 1, "
#define FLOATS  "%f0, %f1, %f2, %f3"
#define BY_DESC WGMMA("f32", FLOATS, "%rd5", "%p3") "0, 0;" DONE
#define ANEW    WGMMA("f32", FLOATS, "%rd5", "%p4") "0, 0;" DONE
#define BY_REGS WGMMA("f32", FLOATS, "{%r8, %r9, %r10, %r11}", "%p3") "0;" DONE
#define TO_F16  WGMMA("f16", "%r15, %r16", "{%r8, %r9, %r10, %r11}", "%p3") "0;" DONE
#define GROUP_5 "lanes 00f00000"
    static const struct {
        const char *lanes, *body; /* NULL: clean */
    } of[] = {
        /* what nothing wrote in A's shared memory: row 5 of the first warp */
        {GROUP_5, A_BUT_ROW_5 B_AND_SUMS BY_DESC STORE("%f0")},
        {GROUP_5, A_BUT_ROW_5 B_AND_SUMS BY_DESC STORE("%f1")},
        {NULL, A_BUT_ROW_5 B_AND_SUMS BY_DESC STORE("%f2")},
        {NULL, A_BUT_ROW_5 B_AND_SUMS BY_DESC "setp.ge.u32 %p6, %r0, 32; @%p6 " STORE("%f0")},
        /* sums that were tainted stay so, unless the product begins anew */
        {"lanes 00200000", A_AND_B TAINTS("%f0") BY_DESC STORE("%f0")},
        {NULL, A_AND_B TAINTS("%f0") BY_DESC STORE("%f1")},
        {NULL, A_AND_B TAINTS("%f0") ANEW STORE("%f0")},
        /* A in registers: the first and the third hold row g, the others row g + 8 */
        {GROUP_5, A_AND_B TAINTS("%r8") BY_REGS STORE("%f0")},
        {GROUP_5, A_AND_B TAINTS("%r8") BY_REGS STORE("%f1")},
        {NULL, A_AND_B TAINTS("%r8") BY_REGS STORE("%f2")},
        {NULL, A_AND_B TAINTS("%r9") BY_REGS STORE("%f1")},
        {GROUP_5, A_AND_B TAINTS("%r9") BY_REGS STORE("%f3")},
        {GROUP_5, A_AND_B TAINTS("%r10") BY_REGS STORE("%f0")},
        {NULL, A_AND_B TAINTS("%r10") BY_REGS STORE("%f3")},
        {GROUP_5, A_AND_B TAINTS("%r11") BY_REGS STORE("%f2")},
        {NULL, A_AND_B TAINTS("%r11") BY_REGS STORE("%f0")},
        {GROUP_5, A_AND_B TAINTS("%r8") TO_F16 STORE("%r15")},
        {NULL, A_AND_B TAINTS("%r8") TO_F16 STORE("%r16")},
        {GROUP_5, A_AND_B TAINTS("%r9") TO_F16 STORE("%r16")},
        {NULL, A_AND_B TAINTS("%r9") TO_F16 STORE("%r15")},
        {NULL, A_AND_B BY_REGS STORE("%f0")},
    };
    n_threads = 128;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        if (of[k].lanes)
            expect(of[k].lanes, of[k].body);
        else
            expect_clean(of[k].body);
    }
    n_threads = 32;
}

/* The 16 x 16 floats at `tile`, of which some are written, as a fragment in %f0 ... %f7: lane 4 * row + column / 2 has
 * {0, 1} and 8 rows down {2, 3}, {4 ... 7} are 8 columns on. */
#define FRAGMENT "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"
#define LOAD_C   "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " FRAGMENT ", [tile], 16;"
#define WORDS_IF(p)                                                                                \
    p "st.shared.u32 [%r6], %r0;" p "st.shared.u32 [%r6+128], %r0;" p                              \
      "st.shared.u32 [%r6+256], %r0;" p "st.shared.u32 [%r6+384], %r0;" p                          \
      "st.shared.u32 [%r6+512], %r0;" p "st.shared.u32 [%r6+640], %r0;" p                          \
      "st.shared.u32 [%r6+768], %r0;"
#define BUT_ROW_15 WORDS_IF("") "@%p2 st.shared.u32 [%r6+896], %r0;"
#define BUT_COLUMN_15                                                                              \
    "and.b32 %r8, %r0, 15; setp.ne.u32 %p3, %r8, 15;" WORDS_IF(                                    \
        "@%p3 ") "@%p3 st.shared.u32 [%r6+896], %r0;"

static void fragments_have_it_by_register(void **state) {
    (void)state;
    static const struct {
        const char *written, *lanes[8]; /* of each register; NULL: all written */
    } tiles[] = {
        {BUT_ROW_15,
         {[2] = "lanes f0000000",
          [3] = "lanes f0000000",
          [6] = "lanes f0000000",
          [7] = "lanes f0000000"}},
        {BUT_COLUMN_15, {[5] = "lanes 88888888", [7] = "lanes 88888888"}},
    };
    static const char *const loads[] = {
        LOAD_C,
        "mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; "
        "wmma.load.c.sync.aligned.row.m16n16k16.f32 " FRAGMENT ", [%rd6], 16;",
        /* through shared memory, with a stride of its own and without one */
        LOAD_C "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile+2048], " FRAGMENT ", 20;"
               "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " FRAGMENT ", [tile+2048], 20;",
        LOAD_C "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile+2048], " FRAGMENT ";"
               "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " FRAGMENT ", [tile+2048];",
    };
    for (size_t k = 0; k < sizeof tiles / sizeof *tiles; k++)
        for (size_t l = 0; l < sizeof loads / sizeof *loads; l++)
            for (int r = 0; r < 8; r++) {
                char body[4096];
                snprintf(body, sizeof body,
                         "%s bar.warp.sync -1; %s st.global.f32 [%%rd51], %%f%d;", tiles[k].written,
                         loads[l], r);
                if (tiles[k].lanes[r])
                    expect(tiles[k].lanes[r], body);
                else
                    expect_clean(body);
            }
    /* of a store to global memory, and one by an address that nothing wrote */
    expect("a store",
           LOAD_C "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], " FRAGMENT ";");
    expect("a store", LOAD_C "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd0], " FRAGMENT ";");
    expect("a store",
           "ld.shared.u32 %r8, [tile]; and.b32 %r8, %r8, 0; add.u32 %r8, %r8, 16;"
           "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile+2048], " FRAGMENT ", %r8;");
    expect("a store",
           "ld.shared.u32 %r8, [tile]; and.b32 %r8, %r8, 0; add.u32 %r8, %r8, %r5;"
           "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r8+2048], " FRAGMENT ", 16;");
    /* doubles and integers of 8 x 8, of which the even columns are written */
#define EVEN(bytes) "mad.lo.u32 %r9, %r0, " #bytes ", %r5;"
#define DOUBLES                                                                                    \
    EVEN(16)                                                                                       \
    "st.shared.v2.u32 [%r9], {%r0, %r0}; bar.warp.sync -1; mul.wide.u32 %rd7, %r0, 8;"             \
    "add.s64 %rd7, %rd7, %rd0;"                                                                    \
    "wmma.load.c.sync.aligned.row.m8n8k4.shared.f64 {%d0, %d1}, [tile];"
#define INTEGERS                                                                                   \
    EVEN(8)                                                                                        \
    "st.shared.u32 [%r9], %r0; bar.warp.sync -1;"                                                  \
    "wmma.load.c.sync.aligned.row.m8n8k32.shared.s32 {%r10, %r11}, [tile];"
    expect_clean(DOUBLES "st.global.f64 [%rd7], %d0;");
    expect("lanes ffffffff", DOUBLES "st.global.f64 [%rd7], %d1;");
    expect_clean(INTEGERS STORE("%r10"));
    expect("lanes ffffffff", INTEGERS STORE("%r11"));
    /* halves: two rows by one register, and a fragment of A from the bytes that hold copies of it */
    expect_clean(BUT_ROW_15 "bar.warp.sync -1; wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 "
                            "{%r8, %r9, %r10, %r11}, [tile], 16;"
                            "st.global.u32 [%rd51], %r11;");
    expect("lanes ff000000",
           BUT_ROW_15 "bar.warp.sync -1; wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%r8, "
                      "%r9, %r10, %r11}, [tile+512], 16;"
                      "st.global.u32 [%rd51], %r9;");
    expect("lanes ff000000",
           BUT_COLUMN_15 "bar.warp.sync -1; wmma.load.c.sync.aligned.col.m16n16k16.shared.f16 "
                         "{%r8, %r9, %r10, %r11}, [tile], 16;"
                         "st.global.u32 [%rd51], %r11;");
}

static void lanes_have_their_own(void **state) {
    (void)state;
#define OF_5 "mov.u32 %r8, 1; @%p1 ld.shared.u32 %r8, [%r6];"
    expect("lanes 00000020", OF_5 STORE("%r8"));
    expect_clean(OF_5 "@!%p1 " STORE("%r8"));
    /* through shared memory, as the second of a pair */
#define PAIR_OF_5 OF_5 "st.shared.v2.u32 [%r7], {%r0, %r8}; ld.shared.v2.u32 {%r9, %r10}, [%r7];"
    expect("lanes 00000020", PAIR_OF_5 STORE("%r10"));
    expect_clean(PAIR_OF_5 "@!%p1 " STORE("%r10"));
    expect_clean(PAIR_OF_5 STORE("%r9"));
    static const char *const bytes[] = {
        PAIR_OF_5 "ld.shared.u8 %h2, [%r7+4]; st.global.u16 [%rd51], %h2;",
        PAIR_OF_5 "ld.shared.u8 %h2, [%r7+5]; st.global.u16 [%rd51], %h2;",
        PAIR_OF_5 "ld.shared.u8 %h2, [%r7+6]; st.global.u16 [%rd51], %h2;",
        PAIR_OF_5 "ld.shared.u8 %h2, [%r7+7]; st.global.u16 [%rd51], %h2;"};
    for (int b = 0; b < 4; b++) expect("lanes 00000020", bytes[b]);
    /* a later load takes nothing of an earlier one's */
    expect_clean(
        "ld.shared.u32 %r8, [%r6]; st.shared.u32 [%r7], %r0; @!%p1 ld.shared.u32 %r9, [%r7];"
        "@%p1 ld.shared.u32 %r9, [%r6]; @!%p1 " STORE("%r9"));
    /* a shuffle moves it, and the values beside it */
    expect_clean(OF_5
                 "shfl.sync.idx.b32 %r9, %r8, 0, 31, -1; prmt.b32 %r9, %r9, %r0, 0;" STORE("%r9"));
    expect("lanes 00000001",
           "setp.ne.u32 %p3, %r0, 0; mov.u32 %r8, %r0; @!%p3 ld.shared.u32 %r8, [%r6];"
           "shfl.sync.bfly.b32 %r9, %r8, 0, 31, -1;" STORE("%r9"));
    expect_clean("setp.ne.u32 %p3, %r0, 0; mov.u32 %r8, %r0; @!%p3 ld.shared.u32 %r8, [%r6];"
                 "shfl.sync.bfly.b32 %r9, %r8, 0, 31, -1; @%p3 " STORE("%r9"));
    expect_clean("add.u32 %r8, %r0, 101; mov.u32 %r9, 77; @%p1 ld.shared.u32 %r8, [%r6];"
                 "@%p2 shfl.sync.bfly.b32 %r9, %r8, 1, 31, 0xffff; setp.eq.u32 %p4, %r0, 4;"
                 "@!%p4 " STORE("%r9") "@!%p1 st.global.u32 [%rd51+512], %r8;");
    for (uint32_t l = 0; l < 32; l++) {
        if (l != 4 && l != 5) assert_int_equal(words[l], l < 16 ? 101 + (l ^ 1) : 77);
        if (l != 5) assert_int_equal(words[128 + l], 101 + l);
    }
}

static void operands_pass_it_on(void **state) {
    (void)state;
    char body[512];
#define LOADED "ld.shared.u32 %r8, [%r6];"
    expect_clean(LOADED "mov.u32 %r8, 5;" STORE("%r8"));
    expect_clean(LOADED "add.u32 %r9, %r8, %r0;" STORE("%r0"));
    expect("a store", LOADED "add.u32 %r9, %r0, %r8;" STORE("%r9"));
    expect("a store",
           LOADED "and.b32 %r9, %r8, 252; add.s32 %r9, %r9, %r5; st.shared.u32 [%r9], %r0;");
    expect("a store", LOADED "setp.ne.u32 %p3, %r8, 1; @%p3 st.shared.u32 [%r6], %r0;");
    /* a store that does not happen, by a guard that nothing wrote; what is then as it was */
    expect("lanes ffffffff", LOADED "setp.eq.u32 %p3, %r8, 1; @%p3 st.shared.u32 [%r6], %r0;");
    expect("lanes 00000020", OF_5 "setp.gt.u32 %p3, %r8, 1; @%p3 st.shared.u32 [%r6], %r0;");
    expect("a store",
           LOADED "setp.eq.u32 %p3, %r8, 1; mov.u32 %r9, 3; @%p3 mov.u32 %r9, 4;" STORE("%r9"));
    expect("a store", "st.shared.u32 [%r7], 1;" LOADED "setp.eq.u32 %p3, %r8, 1; mov.u32 %r9, 3;"
                      "@%p3 ld.shared.u32 %r9, [%r7];" STORE("%r9"));
    /* false and anything is false, true or anything true */
    static const struct {
        const char *is, *lanes; /* %p3 of %p4, which nothing wrote, and %p2 */
    } joined[] = {
        {"and.pred %p3, %p4, %p2;", "lanes 0000ffff"},
        {"and.pred %p3, %p2, %p4;", "lanes 0000ffff"},
        {"or.pred %p3, %p4, %p2;", "lanes ffff0000"},
        {"or.pred %p3, %p2, %p4;", "lanes ffff0000"},
        {"and.pred %p3, %p4, !%p2;", "lanes ffff0000"},
        {"or.pred %p3, !%p2, %p4;", "lanes 0000ffff"},
        {"xor.pred %p3, %p4, %p2;", "lanes ffffffff"},
        {"and.pred %p3, %p4, %p4;", "lanes ffffffff"},
        {"setp.eq.and.u32 %p3, %r8, 1, %p2;", "lanes 0000ffff"},
        {"setp.eq.or.u32 %p3, %r8, 1, %p2;", "lanes ffff0000"},
        {"setp.eq.xor.u32 %p3, %r8, 1, %p2;", "lanes ffffffff"},
        {"setp.eq.and.u32 %p3|%p5, %r8, 1, !%p2;", "lanes ffff0000"},
        {"setp.eq.and.u32 %p3, %r0, 1, %p4;", "lanes ffffffff"},
    };
    for (size_t k = 0; k < sizeof joined / sizeof *joined; k++) {
        snprintf(body, sizeof body, "%s %s %s", LOADED "setp.eq.u32 %p4, %r8, 1;", joined[k].is,
                 "@%p3 st.shared.u32 [%r6], %r0;");
        expect(joined[k].lanes, body);
    }
    /* a choice is of what it takes, and of what it is made by */
    expect("lanes 0000ffff", LOADED "selp.b32 %r9, %r8, 5, %p2;" STORE("%r9"));
    expect("lanes ffff0000", LOADED "selp.b32 %r9, 5, %r8, %p2;" STORE("%r9"));
    expect("lanes ffffffff",
           LOADED "setp.eq.u32 %p3, %r8, 1; selp.b32 %r9, 5, 6, %p3;" STORE("%r9"));
    /* of predicates it is one's own, of all that lie side by side */
    for (int others = 0; others < 5; others++)
        for (int used = 3; used < 5; used++) {
            int at = snprintf(body, sizeof body, "%s", LOADED);
            for (int k = 0; k < others; k++)
                at += snprintf(body + at, sizeof body - (size_t)at, "setp.eq.u32 %%p%d, %%r0, 1;",
                               10 + k);
            snprintf(
                body + at, sizeof body - (size_t)at,
                "setp.eq.u32 %%p3, %%r0, 1; setp.eq.u32 %%p4, %%r8, 1; @%%p%d bra X; X:", used);
            if (used == 4)
                expect("a branch", body);
            else
                expect_clean(body);
        }
    /* the next instructions of a warp of which something is uninitialised are as ever */
    expect_clean(
        LOADED
        "st.shared.u32 [tile+1024], 7; bar.warp.sync -1; ld.shared.u32 %r9, [tile+1024];" STORE(
            "%r9"));
}

/* What was told once is forgotten: another of its uses says nothing new. */
static void it_is_told_once(void **state) {
    (void)state;
    expect("a store", LOADED STORE("%r8") "ld.shared.u32 %r9, [%r6+1024];" STORE("%r8"));
    expect("a store", "ld.shared.u32 %r98, [%r6];" STORE(
                          "%r98") "ld.shared.u32 %r9, [%r6+1024];" STORE("%r98"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_used_is_told), cmocka_unit_test(shuffles_from_absent_lanes),
        cmocka_unit_test(loads_take_it),        cmocka_unit_test(bytes_move),
        cmocka_unit_test(local_arrays),         cmocka_unit_test(matrices_take_it),
        cmocka_unit_test(products_of_a_group),  cmocka_unit_test(fragments_have_it_by_register),
        cmocka_unit_test(lanes_have_their_own), cmocka_unit_test(operands_pass_it_on),
        cmocka_unit_test(it_is_told_once),
    };
    emu_test_open(&t);
    int failed = cmocka_run_group_tests_name("emu_taint", tests, NULL, NULL);
    emu_test_close(&t);
    return failed;
}
