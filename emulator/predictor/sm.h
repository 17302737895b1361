/* One or more SMs, simulated cycle by cycle. An SM has four sub-cores (SMSP); warp w of a CTA runs
 * on sub-core w % 4, or where there is room. It issues in order, when all of this holds:
 *
 *   ready       its stall count has passed
 *   fetched     its instruction lies in the L0 cache
 *   scoreboard  the counters in its wait mask are 0
 *   unit        a pipe or queue takes the instruction
 *
 * Units are not simulated cycle by cycle: each is represented by the cycle from which it is free.
 * Later effects of an instruction (a counter falls, an arrival is delivered) are events in a wheel
 * (wheel.h). */
#pragma once

#include "predictor_chip.h"
#include "front.h"
#include "op.h"
#include "wheel.h"

enum { SM_SMSPS = 4, SM_SLOTS = 16, SM_WARPS = SM_SMSPS * SM_SLOTS, SM_CTAS = 32 };
enum { SM_SLOTS_AHEAD = 2048 };
/* A resource that serves one request a cycle: cycle t is taken if taken[t % n] == t. */
struct sm_slots {
    uint64_t taken[SM_SLOTS_AHEAD];
};

enum { SM_PRODUCTS = 256 };
enum { SM_FIRST_CODE = 256 };
enum { SM_COUNTERS = 6, SM_RING = 64, SM_LINE_BYTES = 128, SM_CODE_LINES = 512 };
/* Lines of an instruction cache. */
struct sm_lines {
    int32_t tag[SM_CODE_LINES]; /* line numbers; -1: none */
    uint64_t at[SM_CODE_LINES]; /* when the line is there */
    uint64_t used[SM_CODE_LINES];
};

/* What a warp does in a cycle, by ncu's names of stall reasons. */
enum predictor_reason {
    PREDICTOR_SELECTED,
    PREDICTOR_NOT_SELECTED,
    PREDICTOR_WAIT,
    PREDICTOR_LONG_SCOREBOARD,
    PREDICTOR_SHORT_SCOREBOARD,
    PREDICTOR_MATH_PIPE,
    PREDICTOR_MIO_THROTTLE,
    PREDICTOR_LG_THROTTLE,
    PREDICTOR_BARRIER,
    PREDICTOR_BRANCH,
    PREDICTOR_DISPATCH,
    PREDICTOR_NO_INSTRUCTION,
    PREDICTOR_MEMBAR_REASON,
    PREDICTOR_GMMA,
    PREDICTOR_SLEEPING,
    PREDICTOR_DRAIN, /* at its end, until its last stores have left the SM */
    PREDICTOR_REASONS
};
extern const char *const predictor_reason_name[PREDICTOR_REASONS];

/* A product that was issued to the tensor cores. */
struct sm_product {
    struct sm_group *group;
    uint32_t k; /* the group's k-th */
    uint16_t n; /* columns */
    bool a_in_registers, ends_group;
};

/* The HGMMAs of one warpgroup: the k-th starts when all four warps have issued theirs. */
struct sm_group {
    uint32_t issued[4];             /* by warp */
    uint64_t last[SM_RING];         /* of the k-th: when the last warp so far issued it */
    uint64_t start[SM_RING];        /* of the first `started` */
    uint64_t group_finish[SM_RING]; /* of the g-th group (gsb0) */
    uint32_t started;               /* how many have begun */
    uint32_t groups;                /* of those, how many ended a group */
};

struct sm;
struct sm_cta {
    struct sass_cta *cta;
    struct sm *sm;
    uint64_t began;
    uint32_t number;   /* in the order in which they were placed */
    int n_warps, left; /* warps; not exited yet */
    uint64_t issued;   /* instructions */
    struct sm_group group[SASS_MAX_WARPS / 4];
};

