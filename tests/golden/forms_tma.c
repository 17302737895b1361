/* Tensor copies. A load dumps twice the box's bytes of shared memory, so that what was not written
 * shows; a store writes one box several times, each to its own place, one after the other. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

#ifndef NEGATIVE
#define NEGATIVE(i, x) 0
#endif
#define BOX 0, {0}, {0}, NULL, 0 /* neither im2col nor a reduction */
enum { N_STORES = 6, COORD_BYTES = 32 };

static size_t box_bytes(const struct golden_map *m) {
    size_t bytes = (size_t)m->element_bytes;
    for (int i = 0; i < (m->im2col ? 2 : m->rank); i++) bytes *= m->box[i];
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
        "    .reg .b32 %%c<5>;\n    .reg .b16 %%o<3>, %%mask;\n    .reg .b64 %%map;\n"
        "    .reg .pred %%one;\n    mov.b16 %%mask, %d;\n"
        "    .shared .align 1024 .b8 smem[%zu];\n    .shared .align 8 .b64 bar;\n"
        "    mov.b64 %%map, map;\n    cvta.param.u64 %%map, %%map;\n    mov.u32 %%y0, smem;\n"
        "    mov.u32 %%y3, bar;\n    setp.eq.u32 %%one, %%thr, 0;\n",
        (1 << f->cluster) - 1, dump_bytes(m));
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
        "%s    bar.sync 0;\n    @!%%one bra issued;\n",
        f->cluster ? "    fence.mbarrier_init.release.cluster;\n"
                     "    barrier.cluster.arrive.release.aligned;\n"
                     "    barrier.cluster.wait.acquire.aligned;\n"
                   : "");
    for (int store = 0; store < (m->is_store ? N_STORES : 1); store++) {
        for (int i = 0; i < m->rank; i++)
            golden_emit(t, "    ld.global.b32 %%c%d, [%%in+%d];\n", i, store * COORD_BYTES + 4 * i);
        if (m->is_store) {
            if (m->reduce)
                golden_emit(t,
                            "    cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group ",
                            m->rank, m->reduce);
            else
                golden_emit(t, "    cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group ",
                            m->rank, m->im2col ? ".im2col_no_offs" : "");
            emit_coordinates(t, m->rank);
            golden_emit(
                t, ", [%%y0];\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n");
        } else {
            for (int i = 0; m->im2col && i < m->rank - 2; i++)
                golden_emit(t, "    ld.global.b16 %%o%d, [%%in+%d];\n", i, 20 + 2 * i);
            golden_emit(t,
                        "    ld.global.b32 %%y5, [%%in+28];\n    add.s32 %%y5, %%y5, %%y0;\n"
                        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%y3], %zu;\n",
                        box_bytes(m));
            if (f->cluster) /* rank 0 brings it to all; the others wait */
                golden_emit(t, "    mov.u32 %%y6, %%cluster_ctarank;\n"
                               "    setp.ne.u32 %%p, %%y6, 0;\n    @%%p bra issued;\n");
            golden_emit(t,
                        "    cp.async.bulk.tensor.%dd.shared::cluster.global.%s"
                        ".mbarrier::complete_tx::bytes%s [%%y5], ",
                        m->rank, m->im2col ? "im2col" : "tile",
                        f->cluster ? ".multicast::cluster" : "");
            emit_coordinates(t, m->rank);
            golden_emit(t, ", [%%y3]");
            for (int i = 0; m->im2col && i < m->rank - 2; i++)
                golden_emit(t, "%s%%o%d", i ? "," : ", {", i);
            golden_emit(t, "%s%s;\n", m->im2col ? "}" : "", f->cluster ? ", %mask" : "");
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
    if (f->cluster)
        golden_emit(t, "    barrier.cluster.arrive.release.aligned;\n"
                       "    barrier.cluster.wait.acquire.aligned;\n");
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
            /* im2col begins inside the bounding box */
            if (f->map.im2col && i && i < f->map.rank - 1)
                w[store * 8 + i] = f->map.lower[i - 1] +
                                   (int)(golden_next(&s) % (unsigned)(extent + f->map.upper[i - 1] -
                                                                      f->map.lower[i - 1]));
            if (f->map.im2col && i == f->map.rank - 1)
                w[store * 8 + i] = (int)(golden_next(&s) % (unsigned)extent);
            if (f->map.im2col && !i) w[store * 8] = w[store * 8] > 0 ? w[store * 8] : 0;
            /* illegal instructions on an H200: see README.md */
            if (!i) w[store * 8] &= -(16 / f->map.element_bytes);
            if (f->map.is_store && w[store * 8 + i] < 0)
                w[store * 8 + i] = NEGATIVE(i, w[store * 8 + i]);
        }
    for (int i = 0; f->map.im2col && !f->map.is_store && i < f->map.rank - 2; i++)
        ((uint16_t *)in)[10 + i] = (uint16_t)(golden_next(&s) % 3);
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
    for (int i = 0; i < (m.im2col ? 2 : m.rank); i++)
        n += snprintf(f.name + n, sizeof f.name - (size_t)n, "%s%u", i ? "x" : "", m.box[i]);
    if (m.im2col) n += snprintf(f.name + n, sizeof f.name - (size_t)n, "_im2col");
    if (m.reduce)
        snprintf(f.name + n, sizeof f.name - (size_t)n, "_%s_%s", m.reduce,
                 m.is_integer ? "int" : "float");
    *at = f;
    return at + 1;
}

