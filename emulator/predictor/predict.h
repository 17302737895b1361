/* Predicts what a launch takes: cycles, stalls, use of the pipes. Some SMs are simulated; the others are taken
 * to behave like them. */
#pragma once

#include "predictor_chip.h"
#include "front.h"
#include "sm.h"

/* An allocation that a launch touches. */
struct prediction_range {
    uint64_t begin;
    double bytes;    /* touched */
    bool is_written; /* some of it */
    bool is_read;    /* some of it, before the launch stored anything there */
};
enum { PREDICTION_RANGES = 64 };

/* Work of one second of a host's core, about: budgets in seconds are this many instructions each, so that a busy host
 * predicts the same. */
enum { PREDICTOR_WORK_A_SECOND = 2000000 };

struct prediction {
    double elapsed; /* cycles from launch to end, counted by the SM whose clock is highest:
                       sm__cycles_elapsed.max */
    double boost;   /* the same time in cycles of the boost clock (gpc.h) */
    double active;  /* cycles with a warp on the SM, mean over all SMs: sm__cycles_active.avg */
    double issue_active_pct, tensor_active_pct;
    double warps; /* resident, mean over active cycles */
    double occupancy_pct;
    double stall[PREDICTOR_REASONS]; /* warps in that state, by instruction issued */
    double instructions;             /* of the launch */
    double wavefronts, sectors, l2_sectors;
    int ctas_per_sm;
    double host_seconds;
    double work;      /* that simulating took, in instructions (predict.c) */
    double done;      /* the share of its clusters that the simulated SMs got through: 1, or less
                         where the launch was too long, or was stopped; the rest was extrapolated */
    double simulated; /* the share of the launch that was simulated */
    bool prints;      /* some thread calls vprintf */
    struct prediction_range range[PREDICTION_RANGES];
    int n_ranges;
    /* Warp cycles of the launch by instruction (pc / 16) and reason; prediction_close() */
    double (*by_inst)[PREDICTOR_REASONS];
};
void prediction_close(struct prediction *p);

/* What a warp of the first CTA simulated did in cycles [from, to): a timeline. */
typedef void predictor_span(void *user, int warp, uint32_t pc, int reason, uint64_t from,
                            uint64_t to);
/* A warp of that CTA has waited `cycles` at pc for an event; `by`: the warp that sent it, -1: TMA, -2: a
 * warp of another CTA. */
typedef void predictor_woke(void *user, int warp, int by, uint32_t pc, uint64_t cycles);
/* A pipe of that CTA's SM works: unit PREDICTOR_UNIT_TENSOR (HMMA) or _XU of a sub-core, _GMMA of all. */
typedef void predictor_busy(void *user, int smsp, int unit, uint64_t from, uint64_t to);
/* A warp of that CTA has executed an instruction at cycle `at`, or an event has reached one of its barriers. */
typedef void predictor_executed(void *user, int warp, const struct sass_effect *e, uint64_t at);
typedef void predictor_delivered(void *user, const struct sass_event *e, uint64_t at);
/* What L2 holds when the launch begins. */
enum predictor_cache {
    PREDICTOR_WARM,   /* what the same launch before has left there */
    PREDICTOR_COLD,   /* nothing of its data, and nothing that has to go to DRAM first */
    PREDICTOR_FLUSHED /* nothing of its data, but what a memset larger than L2 has written */
};
struct predictor_options {
    enum predictor_cache cache;
    double mhz;        /* SM clock, for what memory does in ns */
    bool prints_first; /* no launch of the process has printed: vprintf's code comes from memory */
    bool is_first;     /* the process has run nothing before: code and constants come from memory */
    bool unknown_data; /* no launch has computed some of what it reads (sass_depends_on_data) */
    bool is_full;      /* simulate every CTA of the launch, however long that takes */
    int places; /* 0: as many as the budget allows; else at most so many, with a fifth of it */
    double
        budget; /* work, in instructions (predict.c), up to which many places are simulated; 0: 80e6 */
    double
        limit; /* work after which a prediction ends with what it knows, and fails if no cluster had ended; 0: none */
    unsigned fast;                  /* enum predictor_fast */
    predictor_span *span;           /* may be NULL */
    predictor_woke *woke;           /* may be NULL */
    predictor_busy *busy;           /* may be NULL */
    predictor_executed *executed;   /* may be NULL */
    predictor_delivered *delivered; /* may be NULL */
    bool
        tells_probe; /* the hooks above are told of the first, rough simulation: of what ends in a deadlock there is no other */
    /* Bytes touched since a mean byte of the allocation that begins there was, without the launch's own; INFINITY: L2
     * has none of it. NULL: `cache` says it for all. */
    double (*distance)(void *user, uint64_t begin);
    /* Bytes that the host has copied since the last launch, if it alone has filled the allocation that begins there; else 0.
     * NULL: it copied nothing. */
    double (*copied)(void *user, uint64_t begin);
    /* Bytes of memory that the process has touched so far: L2 with room takes all copies. */
    double filled;
    void *user;
    void (*progress)(void *progress_user, double share); /* now and then; may be NULL */
    void *progress_user;
    bool (*stop)(void *user); /* asked by several threads; true: end with what is known */
};

extern const struct predictor_front predictor_sass; /* sass.h itself */

/* How many CTAs of the launch an SM holds at once. */
int predictor_ctas_per_sm(const struct predictor_chip *c, const struct sass_kernel *k,
                          uint32_t threads, uint32_t dynamic_shared);

/* The share of a footprint of `bytes`, of which some are written, that L2 has lost when the next launch reads it. It is
 * smaller if the same SM reads a line again, because L2 keeps a line twice where SMs of both its halves read it
 * (microbenchmark footprint). A written line is kept once (J). */
double predictor_lost(const struct predictor_chip *c, double bytes, double written, bool same_sm);

/* The share of data copied from the host that L2 lacks, if so many bytes were copied. L2 that is full of other data takes a part
 * (microbenchmark habits, vectors, behind 768 MiB of memset). While all bytes that the process has touched, `filled`, fit L2,
 * copies replace nothing and stay (fresh, copy: in a new process DRAM reads 0.04 of 16 MiB). */
double predictor_copied(const struct predictor_chip *c, double bytes, double filled);

/* Bytes that the sectors touched by one place take in L2. It keeps a place for the whole line: where single sectors are
 * touched here and there, nothing else of their lines is used (microbenchmark patterns, gather). Where a line has two or
 * more, other places use the rest. */
double predictor_kept(double sectors, double lines);

/* DRAM's time for each sector that is asked for, as a multiple of a sector's in a stream. DRAM gives two sectors at once, and
 * single pairs here and there take longer than neighbours (microbenchmark habits, strided). */
double predictor_fetched(const struct predictor_chip *c, double sectors, double pairs,
                         double lines);

/* Predicts the launch of a grid just opened. It executes some of its CTAs, which changes memory as they
 * do. */
const char *predict_launch(const struct predictor_chip *c, struct sass_grid *g,
                           const struct predictor_options *o, struct prediction *out);
