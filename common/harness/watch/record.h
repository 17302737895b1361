/* What watch.h records while the predictor runs, as pieces of the page's JSON. */
#pragma once

#include "watch.h"

/* Text that grows. */
struct watch_text {
    char *at;
    size_t n, room;
};
__attribute__((format(printf, 2, 3))) void watch_put(struct watch_text *t, const char *format, ...);

/* Texts that are written once and named by number. */
struct watch_set {
    struct watch_text all; /* separated by commas */
    struct watch_entry {
        uint64_t hash;
        int number;
    } * entry;
    int n, room;
};
int watch_number(struct watch_set *s, const char *text, size_t bytes);

/* The kinds of operations are those of enum sass_memory, and this one: a wait for an mbarrier, whose address
 * follows, is over. */
enum { WATCH_WAITED = SASS_HGMMA_OPERANDS + 1 };

enum { WATCH_UNITS = 9 }; /* HGMMA; HMMA of four sub-cores; MUFU of four */
struct watch {
    const struct sass_kernel *kernel;
    struct watch_tensor tensor[WATCH_TENSORS];
    int n_tensors;
    size_t limit;
    char *stopped; /* why the block does not end; NULL: it does */
    bool full;     /* nothing is recorded any more */
    uint64_t end;  /* of what is recorded; of the block: */
    uint64_t whole;
    struct watch_warp {
        struct watch_text
            issues; /* cycles since the last one, instructions since it, why it waited */
        uint64_t at;
        int64_t inst;
        uint64_t waited[PREDICTOR_REASONS]; /* since the last issue */
        int n_issues;
        bool loads, multiplies;
    } warp[SASS_MAX_WARPS];
    struct watch_text operations, barriers, pipe;
    struct watch_set footprints;
    uint64_t busy_from[WATCH_UNITS], busy_to[WATCH_UNITS];
};
void watch_pipe_end(struct watch *w); /* the last stretches of the pipes */
