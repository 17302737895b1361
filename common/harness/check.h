/* The pass rule. All eight points must hold:
 *   1  no non-finite value where the reference is finite
 *   2  worst row: ||o - ref|| / ||ref|| <= the stage's limit, over every row of the reference. The limit is
 *      for fp16, whose rounding has a relative error u of at most 2^-11; bf16 (u = 2^-8) has 8 times as much,
 *      since both errors that a kernel makes, rounding P and rounding O, are proportional to u
 *   3  max |o - ref| <= 2 max |baseline - ref| + 2 max |(ref + 0.3 - 0.3) - ref|, the last in the 16-bit type,
 *      or what rounding P and O once each explains, if that is more (reference.h)
 *   4  on outlier input: sum of squared errors <= that of the baseline + what rounding explains in one row, the
 *      row where it explains most. In a few rows one key can decide, whose P, 1, the baseline has exactly
 *   5  fully masked rows: O exactly 0, LSE exactly -inf; LSE otherwise within 1e-3 (bf16: 8e-3, for a kernel may
 *      sum the P that it has rounded), or, where that
 *      is more, 8 fp32 steps of LSE (|LSE| > 1000) or the error E of a score in fp32:
 *          E = (DIM + 8) 2^-24 scale ||q|| max ||k||        (reference.h; 1e-4 on normal inputs)
 *   6  every element of the output was written; guard bands and gaps were not
 *   7  inputs unchanged
 *   8  two runs bitwise equal, guard bands included, so that points 1 to 6 hold for both
 *
 * Where E is above 1/16 (scores beyond some 10000) softmax itself is only known to exp(2 E), and keys
 * that compete are settled by rounding: such a row may be off by sum of min(1, p[j] (exp(2 E) - 1))
 * ||v[j] - o||, which is nothing where one key wins clearly, beyond point 2's limit, and is left out
 * of points 3 and 4.
 *
 * A NaN or an infinity in a row of V that the mask hides may reach O, in its own column: tiles are
 * multiplied whole, and 0 * infinity is NaN. A NaN there is not judged, in a fully masked row neither;
 * a number is. What lies past the end of the sequence must not reach O.
 *
 * Outputs lie between guard bands, all of it filled with CHECK_POISON_WORD before each run:
 *
 *     | 512 poison | O as strided, gaps poisoned | 512 poison |   the kernel gets the address of O
 *
 * Inputs can lie in the same way, so that a read past the end meets a NaN. */
#pragma once

#include "reference.h"

enum { CHECK_GUARD = 512 };           /* elements on each side */
#define CHECK_POISON_WORD 0xffc5ffc5u /* a NaN as fp32, and as two fp16 or bf16, for device_fill */
#define CHECK_POISON_HALF 0xffc5u

/* What one run left behind, guard bands included. */
struct check_run {
    const half *o;    /* (CHECK_GUARD + attention_o_elements + CHECK_GUARD) */
    const float *lse; /* (CHECK_GUARD + attention_lse_elements + CHECK_GUARD) */
};

struct check_evidence {
    const struct attention *problem;
    const struct reference *reference; /* of the private copy of the inputs */
    struct check_run run[2];           /* the same problem twice */
    uint64_t inputs_before[3];         /* check_hash of q, k, v */
    uint64_t inputs_after[3];
    double row_error_limit; /* struct stage: row_error_limit */
    bool outlier_input;     /* point 4 applies */
};

struct check_result {
    int64_t rows_checked;              /* rows compared with the reference */
    int64_t non_finite;                /* point 1: elements of O and LSE */
    double row_error, row_error_limit; /* point 2; infinity if there is a non-finite value */
    int64_t worst_row;                 /* (b * heads + h) * seqlen_q + i */
    double max_error, max_error_limit; /* point 3; rows with a finite baseline */
    double rmse, baseline_rmse;        /* point 4 */
    double rmse_limit;                 /* a little above baseline_rmse */
    bool rmse_counts;                  /* outlier input */
    int64_t masked_wrong; /* point 5: values of fully masked rows that are not 0 or -inf */
    double lse_error, lse_error_limit; /* point 5, absolute */
    int64_t lse_wrong;                 /* point 5: rows beyond the limit */
    int64_t unwritten;                 /* point 6: elements of O and LSE that still are poison */
    int64_t guard_broken; /* point 6: elements of guard bands and gaps that are not poison */
    int inputs_changed;   /* point 7: how many of q, k, v */
    int64_t unequal;      /* point 8: elements that differ between the runs */
    double reference_rms; /* so that a reference of zeros does not go unnoticed */
    bool passed;
    char why[256]; /* the first point that fails, with its operands; "" if passed */
};

/* Judges one problem. A zero-sized problem passes if nothing was written. */
void check_attention(const struct check_evidence *e, struct check_result *out);

/* A hash of the bytes: equal for equal bytes, everywhere. */
uint64_t check_hash(const void *data, size_t bytes);

/* Poisons n elements. */
void check_poison(half *p, size_t n);
void check_poison_float(float *p, size_t n);
