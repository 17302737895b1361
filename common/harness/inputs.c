#include "inputs.h"

#include "check.h"
#include "input.h"
#include "common/base/npy.h"
#include "common/base/reason.h"

#include <stdlib.h>
#include <string.h>

/* Room for n elements between guard bands, all poison; NULL: no memory. */
static half *guarded(size_t n) {
    half *p = malloc((n + 2 * CHECK_GUARD) * sizeof *p);
    if (p) check_poison(p, n + 2 * CHECK_GUARD);
    return p;
}

static const char *inputs_alloc(const struct attention *a, struct inputs *out) {
    *out = (struct inputs){.q = guarded(attention_q_elements(a)),
                           .k = guarded(attention_k_elements(a)),
                           .v = guarded(attention_v_elements(a))};
    if (out->q && out->k && out->v) return NULL;
    inputs_free(out);
    return reason_as(STATUS_DEVICE, "not enough memory on this machine for the inputs");
}

void inputs_free(struct inputs *in) {
    free(in->q);
    free(in->k);
    free(in->v);
    *in = (struct inputs){0};
}

const char *inputs_make(const struct attention *a, const char *name, uint64_t seed,
                        struct inputs *out) {
    const char *why = inputs_alloc(a, out);
    if (why) return why;
    why =
        input_fill(name, seed, a, out->q + CHECK_GUARD, out->k + CHECK_GUARD, out->v + CHECK_GUARD);
    if (why) inputs_free(out);
    return why;
}

/* What the shapes of three files must have in common. */
static const char *shapes_to_problem(const int64_t q[4], const int64_t k[4], const int64_t v[4],
                                     struct attention *a) {
    if (memcmp(k, v, 4 * sizeof *k))
        return reason_as(STATUS_USAGE, "--k and --v differ in shape; they must be alike, (batch, "
                                       "kv_heads, seqlen_k, head_dim)");
    if (q[0] != k[0] || q[3] != k[3])
        return reason_as(STATUS_USAGE,
                         "--q and --k differ in batch (%lld, %lld) or head_dim "
                         "(%lld, %lld)",
                         (long long)q[0], (long long)k[0], (long long)q[3], (long long)k[3]);
    for (int i = 0; i < 4; i++)
        if (q[i] > INT32_MAX || k[i] > INT32_MAX)
            return reason_as(STATUS_UNSUPPORTED, "an extent of 2^31 or more in --q or --k");
    a->batch = (int)q[0];
    a->heads = (int)q[1];
    a->kv_heads = (int)k[1];
    a->seqlen_q = (int)q[2];
    a->seqlen_k = (int)k[2];
    a->head_dim = (int)q[3];
    const char *why = attention_complete(a);
    return why ? reason_as(STATUS_UNSUPPORTED, "%s", why) : NULL;
}

const char *inputs_read(const char *q_path, const char *k_path, const char *v_path,
                        struct attention *a, struct inputs *out) {
    const char *path[3] = {q_path, k_path, v_path}, *why = NULL;
    int64_t shape[3][4];
    half *data[3] = {NULL};
    const char *(*read)(const char *, int64_t *, half **) =
        a->dtype == DTYPE_BF16 ? npy_read_bf16 : npy_read_half;
    *out = (struct inputs){0};
    for (int i = 0; i < 3 && !why; i++)
        if ((why = read(path[i], shape[i], &data[i])))
            why = reason_as(reason_status(why, STATUS_FILE), "%s", why);
    if (why) goto done;
    if ((why = shapes_to_problem(shape[0], shape[1], shape[2], a))) goto done;
    if ((why = inputs_alloc(a, out))) goto done;
    memcpy(out->q + CHECK_GUARD, data[0], attention_q_elements(a) * sizeof(half));
    memcpy(out->k + CHECK_GUARD, data[1], attention_k_elements(a) * sizeof(half));
    memcpy(out->v + CHECK_GUARD, data[2], attention_v_elements(a) * sizeof(half));
done:
    for (int i = 0; i < 3; i++) free(data[i]);
    return why;
}
