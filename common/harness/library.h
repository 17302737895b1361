/* A stage as a library, build/stage-N.so: its launches on somebody else's tensors and stream, so that
 * profiler/peers/peers.py times a stage as it times its peers. One GPU, one thread. */
#pragma once

#include <stdint.h>

struct library_run; /* a planned problem, its image loaded */

#define LIBRARY __attribute__((visibility("default")))

/* Numbers in this order: batch, heads, kv_heads, seqlen_q, seqlen_k, head_dim, causal (0, or 1:
 * bottom-right), choice (0: the best). `tensors` are addresses on the GPU of contiguous Q, K, V, O
 * and LSE. `images` is a folder such as build/images/stage-6. NULL, or why not. */
LIBRARY const char *library_open(const char *images, const int problem[8],
                                 const uint64_t tensors[5], struct library_run **out);
LIBRARY void library_close(struct library_run *r);

/* Into `stream`, a cudaStream_t, which may be capturing. NULL, or why not. */
LIBRARY const char *library_launch(struct library_run *r, void *stream);

/* "d64-split" */
LIBRARY const char *library_image(const struct library_run *r);

/* What the stage says of its i-th choice for the problem, and expects in us; NULL: it has no more. */
LIBRARY const char *library_choice(const int problem[8], int i, double *us);

/* The SM clock between two marks, 0 and 1, in a stream: NULL, or why there is none; then MHz, of a
 * stream that is idle. */
LIBRARY const char *library_mark(int mark, void *stream);
LIBRARY double library_clock_mhz(void);

/* The revision it was built from. */
LIBRARY const char *library_revision(void);
