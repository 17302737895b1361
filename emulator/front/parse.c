/* Statements: directives, kernels and their bodies, labels, source locations. */
#include "parser.h"

#include "emulator/instructions/wgmma.h"

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

static void skip_braces(struct parser *p) {
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

/* Shared arrays first, wherever in the body: dynamic shared memory starts behind them. */
static void declare_shared(struct parser *p) {
    uint32_t start = p->at;
    p->kernel->static_shared = p->module_shared;
    for (int depth = 1; depth > 0 && ptx_peek(p)->kind != TOKEN_END;) {
        if (ptx_is(ptx_peek(p), ".shared")) {
            ptx_declaration(p);
        } else {
            if (ptx_peek(p)->punct == '{') depth++;
            if (ptx_peek(p)->punct == '}') depth--;
            p->at++;
        }
    }
    p->at = start;
    uint32_t align = p->dynamic_align ? p->dynamic_align : 16;
    p->dynamic_offset = (p->kernel->static_shared + align - 1) & ~(align - 1);
    p->kernel->dynamic_offset = p->dynamic_offset;
}

static void label(struct parser *p, struct token *name) {
    struct symbol *s = ptx_declare(p, name, SYMBOL_LABEL);
    s->pc = (uint32_t)p->kernel->n_inst;
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

static void body(struct parser *p) {
    int depth = 1;
    while (depth > 0) {
        struct token *t = ptx_peek(p);
        if (t->kind == TOKEN_END) ptx_fail(p, "the kernel does not end");
        if (ptx_accept(p, '{')) {
            ptx_push_scope(p);
            depth++;
        } else if (ptx_accept(p, '}')) {
            if (--depth > 0) ptx_pop_scope(p);
        } else if (ptx_accept(p, '@')) {
            guarded(p);
        } else if (ptx_accept(p, ';')) {
            continue;
        } else if (ptx_is(t, ".shared")) {
            skip_to(p, ';');
        } else if (ptx_is(t, ".loc")) {
            p->at++;
            location(p, t->line);
        } else if (ptx_is(t, ".pragma")) {
            skip_to(p, ';');
        } else if (ptx_declaration(p)) {
            continue;
        } else if (t->kind == TOKEN_WORD && p->token[p->at + 1].kind == TOKEN_PUNCT &&
                   p->token[p->at + 1].punct == ':') {
            p->at += 2;
            label(p, t);
        } else if (t->kind == TOKEN_WORD && t->text[0] != '.') {
            ptx_instruction(p, EMU_TRUE, false);
        } else {
            ptx_fail(p, "'%.*s' is not understood", (int)(t->length < 40 ? t->length : 40),
                     t->text);
        }
    }
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

static void entry(struct parser *p) {
    struct emu_kernel *k = p->kernel = ptx_alloc(p, sizeof *k);
    struct token *name = ptx_word(p);
    k->name = ptx_string(p, name);
    k->module = p->module;
    p->inst_capacity = p->row_capacity = p->pred_used = p->n_constants = 0;
    p->constant_capacity = 0;
    p->here = (struct location){0};
    p->n_frames = 0;
    ptx_push_scope(p);
    fixed_rows(p);
    ptx_params(p);
    kernel_limits(p);
    declare_shared(p);
    body(p);
    ptx_finish_kernel(p);
    ptx_pop_scope(p);
    k->rank = ptx_alloc(p, (size_t)k->n_inst * sizeof *k->rank);
    emu_order(k, k->rank);
    emu_join_loads(k);
    emu_wgmma_prepare(k, kernel_alloc, p);
    struct emu_kernel **more = ptx_alloc(p, sizeof *more * (size_t)(p->module->n_kernels + 1));
    if (p->module->n_kernels)
        memcpy(more, p->module->kernel, sizeof *more * (size_t)p->module->n_kernels);
    more[p->module->n_kernels++] = k;
    p->module->kernel = more;
    p->kernel = NULL;
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
    m->file[n] = ptx_string(p, name);
}

static void directive(struct parser *p) {
    struct token *t = ptx_word(p);
    if (ptx_is(t, ".extern") || ptx_is(t, ".visible") || ptx_is(t, ".weak") ||
        ptx_is(t, ".common")) {
        return; /* what it says more of comes next */
    } else if (ptx_is(t, ".version") || ptx_is(t, ".target") || ptx_is(t, ".address_size")) {
        while (ptx_peek(p)->kind != TOKEN_END && ptx_peek(p)->line == t->line) p->at++;
    } else if (ptx_is(t, ".entry")) {
        entry(p);
    } else if (ptx_is(t, ".func")) { /* a call to it is refused where it is made */
        while (ptx_peek(p)->punct != '{' && ptx_peek(p)->punct != ';' &&
               ptx_peek(p)->kind != TOKEN_END)
            p->at++;
        if (!ptx_accept(p, ';')) skip_braces(p);
    } else if (ptx_is(t, ".file")) {
        file_name(p);
    } else if (ptx_is(t, ".section")) {
        while (ptx_peek(p)->punct != '{' && ptx_peek(p)->kind != TOKEN_END) p->at++;
        skip_braces(p);
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
}
