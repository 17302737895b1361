/* Decodes the mnemonics of lanes, flow, barriers and TMA. decoder.h has the frame. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

/* ---- Mnemonics: lanes ------------------------------------------------------------------------ */

static void d_shfl(struct decoder *c) {
    c->x->mode = sd_mod(c, "UP")     ? SHFL_UP
                 : sd_mod(c, "DOWN") ? SHFL_DOWN
                 : sd_mod(c, "BFLY") ? SHFL_BFLY
                                     : SHFL_IDX;
    if (c->x->mode == SHFL_IDX) sd_must(c, "IDX");
    c->x->pd = sd_pdst(c);
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_plain(c, 1, 1);
    sd_plain(c, 2, 1);
    sd_set(c, sass_shfl);
}
static void d_vote(struct decoder *c) {
    c->x->mode = sd_mod(c, "ALL");
    if (!c->x->mode) sd_must(c, "ANY");
    if (!sd_at_pred(c)) sd_dst(c, 1);
    c->x->pd = sd_pdst(c);
    c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_vote);
}
static void d_redux(struct decoder *c) {
    static const char *const which[] = {[REDUX_OR] = "OR",
                                        [REDUX_XOR] = "XOR",
                                        [REDUX_SUM] = "SUM",
                                        [REDUX_MIN] = "MIN",
                                        [REDUX_MAX] = "MAX"};
    c->x->mode = REDUX_AND; /* which is not written */
    for (uint8_t h = REDUX_OR; h <= REDUX_MAX; h++)
        if (sd_mod(c, which[h])) c->x->mode = h;
    c->x->mode2 = sd_mod(c, "S32");
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_set(c, sass_redux);
}
static void d_match(struct decoder *c) {
    c->x->mode = sd_mod(c, "ALL");
    if (!c->x->mode) sd_must(c, "ANY");
    c->x->mode2 = sd_mod(c, "U64");
    if (c->x->mode) c->x->pd = sd_pdst(c);
    sd_dst(c, 1);
    sd_plain(c, 0, c->x->mode2 ? 2 : 1);
    sd_set(c, sass_match);
}
static void d_elect(struct decoder *c) {
    c->x->pd = sd_pdst(c);
    sd_dst(c, 1);
    struct sass_pred p = sd_psrc(c);
    if (p.index != SASS_P_TRUE || p.flip) c->bad = true;
    sd_set(c, sass_elect);
}
static void d_r2ur(struct decoder *c) {
    sd_dst(c, 1);
    sd_plain(c, 0, 1);
    sd_set(c, sass_r2ur);
}
static void d_s2r(struct decoder *c) {
    enum { CLOCK = 10, WHOLE_CLOCK = 11 };
    static const char *const which[] = {"SR_TID.X",   "SR_TID.Y",   "SR_TID.Z",   "SR_CTAID.X",
                                        "SR_CTAID.Y", "SR_CTAID.Z", "SR_LANEID",  "SR_CgaCtaId",
                                        "SR_SWINHI",  "SR_LTMASK",  "SR_CLOCKLO", "",
                                        "SR_EQMASK",  "SR_LEMASK",  "SR_GEMASK",  "SR_GTMASK"};
    bool pair = !strcmp(c->name, "CS2R");
    const char *name = c->n > 1 ? c->op[1].text : "";
    if (pair && !strcmp(name, "SRZ")) { /* two registers, zero */
        sd_dst(c, 2);
        sd_take(c);
        c->x->s[0].row = SASS_ROW_ZERO;

        sd_set(c, sass_zero_pair);
        return;
    }
    bool both = pair && !sd_mod(c, "32"); /* of the halves of the clock register */
    sd_dst(c, both ? 2 : 1);
    sd_take(c);
    c->x->mode = 255;
    for (uint8_t s = 0; s < sizeof which / sizeof *which; s++)
        if (*name && !strcmp(name, which[s])) c->x->mode = s;
    if (c->x->mode == 255 || (pair && c->x->mode != CLOCK)) c->bad = true;
    if (both) c->x->mode = WHOLE_CLOCK;
    if (c->name[2] == 'U' && c->x->mode < 3) c->bad = true; /* S2UR of what lanes differ in */
    sd_set(c, sass_s2r);
}

/* ---- Mnemonics: flow ------------------------------------------------------------------------- */

