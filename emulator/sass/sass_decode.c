/* From nvdisasm's text and the 128 bits of an instruction to a struct sass_exec.
 *
 * Every mnemonic has a function that takes its operands from left to right and the modifiers it
 * knows. What is left over, operand or modifier, is not understood, and the kernel is refused:
 * nothing is guessed. Floating-point immediates come from the bits (32-63), where they are exact;
 * everything else is in the text. */
#include "sass_exec.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "emulator/instructions/wgmma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 8, MAX_MODIFIERS = 8 };
enum kind { REG, UREG, PRED, UPRED, NUMBER, FLOAT, CONSTANT, MEMORY, DESC, GDESC, WORD };

struct operand {
    enum kind kind;
    char text[96];
    bool negated, inverted, absolute, not ;
    int number;      /* of the register or predicate; of memory: the vector register, or RZ */
    int uniform;     /* of memory: the uniform register added, or URZ */
    bool wide;       /* .64 behind the register of an address */
    int64_t value;   /* NUMBER; offset of MEMORY */
    int bank;        /* CONSTANT: the rest as MEMORY */
    char suffix[32]; /* "H0_H0", "tnspB" ... */
    bool reg_in_brackets;
};

struct decoder {
    struct sass_code *code;
    const struct sass_text *text;
    uint64_t low, high;
    uint32_t pc;
    const struct sass_symbol *symbols;
    int n_symbols;
    struct sass_inst *i;
    struct sass_exec *x;
    char name[24], modifier[MAX_MODIFIERS][24];
    bool used[MAX_MODIFIERS];
    int n_modifiers;
    struct operand op[MAX_OPERANDS];
    int n, next; /* operands, and how many were taken */
    bool bad;
};

/* ---- Text ------------------------------------------------------------------------------------ */

/* R12, RZ, UR4, URZ, P0, PT, UP0, UPT at *s; advances. False: none of them. */
static bool parse_register(const char **s, enum kind *kind, int *number) {
    const char *at = *s;
    bool uniform = *at == 'U';
    if (uniform) at++;
    if (*at != 'R' && *at != 'P') return false;
    bool pred = *at++ == 'P';
    if (*at == (pred ? 'T' : 'Z')) {
        *number = pred ? SASS_PT : uniform ? SASS_URZ : SASS_RZ;
        at++;
    } else if (isdigit((unsigned char)*at)) {
        *number = (int)strtol(at, (char **)&at, 10);
    } else {
        return false;
    }
    if (isalnum((unsigned char)*at) || *at == '_') return false;
    *kind = pred ? (uniform ? UPRED : PRED) : uniform ? UREG : REG;
    *s = at;
    return true;
}

/* [R4.64+UR8+0x10], [R4+-0x10] */
static bool parse_address(const char *s, struct operand *o) {
    bool any = false;
    o->number = SASS_RZ;
    o->uniform = SASS_URZ;
    while (*s && *s != ']') {
        enum kind kind;
        int number;
        if (*s == '+') s++;
        if (parse_register(&s, &kind, &number)) {
            if (kind == REG)
                o->number = number, o->reg_in_brackets = true;
            else if (kind == UREG)
                o->uniform = number;
            else
                return false;
            if (!strncmp(s, ".64", 3)) o->wide = true, s += 3;
        } else {
            char *end;
            o->value = strtoll(s, &end, 16);
            if (end == s) return false;
            s = end;
        }
        any = true;
    }
    return any && *s == ']';
}

static bool parse_operand(const char *s, struct operand *o) {
    memset(o, 0, sizeof *o);
    while (*s == ' ') s++;
    if (strlen(s) >= sizeof o->text) return false;
    strcpy(o->text, s);
    for (char *end = o->text + strlen(o->text); end > o->text && end[-1] == ' ';) *--end = 0;
    char *reuse = strstr(o->text, ".reuse");
    if (reuse) memmove(reuse, reuse + 6, strlen(reuse + 6) + 1);
    s = o->text;
    if (*s == '!') o->not = true, s++;
    if (*s == '-') o->negated = true, s++;
    if (*s == '~') o->inverted = true, s++;
    if (*s == '|') o->absolute = true, s++;
    if (parse_register(&s, &o->kind, &o->number)) {
        if (o->absolute && *s++ != '|') return false;
        if (*s == '.') {
            if (strlen(s) > sizeof o->suffix) return false;
            strcpy(o->suffix, s + 1);
        } else if (*s) {
            return false;
        }
        return true;
    }
    s = o->text;
    o->negated = o->inverted = o->absolute = o->not = false;
    if (!strncmp(s, "c[", 2)) {
        const char *second = strstr(s, "][");
        o->kind = CONSTANT;
        o->bank = (int)strtol(s + 2, NULL, 16);
        return second && parse_address(second + 2, o);
    }
    if (!strncmp(s, "desc[", 5)) {
        const char *second = strstr(s, "][");
        o->kind = DESC; /* the descriptor itself says nothing that matters here */
        return second && parse_address(second + 2, o) && o->wide;
    }
    if (!strncmp(s, "gdesc[", 6)) {
        const char *end = strchr(s, ']');
        o->kind = GDESC;
        if (!end || strlen(end) > sizeof o->suffix) return false;
        strcpy(o->suffix, end[1] ? end + 2 : "");
        return parse_address(s + 6, o);
    }
    if (*s == '[') {
        o->kind = MEMORY;
        return parse_address(s + 1, o);
    }
    const char *digits = *s == '-' ? s + 1 : s;
    if (!strncmp(digits, "0x", 2)) {
        char *end;
        o->kind = NUMBER;
        o->value = strtoll(s, &end, 16);
        return !*end;
    }
    if (isdigit((unsigned char)*digits) || !strcmp(s, "+INF") || !strcmp(s, "-INF") ||
        !strcmp(s, "+QNAN") || !strcmp(s, "-QNAN")) {
        o->kind = FLOAT;
        return true;
    }
    o->kind = WORD; /* B0, SR_TID.X, SB0, gsb0, a function */
    return true;
}

static const char *split(struct decoder *c) {
    char all[256], *at = all;
    if (strlen(c->text->operands) >= sizeof all || strlen(c->text->opcode) >= sizeof all)
        return "it is too long";
    strcpy(all, c->text->operands);
    while (*at) {
        char *end = at + strcspn(at, ",");
        bool more = *end;
        *end = 0;
        /* BRX R6 -0x5620: two operands */
        char *gap = strstr(at, " -0x");
        for (int part = 0; part < (gap ? 2 : 1); part++) {
            if (gap && !part) *gap = 0;
            if (c->n == MAX_OPERANDS) return "it has too many operands";
            if (!parse_operand(part ? gap + 1 : at, &c->op[c->n++]))
                return reason("operand %s is not understood", part ? gap + 1 : at);
        }
        at = end + more;
    }
    strcpy(all, c->text->opcode);
    at = strtok(all, ".");
    if (!at || strlen(at) >= sizeof c->name) return "it has no name";
    strcpy(c->name, at);
    while ((at = strtok(NULL, "."))) {
        if (c->n_modifiers == MAX_MODIFIERS || strlen(at) >= sizeof *c->modifier)
            return "it has too many modifiers";
        strcpy(c->modifier[c->n_modifiers++], at);
    }
    return NULL;
}

