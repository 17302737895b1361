/* Operands to rows of the row file: as they are written, then as the form wants them. */
#include "parser.h"

#include "emulator/instructions/handlers.h"

#include <stdio.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

enum { MAX_ROW_BYTES = 64 << 20 };

uint32_t ptx_new_row(struct parser *p, uint32_t bytes) {
    struct emu_kernel *k = p->kernel;
    uint32_t row = k->row_bytes;
    if (row + bytes > p->row_capacity) {
        uint32_t capacity = p->row_capacity ? 2 * p->row_capacity : 65536;
        if (capacity > MAX_ROW_BYTES) ptx_fail(p, "the kernel has too many registers");
        unsigned char *more = ptx_alloc(p, capacity);
        if (k->row_init) memcpy(more, k->row_init, k->row_bytes);
        k->row_init = more;
        p->row_capacity = capacity;
    }
    k->row_bytes += bytes;
    if (p->function) ptx_save_row(p, row, bytes == 256 ? 8 : 4);
    return row;
}

/* The launch gives this row its value, or changes it. */
static void draw_row(struct parser *p, uint32_t row, uint8_t bytes, bool is_address) {
    struct emu_kernel *k = p->kernel;
    k->drawn = ptx_grow(p, k->drawn, k->n_drawn, &p->drawn_capacity, sizeof *k->drawn);
    k->drawn[k->n_drawn++] = (struct emu_drawn_row){row, bytes, is_address};
}

/* is_address: from where shared memory begins. */
static uint32_t constant_row(struct parser *p, uint64_t value, bool wide, bool is_address) {
    if (value == 0 && !is_address) return EMU_ZERO;
    for (uint32_t i = 0; i < p->n_constants; i++)
        if (p->constant[i].value == value && p->constant[i].wide == wide &&
            p->constant[i].is_address == is_address)
            return p->constant[i].row;
    uint32_t row = ptx_new_row(p, wide ? 256 : 128);
    for (int l = 0; l < EMU_LANES; l++) {
        if (wide)
            memcpy(p->kernel->row_init + row + 8 * l, &value, 8);
        else
            memcpy(p->kernel->row_init + row + 4 * l, &value, 4);
    }
    p->constant =
        ptx_grow(p, p->constant, p->n_constants, &p->constant_capacity, sizeof *p->constant);
    p->constant[p->n_constants].value = value;
    p->constant[p->n_constants].wide = wide;
    p->constant[p->n_constants].is_address = is_address;
    p->constant[p->n_constants++].row = row;
    if (is_address) draw_row(p, row, wide ? 8 : 4, true);
    return row;
}

