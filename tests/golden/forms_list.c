/* The list of golden forms, and those of mma.sync, wmma, ldmatrix and its kin, cp.async, bulk
 * copies. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 18 };
static char text[TEXT]; /* bodies and kinds live here */
static size_t n_text;

static const char *keep(const char *s) {
    size_t n = strlen(s) + 1;
    if (n_text + n > TEXT) return "";
    char *at = memcpy(text + n_text, s, n);
    n_text += n;
    return at;
}

struct golden_form *golden_add(struct golden_form *at, const char *name, const char *kinds,
                               int n_out, int n_cases, const char *body) {
    struct golden_form f = {.threads = 32, .n_cases = n_cases, .n_out = n_out};
    f.n_in = (int)strlen(kinds);
    f.kinds = keep(kinds);
    f.body = keep(body);
    f.in_bytes = 128 * (size_t)f.n_in;
    f.out_bytes = 128 * (size_t)n_out;
    snprintf(f.name, sizeof f.name, "%s", name);
    *at = f;
    return at + 1;
}

static struct golden_form *flat(struct golden_form *at, const char *name, const char *kinds,
                                int n_out, int n_cases, const char *body) {
    at = golden_add(at, name, kinds, n_out, n_cases, body);
    at[-1].is_flat = 1;
    return at;
}

/* "{%d0,%d1,%d2,%d3}" */
static const char *list(char *out, char letter, int from, int n) {
    size_t at = (size_t)sprintf(out, "{");
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(out + at, "%s%%%c%d", i ? "," : "", letter, from + i);
    sprintf(out + at, "}");
    return out;
}

/* ---- mma.sync: in[lane][A regs, B regs, C regs], out[lane][D regs] ---- */
static struct golden_form *add_mma(struct golden_form *at) {
    static const struct {
        const char *form;
        char a, b, c;
        int n_a, n_b, n_c;
    } forms[] = {
        {"m16n8k16.row.col.f32.f16.f16.f32", 'h', 'H', 'f', 4, 2, 4},
        {"m16n8k16.row.col.f16.f16.f16.f16", 'h', 'H', 'h', 4, 2, 2},
        {"m16n8k8.row.col.f32.f16.f16.f32", 'h', 'H', 'f', 2, 1, 4},
        {"m16n8k8.row.col.f16.f16.f16.f16", 'h', 'H', 'h', 2, 1, 2},
        {"m16n8k16.row.col.f32.bf16.bf16.f32", 'b', 'B', 'f', 4, 2, 4},
        {"m16n8k8.row.col.f32.bf16.bf16.f32", 'b', 'B', 'f', 2, 1, 4},
        {"m16n8k8.row.col.f32.tf32.tf32.f32", 'f', 'f', 'f', 4, 2, 4},
        {"m16n8k4.row.col.f32.tf32.tf32.f32", 'f', 'f', 'f', 2, 1, 4},
        {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 'e', 'E', 'f', 4, 2, 4},
        {"m16n8k32.row.col.f32.e5m2.e5m2.f32", '5', '%', 'f', 4, 2, 4},
        {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 'e', '%', 'f', 4, 2, 4},
        {"m16n8k32.row.col.s32.s8.s8.s32", 'i', 'i', 'w', 4, 2, 4},
        {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 'i', 'i', 'w', 4, 2, 4},
        {"m16n8k16.row.col.s32.s8.s8.s32", 'i', 'i', 'w', 2, 1, 4},
        {"m16n8k16.row.col.s32.u8.s8.s32", 'i', 'i', 'w', 2, 1, 4},
        {"m16n8k32.row.col.s32.u8.u8.s32", 'i', 'i', 'w', 4, 2, 4},
        {"m8n8k16.row.col.s32.s8.s8.s32", 'i', 'i', 'w', 1, 1, 2},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        int a = forms[i].n_a, b = forms[i].n_b, c = forms[i].n_c;
        char body[512], name[GOLDEN_NAME], kinds[32] = "", l[4][64];
        memset(kinds, forms[i].a, (size_t)a);
        memset(kinds + a, forms[i].b, (size_t)b);
        memset(kinds + a + b, forms[i].c, (size_t)c);
        snprintf(body, sizeof body, "    mma.sync.aligned.%s %s, %s, %s, %s;\n", forms[i].form,
                 list(l[0], 'd', 0, c), list(l[1], 'i', 0, a), list(l[2], 'i', a, b),
                 list(l[3], 'i', a + b, c));
        snprintf(name, sizeof name, "mma_%s", forms[i].form);
        at = golden_add(at, name, kinds, c, 72, body);
    }
    return at;
}

