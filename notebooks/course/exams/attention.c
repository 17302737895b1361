/* The host's part of exam 3: tensor maps, and the launch that the kernel's file asks for. Linked with the harness it is
 * build/stage-0, which runs a student's kernel as a stage; with the grader, build/trial-0. */
#include "common/base/reason.h"
#include "common/harness/stage.h"

#include <string.h>

/* launch[4], which the kernel's file defines. */
enum { LAUNCH_ROWS, LAUNCH_KEYS, LAUNCH_THREADS, LAUNCH_SHARED, LAUNCH_WORDS };
enum { DIM = 128, MOST_ROWS = 256, MOST_THREADS = 1024 };

static const char *supports(const struct attention *a, const struct chip *chip) {
    if (a->head_dim != DIM)
        return reason("exam 3 takes head_dim 128, not %d: give --head-dim 128", a->head_dim);
    if (chip->cc != 90) return reason("exam 3 is for Hopper; %s is sm_%d", chip->board, chip->cc);
    if (a->seqlen_k == 0) return reason("exam 3 takes at least one key: TMA has no empty tensors");
    const struct tensor_stride *const stride[] = {&a->q_stride, &a->k_stride, &a->v_stride};
    for (int i = 0; i < 3; i++)
        if (stride[i]->batch % 8 || stride[i]->head % 8)
            return reason("exam 3 takes strides that are multiples of 8 elements, as TMA does");
    return NULL;
}

/* What the image asks for, in its constant `launch`. */
static const char *read_launch(struct device *d, const char *image, int32_t asked[LAUNCH_WORDS]) {
    struct device_image *loaded = NULL;
    device_ptr p;
    size_t bytes, wanted = LAUNCH_WORDS * sizeof *asked;
    const char *why = device_load(d, stage_image_folder(stage.name), image, &loaded);
    if (why) return why;
    if (device_variable(d, loaded, "launch", &p, &bytes) || bytes != wanted)
        why = reason_as(
            STATUS_UNSUPPORTED,
            "there is no `extern \"C\" __constant__ int launch[4]`, as in the exam's page");
    else
        why = device_copy_out(d, asked, p, wanted);
    device_unload(d, loaded);
    if (why) return why;
    const int rows = asked[LAUNCH_ROWS], keys = asked[LAUNCH_KEYS], threads = asked[LAUNCH_THREADS];
    if (rows < 1 || keys < 1 || rows > MOST_ROWS || keys > MOST_ROWS || threads < 32 ||
        threads > MOST_THREADS || threads % 32 || asked[LAUNCH_SHARED] < 0)
        return reason_as(
            STATUS_UNSUPPORTED,
            "launch is {%d, %d, %d, %d}: rows and keys are 1 to %d, threads a multiple of 32 up to "
            "%d, bytes not negative",
            rows, keys, threads, asked[LAUNCH_SHARED], MOST_ROWS, MOST_THREADS);
    return NULL;
}

/* Boxes of 64 elements and `box` rows of a tensor (batch, heads, seqlen, DIM). */
static const char *add_map(struct device *d, device_ptr base, const struct attention *a,
                           const struct tensor_stride *s, int heads, int seqlen, int box,
                           struct device_launch *to) {
    _Alignas(64) unsigned char map[128];
    const struct device_tensor_map m = {
        .base = base,
        .rank = 4,
        .extent = {DIM, (uint64_t)seqlen, (uint64_t)heads, (uint64_t)a->batch},
        .stride = {2, 2 * (uint64_t)s->row, 2 * (uint64_t)s->head, 2 * (uint64_t)s->batch},
        .box = {64, (uint32_t)box, 1, 1},
        .swizzle_bytes = 128,
    };
    const char *why = device_tensor_map(d, &m, map);
    if (!why) device_launch_arg(to, map, sizeof map);
    return why;
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    int32_t asked[LAUNCH_WORDS];
    const struct attention_args args = stage_args(a, t);
    struct device_launch *l = &out->launch[0];
    strcpy(out->image, "d128");
    const char *why = read_launch(d, out->image, asked);
    if (why) return why;
    out->n_launches = 1;
    out->is_other_kernel = true;
    *l = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)((a->seqlen_q + asked[LAUNCH_ROWS] - 1) / asked[LAUNCH_ROWS]),
                 (unsigned)a->heads, (unsigned)a->batch},
        .block = {(unsigned)asked[LAUNCH_THREADS], 1, 1},
        .shared_bytes = (unsigned)asked[LAUNCH_SHARED],
    };
    device_launch_arg(l, &args, sizeof args);
    why = add_map(d, t->q, a, &a->q_stride, a->heads, a->seqlen_q, asked[LAUNCH_ROWS], l);
    if (!why)
        why = add_map(d, t->k, a, &a->k_stride, a->kv_heads, a->seqlen_k, asked[LAUNCH_KEYS], l);
    if (!why)
        why = add_map(d, t->v, a, &a->v_stride, a->kv_heads, a->seqlen_k, asked[LAUNCH_KEYS], l);
    return why;
}

const struct stage stage = {
    .name = "0-exam-3",
    .previous = "",
    .row_error_limit = 1e-3,
    .max_registers = 255,
    .tensor_family = "HGMMA",
    .supports = supports,
    .plan = plan,
};
