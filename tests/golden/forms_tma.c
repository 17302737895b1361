/* Tensor copies. A load dumps twice the box's bytes of shared memory, so that what was not written
 * shows; a store writes one box several times, each to its own place, one after the other. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

#ifndef NEGATIVE
#define NEGATIVE(i, x) 0
#endif
enum { N_STORES = 6, COORD_BYTES = 32 };

static size_t box_bytes(const struct golden_map *m) {
    size_t bytes = (size_t)m->element_bytes;
    for (int i = 0; i < m->rank; i++) bytes *= m->box[i];
    return bytes;
}

/* Rows narrower than the swizzle are spread over its width. */
static size_t shared_bytes(const struct golden_map *m) {
    size_t row = m->box[0] * (size_t)m->element_bytes;
    return m->swizzle_bytes ? box_bytes(m) / row * (size_t)m->swizzle_bytes : box_bytes(m);
}

/* Narrow rows are spread over the swizzle's width, and cases begin at up to 7 * 128 bytes. */
static size_t dump_bytes(const struct golden_map *m) { return 4 * box_bytes(m) + 1024; }

static size_t tensor_bytes(const struct golden_map *m) {
    size_t bytes = m->extent[0] * (size_t)m->element_bytes;
    for (int i = 1; i < m->rank; i++) bytes += (m->extent[i] - 1) * m->stride[i];
    return (bytes + 255) / 256 * 256;
}

static void emit_coordinates(struct golden_text *t, int rank) {
    golden_emit(t, "[%%map, {");
    for (int i = 0; i < rank; i++) golden_emit(t, "%s%%c%d", i ? "," : "", i);
    golden_emit(t, "}]");
}

static void emit_copy_loop(struct golden_text *t, const char *label, const char *line,
                           size_t bytes) {
    golden_emit(
        t,
        "    shl.b32 %%y1, %%thr, 2;\n%s:\n    setp.ge.u32 %%p, %%y1, %zu;\n    @%%p bra %s_end;\n"
        "    cvt.u64.u32 %%x1, %%y1;\n    add.s32 %%y2, %%y0, %%y1;\n%s"
        "    add.s32 %%y1, %%y1, 128;\n    bra %s;\n%s_end:\n",
        label, bytes, label, line, label, label);
}

void golden_ptx_tma(struct golden_text *t, const struct golden_form *f) {
    const struct golden_map *m = &f->map;
    golden_head(t, f);
    golden_emit(
        t,
        "    .reg .b32 %%c<5>;\n    .reg .b64 %%map;\n    .reg .pred %%one;\n"
        "    .shared .align 1024 .b8 smem[%zu];\n    .shared .align 8 .b64 bar;\n"
        "    mov.b64 %%map, map;\n    cvta.param.u64 %%map, %%map;\n    mov.u32 %%y0, smem;\n"
        "    mov.u32 %%y3, bar;\n    setp.eq.u32 %%one, %%thr, 0;\n",
        dump_bytes(m));
    if (m->is_store)
        emit_copy_loop(t, "fill",
                       "    add.s64 %x1, %x1, %in;\n    ld.global.b32 %y4, [%x1+192];\n"
                       "    st.shared.b32 [%y2], %y4;\n",
                       shared_bytes(m));
    else
        emit_copy_loop(t, "fill", "    st.shared.b32 [%y2], -1515870811;\n", dump_bytes(m));
    golden_emit(
        t,
        "    @%%one mbarrier.init.shared::cta.b64 [%%y3], 1;\n    fence.proxy.async.shared::cta;\n"
        "    bar.sync 0;\n    @!%%one bra issued;\n");
    for (int store = 0; store < (m->is_store ? N_STORES : 1); store++) {
        for (int i = 0; i < m->rank; i++)
            golden_emit(t, "    ld.global.b32 %%c%d, [%%in+%d];\n", i, store * COORD_BYTES + 4 * i);
        if (m->is_store) {
            golden_emit(t, "    cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group ", m->rank);
            emit_coordinates(t, m->rank);
            golden_emit(
                t, ", [%%y0];\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n");
        } else {
            golden_emit(t,
                        "    ld.global.b32 %%y5, [%%in+28];\n    add.s32 %%y5, %%y5, %%y0;\n"
                        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%y3], %zu;\n",
                        box_bytes(m));
            golden_emit(t,
                        "    cp.async.bulk.tensor.%dd.shared::cluster.global.tile"
                        ".mbarrier::complete_tx::bytes [%%y5], ",
                        m->rank);
            emit_coordinates(t, m->rank);
            golden_emit(t, ", [%%y3];\n");
        }
    }
    golden_emit(t, "issued:\n");
    if (!m->is_store) {
        golden_emit(t, "wait:\n    mbarrier.try_wait.parity.shared::cta.b64 %%p, [%%y3], 0;\n"
                       "    @!%%p bra wait;\n");
        emit_copy_loop(t, "dump",
                       "    add.s64 %x1, %x1, %out;\n    ld.shared.b32 %y4, [%y2];\n"
                       "    st.global.b32 [%x1], %y4;\n",
                       dump_bytes(m));
    }
    golden_emit(t, "    ret;\n}\n");
}