static void target(struct decoder *c, uint32_t to) {
    if (to % 16) c->bad = true;
    c->i->target = to;
    c->x->target = to / 16;
}
static uint8_t b_register(struct decoder *c) {
    struct operand *o = sd_take(c);
    int b = o->kind == WORD && o->text[0] == 'B' ? atoi(o->text + 1) : -1;
    if (b < 0 || b >= SASS_B_REGISTERS) c->bad = true;
    return (uint8_t)b;
}
static void d_bra(struct decoder *c) {
    sd_set(c, sass_bra);
    if (sd_mod(c, "U")) {
        sd_must(c, "ANY");
        sd_set(c, sass_bra_any);
        c->x->always = true;
    } else if (sd_mod(c, "DIV") || (c->x->mode = sd_mod(c, "CONV"))) {
        if (!sd_at(c, UREG)) c->bad = true;
        sd_isrc(c, 0); /* sm_89 names them by ~UR */
        if (c->x->s[0].less) c->bad = true;
        sd_set(c, sass_bra_div);
    } else if (sd_at_pred(c)) {
        c->x->pin[0] = sd_psrc(c);
    }
    target(c, sd_number(c));
}
static void d_brx(struct decoder *c) {
    sd_plain(c, 0, 1); /* of a pair; addresses in a kernel are below 2^32 */
    if (c->i->src[0].n) c->i->src[0].n = 2;
    c->x->imm = sd_number(c) + c->pc + 16;
    sd_set(c, sass_brx);
}
static void d_bssy(struct decoder *c) {
    c->x->mode = b_register(c);
    target(c, sd_number(c));
    sd_set(c, sass_bssy);
}
static void d_break(struct decoder *c) {
    if (sd_at_pred(c)) c->x->pin[0] = sd_psrc(c);
    c->x->mode = b_register(c);
    if (c->x->pin[0].index != SASS_P_TRUE || c->x->pin[0].flip) c->bad = true;
    sd_set(c, sass_break);
}
static void d_bsync(struct decoder *c) {
    c->x->mode = b_register(c);
    sd_set(c, sass_bsync);
}
static uint32_t symbol(struct decoder *c) {
    struct operand *o = sd_take(c);
    for (int s = 0; s < c->n_symbols && o->kind == WORD; s++)
        if (!strcmp(c->symbols[s].name, o->text)) return c->symbols[s].value;
    c->bad = true;
    return 0;
}
/* Of the instruction itself (sm_89), or of the one that is named. */
static void d_lepc(struct decoder *c) {
    sd_dst(c, 2);
    c->x->s[0].row = sd_constant(c, c->next < c->n ? sd_number(c) : c->pc);
    sd_set(c, sass_lepc);
}
static void d_call(struct decoder *c) {
    if (sd_mod(c, "ABS")) { /* ptxas calls what is not in the kernel like this */
        sd_must(c, "NOINC");
        sd_plain(c, 0, 2);
        sd_set(c, sass_call_driver);
        return;
    }
    sd_must(c, "REL");
    sd_must(c, "NOINC");
    target(c, sd_at(c, NUMBER) ? sd_number(c) : symbol(c));
    sd_set(c, sass_call);
}
static void d_ret(struct decoder *c) {
    sd_must(c, "REL");
    sd_must(c, "NODEC");
    sd_plain(c, 0, 1);
    if (c->i->src[0].n) c->i->src[0].n = 2;
    c->x->imm = sd_at(c, NUMBER) ? sd_number(c) : symbol(c);
    sd_set(c, sass_ret);
}
static void d_warpsync(struct decoder *c) {
    sd_set(c, sass_warpsync);
    if (sd_mod(c, "ALL")) return;
    c->x->mode = 1;
    const bool collective = sd_mod(c, "COLLECTIVE");
    sd_plain(c, 0, 1);
    if (!collective) return;
    target(c, sd_number(c));
    if (c->i->target != c->pc + 48) c->bad = true; /* one instruction, ENDCOLLECTIVE, target */
}
static void d_exit(struct decoder *c) {
    sd_set(c, sass_exit);
    if (sd_at_pred(c)) c->x->pin[0] = sd_psrc(c);
}
static void d_yield(struct decoder *c) { sd_set(c, sass_yield); }

