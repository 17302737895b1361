/* wgmma.mma_async: a 48 KB shared image common to all cases; each case has its descriptors
 * (relative to the image), A registers if they are the operand, and accumulators. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *in, *sum, *kinds;
    int k;
} types[] = {
    {"f16", "f16.f16", "f32", "h", 16},    {"bf16", "bf16.bf16", "f32", "b", 16},
    {"tf32", "tf32.tf32", "f32", "f", 8},  {"e4m3", "e4m3.e4m3", "f32", "e", 32},
    {"e5m2", "e5m2.e5m2", "f32", "5", 32}, {"s8", "s8.s8", "s32", "i", 32},
};
enum {
    DESC_CANONICAL,
    DESC_ALIGNED,
    DESC_WILD,
    DESC_BASE_OFFSET,
    CASE_HEAD = 32,
    A_BYTES = 128 * 16
};

static int n_sums(const struct golden_form *f) { return f->f16_sum ? f->n / 4 : f->n / 2; }

static void emit_list(struct golden_text *t, const char *name, int n) {
    golden_emit(t, "{");
    for (int i = 0; i < n; i++) golden_emit(t, "%s%%%s%d", i ? "," : "", name, i);
    golden_emit(t, "}");
}

void golden_ptx_wgmma(struct golden_text *t, const struct golden_form *f) {
    int n = n_sums(f), is_16bit = types[f->type].k == 16, is_int = f->type == 5;
    golden_head(t, f);
    golden_emit(t,
                "    .reg .b32 %%d<%d>, %%a<4>;\n    .reg .b64 %%da, %%db;\n"
                "    .shared .align 1024 .b8 smem[%d];\n",
                n, GOLDEN_SMEM);
    golden_emit(
        t,
        "    mov.u32 %%y0, smem;\n    mul.wide.u32 %%x0, %%thr, 16;\n"
        "    add.s64 %%x1, %%common, %%x0;\n    shl.b32 %%y1, %%thr, 4;\n"
        "    add.s32 %%y1, %%y1, %%y0;\n    mov.u32 %%y2, 0;\n"
        "copy:\n    ld.global.v4.b32 {%%y3,%%y4,%%y5,%%y6}, [%%x1];\n"
        "    st.shared.v4.b32 [%%y1], {%%y3,%%y4,%%y5,%%y6};\n"
        "    add.s64 %%x1, %%x1, 2048;\n    add.s32 %%y1, %%y1, 2048;\n"
        "    add.s32 %%y2, %%y2, 2048;\n    setp.lt.u32 %%p, %%y2, %d;\n    @%%p bra copy;\n"
        "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n",
        GOLDEN_SMEM);
    golden_emit(t,
                "    ld.global.b64 %%da, [%%in];\n    ld.global.b64 %%db, [%%in+8];\n"
                "    ld.global.b32 %%y7, [%%in+16];\n    setp.ne.b32 %%p, %%y7, 0;\n"
                "    shr.u32 %%y1, %%y0, 4;\n    cvt.u64.u32 %%x1, %%y1;\n"
                "    add.s64 %%da, %%da, %%x1;\n    add.s64 %%db, %%db, %%x1;\n    add.s64 %%in, "
                "%%in, %d;\n",
                CASE_HEAD);
    if (f->from_registers) {
        golden_emit(t, "    add.s64 %%x1, %%in, %%x0;\n    add.s64 %%in, %%in, %d;\n", A_BYTES);
        for (int i = 0; i < 4; i++)
            golden_emit(t, "    ld.global.b32 %%a%d, [%%x1+%d];\n", i, 4 * i);
    }
    golden_emit(t,
                "    mul.wide.u32 %%x0, %%thr, %d;\n    add.s64 %%in, %%in, %%x0;\n"
                "    add.s64 %%out, %%out, %%x0;\n",
                4 * n);
    for (int i = 0; i < n; i++) golden_emit(t, "    ld.global.b32 %%d%d, [%%in+%d];\n", i, 4 * i);
    golden_emit(t,
                "    wgmma.fence.sync.aligned;\n    wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s ",
                f->n, types[f->type].k, f->f16_sum ? "f16" : types[f->type].sum, types[f->type].in);
    emit_list(t, "d", n);
    golden_emit(t, ", ");
    if (f->from_registers)
        emit_list(t, "a", 4);
    else
        golden_emit(t, "%%da");
    golden_emit(t, ", %%db, %%p");
    if (!is_int) golden_emit(t, ", %d, 1", f->scale_a);
    if (is_16bit && !f->from_registers) golden_emit(t, ", %d", f->trans_a);
    if (is_16bit) golden_emit(t, ", %d", f->trans_b);
    golden_emit(t,
                ";\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < n; i++) golden_emit(t, "    st.global.b32 [%%out+%d], %%d%d;\n", 4 * i, i);
    golden_emit(t, "    ret;\n}\n");
}

/* One operand's descriptor: `kind` says how far from the canonical layouts it strays. */
static uint64_t descriptor(uint64_t *s, int c, int kind, int is_mn_major) {
    static const int span[4] = {16, 128, 64, 32}; /* bytes of a row, by swizzle field */
    int mode = c % 4;
    uint64_t pattern = mode ? 8u * (unsigned)span[mode] : 16, start, lbo, sbo, base = 0;
    if (kind == DESC_WILD || kind == DESC_BASE_OFFSET) pattern = 16;
    start = golden_next(s) % (4096 / pattern) * pattern;
    lbo = (1 + golden_next(s) % 79) * 16;
    sbo = (1 + golden_next(s) % 79) * 16;
    if (kind == DESC_ALIGNED && mode) {
        lbo = (1 + golden_next(s) % 4) * (is_mn_major ? 256 : 16);
        sbo = mode == 1 ? 1024 : (1 + golden_next(s) % 2) * 8 * (uint64_t)span[mode];
    }
    if (kind == DESC_CANONICAL) {
        lbo = mode ? (is_mn_major ? 1024 : 16) : 128;
        sbo = mode ? 8 * (uint64_t)span[mode] : 256;
    }
    if (kind == DESC_BASE_OFFSET && mode) base = golden_next(s) % 8;
    return start >> 4 | lbo >> 4 << 16 | sbo >> 4 << 32 | base << 49 | (uint64_t)mode << 62;
}

