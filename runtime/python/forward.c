#include "forward.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/device_ops.h"
#include "common/harness/stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opened once and kept, as Python's modules are. */
static struct {
    pthread_mutex_t lock;
    struct device *device[2]; /* the emulator, a GPU */
    const char *chip;         /* what the emulator stands for */
    struct loaded {
        struct device *device;
        char name[48];
        struct device_image *image;
        struct loaded *next;
    } * loaded;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *open_device(const struct forward *f, struct device **out) {
    struct device **d = &kept.device[f->on_gpu ? 1 : 0];
    const char *chip = f->chip ? f->chip : "h200";
    if (*d && !f->on_gpu && strcmp(kept.chip, chip))
        return reason_as(STATUS_USAGE,
                         "the emulator already stands for %s in this process, not for %s",
                         kept.chip, chip);
    const char *why = *d ? NULL : device_open(f->on_gpu ? DEVICE_CUDA : DEVICE_EMU, f->chip, d);
    if (!why && !kept.chip && !f->on_gpu) kept.chip = strdup(chip);
    *out = *d;
    return why;
}

static const char *load(struct device *d, const char *folder, const char *name,
                        struct device_image **out) {
    struct loaded *l = kept.loaded;
    while (l && (l->device != d || strcmp(l->name, name))) l = l->next;
    if (!l) {
        struct device_image *image = NULL;
        const char *why = device_load(d, folder, name, &image);
        if (why) return why;
        l = heap_zeroed(1, sizeof *l);
        *l = (struct loaded){.device = d, .image = image, .next = kept.loaded};
        snprintf(l->name, sizeof l->name, "%s", name);
        kept.loaded = l;
    }
    *out = l->image;
    return NULL;
}

/* Plans and launches; the tensors, workspace included, are there. */
static const char *launch(struct device *d, const struct attention *a,
                          const struct stage_tensors *t, const char *images) {
    struct stage_plan plan = {0};
    struct device_image *image = NULL;
    const char *why = stage_plan(a, d, t, &plan);
    if (!why) why = load(d, images, plan.image, &image);
    if (!why)
        plan.launch[0].overlaps_previous =
            false; /* it is the caller's, and waits for nothing of ours */
    for (int i = 0; i < plan.n_launches && !why; i++)
        why = device_launch(d, image, &plan.launch[i]);
    return why;
}

static size_t workspace_bytes(struct device *d, const struct attention *a) {
    return stage.workspace_bytes ? stage.workspace_bytes(a, &device_info(d)->chip) : 0;
}

/* A GPU's own tensors: launched on the caller's stream, and left to it. */
static const char *on_stream(struct device *d, const struct attention *a, const struct forward *f) {
    struct stage_tensors t = {.q = f->q, .k = f->k, .v = f->v, .o = f->o, .lse = f->lse};
    void *own = device_cuda_stream(d, (void *)(uintptr_t)f->stream);
    const char *why = device_cuda_scratch(d, workspace_bytes(d, a), &t.workspace), *end = NULL;
    if (!why) {
        why = launch(d, a, &t, f->images);
        end = device_cuda_scratch_end(d, t.workspace);
    }
    device_cuda_stream(d, own);
    return why ? why : end;
}

/* The host's tensors, gaps between rows included: O's gaps come back as they were. */
static const char *copied(struct device *d, const struct attention *a, const struct forward *f) {
    const size_t bytes[5] = {2 * attention_q_elements(a), 2 * attention_k_elements(a),
                             2 * attention_v_elements(a), 2 * attention_o_elements(a),
                             4 * attention_lse_elements(a)};
    void *host[5] = {(void *)(uintptr_t)f->q, (void *)(uintptr_t)f->k, (void *)(uintptr_t)f->v,
                     (void *)(uintptr_t)f->o, (void *)(uintptr_t)f->lse};
    device_ptr at[5] = {0}, workspace = 0;
    const char *why = NULL;
    for (int i = 0; i < 5 && !why; i++) {
        why = device_alloc(d, bytes[i], &at[i]);
        if (!why && i < 4) why = device_copy_in(d, at[i], host[i], bytes[i]);
    }
    if (!why && workspace_bytes(d, a)) why = device_alloc(d, workspace_bytes(d, a), &workspace);
    struct stage_tensors t = {at[0], at[1], at[2], at[3], at[4], workspace};
    if (!why) why = launch(d, a, &t, f->images);
    if (!why) why = device_sync(d);
    for (int i = 3; i < 5 && !why; i++) why = device_copy_out(d, host[i], at[i], bytes[i]);
    for (int i = 0; i < 5; i++) device_free(d, at[i]);
    device_free(d, workspace);
    return why;
}

static struct tensor_stride stride_of(const int64_t s[3]) {
    return (struct tensor_stride){.batch = s[0], .head = s[1], .row = s[2]};
}

static const char *forward(const struct forward *f) {
    struct attention a = {.batch = f->batch,
                          .heads = f->heads,
                          .kv_heads = f->kv_heads,
                          .seqlen_q = f->seqlen_q,
                          .seqlen_k = f->seqlen_k,
                          .head_dim = f->head_dim,
                          .mask = (enum mask)f->mask,
                          .dtype = f->bf16 ? DTYPE_BF16 : DTYPE_FP16,
                          .scale = f->scale,
                          .q_stride = stride_of(f->stride[0]),
                          .k_stride = stride_of(f->stride[1]),
                          .v_stride = stride_of(f->stride[2]),
                          .o_stride = stride_of(f->stride[3])};
    struct device *d = NULL;
    const char *why = attention_complete(&a);
    if (why) return reason_as(STATUS_UNSUPPORTED, "%s", why);
    if ((why = open_device(f, &d))) return why;
    if ((why = stage_supports(&a, &device_info(d)->chip)))
        return reason_as(STATUS_UNSUPPORTED, "%s", why);
    if (attention_o_elements(&a) == 0) return NULL;
    return f->is_device ? on_stream(d, &a, f) : copied(d, &a, f);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *attnlab_forward(const struct forward *f, int *status) {
    pthread_mutex_lock(&kept.lock);
    const char *why = forward(f);
    pthread_mutex_unlock(&kept.lock);
    *status = why ? (int)reason_status(why, STATUS_DEVICE) : 0;
    return why;
}
