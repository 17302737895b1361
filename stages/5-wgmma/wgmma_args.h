/* What the stage 5 kernels receive. Host C and CUDA C both include this file. */
#pragma once

#include "common/cuda/attention_args.h"

enum { MAX_K_STEPS = 16 };

struct wgmma_args {
    const unsigned char *tiles; /* the bytes of A and B as they shall lie in shared memory */
    uint32_t tile_bytes;        /* of both together; a multiple of 16 */
    const half *a;     /* (64, 16 * k_steps): A once more in plain order, for A in registers */
    float *c;          /* (64, N) */
    long long *cycles; /* measure: one a warpgroup, in order of CTAs */

    /* The descriptors with the tiles at address 0; where k step s starts is added to them. */
    uint64_t a_desc, b_desc;
    uint32_t a_start[MAX_K_STEPS], b_start[MAX_K_STEPS]; /* bytes from the start of shared memory */
    int32_t k_steps;

    int32_t rounds;         /* measure: how many groups of wgmma are timed */
    int32_t wrong_row_slot; /* --break row-slot: take bit 0 of i for the row, not bit 1 */
    int32_t no_proxy_fence; /* --break missing-proxy-fence */
};
