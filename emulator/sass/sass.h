/* SASS: what ptxas made of a kernel, decoded and executed warp by warp.
 *
 *   module    a cubin, decoded                          sass_open - sass_close
 *   kernel    its instructions, read-only               sass_find
 *   grid      one launch of a kernel                    sass_grid_open - sass_grid_close
 *   cta       a block: made when asked for, by index    sass_cta_begin - sass_cta_end
 *   warp      32 lanes: registers, places, barriers     sass_next, sass_step
 *
 * Values, addresses, branches and barriers are real; there is no time here. The predictor calls
 * sass_next() to see what a warp would issue, decides when, and calls sass_step(), which executes
 * that one instruction and says in struct sass_effect what it did. Results are in the registers
 * (and in memory) at once. The predictor decides when they would be there, from the instruction's
 * control bits.
 *
 * What reaches others is an event: an arrival at a barrier, bytes that an mbarrier counts. With
 * grid->deferred the step does not deliver its events but leaves them in the effect, and the predictor
 * calls sass_deliver() when they are due. A warp waits only for events, and for other warps:
 *
 *   instruction                         step does                      then the warp waits until
 *   BAR.SYNC id, n                      arrives (event), goes on       n threads have arrived
 *   UCGABAR_ARV                         arrives (event), goes on       -
 *   UCGABAR_WAIT                        nothing                        all of the cluster arrived
 *   SYNCS.PHASECHK..TRYWAIT             nothing                        the phase is complete
 *   USETMAXREG.TRY_ALLOC                nothing                        the CTA's pool has them
 *
 * "Does nothing": sass_step() returns SASS_WAIT, e says what for, and the warp stays where it is;
 * the same call later does the rest. After BAR.SYNC the warp's place is behind it and the calls
 * return SASS_WAIT (with e->inst the BAR) until the barrier is complete. What waits by scoreboard
 * (DEPBAR, WARPGROUP.DEPBAR, ACQBULK, the wait mask) never waits here. */
#pragma once

#include "emulator/emulator.h"
#include "work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sass_inst;
struct sass_warp;
struct sass_cta;
struct sass_grid;

enum {
    SASS_LANES = 32,
    SASS_MAX_WARPS = 32,
    SASS_BARRIERS = 16,
    SASS_RZ = 255,  /* register numbers as in the text: R0..R254, RZ */
    SASS_URZ = 63,  /* UR0..UR62, URZ */
    SASS_PT = 7,    /* P0..P6, PT; UP0..UP6, UPT */
    SASS_NONE = 255 /* of operand fields: there is none */
};

/* ---- Instructions ---------------------------------------------------------------------------- */

/* Which unit takes it; FMA and ALU as in timing tables for Hopper. */
/* clang-format off */
enum sass_pipe {
    SASS_PIPE_FMA,     /* FFMA FADD FMUL; IMAD and its moves, VIADD (op tells), HADD2 HFMA2 */
    SASS_PIPE_ALU,     /* IADD3 LOP3 SHF LEA PRMT SEL ISETP FSETP FMNMX FSEL MOV F2FP PLOP3 R2UR ELECT ... */
    SASS_PIPE_FP64,    /* DADD DMUL DFMA DSETP */
    SASS_PIPE_XU,      /* MUFU, I2F, F2I, REDUX */
    SASS_PIPE_TENSOR,  /* HMMA */
    SASS_PIPE_GMMA,    /* HGMMA */
    SASS_PIPE_LSU,     /* LDS STS LDG STG LDSM STSM LDGSTS atomics SHFL, LDC */
    SASS_PIPE_SYNC,    /* SYNCS, BAR, UCGABAR: barriers */
    SASS_PIPE_TMA,     /* UTMALDG UTMASTG UTMACCTL UTMACMDFLUSH */
    SASS_PIPE_UNIFORM, /* U...: the uniform data path; S2UR, ULDC, VOTEU */
    SASS_PIPE_BRANCH,  /* BRA BSSY BSYNC EXIT CALL RET BRX WARPSYNC ... */
    SASS_PIPE_NONE     /* NOP, DEPBAR, fences, YIELD: issue only */
};
/* clang-format on */

