/* Decodes the mnemonics of memory. decoder.h has the frame. */
#include "decoder.h"

#include "common/base/heap.h"
#include "emulator/instructions/access.h"

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
/* Of ST, LD: [R2], or desc[UR4][R2.64] */
static void generic_address(struct decoder *c) {
    c->x->offset = sd_global_address(c, 0, sd_at(c, DESC) ? DESC : MEMORY);
}
static void d_st(struct decoder *c) {
    sd_must(c, "E");
    int bytes = sd_width(c);
    hints(c);
    sd_memory(c, SASS_DSMEM, bytes);
    generic_address(c);
    sd_plain(c, 1, sd_words(bytes));
    sd_set(c, sass_st_generic);
}
static void d_ld(struct decoder *c) {
    sd_must(c, "E");
    int bytes = sd_load_width(c);
    hints(c);
    sd_memory(c, SASS_LDG, bytes);
    sd_dst(c, sd_words(bytes));
    generic_address(c);
    sd_set(c, sass_ld_generic);
}
static void d_qspc(struct decoder *c) {
    sd_must(c, "E");
    sd_must(c, "S");
    c->x->pd = sd_pdst(c);
    sd_dst(c, 1);
    generic_address(c);
    sd_set(c, sass_is_shared);
}
static void d_ldl(struct decoder *c) {
    int bytes = sd_load_width(c);
    (void)sd_mod(c, "LU");
    sd_memory(c, SASS_LDL, bytes);
    sd_dst(c, sd_words(bytes));
    sd_shared_address(c);
    sd_set(c, sass_ldl);
}
static void d_stl(struct decoder *c) {
    int bytes = sd_width(c);
    sd_memory(c, SASS_STL, bytes);
    sd_shared_address(c);
    sd_plain(c, 1, sd_words(bytes));
    sd_set(c, sass_stl);
}
static void d_ldgsts(struct decoder *c) {
    sd_must(c, "E");
    (void)sd_mod(c, "BYPASS"); /* of L1 */
    int bytes = sd_width(c);
    hints(c);
    if (bytes < 4) c->bad = true;
    sd_memory(c, SASS_LDGSTS, bytes);
    sd_shared_address(c);
    c->x->imm = (uint32_t)sd_global_address(c, 1, DESC);
    c->x->pin[0] = sd_none_true;
    if (sd_at_pred(c)) c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_ldgsts);
}

/* ---- Mnemonics: atomics ---------------------------------------------------------------------- */

/* Type and bytes of the numbers; U32 is not written. */
static uint8_t atomic_type(struct decoder *c, int op) {
    static const struct {
        const char *name;
        uint8_t type;
    } which[] = {{"S32", EMU_S32}, {"S64", EMU_S64},     {"64", EMU_U64},        {"F64", EMU_F64},
                 {"F32", EMU_F32}, {"F16x2", EMU_F16X2}, {"BF16_V2", EMU_BF16X2}};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++) {
        if (!sd_mod(c, which[w].name)) continue;
        const bool real = which[w].type == EMU_F32 || which[w].type == EMU_F64 ||
                          which[w].type == EMU_F16X2 || which[w].type == EMU_BF16X2;
        if (real && op != EMU_ATOMIC_ADD) c->bad = true;
        if (real) sd_must(c, "RN");
        if (which[w].type == EMU_F32) sd_must(c, "FTZ");
        return which[w].type;
    }
    return EMU_U32;
}

