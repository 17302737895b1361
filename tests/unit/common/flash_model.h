/* The arithmetic of a flash-attention kernel on the CPU: 64 x 64 tiles, scores and sums in fp32, P
 * rounded to fp16, online softmax in base 2. And the ways to get it wrong that the tests plant. */
#pragma once

#include "common/harness/attention.h"

#define MUTANTS(X)                                                                                 \
    X(HONEST, "none")                                                                              \
    /* wrong answers */                                                                            \
    X(NO_MAX, "no maximum is subtracted")                                                          \
    X(NO_RESCALE, "O is not rescaled when the maximum grows")                                      \
    X(NO_RESCALE_LAST, "O is not rescaled in the last tile")                                       \
    X(SUM_NOT_RESCALED, "the row sum is not rescaled")                                             \
    X(SCALE_2_PERCENT, "scale is 2 % too large")                                                   \
    X(TAIL_UNMASKED, "keys past the end count, as zeros")                                          \
    X(TAIL_ONE_SHORT, "the last key is masked")                                                    \
    X(TAIL_GARBAGE, "V past the end is read, and 0 * NaN is NaN")                                  \
    X(CAUSAL_PLUS_ONE, "causal: one key too many")                                                 \
    X(CAUSAL_MINUS_ONE, "causal: one key too few")                                                 \
    X(CAUSAL_ALIGNMENT, "causal: the other alignment")                                             \
    X(CAUSAL_IGNORED, "causal: no mask at all")                                                    \
    X(SKIP_FIRST_TILE, "the first KV tile is skipped")                                             \
    X(SKIP_LAST_TILE, "the last KV tile is skipped")                                               \
    X(TILE_TWICE, "the first KV tile is read twice")                                               \
    X(STALE_K, "K is that of the tile before")                                                     \
    X(STALE_V, "V is that of the tile before")                                                     \
    X(V_TRANSPOSED, "V is transposed in 8 x 8 blocks")                                             \
    X(K_COLUMN_LOST, "the last column of K is left out")                                           \
    X(ROWS_SWAPPED, "rows 2 and 10 of a tile change places")                                       \
    X(COLUMNS_SWAPPED, "columns 0 and 1 of O change places")                                       \
    X(GQA_MODULO, "the KV head is h % kv_heads")                                                   \
    X(BATCH_ZERO, "every batch reads the K of batch 0")                                            \
    X(LAST_ROW_LOST, "the last row of O is not written")                                           \
    X(LAST_LSE_LOST, "the last LSE is not written")                                                \
    X(ROW_PAST_END, "one row past the end of O is written")                                        \
    X(STRIDE_IGNORED, "O is written contiguously")                                                 \
    X(MASKED_NAN, "a fully masked row divides by its sum of 0")                                    \
    X(MASKED_LSE, "the LSE of a fully masked row is 0")                                            \
    X(NOT_NORMALISED, "the last tile of queries is not divided by its sum")                        \
    X(LSE_BASE_2, "LSE in base 2")                                                                 \
    X(LSE_WITHOUT_MAX, "LSE without the maximum")                                                  \
    X(INPUT_CHANGED, "an element of K is overwritten")                                             \
    X(NOT_REPEATABLE, "the last bit of one element differs in the second run")                     \
    /* right in principle, in too few bits */                                                      \
    X(HALF_SUM_O, "O is accumulated in fp16")                                                      \
    X(HALF_SCORES, "scores are rounded to fp16")                                                   \
    X(BFLOAT_P, "P is rounded to bf16")                                                            \
    X(FP8_P, "P is rounded to e4m3")                                                               \
    X(BFLOAT_O, "O is rounded to bf16 at the end")                                                 \
    X(BFLOAT_K, "K is rounded to bf16")                                                            \
    X(HALF_SUM_L, "the row sum is kept in fp16")                                                   \
    X(HALF_MAX_STATE, "the row maximum is kept in fp16, the subtraction uses fp32")                \
    X(HALF_EXP, "the argument of exp2 is rounded to fp16")                                         \
    X(COARSE_EXP, "exp2 is off by up to 0.3 %")

#define MUTANT_NAME(name, text) MUTANT_##name,
enum mutant { MUTANTS(MUTANT_NAME) N_MUTANTS };
enum { FIRST_SEMANTIC_MUTANT = MUTANT_NO_MAX, FIRST_PRECISION_MUTANT = MUTANT_HALF_SUM_O };

const char *mutant_text(enum mutant m);

/* Computes o and lse; `run` counts the runs of one problem from 0. One mutant writes to k. */
void flash_model(const struct attention *a, const half *q, half *k, const half *v, half *o,
                 float *lse, enum mutant m, int run);
