/* An instruction of a kernel: the first member of what is known of it. */
#pragma once

#include <stdint.h>
#include <string.h>

struct place {
    char function[96]; /* symbol */
    uint32_t pc;       /* offset in it */
};

/* For qsort and bsearch, of structs that begin with a place. */
static inline int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    int functions = strcmp(x->function, y->function);
    return functions ? functions : (x->pc > y->pc) - (x->pc < y->pc);
}