static struct sass_atomic *atomic(struct decoder *c) {
    static const char *const which[] = {
        [EMU_ATOMIC_ADD] = "ADD",   [EMU_ATOMIC_MIN] = "MIN", [EMU_ATOMIC_MAX] = "MAX",
        [EMU_ATOMIC_AND] = "AND",   [EMU_ATOMIC_OR] = "OR",   [EMU_ATOMIC_XOR] = "XOR",
        [EMU_ATOMIC_EXCH] = "EXCH", [EMU_ATOMIC_CAS] = "CAS", [EMU_ATOMIC_INC] = "INC",
        [EMU_ATOMIC_DEC] = "DEC"};
    struct sass_atomic *a = heap_line(sizeof *a); /* its struct emu_inst fills whole cache lines */
    int op = -1;
    c->x->more = a;
    if (sd_mod(c, "CAST")) {
        sd_must(c, "SPIN");
        op = EMU_ATOMIC_CAS;
        a->spins = true;
    }
    for (int o = 0; o < (int)(sizeof which / sizeof *which); o++)
        if (op < 0 && sd_mod(c, which[o])) op = o;
    if (op < 0) c->bad = true;
    a->inst.aux[0] = op;
    a->inst.type[0] = atomic_type(c, op);
    a->inst.aux[1] = (int32_t)emu_type_bytes((enum emu_type)a->inst.type[0]);
    return a;
}

/* RED, REDG have no result; ATOM, ATOMG one, and a predicate: ATOM and RED have generic addresses. */
static void d_atomg(struct decoder *c) {
    const bool red = c->name[0] == 'R';
    sd_must(c, "E");
    const struct sass_atomic *a = atomic(c);
    const int bytes = a->inst.aux[1];
    c->x->mode = !strcmp(c->name, "ATOM") || !strcmp(c->name, "RED");
    hints(c);
    sd_memory(c, red ? SASS_REDG : SASS_ATOMG, bytes);
    c->x->d = SASS_ROW_SINK;
    if (!red) {
        c->x->pd = sd_pdst(c);
        sd_dst(c, bytes / 4);
    }
    generic_address(c);
    sd_plain(c, 1, bytes / 4);
    if (a->inst.aux[0] == EMU_ATOMIC_CAS) sd_plain(c, 2, bytes / 4);
    sd_set(c, sass_atomg);
}

/* Each lane adds 1; without a result. */
static void d_increment(struct decoder *c) {
    struct sass_atomic *a = heap_line(sizeof *a);
    c->x->more = a;
    a->inst.aux[0] = EMU_ATOMIC_ADD;
    a->inst.type[0] = EMU_U32;
    a->inst.aux[1] = 4;
    sd_must(c, "INC");
    sd_must(c, "32");
    sd_memory(c, SASS_ATOMS, 4);
    sd_dst(c, 1);
    if (c->x->d != SASS_ROW_SINK) c->bad = true;
    sd_shared_address(c);
    c->x->s[1].row = sd_constant(c, 1);
    sd_set(c, sass_atoms);
}

static void d_atoms(struct decoder *c) {
    if (sd_mod(c, "POPC")) {
        d_increment(c);
        return;
    }
    const struct sass_atomic *a = atomic(c);
    const int bytes = a->inst.aux[1];
    sd_memory(c, SASS_ATOMS, bytes);
    sd_dst(c, bytes / 4);
    sd_shared_address(c);
    sd_plain(c, 1, bytes / 4);
    if (a->inst.aux[0] == EMU_ATOMIC_CAS) sd_plain(c, 2, bytes / 4);
    sd_set(c, sass_atoms);
}

const struct sd_mnemonic sd_memory_ops[] = {
    {SASS_OP_ATOM, d_atomg}, {SASS_OP_ATOMG, d_atomg},   {SASS_OP_ATOMS, d_atoms},
    {SASS_OP_LDC, d_ldc},    {SASS_OP_LDG, d_ldg},       {SASS_OP_LD, d_ld},
    {SASS_OP_LDL, d_ldl},    {SASS_OP_LDGSTS, d_ldgsts}, {SASS_OP_LDS, d_lds},
    {SASS_OP_LDSM, d_ldsm},  {SASS_OP_QSPC, d_qspc},     {SASS_OP_RED, d_atomg},
    {SASS_OP_REDG, d_atomg}, {SASS_OP_ST, d_st},         {SASS_OP_STG, d_stg},
    {SASS_OP_STL, d_stl},    {SASS_OP_STS, d_sts},       {SASS_OP_STSM, d_stsm},
    {SASS_OP_ULDC, d_ldc},   {SASS_N_OPS, NULL},
};