/* ---- Taking modifiers and operands ----------------------------------------------------------- */

static bool mod(struct decoder *c, const char *name) {
    for (int m = 0; m < c->n_modifiers; m++)
        if (!c->used[m] && !strcmp(c->modifier[m], name)) return c->used[m] = true;
    return false;
}
static void must(struct decoder *c, const char *name) {
    if (!mod(c, name)) c->bad = true;
}

static bool at(const struct decoder *c, enum kind kind) {
    return c->next < c->n && c->op[c->next].kind == kind;
}
static struct operand *take(struct decoder *c) {
    static struct operand none;
    if (c->next < c->n) return &c->op[c->next++];
    c->bad = true;
    memset(&none, 0, sizeof none);
    return &none;
}

static uint32_t constant(struct decoder *c, uint32_t value) {
    struct sass_code *code = c->code;
    int n = 0;
    if (value == 0) return SASS_ROW_ZERO;
    while (n < code->n_constants && code->constant[n] != value) n++;
    if (n == code->n_constants) {
        if (n == code->constant_capacity) {
            code->constant_capacity = n ? 2 * n : 64;
            code->constant = heap_grown(code->constant, (size_t)code->constant_capacity * 4);
        }
        code->constant[code->n_constants++] = value;
    }
    return SASS_ROW_CONST + (uint32_t)n * SASS_ROW;
}

static uint32_t row_of(struct decoder *c, enum kind kind, int number, int n, int align) {
    bool zero = number == (kind == REG ? SASS_RZ : SASS_URZ);
    if (zero) return SASS_ROW_ZERO;
    if (number % align || number + n > (kind == REG ? SASS_RZ : SASS_URZ)) c->bad = true;
    return kind == REG ? (uint32_t)number * SASS_ROW : SASS_ROW_UR + (uint32_t)number * SASS_ROW;
}

static int alignment(int n) { return n >= 4 ? 4 : n; }

/* n registers written, R or UR */
static void dst(struct decoder *c, int n) {
    struct operand *o = take(c);
    if ((o->kind != REG && o->kind != UREG) || o->negated || o->absolute || *o->suffix)
        c->bad = true;
    uint32_t row = row_of(c, o->kind, o->number, n, alignment(n));
    c->x->d = row == SASS_ROW_ZERO ? SASS_ROW_SINK : row;
    if (row == SASS_ROW_ZERO) return;
    struct sass_span span = {(uint8_t)o->number, (uint8_t)n};
    *(o->kind == REG ? &c->i->dst : &c->i->udst) = span;
}

static void reads(struct decoder *c, enum kind kind, int number, int slot, int n) {
    struct sass_span span = {(uint8_t)number, (uint8_t)n};
    if (number == (kind == REG ? SASS_RZ : SASS_URZ)) return;
    if (kind == REG) {
        c->i->src[slot] = span;
        return;
    }
    for (int u = 0; u < 3; u++)
        if (!c->i->usrc[u].n) {
            c->i->usrc[u] = span;
            return;
        }
    c->bad = true;
}

/* Source `slot`: n registers, or an immediate. as_float: signs are bits, and the immediate is in
 * the word. */
static void source(struct decoder *c, int slot, int n, bool as_float) {
    struct operand *o = take(c);
    struct sass_source *s = &c->x->s[slot];
    s->keep = o->absolute ? 0x7fffffff : EMU_FULL;
    if (o->not || *o->suffix || (o->absolute && !as_float) || (o->inverted && as_float))
        c->bad = true;
    if (o->kind == REG || o->kind == UREG) {
        s->row = row_of(c, o->kind, o->number, n, alignment(n));
        reads(c, o->kind, o->number, slot, n);
        if (o->negated) s->flip = as_float ? 0x80000000 : EMU_FULL;
        if (o->negated && !as_float) s->less = EMU_FULL;
        if (o->inverted) s->flip = EMU_FULL;
        if ((o->negated || o->inverted) && n > 1) c->bad = true;
    } else if (as_float && o->kind == FLOAT) {
        s->row = constant(c, (uint32_t)(c->low >> 32));
    } else if (!as_float && o->kind == NUMBER) {
        s->row = constant(c, (uint32_t)o->value);
    } else {
        c->bad = true;
    }
}
static void isrc(struct decoder *c, int slot) { source(c, slot, 1, false); }
static void fsrc(struct decoder *c, int slot) { source(c, slot, 1, true); }

/* The same without signs. */
static void plain(struct decoder *c, int slot, int n) {
    source(c, slot, n, false);
    if (c->x->s[slot].flip) c->bad = true;
}

static uint8_t pdst(struct decoder *c) {
    struct operand *o = take(c);
    if ((o->kind != PRED && o->kind != UPRED) || o->not ) c->bad = true;
    if (o->number == SASS_PT) return SASS_P_SINK;
    *(o->kind == PRED ? &c->i->p_written : &c->i->up_written) |= (uint8_t)(1 << o->number);
    return (uint8_t)(o->number + (o->kind == UPRED ? SASS_P_UNIFORM : 0));
}

static struct sass_pred psrc(struct decoder *c) {
    struct operand *o = take(c);
    struct sass_pred p = {SASS_P_TRUE, 0};
    if (o->kind != PRED && o->kind != UPRED) c->bad = true;
    if (o->not ) p.flip = EMU_FULL;
    if (o->number == SASS_PT) return p;
    *(o->kind == PRED ? &c->i->p_read : &c->i->up_read) |= (uint8_t)(1 << o->number);
    p.index = (uint8_t)(o->number + (o->kind == UPRED ? SASS_P_UNIFORM : 0));
    return p;
}

static bool at_pred(const struct decoder *c) { return at(c, PRED) || at(c, UPRED); }
static const struct sass_pred none_true = {SASS_P_TRUE, 0}, none_false = {SASS_P_TRUE, EMU_FULL};

static uint32_t number(struct decoder *c) {
    struct operand *o = take(c);
    if (o->kind != NUMBER) c->bad = true;
    return (uint32_t)o->value;
}

static void set(struct decoder *c, sass_handler *run) { c->x->run = run; }

/* An address in shared memory. */
static void shared_address(struct decoder *c) {
    struct operand *o = take(c);
    if (o->kind != MEMORY || o->wide) c->bad = true;
    c->x->s[0].row = row_of(c, REG, o->number, 1, 1);
    c->x->uniform_row = row_of(c, UREG, o->uniform, 1, 1);
    reads(c, REG, o->number, 0, 1);
    reads(c, UREG, o->uniform, 0, 1);
    c->x->offset = (int32_t)o->value;
}

/* desc[UR][R.64+n], or generic: [R+n] with a pair */
static int32_t global_address(struct decoder *c, int slot, enum kind kind) {
    struct operand *o = take(c);
    if (o->kind != kind || o->uniform != SASS_URZ || !o->reg_in_brackets) c->bad = true;
    c->x->s[slot].row = row_of(c, REG, o->number, 2, 2);
    reads(c, REG, o->number, slot, 2);
    return (int32_t)o->value;
}

