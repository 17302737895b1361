/* From nvdisasm's text and the 128 bits of an instruction to a struct sass_exec.
 *
 * Every mnemonic has a function that takes its operands from left to right and the modifiers that it
 * knows. If an operand or a modifier is left over, the instruction is not understood: a warp that
 * reaches it stops, and nothing is guessed. Floating-point immediates come from the bits (32-63), where they are exact;
 * everything else is in the text. */
#include "decoder.h"

#include "common/base/reason.h"

#include <stdlib.h>
#include <string.h>

static void (*decoder_of(int op))(struct decoder *c) {
    static const struct sd_mnemonic *const tables[] = {sd_int, sd_float, sd_convert, sd_memory_ops,
                                                       sd_flow};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct sd_mnemonic *m = tables[t]; m->decode; m++)
            if ((int)m->op == op) return m->decode;
    return NULL;
}

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
    if (c->text->guard[0] != '@' || !sd_parse_operand(c->text->guard + 1, &o) ||
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

static const char *decode_operation(struct decoder *c) {
    int op = 0;
    while (op < SASS_N_OPS && strcmp(names[op], c->name)) op++;
    void (*decode)(struct decoder *) = decoder_of(op);
    if (!decode) return "there is no such instruction in ops.h";
    c->i->op = (uint8_t)op;
    c->i->pipe = pipes[op];
    c->x->uniform = c->i->pipe == SASS_PIPE_UNIFORM || c->i->pipe == SASS_PIPE_TMA;
    decode(c);
    for (int m = 0; m < c->n_modifiers; m++)
        if (!c->used[m]) return reason("modifier .%s is not known", c->modifier[m]);
    if (c->bad || c->next != c->n || !c->x->run)
        return "its operands have a form that is not known";
    return NULL;
}

static void open_decoder(struct decoder *c) {
    struct sass_exec *exec = c->x;
    *c->i = (struct sass_inst){.pc = c->pc, .exec = c->pc / 16};
    *exec = (struct sass_exec){.inst = c->i,
                               .pd = SASS_P_SINK,
                               .pe = SASS_P_SINK,
                               .d = SASS_ROW_SINK,
                               .uniform_row = SASS_ROW_ZERO};
    for (int s = 0; s < 3; s++) {
        exec->s[s] = (struct sass_source){.row = SASS_ROW_ZERO, .keep = EMU_FULL};
        exec->pin[s] = sd_none_true;
    }
    control_bits(c->i, c->high);
}

const char *sass_decode(struct sass_code *code, const struct sass_text *text,
                        const uint64_t word[2], uint32_t pc, const struct sass_symbol *symbols,
                        int n_symbols, struct sass_inst *inst, struct sass_exec *exec) {
    const struct decoder start = {.code = code,
                                  .text = text,
                                  .low = word[0],
                                  .high = word[1],
                                  .pc = pc,
                                  .symbols = symbols,
                                  .n_symbols = n_symbols,
                                  .i = inst,
                                  .x = exec};
    struct decoder c = start;
    open_decoder(&c);
    const char *why = sd_split(&c);
    if (!why) why = guard(&c);
    if (!why) why = decode_operation(&c);
    if (!why) return NULL;
    free(exec->more);
    c = start;
    open_decoder(&c); /* only its guard matters */
    if (sd_split(&c) || guard(&c)) open_decoder(&c);
    exec->run = sass_unknown;
    return why;
}