struct sm_warp {
    struct sass_warp *warp;
    struct sm_cta *cta;
    const struct sass_inst *inst; /* next; NULL: exited */
    const struct predictor_op *op;
    uint64_t ready, fetched; /* earliest issue by stall count; by branch and cache */
    uint64_t check;          /* it need not be looked at before */
    uint64_t since;          /* when the reason began */
    uint64_t age;            /* larger: younger */
    uint64_t issued;         /* when last */
    uint64_t tried;          /* when it began to wait for an mbarrier */
    uint64_t copied;         /* when the last LDGSTS so far will have ended */
    uint64_t slept;          /* up to when it sleeps */
    uint64_t data;           /* its next wavefront passes no earlier */
    uint64_t stored;         /* when the last of its global stores will have ended */
    uint64_t answered;       /* when the last of its loads, atomics and copies will have */
    uint32_t groups;         /* HGMMA groups ended (gsb0 issued) */
    int32_t l0_line;
    uint8_t index; /* in the CTA */
    uint8_t smsp, slot;
    uint8_t reason;
    uint8_t fetch_reason;
    bool waits;   /* for an event: nothing to check until one comes */
    bool stalled; /* by the stall count of what it issued last */
    bool woken;   /* a TRYWAIT whose phase ended while it waited */
    uint8_t counter[SM_COUNTERS];
    uint16_t late[SM_COUNTERS]; /* cycles by which HMMAs delay what lowers it next */
    bool is_long[SM_COUNTERS];  /* a wait for it counts as long_scoreboard, else as short */
};

/* An instruction in the MIO queue: it leaves when its registers are read, two cycles each. */
struct sm_queued {
    uint64_t leaves;
    uint8_t interval;   /* cycles of the registers' ports */
    uint8_t slot;       /* of its warp */
    uint8_t barrier[2]; /* counters that it lowers */
};

struct smsp {
    struct sm_warp warp[SM_SLOTS];
    uint64_t look;                   /* it need not be looked at before, unless an event comes */
    uint32_t live;                   /* bit: slot in use */
    int picked;                      /* slot that was chosen while dispatch was blocked; -1: none */
    int last;                        /* slot that issued last; -1: it has lost its priority */
    uint64_t hold;                   /* register ports block dispatch until then */
    const struct sm_cta *multiplied; /* the CTA that issued the last HMMA */
    uint64_t free[PREDICTOR_UNITS];
    bool was_lite;             /* the half of FMA that was used last */
    uint64_t port[2];          /* until when each register bank is being read */
    uint64_t hmma_at, read_at; /* the last HMMA; the last FMA or ALU instruction behind it */
    int n_since, reads_since;  /* how many those are; the most that one reads of a bank */
    bool fma_since;            /* one of them is FMA's */
    uint64_t mio_free;         /* the queue's next can leave */
    uint64_t xu_free;
    uint64_t xu[SM_RING];  /* when the last ones left the pipe */
    uint64_t lsu[SM_RING]; /* when the data of the last ones had passed */
    uint32_t n_xu, n_lsu;
    struct sm_queued mio[SM_RING]; /* the last ones */
    uint64_t lg[SM_RING];          /* when the last global accesses left their queue */
    uint32_t n_mio, n_lg;
    double debt;        /* part of a cycle that HGMMAs have cost and that is not yet taken */
    double beside;      /* buffered reads of a bank beside an HGMMA */
    uint64_t beside_at; /* when the last of them was */
    int beside_slot;    /* the slot of its warp */
    bool was_half_rate; /* it was ALU, IMAD or HADD2 */
    uint64_t tensor_cycles, issued;
    struct sm_lines l0;
};

struct sm_line { /* of L1 data */
    uint64_t tag, used;
    uint64_t there;   /* when the last requested sector arrives */
    uint32_t sectors; /* bits */
};
enum { SM_L1_WAYS = 16, SM_L1_SETS = 128 };

struct sm {
    struct smsp smsp[SM_SMSPS];
    struct sm_cta cta[SM_CTAS];
    uint64_t look; /* the least `look` of its sub-cores */
    uint32_t ctas; /* bits */
    int n_warps;
    struct sm_slots mio, data, s2r, ldc;      /* leaving the queues; the data path; S2R; LDC */
    struct sm_product gmma_next[SM_PRODUCTS]; /* in the order in which they were issued */
    int n_gmma_next;
    const struct sm_group *gmma_owner; /* the group of HGMMAs that has begun and not ended */
    double gmma_n,
        gmma_debt;       /* columns of the HGMMA booked last; part of a cycle that it is late */
    uint64_t gmma_began; /* the HGMMA booked last, or those before it without a gap */
    double copy_debt;    /* part of a cycle of the data path */
    uint64_t bar_free;   /* barrier arrivals */
    uint64_t l2_free, dram_free, write_free, tma_free, gmma_free, dsm_free;
    double constants_free;    /* its constant cache, of LDCs to several places */
    uint64_t constant_at[64]; /* when a line of constants is there; 0: never asked for */
    const void *map[8];       /* tensor maps that TMA knows */
    struct sm_lines l1;       /* of instructions */
    uint64_t code_at
        [SM_FIRST_CODE]; /* when a piece of a new kernel's code is there; 0: never asked for */
    double l15_free;     /* when the next line that L1 lacks can be requested */
    struct sm_line line[SM_L1_SETS][SM_L1_WAYS];
    int n_ways;         /* ways of L1 that shared memory leaves */
    uint64_t n_lines;   /* lines requested from L2 */
    double atomic_free; /* the way out of atomics */
    uint64_t
        walked; /* in a process's first launch: when its first access knows where memory is; 0: none yet */
    uint64_t active_since, active, warp_cycles, gmma_cycles;
};