void golden_operands_wgmma(const struct golden_form *f, int c, void *in) {
    uint64_t s = golden_seed(f, c);
    uint64_t head[4] = {0};
    uint32_t *w = (uint32_t *)in + CASE_HEAD / 4, *end = (uint32_t *)in + f->in_bytes / 4;
    char sums = f->f16_sum ? 'h' : f->type == 5 ? 'w' : 'f';
    head[0] = descriptor(&s, c, f->descriptors, f->trans_a);
    head[1] = descriptor(&s, c / 4 + c, f->descriptors, f->trans_b);
    head[2] = c % 4 != 3;
    memcpy(in, head, CASE_HEAD);
    for (int i = 0; f->from_registers && i < A_BYTES / 4; i++)
        *w++ = golden_draw(&s, types[f->type].kinds[0], c % GOLDEN_FLAVOURS);
    while (w < end) *w++ = golden_draw(&s, sums, c % 2);
}

static struct golden_form *add(struct golden_form *at, int n, int type, int f16_sum,
                               int from_registers, int trans_a, int trans_b, int descriptors,
                               int scale_a, int n_cases) {
    static const char *const how[] = {"canonical", "aligned", "wild", "base"};
    struct golden_form f = {.n_cases = n_cases,
                            .threads = 128,
                            .common_bytes = GOLDEN_SMEM,
                            .kinds = types[type].kinds,
                            .n = n,
                            .type = type,
                            .f16_sum = f16_sum,
                            .from_registers = from_registers,
                            .trans_a = trans_a,
                            .trans_b = trans_b,
                            .descriptors = descriptors,
                            .scale_a = scale_a};
    f.out_bytes = (size_t)n_sums(&f) * 4 * 128;
    f.in_bytes = CASE_HEAD + (from_registers ? A_BYTES : 0) + f.out_bytes;
    snprintf(f.name, sizeof f.name, "wgmma_m64n%dk%d_%s_%s_%s%d%d_%s%s", n, types[type].k,
             types[type].name, f16_sum ? "f16" : types[type].sum, from_registers ? "rs" : "ss",
             trans_a, trans_b, how[descriptors], scale_a < 0 ? "_neg" : "");
    *at = f;
    return at + 1;
}

int golden_list_wgmma(struct golden_form *out) {
    struct golden_form *at = out;
    for (int n = 8; n < 256; n += 8) /* 64 and 256: below */
        if (n != 64) at = add(at, n, 0, 0, n / 8 % 2, 0, n / 16 % 2, DESC_CANONICAL, 1, 4);
    for (int kind = DESC_CANONICAL; kind <= DESC_BASE_OFFSET; kind++)
        for (int n = 64; n <= 256; n *= 4)
            for (int trans = 0; trans < 4; trans++)
                at = add(at, n, 0, 0, 0, trans & 1, trans >> 1, kind, 1, n == 64 ? 16 : 8);
    for (int trans = 0; trans < 2; trans++)
        at = add(at, 64, 0, 0, 1, 0, trans, DESC_CANONICAL, 1, 16);
    for (int rs = 0; rs < 2; rs++) {
        at = add(at, 64, 0, 1, rs, 0, 0, DESC_CANONICAL, 1, 16);
        at = add(at, 32, 1, 0, rs, 0, 1, DESC_CANONICAL, 1, 16);
        at = add(at, 16, 0, 0, rs, 0, 0, DESC_CANONICAL, -1, 8);
        for (int type = 2; type <= 5; type++)
            at = add(at, 32, type, 0, rs, 0, 0, DESC_CANONICAL, 1, 16);
    }
    for (int type = 2; type <= 3; type++) at = add(at, 32, type, 0, 0, 0, 0, DESC_WILD, 1, 16);
    return (int)(at - out);
}
