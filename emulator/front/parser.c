/* What every step of the front end needs: a way to fail, and memory. */
#include "parser.h"

#include "common/base/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ptx_fail(struct parser *p, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->in_body) {
        ptx_note_problem(p, text, false);
    } else {
        int line = p->token && p->at < p->n_tokens ? p->token[p->at].line : 0;
        p->why = reason("%.80s:%d: %s", p->module->name, line, text);
    }
    longjmp(*p->failed, 1);
}

void *ptx_alloc(struct parser *p, size_t bytes) {
    return emu_arena_alloc(&p->module->arena, bytes);
}

void *ptx_grow(struct parser *p, void *array, uint32_t n, uint32_t *capacity, size_t size) {
    if (n < *capacity) return array;
    uint32_t wanted = *capacity ? 2 * *capacity : 64;
    void *more = ptx_alloc(p, wanted * size);
    if (n) memcpy(more, array, n * size);
    *capacity = wanted;
    return more;
}