/* Fences and waits for memory do nothing here, because execution is in order; prefetches are not modelled. */
static void d_order(struct decoder *c) {
    static const char *const forms[] = {
        "ACQBULK",          "CCTL.IVALL",         "CGAERRBAR",     "ENDCOLLECTIVE",
        "ERRBAR",           "FENCE.VIEW.ASYNC.S", "LDGDEPBAR",     "MEMBAR.ALL.CTA",
        "MEMBAR.ALL.GPU",   "MEMBAR.SC.GPU",      "NOP",           "PREEXIT",
        "MEMBAR.ALL.SYS",   "MEMBAR.SC.SYS",      "MEMBAR.SC.CTA", "UTMACMDFLUSH",
        "WARPGROUP.ARRIVE", "CCTL.E.PF1",         "CCTL.E.PF2"};
    bool known = false;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        known |= !strcmp(forms[f], c->text->opcode);
    if (!known) c->bad = true;
    memset(c->used, true, sizeof c->used);
    if (!strncmp(c->text->opcode, "CCTL.E.PF", 9)) sd_take(c); /* the address */
    sd_set(c, sass_nop);
}
static void d_nanosleep(struct decoder *c) {
    sd_plain(c, 0, 1);
    sd_set(c, sass_nanosleep);
}
/* DEPBAR.LE SB0, n and WARPGROUP.DEPBAR.LE gsb0, n matter only to the predictor */
static void d_depbar(struct decoder *c) {
    if (!strcmp(c->name, "WARPGROUP") && !sd_mod(c, "DEPBAR")) {
        d_order(c);
        return;
    }
    sd_must(c, "LE");
    struct operand *o = sd_take(c);
    if (strcmp(o->text, "SB0") && strcmp(o->text, "gsb0")) c->bad = true;
    c->x->imm = sd_number(c);
    sd_set(c, sass_nop);
}

/* ---- Mnemonics: barriers, TMA ---------------------------------------------------------------- */

static void d_bar(struct decoder *c) {
    static const char *const red[] = {[BAR_ANY] = "OR", [BAR_ALL] = "AND", [BAR_COUNT] = "POPC"};
    const bool reduces = sd_mod(c, "RED");
    for (uint8_t r = BAR_ANY; reduces && r <= BAR_COUNT; r++)
        if (sd_mod(c, red[r])) c->x->mode2 = r;
    if (reduces && !c->x->mode2) c->bad = true;
    c->x->mode = reduces || sd_mod(c, "SYNC");
    if (c->x->mode)
        sd_must(c, "DEFER_BLOCKING");
    else
        sd_must(c, "ARV");
    sd_plain(c, 0, 1);
    c->x->s[1].row = SASS_ROW_ZERO;
    if (c->next < c->n - reduces)
        sd_plain(c, 1, 1);
    else if (!sd_at(c, NUMBER) && c->op[0].kind == REG)
        c->bad = true; /* count and id in one */
    if (reduces) c->x->pin[0] = sd_psrc(c);
    sd_set(c, sass_bar);
}
static void d_b2r(struct decoder *c) {
    sd_must(c, "RESULT");
    sd_dst(c, 1);
    if (sd_at_pred(c)) c->x->pd = sd_pdst(c);
    sd_set(c, sass_b2r);
}
static void d_syncs(struct decoder *c) {
    if (sd_mod(c, "EXCH")) {
        sd_must(c, "64");
        sd_dst(c, 2);
        sd_shared_address(c);
        sd_plain(c, 1, 2);
        c->x->uniform = true;
        if (c->x->s[0].row != SASS_ROW_ZERO) c->bad = true;
        sd_set(c, sass_syncs_init);
        return;
    }
    if (sd_mod(c, "ARRIVE")) {
        sd_must(c, "TRANS64");
        c->x->mode = sd_mod(c, "A1T0");
        struct operand *o = sd_take(c);
        if (o->kind != REG || o->number != SASS_RZ) c->bad = true; /* a state: never read */
        sd_shared_address(c);
        sd_plain(c, 1, 1);
        sd_set(c, sass_syncs_arrive);
        return;
    }
    sd_must(c, "PHASECHK");
    sd_must(c, "TRANS64");
    c->x->mode = sd_mod(c, "TRYWAIT");
    c->x->pd = sd_pdst(c);
    sd_shared_address(c);
    sd_plain(c, 1, 1);
    sd_set(c, sass_syncs_wait);
}
static void d_cluster(struct decoder *c) {
    sd_set(c, !strcmp(c->name, "UCGABAR_ARV") ? sass_cluster_arrive : sass_cluster_wait);
}
static void d_setmaxreg(struct decoder *c) {
    bool alloc = sd_mod(c, "TRY_ALLOC");
    if (!alloc) sd_must(c, "DEALLOC");
    sd_must(c, "CTAPOOL");
    if (alloc) c->x->pd = sd_pdst(c);
    c->x->imm = sd_number(c);
    c->x->uniform = true;
    sd_set(c, alloc ? sass_setmaxreg_alloc : sass_setmaxreg_dealloc);
}

