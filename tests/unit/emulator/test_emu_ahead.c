/* Global loads that are fetched together (front/ahead.c) against the same loads one by one, which a
 * guard keeps apart: the same values, counts and failed checks. */
#include "emu.h"
#include "common/device/emu_counters.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 32768, THREADS = 64 };

static struct emu_test t;
static uint32_t data[WORDS], out[THREADS];

/* Where a thread reads first. */
static const char *const places[] = {
    "mul.wide.u32 %rd5, %r0, 1024;",                            /* far apart */
    "mov.u64 %rd5, 0;",                                         /* all the same */
    "and.b32 %r5, %r0, 7; mul.wide.u32 %rd5, %r5, 3072;",       /* 8 of them */
    "and.b32 %r5, %r0, 15; mul.wide.u32 %rd5, %r5, 2048;",      /* 16 */
    "shr.u32 %r5, %r0, 3; mul.wide.u32 %rd5, %r5, 4096;",       /* runs of 8 */
    "shr.u32 %r5, %r0, 2; mul.wide.u32 %rd5, %r5, 4096;",       /* of 4 */
    "mul.wide.u32 %rd5, %r0, 4;",                               /* side by side */
    "mul.wide.u32 %rd5, %r0, 20;",                              /* into the next sector by and by */
    "mul.wide.u32 %rd5, %r0, 48;",                              /* words that share sectors */
    "mad.lo.s32 %r5, %r0, %r0, 3; mul.wide.u32 %rd5, %r5, 32;", /* growing distances */
};

#define USE(r) "mad.lo.u32 %r30, %r30, 31, " r ";"

/* What is run a few times, at %rd5 and behind it; LD becomes the load. */
static const char *const bodies[] = {
    "LD %r20, [%rd5]; LD %r21, [%rd5+4]; LD %r22, [%rd5+8]; LD %r23, [%rd5+12];" /* neighbours */
    USE("%r20") USE("%r21") USE("%r22") USE("%r23"),
    "LD %r20, [%rd5+4];" USE("%r20") "LD %r21, [%rd5+16]; LD %r20, [%rd5+12];" /* in disorder */
    USE("%r21") USE("%r20") "LD %r22, [%rd5+8]; LD %r23, [%rd5];" USE("%r22") USE("%r23"),
    "LD %r20, [%rd5]; LD %r21, [%rd5+4]; LD %r22, [%rd5+8]; LD %r23, [%rd5+12];" USE("%r20")
        USE("%r21") USE("%r22") USE("%r23") "add.s64 %rd5, %rd5, 16;", /* whole sectors on */
    "LD %r20, [%rd5]; add.s64 %rd5, %rd5, 64; LD %r21, [%rd5+4];"      /* from elsewhere */
    USE("%r20") USE("%r21"),
    "LD %r20, [%rd5]; add.u32 %r24, %r20, 7; st.global.u32 [%rd5+4], %r24; LD %r21, [%rd5+4];" USE(
        "%r20") USE("%r21"), /* what was stored in between */
    "LD %r20, [%rd5]; atom.global.add.u32 %r24, [%rd5+4], 1; LD %r21, [%rd5+4];" USE("%r20")
        USE("%r21"),
    "xor.b32 %r6, %r0, %r10; and.b32 %r6, %r6, 1; setp.eq.u32 %p1, %r6, 0;" /* half come in between */
    "mov.u32 %r20, 5; @%p1 bra M; LD %r20, [%rd5]; M: LD %r21, [%rd5+4]; LD %r22, [%rd5+8];" USE(
        "%r20") USE("%r21") USE("%r22"),
    "and.b32 %r6, %r10, 1; setp.eq.u32 %p1, %r6, 1;" /* all do, every other time */
    "@%p1 bra M; LD %r20, [%rd5]; M: LD %r21, [%rd5+4];" USE("%r20") USE("%r21"),
    "and.b32 %r6, %r10, 3; and.b32 %r7, %r0, 3; setp.lt.u32 %p1, %r6, %r7; @%p1 bra M;" /* a part */
    "LD %r20, [%rd5]; LD %r21, [%rd5+4]; LD %r22, [%rd5+8];" USE("%r20") USE("%r21")
        USE("%r22") "M:",
    "setp.lt.u32 %p1, %r0, 16; @%p1 bra M;" /* the other half's registers stay as they are */
    "LD %r20, [%rd5]; LD %r21, [%rd5+4]; M:" USE("%r20") USE("%r21"),
};