/* The row of register `name`; `s` is its declaration, perhaps of a whole range %r<n>. */
uint32_t ptx_register_row(struct parser *p, struct symbol *s, const struct token *name) {
    uint32_t index = 0;
    if (s->n_rows) {
        for (uint32_t i = s->length; i < name->length; i++)
            index = index * 10 + (uint32_t)(name->text[i] - '0');
        if (index >= s->n_rows || name->length > s->length + 9)
            ptx_fail(p, "register %.*s is not declared", (int)name->length, name->text);
    }
    if (!s->rows) ptx_fail(p, "register %.*s is not declared", (int)name->length, name->text);
    if (s->rows[index]) return s->rows[index];
    uint32_t row;
    if (s->bytes) {
        row = ptx_new_row(p, s->bytes == 8 ? 256 : 128);
    } else {
        if (p->pred_used % 128 == 0) {
            p->pred_row = ptx_new_row(p, 128), p->pred_used = 0;
            if (p->function) p->function->saved[p->function->n_saved - 1].bytes = 0;
        }
        row = p->pred_row + p->pred_used;
        p->pred_used += 4;
    }
    draw_row(p, row, s->bytes, false);
    return s->rows[index] = row;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static struct emu_operand *next_operand(struct lowering *l) {
    if (l->n == MAX_OPERANDS) ptx_fail(l->p, "too many operands");
    return &l->op[l->n++];
}

/* ---- Special registers ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum emu_special row;
} specials[] = {
    {"%tid.x", EMU_TID_X},
    {"%tid.y", EMU_TID_Y},
    {"%tid.z", EMU_TID_Z},
    {"%ntid.x", EMU_NTID_X},
    {"%ntid.y", EMU_NTID_Y},
    {"%ntid.z", EMU_NTID_Z},
    {"%ctaid.x", EMU_CTAID_X},
    {"%ctaid.y", EMU_CTAID_Y},
    {"%ctaid.z", EMU_CTAID_Z},
    {"%nctaid.x", EMU_NCTAID_X},
    {"%nctaid.y", EMU_NCTAID_Y},
    {"%nctaid.z", EMU_NCTAID_Z},
    {"%laneid", EMU_LANEID},
    {"%warpid", EMU_WARPID},
    {"%nwarpid", EMU_NWARPID},
    {"%smid", EMU_SMID},
    {"%nsmid", EMU_NSMID},
    {"%gridid", EMU_GRIDID},
    {"%lanemask_eq", EMU_LANEMASK_EQ},
    {"%lanemask_lt", EMU_LANEMASK_LT},
    {"%lanemask_le", EMU_LANEMASK_LE},
    {"%lanemask_gt", EMU_LANEMASK_GT},
    {"%lanemask_ge", EMU_LANEMASK_GE},
    {"%dynamic_smem_size", EMU_DYNAMIC_SMEM},
    {"%total_smem_size", EMU_TOTAL_SMEM},
    {"%cluster_ctaid.x", EMU_CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", EMU_CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", EMU_CLUSTER_CTAID_Z},
    {"%cluster_ctarank", EMU_CLUSTER_CTARANK},
    {"%cluster_nctaid.x", EMU_CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", EMU_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", EMU_CLUSTER_NCTAID_Z},
    {"%cluster_nctarank", EMU_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", EMU_EXPLICIT_CLUSTER},
    {"%clusterid.x", EMU_CLUSTERID_X},
    {"%clusterid.y", EMU_CLUSTERID_Y},
    {"%clusterid.z", EMU_CLUSTERID_Z},
    {"%nclusterid.x", EMU_NCLUSTERID_X},
    {"%nclusterid.y", EMU_NCLUSTERID_Y},
    {"%nclusterid.z", EMU_NCLUSTERID_Z},
    {"%clock", EMU_CLOCK},
    {"%clock64", EMU_CLOCK},
    {"%globaltimer", EMU_CLOCK},
    {"%globaltimer_lo", EMU_CLOCK},
    {"%envreg1", EMU_ENVREG_1},
    {"%envreg2", EMU_ENVREG_2},
};
enum { N_SPECIALS = sizeof specials / sizeof *specials };

static uint32_t special_row(const struct token *t) {
    for (int i = 0; i < N_SPECIALS; i++)
        if (ptx_is(t, specials[i].name)) return EMU_SPECIAL + 128 * (uint32_t)specials[i].row;
    return 0;
}

const char *emu_special_name(int row) {
    for (int i = 0; i < N_SPECIALS; i++)
        if ((int)specials[i].row == row) return specials[i].name;
    return NULL;
}

/* %reserved_smem_offset_...: places in shared memory that belong to the system. Cooperative groups
 * keep their barriers at _1. */
static bool reserved_place(struct parser *p, const struct token *t, uint64_t *out,
                           bool *is_address) {
    static const struct {
        const char *name;
        uint32_t offset;
    } places[] = {{"begin", 0}, {"0", 0}, {"1", RESERVED_SHARED / 2}, {"end", RESERVED_SHARED}};
    if (t->length < 23 || t->length > 27 || strncmp(t->text, "%reserved_smem_offset_", 22))
        return false;
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        char name[40];
        snprintf(name, sizeof name, "%%reserved_smem_offset_%s", places[n].name);
        if (!ptx_is(t, name)) continue;
        if (p->reserved_at == UINT32_MAX) ptx_fail(p, "%s in a function", name);
        *out = p->reserved_at + places[n].offset;
        *is_address = true;
        return true;
    }
    *out = RESERVED_SHARED;
    *is_address = false;
    return ptx_is(t, "%reserved_smem_offset_cap");
}

