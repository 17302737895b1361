/* The inside of SASS execution: what decoder, handlers and stepping share.
 *
 * A warp's row file: 32 lanes of 4 bytes for each register, found by a byte offset. Uniform
 * registers and immediates are rows too (every lane the same), so that a handler is one loop over
 * 32 lanes and never asks what kind of operand it has; instructions of the uniform data path are
 * the same handlers on all lanes.
 *
 *   R0 .. R254 | 4 rows of zeros: RZ, URZ | 4 rows that are never read | UR0 .. UR62 | immediates
 *
 * Predicates are masks, bit l = lane l; uniform ones are 0 or all ones. */
#pragma once

#include "sass.h"
#include "ops.h"
#include "undo.h"

#include "emulator/core/reach.h"
#include "emulator/core/state.h"
#include "emulator/instructions/tensor/tensorcore.h"

#include <string.h>

enum {
    SASS_ROW = 128, /* bytes */
    SASS_ROW_ZERO = 255 * SASS_ROW,
    SASS_ROW_SINK = 259 * SASS_ROW,
    SASS_ROW_UR = 263 * SASS_ROW,
    SASS_ROW_CONST = (263 + 63) * SASS_ROW,
};
enum { SASS_P_UNIFORM = 8, SASS_P_TRUE = 7, SASS_P_SINK = 16, SASS_P_ALL = 17 };
/* Address of the driver's vprintf, where no code of a kernel lies. */
#define SASS_VPRINTF 0x7fff000000000010ull
#define SASS_SWINHI  0x00020000u /* upper half of generic addresses of the shared window */
enum { SASS_RESERVED_SHARED = 0x400, SASS_BANK_BYTES = 8192, SASS_B_REGISTERS = 16 };

enum { SASS_TRUNC, SASS_FLOOR, SASS_CEIL, SASS_NEAREST }; /* to whole numbers */
enum { SASS_U32, SASS_U64, SASS_S32, SASS_S64 };

/* ---- sass_exec.mode, by instruction: the decoder writes it, the handler reads it ---------------- */
enum {
    SHF_LEFT = 1,
    SHF_HIGH = 2,
    SHF_SIGNED = 4,
    SHF_64 = 8,
    SHF_WRAP = 16
}; /* SHF: a sum of these */
/* ISETP: a comparison, plus flags. SETP_EX: upper halves, of which the lower ones have been compared. */
enum { CMP_LT = 1, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE, CMP_OF = 7 };
enum { SETP_UNSIGNED = 8, SETP_OR = 16, SETP_EX = 32, SETP_XOR = 64 };
/* FSETP, DSETP, HSETP2: the results for which it is true, plus SETP_OR, SETP_XOR (else and) and FSETP_FTZ */
enum { FSETP_LESS = 1, FSETP_EQUAL = 2, FSETP_GREATER = 4, FSETP_UNORDERED = 8, FSETP_FTZ = 32 };
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { HALF_ADD, HALF_MUL, HALF_FMA };                           /* HADD2, HMUL2, HFMA2 */
enum { HALF_MIN, HALF_MAX };                                     /* HMNMX2 */
enum { VIMNMX_UNSIGNED = 1, VIMNMX_THREE = 2, VIMNMX_RELU = 4 }; /* a sum of these */
enum { BAR_ANY = 1, BAR_ALL, BAR_COUNT };                        /* mode2 of BAR.RED */
enum { REDUX_AND, REDUX_OR, REDUX_XOR, REDUX_SUM, REDUX_MIN, REDUX_MAX };
enum { SASS_TO_F32, SASS_TO_F64, SASS_TO_F16, SASS_TO_BF16 }; /* I2F, F2F: to what */
enum { FP64_ADD, FP64_MUL, FP64_FMA, FP64_MIN, FP64_MAX };

enum sass_go {
    SASS_GO_NEXT,
    SASS_GO_FLOW, /* the handler has set the place */
    SASS_GO_WAIT, /* nothing was done */
    SASS_GO_FAULT
};
struct sass_exec;
typedef enum sass_go sass_handler(struct sass_warp *w, const struct sass_exec *x, uint32_t mask);

struct sass_source {
    uint32_t row;
    uint32_t keep; /* floats: (bits & keep) ^ flip */
    uint32_t flip; /* integers: (bits ^ flip) - less; negated: flip and less are ~0 */
    uint32_t less;
};

