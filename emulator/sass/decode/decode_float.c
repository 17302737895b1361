/* Decodes the mnemonics of floating point and tensor products. decoder.h has the frame. */
#include "decoder.h"

#include "common/base/heap.h"
#include "emulator/instructions/tensor/wgmma.h"

#include <fenv.h>
#include <string.h>

/* ---- Mnemonics: floating point --------------------------------------------------------------- */

/* which: 0 add, 1 mul, 2 fma */
static void rounding(struct decoder *c, int which) {
    static sass_handler *const usual[] = {sass_fadd,     sass_fmul,     sass_ffma,
                                          sass_fadd_ftz, sass_fmul_ftz, sass_ffma_ftz};
    if (sd_mod(c, "FTZ")) which += 3;
    const int rounding = sd_mod(c, "RM")   ? FE_DOWNWARD
                         : sd_mod(c, "RP") ? FE_UPWARD
                         : sd_mod(c, "RZ") ? FE_TOWARDZERO
                                           : FE_TONEAREST;
    c->x->mode = sd_mod(c, "SAT");
    c->x->mode2 = (uint8_t)which;
    c->x->imm = (uint32_t)rounding;
    sd_set(c, rounding == FE_TONEAREST && !c->x->mode ? usual[which] : sass_float_mode);
}

static void d_fadd(struct decoder *c) {
    rounding(c, 0);
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
}
/* FMUL.D2 is half of the product, .M4 four times it: mode2 is the power of two; mode: .FTZ. */
static bool d_scaled_product(struct decoder *c) {
    static const struct {
        const char *modifier;
        int power;
    } scale[] = {{"D2", -1}, {"D4", -2}, {"D8", -3}, {"M2", 1}, {"M4", 2}, {"M8", 3}};
    for (size_t i = 0; i < sizeof scale / sizeof *scale; i++)
        if (sd_mod(c, scale[i].modifier)) {
            c->x->mode = sd_mod(c, "FTZ");
            c->x->mode2 = (uint8_t)scale[i].power;
            sd_set(c, sass_fmul_scaled);
            return true;
        }
    return false;
}
static void d_fmul(struct decoder *c) {
    if (!d_scaled_product(c)) rounding(c, 1);
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
}
static void d_ffma(struct decoder *c) {
    rounding(c, 2);
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    sd_fsrc(c, 2);
}
static void d_fmnmx(struct decoder *c) {
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    c->x->mode = sd_mod(c, "FTZ");
    sd_set(c, sd_mod(c, "NAN") ? sass_fmnmx_nan : sass_fmnmx);
}
static void d_fsel(struct decoder *c) {
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_fsel);
}
static void d_fsetp(struct decoder *c) {
    c->x->mode = sd_comparison(c);
    if (sd_mod(c, "FTZ")) c->x->mode |= FSETP_FTZ;
    c->x->pd = sd_pdst(c);
    c->x->pe = sd_pdst(c);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_fsetp);
}
static void d_fset(struct decoder *c) {
    c->x->mode2 = sd_mod(c, "BF");
    c->x->mode = sd_comparison(c);
    if (sd_mod(c, "FTZ")) c->x->mode |= FSETP_FTZ;
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_fset);
}
static void d_f2fp(struct decoder *c) {
    c->x->mode = sd_mod(c, "BF16");
    if (!c->x->mode) sd_must(c, "F16");
    sd_must(c, "F32");
    sd_must(c, "PACK_AB");
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    sd_set(c, sass_f2fp);
}

/* A pair of halves: R1, R1.H0_H0 (the lower one twice), or two numbers, whose bits are 32 to 63. imm: two
 * bits a source say which. */