static int width(struct decoder *c) {
    return mod(c, "128") ? 16 : mod(c, "64") ? 8 : mod(c, "U16") ? 2 : mod(c, "U8") ? 1 : 4;
}
/* Of a load, which may also be of signed numbers (mode). */
static int load_width(struct decoder *c) {
    c->x->mode = 1;
    if (mod(c, "S16")) return 2;
    if (mod(c, "S8")) return 1;
    c->x->mode = 0;
    return width(c);
}
static void memory(struct decoder *c, enum sass_memory m, int bytes) {
    c->i->memory = (uint8_t)m;
    c->i->bytes = c->x->bytes = (uint8_t)bytes;
}
static int words(int bytes) { return bytes < 4 ? 1 : bytes / 4; }

/* ---- Mnemonics: integers --------------------------------------------------------------------- */

static void d_iadd3(struct decoder *c) {
    bool wide = mod(c, "64"), carry_in = mod(c, "X");
    c->x->pd = c->x->pe = SASS_P_SINK;
    c->x->pin[0] = c->x->pin[1] = none_false;
    dst(c, wide ? 2 : 1);
    bool out = at_pred(c);
    if (out) c->x->pd = pdst(c);
    if (at_pred(c)) c->x->pe = pdst(c);
    if (wide) {
        plain(c, 0, 2);
        c->x->mode = at(c, NUMBER);
        if (c->x->mode && c->op[c->next].value < 0) c->bad = true;
        plain(c, 1, c->x->mode ? 1 : 2);
        plain(c, 2, 2);
        if (out || carry_in) c->bad = true;
        set(c, sass_add64);
        return;
    }
    isrc(c, 0);
    isrc(c, 1);
    isrc(c, 2);
    if (carry_in) {
        c->x->pin[0] = psrc(c);
        c->x->pin[1] = psrc(c);
    }
    set(c, out || carry_in ? sass_iadd3_carry : sass_iadd3);
}

static void d_viadd(struct decoder *c) {
    dst(c, 1);
    isrc(c, 0);
    isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    set(c, sass_iadd3);
}

static void d_imad(struct decoder *c) {
    bool wide = mod(c, "WIDE"), high = mod(c, "HI"), carry = mod(c, "X");
    (void)(mod(c, "MOV") || mod(c, "SHL") || mod(c, "IADD"));
    c->x->mode = !mod(c, "U32");
    c->x->pd = SASS_P_SINK;
    dst(c, wide ? 2 : 1);
    if (at_pred(c)) {
        c->x->pd = pdst(c);
        if (!wide && !high) c->bad = true;
    }
    isrc(c, 0);
    isrc(c, 1);
    if (wide || high)
        plain(c, 2, 2);
    else
        isrc(c, 2);
    if (carry) c->x->pin[0] = psrc(c);
    if (carry && (wide || high)) c->bad = true;
    set(c, wide ? sass_imad_wide : high ? sass_imad_hi : carry ? sass_imad_x : sass_imad);
}

static void d_lea(struct decoder *c) {
    bool high = mod(c, "HI"), carry = mod(c, "X"), sign = mod(c, "SX32");
    c->x->pd = SASS_P_SINK;
    c->x->pin[0] = none_false;
    c->x->mode = sign;
    dst(c, 1);
    if (at_pred(c)) c->x->pd = pdst(c);
    isrc(c, 0);
    isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    if (high && !sign) isrc(c, 2);
    c->x->imm = number(c);
    if (carry) c->x->pin[0] = psrc(c);
    if (c->x->imm > 31 || (!high && (carry || sign))) c->bad = true;
    if (high && (c->x->s[0].flip || c->x->s[2].flip)) c->bad = true;
    set(c, high ? sass_lea_hi : sass_lea);
}

static void d_lop3(struct decoder *c) {
    must(c, "LUT");
    c->x->pd = SASS_P_SINK;
    if (at_pred(c)) c->x->pd = pdst(c);
    dst(c, 1);
    plain(c, 0, 1);
    plain(c, 1, 1);
    plain(c, 2, 1);
    c->x->mode = (uint8_t)number(c);
    c->x->pin[0] = psrc(c);
    set(c, sass_lop3);
}

static void d_plop3(struct decoder *c) {
    must(c, "LUT");
    c->x->pd = pdst(c);
    c->x->pe = pdst(c);
    for (int p = 0; p < 3; p++) c->x->pin[p] = psrc(c);
    c->x->mode = (uint8_t)number(c);
    c->x->mode2 = (uint8_t)number(c);
    set(c, sass_plop3);
}

static void d_shf(struct decoder *c) {
    bool left = mod(c, "L"), right = mod(c, "R"), wide = mod(c, "U64"), sign = mod(c, "S32");
    bool u32 = mod(c, "U32"), high = mod(c, "HI");
    if (left == right || wide + sign + u32 != 1) c->bad = true;
    if ((left && sign) || (sign && !high)) c->bad = true;
    c->x->mode = (uint8_t)(left | high << 1 | sign << 2 | wide << 3);
    dst(c, 1);
    plain(c, 0, 1);
    plain(c, 1, 1);
    plain(c, 2, 1);
    set(c, sass_shf);
}

static void d_isetp(struct decoder *c) {
    static const char *const which[] = {"", "LT", "EQ", "LE", "GT", "NE", "GE"};
    int how = 0;
    for (int w = 1; w < 7; w++)
        if (mod(c, which[w])) how = w;
    if (!how) c->bad = true;
    c->x->mode = (uint8_t)(how | mod(c, "U32") << 3);
    if (mod(c, "OR"))
        c->x->mode |= 16;
    else
        must(c, "AND");
    bool upper = mod(c, "EX");
    if (upper) c->x->mode |= 32;
    c->x->pd = pdst(c);
    c->x->pe = pdst(c);
    isrc(c, 0);
    isrc(c, 1);
    c->x->pin[0] = psrc(c);
    c->x->pin[1] = upper ? psrc(c) : none_true;
    set(c, sass_isetp);
}

static void d_sel(struct decoder *c) {
    dst(c, 1);
    isrc(c, 0);
    isrc(c, 1);
    c->x->pin[0] = psrc(c);
    set(c, sass_sel);
}

static void d_mov(struct decoder *c) {
    dst(c, 1);
    plain(c, 0, 1);
    set(c, sass_mov);
}

static void d_prmt(struct decoder *c) {
    dst(c, 1);
    plain(c, 0, 1);
    plain(c, 1, 1);
    plain(c, 2, 1);
    set(c, sass_prmt);
}

static void d_iabs(struct decoder *c) {
    dst(c, 1);
    isrc(c, 0);
    set(c, sass_iabs);
}

/* POPC, FLO.U32; UPOPC, UFLO */
static void d_count(struct decoder *c) {
    bool popc = strstr(c->name, "POPC");
    if (!popc) must(c, "U32");
    c->x->mode = mod(c, "SH");
    dst(c, 1);
    source(c, 0, 1, false);
    if (c->x->s[0].less) c->bad = true;
    set(c, popc ? sass_popc : sass_flo);
}

static void d_brev(struct decoder *c) {
    dst(c, 1);
    plain(c, 0, 1);
    set(c, sass_brev);
}

static void d_p2r(struct decoder *c) {
    dst(c, 1);
    plain(c, 0, 1);
    c->x->imm = number(c);
    c->i->p_read |= (uint8_t)(c->x->imm & 0x7f);
    if (c->x->imm > 0x7f) c->bad = true;
    set(c, sass_p2r);
}

