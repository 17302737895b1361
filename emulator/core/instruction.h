/* Instructions as a front end leaves them and the handlers take them: a kernel is an array of
 * emu_inst. Operands are rows of a warp's row file: state.h draws them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_FRAMES = 12, EMU_LANES = 32, EMU_MAX_WARPS = 32, EMU_BARRIERS = 16 };
enum { EMU_MAX_CLUSTER = 16, EMU_MAX_AGENTS = 640 };
#define EMU_FULL 0xffffffffu

/* Generic addresses: global memory is at its host address, always above these windows. */
#define EMU_SHARED_WINDOW  0x01000000u /* generic = window + offset in the block's shared memory */
#define EMU_LOCAL_WINDOW   0x02000000u /* generic = window + offset in the thread's local memory */
#define EMU_CLUSTER_WINDOW 0x20000000u /* blocks of the cluster, by rank */
#define EMU_WINDOW_BYTES   0x01000000u
#define EMU_CODE_WINDOW    0x03000000u /* addresses of functions: window + 16 * number */

struct emu_warp;
struct emu_block;
struct emu_inst;

/* ---- Handlers -----------------------------------------------------------------------------------
 * Runs one instruction for the lanes in `mask` (never 0; the guard is already applied). */
enum emu_step {
    EMU_NEXT, /* done: go on to the next instruction */
    EMU_WAIT, /* cannot go on: called again when others have run, with w->resumed and w->token */
    EMU_FLOW, /* the handler changed the lane groups itself (branch, exit) */
    EMU_STOP, /* the block cannot go on: a report says why */
};
typedef enum emu_step emu_handler(struct emu_warp *w, const struct emu_inst *i, uint32_t mask);

/* Chooses the handler of one instruction when it is lowered, and may fill in its cold fields (imm,
 * aux). On failure returns NULL and says why. */
typedef emu_handler *emu_selector(struct emu_inst *i, const char **why);

/* ---- Instructions ---------------------------------------------------------------------------- */

/* clang-format off */
enum emu_class { /* what the counters roll up */
    EMU_FP32, EMU_FP64, EMU_FP16, EMU_INT, EMU_LOGIC, EMU_MOVE, EMU_CONVERT, EMU_COMPARE, EMU_MUFU,
    EMU_BRANCH, EMU_BARRIER, EMU_MBARRIER, EMU_FENCE, EMU_SHUFFLE, EMU_VOTE,
    EMU_LD_GLOBAL, EMU_ST_GLOBAL, EMU_LD_SHARED, EMU_ST_SHARED, EMU_LD_LOCAL, EMU_ST_LOCAL,
    EMU_LD_PARAM, EMU_LD_CONST, EMU_ATOMIC, EMU_LD_CLUSTER, EMU_ST_CLUSTER,
    EMU_HMMA,   /* mma.sync, wmma.mma */
    EMU_HGMMA,  /* wgmma.mma_async */
    EMU_LDSM,   /* ldmatrix, wmma.load from shared */
    EMU_STSM,
    EMU_LDGSTS, /* cp.async */
    EMU_TMA, EMU_OTHER, EMU_CLASSES
};
/* clang-format on */

/* Does it only compute registers from registers? These classes stand first. */
static inline bool emu_is_arithmetic(enum emu_class c) { return c <= EMU_MUFU; }

/* clang-format off */
enum emu_type { /* from the opcode, never from the register's declaration */
    EMU_NONE, EMU_B8, EMU_U8, EMU_S8, EMU_B16, EMU_U16, EMU_S16, EMU_F16, EMU_BF16, EMU_B32,
    EMU_U32, EMU_S32, EMU_F32, EMU_TF32, EMU_F16X2, EMU_BF16X2, EMU_B64, EMU_U64, EMU_S64, EMU_F64,
    EMU_B128, EMU_PRED, EMU_E4M3, EMU_E5M2, EMU_E4M3X2, EMU_E5M2X2, EMU_N_TYPES
};
/* clang-format on */

