/* Decodes the mnemonics of integers. decoder.h has the frame. */
#include "decoder.h"

#include <string.h>

/* ---- Mnemonics: integers --------------------------------------------------------------------- */

static void d_iadd3(struct decoder *c) {
    bool wide = sd_mod(c, "64"), carry_in = sd_mod(c, "X");
    c->x->pd = c->x->pe = SASS_P_SINK;
    c->x->pin[0] = c->x->pin[1] = sd_none_false;
    sd_dst(c, wide ? 2 : 1);
    bool out = sd_at_pred(c);
    if (out) c->x->pd = sd_pdst(c);
    if (sd_at_pred(c)) c->x->pe = sd_pdst(c);
    if (wide) {
        sd_plain(c, 0, 2);
        c->x->mode = sd_at(c, NUMBER);
        if (c->x->mode && c->op[c->next].value < 0) c->bad = true;
        sd_plain(c, 1, c->x->mode ? 1 : 2);
        sd_plain(c, 2, 2);
        if (out || carry_in) c->bad = true;
        sd_set(c, sass_add64);
        return;
    }
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    sd_isrc(c, 2);
    if (carry_in) {
        c->x->pin[0] = sd_psrc(c);
        c->x->pin[1] = sd_psrc(c);
    }
    sd_set(c, out || carry_in ? sass_iadd3_carry : sass_iadd3);
}

static void d_viadd(struct decoder *c) {
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    sd_set(c, sass_iadd3);
}

static void d_imad(struct decoder *c) {
    bool wide = sd_mod(c, "WIDE"), high = sd_mod(c, "HI"), carry = sd_mod(c, "X");
    (void)(sd_mod(c, "MOV") || sd_mod(c, "SHL") || sd_mod(c, "IADD"));
    c->x->mode = !sd_mod(c, "U32");
    c->x->pd = SASS_P_SINK;
    sd_dst(c, wide ? 2 : 1);
    if (sd_at_pred(c)) {
        c->x->pd = sd_pdst(c);
        if (!wide && !high) c->bad = true;
    }
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    if (wide || high)
        sd_plain(c, 2, 2);
    else
        sd_isrc(c, 2);
    c->x->pin[0] = carry ? sd_psrc(c) : sd_none_false;
    if (carry && high) c->bad = true;
    sd_set(c, wide ? sass_imad_wide : high ? sass_imad_hi : carry ? sass_imad_x : sass_imad);
}

static void d_lea(struct decoder *c) {
    bool high = sd_mod(c, "HI"), carry = sd_mod(c, "X"), sign = sd_mod(c, "SX32");
    c->x->pd = SASS_P_SINK;
    c->x->pin[0] = sd_none_false;
    c->x->mode = sign;
    sd_dst(c, 1);
    if (sd_at_pred(c)) c->x->pd = sd_pdst(c);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    if (high && !sign) sd_isrc(c, 2);
    c->x->imm = sd_number(c);
    if (carry) c->x->pin[0] = sd_psrc(c);
    if (c->x->imm > 31 || (!high && (carry || sign))) c->bad = true;
    if (high && (c->x->s[0].flip || c->x->s[2].flip)) c->bad = true;
    sd_set(c, high ? sass_lea_hi : sass_lea);
}

static void d_lop3(struct decoder *c) {
    sd_must(c, "LUT");
    c->x->pd = SASS_P_SINK;
    if (sd_at_pred(c)) c->x->pd = sd_pdst(c);
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_plain(c, 2, 1);
    c->x->mode = (uint8_t)sd_number(c);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_lop3);
}

static void d_plop3(struct decoder *c) {
    sd_must(c, "LUT");
    c->x->pd = sd_pdst(c);
    c->x->pe = sd_pdst(c);
    for (int p = 0; p < 3; p++) c->x->pin[p] = sd_psrc(c);
    c->x->mode = (uint8_t)sd_number(c);
    c->x->mode2 = (uint8_t)sd_number(c);
    sd_set(c, sass_plop3);
}

static void d_shf(struct decoder *c) {
    bool left = sd_mod(c, "L"), right = sd_mod(c, "R"), u64 = sd_mod(c, "U64"),
         s32 = sd_mod(c, "S32"), s64 = sd_mod(c, "S64"), sign = s32 || s64, wide = u64 || s64;
    bool u32 = sd_mod(c, "U32"), high = sd_mod(c, "HI"), wrap = sd_mod(c, "W");
    if (left == right || wide + s32 + u32 != 1) c->bad = true;
    if ((left && sign) || (s32 && !high)) c->bad = true;
    c->x->mode = (uint8_t)((wrap ? SHF_WRAP : 0) | (left ? SHF_LEFT : 0) | (high ? SHF_HIGH : 0) |
                           (sign ? SHF_SIGNED : 0) | (wide ? SHF_64 : 0));
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_plain(c, 2, 1);
    sd_set(c, sass_shf);
}

