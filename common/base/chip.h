/* The chips that the emulator and the occupancy model can stand for, and what bounds a kernel
 * there. Rates are per SM and clock; sources: CUDA C++ Programming Guide (compute capabilities
 * table), NVIDIA's architecture whitepapers for GA100, AD102 and GH100, and the boards' data sheets. */
#pragma once

struct chip {
    const char *name;   /* as in --chip: "h200" */
    const char *board;  /* "NVIDIA H200" */
    const char *family; /* CUPTI's chip name: "GH100" */
    int cc;             /* compute capability, 10 * major + minor */
    int n_sms;
    int clock_mhz; /* boost clock, for limits stated in time-like units */
    int max_warps_per_sm, max_blocks_per_sm, registers_per_sm;
    int shared_per_sm, shared_per_block; /* bytes; the second is the opt-in limit */
    int tensor_flop_per_clk; /* dense fp16 in, fp32 accumulate, by the fastest instruction */
    int mma_flop_per_clk;    /* the same by mma.sync */
    int fp32_fma_per_clk, mufu_per_clk;
    double datasheet_tflops;  /* dense fp16 in, fp32 accumulate */
    int shared_bytes_per_clk; /* one wavefront */
    int dram_gb_per_s, l2_bytes;
};

/* NULL if there is no such chip: neither one of the table nor a Hopper chip that has a file chips/NAME.txt. */
const struct chip *chip_find(const char *name);

/* The i-th chip, or NULL past the last: for lists. */
const struct chip *chip_at(int i);
