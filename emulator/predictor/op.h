/* What the predictor needs to know of an instruction, looked up once when a kernel is opened: its unit, its
 * latency, its register reads. */
#pragma once

#include "timing_chip.h"
#include "emulator/sass/sass.h"

enum timing_unit {
    TIMING_UNIT_NONE, /* issue only */
    TIMING_UNIT_FMA,  /* FMA's heavy half: IMAD, HADD2.F32 */
    TIMING_UNIT_LITE, /* FMA's other half: FFMA, FADD, FMUL go to either half, packed fp16 to both */
    TIMING_UNIT_ALU,
    TIMING_UNIT_TENSOR,
    TIMING_UNIT_UNIFORM,
    TIMING_UNITS, /* those above are pipes of a sub-core, busy for `interval` */
    TIMING_UNIT_XU,
    TIMING_UNIT_MIO,
    TIMING_UNIT_GMMA
};

enum timing_kind {
    TIMING_PLAIN,
    TIMING_XU,
    TIMING_SHARED_LOAD, /* LDS LDSM */
    TIMING_SHARED_STORE,
    TIMING_SHUFFLE, /* one wavefront of shared memory's data path */
    TIMING_SPECIAL, /* S2R LDC R2UR: a fixed latency behind the MIO queue */
    TIMING_GLOBAL_LOAD,
    TIMING_GLOBAL_STORE,
    TIMING_LDGSTS,
    TIMING_LDGDEPBAR,
    TIMING_DEPBAR,
    TIMING_ATOMIC,
    TIMING_BAR,
    TIMING_TRYWAIT,
    TIMING_SYNCS,
    TIMING_HGMMA,
    TIMING_GMMA_WAIT,
    TIMING_TMA,
    TIMING_MEMBAR,
    TIMING_EXIT,
    TIMING_CLUSTER
};

struct timing_op {
    uint8_t unit; /* enum timing_unit */
    uint8_t kind; /* enum timing_kind */
    uint8_t interval;
    uint8_t hold;     /* cycles after it in which the sub-core dispatches nothing */
    uint8_t reads[2]; /* reads of the even and the odd bank, without operand cache hits */
    bool is_long;     /* waits for it count as long scoreboard */
    bool is_gpu;      /* MEMBAR: of the GPU, not the CTA */
    bool is_bsync;
    bool past_l1;     /* a load that bypasses L1: volatile, __ldcg, ld.acquire */
    bool is_pack;     /* F2FP */
    bool is_fp32;     /* FFMA FADD FMUL: either half of FMA */
    bool is_packed;   /* packed fp16: both halves of FMA */
    bool is_s2r;      /* S2R, LDC: one in two cycles of the SM */
    uint8_t constant; /* 1 + the line of constant bank 0 that it reads; 0: none */
    uint8_t depth;    /* DEPBAR, WARPGROUP.DEPBAR: how many may be left */
    uint16_t latency; /* from dispatch to the write barrier's fall */
    uint16_t war;     /* and to the read barrier's */
};

/* ops[i] of inst[i], for the n_inst of a kernel. */
void timing_ops(const struct sass_kernel *k, const struct timing_chip *c, struct timing_op *ops);
