#include "bench.h"

#include "common/base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A buffer on the device with room for n elements between guard bands. */
static const char *alloc(struct bench *b, size_t n, size_t element_bytes, device_ptr *base,
                         size_t *bytes) {
    *bytes = (n + 2 * CHECK_GUARD) * element_bytes;
    return device_alloc(b->device, (*bytes + 3) / 4 * 4, base);
}

static const char *place_tensors(struct bench *b, const struct inputs *in) {
    const struct attention *a = &b->problem;
    const size_t n[3] = {attention_q_elements(a), attention_k_elements(a), attention_v_elements(a)};
    const half *from[3] = {in->q, in->k, in->v};
    device_ptr *base[3] = {&b->q, &b->k, &b->v};
    const char *why;
    for (int i = 0; i < 3; i++) {
        if ((why = alloc(b, n[i], sizeof(half), base[i], &b->qkv_bytes[i]))) return why;
        if ((why = device_copy_in(b->device, *base[i], from[i], b->qkv_bytes[i]))) return why;
        b->input_hash[i] = check_hash(from[i], b->qkv_bytes[i]);
    }
    if ((why = alloc(b, attention_o_elements(a), sizeof(half), &b->o, &b->o_bytes))) return why;
    if ((why = alloc(b, attention_lse_elements(a), sizeof(float), &b->lse, &b->lse_bytes)))
        return why;
    b->tensors.q = b->q + CHECK_GUARD * sizeof(half);
    b->tensors.k = b->k + CHECK_GUARD * sizeof(half);
    b->tensors.v = b->v + CHECK_GUARD * sizeof(half);
    b->tensors.o = b->o + CHECK_GUARD * sizeof(half);
    b->tensors.lse = b->lse + CHECK_GUARD * sizeof(float);
    const struct chip *chip = &device_info(b->device)->chip;
    bool empty = attention_o_elements(a) == 0; /* a stage is never asked about one */
    size_t workspace = stage.workspace_bytes && !empty ? stage.workspace_bytes(a, chip) : 0;
    return workspace ? device_alloc(b->device, workspace, &b->tensors.workspace) : NULL;
}

static bool is_bf16(const char *image) { return strstr(image, "-bf16"); }

/* --image may choose among images of one tile: the head_dim in its name, and -small, stay as planned.
 * Grids and blocks are made for the planned one. */
static const char *image_fits(const char *image, const char *planned) {
    int asked = 0, wanted = 0;
    bool other_dim = sscanf(image, "d%d", &asked) == 1 && sscanf(planned, "d%d", &wanted) == 1 &&
                     asked != wanted;
    if (is_bf16(image) && !is_bf16(planned))
        return reason_as(STATUS_USAGE, "image %s is for --dtype bf16", image);
    if (!other_dim && !strstr(image, "-small") == !strstr(planned, "-small")) return NULL;
    return reason_as(STATUS_USAGE, "image %s is not for this problem, which takes %s", image,
                     planned);
}

static const char *plan_and_load(struct bench *b, const char *image, int choice) {
    b->plan = (struct stage_plan){.choice = choice};
    if (image) snprintf(b->plan.image, sizeof b->plan.image, "%s", image);
    if (choice && !stage.choices)
        return reason_as(STATUS_USAGE, "stage %s has one way only: leave out --choice", stage.name);
    const char *why = stage_plan(&b->problem, b->device, &b->tensors, &b->plan);
    if (!why && image) why = image_fits(image, b->plan.image);
    if (why) return why;
    if (image) stage_image_of_type(b->problem.dtype, image, b->plan.image, sizeof b->plan.image);
    return device_load(b->device, stage_image_folder(stage.name), b->plan.image, &b->image);
}

const char *bench_open(struct device *d, const struct attention *a, const struct inputs *in,
                       const char *image, int choice, struct bench *out) {
    *out = (struct bench){.device = d, .problem = *a};
    const char *why = stage_supports(a, &device_info(d)->chip);
    if (why) return reason_as(STATUS_UNSUPPORTED, "%s", why);
    if ((why = place_tensors(out, in))) goto fail;
    if (attention_o_elements(a) == 0) return NULL; /* nothing to launch */
    if ((why = plan_and_load(out, image, choice))) goto fail;
    return NULL;
fail:
    bench_close(out);
    return why;
}

