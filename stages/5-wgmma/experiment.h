/* One experiment with one WGMMA: what is multiplied, how it lies in shared memory, what is done
 * wrong, what came out, and how long it took. */
#pragma once

#include "common/base/reason.h"
#include "common/cuda/gmma_layout.h"
#include "common/device/device.h"
#include "common/harness/options.h"
#include "profiler/counters.h"
#include "wgmma_args.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { WGMMA_M = 64, WGMMA_K = 16 };

struct experiment {
    int n;          /* columns of C: 8 .. 256, a multiple of 8 */
    int k_steps;    /* K = 16 * k_steps; 1 .. MAX_K_STEPS */
    int swizzle;    /* bytes: 0, 32, 64, 128; of A and B alike */
    bool a_m_major; /* A lies with M contiguous */
    bool b_n_major; /* B lies with N contiguous */
    bool a_in_registers;
    const char *mistake; /* a name from MISTAKES, or NULL */
    const char *input;   /* input_fill()'s names, or "zeros" */
    uint64_t seed;
};

/* ---- the mistakes, --break WHAT: their names, and what is done wrong */

/* clang-format off */
#define MISTAKES(X)                                                                                \
    X("lbo-sbo-swapped",                                                                           \
      "the leading and the stride offset of both descriptors are exchanged")                       \
    X("wrong-swizzle",                                                                             \
      "the descriptors name another swizzle than the tiles were written with")                     \
    X("unaligned",                                                                                 \
      "B's tile starts 8 bytes late; a descriptor cannot say so: it drops the low 4 bits")         \
    X("row-slot",                                                                                  \
      "bit 0 of an accumulator's index is taken for its row, not bit 1")                           \
    X("missing-proxy-fence",                                                                       \
      "no fence.proxy.async between the ordinary writes and the wgmma")                            \
    X("missing-fence",                                                                             \
      "no wgmma.fence before the wgmma")                                                           \
    X("missing-wait",                                                                              \
      "no wgmma.wait_group before the accumulators are read")
/* clang-format on */

/* What a mistake is, in a sentence; NULL: there is none of that name. */
const char *mistake_text(const char *name);
bool experiment_makes(const struct experiment *e, const char *mistake);

/* ---- what an experiment is called */

/* The image that holds it: "n64", "n64-missing-wait". Returns out. */
const char *experiment_image(const struct experiment *e, char out[48]);
/* "m64n64k16 x1, A smem K-major, B K-major, swizzle 128". Returns out. */
const char *experiment_text(const struct experiment *e, char out[96]);
/* The "problem" of a record. */
json_t *experiment_json(const struct experiment *e);

/* ---- A and B */

/* On the host. */
struct matrices {
    half *a;              /* (64, K) */
    half *b;              /* (N, K) */
    unsigned char *tiles; /* as in shared memory; args.tile_bytes long */
    struct gmma_layout a_layout, b_layout;
    uint32_t b_tile;        /* where B's tile starts */
    struct wgmma_args args; /* all but the addresses */
};

const char *matrices_make(const struct experiment *e, struct matrices *out);
void matrices_free(struct matrices *m);

/* The same on a device. */
struct placed {
    device_ptr a, tiles, c, cycles;
    struct wgmma_args args;
};
const char *placed_make(struct device *d, const struct experiment *e, const struct matrices *m,
                        int n_cycles, struct placed *out);
void placed_free(struct device *d, struct placed *p);

/* Prints the map of shared memory and the descriptors, field by field. */
void explain(FILE *f, const struct experiment *e, const struct matrices *m);

/* ---- judging C */

struct verdict {
    int n_elements;
    int n_wrong; /* further from the double reference than the bound, or not finite */
    double max_error, mean_error;
    double worst_of_bound; /* max over elements of error / bound; at most 1 if all are right */
};
/* The bound: tensor cores add 17 terms (16 products and the accumulator),
 * aligned to the largest and truncated at 2^-25 of its power of two, then
 * truncate to fp32 (Xie et al., MMA-Sim, arXiv 2511.10909):
 *   17 * 2^(e_max - 25) + 2^(e_result - 23)      for each k step. */
void judge(const struct experiment *e, const struct matrices *m, const float *c, bool *is_wrong,
           struct verdict *out);
/* A picture of C: a character for 2 x 2 elements: '.' right, '+' some wrong, '#' all wrong. */
void picture(FILE *f, const struct experiment *e, const bool *is_wrong);

/* ---- measuring */

struct cycles { /* per wgmma */
    int n;      /* launches times warpgroups */
    double median, iqr, min;
};
struct measurement {
    int group, depth; /* wgmma per commit group; groups under way after a wait */
    int warpgroups;   /* per CTA: 1, 2 */
    int n_ctas;       /* 1, or one an SM */
};
/* One launch on the device, many wgmma; NULL, or why not (clock64 says nothing on the emulator). */
const char *measure_cycles(struct device *d, const struct experiment *e,
                           const struct measurement *m, struct cycles *out);
/* TFLOPS of the whole chip by CUDA events, one CTA an SM. */
const char *measure_chip(struct device *d, const struct experiment *e, const struct measurement *m,
                         double *tflops);
/* Counters of one launch that keeps every SM busy with the instruction; on the emulator, one SM. "none": the
 * launch alone, for ncu to look at. */
const char *measure_counters(struct device *d, const struct experiment *e, const char *groups,
                             struct counters *out);
/* max(N / 2, 16 + N / 4); A from registers: N / 2. The tensor core takes N / 2 cycles; shared
 * memory gives 128 bytes a cycle, and B is N * 32 bytes, A 2048. */
double model_cycles(const struct experiment *e);

/* --sweep: all measurements, a table on stdout, progress on stderr, records appended to json_path
 * (or NULL). */
const char *measure_sweep(struct device *d, const char *json_path, int argc, char **argv);

/* ---- one experiment: multiply, judge, measure, count; print, and append the record */

enum status product(const struct experiment *e, const struct options *o, struct device *d, int argc,
                    char **argv);