enum emu_space {
    EMU_GENERIC,
    EMU_GLOBAL,
    EMU_SHARED,
    EMU_CLUSTER,
    EMU_LOCAL,
    EMU_PARAM,
    EMU_CONST
};

enum emu_operand_kind {
    EMU_OP_NONE,
    EMU_OP_ROW,     /* register, immediate, special register: row */
    EMU_OP_PRED,    /* row is the offset of a 4-byte mask; negated: !p */
    EMU_OP_GROUP,   /* {a, b, ...}: n rows at rows[0..n-1]; a `_` has row EMU_SINK */
    EMU_OP_ADDRESS, /* [row + imm]; row is EMU_ZERO if there is no register; wide: 64-bit row */
    EMU_OP_IMM,     /* imm */
    EMU_OP_LABEL,   /* imm is the index of the target instruction */
};

struct
    emu_array { /* a static shared array: what an address that is made from its name should keep to */
    char name[48];
    uint32_t begin, end; /* from where the block's shared memory begins */
};

struct emu_operand {
    uint8_t kind;
    bool negated;
    bool written;  /* a destination */
    bool wide;     /* 64-bit rows */
    uint8_t bytes; /* of the declared register; 0: constant or predicate */
    uint16_t n;
    uint32_t row;
    int64_t imm; /* also the value of a constant EMU_OP_ROW; has_imm says that there is one */
    bool has_imm;
    const uint32_t *rows;          /* EMU_OP_GROUP */
    const struct emu_array *array; /* it names this one */
};

/* The first cache line is all that an arithmetic handler reads. */
struct emu_inst {
    _Alignas(64) emu_handler *run;
    const struct emu_operand *op; /* n_ops of them, in the order of the text; d|p counts as two */
    uint32_t row[5];              /* op[0..4].row */
    uint32_t guard;               /* offset of the guard's mask; EMU_TRUE if there is none */
    uint32_t guard_xor;           /* EMU_FULL for @!p */
    int32_t offset;               /* imm of the first EMU_OP_ADDRESS */
    uint8_t n_ops, n_types, space, vec; /* vec: 1, 2, 4, 8 */
    uint8_t type[4];                    /* enum emu_type, in the order of the opcode */
    /* cold */
    const struct emu_form *form;
    emu_handler *inner;   /* what a wrapping handler (rounding mode, ftz, sat) calls */
    const char *opcode;   /* "ld.global.nc.v4.u32", as written */
    uint32_t pc;          /* index in the kernel */
    uint8_t class;        /* enum emu_class: from the form; a selector may change it */
    uint8_t joined_bytes; /* of the wider load that ptxas makes of this and later ones, or 0 */
    bool read_only_path;  /* ld.nc */
    bool in_loop;         /* a branch leads back over it */
    bool polls;           /* a loop around it ends by what it reads: of volatile loads */
    bool fetches; /* it may fetch 16 bytes, of which later loads take theirs: front/ahead.c */
    uint8_t fetched_word;  /* the word of those that it takes, */
    uint16_t fetched_back; /* and how many instructions before it that load stands; 0: none does */
    uint8_t units;         /* SASS instructions of that class it stands for (wmma.mma: 2) */
    uint32_t flops;        /* tensor operations of one warp's execution (m16n8k16: 4096) */
    int32_t aux[6];        /* the selector's own */
};

/* A place in a source file that an instruction comes from: its own line, or one that it was
 * inlined into. */
struct emu_frame {
    const char *file; /* as the compiler was told */
    int line;
    unsigned file_index; /* of the .file directive */
};

/* Where an instruction comes from. The kernel's own file is that of the outermost frame. */
struct emu_origin {
    int ptx_line;
    const char *text; /* the instruction as written, without its guard */
    uint32_t text_length;
    int n_frames;                       /* 0 without -lineinfo */
    struct emu_frame frame[EMU_FRAMES]; /* innermost first; the last is in the kernel itself */
};

