/* One call of a stage's attention, as attnlab/__init__.py describes it: on tensors of the host, which are copied
 * to the device and back, or on a GPU's own tensors and stream, where nothing is copied or awaited. */
#pragma once

#include "common/harness/attention.h"

#include <stdint.h>

/* attnlab/__init__.py has the same fields in the same order. */
struct forward {
    int32_t batch, heads, kv_heads, seqlen_q, seqlen_k, head_dim;
    int32_t mask;      /* enum mask */
    int32_t bf16;      /* q, k, v and o are bf16, else fp16 */
    float scale;       /* 0: 1/sqrt(head_dim) */
    int32_t on_gpu;    /* run on a GPU, else on the emulator */
    int32_t is_device; /* the addresses are the GPU's, on `stream` */
    int64_t stride
        [4]
        [3]; /* of q, k, v, o: batch, head, row; elements; the elements of a row are neighbours */
    uint64_t q, k, v, o, lse; /* lse: (batch, heads, seqlen_q), contiguous; fp32 */
    uint64_t stream;          /* a CUstream */
    const char *images;       /* the folder of the stage's images */
    const char *chip;         /* of the emulator; NULL: h200 */
};

/* NULL, or why not; *status is the program's exit status that goes with it (reason.h). */
const char *attnlab_forward(const struct forward *f, int *status);