struct sass_pred {
    uint8_t index;
    uint32_t flip; /* ~0: negated */
};

struct sass_exec {
    sass_handler *run;
    uint32_t d; /* row written */
    uint32_t guard_flip;
    uint8_t guard;       /* index in pred[] */
    bool uniform;        /* runs on all lanes if its guard holds for some */
    bool always;         /* runs even if its guard holds for no lane (BRA.U.ANY) */
    uint8_t pd, pe;      /* predicates written: index in pred[] */
    uint8_t mode, mode2; /* comparison, rounding, truth table ... */
    uint8_t bytes;       /* of a memory access */
    uint8_t shift;       /* of the vector register of a shared address: [R4.X8] has 3 */
    struct sass_pred pin[3];
    struct sass_source s[3];
    int32_t offset;       /* of an address */
    uint32_t uniform_row; /* added to an address */
    uint32_t imm;
    uint32_t target; /* index of an instruction */
    void *more;      /* HGMMA's struct sass_gmma */
    struct sass_inst *inst;
};

struct sass_group {
    uint32_t pc, mask; /* index of the next instruction */
    uint8_t blocked;   /* enum: 0 can run, else waits at pc for ... */
    uint32_t need;     /* ... these lanes */
};
enum { SASS_RUNS, SASS_AT_BSYNC, SASS_AT_WARPSYNC };

struct sass_warp {
    unsigned char *rows; /* 64-byte aligned */
    uint32_t pred[SASS_P_ALL];
    uint32_t pc, active;   /* the running group */
    uint32_t live, absent; /* absent: lanes that its block never had */
    int n_others;
    struct sass_group other[SASS_LANES];
    uint32_t converge[SASS_B_REGISTERS][SASS_LANES]; /* B registers, by lane */
    struct sass_cta *cta;
    int index;
    uint8_t at_bar;             /* 1 + id of the named barrier that it waits at; 0: none */
    uint8_t last_bar, last_red; /* of its last BAR.RED: id and mode2 */
    uint32_t bar_generation, cluster_generation;
    /* Set when the arrival was delivered; unset before. */
    bool bar_delivered, cluster_delivered;
    const struct sass_inst *bar_inst;
    uint32_t n_registers; /* per thread: USETMAXREG */
    uint8_t waits_for;    /* enum sass_wait_kind: what the last SASS_GO_WAIT was about */
    struct sass_effect *effect;
    char fault[256];
};

struct sass_bar {
    uint32_t arrived, expected; /* threads; expected 0: all that live */
    uint32_t generation;
    uint32_t yes, lanes;           /* BAR.RED: of those that have arrived, */
    uint32_t last_yes, last_lanes; /* and when it was complete */
};

struct sass_cluster {
    uint32_t n, n_ended;
    struct sass_cta *cta[EMU_MAX_CLUSTER];
    uint32_t arrived, generation; /* warps */
    uint32_t n_live;              /* warps */
    uint32_t gone;                /* warps that have exited after they arrived in this generation */
};

struct sass_cta {
    struct sass_grid *grid;
    struct sass_cluster *cluster;
    uint32_t rank, id[3];
    uint64_t linear;
    int n_warps, n_live; /* warps */
    struct sass_warp *warp;
    unsigned char *rows;   /* of all warps */
    unsigned char *local;  /* local memory: local_bytes of each thread */
    uint32_t shared_bytes; /* of block->shared_memory; the first 0x400 bytes are the system's */
    struct sass_bar bar[SASS_BARRIERS];
    uint32_t free_registers;
    struct emu_room near; /* the allocation that was used last */
    uint64_t ticks;
    struct emu_block *block; /* what the tensor-core functions of the PTX side want to see */
};