/* The system's functions that kernels call: op[0] of such a call. */
enum emu_system { EMU_SYSTEM_PRINT, EMU_SYSTEM_ASSERT, EMU_SYSTEM_MALLOC, EMU_SYSTEM_FREE };

/* One line of a form table (front/forms_scalar.def, front/forms_tensor.def):
 *
 *   FORM(pattern, operands, class, handler)     SELECT(pattern, operands, class, selector)
 *
 * pattern: the opcode, modifier by modifier: "(a|b)" one of, "{a|b}" one of or none:
 * "ld{.weak}.(b32|u32)".
 *   The dot belongs to the modifier: write "add{.ftz}.f32" and "setp.(eq|ne).(b32|s32)".
 * operands: one token each: role, then width.
 *   role  d written, s read, D and S the same for {groups} (a lone register is a group of one),
 *         a address [r+n], c address with tensor coordinates [r, {x, y}] (two operands: address,
 *         group), i immediate, l label, L a label of .branchtargets, C what call takes, M for mov;
 *         ? before a token: this and the rest may be absent
 *   width 4 = up to 32 bits, 8 = 64 bits, p = predicate, t = by the last type of the opcode,
 *         x = any; a and l have none. "d4|p": d, or the pair d|p (then op[1] is the predicate,
 *         else row EMU_SINK) */
struct emu_form {
    const char *pattern, *operands;
    uint8_t class;
    emu_handler *handler; /* or NULL: */
    emu_selector *selector;
};

/* Fixed rows at the start of every row file. */
enum {
    EMU_TRUE = 0,   /* mask of ones: the guard of unguarded instructions */
    EMU_SINK = 256, /* 256 bytes that nobody reads: destination `_` */
    EMU_ZERO = 512, /* 256 bytes of zeros */
    EMU_SPECIAL = 768,
    EMU_SPECIAL_ROWS = 48, /* 128 bytes each: enum emu_special */
    EMU_FIRST_ROW = EMU_SPECIAL + 128 * EMU_SPECIAL_ROWS,
};
/* clang-format off */
enum emu_special {
    EMU_TID_X, EMU_TID_Y, EMU_TID_Z, EMU_NTID_X, EMU_NTID_Y, EMU_NTID_Z, EMU_CTAID_X, EMU_CTAID_Y,
    EMU_CTAID_Z, EMU_NCTAID_X, EMU_NCTAID_Y, EMU_NCTAID_Z, EMU_LANEID, EMU_WARPID, EMU_NWARPID,
    EMU_SMID, EMU_NSMID, EMU_GRIDID, EMU_LANEMASK_EQ, EMU_LANEMASK_LT, EMU_LANEMASK_LE,
    EMU_LANEMASK_GT, EMU_LANEMASK_GE, EMU_DYNAMIC_SMEM, EMU_TOTAL_SMEM, EMU_CLUSTERID_X,
    EMU_CLUSTERID_Y, EMU_CLUSTERID_Z, EMU_NCLUSTERID_X, EMU_NCLUSTERID_Y, EMU_NCLUSTERID_Z,
    EMU_CLUSTER_CTAID_X, EMU_CLUSTER_CTAID_Y, EMU_CLUSTER_CTAID_Z, EMU_CLUSTER_NCTAID_X,
    EMU_CLUSTER_NCTAID_Y, EMU_CLUSTER_NCTAID_Z, EMU_CLUSTER_CTARANK, EMU_CLUSTER_NCTARANK,
    EMU_EXPLICIT_CLUSTER, EMU_ENVREG_1, EMU_ENVREG_2,
    EMU_CLOCK,        /* %clock and its like: mov reads them anew */
    EMU_SHARED_BEGIN, /* no register: where the block's shared memory begins */
};
/* clang-format on */

