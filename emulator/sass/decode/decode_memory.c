/* Decodes the mnemonics of memory. decoder.h has the frame. */
#include "decoder.h"

#include <string.h>

/* ---- Mnemonics: memory ----------------------------------------------------------------------- */

static void d_ldc(struct decoder *c) {
    int bytes = sd_load_width(c);
    c->x->mode2 = c->x->mode; /* its sign is extended */
    sd_memory(c, SASS_LDC, bytes);
    sd_dst(c, sd_words(bytes));
    struct operand *o = sd_take(c);
    bool uniform = c->name[0] == 'U';
    if (o->kind != CONSTANT || o->bank > 4 || o->bank == 1) c->bad = true;
    c->x->mode = (uint8_t)o->bank;
    c->x->offset = (int32_t)o->value;
    c->x->s[0].row =
        uniform ? sd_row_of(c, UREG, o->uniform, 1, 1) : sd_row_of(c, REG, o->number, 1, 1);
    if ((uniform && o->reg_in_brackets) || (!uniform && o->uniform != SASS_URZ)) c->bad = true;
    sd_reads(c, uniform ? UREG : REG, uniform ? o->uniform : o->number, 0, 1);
    sd_set(c, sass_ldc);
}
static void d_lds(struct decoder *c) {
    int bytes = sd_load_width(c);
    sd_memory(c, SASS_LDS, bytes);
    sd_dst(c, sd_words(bytes));
    sd_shared_address(c);
    sd_set(c, sass_lds);
}
static void d_sts(struct decoder *c) {
    int bytes = sd_width(c);
    sd_memory(c, SASS_STS, bytes);
    sd_shared_address(c);
    sd_plain(c, 1, sd_words(bytes));
    sd_set(c, sass_sts);
}
static void d_ldsm(struct decoder *c) {
    sd_must(c, "16");
    sd_must(c, "4");
    c->x->mode = sd_mod(c, "MT88");
    if (!c->x->mode) sd_must(c, "M88");
    sd_memory(c, SASS_LDSM, 16);
    sd_dst(c, 4);
    sd_shared_address(c);
    sd_set(c, sass_ldsm);
}
static void d_stsm(struct decoder *c) {
    sd_must(c, "16");
    sd_must(c, "M88");
    sd_must(c, "4");
    sd_memory(c, SASS_STSM, 16);
    sd_shared_address(c);
    sd_plain(c, 1, 4);
    sd_set(c, sass_stsm);
}
/* Modifiers that change no value: eviction priority, how much L2 fetches, the scope of the order. */
static void hints(struct decoder *c) {
    static const char *const which[] = {"EF", "EL",     "LU",      "EU",
                                        "NA", "LTC64B", "LTC128B", "LTC256B"};
    static const char *const scope[] = {"GPU", "SYS", "SM"};
    for (unsigned i = 0; i < sizeof which / sizeof *which; i++) (void)sd_mod(c, which[i]);
    bool ordered = sd_mod(c, "STRONG"), found = false;
    for (unsigned i = 0; ordered && i < sizeof scope / sizeof *scope; i++)
        found |= sd_mod(c, scope[i]);
    if (ordered && !found) c->bad = true;
}
static void d_ldg(struct decoder *c) {
    sd_must(c, "E");
    int bytes = sd_load_width(c);
    (void)sd_mod(c, "CONSTANT"); /* through L1, like others */
    hints(c);
    sd_memory(c, SASS_LDG, bytes);
    sd_dst(c, sd_words(bytes));
    c->x->offset = sd_global_address(c, 0, DESC);
    sd_set(c, sass_ldg);
}
static void d_stg(struct decoder *c) {
    sd_must(c, "E");
    int bytes = sd_width(c);
    hints(c);
    sd_memory(c, SASS_STG, bytes);
    c->x->offset = sd_global_address(c, 0, DESC);
    sd_plain(c, 1, sd_words(bytes));
    sd_set(c, sass_stg);
}
static void d_st(struct decoder *c) {
    sd_must(c, "E");
    int bytes = sd_width(c);
    sd_memory(c, SASS_DSMEM, bytes);
    c->x->offset = sd_global_address(c, 0, MEMORY);
    sd_plain(c, 1, sd_words(bytes));
    sd_set(c, sass_st_generic);
}
static void d_ldgsts(struct decoder *c) {
    sd_must(c, "E");
    sd_must(c, "BYPASS");
    sd_must(c, "128");
    sd_memory(c, SASS_LDGSTS, 16);
    sd_shared_address(c);
    c->x->imm = (uint32_t)sd_global_address(c, 1, DESC);
    c->x->pin[0] = sd_none_true;
    if (sd_at_pred(c)) c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_ldgsts);
}
static void d_atomg(struct decoder *c) {
    bool red = !strcmp(c->name, "REDG");
    sd_must(c, "E");
    static const char *const which[] = {
        [SASS_ATOMIC_ADD] = "ADD",   [SASS_ATOMIC_MIN] = "MIN", [SASS_ATOMIC_MAX] = "MAX",
        [SASS_ATOMIC_AND] = "AND",   [SASS_ATOMIC_OR] = "OR",   [SASS_ATOMIC_XOR] = "XOR",
        [SASS_ATOMIC_EXCH] = "EXCH", [SASS_ATOMIC_CAS] = "CAS"};
    int op = -1;
    for (int o = 0; o <= SASS_ATOMIC_CAS; o++)
        if (which[o] && sd_mod(c, which[o])) op = o;
    if (op < 0) c->bad = true;
    c->x->mode2 = sd_mod(c, "S32");
    if (op == SASS_ATOMIC_ADD && sd_mod(c, "F32")) {
        op = SASS_ATOMIC_ADD_F32;
        sd_must(c, "FTZ");
        sd_must(c, "RN");
    }
    c->x->mode = (uint8_t)op;
    sd_must(c, "STRONG");
    sd_must(c, "GPU");
    sd_memory(c, red ? SASS_REDG : SASS_ATOMG, 4);
    c->x->d = SASS_ROW_SINK;
    if (!red) {
        if (sd_pdst(c) != SASS_P_SINK) c->bad = true;
        sd_dst(c, 1);
    }
    c->x->offset = sd_global_address(c, 0, sd_at(c, DESC) ? DESC : MEMORY);
    sd_plain(c, 1, 1);
    if (op == SASS_ATOMIC_CAS) sd_plain(c, 2, 1);
    sd_set(c, sass_atomg);
}

const struct sd_mnemonic sd_memory_ops[] = {
    {SASS_OP_ATOMG, d_atomg},   {SASS_OP_LDC, d_ldc},   {SASS_OP_LDG, d_ldg},
    {SASS_OP_LDGSTS, d_ldgsts}, {SASS_OP_LDS, d_lds},   {SASS_OP_LDSM, d_ldsm},
    {SASS_OP_REDG, d_atomg},    {SASS_OP_ST, d_st},     {SASS_OP_STG, d_stg},
    {SASS_OP_STS, d_sts},       {SASS_OP_STSM, d_stsm}, {SASS_OP_ULDC, d_ldc},
    {SASS_N_OPS, NULL},
};
