/* Counts gathered beside the source lines that they come from: source_add ... source_sort -
 * source_free. */
#pragma once

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

/* By file and line, as attribution_print() wants them. */
void source_sort(struct source *s);

void source_free(struct source *s);