static void d_vimnmx(struct decoder *c) {
    bool pairs = mod(c, "U16x2"), three = !strcmp(c->name, "VIMNMX3");
    c->x->mode = pairs ? three : mod(c, "U32");
    if (three && !pairs) c->bad = true;
    dst(c, 1);
    isrc(c, 0);
    isrc(c, 1);
    c->x->s[2].row = SASS_ROW_ZERO;
    if (three) isrc(c, 2);
    if (pairs && (c->x->s[0].flip || c->x->s[1].flip || c->x->s[2].flip)) c->bad = true;
    c->x->pin[0] = psrc(c);
    set(c, pairs ? sass_vimnmx_u16x2 : sass_vimnmx);
}

static void d_viaddmnmx(struct decoder *c) {
    c->x->mode2 = mod(c, "RELU");
    c->x->mode = mod(c, "U32");
    dst(c, 1);
    isrc(c, 0);
    isrc(c, 1);
    isrc(c, 2);
    c->x->pin[0] = psrc(c);
    set(c, sass_viaddmnmx);
}

/* ---- Mnemonics: floating point --------------------------------------------------------------- */

static void rounding(struct decoder *c, int which, sass_handler *usual) {
    unsigned csr = 0x1f80;
    if (mod(c, "FTZ")) csr |= 0x8040;
    if (mod(c, "RM"))
        csr |= 0x2000;
    else if (mod(c, "RP"))
        csr |= 0x4000;
    else if (mod(c, "RZ"))
        csr |= 0x6000;
    c->x->mode = mod(c, "SAT");
    c->x->mode2 = (uint8_t)which;
    c->x->imm = csr;
    set(c, csr == 0x1f80 && !c->x->mode ? usual : sass_float_mode);
}

static void d_fadd(struct decoder *c) {
    rounding(c, 0, sass_fadd);
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
}
static void d_fmul(struct decoder *c) {
    rounding(c, 1, sass_fmul);
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
}
static void d_ffma(struct decoder *c) {
    rounding(c, 2, sass_ffma);
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
    fsrc(c, 2);
}
static void d_fmnmx(struct decoder *c) {
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
    c->x->pin[0] = psrc(c);
    set(c, sass_fmnmx);
}
static void d_fsel(struct decoder *c) {
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
    c->x->pin[0] = psrc(c);
    set(c, sass_fsel);
}
static void d_fsetp(struct decoder *c) {
    static const struct {
        const char *name;
        int bits;
    } which[] = {{"LT", 1},   {"EQ", 2},   {"LE", 3},   {"GT", 4},  {"NE", 5},
                 {"GE", 6},   {"NUM", 7},  {"NAN", 8},  {"LTU", 9}, {"EQU", 10},
                 {"LEU", 11}, {"GTU", 12}, {"NEU", 13}, {"GEU", 14}};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++)
        if (mod(c, which[w].name)) c->x->mode = (uint8_t)which[w].bits;
    if (!c->x->mode) c->bad = true;
    if (mod(c, "FTZ")) c->x->mode |= 32;
    if (mod(c, "OR"))
        c->x->mode |= 16;
    else
        must(c, "AND");
    c->x->pd = pdst(c);
    c->x->pe = pdst(c);
    fsrc(c, 0);
    fsrc(c, 1);
    c->x->pin[0] = psrc(c);
    set(c, sass_fsetp);
}
static void d_f2fp(struct decoder *c) {
    c->x->mode = mod(c, "BF16");
    if (!c->x->mode) must(c, "F16");
    must(c, "F32");
    must(c, "PACK_AB");
    dst(c, 1);
    fsrc(c, 0);
    fsrc(c, 1);
    set(c, sass_f2fp);
}

/* A pair of halves: R1, R1.H0_H0 (the lower one twice), or two numbers, whose bits are 32 to 63. imm: two
 * bits a source say which. */
static void pair(struct decoder *c, int slot) {
    struct operand *o = take(c);
    struct sass_source *s = &c->x->s[slot];
    if (o->kind == FLOAT) {
        if (take(c)->kind != FLOAT) c->bad = true;
        s->row = constant(c, (uint32_t)(c->low >> 32));
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
    s->row = row_of(c, REG, o->number, 1, 1);
    reads(c, REG, o->number, slot, 1);
}
static void pairs(struct decoder *c, int op, int n) {
    (void)mod(c, "MMA");
    c->x->mode = (uint8_t)op;
    c->x->mode2 = mod(c, "BF16_V2");
    dst(c, 1);
    for (int s = 0; s < n; s++) pair(c, s);
    set(c, sass_pairs);
}
static void d_hmul2(struct decoder *c) { pairs(c, 1, 2); }
static void d_hadd2(struct decoder *c) {
    if (!mod(c, "F32")) {
        pairs(c, 0, 2);
        return;
    }
    dst(c, 1);
    fsrc(c, 0);
    if (c->x->s[0].row != SASS_ROW_ZERO) c->bad = true; /* else it would be two halves */
    struct operand *o = take(c);
    c->x->mode = !strcmp(o->suffix, "H1_H1");
    if (o->kind != REG || o->negated || o->absolute || (!c->x->mode && strcmp(o->suffix, "H0_H0")))
        c->bad = true;
    c->x->s[1].row = row_of(c, REG, o->number, 1, 1);
    reads(c, REG, o->number, 1, 1);
    set(c, sass_hadd2_f32);
}
/* HFMA2.MMA d, -RZ, RZ, x, y: the pair of halves {y, x} in bits 32-63, a constant */
static void d_hfma2(struct decoder *c) {
    if (c->n != 5 || c->op[3].kind != FLOAT || c->op[2].number != SASS_RZ) {
        pairs(c, 2, 3);
        return;
    }
    must(c, "MMA");
    dst(c, 1);
    struct operand *a = take(c), *b = take(c), *high = take(c), *low = take(c);
    if (a->kind != REG || b->kind != REG || a->number != SASS_RZ || b->number != SASS_RZ ||
        !a->negated || b->negated || high->kind != FLOAT || low->kind != FLOAT)
        c->bad = true;
    c->x->s[0].row = constant(c, (uint32_t)(c->low >> 32));
    set(c, sass_mov);
}
static void d_mufu(struct decoder *c) {
    static const struct {
        const char *name;
        sass_handler *run;
    } which[] = {{"EX2", sass_ex2}, {"RCP", sass_rcp}, {"LG2", sass_lg2},   {"RSQ", sass_rsq},
                 {"SIN", sass_sin}, {"COS", sass_cos}, {"SQRT", sass_sqrt}, {"TANH", sass_tanh}};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++)
        if (mod(c, which[w].name)) set(c, which[w].run);
    dst(c, 1);
    fsrc(c, 0);
}
static void d_fchk(struct decoder *c) {
    c->x->pd = pdst(c);
    fsrc(c, 0);
    fsrc(c, 1);
    set(c, sass_fchk);
}
static void d_i2f(struct decoder *c) {
    bool wide = mod(c, "U64"), u32 = mod(c, "U32");
    c->x->mode = wide ? 2 : u32;
    c->x->imm = mod(c, "RP") ? 0x5f80 : 0x1f80;
    dst(c, 1);
    plain(c, 0, wide ? 2 : 1);
    set(c, sass_i2f);
}
static void d_i2fp(struct decoder *c) {
    must(c, "F32");
    c->x->mode = mod(c, "U32");
    if (!c->x->mode) must(c, "S32");
    c->x->imm = 0x1f80;
    dst(c, 1);
    plain(c, 0, 1);
    set(c, sass_i2f);
}
/* To whole numbers: towards zero, down, up or to nearest */
static uint8_t whole(struct decoder *c) {
    (void)mod(c, "FTZ"); /* a subnormal is 0 anyway */
    return mod(c, "TRUNC")   ? SASS_TRUNC
           : mod(c, "FLOOR") ? SASS_FLOOR
           : mod(c, "CEIL")  ? SASS_CEIL
                             : SASS_NEAREST;
}
static void d_f2i(struct decoder *c) {
    (void)mod(c, "NTZ");
    c->x->mode2 = whole(c);
    bool s64 = mod(c, "S64"), u64 = mod(c, "U64"), u32 = mod(c, "U32");
    c->x->mode = s64 ? SASS_S64 : u64 ? SASS_U64 : u32 ? SASS_U32 : SASS_S32;
    dst(c, s64 || u64 ? 2 : 1);
    fsrc(c, 0);
    set(c, sass_f2i);
}
static void d_frnd(struct decoder *c) {
    c->x->mode2 = whole(c);
    dst(c, 1);
    fsrc(c, 0);
    set(c, sass_frnd);
}

