/* What the predictor needs to know of an instruction, looked up once when a kernel is opened: its unit, its
 * latency, its register reads. */
#pragma once

#include "predictor_chip.h"
#include "emulator/sass/sass.h"

enum predictor_unit {
    PREDICTOR_UNIT_NONE, /* issue only */
    PREDICTOR_UNIT_FMA,  /* FMA's heavy half: IMAD, HADD2.F32 */
    PREDICTOR_UNIT_LITE, /* FMA's other half: FFMA, FADD, FMUL go to either half, packed fp16 to both */
    PREDICTOR_UNIT_ALU,
    PREDICTOR_UNIT_TENSOR,
    PREDICTOR_UNIT_UNIFORM,
    PREDICTOR_UNIT_FP64,
    PREDICTOR_UNITS, /* those above are pipes of a sub-core, busy for `interval` */
    PREDICTOR_UNIT_XU,
    PREDICTOR_UNIT_MIO,
    PREDICTOR_UNIT_GMMA
};

enum predictor_kind {
    PREDICTOR_PLAIN,
    PREDICTOR_XU,
    PREDICTOR_SHARED_LOAD, /* LDS LDSM */
    PREDICTOR_SHARED_STORE,
    PREDICTOR_SHUFFLE, /* one wavefront of shared memory's data path */
    PREDICTOR_SPECIAL, /* S2R LDC R2UR: a fixed latency behind the MIO queue */
    PREDICTOR_GLOBAL_LOAD,
    PREDICTOR_GLOBAL_STORE,
    PREDICTOR_LDGSTS,
    PREDICTOR_LDGDEPBAR,
    PREDICTOR_DEPBAR,
    PREDICTOR_ATOMIC,
    PREDICTOR_BAR,
    PREDICTOR_TRYWAIT,
    PREDICTOR_SYNCS,
    PREDICTOR_HGMMA,
    PREDICTOR_GMMA_WAIT,
    PREDICTOR_TMA,
    PREDICTOR_MEMBAR,
    PREDICTOR_EXIT,
    PREDICTOR_CLUSTER
};

struct predictor_op {
    uint8_t unit; /* enum predictor_unit */
    uint8_t kind; /* enum predictor_kind */
    uint16_t interval;
    uint8_t hold;     /* cycles after it in which the sub-core dispatches nothing */
    uint8_t reads[2]; /* reads of the even and the odd bank, without operand cache hits */
    bool is_long;     /* waits for it count as long scoreboard */
    bool is_atomic;   /* on global memory */
    bool is_float;    /* an atomic that adds floats */
    bool is_local;    /* LDL, STL: L1 keeps what is stored */
    bool is_cas;      /* ATOMS.CAST.SPIN: at most one lane of a word stores */
    bool is_gpu;      /* MEMBAR: of the GPU, not the CTA */
    bool is_bsync;
    bool past_l1;        /* a load that bypasses L1: volatile, __ldcg, ld.acquire */
    bool is_pack;        /* F2FP */
    bool is_fp32;        /* FFMA FADD FMUL: either half of FMA */
    bool is_packed;      /* packed fp16: both halves of FMA */
    bool is_s2r, is_ldc; /* two cycles of the SM; an S2R and an LDC run side by side */
    uint8_t constant;    /* 1 + the line of constant bank 0 that it reads; 0: none */
    uint8_t depth;       /* DEPBAR, WARPGROUP.DEPBAR: how many may be left */
    uint16_t latency;    /* from dispatch to the write barrier's fall */
    uint16_t war;        /* and to the read barrier's */
};

/* ops[i] of inst[i], for the n_inst of a kernel. */
void predictor_ops(const struct sass_kernel *k, const struct predictor_chip *c,
                   struct predictor_op *ops);
