/* Restores memory after a grid was executed. It keeps the bytes that stores and atomics change, each as it was
 * before the first change. Grids on several host threads may share one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SASS_UNDO_BYTES = 512 << 20 }; /* most that is kept, by 128 bytes */

struct sass_undo;
struct sass_undo *sass_undo_open(void);
/* Before [at, at + bytes) changes. False: that would be too much, and nothing was kept. */
bool sass_undo_keep(struct sass_undo *u, const void *at, size_t bytes);
/* Puts everything back. */
void sass_undo_close(struct sass_undo *u);
