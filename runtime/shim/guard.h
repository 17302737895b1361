/* Finds the host's use of managed and pinned memory while a GPU might still use it: see guard.c. */
#pragma once

#include "cudart.h"

/* Keeps the host from memory that operations use for which it has not waited. guard_lift() ends that. */
void guard_set(struct session *s, const struct order *o);
/* "; addr2line -e PROGRAM ADDRESS shows the line": where the host is, in the program itself. called: it has called a
 * function of the runtime, so its callers are told as well. "": not known. */
void guard_host_place(bool called, char *out, size_t n);