static void d_isetp(struct decoder *c) {
    static const char *const which[] = {[CMP_LT] = "LT", [CMP_EQ] = "EQ", [CMP_LE] = "LE",
                                        [CMP_GT] = "GT", [CMP_NE] = "NE", [CMP_GE] = "GE"};
    int how = 0;
    for (int w = CMP_LT; w <= CMP_GE; w++)
        if (sd_mod(c, which[w])) how = w;
    if (!how) c->bad = true;
    c->x->mode = (uint8_t)(how | (sd_mod(c, "U32") ? SETP_UNSIGNED : 0));
    c->x->mode |= sd_joined(c);
    bool upper = sd_mod(c, "EX");
    if (upper) c->x->mode |= SETP_EX;
    c->x->pd = sd_pdst(c);
    c->x->pe = sd_pdst(c);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    c->x->pin[1] = upper ? sd_psrc(c) : sd_none_true;
    sd_set(c, sass_isetp);
}

static void d_sel(struct decoder *c) {
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_sel);
}

static void d_mov(struct decoder *c) {
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_set(c, sass_mov);
}

static void d_prmt(struct decoder *c) {
    static const char *const modes[] = {"F4E", "B4E", "RC8", "ECL", "ECR", "RC16"};
    for (int m = 0; m < 6; m++)
        if (sd_mod(c, modes[m])) c->x->mode = (uint8_t)(m + 1);
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_plain(c, 2, 1);
    sd_set(c, sass_prmt);
}

static void d_iabs(struct decoder *c) {
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_set(c, sass_iabs);
}

/* POPC, FLO, FLO.U32; UPOPC, UFLO */
static void d_count(struct decoder *c) {
    bool popc = strstr(c->name, "POPC"), is_signed = !popc && !sd_mod(c, "U32");
    c->x->mode = (uint8_t)(sd_mod(c, "SH") | is_signed << 1);
    sd_dst(c, 1);
    sd_source(c, 0, 1, false);
    if (c->x->s[0].less) c->bad = true;
    sd_set(c, popc ? sass_popc : sass_flo);
}

static void d_brev(struct decoder *c) {
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_set(c, sass_brev);
}

/* Into byte 0, or that of the modifier; a mask, `imm`, says which bits of the register are meant. */
static void d_p2r(struct decoder *c) {
    const int byte = sd_mod(c, "B1") ? 1 : sd_mod(c, "B2") ? 2 : sd_mod(c, "B3") ? 3 : 0;
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    c->x->imm = sd_number(c);
    c->i->p_read |= (uint8_t)(c->x->imm & 0x7f);
    if (c->x->imm > 0x7f) c->bad = true;
    c->x->imm <<= 8 * byte;
    sd_set(c, sass_p2r);
}

static void d_r2p(struct decoder *c) {
    if (strcmp(sd_take(c)->text, "PR")) c->bad = true;
    sd_plain(c, 0, 1);
    c->x->imm = sd_number(c);
    c->i->p_written |= (uint8_t)(c->x->imm & 0x7f);
    if (c->x->imm > 0x7f) c->bad = true;
    sd_set(c, sass_r2p);
}

static void d_vimnmx(struct decoder *c) {
    bool u16 = sd_mod(c, "U16x2"), pairs = u16 || sd_mod(c, "S16x2"),
         three = !strcmp(c->name, "VIMNMX3");
    c->x->mode = (uint8_t)((u16 || sd_mod(c, "U32") ? VIMNMX_UNSIGNED : 0) |
                           (three ? VIMNMX_THREE : 0) | (sd_mod(c, "RELU") ? VIMNMX_RELU : 0));
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    if (three) sd_isrc(c, 2);
    if (pairs && (c->x->s[0].flip || c->x->s[1].flip || c->x->s[2].flip)) c->bad = true;
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, pairs ? sass_vimnmx_x2 : sass_vimnmx);
}

/* d, a, b, c: c is added to what the parts of a and b make. */
static void parts_and_sum(struct decoder *c) {
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_isrc(c, 2);
}

/* BMSK, SGXT: a, and how many bits */
static void d_bits(struct decoder *c) {
    const bool sgxt = !strcmp(c->name, "SGXT");
    c->x->mode = (uint8_t)(sd_mod(c, "W") | (sgxt && sd_mod(c, "U32")) << 1);
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_set(c, sgxt ? sass_sgxt : sass_bmsk);
}