/* Registers of an instruction that a wgmma of the kernel also uses (instructions/tensor/wgmma_watch.c). */
enum { EMU_WATCHED = 8 };
struct emu_watch {
    emu_handler *run;  /* the instruction's own handler */
    uint8_t n, writes; /* bit j: row[j] is written */
    uint32_t row[EMU_WATCHED];
};

/* A device function that was not inlined: its code stands behind the kernel's own, once for every
 * kernel that may call it. Parameters, result and local variables lie in a frame of local memory;
 * registers are the function's own, saved while it calls itself. */
struct emu_function {
    const char *name;
    uint64_t address;
    uint32_t pc, frame_bytes;
    uint32_t n_params, *param_offset, *param_bytes; /* in the frame; the result is the first one */
    bool has_result, recursive;
    struct emu_saved {
        uint32_t row;
        uint8_t bytes; /* of a lane: 4, 8; 0: 32 masks of predicates */
    } * saved;
    uint32_t n_saved;
    struct emu_frame_row { /* rows that hold an address in the frame */
        uint32_t row, offset;
        bool wide;
    } * frame_row;
    uint32_t n_frame_rows;
};

/* A row whose first value a launch draws (launch/draw.c): a register that nothing has written, or
 * the address of a shared variable, which is known once it is known where shared memory begins. */
struct emu_drawn_row {
    uint32_t row;
    uint8_t bytes; /* of a lane: 2, 4, 8; 0: the mask of a predicate */
    bool is_address;
};

struct emu_kernel {
    const char *name;
    const char *refused; /* why it cannot run; NULL: it can */
    struct emu_module *module;
    struct emu_inst *inst;
    struct emu_origin *origin; /* one per instruction */
    int n_inst;
    uint32_t row_bytes;      /* of a row file */
    unsigned char *row_init; /* row_bytes long: constants in place, registers zero */
    struct emu_drawn_row *drawn;
    uint32_t n_drawn;
    struct emu_drawn_row *anew; /* those that each block must find as drawn: front/anew.c */
    uint32_t n_anew;
    uint32_t param_bytes, *param_offset, *param_size;
    char *param_kind; /* 'f' real, 'u' whole, 0 anything */
    int n_params;
    uint32_t static_shared, local_bytes;
    uint32_t shared_align; /* the largest alignment of its shared variables */
    struct emu_function *function;
    uint32_t n_functions, stack_at; /* where frames begin in local memory */
    uint64_t specials;              /* bit r: it reads the special register r, enum emu_special */
    bool prints;                    /* it calls vprintf */
    bool allocates;                 /* it calls malloc or free */
    bool syncs_grid;                /* it asks for the workspace of cooperative launches */
    uint32_t dynamic_offset;        /* where dynamic shared memory starts */
    const struct emu_array **array; /* by pc: what a shared access should keep to; or NULL */
    struct emu_watch *watch;        /* by pc; NULL: the kernel has no wgmma */
    uint32_t *rank; /* of each pc: lanes with the lowest rank run first: front/order.c */
    int max_threads, max_registers; /* from .maxntid and .maxnreg; 0 if not said */
    int min_blocks;                 /* of an SM at once: .minnctapersm; 0 if not said */
    uint32_t cluster[3];            /* .reqnctapercluster; 0: as the launch says */
};

/* ---- Asked of an instruction ----------------------------------------------------------------- */

/* EMU_NONE if there is no type of this name ("f16x2"). */
enum emu_type emu_type_named(const char *name, size_t length);
unsigned emu_type_bytes(enum emu_type t);
/* Does the opcode have this modifier ("ftz", "shared::cta")? */
bool emu_has(const struct emu_inst *i, const char *modifier);

/* Is this frame in the kernel's own file; the innermost line there; does any frame there have
 * it? */
bool emu_in_kernel(const struct emu_origin *o, int frame);
int emu_line_of(const struct emu_origin *o);
bool emu_on_line(const struct emu_origin *o, int line);