void golden_operands_tma(const struct golden_form *f, int c, void *in) {
    uint64_t s = golden_seed(f, c);
    int32_t *w = in;
    memset(in, 0, f->in_bytes);
    for (int store = 0; store < (f->map.is_store ? N_STORES : 1); store++)
        for (int i = 0; i < f->map.rank; i++) {
            int extent = (int)f->map.extent[i], box = (int)f->map.box[i];
            /* case 0 at the origin; the others from wholly before the tensor to wholly behind it */
            if (c + store)
                w[store * 8 + i] = (int)(golden_next(&s) % (unsigned)(extent + 2 * box)) - box;
            if ((c + store) % 4 == 1 && i) w[store * 8 + i] = 0;
            /* illegal instructions on an H200: see README.md */
            if (!i) w[store * 8] &= -(16 / f->map.element_bytes);
            if (f->map.is_store && w[store * 8 + i] < 0)
                w[store * 8 + i] = NEGATIVE(i, w[store * 8 + i]);
        }
    if (!f->map.is_store)
        w[7] = c % 8 * 128; /* where in shared memory: swizzles go by the address */
    if (f->map.is_store)
        for (size_t i = N_STORES * 8; i < f->in_bytes / 4; i++) w[i] = (int32_t)golden_next(&s);
}

static struct golden_form *add(struct golden_form *at, struct golden_map m) {
    struct golden_form f = {.threads = 32, .map = m};
    f.n_cases = m.is_store ? 1 : 8;
    f.common_bytes = m.is_store ? 0 : tensor_bytes(&m);
    f.out_bytes = m.is_store ? tensor_bytes(&m) : dump_bytes(&m);
    f.in_bytes = m.is_store ? N_STORES * COORD_BYTES + shared_bytes(&m) : COORD_BYTES;
    int n = snprintf(f.name, sizeof f.name, "tma_%s_%dd_%dB_s%d_box", m.is_store ? "store" : "load",
                     m.rank, m.element_bytes, m.swizzle_bytes);
    for (int i = 0; i < m.rank; i++)
        n += snprintf(f.name + n, sizeof f.name - (size_t)n, "%s%u", i ? "x" : "", m.box[i]);
    *at = f;
    return at + 1;
}

int golden_list_tma(struct golden_form *out) {
    static const struct golden_map maps[] = {
        {1, 2, {100}, {0}, {64}, 0, 0},
        {2, 2, {72, 40}, {0, 160}, {64, 16}, 128, 0},
        {2, 2, {72, 40}, {0, 160}, {32, 16}, 64, 0},
        {2, 2, {72, 40}, {0, 160}, {16, 16}, 32, 0},
        {2, 2, {72, 40}, {0, 160}, {24, 5}, 0, 0},
        {2, 2, {72, 40}, {0, 160}, {32, 16}, 128, 0},
        {2, 2, {72, 40}, {0, 160}, {8, 16}, 32, 0},
        {2, 1, {80, 40}, {0, 80}, {64, 16}, 64, 0},
        {2, 4, {40, 30}, {0, 160}, {32, 8}, 128, 0},
        {2, 8, {40, 30}, {0, 320}, {6, 8}, 0, 0},
        {3, 2, {64, 20, 5}, {0, 128, 2560}, {64, 8, 2}, 128, 0},
        {3, 2, {8, 20, 8}, {0, 128, 16}, {8, 16, 4}, 0, 0},
        {4, 2, {32, 9, 4, 3}, {0, 64, 576, 2304}, {32, 4, 2, 2}, 64, 0},
        {5, 2, {16, 3, 4, 2, 3}, {0, 32, 96, 384, 768}, {16, 2, 3, 2, 2}, 32, 0},
    };
    struct golden_form *at = out;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        at = add(at, maps[i]);
        struct golden_map store = maps[i];
        store.is_store = 1;
        at = add(at, store);
    }
    return (int)(at - out);
}
