/* Counts by instruction: CUPTI patches the kernel's code so that each instruction counts itself.
 * Exact, slow (never time it), and free of what else shares the hardware's counters. */
#pragma once

#include "place.h"
#include "range.h"

enum {
    SASS_EXECUTED,         /* warp instructions */
    SASS_THREADS,          /* threads that were on, over all executions */
    SASS_WAVEFRONTS,       /* shared-memory wavefronts */
    SASS_WAVEFRONTS_IDEAL, /* what the same bytes would have taken without bank conflicts */
    SASS_SECTORS,          /* 32-byte sectors of global memory */
    SASS_SECTORS_IDEAL,
    SASS_DIVERGENT, /* branches whose threads went apart */
    SASS_LDG,       /* warp instructions of one sort, from here on */
    SASS_STG,
    SASS_KIND, /* the first of SASS_KINDS */
    SASS_N = SASS_KIND + 7
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
_Static_assert((int)SASS_KIND + SASS_KINDS == SASS_N, "each kind has a metric");
extern const char *const sass_kind[SASS_KINDS]; /* "ld", "st", ... */

/* CUPTI's number for a SASS metric of a chip; needs no GPU. */
const char *sass_metric_id(const struct cupti *cupti, const char *chip, const char *metric,
                           uint64_t *id);

struct sass_record {
    struct place at;
    enum sass_kind kind;
    double value[SASS_N];
};
struct sass {
    int n;
    struct sass_record *record; /* sass_free() */
    unsigned absent;            /* metrics that this chip has not: a bit each */
};

/* What to patch code for: a bit for each metric. What every instruction is patched for slows a kernel
 * most. */
enum { SASS_ALL = (1 << SASS_N) - 1 };
/* The bits that a metric takes: of the instructions of one kind, that kind's too. SASS_KINDS: of all. */
static inline unsigned sass_bits(int metric, int kind) {
    return 1u << metric | (kind < SASS_KINDS ? 1u << (SASS_KIND + kind) : 0);
}

/* Runs `body` once, counted. Once in a process: see sass.c. */
const char *sass_collect(const struct cupti *cupti, CUcontext context, int device_index,
                         const char *chip, unsigned wanted, range_body *body, void *arg,
                         struct sass *out);
void sass_free(struct sass *s);
