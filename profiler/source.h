/* Counts beside the source lines that they come from: on a GPU from CUPTI's SASS metrics and the
 * line table that -lineinfo leaves in the cubin, on the emulator from its own counts.
 *
 *   source_collect - source_print - source_free */
#pragma once

#include "device.h"

#include <stdio.h>

/* What the instructions of one line did, all warps of all launches together. */
struct source_line {
    char file[256]; /* as the compiler was told */
    int line;
    double executed;                     /* warp instructions */
    double threads;                      /* threads that were on, over all of them */
    double wavefronts, wavefronts_ideal; /* of shared memory */
    double sectors, sectors_ideal;       /* of global memory */
    double splits;                       /* branches that divided a warp */
};

struct source {
    int n;
    struct source_line *line; /* in the order of files and lines; source_free() */
    double unattributed;      /* warp instructions that belong to no line */
};

/* Adds counts to those of their line (file "": to the unattributed). */
const char *source_add(struct source *s, const struct source_line *counts);

/* By file and line, as source_print() wants them. */
void source_sort(struct source *s);

/* Runs the launches once, counted by instruction; sorted by file and line. */
const char *source_collect(struct device *d, struct device_image *image,
                           const struct device_launch *launches, int n, struct source *out);

/* Prints every file that has counts: whole if its path contains `whole` ("kernel.cu"), else only
 * the lines that have some. Files are looked for as named and below the folder above the
 * program's. */
void source_print(const struct source *s, const char *whole, FILE *out);
void source_free(struct source *s);