/* ---- Operands as written --------------------------------------------------------------------- */

/* An address in a function's frame is another one in each call. */
static void frame_operand(struct lowering *l, struct emu_operand *op, uint64_t offset, bool wide) {
    op->kind = EMU_OP_ROW;
    op->wide = wide;
    op->row = ptx_frame_row(l->p, (uint32_t)offset, wide);
}

static uint64_t symbol_value(struct parser *p, const struct symbol *s) {
    return s->is_dynamic ? p->dynamic_offset : s->value;
}

static void place_operand(struct lowering *l, struct emu_operand *op, uint64_t value, bool wide,
                          bool is_address) {
    op->kind = EMU_OP_ROW;
    op->imm = (int64_t)value;
    op->has_imm = true;
    op->wide = wide;
    op->row = constant_row(l->p, wide ? value : (uint32_t)value, wide, is_address);
}

static void constant_operand(struct lowering *l, struct emu_operand *op, uint64_t value,
                             bool wide) {
    place_operand(l, op, value, wide, false);
}

/* A register, number or symbol of `bytes`: 2, 4 or 8. */
static void simple_operand(struct lowering *l, struct emu_operand *op, char role, unsigned bytes) {
    struct parser *p = l->p;
    if (ptx_accept(p, '!')) op->negated = true;
    bool minus = ptx_accept(p, '-');
    struct token *t = ptx_peek(p);
    uint64_t place;
    bool is_address;
    if (t->kind == TOKEN_WORD && reserved_place(p, t, &place, &is_address)) {
        p->at++;
        place_operand(l, op, place, bytes == 8, is_address);
        return;
    }
    if (t->kind == TOKEN_NUMBER) {
        p->at++;
        uint64_t value = minus ? -t->value : t->value;
        if (bytes == 2) value &= 0xffff; /* rows hold 16-bit values zero-extended */
        if (t->float_bytes == 8 && bytes == 4 && role == 's') { /* 1.5 in an .f32 instruction */
            double d;
            memcpy(&d, &t->value, 8);
            float f = (float)(minus ? -d : d);
            value = 0;
            memcpy(&value, &f, 4);
        }
        if (role == 'i' || role == 'p')
            op->kind = EMU_OP_IMM, op->imm = (int64_t)value;
        else
            constant_operand(l, op, value, bytes == 8);
        op->has_imm = true;
        return;
    }
    ptx_word(p);
    struct symbol *s = ptx_find(p, t);
    uint32_t special = s ? 0 : special_row(t);
    if (special) p->kernel->specials |= 1ull << (special - EMU_SPECIAL) / 128;
    if (special == EMU_SPECIAL + 128 * EMU_ENVREG_1) p->kernel->syncs_grid = true;
    if (ptx_is(t, "_") && !s) {
        *op = (struct emu_operand){.kind = EMU_OP_ROW, .row = EMU_SINK, .wide = bytes == 8};
    } else if (special) {
        bool is_predicate = special == EMU_SPECIAL + 128 * EMU_EXPLICIT_CLUSTER;
        *op = (struct emu_operand){.kind = is_predicate ? EMU_OP_PRED : EMU_OP_ROW, .row = special};
    } else if (s && s->kind == SYMBOL_REGISTER) {
        op->kind = s->bytes ? EMU_OP_ROW : EMU_OP_PRED;
        op->wide = s->bytes == 8;
        op->bytes = s->bytes;
        op->row = ptx_register_row(p, s, t);
    } else if (s && s->kind == SYMBOL_VARIABLE) {
        uint64_t value = symbol_value(p, s);
        if (ptx_accept(p, '+')) value += ptx_integer(p);
        if (s->in_frame)
            frame_operand(l, op, value, bytes == 8);
        else
            place_operand(l, op, value, bytes == 8, s->space == EMU_SHARED);
        op->array = s->array;
    } else if (s && s->kind == SYMBOL_FUNCTION) {
        if (s->body) ptx_called(p, s); /* whoever has the address may call it */
        constant_operand(l, op, s->value, bytes == 8);
    } else if (ptx_is(t, "WARP_SZ")) {
        constant_operand(l, op, EMU_LANES, bytes == 8);
    } else {
        ptx_fail(p, "%.*s is not declared", (int)(t->length < 60 ? t->length : 60), t->text);
    }
}

