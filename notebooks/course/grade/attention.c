/* The subject of a trial: attention, as the stage that is linked plans it. */
#include "cases.h"
#include "trial.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/harness/bench.h"
#include "common/harness/timing.h"

#include <stdlib.h>
#include <string.h>

struct attention_own {
    struct attention problem;
    struct inputs inputs;
    struct bench bench;
    half *now[3]; /* what Q, K and V are on the device */
    device_ptr
        whole[5]; /* the allocations that have Q, K, V, O and LSE; 0: where bench_open() put them */
};

/* Puts the tensors where the case says (no kernel may rely on where they begin), and plans once more. */
static const char *place(struct attention_own *own, const json_t *offsets) {
    struct bench *b = &own->bench;
    struct stage_plan plan = {0};
    device_ptr *base[5] = {&b->q, &b->k, &b->v, &b->o, &b->lse},
               *tensor[5] = {&b->tensors.q, &b->tensors.k, &b->tensors.v, &b->tensors.o,
                             &b->tensors.lse};
    const size_t bytes[5] = {b->qkv_bytes[0], b->qkv_bytes[1], b->qkv_bytes[2], b->o_bytes,
                             b->lse_bytes};
    const char *why = NULL;
    if (!json_array_size(offsets)) return NULL;
    for (size_t t = 0; t < 5 && !why; t++) {
        const size_t offset = (size_t)json_integer_value(json_array_get(offsets, t));
        if ((why = device_alloc(b->device, bytes[t] + offset + 128, &own->whole[t]))) return why;
        device_free(b->device, *base[t]);
        *tensor[t] = *tensor[t] - *base[t] + own->whole[t] + offset;
        *base[t] = own->whole[t] + offset;
    }
    memcpy(plan.image, b->plan.image, sizeof plan.image);
    if (!why) why = stage.plan(&own->problem, b->device, &b->tensors, &plan);
    memcpy(plan.image, b->plan.image, sizeof plan.image);
    b->plan = plan;
    return why;
}

/* Allocations are freed by where they begin. */
static void unplace(struct attention_own *own) {
    struct bench *b = &own->bench;
    device_ptr *base[5] = {&b->q, &b->k, &b->v, &b->o, &b->lse};
    for (int t = 0; t < 5; t++)
        if (own->whole[t]) *base[t] = own->whole[t];
}

const char *subject_open(const json_t *t, struct device *d, struct subject *out) {
    struct attention_own *own = heap_line(sizeof *own); /* launches lie at multiples of 64 */
    *out = (struct subject){.device = d, .own = own};
    const char *why = case_problem(t, &own->problem);
    if (!why) why = inputs_make(&own->problem, trial_text(t, "input"), trial_seed(t), &own->inputs);
    if (!why)
        why = bench_open(d, &own->problem, &own->inputs, trial_text(t, "image"), 0, &own->bench);
    if (!why) why = place(own, json_object_get(t, "offsets"));
    if (!why) why = subject_inputs(out, NULL);
    if (why) return why;
    out->image = own->bench.image;
    out->launch = own->bench.plan.launch;
    out->n_launches = own->bench.plan.n_launches;
    out->half_bytes = own->bench.o_bytes;
    out->out_bytes = own->bench.o_bytes + own->bench.lse_bytes;
    return NULL;
}

void subject_close(struct subject *s) {
    struct attention_own *own = s->own;
    if (!own) return;
    unplace(own);
    if (s->image) bench_close(&own->bench);
    inputs_free(&own->inputs);
    for (int i = 0; i < 3; i++) free(own->now[i]);
    free(own);
}

const char *subject_poison(struct subject *s) {
    const struct bench *b = &((struct attention_own *)s->own)->bench;
    const char *why = device_fill(b->device, b->o, CHECK_POISON_WORD, (b->o_bytes + 3) / 4 * 4);
    return why ? why : device_fill(b->device, b->lse, CHECK_POISON_WORD, b->lse_bytes);
}