/* What a kernel has beside struct sass_kernel. */
struct sass_code {
    struct sass_exec *exec; /* by index */
    uint32_t *constant;     /* values of the rows from SASS_ROW_CONST on */
    uint32_t *from; /* for each of them: 0, or SASS_FROM_BANK(bank, offset) of its value (Ada) */
    int n_constants, constant_capacity;
    const unsigned char *bank2; /* .nv.constant2 */
    uint32_t bank2_bytes;
    const unsigned char *bank4; /* .nv.constant4 */
    uint32_t bank4_bytes;
    uint32_t row_bytes;
    int sm; /* as of the kernel */
    int n_params;
    uint32_t param_offset[32], param_size[32];
};
static inline const struct sass_code *sass_code(const struct sass_kernel *k) { return k->exec; }
#define SASS_FROM_BANK(bank, offset) (1u << 31 | (uint32_t)(bank) << 24 | (uint32_t)(offset))
/* memory.c: constant bank 0, 2, 3 or 4 of a launch. */
struct sass_bank sass_bank_of(const struct sass_grid *g, int bank);
/* Bytes at the begin of a block's shared memory that are the system's. Addresses of sm_89 begin behind them. */
static inline uint32_t sass_reserved_shared(const struct sass_kernel *k) {
    return k->sm == 90 ? SASS_RESERVED_SHARED : 0;
}

/* HGMMA as the PTX side's product. */
struct sass_gmma {
    struct emu_inst inst;
    struct emu_operand op[2];
    uint32_t d[128], a[4];
    uint32_t desc; /* row of the first of the four URs */
    bool ends_group;
};

/* rough.c: rows of the operands' registers. False: not of this kind. */
void sass_rough_hmma(struct sass_warp *w, enum tensor_type type, const uint32_t a[4],
                     const uint32_t b[2], const uint32_t c[4], const uint32_t d[4]);
bool sass_rough_hgmma(struct sass_warp *w, const struct sass_gmma *g, uint64_t desc_a,
                      uint64_t desc_b, bool add);

static inline uint32_t *sass_row(const struct sass_warp *w, uint32_t row) {
    return (uint32_t *)(void *)(w->rows + row);
}
static inline uint32_t sass_pred_value(const struct sass_warp *w, struct sass_pred p) {
    return w->pred[p.index] ^ p.flip;
}
static inline void sass_write_pred(struct sass_warp *w, uint8_t p, uint32_t mask, uint32_t value) {
    w->pred[p] = (w->pred[p] & ~mask) | (value & mask);
}

/* A comparison's result and the predicate that it is joined with; mode: SETP_OR, SETP_XOR, else and. */
static inline uint32_t sass_combined(unsigned mode, uint32_t r, uint32_t p) {
    return mode & SETP_OR ? r | p : mode & SETP_XOR ? r ^ p : r & p;
}

