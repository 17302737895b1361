/* Races that are trusted: of library code that counts on more than the memory model promises, as the
 * decoupled look-back of CUB. Such a race is counted, not reported. */
#pragma once

#include "instruction.h"

/* Of both places the innermost file has `where` in its path, and of one of them some file around it
 * has `within`: what a program passes to the library is not trusted. */
struct emu_trust {
    const char *where, *within;
};
/* Both places of a race. */
bool emu_trusted(const struct emu_trust *trust, int n, const struct emu_origin *a,
                 const struct emu_origin *b);
/* A file of lines "WHERE WITHIN", and # before remarks. NULL, or why not. Lives until the program ends. */
const char *emu_trust_read(const char *path, const struct emu_trust **out, int *n);
/* What is trusted unless a file says otherwise. */
const struct emu_trust *emu_trust_default(int *n);
