/* Where this program lies: what belongs to it is found
 * from there, whatever folder it is started in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Its folder, with no slash behind it: "/home/me/attnlab/build". Where /proc does not say, that
 * of the name it was started by. */
const char *program_folder(void);

/* Writes the path of `name` in that folder or in the nearest one above it that has one. False if
 * none has; *out is any text then. */
bool program_find(const char *name, char *out, size_t out_bytes);