enum { LONGEST_VECTOR = 8 }; /* .v8 */

/* {a, b, ...}, or a alone: registers of one width. */
static void group_operand(struct lowering *l, struct emu_operand *op, char role, unsigned bytes) {
    uint32_t rows[256], n = 0;
    struct emu_operand first = {.row = EMU_SINK};
    bool braced = ptx_accept(l->p, '{');
    do {
        struct emu_operand one = {0};
        if (n == 256) ptx_fail(l->p, "the group is too long");
        simple_operand(l, &one, role, bytes);
        if (one.kind != EMU_OP_ROW || (braced && role == 'd' && one.has_imm))
            ptx_fail(l->p, "a predicate or number in a group");
        if (first.row == EMU_SINK) first = one;
        if (one.row != EMU_SINK && one.wide != first.wide)
            ptx_fail(l->p, "registers of different widths in a group");
        rows[n++] = one.row;
    } while (braced && ptx_accept(l->p, ','));
    if (braced) ptx_expect(l->p, '}');
    *op = (struct emu_operand){.kind = EMU_OP_GROUP,
                               .n = (uint16_t)n,
                               .row = rows[0],
                               .wide = first.wide,
                               .bytes = first.bytes};
    /* Up to the longest vector the sink follows: a handler that takes more registers than there are
     * reaches nothing else. */
    while (n < LONGEST_VECTOR) rows[n++] = EMU_SINK;
    uint32_t *kept = ptx_alloc(l->p, n * sizeof *kept);
    memcpy(kept, rows, n * sizeof *kept);
    op->rows = kept;
}

/* [reg], [reg+imm], [symbol+imm], [imm]; with_group: [reg, {x, y}] gives a second operand. */
static void address_operand(struct lowering *l, struct emu_operand *op, bool with_group) {
    struct parser *p = l->p;
    ptx_expect(p, '[');
    *op = (struct emu_operand){.kind = EMU_OP_ADDRESS, .row = EMU_ZERO, .wide = true};
    struct token *t = ptx_peek(p);
    if (t->kind == TOKEN_WORD) {
        p->at++;
        struct symbol *s = ptx_find(p, t);
        if (s && s->kind == SYMBOL_REGISTER && s->bytes >= 4) {
            op->row = ptx_register_row(p, s, t);
            op->wide = s->bytes == 8;
        } else if (s && s->kind == SYMBOL_VARIABLE) {
            op->imm = (int64_t)symbol_value(p, s);
            op->array = s->array;
            if (s->is_call_param) l->inst->space = EMU_LOCAL;
            if (s->in_frame) op->row = ptx_frame_row(p, 0, true);
            if (s->space == EMU_SHARED)
                op->row = EMU_SPECIAL + 128 * EMU_SHARED_BEGIN, op->wide = false;
        } else {
            ptx_fail(p, "%.*s is no address", (int)(t->length < 60 ? t->length : 60), t->text);
        }
        if (ptx_accept(p, '+') || ptx_peek(p)->punct == '-') /* modulo 2^64, as addresses are */
            op->imm = (int64_t)((uint64_t)op->imm + ptx_integer(p));
    } else {
        op->imm = (int64_t)ptx_integer(p);
    }
    if (with_group) {
        ptx_expect(p, ',');
        group_operand(l, next_operand(l), 's', 4);
    }
    ptx_expect(p, ']');
}

static void label_operand(struct lowering *l, struct emu_operand *op) {
    struct token *t = ptx_word(l->p);
    op->kind = EMU_OP_LABEL;
    l->label[op - l->op] = *t;
    l->is_label[op - l->op] = true;
}