/* What the memory system sees of it. */
enum sass_memory {
    SASS_NO_MEMORY,
    SASS_LDS,
    SASS_STS,
    SASS_LDSM,
    SASS_STSM,
    SASS_LDG,
    SASS_STG,
    SASS_LDGSTS, /* reads global, writes shared */
    SASS_LDL,    /* local memory: the lanes' words lie side by side */
    SASS_STL,
    SASS_ATOMS, /* atomics on shared memory */
    SASS_ATOMG, /* with a result */
    SASS_REDG,  /* without */
    SASS_LDC,   /* constant bank */
    SASS_DSMEM, /* ST, LD, atomics by generic address that hit a CTA of the cluster */
    SASS_TMA_LOAD,
    SASS_TMA_STORE,
    SASS_HGMMA_OPERANDS
};

/* Which side of a branch is only for unusual operands, of those that data decide: sass_depends_on_data(). */
enum sass_unusual { SASS_USUAL, SASS_UNUSUAL_TAKEN, SASS_UNUSUAL_NEXT };

/* One operand's registers: n neighbours from `first`; n = 0: none. */
struct sass_span {
    uint8_t first, n;
};

enum { SASS_SOURCES = 4 };

/* The decoded instruction. `op` indexes sass_op_name(): one number for each mnemonic ("IMAD",
 * "LDS"), see SASS_OP_* in ops.h; modifiers are in sass_text(). */
struct sass_inst {
    /* from the control bits */
    uint8_t op;            /* enum sass_op */
    uint8_t pipe;          /* enum sass_pipe */
    uint8_t memory;        /* enum sass_memory */
    uint8_t bytes;         /* each lane moves: 1, 2, 4, 8, 16; 0 if not a memory instruction */
    uint8_t stall;         /* cycles until this warp issues again */
    uint8_t write_barrier; /* 0..5; 7: none */
    uint8_t read_barrier;
    uint8_t wait_mask;  /* bit b: wait until barrier b is 0 */
    uint8_t reuse;      /* bit s: source s stays in the operand cache */
    uint8_t guard;      /* predicate 0..7 */
    bool guard_not;     /* @!P */
    bool guard_uniform; /* @UP */
    bool yields;        /* the yield hint is set: another warp next */
    uint8_t p_written;  /* predicates written, bit p; PT never */
    uint8_t p_read;     /* read, the guard included */
    uint8_t up_written; /* the same of uniform predicates */
    uint8_t up_read;
    struct sass_span dst;               /* vector registers written */
    struct sass_span src[SASS_SOURCES]; /* and read: a, b, c in the order of the text */
    struct sass_span udst, usrc[3];     /* uniform registers */
    uint32_t pc;                        /* offset in the kernel, bytes: 16 * index */
    uint32_t target;                    /* of a direct branch; else 0 */
    uint8_t unusual;                    /* enum sass_unusual */
    /* execution's own */
    uint32_t exec; /* index in the kernel's table of operations (exec.h) */
};

/* Where an instruction comes from. */
struct sass_origin {
    const char *file; /* as the compiler was told; NULL: unknown */
    int line;         /* innermost */
    int kernel_line;  /* the innermost line of a .cu file that it was inlined into */
    int n_frames;
    const struct sass_frame *frame; /* innermost first: listing.h */
};

struct sass_kernel {
    const char *name;
    struct sass_module *module;
    int sm; /* 90 of sm_90a, 89 of Ada */
    int n_inst;
    const struct sass_inst *inst;     /* by pc / 16 */
    const struct sass_origin *origin; /* the same */
    const char *const *text;          /* "@P0 IADD3 R1, R2, 0x1, RZ", the same */
    int n_registers;                  /* per thread, as launched (from .nv.info or the header) */
    uint32_t static_shared;           /* bytes; dynamic shared memory follows */
    uint32_t local_bytes;             /* per thread */
    uint32_t param_base,
        param_bytes; /* where parameters begin in constant bank 0: 0x210, of Ada 0x160 */
    int max_threads; /* 0: not said */
    void *exec;      /* execution's own tables */
};