/* I2I.U8.S32.SAT d, a; I2IP.U8.S32.SAT d, a, b, c */
static void d_narrow(struct decoder *c) {
    static const char *const types[] = {"U8", "S8", "U16", "S16"};
    const bool pack = !strcmp(c->name, "I2IP");
    int type = -1;
    for (int t = 0; t < 4; t++)
        if (sd_mod(c, types[t])) type = t;
    if (type < 0) c->bad = true;
    sd_must(c, "S32");
    sd_must(c, "SAT");
    c->x->mode = (uint8_t)(type & 1);
    c->x->imm = type < 2 ? 8 : 16;
    sd_dst(c, 1);
    sd_isrc(c, 0);
    if (pack) {
        sd_isrc(c, 1);
        sd_plain(c, 2, 1);
    }
    sd_set(c, pack ? sass_i2ip : sass_i2i);
}

static void d_vabsdiff4(struct decoder *c) {
    c->x->mode = sd_mod(c, "S8");
    if (!c->x->mode) sd_must(c, "U8");
    sd_must(c, "ACC");
    parts_and_sum(c);
    sd_set(c, sass_vabsdiff4);
}

/* IDP.2A.LO.S16.U8 */
static void d_idp_2a(struct decoder *c) {
    const bool upper = sd_mod(c, "HI"), a = sd_mod(c, "S16"), b = sd_mod(c, "S8");
    if (!upper) sd_must(c, "LO");
    if (!a) sd_must(c, "U16");
    if (!b) sd_must(c, "U8");
    c->x->mode = (uint8_t)(a | b << 1 | upper << 2);
    c->x->imm = 16;
}

/* IDP.4A.U8.S8 */
static void d_idp_4a(struct decoder *c) {
    sd_must(c, "4A");
    bool a = sd_mod(c, "S8"), b = a && sd_mod(c, "S8");
    if (!b && !sd_mod(c, "U8")) c->bad = true; /* both types differ, or are U8 */
    if (!a) sd_must(c, "U8");
    if (a && !b && strcmp(c->modifier[1], "S8")) a = false, b = true; /* U8.S8 */
    c->x->mode = (uint8_t)(a | b << 1);
    c->x->imm = 8;
}

static void d_idp(struct decoder *c) {
    if (sd_mod(c, "2A"))
        d_idp_2a(c);
    else
        d_idp_4a(c);
    parts_and_sum(c);
    sd_set(c, sass_idp);
}

static void d_vabsdiff(struct decoder *c) {
    c->x->mode = sd_mod(c, "U32");
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    sd_isrc(c, 2);
    sd_set(c, sass_vabsdiff);
}

static void d_viaddmnmx(struct decoder *c) {
    c->x->mode2 = sd_mod(c, "RELU");
    c->x->mode = sd_mod(c, "U32");
    sd_dst(c, 1);
    sd_isrc(c, 0);
    sd_isrc(c, 1);
    sd_isrc(c, 2);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_viaddmnmx);
}

const struct sd_mnemonic sd_int[] = {
    {SASS_OP_IMAD, d_imad},
    {SASS_OP_IABS, d_iabs},
    {SASS_OP_IMNMX, d_vimnmx},
    {SASS_OP_FLO, d_count},
    {SASS_OP_BREV, d_brev},
    {SASS_OP_POPC, d_count},
    {SASS_OP_IADD3, d_iadd3},
    {SASS_OP_ISETP, d_isetp},
    {SASS_OP_LEA, d_lea},
    {SASS_OP_LOP3, d_lop3},
    {SASS_OP_MOV, d_mov},
    {SASS_OP_R2P, d_r2p},
    {SASS_OP_P2R, d_p2r},
    {SASS_OP_PLOP3, d_plop3},
    {SASS_OP_PRMT, d_prmt},
    {SASS_OP_SEL, d_sel},
    {SASS_OP_SHF, d_shf},
    {SASS_OP_VIADD, d_viadd},
    {SASS_OP_VIADDMNMX, d_viaddmnmx},
    {SASS_OP_IDP, d_idp},
    {SASS_OP_VABSDIFF, d_vabsdiff},
    {SASS_OP_VABSDIFF4, d_vabsdiff4},
    {SASS_OP_BMSK, d_bits},
    {SASS_OP_SGXT, d_bits},
    {SASS_OP_I2I, d_narrow},
    {SASS_OP_I2IP, d_narrow},
    {SASS_OP_VIMNMX, d_vimnmx},
    {SASS_OP_VIMNMX3, d_vimnmx},
    {SASS_OP_UFLO, d_count},
    {SASS_OP_UPOPC, d_count},
    {SASS_OP_UIADD3, d_iadd3},
    {SASS_OP_UIMAD, d_imad},
    {SASS_OP_UISETP, d_isetp},
    {SASS_OP_ULEA, d_lea},
    {SASS_OP_ULOP3, d_lop3},
    {SASS_OP_UMOV, d_mov},
    {SASS_OP_UPLOP3, d_plop3},
    {SASS_OP_UPRMT, d_prmt},
    {SASS_OP_USEL, d_sel},
    {SASS_OP_USHF, d_shf},
    {SASS_N_OPS, NULL},
};
