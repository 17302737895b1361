/* Files by their paths. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* NULL if a file can be written there, else why not (STATUS_FILE): asked before the work is
 * done, not after. Writes nothing. */
const char *path_writable(const char *path);

/* The file, opened for reading; programs that are started do not inherit it. NULL with errno if it
 * cannot be opened. Without memory for it the program ends, as heap_take() does. */
FILE *path_open(const char *path);

/* The whole file and a 0 behind it, to be freed; *bytes without that 0. NULL with errno if it
 * cannot be read. */
char *path_read(const char *path, size_t *bytes);

/* The same of a file that a kernel names as its source. A kernel may name anything: what is no ordinary file (a device, a
 * pipe) or is larger than any source is not there (ENOENT). */
enum { PATH_MOST_SOURCE = 16 << 20 };
FILE *path_open_source(const char *path);
char *path_read_source(const char *path, size_t *bytes);

/* NULL if all that was printed has reached stdout, else why not (STATUS_FILE). */
const char *path_stdout(void);
