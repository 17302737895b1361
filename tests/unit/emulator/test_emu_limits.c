/* Kernels that do not end by themselves are ended, and the report names their loop and what each
 * warp waits for. */
#include "emu.h"
#include "emulator/core/state.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "common/base/interrupt.h"

static uint32_t words[256];

/* Warp 0 polls a word that nobody writes, in source lines 7 and 8; the others wait at line 9. That
 * it reads the clock keeps the emulator from knowing that it will never end. */
static const char spin[] = ".loc 1 6 1\nsetp.ge.u32 %p1, %r0, 32; @%p1 bra MEET;\n"
                           "LOOP:\n.loc 1 7 1\nld.volatile.global.u32 %r1, [%rd0];\n"
                           "mov.u32 %r2, %clock;\n"
                           ".loc 1 8 1\nsetp.eq.s32 %p2, %r1, 0; @%p2 bra LOOP;\n"
                           "MEET:\n.loc 1 9 1\nbar.sync 0;";

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How long it took; of the CPU's time, which a busy machine does not stretch, in cpu_s. */
static double cpu_s;
static double run(struct emu_test *t, unsigned blocks, const char **why) {
    memset(words, 0, sizeof words);
    char text[4096];
    snprintf(text, sizeof text, ".file 1 \"/tmp/spin.cu\"\n%s", emu_test_kernel(1, "", spin));
    const double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    *why = emu_test_run(t, text, "test", blocks, 128, 0, 1, (void *[]){words},
                        (size_t[]){sizeof words});
    cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    return seconds(CLOCK_MONOTONIC) - begin;
}

static void check_report(struct emu_test *t, const char *limit) {
    assert_int_equal(emu_result_reports(t->result), 1);
    const char *report = emu_result_report(t->result, 0);
    const char *const wanted[] = {limit,
                                  "endless in kernel test",
                                  "warp 0, lanes ffffffff runs in the loop of lines 7 to 8, which "
                                  "polls by ld.volatile.global.u32 at line 7",
                                  "warps 1 to 3, lanes ffffffff wait at line 9: bar.sync",
                                  "barrier 0: 96 of 128 threads",
                                  "spin.cu:8"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(report, wanted[i])) fail_msg("'%s' is not in\n%s", wanted[i], report);
}

static void instructions(void **state) {
    struct emu_test t;
    const char *why;
    (void)state;
    emu_test_open(&t);
    t.options.max_instructions = 600000;
    run(&t, 1, &why);
    assert_fine(why);
    check_report(&t, "not at its end after 600000 warp instructions (--max-instructions)");
    uint64_t executed = 0;
    for (struct emu_counted c = {0}; emu_result_next(t.result, &c);) executed += c.count->executed;
    assert_true(executed <= 600000 && executed > 598000); /* looking again takes a turn too */
    t.options.n_threads = 2; /* one report, however many blocks were at it */
    run(&t, 20, &why);
    check_report(&t, "600000 warp instructions");
    emu_test_close(&t);
}

static void no_limit_hit(void **state) {
    struct emu_test t;
    (void)state;
    emu_test_open(&t);
    t.options.max_instructions = 600000;
    t.options.timeout_s = 60;
    assert_fine(emu_test_run(&t, emu_test_kernel(1, "", "bar.sync 0;"), "test", 4, 128, 0, 1,
                             (void *[]){words}, (size_t[]){sizeof words}));
    assert_int_equal(emu_result_reports(t.result), 0);
    emu_test_close(&t);
}

static void timeout(void **state) {
    struct emu_test t;
    const char *why;
    (void)state;
    emu_test_open(&t);
    t.options.timeout_s = 0.3;
    double s = run(&t, 1, &why);
    assert_fine(why);
    check_report(&t, "not at its end after 0.3 s (--timeout)");
    assert_true(s >= 0.3 && cpu_s < 10);
    emu_test_close(&t);
}

/* No thread is left for the one that watches: the time is over, all the same. */
static bool no_threads;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    return no_threads ? EAGAIN : real(thread, attributes, run, argument);
}

static void unwatched(void **state) {
    struct emu_test t;
    const char *why;
    (void)state;
    emu_test_open(&t);
    t.options.timeout_s = 0.3;
    t.options.max_instructions = 1000000000; /* some seconds */
    no_threads = true;
    run(&t, 1, &why);
    no_threads = false;
    assert_fine(why);
    check_report(&t, "not at its end after 0.3 s (--timeout)");
    emu_test_close(&t);
}

/* The signal comes 0.2 s after the launch began. The last test: an interrupted program stays so. */
#ifdef __SANITIZE_THREAD__
#define BUSY_S 5 /* every access is checked */
#elif defined __SANITIZE_ADDRESS__
#define BUSY_S 2
#elif defined __aarch64__
#define BUSY_S 5 /* QEMU, maybe */
#else
#define BUSY_S 0.1 /* what looking at the clock takes */
#endif

static void interrupted(void **state) {
    struct emu_test t;
    const char *why;
    struct itimerval soon = {.it_value.tv_usec = 200000};
    struct sigaction term;
    (void)state;
    interrupt_catch();
    sigaction(SIGTERM, NULL, &term);
    sigaction(SIGALRM, &term, NULL);
    emu_test_open(&t);
    setitimer(ITIMER_REAL, &soon, NULL);
    double s = run(&t, 1, &why);
    assert_non_null(why);
    assert_non_null(strstr(why, "test: interrupted"));
    assert_int_equal(emu_result_reports(t.result), 0);
    assert_true(s >= 0.2 && cpu_s < 0.2 + 0.2 + BUSY_S);
    emu_test_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions), cmocka_unit_test(no_limit_hit), cmocka_unit_test(timeout),
        cmocka_unit_test(unwatched),    cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