static void pair(struct decoder *c, int slot) {
    struct operand *o = sd_take(c);
    struct sass_source *s = &c->x->s[slot];
    if (o->kind == FLOAT) {
        if (sd_take(c)->kind != FLOAT) c->bad = true;
        s->row = sd_constant(c, (uint32_t)(c->low >> 32));
        return;
    }
    uint32_t which = !*o->suffix                   ? 0
                     : !strcmp(o->suffix, "H0_H0") ? 1
                     : !strcmp(o->suffix, "H1_H1") ? 2
                                                   : 3;
    if (o->kind != REG || o->not || o->inverted || which == 3) c->bad = true;
    c->x->imm |= which << 2 * slot;
    s->keep = o->absolute ? 0x7fff7fff : EMU_FULL;
    s->flip = o->negated ? 0x80008000 : 0;
    s->row = sd_row_of(c, REG, o->number, 1, 1);
    sd_reads(c, REG, o->number, slot, 1);
}
static void pairs(struct decoder *c, int op, int n) {
    (void)sd_mod(c, "MMA");
    c->x->mode = (uint8_t)op;
    c->x->mode2 = sd_mod(c, "BF16_V2");
    sd_dst(c, 1);
    for (int s = 0; s < n; s++) pair(c, s);
    sd_set(c, sass_pairs);
}
static void half_type(struct decoder *c) { c->x->mode2 = sd_mod(c, "BF16_V2"); }
static void d_hmnmx2(struct decoder *c) {
    half_type(c);
    sd_dst(c, 1);
    pair(c, 0);
    pair(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_hmnmx2);
}
static void d_hsetp2(struct decoder *c) {
    half_type(c);
    c->x->mode = sd_comparison(c);
    c->x->pd = sd_pdst(c);
    c->x->pe = sd_pdst(c);
    pair(c, 0);
    pair(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_hsetp2);
}
static void d_hset2(struct decoder *c) {
    half_type(c);
    c->x->offset = sd_mod(c, "BF");
    c->x->mode = sd_comparison(c);
    sd_dst(c, 1);
    pair(c, 0);
    pair(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_hset2);
}
static void d_hmul2(struct decoder *c) { pairs(c, HALF_MUL, 2); }
static void d_hadd2(struct decoder *c) {
    if (!sd_mod(c, "F32")) {
        pairs(c, HALF_ADD, 2);
        return;
    }
    sd_dst(c, 1);
    sd_fsrc(c, 0);
    if (c->x->s[0].row != SASS_ROW_ZERO) c->bad = true; /* else it would be two halves */
    struct operand *o = sd_take(c);
    c->x->mode = !strcmp(o->suffix, "H1_H1");
    if (o->kind != REG || (!c->x->mode && strcmp(o->suffix, "H0_H0"))) c->bad = true;
    c->x->s[1].keep = o->absolute ? 0x7fff7fff : EMU_FULL;
    c->x->s[1].flip = o->negated ? 0x80008000 : 0;
    c->x->s[1].row = sd_row_of(c, REG, o->number, 1, 1);
    sd_reads(c, REG, o->number, 1, 1);
    sd_set(c, sass_hadd2_f32);
}
/* HFMA2.MMA d, -RZ, RZ, x, y: the pair of halves {y, x} in bits 32-63, a constant */
static void d_hfma2(struct decoder *c) {
    if (c->n != 5 || c->op[3].kind != FLOAT || c->op[2].number != SASS_RZ) {
        pairs(c, HALF_FMA, 3);
        return;
    }
    sd_must(c, "MMA");
    sd_dst(c, 1);
    struct operand *a = sd_take(c), *b = sd_take(c), *high = sd_take(c), *low = sd_take(c);
    if (a->kind != REG || b->kind != REG || a->number != SASS_RZ || b->number != SASS_RZ ||
        !a->negated || b->negated || high->kind != FLOAT || low->kind != FLOAT)
        c->bad = true;
    c->x->s[0].row = sd_constant(c, (uint32_t)(c->low >> 32));
    sd_set(c, sass_mov);
}
static void d_mufu(struct decoder *c) {
    const bool root = sd_mod(c, "RSQ64H");
    if (root || sd_mod(c, "RCP64H")) {
        c->x->mode = root;
        sd_set(c, sass_seed64);
    }
    static const struct {
        const char *name;
        sass_handler *run;
    } which[] = {{"EX2", sass_ex2}, {"RCP", sass_rcp}, {"LG2", sass_lg2},   {"RSQ", sass_rsq},
                 {"SIN", sass_sin}, {"COS", sass_cos}, {"SQRT", sass_sqrt}, {"TANH", sass_tanh}};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++)
        if (sd_mod(c, which[w].name)) sd_set(c, which[w].run);
    sd_dst(c, 1);
    sd_fsrc(c, 0);
}

static void d_fp64(struct decoder *c) {
    c->x->mode = c->name[1] == 'A' ? FP64_ADD : c->name[1] == 'M' ? FP64_MUL : FP64_FMA;
    c->x->imm = sd_rounding(c);
    sd_dst(c, 2);
    sd_double(c, 0);
    sd_double(c, 1);
    if (c->x->mode == FP64_FMA) sd_double(c, 2);
    sd_set(c, sass_fp64);
}
static void d_dsetp(struct decoder *c) {
    const bool least = sd_mod(c, "MIN"), most = !least && sd_mod(c, "MAX");
    if (least || most)
        sd_must(c, "AND");
    else
        c->x->mode = sd_comparison(c);
    c->x->pd = sd_pdst(c);
    c->x->pe = sd_pdst(c);
    sd_double(c, 0);
    sd_double(c, 1);
    c->x->pin[0] = sd_psrc(c);
    if (least || most) {
        c->x->mode = least ? FP64_MIN : FP64_MAX;
        if (c->x->pin[0].index != SASS_P_TRUE || c->x->pin[0].flip) c->bad = true;
    }
    sd_set(c, least || most ? sass_dsetp_least : sass_dsetp);
}

static void d_fchk(struct decoder *c) {
    c->x->pd = sd_pdst(c);
    sd_fsrc(c, 0);
    sd_fsrc(c, 1);
    sd_set(c, sass_fchk);
}
/* ---- Mnemonics: tensor ----------------------------------------------------------------------- */