static inline bool sass_is_ada(const struct sass_kernel *k) { return k->sm == 89; }

struct sass_module;
/* Decodes a cubin with nvdisasm (.venv or PATH), or reads what an earlier call left in cache_dir
 * (NULL: no cache), whose names hold a hash of the cubin. NULL, or what is not understood: kernel,
 * address, instruction. */
const char *sass_open(const char *cubin_path, const char *cache_dir, struct sass_module **out);
/* The same for one kernel only; other kernels of the cubin are not decoded. Reasons name neither path nor kernel. */
const char *sass_open_kernel(const char *cubin_path, const char *cache_dir, const char *kernel,
                             struct sass_module **out);
void sass_close(struct sass_module *m);
const struct sass_kernel *sass_find(const struct sass_module *m, const char *kernel);
/* Can what it loads from global memory decide a branch, an address, or whether memory is accessed? If not, the kernel does
 * the same with any usual data. Branches to slow paths of the compiler's are marked as unusual then. */
bool sass_depends_on_data(const struct sass_kernel *k);
const char *sass_op_name(int op);
enum sass_pipe sass_op_pipe(int op);
/* From now on each FFMA with a negated addend rounds twice, like the mul.f32 and sub.f32 that ptxas
 * may have made it of: to show that nothing else differs from PTX. How many there are. */
int sass_unfuse(struct sass_module *m);

/* ---- Launches -------------------------------------------------------------------------------- */

enum {                          /* grid->deferred: events that a step leaves to the predictor */
       SASS_DEFER_TMA = 1,      /* bytes that TMA brings, counted by an mbarrier */
       SASS_DEFER_MBARRIER = 2, /* arrivals and expect_tx, SYNCS */
       SASS_DEFER_BAR = 4,      /* named barriers and cluster barriers */
       SASS_DEFER_ALL = 7
};

struct sass_undo;
struct sass_bank {
    const unsigned char *at; /* NULL: there is none */
    uint32_t bytes;
};

struct sass_grid {
    const struct sass_kernel *kernel;
    struct emu_memory *memory;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 1 x 1 x 1 without clusters */
    uint32_t shared_bytes;                  /* dynamic */
    uint64_t n_ctas;
    uint32_t cluster_size;
    int cc; /* the kernel's sm */
    unsigned deferred;
    uint64_t
        unwritten; /* what registers and shared memory hold that nobody has written: NaN; the caller may draw it */
    bool unknown_data;  /* what it loads means nothing: unusual branches go the usual way */
    bool rough;         /* products need not be exact to the bit */
    bool (*stop)(void); /* sass_run() asks now and then whether to end; may be NULL */
    uint64_t most_work; /* sass_run() ends with a reason when counts have more work; 0: no limit */
    int n_threads;      /* of the host, for sass_run(); 0: one */
    /* Tile counters and the like: called in place of an atomic on global memory if not NULL; *value
     * is the operand, to be replaced by the old value. False: do the atomic as it is. */
    bool (*atomic)(void *user, struct sass_warp *w, const struct sass_inst *i, int lane,
                   uint64_t address, uint32_t *value);
    void *user;
    unsigned char *bank; /* constant bank 0 */
    uint32_t bank_bytes;
    struct sass_bank variables, addresses; /* constant banks 3 and 4: sass_grid_variables() */
    struct sass_undo *undo; /* NULL: what is stored stays; else it is the caller's (undo.h) */
    void *own;              /* execution's own */
};

/* `launch` as emulator.h describes it. NULL, or why it is impossible. */
const char *sass_grid_open(struct emu_memory *m, const struct sass_kernel *k,
                           const struct emu_grid *launch, struct sass_grid **out);
void sass_grid_close(struct sass_grid *g);
/* Constant bank 3, which holds __constant__ variables as they are now, and bank 4, which holds where
 * other variables are: `find` knows a variable by its symbol. Without it a kernel that reads them stops. */
const char *sass_grid_variables(struct sass_grid *g, void *user,
                                bool (*find)(void *user, const char *name, uint64_t *address,
                                             uint64_t *bytes));

