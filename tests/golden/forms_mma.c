/* Products beyond the usual: fp64, 4-bit and 1-bit integers, sparse A, and wmma with sums of two
 * types. Layouts of wmma come out as registers, as in forms_list.c. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

/* "{%a0,%a1}" */
static const char *list(char *out, const char *name, int n) {
    size_t at = (size_t)sprintf(out, "{");
    for (int i = 0; i < n; i++) at += (size_t)sprintf(out + at, "%s%%%s%d", i ? "," : "", name, i);
    sprintf(out + at, "}");
    return out;
}

/* Registers of `bits` from the inputs, in[first..], or to the outputs. */
static int unpack(char *out, const char *name, int n, int bits, int first) {
    int at = 0;
    for (int i = 0; i < n; i++)
        at += bits == 64 ? sprintf(out + at, "    mov.b64 %%%s%d, {%%i%d,%%i%d};\n", name, i,
                                   first + 2 * i, first + 2 * i + 1)
                         : sprintf(out + at, "    mov.b32 %%%s%d, %%i%d;\n", name, i, first + i);
    return at;
}

struct product {
    const char *opcode;
    char a, b, c, e; /* kinds; q: a double of few bits; of metadata, 0: none */
    int bits, n_a, n_b, n_c, selectors;
};

static struct golden_form *add_product(struct golden_form *at, const struct product *p,
                                       int selector) {
    char body[4096], name[GOLDEN_NAME], kinds[80] = "", l[4][128], last[32] = "";
    int words = p->bits / 32, n = 0;
    const char parts[] = {p->a, p->b, p->c};
    const int sizes[] = {p->n_a, p->n_b, p->n_c};
    for (int part = 0; part < 3; part++)
        for (int r = 0; r < sizes[part]; r++) {
            if (words == 2) kinds[n++] = parts[part] == 'q' ? 'z' : 'w';
            kinds[n++] = parts[part] == 'q' ? 'd' : parts[part];
        }
    if (p->e) {
        kinds[n++] = p->e;
        snprintf(last, sizeof last, ", %%i%d, %d", n - 1, selector);
    }
    int text = sprintf(body, "    .reg .b%d %%ra<8>, %%rb<4>, %%rc<8>, %%rd<8>;\n", p->bits);
    text += unpack(body + text, "ra", p->n_a, p->bits, 0);
    text += unpack(body + text, "rb", p->n_b, p->bits, words * p->n_a);
    text += unpack(body + text, "rc", p->n_c, p->bits, words * (p->n_a + p->n_b));
    text +=
        sprintf(body + text, "    %s %s, %s, %s, %s%s;\n", p->opcode, list(l[0], "rd", p->n_c),
                list(l[1], "ra", p->n_a), list(l[2], "rb", p->n_b), list(l[3], "rc", p->n_c), last);
    for (int r = 0; r < p->n_c; r++)
        text += p->bits == 64 ? sprintf(body + text, "    mov.b64 {%%d%d,%%d%d}, %%rd%d;\n", 2 * r,
                                        2 * r + 1, r)
                              : sprintf(body + text, "    mov.b32 %%d%d, %%rd%d;\n", r, r);
    const char *shape = strstr(p->opcode, ".m8n");
    if (!shape) shape = strstr(p->opcode, ".m16n");
    if (p->e)
        snprintf(name, sizeof name, "sparse_%s_%d", shape + 1, selector);
    else
        snprintf(name, sizeof name, "mma_%s%s", shape + 1, p->a == 'q' ? "_short" : "");
    return golden_add(at, name, kinds, words * p->n_c, 36, body);
}

