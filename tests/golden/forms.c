#include "forms.h"
#include "forms_internal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

uint64_t golden_hash(const void *bytes, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h;
}

/* splitmix64 */
uint64_t golden_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned below(uint64_t *s, unsigned n) { return (unsigned)((golden_next(s) >> 16) % n); }

/* One number of a format with `e` exponent and `m` mantissa bits. */
static uint32_t draw_float(uint64_t *s, int e, int m, int flavour) {
    static const int near_ties[] = {0, -1, -10, -11, -12, -13, -14, 5};
    uint32_t sign = golden_next(s) >> 63, all = (1u << m) - 1;
    uint32_t mantissa = golden_next(s) & all;
    int bias = (1 << (e - 1)) - 1, top = (1 << e) - 1, exponent = bias;
    switch (flavour) {
    case 0:
        exponent = bias - 2 + below(s, 5);
        break;
    case 1:
        exponent = bias - 8 + below(s, 17);
        break;
    case 2:
        exponent = below(s, top);
        break;
    case 3: /* sums that cancel */
        exponent = bias + near_ties[below(s, 8)];
        mantissa = (uint32_t[]){0, 0, all, 1}[below(s, 4)] & all;
        break;
    case 4:
        exponent = below(s, 3);
        break; /* subnormal and just above */
    case 5:
        exponent = bias - 3 + below(s, 7);
        if (below(s, 16) == 0) exponent = top, mantissa = below(s, 2) ? mantissa : 0;
        if (below(s, 16) == 0) exponent = 0, mantissa = 0;
        break;
    case 6:
        exponent = below(s, top + 1);
        break; /* any bits */
    case 8:
        exponent = bias - 14;
        break;
    default: /* positive, spread over the bits that alignment cuts off */
        sign = 0;
        exponent = bias + near_ties[below(s, 7)];
        mantissa = below(s, 2) ? all : mantissa;
    }
    if (exponent < 0) exponent = 0;
    if (exponent > top) exponent = top;
    return sign << (e + m) | (uint32_t)exponent << m | mantissa;
}

/* Flavour 8: the lowest element of each word of A is zero, that of B huge, and the rest small:
 * does a product of zero and much move the others? */
static uint32_t draw_packed(uint64_t *s, int e, int m, int flavour, bool is_b) {
    int bits = e + m + 1, bias = (1 << (e - 1)) - 1, huge = (1 << e) - 2;
    uint32_t w = 0;
    for (int at = 0; at < 32; at += bits) {
        uint32_t x = draw_float(s, e, m, flavour);
        if (flavour == 8 && at == 0)
            x = (x & 1u << (e + m)) | (is_b ? (uint32_t)huge << m : 0);
        else if (flavour == 8)
            x = (x & ~(((1u << e) - 1) << m)) | (uint32_t)(bias - 3 - bias / 4) << m;
        w |= x << at;
    }
    return w;
}

/* Capitals: operand B. */
uint32_t golden_draw(uint64_t *s, char kind, int flavour) {
    switch (kind) {
    case 'h':
    case 'H':
        return draw_packed(s, 5, 10, flavour, kind == 'H'); /* 2 fp16 */
    case 'b':
    case 'B':
        return draw_packed(s, 8, 7, flavour, kind == 'B'); /* 2 bf16 */
    case 'e':
    case 'E':
        return draw_packed(s, 4, 3, flavour, kind == 'E'); /* 4 e4m3 */
    case '5':
    case '%':
        return draw_packed(s, 5, 2, flavour, kind == '%'); /* 4 e5m2 */
    case 'f':
        return draw_float(s, 8, 23, flavour);
    case 'i':
        return (uint32_t)golden_next(s) & (flavour % 2 ? 0x8f8f8f8f : 0xffffffff); /* 4 bytes */
    case 'a': { /* an angle: PTX says how good sin and cos are from -2 pi to 2 pi */
        uint32_t x = draw_float(s, 8, 23, flavour);
        return (x & 0x7fffffff) > 0x40c00000 ? (x & 0x807fffff) | 0x40000000 : x;
    }
    case 'n':
        return below(s, 72); /* a shift or a bit position */
    case 'r':
        return 16 * below(s, 64); /* a 16-byte row of 1 KB */
    case 'd':
        return draw_float(s, 11, 20, flavour); /* the upper half of a double */
    case 'z':
        return 0; /* its lower half: so there are infinities */
    case 'm':
    case 't': { /* which elements of a sparse matrix are kept */
        static const char two_of_four[] = {4, 8, 12, 9, 13, 14};
        uint32_t x = 0;
        for (int at = 0; at < 32; at += 4)
            x |= (kind == 't' ? (below(s, 2) ? 14u : 4u) : (uint32_t)two_of_four[below(s, 6)])
                 << at;
        return x;
    }
    case 'u':
        return below(s, 2) ? below(s, 1000) : (uint32_t)golden_next(s);
    default:
        return (uint32_t)golden_next(s);
    }
}

uint64_t golden_seed(const struct golden_form *f, int c) {
    return golden_hash(f->name, strlen(f->name)) + 0x10001u * (uint64_t)(c + 1);
}

