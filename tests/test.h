/* What every C test includes: cmocka and the headers that it wants first. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Leaves the test as skipped and says why. */
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        print_message("# SKIP %s: ", __func__);                                                    \
        print_message(__VA_ARGS__);                                                                \
        print_message("\n");                                                                       \
        skip();                                                                                    \
    } while (0)

/* Built by `make sanitize`: libraries that are loaded with RTLD_DEEPBIND end the program then. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A folder or an open file NAME-XXXXXX in $TMPDIR or /tmp, which the test's end removes with what it
 * holds: its path in `out`. Wrong programs (mutants.py) may write nowhere else. NULL or -1 with errno. */
enum { OWN_BYTES = 256 };
char *own_folder(char out[OWN_BYTES], const char *name);
int own_file(char out[OWN_BYTES], const char *name);

/* A reason string (reason.h) must be NULL, or must be there and contain `text`. */
#define assert_fine(why)                                                                           \
    do {                                                                                           \
        const char *why_ = (why);                                                                  \
        if (why_) fail_msg("%s", why_);                                                            \
    } while (0)
#define assert_reason(why, text)                                                                   \
    do {                                                                                           \
        const char *why_ = (why);                                                                  \
        if (!why_ || !strstr(why_, text))                                                          \
            fail_msg("expected a reason with '%s', got '%s'", text, why_ ? why_ : "no reason");    \
    } while (0)
