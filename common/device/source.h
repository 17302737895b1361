/* What a kernel did, instruction by instruction, and where in its source each comes from:
 *
 *   source_add ... - source_lines - source_free
 *
 * A place is a line, or a line inlined at another place: places are a tree whose roots are lines of
 * the kernel itself. An instruction belongs to one place, the innermost, so sums over places, over
 * instructions and over lines are the same: nothing counts twice. */
#pragma once

#include <stdbool.h>

enum {
    SOURCE_REASONS = 24,
    SOURCE_ISSUE_PER_CLK = 4, /* of an SM, on all chips of chip.h */
    SOURCE_L2_BYTES_PER_CLK = 64
};

/* What an instruction keeps busy, in cycles of one SM for an even share of the work: of SMs that have
 * any. */
enum source_resource {
    SOURCE_TENSOR,
    SOURCE_MUFU,
    SOURCE_FMA,
    SOURCE_SHARED,
    SOURCE_GLOBAL, /* from L2, as if nothing hit L1 */
    SOURCE_ISSUE,
    SOURCE_RESOURCES
};
extern const char *const source_resource_name[SOURCE_RESOURCES];

/* All warps of all launches together. */
struct source_counts {
    double executed;                     /* warp instructions */
    double threads;                      /* threads that were on, over all of them */
    double wavefronts, wavefronts_ideal; /* of shared memory */
    double sectors, sectors_ideal;       /* of global memory */
    double splits;                       /* branches that divided a warp */
    double busy[SOURCE_RESOURCES];
    double cycles[SOURCE_REASONS]; /* of warps here, by source.reason: predicted, or samples */
};

struct source_frame {
    const char *file; /* as the compiler was told */
    int line;
};

struct source_place {
    int parent; /* the place that this is inlined at; -1: a line of the kernel */
    struct source_frame at;
    struct source_counts own;
};

/* PTX: counted by the emulator. SASS: cycles predicted by the predictor, or counted by a GPU. */
enum source_isa { SOURCE_PTX, SOURCE_SASS };
struct source_inst {
    enum source_isa isa;
    int number; /* line of the PTX file; address of the SASS */
    char *text;
    int place; /* -1: it belongs to no line */
    struct source_counts counts;
};

/* A line of a file in the kernel's folder, with what is inlined there from files elsewhere. */
struct source_line {
    struct source_frame at;
    struct source_counts own;
};

struct source {
    int n_places, n_insts, n_lines;
    struct source_place *place; /* a parent before its children */
    struct source_inst *inst;
    struct source_line *line;     /* by file and line: source_lines() */
    struct source_counts total;   /* what belongs to no line included */
    struct source_counts no_line; /* of instructions that belong to none */
    double elapsed;               /* SM cycles of the launches, without what it costs to launch:
                                    predicted, or measured; 0: neither */
    char not_timed[256];          /* on a GPU, why `elapsed` is 0; "" */
    const char *const
        *reason; /* [n_reasons]: names of source_counts.cycles; NULL: there are none */
    int n_reasons;
    bool sampled;    /* `cycles` are a GPU's samples, `elapsed` was measured */
    char about[256]; /* the line printed above them: chip and error; or why there are none */
    char **file;     /* what `at.file` points to */
    int n_files;
};

/* frame[n]: innermost first; n = 0, or a line below 1: no line. Copies all that it is given. Paths of
 * which one is the tail of the other are one file. */
void source_add(struct source *s, enum source_isa isa, int number, const char *text,
                const struct source_frame *frame, int n, const struct source_counts *counts);

/* Drops what instructions of one kind keep busy, because the caller has better numbers. */
void source_forget(struct source *s, enum source_isa isa, enum source_resource resource);

/* Fills in `line`. */
void source_lines(struct source *s);

/* The line that a place's counts belong to: itself, or the nearest place around it in a file of the
 * kernel's folder. */
const struct source_frame *source_owner(const struct source *s, int place);

/* Warps' cycles of all reasons. */
double source_cycles(const struct source_counts *c);

void source_free(struct source *s);