void golden_emit(struct golden_text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->at + t->n, GOLDEN_PTX - t->n, format, args);
    va_end(args);
}

/* Module head, addresses of this case in %in and %out, thread in %thr. */
void golden_head(struct golden_text *t, const struct golden_form *f) {
    golden_emit(t, ".version 8.5\n.target sm_90a\n.address_size 64\n\n");
    golden_emit(t, ".visible .entry golden(.param .u64 p_in, .param .u64 p_out%s)\n",
                f->map.rank ? ", .param .align 128 .b8 map[128]" : "");
    golden_emit(
        t,
        ".maxntid %d, 1, 1\n{\n"
        "    .reg .b64 %%common, %%in, %%out, %%x<4>;\n    .reg .b32 %%thr, %%case, %%y<8>;\n"
        "    .reg .pred %%p;\n"
        "    ld.param.u64 %%common, [p_in];\n    ld.param.u64 %%out, [p_out];\n"
        "    cvta.to.global.u64 %%common, %%common;\n    cvta.to.global.u64 %%out, %%out;\n"
        "    mov.u32 %%thr, %%tid.x;\n    mov.u32 %%case, %%ctaid.x;\n"
        "    mul.wide.u32 %%x0, %%case, %zu;\n    add.s64 %%in, %%common, %%x0;\n"
        "    add.s64 %%in, %%in, %zu;\n"
        "    mul.wide.u32 %%x0, %%case, %zu;\n    add.s64 %%out, %%out, %%x0;\n",
        f->threads, f->in_bytes, f->common_bytes, f->out_bytes);
}

/* Forms of registers: in[thread][n_in] -> body -> out[thread][n_out]. Flat forms get the addresses
 * of their case and do the rest themselves; their operands have one kind for each 128 bytes. */
static void ptx_registers(struct golden_text *t, const struct golden_form *f) {
    golden_head(t, f);
    if (f->is_flat) {
        golden_emit(t, "%s    ret;\n}\n", f->body);
        return;
    }
    golden_emit(t,
                "    .reg .b32 %%i<%d>, %%d<%d>;\n    .reg .b16 %%h<8>;\n    .reg .b64 %%l<8>;\n"
                "    .shared .align 1024 .b8 smem[1024];\n"
                "    mul.wide.u32 %%x0, %%thr, %d;\n    add.s64 %%in, %%in, %%x0;\n"
                "    mul.wide.u32 %%x0, %%thr, %d;\n    add.s64 %%out, %%out, %%x0;\n"
                "    mov.u32 %%y0, smem;\n",
                f->n_in + 1, f->n_out + 1, 4 * f->n_in, 4 * f->n_out);
    for (int i = 0; i < f->n_in; i++)
        golden_emit(t, "    ld.global.b32 %%i%d, [%%in+%d];\n", i, 4 * i);
    golden_emit(t, "%s", f->body);
    for (int i = 0; i < f->n_out; i++)
        golden_emit(t, "    st.global.b32 [%%out+%d], %%d%d;\n", 4 * i, i);
    golden_emit(t, "    ret;\n}\n");
}

void golden_ptx(const struct golden_form *f, char *out) {
    struct golden_text t = {out, 0};
    out[0] = 0;
    if (f->map.rank)
        golden_ptx_tma(&t, f);
    else if (f->n)
        golden_ptx_wgmma(&t, f);
    else
        ptx_registers(&t, f);
}

void golden_common(const struct golden_form *f, void *common) {
    uint64_t s = golden_seed(f, -1);
    uint32_t *w = common;
    for (size_t i = 0; i < f->common_bytes / 4; i++)
        w[i] = golden_draw(&s, f->kinds ? f->kinds[0] : 'w', (int)(i / 64 % 2));
}

void golden_operands(const struct golden_form *f, int c, void *in) {
    uint64_t s = golden_seed(f, c);
    if (f->map.rank)
        golden_operands_tma(f, c, in);
    else if (f->n)
        golden_operands_wgmma(f, c, in);
    else if (f->is_flat)
        for (size_t w = 0; w < f->in_bytes / 4; w++)
            ((uint32_t *)in)[w] = golden_draw(&s,
                                              f->kinds[w / 32] != 'D' ? f->kinds[w / 32]
                                              : w % 2                 ? 'd'
                                                                      : 'w',
                                              c % GOLDEN_FLAVOURS);
    else
        for (int thread = 0; thread < f->threads; thread++)
            for (int i = 0; i < f->n_in; i++)
                ((uint32_t *)in)[thread * f->n_in + i] =
                    golden_draw(&s, f->kinds[i], c % GOLDEN_FLAVOURS);
}

const struct golden_form *golden_form(int i) {
    static struct golden_form forms[GOLDEN_MAX_FORMS];
    static int n;
    if (!n) n = golden_list(forms);
    return i < n ? &forms[i] : NULL;
}

int golden_n_forms(void) {
    int n = 0;
    while (golden_form(n)) n++;
    return n;
}