/* ---- Mnemonics: tensor ----------------------------------------------------------------------- */

static void d_hmma(struct decoder *c) {
    must(c, "16816");
    must(c, "F32");
    dst(c, 4);
    plain(c, 0, 4);
    plain(c, 1, 2);
    plain(c, 2, 4);
    c->i->src[1].n = c->i->src[1].n ? 2 : 0;
    set(c, sass_hmma);
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
    must(c, "F32"); /* of halves; other types have another modifier */
    dst(c, n / 2);
    g->inst.aux[WGMMA_N] = n;
    g->inst.aux[WGMMA_K] = k;
    g->inst.aux[WGMMA_TYPE] = TENSOR_F16;
    g->op[0].rows = g->d;
    g->op[0].n = (uint16_t)(n / 2);
    for (int r = 0; r < n / 2; r++) g->d[r] = c->x->d + (uint32_t)r * SASS_ROW;
    if (at(c, REG)) {
        plain(c, 0, 4);
        g->inst.aux[WGMMA_FLAGS] |= WGMMA_RS;
        g->op[1].rows = g->a;
        g->op[1].n = 4;
        for (uint32_t r = 0; r < 4; r++) g->a[r] = c->x->s[0].row + r * SASS_ROW;
    }
    struct operand *desc = take(c);
    if (desc->kind != GDESC || desc->reg_in_brackets || desc->value) c->bad = true;
    if (!strncmp(desc->suffix, "tnspA", 5)) g->inst.aux[WGMMA_FLAGS] |= WGMMA_TRANS_A;
    if (strstr(desc->suffix, "tnspB")) g->inst.aux[WGMMA_FLAGS] |= WGMMA_TRANS_B;
    if (*desc->suffix && strcmp(desc->suffix, "tnspA") && strcmp(desc->suffix, "tnspB") &&
        strcmp(desc->suffix, "tnspA.tnspB"))
        c->bad = true;
    g->desc = row_of(c, UREG, desc->uniform, 4, 4);
    reads(c, UREG, desc->uniform, 0, 4);
    struct operand *sum = take(c);
    if (sum->kind != REG || (sum->number != SASS_RZ && sum->number != c->i->dst.first))
        c->bad = true;
    if (sum->number != SASS_RZ) {
        c->i->src[2] = c->i->dst;
        c->x->pin[0] = none_true;
    } else {
        c->x->pin[0] = none_false;
    }
    if (at(c, UPRED)) {
        struct sass_pred p = psrc(c);
        if (sum->number != SASS_RZ) c->x->pin[0] = p;
        if (sum->number == SASS_RZ && (p.index != SASS_P_TRUE || !p.flip)) c->bad = true;
    }
    if (at(c, WORD)) {
        if (strcmp(take(c)->text, "gsb0")) c->bad = true;
        g->ends_group = true;
    }
    g->inst.op = g->op;
    g->inst.n_ops = 2;
    memory(c, SASS_HGMMA_OPERANDS, 0);
    set(c, sass_hgmma);
}

/* ---- Mnemonics: memory ----------------------------------------------------------------------- */

static void d_ldc(struct decoder *c) {
    int bytes = mod(c, "64") ? 8 : 4;
    memory(c, SASS_LDC, bytes);
    dst(c, words(bytes));
    struct operand *o = take(c);
    bool uniform = c->name[0] == 'U';
    if (o->kind != CONSTANT || o->bank > 4 || o->bank == 1) c->bad = true;
    c->x->mode = (uint8_t)o->bank;
    c->x->offset = (int32_t)o->value;
    c->x->s[0].row = uniform ? row_of(c, UREG, o->uniform, 1, 1) : row_of(c, REG, o->number, 1, 1);
    if ((uniform && o->reg_in_brackets) || (!uniform && o->uniform != SASS_URZ)) c->bad = true;
    reads(c, uniform ? UREG : REG, uniform ? o->uniform : o->number, 0, 1);
    set(c, sass_ldc);
}
static void d_lds(struct decoder *c) {
    int bytes = load_width(c);
    memory(c, SASS_LDS, bytes);
    dst(c, words(bytes));
    shared_address(c);
    set(c, sass_lds);
}
static void d_sts(struct decoder *c) {
    int bytes = width(c);
    memory(c, SASS_STS, bytes);
    shared_address(c);
    plain(c, 1, words(bytes));
    set(c, sass_sts);
}
static void d_ldsm(struct decoder *c) {
    must(c, "16");
    must(c, "4");
    c->x->mode = mod(c, "MT88");
    if (!c->x->mode) must(c, "M88");
    memory(c, SASS_LDSM, 16);
    dst(c, 4);
    shared_address(c);
    set(c, sass_ldsm);
}
static void d_stsm(struct decoder *c) {
    must(c, "16");
    must(c, "M88");
    must(c, "4");
    memory(c, SASS_STSM, 16);
    shared_address(c);
    plain(c, 1, 4);
    set(c, sass_stsm);
}
static void d_ldg(struct decoder *c) {
    must(c, "E");
    int bytes = load_width(c);
    (void)mod(c, "CONSTANT"); /* through L1, like others */
    memory(c, SASS_LDG, bytes);
    dst(c, words(bytes));
    c->x->offset = global_address(c, 0, DESC);
    set(c, sass_ldg);
}
static void d_stg(struct decoder *c) {
    must(c, "E");
    int bytes = width(c);
    memory(c, SASS_STG, bytes);
    c->x->offset = global_address(c, 0, DESC);
    plain(c, 1, words(bytes));
    set(c, sass_stg);
}
static void d_st(struct decoder *c) {
    must(c, "E");
    int bytes = width(c);
    memory(c, SASS_DSMEM, bytes);
    c->x->offset = global_address(c, 0, MEMORY);
    plain(c, 1, words(bytes));
    set(c, sass_st_generic);
}
static void d_ldgsts(struct decoder *c) {
    must(c, "E");
    must(c, "BYPASS");
    must(c, "128");
    memory(c, SASS_LDGSTS, 16);
    shared_address(c);
    c->x->imm = (uint32_t)global_address(c, 1, DESC);
    c->x->pin[0] = none_true;
    if (at_pred(c)) c->x->pin[0] = psrc(c);
    set(c, sass_ldgsts);
}
static void d_atomg(struct decoder *c) {
    bool red = !strcmp(c->name, "REDG");
    must(c, "E");
    static const char *const which[] = {
        [SASS_ATOMIC_ADD] = "ADD",   [SASS_ATOMIC_MIN] = "MIN", [SASS_ATOMIC_MAX] = "MAX",
        [SASS_ATOMIC_AND] = "AND",   [SASS_ATOMIC_OR] = "OR",   [SASS_ATOMIC_XOR] = "XOR",
        [SASS_ATOMIC_EXCH] = "EXCH", [SASS_ATOMIC_CAS] = "CAS"};
    int op = -1;
    for (int o = 0; o <= SASS_ATOMIC_CAS; o++)
        if (which[o] && mod(c, which[o])) op = o;
    if (op < 0) c->bad = true;
    c->x->mode2 = mod(c, "S32");
    if (op == SASS_ATOMIC_ADD && mod(c, "F32")) {
        op = SASS_ATOMIC_ADD_F32;
        must(c, "FTZ");
        must(c, "RN");
    }
    c->x->mode = (uint8_t)op;
    must(c, "STRONG");
    must(c, "GPU");
    memory(c, red ? SASS_REDG : SASS_ATOMG, 4);
    c->x->d = SASS_ROW_SINK;
    if (!red) {
        if (pdst(c) != SASS_P_SINK) c->bad = true;
        dst(c, 1);
    }
    c->x->offset = global_address(c, 0, at(c, DESC) ? DESC : MEMORY);
    plain(c, 1, 1);
    if (op == SASS_ATOMIC_CAS) plain(c, 2, 1);
    set(c, sass_atomg);
}

