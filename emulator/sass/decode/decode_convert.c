/* Decodes the conversions between whole numbers and floats. decoder.h has the frame. */
#include "decoder.h"

#include <string.h>

/* Which part of a register a small number is in: R1.B2, R1.H1; in bits. */
static uint8_t part(struct decoder *c) {
    struct operand *o = c->next < c->n ? &c->op[c->next] : NULL;
    const char *suffix = o ? o->suffix : "";
    uint8_t bits = 0;
    if (*suffix == 'B' && suffix[1] >= '0' && suffix[1] <= '3' && !suffix[2])
        bits = (uint8_t)(8 * (suffix[1] - '0'));
    else if (!strncmp(suffix, "H1", 2))
        bits = 16;
    else if (strncmp(suffix, "H0", 2))
        return 0;
    *o->suffix = 0;
    return bits;
}

/* A float operand: of fp16 one half of the register. */
static void real_source(struct decoder *c, int from) {
    struct operand *o = &c->op[c->next];
    if (from == SASS_TO_F64) {
        sd_double(c, 0);
        return;
    }
    if (from == SASS_TO_F16) c->x->bytes = part(c);
    sd_fsrc(c, 0);
    if (from != SASS_TO_F16) return;
    c->x->s[0].keep = o->absolute ? 0x7fff : 0xffff;
    c->x->s[0].flip = o->negated ? 0x8000 : 0;
}

/* F64, F16: of what it comes or what it becomes; else F32, said or not */
static uint8_t real_type(struct decoder *c) {
    if (sd_mod(c, "F64")) return SASS_TO_F64;
    if (sd_mod(c, "F16")) return SASS_TO_F16;
    if (sd_mod(c, "BF16")) return SASS_TO_BF16;
    (void)sd_mod(c, "F32");
    return SASS_TO_F32;
}

/* The bytes of a whole number, plus 16 if it has a sign. */
static uint8_t whole_type(struct decoder *c) {
    static const struct {
        const char *name;
        uint8_t type;
    } which[] = {{"U8", 1},  {"S8", 1 + 16},  {"U16", 2}, {"S16", 2 + 16},
                 {"U64", 8}, {"S64", 8 + 16}, {"U32", 4}, {"S32", 4 + 16}};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++)
        if (sd_mod(c, which[w].name)) return which[w].type;
    return 4 + 16;
}

static void d_i2f(struct decoder *c) {
    c->x->mode = real_type(c);
    c->x->mode2 = whole_type(c);
    c->x->imm = sd_rounding(c);
    sd_dst(c, c->x->mode == SASS_TO_F64 ? 2 : 1);
    if ((c->x->mode2 & 15) < 4) c->x->bytes = part(c);
    sd_plain(c, 0, c->x->mode2 / 8 % 2 ? 2 : 1);
    if (c->x->mode == SASS_TO_BF16) c->bad = true;
    sd_set(c, sass_i2f);
}
static void d_i2fp(struct decoder *c) {
    sd_must(c, "F32");
    c->x->mode2 = whole_type(c);
    if ((c->x->mode2 & 15) != 4) c->bad = true;
    c->x->imm = sd_rounding(c);
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_set(c, sass_i2f);
}
/* To whole numbers: towards zero, down, up or to nearest */
static uint8_t rounded(struct decoder *c) {
    (void)sd_mod(c, "FTZ"); /* a subnormal is 0 anyway */
    return sd_mod(c, "TRUNC")   ? SASS_TRUNC
           : sd_mod(c, "FLOOR") ? SASS_FLOOR
           : sd_mod(c, "CEIL")  ? SASS_CEIL
                                : SASS_NEAREST;
}
static void d_f2i(struct decoder *c) {
    (void)sd_mod(c, "NTZ");
    c->x->mode2 = rounded(c);
    c->x->imm = real_type(c);
    bool s64 = sd_mod(c, "S64"), u64 = sd_mod(c, "U64"), u32 = sd_mod(c, "U32");
    c->x->mode = s64 ? SASS_S64 : u64 ? SASS_U64 : u32 ? SASS_U32 : SASS_S32;
    sd_dst(c, s64 || u64 ? 2 : 1);
    real_source(c, (int)c->x->imm);
    if (c->x->imm == SASS_TO_BF16) c->bad = true;
    sd_set(c, sass_f2i);
}
static void d_frnd(struct decoder *c) {
    c->x->mode2 = rounded(c);
    c->x->mode = real_type(c);
    sd_dst(c, c->x->mode == SASS_TO_F64 ? 2 : 1);
    real_source(c, c->x->mode);
    if (c->x->mode == SASS_TO_BF16) c->bad = true;
    sd_set(c, sass_frnd);
}

/* F2F.BF16.F32: into the lower half. The modifiers stand in the order to, from. */
static void d_f2f(struct decoder *c) {
    static const struct {
        const char *to, *from;
        uint8_t becomes, is;
    } which[] = {
        {"BF16", "F32", SASS_TO_BF16, SASS_TO_F32}, {"F16", "F32", SASS_TO_F16, SASS_TO_F32},
        {"F32", "F64", SASS_TO_F32, SASS_TO_F64},   {"F64", "F32", SASS_TO_F64, SASS_TO_F32},
        {"F16", "F64", SASS_TO_F16, SASS_TO_F64},   {"F64", "F16", SASS_TO_F64, SASS_TO_F16}};
    size_t w = 0;
    c->x->imm = sd_rounding(c);
    for (; w < sizeof which / sizeof *which; w++)
        if (c->n_modifiers > 1 && !strcmp(c->modifier[0], which[w].to) &&
            !strcmp(c->modifier[1], which[w].from))
            break;
    if (w == sizeof which / sizeof *which) {
        c->bad = true;
        return;
    }
    c->used[0] = c->used[1] = true;
    c->x->mode = which[w].becomes;
    c->x->mode2 = which[w].is;
    sd_dst(c, c->x->mode == SASS_TO_F64 ? 2 : 1);
    real_source(c, c->x->mode2);
    sd_set(c, sass_f2f);
}

const struct sd_mnemonic sd_convert[] = {
    {SASS_OP_F2F, d_f2f}, {SASS_OP_F2I, d_f2i},   {SASS_OP_FRND, d_frnd},
    {SASS_OP_I2F, d_i2f}, {SASS_OP_I2FP, d_i2fp}, {SASS_N_OPS, NULL},
};
