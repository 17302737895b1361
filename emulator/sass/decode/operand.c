/* Takes an instruction's text apart into operands and modifiers, and turns them into rows and predicates. */
#include "decoder.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <ctype.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        const long most = (pred ? SASS_PT : uniform ? SASS_URZ : SASS_RZ) - 1;
        const long n = strtol(at, (char **)&at, 10);
        if (n > most) return false; /* there is no such register */
        *number = (int)n;
    } else {
        return false;
    }
    if (isalnum((unsigned char)*at) || *at == '_') return false;
    *kind = pred ? (uniform ? UPRED : PRED) : uniform ? UREG : REG;
    *s = at;
    return true;
}

/* [R4.64+UR8+0x10], [R4+-0x10], [R4.X8+UR8] */
static bool parse_address(const char *s, struct operand *o) {
    bool any = false;
    o->number = SASS_RZ;
    o->uniform = SASS_URZ;
    while (*s && *s != ']') {
        enum kind kind;
        int number;
        if (*s == '+') s++;
        any = true;
        if (parse_register(&s, &kind, &number)) {
            if (kind == REG)
                o->number = number, o->reg_in_brackets = true;
            else if (kind == UREG)
                o->uniform = number;
            else
                return false;
            if (!strncmp(s, ".64", 3)) o->wide = true, s += 3;
            if (*s != '.') continue;
            if (kind != REG || s[1] != 'X') return false;
            const long times = strtol(s + 2, (char **)&s, 10);
            o->shift = times == 2 ? 1 : times == 4 ? 2 : times == 8 ? 3 : times == 16 ? 4 : 0;
            if (!o->shift) return false;
        } else {
            char *end;
            o->value = strtoll(s, &end, 16);
            if (end == s) return false;
            s = end;
        }
    }
    return any && *s == ']';
}

