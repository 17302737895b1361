/* One instruction: opcode -> form -> operands (resolve.c) -> handler. */
#include "parser.h"

#include "emulator/instructions/handlers.h"

#include <string.h>

/* ---- Instructions ---------------------------------------------------------------------------- */

static void opcode_parts(struct emu_inst *i) {
    static const struct {
        const char *name;
        enum emu_space space;
    } spaces[] = {{"global", EMU_GLOBAL},      {"shared", EMU_SHARED},
                  {"shared::cta", EMU_SHARED}, {"shared::cluster", EMU_CLUSTER},
                  {"local", EMU_LOCAL},        {"param", EMU_PARAM},
                  {"param::entry", EMU_PARAM}, {"const", EMU_CONST}};
    i->vec = 1;
    for (const char *at = strchr(i->opcode, '.'); at; at = strchr(at, '.')) {
        size_t n = strcspn(++at, ".");
        enum emu_type t = emu_type_named(at, n);
        if (t != EMU_NONE && i->n_types < 4) i->type[i->n_types++] = (uint8_t)t;
        if (n == 2 && at[0] == 'v' && strchr("248", at[1])) i->vec = (uint8_t)(at[1] - '0');
        for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
            if (strlen(spaces[s].name) == n && !memcmp(at, spaces[s].name, n) && !i->space)
                i->space = spaces[s].space;
    }
}

/* Adds label operands to the uses of this scope: they are known at its end. */
static void keep_operands(struct lowering *l) {
    struct parser *p = l->p;
    struct emu_inst *i = l->inst;
    size_t bytes = (size_t)(l->n ? l->n : 1) * sizeof(struct emu_operand);
    struct emu_operand *kept = ptx_alloc(p, bytes);
    memcpy(kept, l->op, (size_t)l->n * sizeof *kept);
    for (int o = 0; o < l->n; o++) {
        if (o < 5) i->row[o] = kept[o].row;
        if (!l->is_label[o]) continue;
        struct label_use *use = ptx_alloc(p, sizeof *use);
        *use = (struct label_use){p->scope->uses, l->label[o], &kept[o].imm};
        p->scope->uses = use;
    }
    for (int o = l->n - 1; o >= 0; o--)
        if (kept[o].kind == EMU_OP_ADDRESS) i->offset = (int32_t)kept[o].imm;
    i->op = kept;
    i->n_ops = (uint8_t)l->n;
}

void ptx_instruction(struct parser *p, uint32_t guard, bool negated) {
    struct emu_kernel *k = p->kernel;
    uint32_t n = (uint32_t)k->n_inst;
    if (n > 1u << 20) ptx_fail(p, "the kernel is too long");
    uint32_t origins = p->inst_capacity;
    k->origin = ptx_grow(p, k->origin, n, &origins, sizeof *k->origin);
    k->inst = ptx_grow(p, k->inst, n, &p->inst_capacity, sizeof *k->inst);
    struct token *t = ptx_word(p);
    struct lowering l = {.p = p, .inst = &k->inst[n]};
    struct emu_inst *i = l.inst;
    *i =
        (struct emu_inst){.guard = guard, .guard_xor = negated ? EMU_FULL : 0, .pc = n, .units = 1};
    i->opcode = ptx_string(p, t);
    k->origin[n] = (struct emu_origin){.ptx_line = t->line, .n_frames = p->n_frames};
    memcpy(k->origin[n].frame, p->frame, sizeof p->frame);
    i->form = ptx_form(p, &i->opcode);
    if (!i->form) {
        p->at--;
        ptx_unknown(p, i->opcode);
    }
    i->class = i->form->class;
    opcode_parts(i);
    ptx_operands(&l, i->form->operands);
    if (ptx_peek(p)->punct != ';') ptx_fail(p, "operands of %.80s are not understood", i->opcode);
    k->origin[n].text = t->text;
    k->origin[n].text_length = (uint32_t)(ptx_peek(p)->text - t->text);
    p->at++;
    keep_operands(&l);
    const char *why = "this combination of modifiers is not supported";
    if (i->run) { /* a call chose it */
    } else if (p->function && !strncmp(i->opcode, "ret", 3)) {
        i->run = emu_return;
    } else {
        i->run = i->form->handler ? i->form->handler : i->form->selector(i, &why);
    }
    if (!i->run) {
        p->at--;
        ptx_fail(p, "%.80s: %s", i->opcode, why);
    }
    k->n_inst++;
}

/* Falling off the end of the body is a return. */
void ptx_finish_kernel(struct parser *p) {
    static const char text[] = "ret;";
    struct token *tokens = p->token;
    uint32_t at = p->at, n = p->n_tokens;
    struct token ret[3] = {{.kind = TOKEN_WORD, .length = 3, .text = text},
                           {.kind = TOKEN_PUNCT, .punct = ';', .length = 1, .text = text + 3},
                           {.kind = TOKEN_END}};
    ret[0].line = tokens[at ? at - 1 : 0].line;
    p->token = ret;
    p->at = 0;
    p->n_tokens = 3;
    ptx_instruction(p, EMU_TRUE, false);
    p->token = tokens;
    p->at = at;
    p->n_tokens = n;
}
