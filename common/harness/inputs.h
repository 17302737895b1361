/* Q, K and V on the host, made or read from files, between guard bands (check.h):
 *
 *   inputs_make or inputs_read - inputs_free */
#pragma once

#include "attention.h"

/* Q, K, V on the host, each (CHECK_GUARD + elements + CHECK_GUARD), gaps between rows poisoned
 * too. */
struct inputs {
    half *q, *k, *v;
};

/* Made inputs (input.h) of a complete problem. */
const char *inputs_make(const struct attention *a, const char *name, uint64_t seed,
                        struct inputs *out);

/* Reads three .npy files, whose shapes become the problem's; completes *a. */
const char *inputs_read(const char *q_path, const char *k_path, const char *v_path,
                        struct attention *a, struct inputs *out);
void inputs_free(struct inputs *in);
