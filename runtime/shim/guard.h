/* Finds the host's use of memory that it may not use, or not yet: see guard.c. */
#pragma once

#include "cudart.h"

/* From now on a crash of the program is explained, unless the program has a handler of its own. */
void guard_catch_faults(void);
/* Keeps the host from memory that operations use for which it has not waited. guard_lift() ends that. */
void guard_set(struct session *s, const struct order *o);
/* "; addr2line -e PROGRAM ADDRESS shows the line": where the host is, in the program itself. called: it has called a
 * function of the runtime, so its callers are told as well. "": not known. */
void guard_host_place(bool called, char *out, size_t n);