/* The CTA with this linear index (x fastest). CTAs of one cluster must all be begun before any of
 * them steps: sass_cluster_begin() makes them together, out[rank], in the order of rank. */
const char *sass_cta_begin(struct sass_grid *g, uint64_t linear, struct sass_cta **out);
const char *sass_cluster_begin(struct sass_grid *g, uint64_t cluster, struct sass_cta **out);
void sass_cta_end(struct sass_cta *c); /* any time; of a cluster: when all have ended */

int sass_cta_warps(const struct sass_cta *c);
struct sass_warp *sass_cta_warp(struct sass_cta *c, int index);
bool sass_cta_done(const struct sass_cta *c); /* all warps have exited */

/* ---- Steps ----------------------------------------------------------------------------------- */

enum sass_status {
    SASS_ISSUED, /* one instruction was executed */
    SASS_WAIT,   /* nothing was: see the head of this file and e->wait */
    SASS_EXITED, /* the warp has no lanes left (nothing was executed) */
    SASS_FAULT   /* it cannot go on: sass_fault() says why */
};

enum sass_wait_kind {
    SASS_WAIT_NONE,
    SASS_WAIT_BAR,      /* e->inst: the BAR */
    SASS_WAIT_CLUSTER,  /* UCGABAR_WAIT */
    SASS_WAIT_MBARRIER, /* TRYWAIT: e->event[0].cta and address say which */
    SASS_WAIT_REGISTERS /* USETMAXREG.TRY_ALLOC */
};

enum sass_event_kind {
    SASS_EVENT_BAR,      /* `count` threads arrive at named barrier `id`, which awaits `expected` */
    SASS_EVENT_CLUSTER,  /* `count` threads arrive at the cluster barrier */
    SASS_EVENT_ARRIVE,   /* `count` arrivals at the mbarrier, `bytes` (may be 0) to expect */
    SASS_EVENT_COMPLETE, /* `bytes` have come: TMA, st.async */
};
/* To be delivered once; a value, to be copied and kept freely until the cluster ends. */
struct sass_event {
    uint8_t kind; /* enum sass_event_kind */
    uint8_t id;
    bool is_tma;          /* COMPLETE: of a TMA load (else of a store to another CTA) */
    struct sass_cta *cta; /* whose barrier */
    struct sass_warp *by; /* BAR, CLUSTER: who arrives */
    bool waits;           /* BAR: and waits */
    uint8_t yes, lanes;   /* BAR.RED: how many of the warp's lanes say yes */
    uint32_t address;     /* of the mbarrier in its shared memory */
    uint32_t count, expected;
    uint32_t bytes;
};
/* What an mbarrier of the CTA's shared memory holds. */
struct sass_mbarrier {
    uint32_t expected, pending, phase; /* arrivals of a phase; still to come; 0 or 1 */
    int32_t tx;                        /* bytes still to come */
};
struct sass_mbarrier sass_mbarrier(const struct sass_cta *c, uint32_t address);
/* In any order, but a warp's BARs and CLUSTERs in the order in which they were issued. */
void sass_deliver(const struct sass_event *event);

