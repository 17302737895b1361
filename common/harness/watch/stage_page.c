#include "stage_page.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/cuda/half.h"
#include "common/device/predictor.h"
#include "watch.h"

#include <math.h>
#include <stdlib.h>

enum { MAP_VALUES = 16384 };

static int tensors_of(const struct bench *b, struct watch_tensor out[WATCH_TENSORS]) {
    const struct attention *a = &b->problem;
    const uint32_t dim = (uint32_t)a->head_dim, q = (uint32_t)a->seqlen_q,
                   k = (uint32_t)a->seqlen_k;
    out[0] = (struct watch_tensor){"Q", b->tensors.q, b->qkv_bytes[0], dim, q, sizeof(half)};
    out[1] = (struct watch_tensor){"K", b->tensors.k, b->qkv_bytes[1], dim, k, sizeof(half)};
    out[2] = (struct watch_tensor){"V", b->tensors.v, b->qkv_bytes[2], dim, k, sizeof(half)};
    out[3] = (struct watch_tensor){"O", b->tensors.o, b->o_bytes, dim, q, sizeof(half)};
    out[4] = (struct watch_tensor){"LSE", b->tensors.lse, b->lse_bytes, q, 1, sizeof(float)};
    return 5;
}

/* The rows of the worst row's head around it. A row that the reference does not have is NaN. */
static const char *map_of(const struct bench *b, const struct inputs *in, const half *o,
                          const struct check_result *found, struct watch_answer *out) {
    const struct attention *a = &b->problem;
    const int64_t head = found->worst_row / a->seqlen_q, row = found->worst_row % a->seqlen_q;
    const int most = MAP_VALUES / a->head_dim > 1 ? MAP_VALUES / a->head_dim : 1;
    struct reference ref;
    const char *why = reference_open(a, in->q + CHECK_GUARD, in->k + CHECK_GUARD,
                                     in->v + CHECK_GUARD, REFERENCE_WORK, 1, &ref);
    if (why) return why;
    *out = (struct watch_answer){.dim = a->head_dim, .n = a->seqlen_q < most ? a->seqlen_q : most};
    out->first = row - out->n / 2 > 0 ? row - out->n / 2 : 0;
    if (out->first + out->n > a->seqlen_q) out->first = a->seqlen_q - out->n;
    snprintf(out->what, sizeof out->what, "batch %lld, head %lld: %.100s",
             (long long)(head / a->heads), (long long)(head % a->heads), found->why);
    const size_t values = (size_t)out->n * (size_t)out->dim;
    double *expected = heap_take(values * sizeof *expected), *got = heap_take(values * sizeof *got);
    const struct tensor_stride *s = &a->o_stride;
    const half *at = o + CHECK_GUARD + head / a->heads * s->batch + head % a->heads * s->head;
    for (size_t i = 0; i < values; i++) {
        expected[i] = NAN;
        got[i] = half_to_float(
            at[(out->first + (int64_t)i / out->dim) * s->row + (int64_t)i % out->dim]);
    }
    for (int64_t r = 0; r < ref.n_rows; r++) {
        const int64_t i = ref.row[r] - head * a->seqlen_q - out->first;
        for (int d = 0; i >= 0 && i < out->n && d < out->dim; d++)
            expected[i * out->dim + d] = ref.o[r * out->dim + d];
    }
    out->expected = expected;
    out->got = got;
    reference_close(&ref);
    return NULL;
}

/* Where the block stops there is no prediction, but what it did until then. */
static const char *watch_again(struct watch *w, struct predictor *c, const struct device_launch *l,
                               const char *why) {
    struct predictor_options o = watch_options(w);
    struct prediction p;
    char *stopped = heap_text(why);
    o.tells_probe = true;
    if (!predictor_launch(c, l, &o, &p)) prediction_close(&p);
    watch_stopped(w, stopped);
    const char *still = watch_is_empty(w) ? reason_as(STATUS_COUNTERS, "%s", stopped) : NULL;
    free(stopped);
    return still;
}

static const char *record(const struct bench *b, struct predictor *c, struct watch **out) {
    struct watch_tensor tensor[WATCH_TENSORS] = {0};
    struct prediction p;
    const struct device_launch *l = device_main_launch(b->plan.launch, b->plan.n_launches);
    const struct sass_kernel *k = sass_find(c->module, l->kernel);
    if (!k) return reason_as(STATUS_COUNTERS, "no kernel '%s' in the cubin", l->kernel);
    *out = watch_open(k, tensor, tensors_of(b, tensor), 0);
    const struct predictor_options o = watch_options(*out);
    const char *why = predictor_launch(c, l, &o, &p);
    if (!why) prediction_close(&p);
    return why ? watch_again(*out, c, l, why) : NULL;
}

const char *watch_stage(const struct bench *b, const struct inputs *in, const half *o,
                        const struct check_result *found, const char *title, const char *path) {
    struct predictor c;
    struct watch *w = NULL;
    struct watch_answer answer = {0};
    const char *why = predictor_open(&c, b->device, stage_image_folder(stage.name), b->plan.image);
    if (!why) why = record(b, &c, &w);
    if (!why && found) why = map_of(b, in, o, found, &answer);
    if (!why) why = watch_write(w, title, c.mhz, c.validated, found ? &answer : NULL, path);
    watch_close(w);
    predictor_close(&c);
    free((void *)answer.expected);
    free((void *)answer.got);
    return why;
}