bool sd_parse_operand(const char *s, struct operand *o) {
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
    if (!strncmp(s, "c[", 2)) {
        const char *second = strstr(s, "]["), *end = second ? strchr(second + 1, ']') : NULL;
        o->kind = CONSTANT;
        const unsigned long bank = strtoul(s + 2, NULL, 16);
        o->bank = bank < 18 ? (int)bank : 18; /* there are 18 banks */
        return end && !strcmp(end + 1, o->absolute ? "|" : "") && parse_address(second + 2, o);
    }
    s = o->text;
    o->negated = o->inverted = o->absolute = o->not = false;
    if (!strncmp(s, "desc[", 5)) {
        const char *second = strstr(s, "][");
        o->kind = DESC; /* the descriptor itself does not matter here */
        if (!second)
            return parse_address(s + 5, o) && !o->reg_in_brackets; /* TMA: only how L2 keeps it */
        return parse_address(second + 2, o) && o->wide;
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

const char *sd_split(struct decoder *c) {
    char all[256], *at = all;
    if (strlen(c->text->operands) >= sizeof all || strlen(c->text->opcode) >= sizeof all)
        return "it is too long";
    strcpy(all, c->text->operands);
    while (*at) {
        char *end = at + strcspn(at, ",");
        bool more = *end;
        *end = 0;
        /* BRX R6 -0x5620, LDGSTS [R4][R2.64]: two operands */
        char *gap = strstr(at, " -0x"), *second = gap ? gap + 1 : NULL, first[96];
        if (!gap && *at == '[' && (gap = strstr(at, "]["))) second = ++gap;
        snprintf(first, sizeof first, "%.*s", gap ? (int)(gap - at) : (int)strlen(at), at);
        for (int part = 0; part < (gap ? 2 : 1); part++) {
            const char *text = part ? second : gap ? first : at;
            if (c->n == MAX_OPERANDS) return "it has too many operands";
            if (!sd_parse_operand(text, &c->op[c->n++]))
                return reason("operand %s is not understood", text);
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

bool sd_mod(struct decoder *c, const char *name) {
    for (int m = 0; m < c->n_modifiers; m++)
        if (!c->used[m] && !strcmp(c->modifier[m], name)) return c->used[m] = true;
    return false;
}
void sd_must(struct decoder *c, const char *name) {
    if (!sd_mod(c, name)) c->bad = true;
}

bool sd_at(const struct decoder *c, enum kind kind) {
    return c->next < c->n && c->op[c->next].kind == kind;
}
struct operand *sd_take(struct decoder *c) {
    static struct operand none;
    if (c->next < c->n) return &c->op[c->next++];
    c->bad = true;
    memset(&none, 0, sizeof none);
    return &none;
}

static void add_constant(struct sass_code *code, uint32_t value, uint32_t from) {
    if (code->n_constants == code->constant_capacity) {
        code->constant_capacity = code->n_constants ? 2 * code->n_constants : 64;
        code->constant = heap_grown(code->constant, (size_t)code->constant_capacity * 4);
        code->from = heap_grown(code->from, (size_t)code->constant_capacity * 4);
    }
    code->from[code->n_constants] = from;
    code->constant[code->n_constants++] = value;
}

uint32_t sd_constant(struct decoder *c, uint32_t value) {
    struct sass_code *code = c->code;
    int n = 0;
    if (value == 0) return SASS_ROW_ZERO;
    while (n < code->n_constants && (code->constant[n] != value || code->from[n])) n++;
    if (n == code->n_constants) add_constant(code, value, 0);
    return SASS_ROW_CONST + (uint32_t)n * SASS_ROW;
}

/* Rows of n neighbouring words of a constant bank, c[0x0][0x160] as an operand: code of sm_89 has those, that
 * of sm_90 loads them first. */
static uint32_t bank_rows(struct decoder *c, const struct operand *o, int words) {
    struct sass_code *code = c->code;
    const uint32_t from = SASS_FROM_BANK(o->bank, o->value);
    int n = 0, same = 0;
    if (code->sm != 89 || o->bank > 4 || o->bank == 1 || o->number != SASS_RZ ||
        o->uniform != SASS_URZ || o->value < 0 || o->value % 4 || o->value >= 1 << 16) {
        c->bad = true;
        return SASS_ROW_ZERO;
    }
    for (; n < code->n_constants; n++) {
        for (same = 0; same < words && n + same < code->n_constants &&
                       code->from[n + same] == from + 4 * (uint32_t)same;)
            same++;
        if (same == words) break;
    }
    if (n == code->n_constants)
        for (int i = 0; i < words; i++) add_constant(code, 0, from + 4 * (uint32_t)i);
    return SASS_ROW_CONST + (uint32_t)n * SASS_ROW;
}

uint32_t sd_row_of(struct decoder *c, enum kind kind, int number, int n, int align) {
    bool zero = number == (kind == REG ? SASS_RZ : SASS_URZ);
    if (zero) return SASS_ROW_ZERO;
    if (number % align || number + n > (kind == REG ? SASS_RZ : SASS_URZ)) c->bad = true;
    return kind == REG ? (uint32_t)number * SASS_ROW : SASS_ROW_UR + (uint32_t)number * SASS_ROW;
}

static int alignment(int n) { return n >= 4 ? 4 : n; }

/* n registers written, R or UR */
void sd_dst(struct decoder *c, int n) {
    struct operand *o = sd_take(c);
    if ((o->kind != REG && o->kind != UREG) || o->negated || o->absolute || *o->suffix)
        c->bad = true;
    uint32_t row = sd_row_of(c, o->kind, o->number, n, alignment(n));
    c->x->d = row == SASS_ROW_ZERO ? SASS_ROW_SINK : row;
    if (row == SASS_ROW_ZERO) return;
    struct sass_span span = {(uint8_t)o->number, (uint8_t)n};
    *(o->kind == REG ? &c->i->dst : &c->i->udst) = span;
}

void sd_reads(struct decoder *c, enum kind kind, int number, int slot, int n) {
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
void sd_source(struct decoder *c, int slot, int n, bool as_float) {
    struct operand *o = sd_take(c);
    struct sass_source *s = &c->x->s[slot];
    s->keep = o->absolute ? 0x7fffffff : EMU_FULL;
    if (o->not || *o->suffix || (o->absolute && !as_float) || (o->inverted && as_float))
        c->bad = true;
    if (o->kind == REG || o->kind == UREG) {
        s->row = sd_row_of(c, o->kind, o->number, n, alignment(n));
        sd_reads(c, o->kind, o->number, slot, n);
        if (o->negated) s->flip = as_float ? 0x80000000 : EMU_FULL;
        if (o->negated && !as_float) s->less = EMU_FULL;
        if (o->inverted) s->flip = EMU_FULL;
        if ((o->negated || o->inverted) && n > 1) c->bad = true;
    } else if (o->kind == CONSTANT) {
        s->row = bank_rows(c, o, n);
        if (o->negated) s->flip = as_float ? 0x80000000 : EMU_FULL;
        if (o->negated && !as_float) s->less = EMU_FULL;
        if (o->inverted) s->flip = EMU_FULL;
        if ((o->negated || o->inverted) && n > 1) c->bad = true;
    } else if (as_float && o->kind == FLOAT) {
        s->row = sd_constant(c, (uint32_t)(c->low >> 32));
    } else if (!as_float && o->kind == NUMBER) {
        s->row = sd_constant(c, (uint32_t)o->value);
    } else {
        c->bad = true;
    }
}
uint32_t sd_rounding(struct decoder *c) {
    return sd_mod(c, "RM")   ? FE_DOWNWARD
           : sd_mod(c, "RP") ? FE_UPWARD
           : sd_mod(c, "RZ") ? FE_TOWARDZERO
                             : FE_TONEAREST;
}

/* Rows of neighbouring constants, the first one 0. */
static uint32_t upper_half(struct decoder *c, uint32_t high) {
    struct sass_code *code = c->code;
    int n = 0;
    while (n + 1 < code->n_constants && (code->constant[n] || code->constant[n + 1] != high ||
                                         code->from[n] || code->from[n + 1]))
        n++;
    if (n + 1 >= code->n_constants) {
        n = code->n_constants;
        add_constant(code, 0, 0);
        add_constant(code, high, 0);
    }
    return SASS_ROW_CONST + (uint32_t)n * SASS_ROW;
}

void sd_double(struct decoder *c, int slot) {
    struct operand *o = sd_take(c);
    struct sass_source *s = &c->x->s[slot];
    if (o->not || o->inverted || *o->suffix) c->bad = true;
    if (o->kind == REG || o->kind == UREG) {
        s->keep = o->absolute ? 0x7fffffff : EMU_FULL;
        s->flip = o->negated ? 0x80000000 : 0;
        s->row = sd_row_of(c, o->kind, o->number, 2, 2);
        sd_reads(c, o->kind, o->number, slot, 2);
    } else if (o->kind == CONSTANT) {
        s->keep = o->absolute ? 0x7fffffff : EMU_FULL;
        s->flip = o->negated ? 0x80000000 : 0;
        s->row = bank_rows(c, o, 2);
    } else if (o->kind == FLOAT) {
        s->row = upper_half(c, (uint32_t)(c->low >> 32));
    } else {
        c->bad = true;
    }
}

uint8_t sd_joined(struct decoder *c) {
    if (sd_mod(c, "OR")) return SETP_OR;
    if (sd_mod(c, "XOR")) return SETP_XOR;
    sd_must(c, "AND");
    return 0;
}

uint8_t sd_comparison(struct decoder *c) {
    enum { LT = FSETP_LESS, EQ = FSETP_EQUAL, GT = FSETP_GREATER, U = FSETP_UNORDERED };
    static const struct {
        const char *name;
        int bits;
    } which[] = {{"LT", LT},           {"EQ", EQ},          {"LE", LT | EQ},       {"GT", GT},
                 {"NE", LT | GT},      {"GE", EQ | GT},     {"NUM", LT | EQ | GT}, {"NAN", U},
                 {"LTU", LT | U},      {"EQU", EQ | U},     {"LEU", LT | EQ | U},  {"GTU", GT | U},
                 {"NEU", LT | GT | U}, {"GEU", EQ | GT | U}};
    uint8_t mode = 0;
    for (size_t w = 0; w < sizeof which / sizeof *which; w++)
        if (sd_mod(c, which[w].name)) mode = (uint8_t)which[w].bits;
    if (!mode) c->bad = true;
    return mode | sd_joined(c);
}

void sd_isrc(struct decoder *c, int slot) { sd_source(c, slot, 1, false); }
void sd_fsrc(struct decoder *c, int slot) { sd_source(c, slot, 1, true); }

/* The same without signs. */
void sd_plain(struct decoder *c, int slot, int n) {
    sd_source(c, slot, n, false);
    if (c->x->s[slot].flip) c->bad = true;
}

uint8_t sd_pdst(struct decoder *c) {
    struct operand *o = sd_take(c);
    bool is_pred = o->kind == PRED || o->kind == UPRED;
    if (!is_pred || o->not ) c->bad = true;
    if (!is_pred || o->number == SASS_PT) return SASS_P_SINK;
    *(o->kind == PRED ? &c->i->p_written : &c->i->up_written) |= (uint8_t)(1 << o->number);
    return (uint8_t)(o->number + (o->kind == UPRED ? SASS_P_UNIFORM : 0));
}

struct sass_pred sd_psrc(struct decoder *c) {
    struct operand *o = sd_take(c);
    struct sass_pred p = {SASS_P_TRUE, 0};
    bool is_pred = o->kind == PRED || o->kind == UPRED;
    if (!is_pred) c->bad = true;
    if (o->not ) p.flip = EMU_FULL;
    if (!is_pred || o->number == SASS_PT) return p;
    *(o->kind == PRED ? &c->i->p_read : &c->i->up_read) |= (uint8_t)(1 << o->number);
    p.index = (uint8_t)(o->number + (o->kind == UPRED ? SASS_P_UNIFORM : 0));
    return p;
}

bool sd_at_pred(const struct decoder *c) { return sd_at(c, PRED) || sd_at(c, UPRED); }
const struct sass_pred sd_none_true = {SASS_P_TRUE, 0}, sd_none_false = {SASS_P_TRUE, EMU_FULL};

uint32_t sd_number(struct decoder *c) {
    struct operand *o = sd_take(c);
    if (o->kind != NUMBER) c->bad = true;
    return (uint32_t)o->value;
}

void sd_set(struct decoder *c, sass_handler *run) { c->x->run = run; }

/* An address in shared memory. */
void sd_shared_address(struct decoder *c) {
    struct operand *o = sd_take(c);
    if (o->kind != MEMORY || o->wide) c->bad = true;
    c->x->shift = (uint8_t)o->shift;
    c->x->s[0].row = sd_row_of(c, REG, o->number, 1, 1);
    c->x->uniform_row = sd_row_of(c, UREG, o->uniform, 1, 1);
    sd_reads(c, REG, o->number, 0, 1);
    sd_reads(c, UREG, o->uniform, 0, 1);
    c->x->offset = (int32_t)o->value;
}

/* desc[UR][R.64+n], of sm_89 [R.64+n]; or generic: [R+n] with a pair */
int32_t sd_global_address(struct decoder *c, int slot, enum kind kind) {
    struct operand *o = sd_take(c);
    if (c->code->sm == 89) {
        if (kind == DESC && !o->wide) c->bad = true;
        kind = MEMORY;
    }
    if (o->shift) c->bad = true;
    if (o->kind != kind || o->uniform != SASS_URZ || !o->reg_in_brackets) c->bad = true;
    c->x->s[slot].row = sd_row_of(c, REG, o->number, 2, 2);
    sd_reads(c, REG, o->number, slot, 2);
    return (int32_t)o->value;
}

int sd_width(struct decoder *c) {
    return sd_mod(c, "128")   ? 16
           : sd_mod(c, "64")  ? 8
           : sd_mod(c, "U16") ? 2
           : sd_mod(c, "U8")  ? 1
                              : 4;
}
/* Of a load, which may also be of signed numbers (mode). */
int sd_load_width(struct decoder *c) {
    c->x->mode = 1;
    if (sd_mod(c, "S16")) return 2;
    if (sd_mod(c, "S8")) return 1;
    c->x->mode = 0;
    return sd_width(c);
}
void sd_memory(struct decoder *c, enum sass_memory m, int bytes) {
    c->i->memory = (uint8_t)m;
    c->i->bytes = c->x->bytes = (uint8_t)bytes;
}
int sd_words(int bytes) { return bytes < 4 ? 1 : bytes / 4; }