/* brx.idx takes the label of a .branchtargets list: one operand for each target. */
static void target_list(struct lowering *l) {
    struct token *t = ptx_word(l->p);
    struct symbol *s = ptx_find(l->p, t);
    if (!s || s->kind != SYMBOL_LABEL || !s->n_targets)
        ptx_fail(l->p, "%.*s is no list of branch targets", (int)t->length, t->text);
    for (uint32_t i = 0; i < s->n_targets; i++) {
        struct emu_operand *op = next_operand(l);
        op->kind = EMU_OP_LABEL;
        l->label[op - l->op] = s->target_names[i];
        l->is_label[op - l->op] = true;
    }
}

static struct emu_operand call_place(struct parser *p, const char *what) {
    struct symbol *s = ptx_find(p, ptx_word(p));
    if (!s || !s->is_call_param) ptx_fail(p, "%s of the call is no .param", what);
    return (struct emu_operand){.kind = EMU_OP_IMM, .imm = (int64_t)s->value};
}

/* What a GPU's system has, and the emulator has not. */
static const char *not_here(const struct token *name) {
    static const char launch[] = "cudaLaunchDevice", buffer[] = "cudaGetParameterBuffer";
    if ((name->length >= sizeof launch - 1 && !memcmp(name->text, launch, sizeof launch - 1)) ||
        (name->length >= sizeof buffer - 1 && !memcmp(name->text, buffer, sizeof buffer - 1)))
        return "kernels launch no kernels on the emulator";
    return "this file does not define it";
}

/* The called function: one of the system's, enum emu_system; else a function or a register. */
static void callee(struct lowering *l, struct emu_operand *op) {
    struct parser *p = l->p;
    struct token *name = ptx_peek(p);
    struct symbol *s = ptx_find(p, name);
    *op = (struct emu_operand){.kind = EMU_OP_IMM};
    static const char *const systems[] = {"vprintf", "__assertfail", "malloc", "free"};
    for (int n = 0; n < 4 && !(s && s->body); n++) {
        if (!ptx_is(name, systems[n])) continue;
        op->imm = n;
        if (n == EMU_SYSTEM_PRINT) p->kernel->prints = true;
        if (n == EMU_SYSTEM_MALLOC || n == EMU_SYSTEM_FREE) p->kernel->allocates = true;
        p->at++;
        return;
    }
    l->inst->run = emu_enter;
    if (s && s->kind == SYMBOL_FUNCTION) {
        p->at++;
        if (!s->body)
            ptx_fail(p, "%.*s is called, but %s", (int)(name->length < 80 ? name->length : 80),
                     name->text, not_here(name));
        op->imm = ptx_called(p, s);
        return;
    }
    simple_operand(l, op, 's', 8);
    if (op->kind != EMU_OP_ROW || !op->wide || op->has_imm)
        ptx_fail(p, "%.*s is called, but is no function",
                 (int)(name->length < 80 ? name->length : 80), name->text);
    p->calls_by_address = true;
}

/* call (ret), name, (args), prototype: the function, then offsets in the frame of what it returns
 * and takes. */
static void call_operands(struct lowering *l) {
    struct parser *p = l->p;
    struct emu_operand result = {.kind = EMU_OP_IMM, .imm = -1};
    if (ptx_accept(p, '(')) {
        result = call_place(p, "the result");
        ptx_expect(p, ')');
        ptx_expect(p, ',');
    }
    callee(l, next_operand(l));
    *next_operand(l) = result;
    if (!ptx_accept(p, ',')) return;
    if (ptx_accept(p, '(')) {
        while (!ptx_accept(p, ')')) {
            *next_operand(l) = call_place(p, "an argument");
            ptx_accept(p, ',');
        }
        if (!ptx_accept(p, ',')) return;
    }
    ptx_word(p); /* the prototype, or the list of targets */
}

/* ---- Operands as the form wants them --------------------------------------------------------- */