/* The warp stops for this reason. Returns SASS_GO_FAULT. */
sass_handler sass_unknown; /* more: a text */
enum sass_go sass_stop(struct sass_warp *w, const struct sass_exec *x, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* flow.c */
enum sass_go sass_block(struct sass_warp *w, const struct sass_exec *x, uint8_t kind,
                        uint32_t need);
bool sass_rotate(struct sass_warp *w); /* to another group that can run */
void sass_split(struct sass_warp *w, uint32_t lanes, uint32_t pc);
/* sync.c */
void sass_warp_exits(struct sass_warp *w);
bool sass_bar_done(const struct sass_warp *w);
bool sass_cluster_done(const struct sass_warp *w);
/* memory.c: global memory at [addr, addr + bytes); NULL: not all allocated, or not to be written */
unsigned char *sass_global(struct sass_warp *w, uint64_t addr, uint64_t bytes,
                           enum emu_access what);
/* An atomic with its operation, as the PTX side has it. */
struct sass_atomic {
    struct emu_inst inst;
    bool spins; /* ATOMS.CAST.SPIN: the result is whether it stored */
};
/* Shared addresses of the lanes; false, and the warp has stopped: outside, or misaligned. */
bool sass_shared_addresses(struct sass_warp *w, const struct sass_exec *x, uint32_t mask,
                           unsigned bytes, uint32_t out[SASS_LANES]);
void sass_global_addresses(struct sass_warp *w, const struct sass_exec *x, unsigned source,
                           int64_t offset, uint64_t out[SASS_LANES]);
enum sass_go sass_bad_global(struct sass_warp *w, const struct sass_exec *x, uint32_t lane,
                             uint64_t addr);
/* Bytes of lane l to and from its register and those behind it. */
static inline void sass_load_lane(uint32_t *d, uint32_t l, const unsigned char *from,
                                  unsigned bytes) {
    if (bytes >= 4) {
        for (unsigned k = 0; k < bytes / 4; k++) memcpy(d + 32 * k + l, from + 4 * k, 4);
    } else {
        uint32_t v = 0;
        memcpy(&v, from, bytes);
        d[l] = v;
    }
}
static inline void sass_store_lane(const uint32_t *s, uint32_t l, unsigned char *to,
                                   unsigned bytes) {
    if (bytes >= 4)
        for (unsigned k = 0; k < bytes / 4; k++) memcpy(to + 4 * k, s + 32 * k + l, 4);
    else
        memcpy(to, s + l, bytes);
}
static inline void sass_extend_sign(uint32_t *d, uint32_t mask, unsigned bytes) {
    const unsigned unused = 32 - 8 * bytes;
    EMU_EACH_LANE(l, mask) d[l] = (uint32_t)((int32_t)(d[l] << unused) >> unused);
}
/* Shared memory of c at [at, at + bytes), or what HGMMA may read behind it; NULL beyond. */
static inline unsigned char *sass_shared(const struct sass_cta *c, uint64_t at, uint64_t bytes) {
    return emu_reach(emu_room_shared(c->block), at, bytes, EMU_ATOM).byte;
}
/* Before host memory changes; false: it must not, and the warp has stopped. */
bool sass_may_write(struct sass_warp *w, const struct sass_exec *x, const void *at, size_t bytes);
/* Delivers an event now, or leaves it to the caller (grid->deferred). */
void sass_event(struct sass_warp *w, unsigned kind, struct sass_event event);

/* decode.c: one instruction. words: low, high. NULL, or what is not understood: then a warp that reaches
 * the instruction stops, with the text in `more`. */
struct sass_text {
    const char *opcode, *operands, *guard;
};
struct sass_symbol {
    const char *name;
    uint32_t value;
};
const char *sass_decode(struct sass_code *code, const struct sass_text *text,
                        const uint64_t word[2], uint32_t pc, const struct sass_symbol *symbols,
                        int n_symbols, struct sass_inst *inst, struct sass_exec *exec);

/* The handlers, by file. */
/* clang-format off */
sass_handler
    sass_iadd3, sass_iadd3_carry, sass_add64, sass_imad, sass_imad_x, sass_imad_hi, sass_imad_wide,
    sass_lea, sass_lea_hi, sass_lop3, sass_shf, sass_isetp, sass_sel, sass_prmt, sass_iabs, sass_popc, sass_flo, sass_brev, sass_mov,
    sass_plop3, sass_p2r, sass_r2p, sass_vimnmx, sass_vimnmx_x2, sass_viaddmnmx, sass_idp, sass_vabsdiff, sass_vabsdiff4, sass_bmsk, sass_sgxt, sass_i2i, sass_i2ip,
    sass_fadd, sass_fmul, sass_ffma, sass_fadd_ftz, sass_fmul_ftz, sass_ffma_ftz, sass_ffma_apart, sass_float_mode, sass_fmul_scaled, sass_fmnmx, sass_fmnmx_nan, sass_fsetp, sass_fset, sass_fsel, sass_f2fp,
    sass_hadd2_f32, sass_pairs, sass_hmnmx2, sass_hsetp2, sass_hset2, sass_fchk, sass_frnd, sass_f2f, sass_fp64, sass_dsetp, sass_dsetp_least, sass_seed64, sass_sin, sass_cos, sass_tanh, sass_ex2, sass_rcp, sass_rsq, sass_sqrt, sass_lg2, sass_i2f, sass_f2i,
    sass_bra, sass_bra_any, sass_bra_div, sass_brx, sass_bssy, sass_break, sass_bsync, sass_call, sass_exit,
    sass_ret, sass_lepc, sass_call_driver, sass_warpsync, sass_yield, sass_nop, sass_nanosleep,
    sass_ldc, sass_lds, sass_sts, sass_ldg, sass_stg, sass_ldgsts, sass_ldsm, sass_stsm, sass_atomg,
    sass_st_generic, sass_ld_generic, sass_is_shared, sass_ldl, sass_stl, sass_atoms, sass_redux, sass_match,
    sass_shfl, sass_vote, sass_elect, sass_r2ur, sass_s2r,
    sass_bar, sass_b2r, sass_syncs_init, sass_syncs_arrive, sass_syncs_wait, sass_cluster_arrive,
    sass_cluster_wait, sass_setmaxreg_dealloc, sass_setmaxreg_alloc, sass_zero_pair,
    sass_hmma, sass_hgmma, sass_tma_load, sass_tma_store, sass_tma_prefetch;
/* clang-format on */