/* [URn], a group of uniform registers from n on */
static void ur_group(struct decoder *c, int slot, int n, int align) {
    struct operand *o = sd_take(c);
    if (o->kind != MEMORY || o->reg_in_brackets || o->value) c->bad = true;
    c->x->s[slot].row = sd_row_of(c, UREG, o->uniform, n, align);
    if (o->uniform == SASS_URZ) c->bad = true;
    sd_reads(c, UREG, o->uniform, slot, n);
}
static void d_tma(struct decoder *c) {
    bool load = !strcmp(c->name, "UTMALDG");
    for (int rank = 1; rank <= 5; rank++) {
        char name[4] = {(char)('0' + rank), 'D', 0};
        if (sd_mod(c, name)) c->x->mode = (uint8_t)rank;
    }
    if (!c->x->mode) c->bad = true;
    ur_group(c, 0, c->x->mode + 1 + load, 2);
    ur_group(c, 1, 2, 2);
    if (sd_at(c, DESC)) sd_take(c); /* how L2 keeps it */
    sd_memory(c, load ? SASS_TMA_LOAD : SASS_TMA_STORE, 0);
    sd_set(c, load ? sass_tma_load : sass_tma_store);
}
static void d_prefetch(struct decoder *c) {
    sd_must(c, "PF");
    ur_group(c, 0, 2, 2);
    sd_set(c, sass_tma_prefetch);
}

const struct sd_mnemonic sd_flow[] = {
    {SASS_OP_VOTE, d_vote},
    {SASS_OP_CS2R, d_s2r},
    {SASS_OP_SHFL, d_shfl},
    {SASS_OP_S2R, d_s2r},
    {SASS_OP_B2R, d_b2r},
    {SASS_OP_BAR, d_bar},
    {SASS_OP_SYNCS, d_syncs},
    {SASS_OP_UCGABAR_ARV, d_cluster},
    {SASS_OP_UCGABAR_WAIT, d_cluster},
    {SASS_OP_UTMACCTL, d_prefetch},
    {SASS_OP_UTMACMDFLUSH, d_order},
    {SASS_OP_UTMALDG, d_tma},
    {SASS_OP_UTMASTG, d_tma},
    {SASS_OP_ELECT, d_elect},
    {SASS_OP_REDUX, d_redux},
    {SASS_OP_MATCH, d_match},
    {SASS_OP_R2UR, d_r2ur},
    {SASS_OP_S2UR, d_s2r},
    {SASS_OP_VOTEU, d_vote},
    {SASS_OP_USETMAXREG, d_setmaxreg},
    {SASS_OP_BRA, d_bra},
    {SASS_OP_BREAK, d_break},
    {SASS_OP_BRX, d_brx},
    {SASS_OP_BSSY, d_bssy},
    {SASS_OP_BSYNC, d_bsync},
    {SASS_OP_LEPC, d_lepc},
    {SASS_OP_CALL, d_call},
    {SASS_OP_EXIT, d_exit},
    {SASS_OP_RET, d_ret},
    {SASS_OP_WARPSYNC, d_warpsync},
    {SASS_OP_ENDCOLLECTIVE, d_order},
    {SASS_OP_YIELD, d_yield},
    {SASS_OP_ACQBULK, d_order},
    {SASS_OP_CCTL, d_order},
    {SASS_OP_CGAERRBAR, d_order},
    {SASS_OP_DEPBAR, d_depbar},
    {SASS_OP_ERRBAR, d_order},
    {SASS_OP_FENCE, d_order},
    {SASS_OP_LDGDEPBAR, d_order},
    {SASS_OP_MEMBAR, d_order},
    {SASS_OP_NANOSLEEP, d_nanosleep},
    {SASS_OP_NOP, d_order},
    {SASS_OP_PREEXIT, d_order},
    {SASS_OP_WARPGROUP, d_depbar},
    {SASS_N_OPS, NULL},
};
