/* Where the counter groups lie, and what is there. */
#pragma once

#include "groups.h"

#include <stdio.h>

/* Reads NAME.txt from the groups' folder: $ATTNLAB_GROUPS, or profiler/groups in a folder at or
 * above the program's own. The reason for an unknown name lists the known ones. */
const char *group_read(const char *name, struct group *out);

/* The names of all groups, sorted, separated by `separator`. */
const char *groups_list(const char *separator, char *out, size_t out_bytes);

/* For --list-counters: every group's question, values, and where they come from. */
const char *groups_print(FILE *f);
