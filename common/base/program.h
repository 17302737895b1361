/* Where this program lies: what belongs to it is found
 * from there, whatever folder it is started in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Its folder, with no slash behind it: "/home/me/attnlab/build". Where /proc does not say, that
 * of the name it was started by. */
const char *program_folder(void);

/* The same, or, where this code is part of a shared library, that library's folder. */
const char *program_home(void);

/* Writes the path of `name` in program_home() or in the nearest folder above it that has one. False if
 * none has; *out is any text then. */
bool program_find(const char *name, char *out, size_t out_bytes);