const char *subject_fetch(struct subject *s, void *outputs) {
    const struct bench *b = &((struct attention_own *)s->own)->bench;
    const char *why = device_copy_out(b->device, outputs, b->o, b->o_bytes);
    return why ? why
               : device_copy_out(b->device, (char *)outputs + b->o_bytes, b->lse, b->lse_bytes);
}

/* Element x of tensor `i`. What P multiplies stays apart from P itself, and Q from K and V, by its sign. */
static half changed(const struct changed_inputs *c, int i, half x) {
    const bool is_q = i == 0, is_v = i == 2;
    if (c->spoil->how == EMU_SPOIL_DOUBLED ? 0 : is_q == (c->spoil->how == EMU_SPOIL_DRAWN))
        x &= 0x7fff;
    if (!c->instead || (is_v && !c->v_too)) return x;
    return emu_spoil_half(c->spoil, x, is_q || is_v);
}

const char *subject_inputs(struct subject *s, const struct changed_inputs *c) {
    struct attention_own *own = s->own;
    const struct bench *b = &own->bench;
    const device_ptr base[3] = {b->q, b->k, b->v};
    const half *drawn[3] = {own->inputs.q, own->inputs.k, own->inputs.v};
    const char *why = NULL;
    for (int i = 0; i < 3 && !why; i++) {
        const size_t n = b->qkv_bytes[i] / sizeof(half);
        if (!own->now[i]) own->now[i] = heap_take(b->qkv_bytes[i]);
        for (size_t e = 0; e < n; e++)
            own->now[i][e] = c ? changed(c, i, drawn[i][e]) : drawn[i][e];
        why = device_copy_in(s->device, base[i], own->now[i], b->qkv_bytes[i]);
    }
    return why;
}

const char *subject_changed(struct subject *s, json_t *names) {
    const struct attention_own *own = s->own;
    const struct bench *b = &own->bench;
    const device_ptr base[3] = {b->q, b->k, b->v};
    for (int i = 0; i < 3; i++) {
        void *copy = malloc(b->qkv_bytes[i]);
        const char *why =
            copy ? device_copy_out(b->device, copy, base[i], b->qkv_bytes[i]) : "out of memory";
        bool differs = !why && memcmp(copy, own->now[i], b->qkv_bytes[i]);
        free(copy);
        if (why) return why;
        if (differs) json_array_append_new(names, json_stringn(&"qkv"[i], 1));
    }
    return NULL;
}

/* A kernel that reads an answer from O reads that of the other problem. Work kept from the launch
 * before is that of the other problem, too. */
const char *subject_time(struct subject *s, const json_t *t, double *us, double *iqr_us) {
    struct attention_own *own = s->own;
    struct bench other = {0};
    struct inputs in = {0};
    struct timing timing = {0};
    struct device_launch launch[2 * STAGE_MAX_LAUNCHES];
    struct stage_plan second = {0};
    int n = 0;
    const char *why = inputs_make(&own->problem, trial_text(t, "input"), trial_seed(t) + 1, &in);
    if (why) return why;
    if (!(why = bench_open(s->device, &own->problem, &in, own->bench.plan.image, 0, &other))) {
        struct stage_tensors to = other.tensors;
        to.o = own->bench.tensors.o;
        to.lse = own->bench.tensors.lse;
        memcpy(second.image, own->bench.plan.image, sizeof second.image);
        why = stage.plan(&own->problem, s->device, &to, &second);
        for (int i = 0; i < own->bench.plan.n_launches; i++)
            launch[n++] = own->bench.plan.launch[i];
        for (int i = 0; i < second.n_launches; i++) launch[n++] = second.launch[i];
        if (!why)
            why = timing_measure(s->device, s->image, launch, n, false, PREDICTOR_LOADED, 0.25, 200,
                                 &timing);
        bench_close(&other);
    }
    inputs_free(&in);
    *us = timing.median_us / 2;
    *iqr_us = timing.iqr_us / 2;
    return why;
}