/* A slice of L2 that atomics want, by the memory that it holds. */
struct machine_queue {
    uint64_t number;
    double free;
    int sm; /* the first that wanted it */
    bool is_shared;
};
enum { MACHINE_QUEUES = 1024 };

/* A line of L2 that SMs store to. */
struct machine_line {
    struct machine_queue queue;
    double stores;
    bool was_store;
};

/* Counts of the SMs together. */
struct predictor_counts {
    uint64_t issued, wavefronts, sectors, l2_sectors;
    uint64_t reason[PREDICTOR_REASONS]; /* warp cycles */
    uint64_t (*by_inst)[PREDICTOR_REASONS];
};

struct machine {
    const struct predictor_chip *chip;
    const struct predictor_front *front;
    const struct sass_kernel *kernel;
    struct predictor_op *ops;
    struct wheel wheel;
    struct sm *sm;
    int n_sms;          /* simulated */
    int cluster_size;   /* SMs of a cluster, which follow each other; else n_sms */
    double part;        /* simulated of busy */
    double mhz;         /* for instructions that count time */
    double start;       /* before the first product, of the rates below */
    bool multiplies;    /* tensor cores have begun */
    bool is_first;      /* the kernel's code is in no cache yet */
    bool prints_first;  /* nor is vprintf's */
    uint64_t printed;   /* when the first vprintf has returned; 0: none was called */
    double printf_free; /* when the buffer of vprintf takes the next lane's values */
    double l2_rate, tma_rate, dram_rate; /* bytes a cycle of those simulated; tma_rate: L2 to TMA */
    double l2_free, dram_free;           /* when all requests so far will have passed */
    double dram_load;                    /* recently busy cycles */
    uint64_t dram_seen;                  /* when dram_load was computed */
    double write_rate, write_free;       /* rate and free time from SMs to L2 */
    uint64_t writes_since;               /* when the present run of writes without a pause began */
    bool is_whole;                       /* all busy SMs are simulated, with one round of CTAs */
    double
        write_back; /* for each byte that comes to L2: bytes of DRAM time for written lines that make room */
    double written_lost; /* the share of written bytes that L2 does not keep */
    double atomic_free;  /* L2's atomics */
    struct machine_queue queue[MACHINE_QUEUES]; /* by its number */
    struct machine_line hot[MACHINE_QUEUES];    /* by its number */
    uint64_t now;
    uint32_t n_placed, asking; /* CTAs so far; the one whose instruction is looked at, */
    int asking_sm;             /* and its SM */
    struct predictor_counts counts;
    const char *why; /* of a fault */
    /* a CTA has ended: its place is free at m->now */
    void (*ended)(void *user, struct machine *m, struct sm_cta *cta);
    void *user;
    /* The share of a sector that comes from, or goes to, DRAM; NULL: all is in L2. */
    double (*dram_part)(void *user, uint64_t sector, bool is_written);
    bool (*stop)(void *user); /* asked now and then whether to stop; NULL: never */
    bool stopped;
    unsigned fast; /* enum predictor_fast: limits that are taken away, to see what they cost */
    /* The wait of a warp has ended. `by` is the warp that ended it; NULL: TMA. A warp that has exited is not given. */
    void (*woke)(void *user, const struct sm_warp *w, const struct sm_warp *by);
    /* A pipe works in cycles [from, to): PREDICTOR_UNIT_TENSOR or _XU of a sub-core, or all of _GMMA. */
    void (*busy)(void *user, const struct sm *s, int smsp, int unit, uint64_t from, uint64_t to);
    /* A warp has executed an instruction, or an event has reached its barrier, at m->now; may be NULL. */
    void (*executed)(void *user, const struct sm_warp *w, const struct sass_effect *e);
    void (*delivered)(void *user, const struct sass_event *e);
    /* What a warp did in cycles [from, to), in order for each warp; may be NULL. */
    void (*span)(void *user, const struct sm_warp *w, int reason, uint64_t from, uint64_t to);
};

