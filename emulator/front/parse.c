/* Statements: directives, kernels and their bodies, labels, source locations. */
#include "parser.h"

#include "common/base/plain.h"
#include "emulator/instructions/tensor/wgmma.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Source locations ------------------------------------------------------------------------ */

static bool same_place(struct location a, struct location b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

static struct location three_numbers(struct parser *p) {
    struct location l;
    l.file = (uint32_t)ptx_integer(p);
    l.line = (uint32_t)ptx_integer(p);
    l.column = (uint32_t)ptx_integer(p);
    return l;
}

/* The outermost frame is always kept. */
static void add_frame(struct parser *p, struct location l) {
    if (p->n_frames == EMU_FRAMES) p->n_frames--;
    p->frame[p->n_frames++] = (struct emu_frame){.line = (int)l.line, .file_index = l.file};
}

/* .loc 2 549 1, function_name NAME, inlined_at 1 77 5: the place around 2 549 1 is 1 77 5, which
 * may itself have been inlined: earlier .loc lines said where. */
static void location(struct parser *p, int line) {
    p->here = three_numbers(p);
    struct location around = p->here;
    bool inlined = false;
    while (ptx_accept(p, ',')) {
        struct token *t = ptx_word(p);
        if (ptx_is(t, "inlined_at")) {
            around = three_numbers(p);
            inlined = true;
        } else { /* function_name LABEL [+ n] */
            ptx_word(p);
            if (ptx_accept(p, '+')) ptx_integer(p);
        }
    }
    while (ptx_peek(p)->kind != TOKEN_END && ptx_peek(p)->line == line) p->at++;
    p->n_frames = 0;
    add_frame(p, p->here);
    if (!inlined) return;
    uint32_t i = 0;
    while (i < p->n_inlined && !same_place(p->inlined[i].inner, p->here)) i++;
    if (i == p->n_inlined) {
        p->inlined =
            ptx_grow(p, p->inlined, p->n_inlined, &p->inlined_capacity, sizeof *p->inlined);
        p->n_inlined++;
    }
    p->inlined[i] = (struct inlined){p->here, around};
    for (int depth = 0; depth < 2 * EMU_FRAMES; depth++) {
        add_frame(p, around);
        for (i = 0; i < p->n_inlined && !same_place(p->inlined[i].inner, around); i++) {
        }
        if (i == p->n_inlined) break;
        around = p->inlined[i].outer;
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

void ptx_skip_braces(struct parser *p) {
    int depth = 0;
    do {
        if (ptx_peek(p)->kind == TOKEN_END) ptx_fail(p, "a closing brace is missing");
        if (ptx_accept(p, '{'))
            depth++;
        else if (ptx_accept(p, '}'))
            depth--;
        else
            p->at++;
    } while (depth > 0);
}

static void skip_to(struct parser *p, char punct) {
    while (!ptx_accept(p, punct)) {
        if (ptx_peek(p)->kind == TOKEN_END) ptx_fail(p, "'%c' is missing", punct);
        p->at++;
    }
}

/* Shared arrays of the module lie in all kernels at the same place, and in those that name them take it up; a kernel
 * that calls functions may use any. */
static void claim_shared(struct parser *p, const struct token *t) {
    uint32_t *top = &p->kernel->static_shared;
    if (t->kind != TOKEN_WORD || !p->module_shared) return;
    const struct symbol *s = ptx_find(p, t);
    uint32_t end = !strncmp(t->text, "call", 4) ? p->module_shared
                   : s && s->space == EMU_SHARED && s->kind == SYMBOL_VARIABLE
                       ? (uint32_t)(s->value + s->size)
                       : 0;
    if (end > *top && !(s && s->is_dynamic)) *top = end;
}

/* Shared arrays first, wherever in the body: dynamic shared memory starts behind them. */
static void declare_shared(struct parser *p) {
    uint32_t start = p->at;
    bool reserved = false;
    p->kernel->static_shared = 0;
    p->kernel->shared_align = p->module_align;
    for (int depth = 1; p->module_shared && depth > 0 && ptx_peek(p)->kind != TOKEN_END; p->at++) {
        const struct token *t = ptx_peek(p);
        depth += (t->punct == '{') - (t->punct == '}');
        claim_shared(p, t);
    }
    p->at = start;
    for (int depth = 1; depth > 0 && ptx_peek(p)->kind != TOKEN_END;) {
        if (ptx_is(ptx_peek(p), ".shared")) {
            ptx_declaration(p);
        } else {
            const struct token *t = ptx_peek(p);
            if (t->punct == '{') depth++;
            if (t->punct == '}') depth--;
            reserved |=
                t->kind == TOKEN_WORD && t->length > 15 && !strncmp(t->text, "%reserved_smem_", 15);
            p->at++;
        }
    }
    p->at = start;
    p->reserved_at = UINT32_MAX;
    if (reserved) { /* on a GPU it lies before all arrays */
        p->reserved_at = (p->kernel->static_shared + 127u) & ~127u;
        p->kernel->static_shared = p->reserved_at + RESERVED_SHARED;
    }
    uint32_t align = p->dynamic_align ? p->dynamic_align : 16;
    p->dynamic_offset = (p->kernel->static_shared + align - 1) & ~(align - 1);
    p->kernel->dynamic_offset = p->dynamic_offset;
}

static void label(struct parser *p, struct token *name) {
    struct symbol *s = ptx_declare(p, name, SYMBOL_LABEL);
    s->pc = (uint32_t)p->kernel->n_inst;
    if (ptx_is(ptx_peek(p), ".callprototype") || ptx_is(ptx_peek(p), ".calltargets"))
        skip_to(p, ';');
    if (!ptx_is(ptx_peek(p), ".branchtargets")) return;
    p->at++;
    uint32_t first = p->at;
    do {
        ptx_word(p);
        s->n_targets++;
    } while (ptx_accept(p, ','));
    s->target_names = ptx_alloc(p, s->n_targets * sizeof *s->target_names);
    for (uint32_t i = 0; i < s->n_targets; i++) s->target_names[i] = p->token[first + 2 * i];
    ptx_expect(p, ';');
}

static void guarded(struct parser *p) {
    bool negated = ptx_accept(p, '!');
    struct token *name = ptx_word(p);
    struct symbol *s = ptx_find(p, name);
    if (!s || s->kind != SYMBOL_REGISTER || s->bytes) {
        p->at--;
        ptx_fail(p, "the guard %.*s is no predicate", (int)name->length, name->text);
    }
    ptx_instruction(p, ptx_register_row(p, s, name), negated);
}

static void statement(struct parser *p) {
    struct token *t = ptx_peek(p);
    if (ptx_accept(p, '{')) {
        ptx_push_scope(p);
        p->depth++;
    } else if (ptx_accept(p, '}')) {
        if (--p->depth > 0) ptx_pop_scope(p);
    } else if (ptx_accept(p, '@')) {
        guarded(p);
    } else if (ptx_accept(p, ';')) {
        return;
    } else if (ptx_is(t, ".shared")) {
        skip_to(p, ';');
    } else if (ptx_is(t, ".loc")) {
        p->at++;
        location(p, t->line);
    } else if (ptx_is(t, ".pragma")) {
        skip_to(p, ';');
    } else if (ptx_declaration(p)) {
        return;
    } else if (t->kind == TOKEN_WORD && p->token[p->at + 1].kind == TOKEN_PUNCT &&
               p->token[p->at + 1].punct == ':') {
        p->at += 2;
        label(p, t);
    } else if (t->kind == TOKEN_WORD && t->text[0] != '.') {
        ptx_instruction(p, EMU_TRUE, false);
    } else {
        ptx_fail(p, "'%.*s' is not understood", (int)(t->length < 40 ? t->length : 40), t->text);
    }
}

/* Behind what failed: the next statement. */
static void skip_statement(struct parser *p) {
    while (ptx_peek(p)->kind != TOKEN_END) {
        char c = ptx_peek(p)->punct;
        if (c == '}' && !strchr(",;]|", p->token[p->at + 1].punct)) return; /* of no group */
        p->at++;
        if (c == ';') return;
    }
}

void ptx_body(struct parser *p) {
    while (p->depth > 0 && ptx_peek(p)->kind != TOKEN_END) statement(p);
}

/* .maxntid 128, 1, 1 and its like, up to the body. */
static void kernel_limits(struct parser *p) {
    struct emu_kernel *k = p->kernel;
    while (!ptx_accept(p, '{')) {
        struct token *t = ptx_word(p);
        uint64_t product = 1, number[3] = {1, 1, 1};
        for (int i = 0; i < 3 && ptx_peek(p)->kind == TOKEN_NUMBER; i++) {
            product *= number[i] = ptx_integer(p);
            if (!ptx_accept(p, ',')) break;
        }
        if (ptx_is(t, ".maxntid") || ptx_is(t, ".reqntid")) k->max_threads = (int)product;
        if (ptx_is(t, ".maxnreg")) k->max_registers = (int)number[0];
        if (ptx_is(t, ".minnctapersm")) k->min_blocks = (int)number[0];
        for (int d = 0; d < 3 && ptx_is(t, ".reqnctapercluster"); d++)
            k->cluster[d] = (uint32_t)number[d];
    }
}

static void fixed_rows(struct parser *p) {
    ptx_new_row(p, EMU_FIRST_ROW);
    memset(p->kernel->row_init + EMU_TRUE, 0xff, 4);
    for (uint32_t l = 0; l < EMU_LANES; l++) {
        uint32_t bit = 1u << l;
        uint32_t values[][2] = {{EMU_LANEID, l},
                                {EMU_LANEMASK_EQ, bit},
                                {EMU_LANEMASK_LT, bit - 1},
                                {EMU_LANEMASK_LE, bit | (bit - 1)},
                                {EMU_LANEMASK_GT, ~(bit | (bit - 1))},
                                {EMU_LANEMASK_GE, ~(bit - 1)}};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            memcpy(p->kernel->row_init + EMU_SPECIAL + 128 * values[i][0] + 4 * l, &values[i][1],
                   4);
    }
}

static void *kernel_alloc(void *parser, size_t bytes) { return ptx_alloc(parser, bytes); }

/* What a launch needs to know beside the instructions. */
static void prepare(struct parser *p) {
    struct emu_kernel *k = p->kernel;
    ptx_finish_kernel(p);
    ptx_pop_scope(p);
    p->after_kernel = p->at;
    ptx_read_called(p);
    k->rank = ptx_alloc(p, (size_t)k->n_inst * sizeof *k->rank);
    emu_order(k, k->rank);
    emu_join_loads(k);
    emu_fetch_ahead(k);
    emu_find_arrays(k, kernel_alloc, p);
    emu_find_anew(k, kernel_alloc, p);
    emu_wgmma_prepare(k, kernel_alloc, p);
}

/* The header has been read, up to the opening brace. Whatever fails in the body is noted, and the
 * kernel is refused for it. */
static void read_kernel(struct parser *p) {
    struct scope *module_scope = p->scope->parent;
    jmp_buf *outer = p->failed, here;
    p->depth = 1;
    p->problems = NULL;
    p->failed = &here;
    p->in_body = true;
    p->after_kernel = 0;
    p->edges = NULL;
    p->calls_by_address = false;
    p->called_capacity = p->function_capacity = 0;
    if (setjmp(here) && p->depth > 0 && !p->after_kernel) skip_statement(p);
    if (!p->after_kernel) ptx_body(p);
    if (!p->depth && !p->problems && !p->after_kernel)
        prepare(p);
    else if (!p->depth && p->scope->parent == module_scope)
        ptx_pop_scope(p); /* labels that are missing, too */
    p->in_body = false;
    p->failed = outer;
    p->function = NULL;
    if (p->after_kernel) p->at = p->after_kernel;
    if (p->depth > 0 && !p->after_kernel)
        ptx_fail(p, "kernel %.200s does not end", p->kernel->name);
    if (!p->problems) return;
    p->kernel->refused = ptx_refusal(p);
    p->kernel->n_inst = 0;
    ptx_drop_scopes(p, module_scope);
}

static void entry(struct parser *p) {
    struct emu_kernel *k = p->kernel = ptx_alloc(p, sizeof *k);
    struct token *name = ptx_word(p);
    k->name = ptx_string(p, name);
    k->module = p->module;
    p->inst_capacity = p->row_capacity = p->pred_used = p->n_constants = 0;
    p->constant_capacity = p->drawn_capacity = 0;
    p->here = (struct location){0};
    p->n_frames = 0;
    ptx_push_scope(p);
    fixed_rows(p);
    ptx_params(p);
    kernel_limits(p);
    declare_shared(p);
    read_kernel(p);
    struct emu_kernel **more = ptx_alloc(p, sizeof *more * (size_t)(p->module->n_kernels + 1));
    if (p->module->n_kernels)
        memcpy(more, p->module->kernel, sizeof *more * (size_t)p->module->n_kernels);
    more[p->module->n_kernels++] = k;
    p->module->kernel = more;
    p->kernel = NULL;
}

/* It may call functions that are defined behind it: those of the system (sin of a double), too. So
 * it is read when all else has been. One without an end is found then. */
static void skip_entry(struct parser *p) {
    int depth = 0;
    p->entry = ptx_grow(p, p->entry, p->n_entries, &p->entry_capacity, sizeof *p->entry);
    p->entry[p->n_entries++] = p->at;
    while (ptx_peek(p)->kind != TOKEN_END && ptx_peek(p)->punct != '{') p->at++;
    do {
        depth += (ptx_peek(p)->punct == '{') - (ptx_peek(p)->punct == '}');
        p->at += ptx_peek(p)->kind != TOKEN_END;
    } while (depth > 0 && ptx_peek(p)->kind != TOKEN_END);
}

static void file_name(struct parser *p) {
    uint64_t n = ptx_integer(p);
    struct token *name = ptx_peek(p);
    if (name->kind != TOKEN_STRING || n > 10000) ptx_fail(p, "bad .file");
    p->at++;
    struct emu_module *m = p->module;
    if (n >= m->n_files) {
        const char **more = ptx_alloc(p, sizeof *more * (n + 1));
        if (m->n_files) memcpy(more, m->file, sizeof *more * m->n_files);
        m->file = more;
        m->n_files = (uint32_t)n + 1;
    }
    char *text = ptx_string(p, name);
    plain_text(text);
    m->file[n] = text;
}

static void directive(struct parser *p) {
    struct token *t = ptx_word(p);
    if (ptx_is(t, ".extern") || ptx_is(t, ".visible") || ptx_is(t, ".weak") ||
        ptx_is(t, ".common")) {
        return; /* what it says more of comes next */
    } else if (ptx_is(t, ".version") || ptx_is(t, ".target") || ptx_is(t, ".address_size")) {
        while (ptx_peek(p)->kind != TOKEN_END && ptx_peek(p)->line == t->line) p->at++;
    } else if (ptx_is(t, ".entry")) {
        skip_entry(p);
    } else if (ptx_is(t, ".func")) {
        ptx_function(p);
    } else if (ptx_is(t, ".file")) {
        file_name(p);
    } else if (ptx_is(t, ".section")) {
        while (ptx_peek(p)->punct != '{' && ptx_peek(p)->kind != TOKEN_END) p->at++;
        ptx_skip_braces(p);
    } else if (ptx_is(t, ".pragma")) {
        skip_to(p, ';');
    } else if (ptx_is(t, ".loc")) {
        while (ptx_peek(p)->kind != TOKEN_END && ptx_peek(p)->line == t->line) p->at++;
    } else {
        p->at--;
        if (!ptx_declaration(p))
            ptx_fail(p, "directive %.*s is not understood", (int)(t->length < 40 ? t->length : 40),
                     t->text);
    }
}

void ptx_parse(struct parser *p) {
    ptx_push_scope(p);
    while (ptx_peek(p)->kind != TOKEN_END) directive(p);
    for (uint32_t n = 0; n < p->n_entries; n++) {
        p->at = p->entry[n];
        entry(p);
    }
}