/* ---- wmma: matrices A, B, C in memory; out: D in memory, then the registers of A, B and D ---- */
static struct golden_form *add_wmma(struct golden_form *at) {
    static const struct {
        const char *shape, *type, *sum, *mma;
        char in_kind, sum_kind;
        int m, n, k, bits, sum_bits, n_a, n_b, n_d;
    } forms[] = {
        {"m16n16k16", "f16", "f32", "f32.f32", 'h', 'f', 16, 16, 16, 16, 32, 8, 8, 8},
        {"m16n16k16", "f16", "f16", "f16.f16", 'h', 'h', 16, 16, 16, 16, 16, 8, 8, 4},
        {"m32n8k16", "f16", "f32", "f32.f32", 'h', 'f', 32, 8, 16, 16, 32, 8, 8, 8},
        {"m8n32k16", "f16", "f32", "f32.f32", 'h', 'f', 8, 32, 16, 16, 32, 8, 8, 8},
        {"m16n16k16", "bf16", "f32", "f32.bf16.bf16.f32", 'b', 'f', 16, 16, 16, 16, 32, 4, 4, 8},
        {"m16n16k8", "tf32", "f32", "f32.tf32.tf32.f32", 'f', 'f', 16, 16, 8, 32, 32, 4, 4, 8},
        {"m16n16k16", "s8", "s32", "s32.s8.s8.s32", 'i', 'w', 16, 16, 16, 8, 32, 2, 2, 8},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int layouts = 0; layouts < 8; layouts++) {
            int m = forms[i].m, n = forms[i].n, k = forms[i].k, a_col = layouts & 1,
                b_col = layouts >> 1 & 1, shared = layouts >> 2;
            if (shared && forms[i].bits != 16) continue;
            const char *la = a_col ? "col" : "row", *lb = b_col ? "col" : "row",
                       *ld = a_col ? "row" : "col";
            const char *space = shared ? "shared" : "global", *from = shared ? "%x2" : "%in";
            int a_bytes = m * k * forms[i].bits / 8, b_bytes = n * k * forms[i].bits / 8,
                d_bytes = m * n * forms[i].sum_bits / 8;
            char body[4096], name[GOLDEN_NAME], kinds[64] = "", ra[80], rb[80], rc[80], rd[80];
            memset(kinds, forms[i].in_kind, (size_t)(a_bytes + b_bytes) / 128);
            memset(kinds + strlen(kinds), forms[i].sum_kind, (size_t)d_bytes / 128);
            list(ra, 'a', 0, forms[i].n_a), list(rb, 'b', 0, forms[i].n_b);
            list(rc, 'c', 0, forms[i].n_d), list(rd, 'd', 0, forms[i].n_d);
            int at_text = snprintf(
                body, sizeof body,
                "    .reg .b32 %%a<8>, %%b<8>, %%c<8>, %%d<8>;\n"
                "    .shared .align 1024 .b8 smem[4096];\n    mov.u32 %%y0, smem;\n"
                "    cvt.u64.u32 %%x2, %%y0;\n    mul.wide.u32 %%x0, %%thr, 4;\n    add.s64 %%x1, "
                "%%in, %%x0;\n"
                "    add.s64 %%x3, %%x2, %%x0;\n    mov.u32 %%y1, 0;\n"
                "copy:\n    ld.global.b32 %%y2, [%%x1];\n    st.shared.b32 [%%x3], %%y2;\n"
                "    add.s64 %%x1, %%x1, 128;\n    add.s64 %%x3, %%x3, 128;\n    add.s32 %%y1, "
                "%%y1, 128;\n"
                "    setp.lt.u32 %%p, %%y1, %d;\n    @%%p bra copy;\n    bar.warp.sync -1;\n"
                "    wmma.load.a.sync.aligned.%s.%s.%s.%s %s, [%s], %d;\n"
                "    wmma.load.b.sync.aligned.%s.%s.%s.%s %s, [%s+%d], %d;\n"
                "    wmma.load.c.sync.aligned.%s.%s.%s.%s %s, [%s+%d], %d;\n"
                "    wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n",
                a_bytes + b_bytes + d_bytes, la, forms[i].shape, space, forms[i].type, ra, from,
                a_col ? m : k, lb, forms[i].shape, space, forms[i].type, rb, from, a_bytes,
                b_col ? k : n, ld, forms[i].shape, space, forms[i].sum, rc, from, a_bytes + b_bytes,
                a_col ? n : m, la, lb, forms[i].shape, forms[i].mma, rd, ra, rb, rc);
            if (shared)
                at_text += snprintf(
                    body + at_text, sizeof body - (size_t)at_text,
                    "    bar.warp.sync -1;\n    wmma.store.d.sync.aligned.%s.%s.shared.%s [%%x2], "
                    "%s, %d;\n"
                    "    bar.warp.sync -1;\n    mul.wide.u32 %%x0, %%thr, 4;\n    add.s64 %%x1, "
                    "%%out, %%x0;\n"
                    "    add.s64 %%x3, %%x2, %%x0;\n    mov.u32 %%y1, 0;\n"
                    "back:\n    ld.shared.b32 %%y2, [%%x3];\n    st.global.b32 [%%x1], %%y2;\n"
                    "    add.s64 %%x1, %%x1, 128;\n    add.s64 %%x3, %%x3, 128;\n    add.s32 %%y1, "
                    "%%y1, 128;\n"
                    "    setp.lt.u32 %%p, %%y1, %d;\n    @%%p bra back;\n",
                    ld, forms[i].shape, forms[i].sum, rd, a_col ? n : m, d_bytes);
            else
                at_text +=
                    snprintf(body + at_text, sizeof body - (size_t)at_text,
                             "    wmma.store.d.sync.aligned.%s.%s.global.%s [%%out], %s, %d;\n", ld,
                             forms[i].shape, forms[i].sum, rd, a_col ? n : m);
            at_text +=
                snprintf(body + at_text, sizeof body - (size_t)at_text,
                         "    mul.wide.u32 %%x0, %%thr, 4;\n    add.s64 %%out, %%out, %%x0;\n");
            int at_out = d_bytes;
            for (int set = 0; set < 3; set++)
                for (int r = 0; r < (set == 0   ? forms[i].n_a
                                     : set == 1 ? forms[i].n_b
                                                : forms[i].n_d);
                     r++) {
                    at_text +=
                        snprintf(body + at_text, sizeof body - (size_t)at_text,
                                 "    st.global.b32 [%%out+%d], %%%c%d;\n", at_out, "abd"[set], r);
                    at_out += 128;
                }
            snprintf(name, sizeof name, "wmma_%s_%s_%s_%s_%s_%s", forms[i].shape, forms[i].type,
                     forms[i].sum, la, lb, space);
            at = flat(at, name, kinds, at_out / 128, forms[i].bits == 16 && layouts == 2 ? 32 : 8,
                      body);
        }
    return at;
}

