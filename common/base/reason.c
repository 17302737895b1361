#include "reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { N_REASONS = 8 };

static _Thread_local struct {
    char line[2048];
    enum status status; /* STATUS_RIGHT: none was given */
} reasons[N_REASONS];
static _Thread_local unsigned next;

/* A file that could not be opened for want of memory is no fault of the file. */
static const char *reason_make(enum status status, const char *format, va_list args) {
    if (status == STATUS_FILE && errno == ENOMEM) status = STATUS_DEVICE;
    unsigned slot = next++ % N_REASONS;
    vsnprintf(reasons[slot].line, sizeof reasons[slot].line, format, args);
    for (char *c = reasons[slot].line; *c; c++) /* one line, whatever a user typed */
        if (iscntrl((unsigned char)*c)) *c = '?';
    reasons[slot].status = status;
    return reasons[slot].line;
}

const char *reason(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *line = reason_make(STATUS_RIGHT, format, args);
    va_end(args);
    return line;
}

const char *reason_as(enum status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *line = reason_make(status, format, args);
    va_end(args);
    return line;
}

enum status reason_status(const char *why, enum status otherwise) {
    for (int i = 0; i < N_REASONS; i++)
        if (why == reasons[i].line && reasons[i].status != STATUS_RIGHT) return reasons[i].status;
    return otherwise;
}
