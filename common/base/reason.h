/* A reason is a sentence about the machine or the request: NULL means that all is well.
 * It names cause and remedy, in one line, and lives until the same thread has made 7 more. */
#pragma once

/* What the programs exit with. */
enum status {
    STATUS_RIGHT = 0,
    STATUS_WRONG = 1,       /* a wrong answer */
    STATUS_USAGE = 2,       /* an option or its value */
    STATUS_UNSUPPORTED = 3, /* this problem or this chip */
    STATUS_DEVICE = 4,      /* the device or its driver failed */
    STATUS_FILE = 5,        /* a file could not be read or written */
    STATUS_COUNTERS = 6,    /* counters asked for and not to be had */
    STATUS_NOTHING = 77     /* nothing here can run it */
};

const char *reason(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and what a program that stops because of it exits with. */
const char *reason_as(enum status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* That status; `otherwise` for a reason made by reason() or written as a literal. */
enum status reason_status(const char *why, enum status otherwise);