static void d_hmma(struct decoder *c) {
    sd_must(c, "16816");
    sd_must(c, "F32");
    c->x->mode = sd_mod(c, "BF16");
    sd_dst(c, 4);
    sd_plain(c, 0, 4);
    sd_plain(c, 1, 2);
    sd_plain(c, 2, 4);
    c->i->src[1].n = c->i->src[1].n ? 2 : 0;
    sd_set(c, sass_hmma);
}

static void d_hgmma(struct decoder *c) {
    int m, n, k;
    struct sass_gmma *g = heap_line(sizeof *g); /* its struct emu_inst fills whole cache lines */
    c->x->more = g;
    if (c->n_modifiers < 1 || sscanf(c->modifier[0], "%dx%dx%d", &m, &n, &k) != 3 || m != 64 ||
        k != 16 || n % 8 || n < 8 || n > 256) {
        c->bad = true;
        return;
    }
    c->used[0] = true;
    sd_must(c, "F32"); /* of fp16 or bf16; other types have another modifier */
    sd_dst(c, n / 2);
    g->inst.aux[WGMMA_N] = n;
    g->inst.aux[WGMMA_K] = k;
    g->inst.aux[WGMMA_TYPE] = sd_mod(c, "BF16") ? TENSOR_BF16 : TENSOR_F16;
    g->op[0].rows = g->d;
    g->op[0].n = (uint16_t)(n / 2);
    for (int r = 0; r < n / 2; r++) g->d[r] = c->x->d + (uint32_t)r * SASS_ROW;
    if (sd_at(c, REG)) {
        sd_plain(c, 0, 4);
        g->inst.aux[WGMMA_FLAGS] |= WGMMA_RS;
        g->op[1].rows = g->a;
        g->op[1].n = 4;
        for (uint32_t r = 0; r < 4; r++) g->a[r] = c->x->s[0].row + r * SASS_ROW;
    }
    struct operand *desc = sd_take(c);
    if (desc->kind != GDESC || desc->reg_in_brackets || desc->value) c->bad = true;
    if (!strncmp(desc->suffix, "tnspA", 5)) g->inst.aux[WGMMA_FLAGS] |= WGMMA_TRANS_A;
    if (strstr(desc->suffix, "tnspB")) g->inst.aux[WGMMA_FLAGS] |= WGMMA_TRANS_B;
    if (*desc->suffix && strcmp(desc->suffix, "tnspA") && strcmp(desc->suffix, "tnspB") &&
        strcmp(desc->suffix, "tnspA.tnspB"))
        c->bad = true;
    g->desc = sd_row_of(c, UREG, desc->uniform, 4, 4);
    sd_reads(c, UREG, desc->uniform, 0, 4);
    struct operand *sum = sd_take(c);
    if (sum->kind != REG || (sum->number != SASS_RZ && sum->number != c->i->dst.first))
        c->bad = true;
    if (sum->number != SASS_RZ) {
        c->i->src[2] = c->i->dst;
        c->x->pin[0] = sd_none_true;
    } else {
        c->x->pin[0] = sd_none_false;
    }
    if (sd_at(c, UPRED)) {
        struct sass_pred p = sd_psrc(c);
        if (sum->number != SASS_RZ) c->x->pin[0] = p;
        if (sum->number == SASS_RZ && (p.index != SASS_P_TRUE || !p.flip)) c->bad = true;
    }
    if (sd_at(c, WORD)) {
        if (strcmp(sd_take(c)->text, "gsb0")) c->bad = true;
        g->ends_group = true;
    }
    g->inst.op = g->op;
    g->inst.n_ops = 2;
    sd_memory(c, SASS_HGMMA_OPERANDS, 0);
    sd_set(c, sass_hgmma);
}

const struct sd_mnemonic sd_float[] = {
    {SASS_OP_FADD, d_fadd},     {SASS_OP_FFMA, d_ffma},   {SASS_OP_FMUL, d_fmul},
    {SASS_OP_HADD2, d_hadd2},   {SASS_OP_HFMA2, d_hfma2}, {SASS_OP_HMUL2, d_hmul2},
    {SASS_OP_F2FP, d_f2fp},     {SASS_OP_FMNMX, d_fmnmx}, {SASS_OP_FSEL, d_fsel},
    {SASS_OP_FSETP, d_fsetp},   {SASS_OP_FSET, d_fset},   {SASS_OP_FCHK, d_fchk},
    {SASS_OP_MUFU, d_mufu},     {SASS_OP_DADD, d_fp64},   {SASS_OP_DMUL, d_fp64},
    {SASS_OP_DFMA, d_fp64},     {SASS_OP_DSETP, d_dsetp}, {SASS_OP_HMNMX2, d_hmnmx2},
    {SASS_OP_HSETP2, d_hsetp2}, {SASS_OP_HSET2, d_hset2}, {SASS_OP_HMMA, d_hmma},
    {SASS_OP_HGMMA, d_hgmma},   {SASS_N_OPS, NULL},
};
