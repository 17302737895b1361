/* Memory, or the program's end: where there is none left it says so in one line and exits with 4,
 * STATUS_DEVICE. For what is small beside the problem and needed in places that cannot return a
 * reason: a count, a report or a field of a record that is dropped for want of memory would be a
 * wrong number. Tensors and their like are malloc's, and their absence a reason. */
#pragma once

#include <stddef.h>

void *heap_take(size_t bytes);             /* malloc */
void *heap_zeroed(size_t n, size_t bytes); /* calloc */
void *heap_grown(void *at, size_t bytes);  /* realloc */
void *heap_line(size_t bytes);             /* at a multiple of 64; zeroed */
char *heap_text(const char *text);         /* strdup */
void heap_setenv(const char *name, const char *value);

/* Where a large _Thread_local variable lies, for the loops of one function. In objects for shared libraries that place
 * is a call, which the compiler would make again wherever the variable is used, and save registers around; the empty asm
 * makes it an address like any other. */
static inline void *heap_of_thread(void *variable) {
    __asm__("" : "+r"(variable));
    return variable;
}

/* After a failed dlopen: what dlerror() says, unless it says that there was no memory. */
const char *heap_dlerror(void);

/* Says that there is no memory and exits. */
_Noreturn void heap_exhausted(void);
