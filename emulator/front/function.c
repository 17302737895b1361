/* Functions that were not inlined. Their text is read once for every kernel that may call them, as
 * if it stood behind the kernel's: so a register is a row of the kernel's row file, and a call is a
 * jump (instructions/function.c). */
#include "parser.h"

#include <string.h>

enum { STACK_BYTES = 32 << 10 }; /* of a lane, where functions call themselves */

struct call_edge { /* caller and callee, by number */
    struct call_edge *next;
    uint32_t from, to;
};

/* ---- .func (result) NAME (parameters) { body } ----------------------------------------------- */

static void skip_parentheses(struct parser *p) {
    if (!ptx_accept(p, '(')) return;
    while (!ptx_accept(p, ')')) {
        if (ptx_peek(p)->kind == TOKEN_END) ptx_fail(p, "')' is missing");
        p->at++;
    }
}

void ptx_function(struct parser *p) {
    uint32_t start = p->at;
    skip_parentheses(p);
    struct token *name = ptx_word(p);
    struct symbol *s = ptx_find(p, name);
    if (!s || s->kind != SYMBOL_FUNCTION) {
        s = ptx_declare(p, name, SYMBOL_FUNCTION);
        s->value = EMU_CODE_WINDOW + 16 * (uint64_t)++p->n_functions;
    }
    skip_parentheses(p);
    while (ptx_peek(p)->punct != '{' && ptx_peek(p)->punct != ';') {
        if (ptx_peek(p)->kind == TOKEN_END) ptx_fail(p, "a function does not end");
        p->at++; /* .noreturn and its like */
    }
    if (ptx_accept(p, ';')) return;
    ptx_skip_braces(p);
    s->body = start;
}

/* ---- For one kernel -------------------------------------------------------------------------- */

uint32_t ptx_called(struct parser *p, struct symbol *s) {
    struct emu_kernel *k = p->kernel;
    uint32_t n = 0, from = p->function ? (uint32_t)(p->function - k->function) : UINT32_MAX;
    while (n < k->n_functions && p->called[n] != s) n++;
    if (n == k->n_functions) {
        p->called = ptx_grow(p, p->called, n, &p->called_capacity, sizeof *p->called);
        k->function = ptx_grow(p, k->function, n, &p->function_capacity, sizeof *k->function);
        if (p->function) p->function = &k->function[from];
        p->called[k->n_functions++] = s;
        char *name = ptx_alloc(p, s->length + 1u);
        memcpy(name, s->name, s->length);
        k->function[n] = (struct emu_function){.name = name, .address = s->value};
    }
    struct call_edge *e = ptx_alloc(p, sizeof *e);
    *e = (struct call_edge){p->edges, from, n};
    p->edges = e;
    return n;
}

/* A row that holds the address of `offset` in the frame. */
uint32_t ptx_frame_row(struct parser *p, uint32_t offset, bool wide) {
    struct emu_function *f = p->function;
    for (uint32_t n = 0; n < f->n_frame_rows; n++)
        if (f->frame_row[n].offset == offset && f->frame_row[n].wide == wide)
            return f->frame_row[n].row;
    uint32_t n = f->n_frame_rows, row = ptx_new_row(p, wide ? 256 : 128);
    f->frame_row = ptx_grow(p, f->frame_row, n, &p->frame_capacity, sizeof *f->frame_row);
    f->frame_row[f->n_frame_rows++] = (struct emu_frame_row){row, offset, wide};
    return row;
}

void ptx_save_row(struct parser *p, uint32_t row, uint8_t bytes) {
    struct emu_function *f = p->function;
    f->saved = ptx_grow(p, f->saved, f->n_saved, &p->saved_capacity, sizeof *f->saved);
    f->saved[f->n_saved++] = (struct emu_saved){row, bytes};
}

static void formals(struct parser *p, uint32_t *capacity, uint32_t *capacity2) {
    struct emu_function *f = p->function;
    if (!ptx_accept(p, '(')) return;
    while (!ptx_accept(p, ')')) {
        struct symbol *s = ptx_parameter(p, &f->frame_bytes);
        s->space = EMU_LOCAL;
        s->is_call_param = s->in_frame = true;
        uint32_t n = f->n_params++;
        f->param_offset = ptx_grow(p, f->param_offset, n, capacity, sizeof(uint32_t));
        f->param_bytes = ptx_grow(p, f->param_bytes, n, capacity2, sizeof(uint32_t));
        f->param_offset[n] = (uint32_t)s->value;
        f->param_bytes[n] = (uint32_t)s->size;
        ptx_accept(p, ',');
    }
}

static void read_function(struct parser *p, uint32_t number) {
    uint32_t capacity = 0, capacity2 = 0;
    struct symbol *s = p->called[number];
    struct emu_function *f = p->function = &p->kernel->function[number];
    if (!s->body)
        ptx_fail(p, "%.80s is called, but this file does not define it (compile without -rdc)",
                 f->name);
    p->saved_capacity = p->frame_capacity = 0;
    p->pred_used = 0; /* predicates of its own */
    p->at = s->body;
    f->pc = (uint32_t)p->kernel->n_inst;
    ptx_push_scope(p);
    formals(p, &capacity, &capacity2);
    f->has_result = f->n_params > 0;
    ptx_word(p);
    formals(p, &capacity, &capacity2);
    while (!ptx_accept(p, '{')) p->at++;
    p->depth = 1;
    ptx_body(p);
    ptx_finish_kernel(p); /* the function: a return */
    ptx_pop_scope(p);
    p->function->frame_bytes = (p->function->frame_bytes + 15u) & ~15u;
    p->function = NULL;
}

/* Does a chain of calls lead from one function to the other? */
static bool reaches(const struct parser *p, uint32_t from, uint32_t to, bool *seen) {
    for (const struct call_edge *e = p->edges; e; e = e->next) {
        if (e->from != from || seen[e->to]) continue;
        seen[e->to] = true;
        if (e->to == to || reaches(p, e->to, to, seen)) return true;
    }
    return false;
}

/* A call by address may reach every function whose address is in a table. */
static bool add_taken(struct parser *p) {
    uint32_t before = p->kernel->n_functions;
    for (struct symbol *s = p->calls_by_address ? p->taken : NULL; s; s = s->next_taken)
        if (s->body) ptx_called(p, s);
    return p->kernel->n_functions > before;
}

void ptx_read_called(struct parser *p) {
    struct emu_kernel *k = p->kernel;
    for (uint32_t n = 0; n < k->n_functions || add_taken(p); n++) read_function(p, n);
    k->stack_at = (k->local_bytes + 15u) & ~15u;
    uint32_t stack = 0;
    bool recursive = false;
    for (uint32_t n = 0; n < k->n_functions; n++) {
        bool *seen = ptx_alloc(p, k->n_functions);
        k->function[n].recursive = p->calls_by_address || reaches(p, n, n, seen);
        stack += k->function[n].frame_bytes;
        recursive |= k->function[n].recursive;
    }
    if (recursive) stack += STACK_BYTES;
    if (k->n_functions) k->local_bytes = k->stack_at + stack;
}
