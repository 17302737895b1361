#include "library.h"

#include "common/base/heap.h"
#include "common/base/revision.h"
#include "common/device/device_ops.h"
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>

struct library_run {
    struct stage_plan plan;
    struct device_image *image;
    device_ptr workspace;
};

static struct device *device; /* as long as the process lives */

static const char *open_device(void) {
    return device ? NULL : device_open(DEVICE_CUDA, NULL, &device);
}

static const char *problem_of(const int p[8], struct attention *out) {
    *out = (struct attention){
        .batch = p[0],
        .heads = p[1],
        .kv_heads = p[2],
        .seqlen_q = p[3],
        .seqlen_k = p[4],
        .head_dim = p[5],
        .mask = p[6] ? MASK_CAUSAL_BOTTOM_RIGHT : MASK_NONE,
    };
    const char *why = attention_complete(out);
    if (!why && attention_o_elements(out) == 0) why = "an empty problem";
    if (!why) why = open_device();
    return why ? why : stage_supports(out, &device_info(device)->chip);
}

static const char *open_run(const char *images, const struct attention *a, int choice,
                            const uint64_t tensors[5], struct library_run *r) {
    const struct chip *chip = &device_info(device)->chip;
    const size_t bytes = stage.workspace_bytes ? stage.workspace_bytes(a, chip) : 0;
    const char *why = bytes ? device_alloc(device, bytes, &r->workspace) : NULL;
    struct stage_tensors t = {tensors[0], tensors[1], tensors[2],
                              tensors[3], tensors[4], r->workspace};
    r->plan.choice = choice;
    if (!why) why = stage_plan(a, device, &t, &r->plan);
    return why ? why : device_load(device, images, r->plan.image, &r->image);
}

const char *library_open(const char *images, const int problem[8], const uint64_t tensors[5],
                         struct library_run **out) {
    struct attention a;
    const char *why = problem_of(problem, &a);
    if (why) return why;
    struct library_run *r = heap_line(sizeof *r); /* launches lie at multiples of 64 */
    why = open_run(images, &a, problem[7], tensors, r);
    *out = why ? NULL : r;
    if (why) library_close(r);
    return why;
}

void library_close(struct library_run *r) {
    if (r->image) device_unload(device, r->image);
    if (r->workspace) device_free(device, r->workspace);
    free(r);
}

const char *library_launch(struct library_run *r, void *stream) {
    const char *why = NULL;
    void *own = device_cuda_stream(device, stream);
    for (int i = 0; i < r->plan.n_launches && !why; i++)
        why = device_launch(device, r->image, &r->plan.launch[i]);
    device_cuda_stream(device, own);
    return why;
}

const char *library_image(const struct library_run *r) { return r->plan.image; }

const char *library_choice(const int problem[8], int i, double *us) {
    enum { MAX = 64 };
    static struct stage_choice choice[MAX];
    struct attention a;
    if (!stage.choices || problem_of(problem, &a)) return NULL;
    if (i >= stage.choices(&a, &device_info(device)->chip, choice, MAX)) return NULL;
    static char text[sizeof choice[i].image + sizeof choice[i].text + 2];
    snprintf(text, sizeof text, "%s: %s", choice[i].image, choice[i].text);
    *us = choice[i].us;
    return text;
}

const char *library_mark(int mark, void *stream) {
    const char *why = open_device();
    return why ? why : device_cuda_mark(device, mark, stream);
}

double library_clock_mhz(void) {
    double mhz = 0;
    if (device) device_cuda_between(device, &mhz);
    return mhz;
}

const char *library_revision(void) { return revision(); }