enum { SASS_EVENTS = 32 };
struct sass_effect {
    const struct sass_inst *inst; /* executed (or waiting) */
    struct sass_warp *warp;
    uint32_t active;     /* lanes that ran: the guard is applied; 0: switched off by its guard */
    uint32_t group;      /* lanes at this place, whatever the guard says */
    uint32_t next_pc;    /* where the warp goes on (its running lanes, after a divergence) */
    bool taken;          /* a branch that moved some lane elsewhere than to the next address */
    bool diverged;       /* and left lanes behind */
    bool waits;          /* BAR.SYNC: the warp now waits */
    uint8_t wait;        /* enum sass_wait_kind, with SASS_WAIT */
    uint8_t n_events;    /* with SASS_ISSUED: to deliver (deferred ones) or delivered already */
    bool deferred;       /* the caller delivers them */
    uint8_t memory;      /* enum sass_memory, after resolving generic addresses */
    uint32_t shared[32]; /* LDS STS LDSM STSM LDGSTS: byte address of each active lane; of LDSM and
                            STSM the rows */
    uint64_t global[32]; /* LDG STG LDGSTS atomics: byte address of each active lane */
    uint16_t prints;     /* a call of vprintf: 1 + the characters of its format */
    uint8_t constants;   /* LDC: places that its lanes read; 0: one, or no LDC */
    uint32_t sleeps; /* NANOSLEEP: the ns that its lanes ask for, at most a millisecond; else 0 */
    uint32_t reads;  /* LDGSTS: the lanes that read; the others fill with zeros */
    struct {         /* TMA */
        uint32_t bytes;  /* of the box, as the mbarrier counts them */
        uint32_t shared; /* its address */
        int32_t coordinate[5];
        int rank;
        const void *map; /* host address of the 128-byte tensor map; tensormap_decode() it */
    } tma;
    struct { /* HGMMA */
        uint16_t n, k;
        bool a_in_registers, ends_group; /* gsb0 */
        bool a_mn_major, b_mn_major;     /* transposed: rows of 16 bytes along m or n */
        uint64_t a, b;                   /* descriptors */
    } gmma;
    struct sass_event event[SASS_EVENTS];
};

/* What the warp would execute next; NULL: exited. A warp behind a BAR.SYNC that waits still says
 * what comes after it: ask sass_waits(). */
const struct sass_inst *sass_next(const struct sass_warp *w);
/* Would sass_step() return SASS_WAIT? */
enum sass_wait_kind sass_waits(const struct sass_warp *w);
/* e may be NULL if its content is not needed; then nothing may be deferred. */
enum sass_status sass_step(struct sass_warp *w, struct sass_effect *e);

int sass_warp_index(const struct sass_warp *w);
const char *sass_fault(const struct sass_warp *w); /* after SASS_FAULT */

/* ---- What a memory instruction costs, from its effect -------------------------------------------
 * (asked for, not always computed) */

/* Wavefronts of shared memory, and how few they would be without bank conflicts. */
uint32_t sass_wavefronts(const struct sass_effect *e, uint32_t *ideal);
/* How often a load of global or local memory that finds all in L1 passes its banks, which are those of shared memory. */
uint32_t sass_l1_wavefronts(const struct sass_effect *e);
/* Distinct 32-byte sectors of global memory, as addresses / 32, in the order of lanes; at most 64.
 * Those of a TMA box: sass_tma_rows(). */
uint32_t sass_sectors(const struct sass_effect *e, uint64_t sector[64]);
/* How few they would be if its bytes lay side by side. */
uint32_t sass_sectors_ideal(const struct sass_effect *e);
/* Rows of a TMA box: `each` is called for the bytes [global, global + bytes) of each row that lies
 * in the tensor. */
void sass_tma_rows(const struct sass_effect *e, void *user,
                   void (*each)(void *user, uint64_t global, uint32_t bytes));

/* ---- Running without the predictor ----------------------------------------------------------- */

/* Counts of a whole launch, by mnemonic and by what the hardware counts. */
enum { SASS_MEMORIES = SASS_HGMMA_OPERANDS + 1 };
struct sass_counts {
    uint64_t instructions;
    uint64_t threads; /* lanes that were at them, whatever their guards said */
    uint64_t work;    /* work.h */
    uint64_t op[256]; /* by sass_inst.op */
    struct sass_access {
        uint64_t n; /* with at least one lane */
        uint64_t wavefronts, wavefronts_ideal, sectors, sectors_ideal;
    } access[SASS_MEMORIES]; /* by enum sass_memory */
};
/* Runs all CTAs, cluster after cluster, warps in turn. Clusters go to several host threads if the kernel
 * has no atomics on global memory. `counts` may be NULL; it is added to. A warp that looks again and again
 * at what others have not written yet ends the run with a reason, because how often it looks depends on time. */
const char *sass_run(struct sass_grid *g, struct sass_counts *counts);

/* The i-th of the counts in the words of profiler/groups; false past the last. */
struct sass_counted {
    const char *name, *unit;
    double value;
};
bool sass_counted(const struct sass_counts *c, int i, struct sass_counted *out);