/* ---- ldmatrix, stmatrix, movmatrix: each lane brings 8 words of a 1 KB image and a row address */
#define IMAGE                                                                                      \
    "    mad.lo.s32 %y1, %thr, 32, %y0;\n"                                                         \
    "    st.shared.v4.b32 [%y1], {%i0,%i1,%i2,%i3};\n    st.shared.v4.b32 [%y1+16], "              \
    "{%i4,%i5,%i6,%i7};\n"                                                                         \
    "    add.s32 %y2, %y0, %i8;\n    bar.warp.sync -1;\n"
#define BACK                                                                                       \
    "    bar.warp.sync -1;\n    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y1];\n"                      \
    "    ld.shared.v4.b32 {%d4,%d5,%d6,%d7}, [%y1+16];\n"

static struct golden_form *add_matrix(struct golden_form *at) {
    for (int trans = 0; trans < 2; trans++)
        for (int x = 1; x <= 4; x *= 2) {
            char body[1024], name[GOLDEN_NAME], regs[64];
            const char *how = trans ? ".trans" : "";
            snprintf(body, sizeof body,
                     "%s    ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%y2];\n", IMAGE, x,
                     how, list(regs, 'd', 0, x));
            snprintf(name, sizeof name, "ldmatrix_x%d%s", x, how);
            at = golden_add(at, name, "wwwwwwwwr", x, 8, body);
            /* Rows are a permutation (5 is odd), so that no two lanes store to the same place. */
            snprintf(body, sizeof body,
                     "%s    and.b32 %%y3, %%i8, 1008;\n    mul.lo.s32 %%y4, %%thr, 80;\n"
                     "    and.b32 %%y4, %%y4, 496;\n    add.s32 %%y2, %%y0, %%y4;\n"
                     "    stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%y2], %s;\n%s",
                     IMAGE, x, how, list(regs, 'i', 0, x), BACK);
            snprintf(name, sizeof name, "stmatrix_x%d%s", x, how);
            at = golden_add(at, name, "wwwwwwwwr", 8, 8, body);
        }
    return golden_add(at, "movmatrix", "w", 1, 8,
                      "    movmatrix.sync.aligned.m8n8.trans.b16 %d0, %i0;\n");
}