const char *bench_take(struct bench *b, int choice) {
    device_unload(b->device, b->image);
    b->image = NULL;
    return plan_and_load(b, NULL, choice);
}

void bench_close(struct bench *b) {
    const device_ptr p[] = {b->q, b->k, b->v, b->o, b->lse, b->tensors.workspace};
    device_unload(b->device, b->image);
    for (int i = 0; i < 6; i++) device_free(b->device, p[i]);
    *b = (struct bench){.device = b->device};
}

const char *bench_launch(struct bench *b) {
    const char *why = NULL;
    for (int i = 0; i < b->plan.n_launches && !why; i++)
        why = device_launch(b->device, b->image, &b->plan.launch[i]);
    return why ? why : device_sync(b->device);
}

const char *bench_run(struct bench *b, half *o, float *lse) {
    const char *why = device_fill(b->device, b->o, CHECK_POISON_WORD, (b->o_bytes + 3) / 4 * 4);
    if (!why) why = device_fill(b->device, b->lse, CHECK_POISON_WORD, b->lse_bytes);
    if (!why) why = bench_launch(b);
    if (!why) why = device_copy_out(b->device, o, b->o, b->o_bytes);
    if (!why) why = device_copy_out(b->device, lse, b->lse, b->lse_bytes);
    return why;
}

/* Fetches q, k and v and hashes them. */
static const char *hash_inputs(struct bench *b, uint64_t hash[3]) {
    const device_ptr base[3] = {b->q, b->k, b->v};
    size_t most = 0;
    for (int i = 0; i < 3; i++) most = b->qkv_bytes[i] > most ? b->qkv_bytes[i] : most;
    void *copy = malloc(most);
    const char *why =
        copy ? NULL : reason_as(STATUS_DEVICE, "not enough memory on this machine to check");
    if (!why) check_poison(copy, most / sizeof(half));
    for (int i = 0; i < 3 && !why; i++) {
        why = device_copy_out(b->device, copy, base[i], b->qkv_bytes[i]);
        hash[i] = check_hash(copy, b->qkv_bytes[i]);
    }
    free(copy);
    return why;
}

const char *bench_check(struct bench *b, const struct inputs *in, bool outlier_input, double work,
                        uint64_t seed, half *o, float *lse, struct check_result *out) {
    struct reference reference = {0};
    half *o_run[2] = {o ? o : malloc(b->o_bytes), malloc(b->o_bytes)};
    float *lse_run[2] = {lse ? lse : malloc(b->lse_bytes), malloc(b->lse_bytes)};
    struct check_evidence e = {.problem = &b->problem,
                               .reference = &reference,
                               .row_error_limit = stage.row_error_limit,
                               .outlier_input = outlier_input};
    const char *why = NULL;
    if (!o_run[0] || !o_run[1] || !lse_run[0] || !lse_run[1])
        why = reason_as(STATUS_DEVICE, "not enough memory on this machine to check");
    for (int r = 0; r < 2 && !why; r++) {
        check_poison(o_run[r], b->o_bytes / sizeof(half));
        why = bench_run(b, o_run[r], lse_run[r]);
        e.run[r] = (struct check_run){o_run[r], lse_run[r]};
    }
    memcpy(e.inputs_before, b->input_hash, sizeof e.inputs_before);
    if (!why) why = hash_inputs(b, e.inputs_after);
    if (!why) /* only now: no kernel can have read it */
        why = reference_open(&b->problem, in->q + CHECK_GUARD, in->k + CHECK_GUARD,
                             in->v + CHECK_GUARD, work, seed, &reference);
    if (!why) check_attention(&e, out);
    reference_close(&reference);
    for (int r = 0; r < 2; r++) {
        if (r || !o) free(o_run[r]);
        if (r || !lse) free(lse_run[r]);
    }
    return why;
}