/* ---- Mnemonics: lanes ------------------------------------------------------------------------ */

static void d_shfl(struct decoder *c) {
    c->x->mode = mod(c, "UP") ? 0 : mod(c, "DOWN") ? 1 : mod(c, "BFLY") ? 2 : 3;
    if (c->x->mode == 3) must(c, "IDX");
    c->x->pd = pdst(c);
    dst(c, 1);
    plain(c, 0, 1);
    plain(c, 1, 1);
    plain(c, 2, 1);
    set(c, sass_shfl);
}
static void d_vote(struct decoder *c) {
    c->x->mode = mod(c, "ALL");
    if (!c->x->mode) must(c, "ANY");
    if (!at_pred(c)) dst(c, 1);
    c->x->pd = pdst(c);
    c->x->pin[0] = psrc(c);
    set(c, sass_vote);
}
static void d_elect(struct decoder *c) {
    c->x->pd = pdst(c);
    dst(c, 1);
    struct sass_pred p = psrc(c);
    if (p.index != SASS_P_TRUE || p.flip) c->bad = true;
    set(c, sass_elect);
}
static void d_r2ur(struct decoder *c) {
    dst(c, 1);
    plain(c, 0, 1);
    set(c, sass_r2ur);
}
static void d_s2r(struct decoder *c) {
    static const char *const which[] = {"SR_TID.X",   "SR_TID.Y",   "SR_TID.Z",  "SR_CTAID.X",
                                        "SR_CTAID.Y", "SR_CTAID.Z", "SR_LANEID", "SR_CgaCtaId",
                                        "SR_SWINHI",  "SR_LTMASK",  "SR_CLOCKLO"};
    bool pair = !strcmp(c->name, "CS2R");
    const char *name = c->n > 1 ? c->op[1].text : "";
    if (pair && !strcmp(name, "SRZ")) { /* two registers, zero */
        dst(c, 2);
        take(c);
        c->x->s[0].row = SASS_ROW_ZERO;

        set(c, sass_zero_pair);
        return;
    }
    dst(c, 1);
    take(c);
    c->x->mode = 255;
    for (uint8_t s = 0; s < 11; s++)
        if (!strcmp(name, which[s])) c->x->mode = s;
    if (c->x->mode == 255 || (c->x->mode == 10) != pair) c->bad = true;
    if (c->name[2] == 'U' && c->x->mode < 3) c->bad = true; /* S2UR of what lanes differ in */
    set(c, sass_s2r);
}

/* ---- Mnemonics: flow ------------------------------------------------------------------------- */

static void target(struct decoder *c, uint32_t to) {
    if (to % 16) c->bad = true;
    c->i->target = to;
    c->x->target = to / 16;
}
static uint8_t b_register(struct decoder *c) {
    struct operand *o = take(c);
    int b = o->kind == WORD && o->text[0] == 'B' ? atoi(o->text + 1) : -1;
    if (b < 0 || b >= SASS_B_REGISTERS) c->bad = true;
    return (uint8_t)b;
}
static void d_bra(struct decoder *c) {
    set(c, sass_bra);
    if (mod(c, "U")) {
        must(c, "ANY");
        set(c, sass_bra_any);
        c->x->always = true;
    } else if (mod(c, "DIV")) {
        if (!at(c, UREG)) c->bad = true;
        plain(c, 0, 1);
        set(c, sass_bra_div);
    } else if (at_pred(c)) {
        c->x->pin[0] = psrc(c);
    }
    target(c, number(c));
}
static void d_brx(struct decoder *c) {
    plain(c, 0, 1); /* of a pair; addresses in a kernel are below 2^32 */
    if (c->i->src[0].n) c->i->src[0].n = 2;
    c->x->imm = number(c) + c->pc + 16;
    set(c, sass_brx);
}
static void d_bssy(struct decoder *c) {
    c->x->mode = b_register(c);
    target(c, number(c));
    set(c, sass_bssy);
}
static void d_bsync(struct decoder *c) {
    c->x->mode = b_register(c);
    set(c, sass_bsync);
}
static uint32_t symbol(struct decoder *c) {
    struct operand *o = take(c);
    for (int s = 0; s < c->n_symbols && o->kind == WORD; s++)
        if (!strcmp(c->symbols[s].name, o->text)) return c->symbols[s].value;
    c->bad = true;
    return 0;
}
static void d_call(struct decoder *c) {
    must(c, "REL");
    must(c, "NOINC");
    target(c, at(c, NUMBER) ? number(c) : symbol(c));
    set(c, sass_call);
}
static void d_ret(struct decoder *c) {
    must(c, "REL");
    must(c, "NODEC");
    plain(c, 0, 1);
    if (c->i->src[0].n) c->i->src[0].n = 2;
    c->x->imm = at(c, NUMBER) ? number(c) : symbol(c);
    set(c, sass_ret);
}
static void d_warpsync(struct decoder *c) {
    set(c, sass_warpsync);
    if (mod(c, "ALL")) return;
    must(c, "COLLECTIVE");
    c->x->mode = 1;
    plain(c, 0, 1);
    target(c, number(c));
    if (c->i->target != c->pc + 48) c->bad = true; /* one instruction, ENDCOLLECTIVE, target */
}
static void d_exit(struct decoder *c) { set(c, sass_exit); }
static void d_yield(struct decoder *c) { set(c, sass_yield); }

