/* Paths that the user names. */
#pragma once

/* NULL if a file can be written there, else why not (STATUS_FILE): asked before the work is
 * done, not after. Writes nothing. */
const char *path_writable(const char *path);

/* NULL if all that was printed has reached stdout, else why not (STATUS_FILE). */
const char *path_stdout(void);
