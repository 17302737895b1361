/* What launches would take on the chip, predicted from the SASS that ptxas makes of their kernels
 * (common/device/predictor.h). Of a kernel the first launch with each grid, block and amount of shared
 * memory is predicted; those like it are taken to take as long. */
#pragma once

#include "session.h"

#include "common/device/counter.h"
#include "emulator/predictor/predict.h"

/* What launches of one prediction have in common. With --predict-only their arguments are the same, too. */
struct prediction_shape {
    unsigned grid[3], block[3], cluster[3], shared_bytes;
    int cache;          /* enum predictor_cache */
    uint64_t arguments; /* a hash of them; 0: any */
    bool is_first;      /* the process has run nothing before it */
    bool prints_first;  /* it is the first of the process that prints */
    bool is_changed;    /* the host has changed data since that it touches */
    bool is_unknown;    /* its data depends on a launch that did not run (stale.h) */
    double distance[PREDICTION_RANGES]; /* of the allocations that it touches, in L2 (l2.h) */
    double copied[PREDICTION_RANGES];   /* bytes copied from the host to them alone (l2.h) */
    double filled;                      /* bytes that the process had touched (l2.h) */
};

/* Before the launch, whose memory stays as it is: its number among the kernel's predictions. */
int predictions_make(struct session *s, struct kernel *k, const struct emu_grid *g);

/* The host writes data of the allocation that begins there: `new` in place of `old`; old is NULL if they are known to
 * differ. If they do, a later launch that does what data says is not like earlier ones. They are compared only if a launch
 * has touched the allocation. */
void predictions_changed(struct session *s, uint64_t begin, const void *old, const void *new,
                         size_t bytes);

/* Notes as unknown what the launch writes that was predicted as this number. False: the prediction doesn't say. */
bool predictions_unknown(struct session *s, const struct kernel *k, int number, int launch);

/* How many numbers there are; the shape of one; how many launches have it. */
int predictions_count(const struct kernel *k);
/* What L2 held: "warm", "cold", or "flushed" by a memset. */
const char *prediction_cache(const struct prediction_shape *s);
const struct prediction_shape *prediction_shape(const struct kernel *k, int number);
int predictions_launches(const struct kernel *k, int number);
/* Predicted instructions of a launch of this number; 0: it was not predicted. */
double predictions_instructions(const struct kernel *k, int number);
/* Why some launches, or all, were not predicted; NULL: all were. */
const char *predictions_missing(const struct kernel *k);
/* The launch that was not predicted has failed a check: that is the reason which is told. */
void predictions_failed(struct kernel *k);

/* Values of predictor_values(), of one number or (-1) of all launches that were predicted. NULL, or why
 * there are none. */
const char *predictions_values(const struct kernel *k, int number, struct counters *out);
/* The same under the names of CYCLES, TENSOR, OCCUPANCY and STALL. */
const char *predictions_named(const struct kernel *k, int number, struct counters *out);

/* Adds SASS, cycles and stalls to what emu_source_of() wrote; or, in `about`, why not. */
struct source;
void predictions_source(const struct session *s, const struct kernel *k, struct source *out);