static void kernel(char *text, size_t bytes, const char *place, const char *body, bool apart) {
    char whole[4096];
    int at = snprintf(whole, sizeof whole,
                      "mov.u32 %%r20, 1; mov.u32 %%r21, 2; mov.u32 %%r30, 0; mov.u32 %%r10, 0;"
                      "setp.eq.u32 %%p9, %%r0, %%r0; %s add.s64 %%rd5, %%rd5, %%rd0;\nL:\n",
                      place);
    for (const char *c = body; *c; c++) {
        if (!strncmp(c, "LD", 2)) {
            at += snprintf(whole + at, sizeof whole - (size_t)at, "%sld.global.u32",
                           apart ? "@%p9 " : "");
            c++;
        } else {
            whole[at++] = *c;
        }
    }
    snprintf(whole + at, sizeof whole - (size_t)at,
             "\nadd.s64 %%rd5, %%rd5, 16; add.s32 %%r10, %%r10, 1; setp.lt.u32 %%p8, %%r10, 6; "
             "@%%p8 bra L;\nmul.wide.u32 %%rd6, %%r0, 4; add.s64 %%rd6, %%rd6, %%rd1; "
             "st.global.u32 [%%rd6], %%r30;");
    snprintf(text, bytes, ".file 1 \"/tmp/ahead.cu\"\n%s", emu_test_kernel(2, "", whole));
}

struct ran {
    uint32_t data[WORDS], out[THREADS];
    double count[4];
};

static void run(const char *text, unsigned threads, size_t words, struct ran *r) {
    static const char *const names[] = {"instructions", "threads", "ld_global.bytes",
                                        "ld_global.sectors"};
    struct counters counts = {0};
    for (uint32_t n = 0; n < WORDS; n++) data[n] = n * 2654435761u;
    memset(out, 0, sizeof out);
    assert_fine(emu_test_run(&t, text, "test", 1, threads, 0, 2, (void *[]){data, out},
                             (size_t[]){words * 4, sizeof out}));
    memcpy(r->data, data, sizeof data);
    memcpy(r->out, out, sizeof out);
    assert_fine(emu_counters_of(t.result, chip_find("h200"), &counts));
    for (int c = 0; c < 4; c++) {
        r->count[c] = -1;
        for (int n = 0; n < counts.n; n++)
            if (!strcmp(counts.counter[n].name, names[c])) r->count[c] = counts.counter[n].value;
        assert_true(r->count[c] >= 0);
    }
    counters_free(&counts);
}

static void as_if_one_by_one(void **state) {
    (void)state;
    static const unsigned threads[] = {32, 64, 16, 20, 40};
    static struct ran together, apart;
    char text[8192];
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
            for (size_t n = 0; n < 2 * sizeof threads / sizeof *threads; n++) {
                t.options.no_checks = true;
                t.options.schedule = n % 2 ? EMU_RANDOM : EMU_ROUND_ROBIN;
                kernel(text, sizeof text, places[p], bodies[b], false);
                run(text, threads[n / 2], WORDS, &together);
                kernel(text, sizeof text, places[p], bodies[b], true);
                run(text, threads[n / 2], WORDS, &apart);
                bool racy = strstr(bodies[b], "atom") || strstr(bodies[b], "st.");
                if (racy && strcmp(places[p], places[0])) continue; /* places that are apart only */
                if (memcmp(&together, &apart, sizeof apart))
                    fail_msg("%u threads of\n%s\n%s\ndiffer: %g %g %g %g, %g %g %g %g",
                             threads[n / 2], places[p], bodies[b], together.count[0],
                             together.count[1], together.count[2], together.count[3],
                             apart.count[0], apart.count[1], apart.count[2], apart.count[3]);
            }
}

/* Words past the end are reported by their own loads, and not fetched. */
static void past_the_end(void **state) {
    (void)state;
    static struct ran r;
    char text[8192];
    t.options.no_checks = true;
    t.options.schedule = EMU_ROUND_ROBIN;
    kernel(text, sizeof text, places[0],
           "\n.loc 1 3 1\nLD %r20, [%rd5];\n.loc 1 4 1\nLD %r21, [%rd5+4];\n.loc 1 5 1\n"
           "LD %r22, [%rd5+8];" USE("%r20") USE("%r21") USE("%r22"),
           false);
    size_t words =
        31 * 256 + 5 * 4 + 2; /* the last lane's third word of the last time is missing */
    run(text, 32, words, &r);
    assert_int_equal(emu_result_reports(t.result), 1);
    assert_non_null(emu_test_report(&t, "lane 31"));
    assert_non_null(emu_test_report(&t, "ahead.cu:5"));
    run(text, 32, words + 1, &r);
    assert_int_equal(emu_result_reports(t.result), 0);
}

static int open(void **state) {
    (void)state;
    emu_test_open(&t);
    return 0;
}
static int close(void **state) {
    (void)state;
    emu_test_close(&t);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_if_one_by_one),
        cmocka_unit_test(past_the_end),
    };
    return cmocka_run_group_tests_name("emu_ahead", tests, open, close);
}