static unsigned width_bytes(const struct emu_inst *i, char width) {
    unsigned last = i->n_types ? emu_type_bytes(i->type[i->n_types - 1]) : 4;
    if (width == '8') return 8;
    return width == 't' && (last == 8 || last == 2) ? last : 4;
}

static void check_width(struct lowering *l, const struct emu_operand *op, char width) {
    if (op->kind == EMU_OP_GROUP || op->row == EMU_SINK || op->row == EMU_ZERO) return;
    bool is_pred = op->kind == EMU_OP_PRED;
    if (width == 'p' && !is_pred && op->kind != EMU_OP_IMM)
        ptx_fail(l->p, "operand %d of %s must be a predicate", l->n, l->inst->opcode);
    if (width == 'p' || width == 'x') return;
    if (is_pred) ptx_fail(l->p, "operand %d of %s is a predicate", l->n, l->inst->opcode);
    bool is_clock = op->row == EMU_SPECIAL + 128 * EMU_CLOCK;
    if (op->kind == EMU_OP_ROW && !is_clock && op->wide != (width_bytes(l->inst, width) == 8))
        ptx_fail(l->p, "operand %d of %s has the wrong width", l->n, l->inst->opcode);
}

static void one_operand(struct lowering *l, const char *token) {
    char role = token[0], width = token[1];
    unsigned bytes = role == 'a' || role == 'l' ? 8 : width_bytes(l->inst, width);
    struct emu_operand *op = next_operand(l);
    switch (role) {
    case 'a':
        address_operand(l, op, false);
        return;
    case 'c':
        address_operand(l, op, true);
        return;
    case 'l':
        label_operand(l, op);
        return;
    case 'L':
        l->n--;
        target_list(l);
        return;
    case 'C':
        l->n--;
        call_operands(l);
        return;
    case 'D':
    case 'S':
        group_operand(l, op, role == 'D' ? 'd' : 's', bytes);
        return;
    case 'm':
    case 'M': /* mov: {groups} or one register */
        if (ptx_peek(l->p)->punct == '{')
            group_operand(l, op, 's', 4);
        else
            simple_operand(l, op, 's', bytes), op->n = 1;
        return;
    case 'i':
        simple_operand(l, op, 'i', bytes);
        if (op->kind == EMU_OP_ROW && op->has_imm) op->kind = EMU_OP_IMM; /* a symbol's address */
        if (op->kind != EMU_OP_IMM)
            ptx_fail(l->p, "operand %d of %s must be a number", l->n, l->inst->opcode);
        return;
    default:
        break;
    }
    simple_operand(l, op, width == 'p' ? 'p' : role, bytes);
    check_width(l, op, width);
    if (token[2] != '|') return;
    op = next_operand(l);
    *op = (struct emu_operand){.kind = EMU_OP_PRED, .row = EMU_SINK};
    if (ptx_accept(l->p, '|')) {
        simple_operand(l, op, 'd', 4);
        if (op->row != EMU_SINK) check_width(l, op, 'p');
        op->kind = EMU_OP_PRED;
    }
}

/* Destinations are registers, or `_`. */
static void written(struct lowering *l, struct emu_operand *op) {
    op->written = true;
    for (int k = 0; k < (op->kind == EMU_OP_GROUP ? op->n : 1); k++) {
        uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[k] : op->row;
        if ((row < EMU_FIRST_ROW && row != EMU_SINK) || op->has_imm)
            ptx_fail(l->p, "%s writes to what is no register", l->inst->opcode);
    }
}

/* Operands are separated by commas in the text, by blanks in the form. */
void ptx_operands(struct lowering *l, const char *signature) {
    bool optional = false, first = true;
    for (const char *at = signature; *at;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (*at == '?') optional = true, at++;
        bool at_end = ptx_peek(l->p)->punct == ';';
        if (optional && at_end) return;
        if (!first) ptx_expect(l->p, ',');
        first = false;
        int n = l->n;
        one_operand(l, at);
        for (; *at == 'd' || *at == 'D' || *at == 'M' ? n < l->n : false; n++)
            written(l, &l->op[n]);
        while (*at && *at != ' ') at++;
    }
}
