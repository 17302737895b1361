/* Files that are gone with the program, whatever ends it: they lie in memory, in no folder. */
#pragma once

enum { SCRATCH_PATH = 32 };

/* An empty one, to be closed: its descriptor, and a path by which this program and those that it starts
 * open it. -1 with errno if there is none. */
int scratch_open(char path[SCRATCH_PATH]);