static struct golden_form *add_products(struct golden_form *at) {
#define MMA "mma.sync.aligned."
#define SP  "mma.sp::ordered_metadata.sync.aligned."
    static const struct product products[] = {
        {MMA "m8n8k4.row.col.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 1, 1, 2, 1},
        {MMA "m16n8k4.row.col.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 2, 1, 4, 1},
        {MMA "m16n8k8.row.col.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 4, 2, 4, 1},
        {MMA "m16n8k16.row.col.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 8, 4, 4, 1},
        {MMA "m8n8k4.row.col.rz.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 1, 1, 2, 1},
        {MMA "m16n8k8.row.col.rp.f64.f64.f64.f64", 'd', 'd', 'd', 0, 64, 4, 2, 4, 1},
        {MMA "m16n8k8.row.col.f64.f64.f64.f64", 'q', 'q', 'q', 0, 64, 4, 2, 4, 1},
        {MMA "m8n8k32.row.col.s32.s4.s4.s32", 'w', 'w', 'w', 0, 32, 1, 1, 2, 1},
        {MMA "m8n8k32.row.col.satfinite.s32.u4.s4.s32", 'w', 'w', 'w', 0, 32, 1, 1, 2, 1},
        {MMA "m16n8k32.row.col.s32.s4.u4.s32", 'w', 'w', 'w', 0, 32, 2, 1, 4, 1},
        {MMA "m16n8k64.row.col.s32.u4.u4.s32", 'w', 'w', 'w', 0, 32, 4, 2, 4, 1},
        {MMA "m16n8k64.row.col.satfinite.s32.s4.s4.s32", 'w', 'w', 'w', 0, 32, 4, 2, 4, 1},
        {MMA "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 'w', 'w', 'w', 0, 32, 1, 1, 2, 1},
        {MMA "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 'w', 'w', 'w', 0, 32, 2, 1, 4, 1},
        {MMA "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 'w', 'w', 'w', 0, 32, 4, 2, 4, 1},
        {MMA "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 'w', 'w', 'w', 0, 32, 4, 2, 4, 1},
        {SP "m16n8k16.row.col.f32.f16.f16.f32", 'h', 'H', 'f', 'm', 32, 2, 2, 4, 4},
        {SP "m16n8k16.row.col.f16.f16.f16.f16", 'h', 'H', 'h', 'm', 32, 2, 2, 2, 1},
        {SP "m16n8k32.row.col.f32.f16.f16.f32", 'h', 'H', 'f', 'm', 32, 4, 4, 4, 2},
        {SP "m16n8k32.row.col.f16.f16.f16.f16", 'h', 'H', 'h', 'm', 32, 4, 4, 2, 1},
        {SP "m16n8k16.row.col.f32.bf16.bf16.f32", 'b', 'B', 'f', 'm', 32, 2, 2, 4, 1},
        {SP "m16n8k32.row.col.f32.bf16.bf16.f32", 'b', 'B', 'f', 'm', 32, 4, 4, 4, 1},
        {SP "m16n8k8.row.col.f32.tf32.tf32.f32", 'f', 'f', 'f', 't', 32, 2, 2, 4, 4},
        {SP "m16n8k16.row.col.f32.tf32.tf32.f32", 'f', 'f', 'f', 't', 32, 4, 4, 4, 2},
        {SP "m16n8k64.row.col.f32.e4m3.e4m3.f32", 'e', 'E', 'f', 'm', 32, 4, 4, 4, 1},
        {SP "m16n8k64.row.col.f32.e5m2.e4m3.f32", '5', 'E', 'f', 'm', 32, 4, 4, 4, 1},
        {SP "m16n8k32.row.col.s32.s8.s8.s32", 'i', 'i', 'w', 'm', 32, 2, 2, 4, 2},
        {SP "m16n8k64.row.col.s32.u8.s8.s32", 'i', 'i', 'w', 'm', 32, 4, 4, 4, 1},
        {SP "m16n8k64.row.col.satfinite.s32.s8.s8.s32", 'i', 'i', 'w', 'm', 32, 4, 4, 4, 1},
        {SP "m16n8k64.row.col.s32.s4.s4.s32", 'w', 'w', 'w', 'm', 32, 2, 2, 4, 2},
        {SP "m16n8k128.row.col.s32.u4.s4.s32", 'w', 'w', 'w', 'm', 32, 4, 4, 4, 1},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int s = 0; s < products[i].selectors; s++) at = add_product(at, &products[i], s);
    return at;
}

/* Whole wmma of one shape from and to global memory: [A][B][C] -> [D][registers of A, B, D]. */
struct whole {
    const char *name, *shape, *type, *c, *d, *mma;
    char in_kind, c_kind;
    int m, n, k, bits, c_bits, d_bits, n_a, n_b, n_c, n_d;
};

static struct golden_form *add_whole(struct golden_form *at, const struct whole *f, int layouts) {
    int a_col = layouts & 1, b_col = layouts >> 1 & 1, reg = f->bits == 64 ? 64 : 32;
    const char *la = a_col ? "col" : "row", *lb = b_col ? "col" : "row",
               *ld = a_col ? "row" : "col";
    int a = f->m * f->k * f->bits / 8, b = f->n * f->k * f->bits / 8,
        c = f->m * f->n * f->c_bits / 8, d = f->m * f->n * f->d_bits / 8, out = d, n = 0;
    char body[4096], name[GOLDEN_NAME], kinds[64] = "", l[4][128];
    memset(kinds, f->in_kind, (size_t)(a + b) / 128);
    memset(kinds + (a + b) / 128, f->c_kind, (size_t)c / 128);
    const char *ra = list(l[0], "ra", f->n_a), *rb = list(l[1], "rb", f->n_b),
               *rc = list(l[2], "rc", f->n_c), *rd = list(l[3], "rd", f->n_d);
    n += sprintf(body + n, "    .reg .b%d %%ra<8>, %%rb<8>, %%rc<8>, %%rd<8>;\n", reg);
    n += sprintf(body + n, "    wmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%in];\n", la,
                 f->shape, f->type, ra);
    n += sprintf(body + n, "    wmma.load.b.sync.aligned.%s.%s.global.%s %s, [%%in+%d];\n", lb,
                 f->shape, f->type, rb, a);
    n += sprintf(body + n, "    wmma.load.c.sync.aligned.%s.%s.global.%s %s, [%%in+%d], %d;\n", ld,
                 f->shape, f->c, rc, a + b, a_col ? f->n : f->m);
    n += sprintf(body + n, "    wmma.mma%s.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n",
                 f->bits == 1 ? ".xor.popc" : "", la, lb, f->shape, f->mma, rd, ra, rb, rc);
    n += sprintf(body + n, "    wmma.store.d.sync.aligned.%s.%s.global.%s [%%out], %s, %d;\n", ld,
                 f->shape, f->d, rd, a_col ? f->n : f->m);
    n += sprintf(body + n, "    mul.wide.u32 %%x0, %%thr, %d;\n    add.s64 %%out, %%out, %%x0;\n",
                 reg / 8);
    for (int set = 0; set < 3; set++)
        for (int r = 0; r < (set == 0 ? f->n_a : set == 1 ? f->n_b : f->n_d); r++, out += reg * 4)
            n += sprintf(body + n, "    st.global.b%d [%%out+%d], %%r%c%d;\n", reg, out, "abd"[set],
                         r);
    snprintf(name, sizeof name, "wmma_%s_%s_%s", f->name, la, lb);
    at = golden_add(at, name, kinds, out / 128, 9, body);
    at[-1].is_flat = 1;
    return at;
}

static struct golden_form *add_wholes(struct golden_form *at) {
    static const struct whole wholes[] = {
        {"m8n8k4_f64", "m8n8k4", "f64", "f64", "f64", "rn.f64.f64.f64.f64", 'D', 'D', 8, 8, 4, 64,
         64, 64, 1, 1, 2, 2},
        {"m8n8k32_s4", "m8n8k32", "s4", "s32", "s32", "s32.s4.s4.s32", 'w', 'w', 8, 8, 32, 4, 32,
         32, 1, 1, 2, 2},
        {"m8n8k128_b1", "m8n8k128", "b1", "s32", "s32", "s32.b1.b1.s32", 'w', 'w', 8, 8, 128, 1, 32,
         32, 1, 1, 2, 2},
        {"m16n16k16_f16_c16_d32", "m16n16k16", "f16", "f16", "f32", "f32.f16", 'h', 'h', 16, 16, 16,
         16, 16, 32, 8, 8, 4, 8},
        {"m16n16k16_f16_c32_d16", "m16n16k16", "f16", "f32", "f16", "f16.f32", 'h', 'f', 16, 16, 16,
         16, 32, 16, 8, 8, 8, 4},
        {"m32n8k16_u8", "m32n8k16", "u8", "s32", "s32", "s32.u8.u8.s32", 'i', 'w', 32, 8, 16, 8, 32,
         32, 4, 1, 8, 8},
        {"m8n32k16_s8", "m8n32k16", "s8", "s32", "s32", "satfinite.s32.s8.s8.s32", 'i', 'w', 8, 32,
         16, 8, 32, 32, 1, 4, 8, 8},
    };
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        for (int layouts = 0; layouts < 4; layouts++)
            if (wholes[i].bits > 4 || layouts == 2) at = add_whole(at, &wholes[i], layouts);
    return at;
}

int golden_list_mma(struct golden_form *out) { return (int)(add_wholes(add_products(out)) - out); }
