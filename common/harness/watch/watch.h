/* A page that shows what the first block of a launch does, cycle by cycle: its warps, its tiles in shared
 * memory, fragments, barriers and the tensor pipe. From the predictor, which executes the machine code:
 *
 *   watch_open - predictor_launch or predictor_grid with watch_options() - watch_write - watch_close
 *
 * The page is one HTML file that needs no network: page.html of this folder with D3 in it, from build/watch (watch.mk),
 * and the data as one JSON object, whose fields page.js documents. */
#pragma once

#include "emulator/predictor/predict.h"

#include <stdio.h>

/* An array in global memory: what tiles and copies are named by. */
struct watch_tensor {
    const char *name;
    uint64_t begin, bytes;
    uint32_t row, rows; /* elements in a row; rows of a sequence; 0: not known */
    uint8_t element_bytes;
};
enum { WATCH_TENSORS = 8 };

/* Of a wrong answer: rows [first, first + n) of one head, (n, dim) each. */
struct watch_answer {
    char what[160];
    int64_t first;
    int n, dim;
    const double *expected, *got;
};

struct watch; /* what was recorded so far */
/* Records a kernel's block until `limit` bytes of the page are full (0: WATCH_BYTES). */
enum { WATCH_BYTES = 2000000 };
struct watch *watch_open(const struct sass_kernel *k, const struct watch_tensor *t, int n_tensors,
                         size_t limit);
struct predictor_options watch_options(struct watch *w);
/* Why the block does not end, for the page. */
void watch_stopped(struct watch *w, const char *why);
bool watch_is_empty(const struct watch *w); /* no instruction was recorded */
/* title: of the page. `answer` may be NULL: it is right, or was not judged. */
const char *watch_write(struct watch *w, const char *title, double mhz, const char *validated,
                        const struct watch_answer *answer, const char *path);
void watch_close(struct watch *w);