/* Limits that no parameter of a chip stands for. */
enum predictor_fast {
    PREDICTOR_FAST_TENSOR = 1, /* products of WGMMA take no time */
    PREDICTOR_FAST_ISSUE = 2,  /* a sub-core issues one instruction of each warp a cycle */
    PREDICTOR_FAST_SHARED = 4, /* shared memory serves all wavefronts at once */
    PREDICTOR_FAST_FIXED = 8   /* no stall counts: every result is there in the next cycle */
};

enum machine_event {
    MACHINE_COUNTER, /* who: warp; barrier */
    MACHINE_DELIVER, /* data: struct sass_event, to be freed */
    MACHINE_TENSOR,  /* data: struct sm whose tensor cores are free */
    MACHINE_BEGIN    /* who: sm_cta, its first issue */
};

void machine_open(struct machine *m, const struct predictor_chip *c,
                  const struct predictor_front *front, const struct sass_kernel *k, int n_sms);
void machine_close(struct machine *m);
/* Puts a CTA on an SM; its warps issue from `at` on. */
void machine_place(struct machine *m, int sm, struct sass_cta *cta, int n_warps, uint64_t at);
/* Runs until nothing is left or something is wrong: m->why. */
void machine_run(struct machine *m);
/* After machine_run() has stopped, before any CTA ended: executes what is left of one cluster of SM 0, without time.
 * How many instructions that was; -1: it did not end within `most`. Each is also added to `by_inst`, by its place in the
 * kernel. The grid must defer no events from now on. */
double machine_skip(struct machine *m, double most, double *by_inst);

/* ---- Between the files of this folder --------------------------------------------------------- */

/* Does another SM than its first want the queue, too? */
bool machine_shares(const struct machine *m, struct machine_queue *queue, const struct sm *s);
/* When the queue has served one more for `serves` cycles, as one of `others`: so many SMs of the chip do the same. */
double machine_served(struct machine_queue *queue, double at, double serves, double others);
static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
void machine_event(struct machine *m, uint64_t at, int kind, int barrier, void *who, void *data);
void machine_reason(struct machine *m, struct sm_warp *w, int reason, uint64_t t);
/* Memory (memory_path.c): times at which results are there (*done) and sources are read (*read). */
struct sm_access {
    uint64_t done, read;
};
uint64_t sm_mio(struct machine *m, struct sm *s, struct smsp *p, const struct sm_warp *w);
uint64_t sm_mio_lets_hmma(const struct machine *m, const struct smsp *p);
void sm_mio_hmma(struct machine *m, struct smsp *p);
uint64_t sm_slot(struct sm_slots *s, uint64_t at);
uint64_t sm_xu(struct machine *m, struct smsp *p, const struct predictor_op *o);
uint64_t sm_xu_room(const struct machine *m, const struct smsp *p);
uint64_t sm_mio_room(const struct machine *m, const struct smsp *p);
uint64_t sm_lg_room(const struct machine *m, const struct smsp *p);
struct sm_access sm_shared(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e);
struct sm_access sm_global(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e);
/* When memory's place is known for an access that begins at `at`. */
uint64_t sm_walk(const struct machine *m, struct sm *s, uint64_t at);
/* The same of atomics on global memory (atomic_path.c). */
struct sm_access sm_atomic(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e);
uint64_t sm_tma(struct machine *m, struct sm *s, const struct sass_effect *e, uint64_t at);
double sm_spread(uint64_t n); /* a random number from -1 to 1, always the same for the same n */
/* Instructions (fetch.c): when the warp's next instruction is there. */
uint64_t sm_fetch(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w, uint32_t pc,
                  uint64_t t);
/* HGMMA (gmma.c) */
void sm_gmma_issue(struct machine *m, struct sm *s, struct sm_warp *w, const struct sass_effect *e);
void sm_gmma_go_on(struct machine *m, struct sm *s); /* when the tensor cores may be free */
uint64_t sm_gmma_room(const struct machine *m, const struct sm_warp *w);
uint64_t sm_gmma_done(const struct machine *m, const struct sm_warp *w, int left);
