#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

const char *reason(const char *format, ...) {
    static _Thread_local char lines[8][512];
    static _Thread_local unsigned next;
    char *line = lines[next++ % 8];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof lines[0], format, args);
    va_end(args);
    return line;
}
