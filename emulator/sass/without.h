/* A kernel without the barriers, waits and fences of one of its lines, to predict what they cost. Its results are
 * wrong (--without shows that on the PTX side), but its time is right. */
#pragma once

#include "sass.h"

enum { SASS_PLACE_BYTES = 64 };

/* The i-th place that has any, in the order of addresses: lines of the kernel's file, outermost first
 * ("139", "511>308", as --without takes them), and what stands there ("BAR.SYNC, MEMBAR"). False: there are
 * no more. */
bool sass_without_place(const struct sass_kernel *k, int i, char place[SASS_PLACE_BYTES],
                        char what[SASS_PLACE_BYTES]);
/* From now on, until the module is closed, they do nothing and take one issue each. Returns how many there are. */
int sass_without(const struct sass_kernel *k, const char *place);
