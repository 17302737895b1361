/* Made inputs. An element depends on the input's name, the seed, the tensor and its coordinates
 * only: the same bits on every machine, in every layout, with any number of threads. No libm is
 * called.
 *
 *   name        Q and K                               V                 catches
 *   normal      N(0,1)                                N(0,1)            the ordinary
 *   outlier     N(0,1) + N(0,100) * Bernoulli(0.001), in all three      lost precision
 *   normal3     3 N(0,1)                              N(0,1)            no max subtraction
 *   uniform     U[0,1)                                U[0,1)            sums that drift
 *   ascending   scores rise with the key, -20 to 20   N(0,1)            missing rescale
 *   descending  scores fall with the key              N(0,1)            stale maximum
 *   negative    every score well below 0              1 + N(0,1) / 4    unmasked padding
 *   constant    256                                   256               overflow; O is exactly 256
 *   ramp        N(0,1)                                (d + 1) / 256     O is that row
 *   identity    row j = 16 e(j mod D): i looks for j  N(0,1)            wrong rows, transposes
 *   index       N(0,1)                                (j + 3 d) mod 61  where a value is from */
#pragma once

#include "attention.h"

#include <stdbool.h>

/* Fills the elements of q, k and v; gaps between rows stay as they are. NULL, or "no input called
 * ...". */
const char *input_fill(const char *name, uint64_t seed, const struct attention *a, half *q, half *k,
                       half *v);

/* The i-th name, or NULL past the last. */
const char *input_name(int i);
bool input_is_name(const char *name);

/* 64 random bits for (seed, stream, index), the same everywhere (SplitMix64's finaliser, twice). */
uint64_t input_random(uint64_t seed, uint64_t stream, uint64_t index);