/* Pixels of images: from the corners of bounding boxes larger and smaller than the image. */
static struct golden_form *add_im2col(struct golden_form *at) {
    static const struct golden_map maps[] = {
        {3, 2, {24, 10, 3}, {0, 48, 480}, {16, 24}, 0, 0, 1, {-1}, {1}, NULL, 0},
        {4, 2, {40, 7, 6, 3}, {0, 80, 560, 3360}, {32, 50}, 64, 0, 1, {-1, -1}, {-1, -1}, NULL, 0},
        {4, 2, {64, 8, 8, 2}, {0, 128, 1024, 8192}, {64, 40}, 128, 0, 1, {0, 0}, {-2, -2}, NULL, 0},
        {4, 4, {16, 5, 9, 2}, {0, 64, 320, 2880}, {8, 33}, 32, 0, 1, {-2, 1}, {1, 0}, NULL, 0},
        {5,
         2,
         {16, 4, 5, 3, 2},
         {0, 32, 128, 640, 1920},
         {16, 30},
         32,
         0,
         1,
         {-1, 0, -1},
         {0, 1, 0},
         NULL,
         0},
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        at = add(at, maps[i]);
        struct golden_map store = maps[i];
        store.is_store = 1;
        for (int d = 0; d < 3; d++) store.lower[d] = store.upper[d] = 0; /* none outside */
        at = add(at, store);
    }
    return at;
}

static struct golden_form *add_reductions(struct golden_form *at) {
    static const struct {
        const char *how;
        int bytes, is_integer;
    } all[] = {{"add", 2, 0}, {"min", 2, 0}, {"max", 2, 0}, {"add", 4, 0}, {"add", 4, 1},
               {"min", 4, 1}, {"inc", 4, 1}, {"dec", 4, 1}, {"and", 4, 1}, {"xor", 4, 1},
               {"add", 8, 1}, {"or", 8, 1},  {"add", 8, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct golden_map m = {2, all[i].bytes, {40, 12}, {0, 320},   {16, 8},          0, 1,
                               0, {0},          {0},      all[i].how, all[i].is_integer};
        at = add(at, m);
    }
    return at;
}

static struct golden_form *add_multicast(struct golden_form *at) {
    static const struct golden_map maps[] = {
        {2, 2, {72, 40}, {0, 160}, {64, 16}, 128, 0, 0, {0}, {0}, NULL, 0},
        {3, 2, {64, 20, 5}, {0, 128, 2560}, {32, 8, 2}, 0, 0, 0, {0}, {0}, NULL, 0},
        {4, 2, {40, 7, 6, 3}, {0, 80, 560, 3360}, {32, 50}, 64, 0, 1, {-1, -1}, {-1, -1}, NULL, 0},
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        at = add(at, maps[i]);
        at[-1].cluster = i ? 2 : 4;
        strcat(at[-1].name, "_multicast");
    }
    return at;
}

int golden_list_tma(struct golden_form *out) {
    static const struct golden_map maps[] = {
        {1, 2, {100}, {0}, {64}, 0, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {64, 16}, 128, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {32, 16}, 64, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {16, 16}, 32, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {24, 5}, 0, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {32, 16}, 128, 0, BOX},
        {2, 2, {72, 40}, {0, 160}, {8, 16}, 32, 0, BOX},
        {2, 1, {80, 40}, {0, 80}, {64, 16}, 64, 0, BOX},
        {2, 4, {40, 30}, {0, 160}, {32, 8}, 128, 0, BOX},
        {2, 8, {40, 30}, {0, 320}, {6, 8}, 0, 0, BOX},
        {3, 2, {64, 20, 5}, {0, 128, 2560}, {64, 8, 2}, 128, 0, BOX},
        {3, 2, {8, 20, 8}, {0, 128, 16}, {8, 16, 4}, 0, 0, BOX},
        {4, 2, {32, 9, 4, 3}, {0, 64, 576, 2304}, {32, 4, 2, 2}, 64, 0, BOX},
        {5, 2, {16, 3, 4, 2, 3}, {0, 32, 96, 384, 768}, {16, 2, 3, 2, 2}, 32, 0, BOX},
    };
    struct golden_form *at = out;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        at = add(at, maps[i]);
        struct golden_map store = maps[i];
        store.is_store = 1;
        at = add(at, store);
    }
    return (int)(add_multicast(add_reductions(add_im2col(at))) - out);
}