/* What orders memory or waits for it: execution is in order, so nothing is left to do. */
static void d_order(struct decoder *c) {
    static const char *const forms[] = {
        "ACQBULK",        "CCTL.IVALL",         "CGAERRBAR", "ENDCOLLECTIVE",
        "ERRBAR",         "FENCE.VIEW.ASYNC.S", "LDGDEPBAR", "MEMBAR.ALL.CTA",
        "MEMBAR.ALL.GPU", "MEMBAR.SC.GPU",      "NOP",       "PREEXIT",
        "UTMACMDFLUSH",   "WARPGROUP.ARRIVE"};
    bool known = false;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        known |= !strcmp(forms[f], c->text->opcode);
    if (!known) c->bad = true;
    memset(c->used, true, sizeof c->used);
    set(c, sass_nop);
}
/* DEPBAR.LE SB0, n and WARPGROUP.DEPBAR.LE gsb0, n: the clock's */
static void d_depbar(struct decoder *c) {
    if (!strcmp(c->name, "WARPGROUP") && !mod(c, "DEPBAR")) {
        d_order(c);
        return;
    }
    must(c, "LE");
    struct operand *o = take(c);
    if (strcmp(o->text, "SB0") && strcmp(o->text, "gsb0")) c->bad = true;
    c->x->imm = number(c);
    set(c, sass_nop);
}

/* ---- Mnemonics: barriers, TMA ---------------------------------------------------------------- */

static void d_bar(struct decoder *c) {
    c->x->mode = mod(c, "SYNC");
    if (c->x->mode)
        must(c, "DEFER_BLOCKING");
    else
        must(c, "ARV");
    plain(c, 0, 1);
    c->x->s[1].row = SASS_ROW_ZERO;
    if (c->next < c->n)
        plain(c, 1, 1);
    else if (!at(c, NUMBER) && c->op[0].kind == REG)
        c->bad = true; /* count and id in one */
    set(c, sass_bar);
}
static void d_syncs(struct decoder *c) {
    if (mod(c, "EXCH")) {
        must(c, "64");
        dst(c, 2);
        shared_address(c);
        plain(c, 1, 2);
        c->x->uniform = true;
        if (c->x->s[0].row != SASS_ROW_ZERO) c->bad = true;
        set(c, sass_syncs_init);
        return;
    }
    if (mod(c, "ARRIVE")) {
        must(c, "TRANS64");
        c->x->mode = mod(c, "A1T0");
        struct operand *o = take(c);
        if (o->kind != REG || o->number != SASS_RZ) c->bad = true; /* a state: nobody asks for it */
        shared_address(c);
        plain(c, 1, 1);
        set(c, sass_syncs_arrive);
        return;
    }
    must(c, "PHASECHK");
    must(c, "TRANS64");
    c->x->mode = mod(c, "TRYWAIT");
    c->x->pd = pdst(c);
    shared_address(c);
    plain(c, 1, 1);
    set(c, sass_syncs_wait);
}
static void d_cluster(struct decoder *c) {
    set(c, !strcmp(c->name, "UCGABAR_ARV") ? sass_cluster_arrive : sass_cluster_wait);
}
static void d_setmaxreg(struct decoder *c) {
    bool alloc = mod(c, "TRY_ALLOC");
    if (!alloc) must(c, "DEALLOC");
    must(c, "CTAPOOL");
    if (alloc) c->x->pd = pdst(c);
    c->x->imm = number(c);
    c->x->uniform = true;
    set(c, alloc ? sass_setmaxreg_alloc : sass_setmaxreg_dealloc);
}