/* ---- cp.async and bulk copies ---- */
static struct golden_form *add_copies(struct golden_form *at) {
    for (int bytes = 4; bytes <= 16; bytes *= 2)
        for (int how = 0; how < 2; how++) {
            char body[2048], name[GOLDEN_NAME];
            if (how == 0 && bytes == 16)
                snprintf(name, sizeof name, "cp_async_cg_16");
            else
                snprintf(name, sizeof name, "cp_async_ca_%d%s", bytes, how ? "_src_size" : "");
            snprintf(body, sizeof body,
                     "    st.shared.v4.b32 [%%y1], {%%i0,%%i1,%%i2,%%i3};\n"
                     "    shl.b32 %%y1, %%thr, 4;\n    cvt.u64.u32 %%x1, %%y1;\n    add.s64 %%x1, "
                     "%%common, %%x1;\n"
                     "    add.s32 %%y1, %%y1, %%y0;\n    st.shared.v4.b32 [%%y1], "
                     "{%%i0,%%i1,%%i2,%%i3};\n"
                     "    rem.u32 %%y2, %%i4, %d;\n"
                     "    cp.async.%s.shared.global [%%y1], [%%x1], %d%s;\n"
                     "    cp.async.commit_group;\n    cp.async.wait_group 0;\n"
                     "    ld.shared.v4.b32 {%%d0,%%d1,%%d2,%%d3}, [%%y1];\n",
                     bytes + 1, how == 0 && bytes == 16 ? "cg" : "ca", bytes, how ? ", %y2" : "");
            memmove(body, strchr(body, '\n') + 1, strlen(strchr(body, '\n') + 1) + 1);
            at = golden_add(at, name, "wwwwu", 4, 4, body);
            at[-1].common_bytes = 512;
        }
    at = golden_add(
        at, "bulk_load", "wwwwwwww", 8, 2,
        "    .shared .align 8 .b64 bar;\n    mov.u32 %y3, bar;\n    mad.lo.s32 %y1, %thr, 32, "
        "%y0;\n"
        "    st.shared.v4.b32 [%y1], {%i0,%i1,%i2,%i3};\n    st.shared.v4.b32 [%y1+16], "
        "{%i4,%i5,%i6,%i7};\n"
        "    setp.eq.u32 %p, %thr, 0;\n    @%p mbarrier.init.shared::cta.b64 [%y3], 1;\n"
        "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    @!%p bra issued;\n"
        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%y3], 272;\n"
        "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%y0+16], "
        "[%common+32], 256,"
        " [%y3];\n"
        "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%y0+512], "
        "[%common], 16, [%y3];\n"
        "issued:\n"
        "wait:\n    mbarrier.try_wait.parity.shared::cta.b64 %p, [%y3], 0;\n    @!%p bra wait;\n"
        "    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y1];\n    ld.shared.v4.b32 {%d4,%d5,%d6,%d7}, "
        "[%y1+16];\n");
    at[-1].common_bytes = 512;
    return golden_add(
        at, "bulk_store", "wwwwwwww", 8, 2,
        "    mad.lo.s32 %y1, %thr, 32, %y0;\n    st.shared.v4.b32 [%y1], {%i0,%i1,%i2,%i3};\n"
        "    st.shared.v4.b32 [%y1+16], {%i4,%i5,%i6,%i7};\n    fence.proxy.async.shared::cta;\n"
        "    bar.sync 0;\n    setp.ne.u32 %p, %thr, 0;\n    mul.wide.u32 %x1, %thr, 32;\n"
        "    sub.s64 %x1, %out, %x1;\n    @%p bra issued;\n"
        "    cp.async.bulk.global.shared::cta.bulk_group [%x1+32], [%y0+16], 512;\n"
        "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\nissued:\n    bar.sync "
        "0;\n"
        "    ld.global.v4.b32 {%d0,%d1,%d2,%d3}, [%out];\n    ld.global.v4.b32 {%d4,%d5,%d6,%d7}, "
        "[%out+16];\n");
}

int golden_list(struct golden_form *out) {
    struct golden_form *at = add_mma(out);
    at = add_wmma(at);
    at = add_matrix(at);
    at = add_copies(at);
    at += golden_list_ops(at);
    at += golden_list_tma(at);
    at += golden_list_wgmma(at);
    at += golden_list_cluster(at);
    at += golden_list_mma(at);
    at += golden_list_bulk(at);
    return (int)(at - out);
}
