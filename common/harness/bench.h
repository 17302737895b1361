/* One problem laid out on one device, with a stage's plan for it:
 *
 *   inputs_make or inputs_read - bench_open - bench_run ... bench_check - bench_close - inputs_free
 *
 * All tensors, on both sides, lie between guard bands of poison (check.h). */
#pragma once

#include "check.h"
#include "inputs.h"
#include "stage.h"

struct bench {
    struct device *device;
    struct attention problem;
    struct stage_tensors tensors;
    struct stage_plan plan;
    struct device_image *image;              /* NULL for a zero-sized problem */
    device_ptr q, k, v, o, lse;              /* where the buffers begin, guard band first */
    size_t qkv_bytes[3], o_bytes, lse_bytes; /* of whole buffers */
    uint64_t input_hash[3];                  /* of the private copies of q, k, v */
};

/* Asks the stage, allocates, copies in, plans and loads from images/stage-N beside the program.
 * STATUS_UNSUPPORTED if the stage refuses. `image` replaces the planned one if it is not NULL; `choice` is the stage's
 * (stage.h), 0 the best. */
const char *bench_open(struct device *d, const struct attention *a, const struct inputs *in,
                       const char *image, int choice, struct bench *out);
void bench_close(struct bench *b);

/* Plans and loads another of the stage's choices, for the tensors that are there. */
const char *bench_take(struct bench *b, int choice);

/* Poisons the outputs, runs the plan once and fetches O and LSE, guard bands included, into
 * buffers of o_bytes and lse_bytes. */
const char *bench_run(struct bench *b, half *o, float *lse);

/* Launches once, nothing else. */
const char *bench_launch(struct bench *b);

/* Two runs against the reference, whose size `work` limits (reference.h). O and LSE of the
 * first run are left in `o` and `lse` unless those are NULL. */
const char *bench_check(struct bench *b, const struct inputs *in, bool outlier_input, double work,
                        uint64_t seed, half *o, float *lse, struct check_result *out);
