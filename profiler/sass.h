/* Counts by instruction: CUPTI patches the kernel's code so that each instruction counts itself.
 * Exact, slow (never time it), and free of what else shares the hardware's counters. */
#pragma once

#include "range.h"

enum {
    SASS_EXECUTED,         /* warp instructions */
    SASS_THREADS,          /* threads that were on, over all executions */
    SASS_WAVEFRONTS,       /* shared-memory wavefronts */
    SASS_WAVEFRONTS_IDEAL, /* what the same bytes would have taken without bank conflicts */
    SASS_SECTORS,          /* 32-byte sectors of global memory */
    SASS_SECTORS_IDEAL,
    SASS_DIVERGENT, /* branches whose threads went apart */
    SASS_N
};
extern const char *const sass_metric[SASS_N]; /* CUPTI's names */

/* What kind of shared-memory access an instruction is. */
enum sass_kind {
    SASS_LD,     /* LDS */
    SASS_ST,     /* STS */
    SASS_LDSM,   /* ldmatrix */
    SASS_STSM,   /* stmatrix */
    SASS_LDGSTS, /* cp.async */
    SASS_GMMA,   /* operands of wgmma */
    SASS_ATOM,
    SASS_KINDS,
    SASS_OTHER = SASS_KINDS
};
extern const char *const sass_kind[SASS_KINDS]; /* "ld", "st", ... */

/* CUPTI's number for a SASS metric of a chip; needs no GPU. */
const char *sass_metric_id(const struct cupti *cupti, const char *chip, const char *metric,
                           uint64_t *id);

struct sass_record {
    char function[96]; /* symbol */
    uint32_t pc;       /* offset in it */
    enum sass_kind kind;
    double value[SASS_N];
};
struct sass {
    int n;
    struct sass_record *record; /* sass_free() */
};

/* Runs `body` once, counted. Once in a process: see sass.c. */
const char *sass_collect(const struct cupti *cupti, CUcontext context, int device_index,
                         const char *chip, range_body *body, void *arg, struct sass *out);
void sass_free(struct sass *s);