/* [URn], a group of uniform registers from n on */
static void ur_group(struct decoder *c, int slot, int n, int align) {
    struct operand *o = take(c);
    if (o->kind != MEMORY || o->reg_in_brackets || o->value) c->bad = true;
    c->x->s[slot].row = row_of(c, UREG, o->uniform, n, align);
    if (o->uniform == SASS_URZ) c->bad = true;
    reads(c, UREG, o->uniform, slot, n);
}
static void d_tma(struct decoder *c) {
    bool load = !strcmp(c->name, "UTMALDG");
    for (int rank = 1; rank <= 5; rank++) {
        char name[4] = {(char)('0' + rank), 'D', 0};
        if (mod(c, name)) c->x->mode = (uint8_t)rank;
    }
    if (!c->x->mode) c->bad = true;
    ur_group(c, 0, c->x->mode + 1 + load, 2);
    ur_group(c, 1, 2, 2);
    memory(c, load ? SASS_TMA_LOAD : SASS_TMA_STORE, 0);
    set(c, load ? sass_tma_load : sass_tma_store);
}
static void d_prefetch(struct decoder *c) {
    must(c, "PF");
    ur_group(c, 0, 2, 2);
    set(c, sass_tma_prefetch);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void (*const decoders[SASS_N_OPS])(struct decoder *c) = {
    [SASS_OP_FADD] = d_fadd,
    [SASS_OP_FFMA] = d_ffma,
    [SASS_OP_FMUL] = d_fmul,
    [SASS_OP_IMAD] = d_imad,
    [SASS_OP_HADD2] = d_hadd2,
    [SASS_OP_HFMA2] = d_hfma2,
    [SASS_OP_HMUL2] = d_hmul2,
    [SASS_OP_F2FP] = d_f2fp,
    [SASS_OP_FMNMX] = d_fmnmx,
    [SASS_OP_FSEL] = d_fsel,
    [SASS_OP_FSETP] = d_fsetp,
    [SASS_OP_IABS] = d_iabs,
    [SASS_OP_FLO] = d_count,
    [SASS_OP_FCHK] = d_fchk,
    [SASS_OP_BREV] = d_brev,
    [SASS_OP_FRND] = d_frnd,
    [SASS_OP_I2FP] = d_i2fp,
    [SASS_OP_POPC] = d_count,
    [SASS_OP_IADD3] = d_iadd3,
    [SASS_OP_ISETP] = d_isetp,
    [SASS_OP_LEA] = d_lea,
    [SASS_OP_LOP3] = d_lop3,
    [SASS_OP_MOV] = d_mov,
    [SASS_OP_P2R] = d_p2r,
    [SASS_OP_PLOP3] = d_plop3,
    [SASS_OP_PRMT] = d_prmt,
    [SASS_OP_SEL] = d_sel,
    [SASS_OP_SHF] = d_shf,
    [SASS_OP_VIADD] = d_viadd,
    [SASS_OP_VIADDMNMX] = d_viaddmnmx,
    [SASS_OP_VIMNMX] = d_vimnmx,
    [SASS_OP_VIMNMX3] = d_vimnmx,
    [SASS_OP_VOTE] = d_vote,
    [SASS_OP_CS2R] = d_s2r,
    [SASS_OP_MUFU] = d_mufu,
    [SASS_OP_F2I] = d_f2i,
    [SASS_OP_I2F] = d_i2f,
    [SASS_OP_HMMA] = d_hmma,
    [SASS_OP_HGMMA] = d_hgmma,
    [SASS_OP_ATOMG] = d_atomg,
    [SASS_OP_LDC] = d_ldc,
    [SASS_OP_LDG] = d_ldg,
    [SASS_OP_LDGSTS] = d_ldgsts,
    [SASS_OP_LDS] = d_lds,
    [SASS_OP_LDSM] = d_ldsm,
    [SASS_OP_REDG] = d_atomg,
    [SASS_OP_SHFL] = d_shfl,
    [SASS_OP_ST] = d_st,
    [SASS_OP_STG] = d_stg,
    [SASS_OP_STS] = d_sts,
    [SASS_OP_STSM] = d_stsm,
    [SASS_OP_S2R] = d_s2r,
    [SASS_OP_BAR] = d_bar,
    [SASS_OP_SYNCS] = d_syncs,
    [SASS_OP_UCGABAR_ARV] = d_cluster,
    [SASS_OP_UCGABAR_WAIT] = d_cluster,
    [SASS_OP_UTMACCTL] = d_prefetch,
    [SASS_OP_UTMACMDFLUSH] = d_order,
    [SASS_OP_UTMALDG] = d_tma,
    [SASS_OP_UTMASTG] = d_tma,
    [SASS_OP_ELECT] = d_elect,
    [SASS_OP_R2UR] = d_r2ur,
    [SASS_OP_S2UR] = d_s2r,
    [SASS_OP_UFLO] = d_count,
    [SASS_OP_UPOPC] = d_count,
    [SASS_OP_UIADD3] = d_iadd3,
    [SASS_OP_UIMAD] = d_imad,
    [SASS_OP_UISETP] = d_isetp,
    [SASS_OP_ULDC] = d_ldc,
    [SASS_OP_ULEA] = d_lea,
    [SASS_OP_ULOP3] = d_lop3,
    [SASS_OP_UMOV] = d_mov,
    [SASS_OP_UPLOP3] = d_plop3,
    [SASS_OP_UPRMT] = d_prmt,
    [SASS_OP_USEL] = d_sel,
    [SASS_OP_USHF] = d_shf,
    [SASS_OP_VOTEU] = d_vote,
    [SASS_OP_USETMAXREG] = d_setmaxreg,
    [SASS_OP_BRA] = d_bra,
    [SASS_OP_BRX] = d_brx,
    [SASS_OP_BSSY] = d_bssy,
    [SASS_OP_BSYNC] = d_bsync,
    [SASS_OP_CALL] = d_call,
    [SASS_OP_EXIT] = d_exit,
    [SASS_OP_RET] = d_ret,
    [SASS_OP_WARPSYNC] = d_warpsync,
    [SASS_OP_ENDCOLLECTIVE] = d_order,
    [SASS_OP_YIELD] = d_yield,
    [SASS_OP_ACQBULK] = d_order,
    [SASS_OP_CCTL] = d_order,
    [SASS_OP_CGAERRBAR] = d_order,
    [SASS_OP_DEPBAR] = d_depbar,
    [SASS_OP_ERRBAR] = d_order,
    [SASS_OP_FENCE] = d_order,
    [SASS_OP_LDGDEPBAR] = d_order,
    [SASS_OP_MEMBAR] = d_order,
    [SASS_OP_NOP] = d_order,
    [SASS_OP_PREEXIT] = d_order,
    [SASS_OP_WARPGROUP] = d_depbar,
};

static const char *const names[] = {
#define OP(name, pipe) #name,
    SASS_OPS(OP)
#undef OP
};
static const uint8_t pipes[] = {
#define OP(name, pipe) SASS_PIPE_##pipe,
    SASS_OPS(OP)
#undef OP
};

enum sass_pipe sass_op_pipe(int op) { return (enum sass_pipe)pipes[op]; }
const char *sass_op_name(int op) { return op >= 0 && op < SASS_N_OPS ? names[op] : "?"; }

static const char *guard(struct decoder *c) {
    struct operand o;
    c->x->guard = SASS_P_TRUE;
    c->i->guard = SASS_PT;
    bool odd = !strcmp(c->name, "P2R") && !strcmp(c->text->guard, "PR"); /* a word of nvdisasm's */
    if (!*c->text->guard || odd) return NULL;
    if (c->text->guard[0] != '@' || !parse_operand(c->text->guard + 1, &o) ||
        (o.kind != PRED && o.kind != UPRED))
        return reason("guard %s is not understood", c->text->guard);
    bool uniform = o.kind == UPRED;
    c->i->guard = (uint8_t)o.number;
    c->i->guard_not = o.not ;
    c->i->guard_uniform = uniform;
    if (o.number != SASS_PT)
        *(uniform ? &c->i->up_read : &c->i->p_read) |= (uint8_t)(1 << o.number);
    c->x->guard =
        o.number == SASS_PT ? SASS_P_TRUE : (uint8_t)(o.number + (uniform ? SASS_P_UNIFORM : 0));
    c->x->guard_flip = o.not ? EMU_FULL : 0;
    return NULL;
}

static void control_bits(struct sass_inst *i, uint64_t high) {
    i->stall = high >> 41 & 15;
    i->yields = !(high >> 45 & 1);
    i->write_barrier = high >> 46 & 7;
    i->read_barrier = high >> 49 & 7;
    i->wait_mask = high >> 52 & 63;
    i->reuse = high >> 58 & 15;
}

const char *sass_decode(struct sass_code *code, const struct sass_text *text,
                        const uint64_t word[2], uint32_t pc, const struct sass_symbol *symbols,
                        int n_symbols, struct sass_inst *inst, struct sass_exec *exec) {
    struct decoder c = {.code = code,
                        .text = text,
                        .low = word[0],
                        .high = word[1],
                        .pc = pc,
                        .symbols = symbols,
                        .n_symbols = n_symbols,
                        .i = inst,
                        .x = exec};
    *inst = (struct sass_inst){.pc = pc, .exec = pc / 16};
    *exec = (struct sass_exec){.inst = inst,
                               .pd = SASS_P_SINK,
                               .pe = SASS_P_SINK,
                               .d = SASS_ROW_SINK,
                               .uniform_row = SASS_ROW_ZERO};
    for (int s = 0; s < 3; s++) {
        exec->s[s] = (struct sass_source){.row = SASS_ROW_ZERO, .keep = EMU_FULL};
        exec->pin[s] = none_true;
    }
    control_bits(inst, c.high);
    const char *why = split(&c);
    if (!why) why = guard(&c);
    if (why) return why;
    int op = 0;
    while (op < SASS_N_OPS && strcmp(names[op], c.name)) op++;
    if (op == SASS_N_OPS || !decoders[op]) return "there is no such instruction in sass_ops.h";
    inst->op = (uint8_t)op;
    inst->pipe = pipes[op];
    exec->uniform = inst->pipe == SASS_PIPE_UNIFORM || inst->pipe == SASS_PIPE_TMA;
    decoders[op](&c);
    for (int m = 0; m < c.n_modifiers; m++)
        if (!c.used[m]) return reason("modifier .%s is not known", c.modifier[m]);
    if (c.bad || c.next != c.n || !exec->run) return "its operands have a form that is not known";
    return NULL;
}
