/* Declarations: names and their scopes; .reg, variables of every space with their initial values,
 * kernel parameters. */
#include "parser.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static uint32_t hash(const char *name, uint32_t length) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h % SYMBOL_BUCKETS;
}

static struct symbol *find(struct parser *p, const char *name, uint32_t length) {
    for (struct symbol *s = p->bucket[hash(name, length)]; s; s = s->chain)
        if (s->length == length && !memcmp(s->name, name, length)) return s;
    return NULL;
}

struct symbol *ptx_find(struct parser *p, const struct token *name) {
    struct symbol *s = find(p, name->text, name->length);
    if (s && !(s->kind == SYMBOL_REGISTER && s->n_rows)) return s;
    uint32_t length = name->length; /* %r12 of %r<20> */
    while (length && name->text[length - 1] >= '0' && name->text[length - 1] <= '9') {
        s = find(p, name->text, --length);
        if (s && s->kind == SYMBOL_REGISTER && s->n_rows) return s;
    }
    return NULL;
}

struct symbol *ptx_declare(struct parser *p, const struct token *name, enum symbol_kind kind) {
    if (name->kind != TOKEN_WORD) ptx_fail(p, "a name is missing");
    struct symbol *s = ptx_alloc(p, sizeof *s);
    *s = (struct symbol){.name = name->text, .length = name->length, .kind = kind};
    struct symbol **bucket = &p->bucket[hash(name->text, name->length)];
    s->chain = *bucket;
    *bucket = s;
    s->sibling = p->scope->symbols;
    p->scope->symbols = s;
    return s;
}

/* Scopes nest, so the newest of a name is the first in its bucket. */
static void forget(struct parser *p, struct symbol *s) {
    struct symbol **at = &p->bucket[hash(s->name, s->length)];
    while (*at != s) at = &(*at)->chain;
    *at = s->chain;
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

void ptx_push_scope(struct parser *p) {
    struct scope *s = ptx_alloc(p, sizeof *s);
    s->parent = p->scope;
    p->scope = s;
}

/* Forgets the scope's names; label uses that it did not define go to the scope around it. */
void ptx_pop_scope(struct parser *p) {
    struct scope *scope = p->scope;
    for (struct label_use *use = scope->uses, *next; use; use = next) {
        next = use->next;
        struct symbol *s = ptx_find(p, &use->name);
        struct symbol *mine = scope->symbols;
        while (mine && mine != s) mine = mine->sibling;
        if (mine && s->kind == SYMBOL_LABEL) {
            *use->where = s->pc;
        } else if (scope->parent && scope->parent->parent) {
            use->next = scope->parent->uses;
            scope->parent->uses = use;
        } else {
            char text[100];
            snprintf(text, sizeof text, "label %.*s is not defined",
                     (int)(use->name.length < 70 ? use->name.length : 70), use->name.text);
            ptx_note_problem(p, text, false);
        }
    }
    for (struct symbol *s = scope->symbols; s; s = s->sibling) forget(p, s);
    p->scope = scope->parent;
}

void ptx_drop_scopes(struct parser *p, struct scope *down_to) {
    for (; p->scope != down_to; p->scope = p->scope->parent)
        for (struct symbol *s = p->scope->symbols; s; s = s->sibling) forget(p, s);
}

/* ---- Declarations ---------------------------------------------------------------------------- */

/* .b32 or .v4 .f32: 0 for a predicate, -1u if it is no type. */
static uint32_t type_bytes(const struct token *t) {
    if (t->kind != TOKEN_WORD || t->length < 2 || t->text[0] != '.') return -1u;
    enum emu_type type = emu_type_named(t->text + 1, t->length - 1);
    if (type == EMU_PRED) return 0;
    return type == EMU_NONE ? -1u : emu_type_bytes(type);
}

static void declare_registers(struct parser *p) {
    uint32_t bytes = type_bytes(ptx_peek(p));
    if (bytes == -1u || bytes > 8) ptx_fail(p, "unknown register type");
    p->at++;
    do {
        struct token *name = ptx_word(p);
        struct symbol *s = ptx_declare(p, name, SYMBOL_REGISTER);
        s->bytes = (uint8_t)(bytes == 1 ? 2 : bytes);
        if (ptx_accept(p, '<')) {
            uint64_t n = ptx_integer(p);
            if (n == 0 || n > 1 << 20) ptx_fail(p, "bad register count");
            s->n_rows = (uint32_t)n;
            ptx_expect(p, '>');
        }
        s->rows = ptx_alloc(p, sizeof *s->rows * (s->n_rows ? s->n_rows : 1));
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

/* .ptr [.global] [.align 16] behind a parameter's type: what it points to. */
static void pointee(struct parser *p) {
    static const char *const spaces[] = {".global", ".shared", ".local", ".const"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (ptx_is(&p->token[p->at + 1], spaces[i])) {
            p->at++;
            break;
        }
    if (ptx_is(&p->token[p->at + 1], ".align") && p->token[p->at + 2].kind == TOKEN_NUMBER)
        p->at += 2;
}

/* [.align n] [.v4] .type: bytes of one element, alignment. */
static uint32_t variable_type(struct parser *p, uint32_t *align) {
    uint32_t vector = 1, bytes = 0;
    for (*align = 0;; p->at++) {
        struct token *t = ptx_peek(p);
        if (ptx_is(t, ".align")) {
            p->at++;
            uint64_t a = ptx_peek(p)->value;
            if (ptx_peek(p)->kind != TOKEN_NUMBER || a == 0 || a > 4096 || (a & (a - 1)))
                ptx_fail(p, "bad alignment");
            *align = (uint32_t)a;
        } else if (ptx_is(t, ".v2")) {
            vector = 2;
        } else if (ptx_is(t, ".v4")) {
            vector = 4;
        } else if (ptx_is(t, ".ptr")) {
            pointee(p);
        } else if (ptx_is(t, ".attribute")) {
            while (!ptx_accept(p, ')')) { /* (.managed), (.unified(...)): all memory is both */
                if (ptx_peek(p)->kind == TOKEN_END) ptx_fail(p, "')' is missing");
                p->at++;
            }
            p->at--;
        } else {
            uint32_t b = type_bytes(t);
            if (b == -1u || b == 0) break;
            bytes = b;
        }
    }
    if (!bytes) ptx_fail(p, "unknown variable type");
    if (!*align) *align = bytes * vector;
    return bytes * vector;
}

static uint64_t array_elements(struct parser *p, bool *unsized) {
    uint64_t n = 1;
    for (*unsized = false; ptx_accept(p, '[');) {
        if (ptx_accept(p, ']')) {
            *unsized = true;
            continue;
        }
        uint64_t extent = ptx_integer(p);
        if (extent > 1u << 30 || n * extent > 1u << 30) ptx_fail(p, "the array is too large");
        n *= extent;
        ptx_expect(p, ']');
    }
    return n;
}

static void initial_values(struct parser *p, unsigned char *at, uint32_t bytes, uint64_t size) {
    bool list = ptx_accept(p, '{');
    uint64_t offset = 0;
    do {
        if (list && ptx_accept(p, '}')) return;
        bool negative = ptx_accept(p, '-');
        struct token *t = ptx_peek(p);
        uint64_t value = t->value;
        if (t->kind == TOKEN_WORD) {
            bool generic = ptx_is(t, "generic"); /* generic(NAME): all addresses are */
            if (generic) p->at++, ptx_expect(p, '('), t = ptx_peek(p);
            struct symbol *s = ptx_find(p, t);
            if (!s || (s->kind != SYMBOL_VARIABLE && s->kind != SYMBOL_FUNCTION))
                ptx_fail(p, "an initial value is not a constant");
            value = s->value;
            if (s->kind == SYMBOL_FUNCTION && !s->is_taken)
                s->is_taken = true, s->next_taken = p->taken, p->taken = s;
            if (generic) p->at++;
            if (generic && p->token[p->at].punct != ')') ptx_fail(p, "')' is missing");
        } else if (t->kind != TOKEN_NUMBER) {
            ptx_fail(p, "an initial value is not a constant");
        }
        p->at++;
        if (negative) value = -value;
        if (offset + bytes > size) ptx_fail(p, "too many initial values");
        memcpy(at + offset, &value, bytes > 8 ? 8 : bytes);
        offset += bytes;
    } while (list && ptx_accept(p, ','));
    if (list) ptx_expect(p, '}');
}

static uint64_t align_up(uint64_t x, uint64_t to) { return (x + to - 1) & ~(to - 1); }

static void global_variable(struct parser *p, struct symbol *s, uint32_t bytes, uint64_t size) {
    struct emu_module *m = p->module;
    const char *why = emu_memory_alloc(m->memory, size ? size : 1, &s->value);
    if (why) ptx_fail(p, "%s", why);
    emu_memory_find(m->memory, s->value)->read_only = s->space == EMU_CONST;
    void *more = ptx_alloc(p, sizeof *m->variable * (size_t)(m->n_variables + 1));
    if (m->n_variables) memcpy(more, m->variable, sizeof *m->variable * (size_t)m->n_variables);
    m->variable = more;
    char *name = ptx_alloc(p, s->length + 1u);
    memcpy(name, s->name, s->length);
    m->variable[m->n_variables].name = name;
    m->variable[m->n_variables].address = s->value;
    m->variable[m->n_variables++].bytes = size;
    if (ptx_accept(p, '='))
        initial_values(p, emu_memory_at(m->memory, s->value, size), bytes, size);
}

/* The array's name as the source has it: _ZZ4copyPfE4tile ends in 4tile. */
static void name_array(struct parser *p, struct symbol *s) {
    struct emu_array *a = s->array = ptx_alloc(p, sizeof *a);
    const char *name = s->name, *end = s->name + s->length;
    uint32_t length = s->length;
    for (const char *at = s->name; at + 2 < end && s->length > 3 && s->name[0] == '_'; at++) {
        uint32_t n = 0;
        const char *digit = at + 1;
        while (*at == 'E' && digit < end && *digit >= '0' && *digit <= '9' && n < 1000)
            n = 10 * n + (uint32_t)(*digit++ - '0');
        if (n && digit + n <= end) name = digit, length = n;
    }
    snprintf(a->name, sizeof a->name, "%.*s", (int)(length < 40 ? length : 40), name);
    a->begin = (uint32_t)s->value;
    a->end = (uint32_t)(s->value + s->size);
}

static void declare_variables(struct parser *p, enum emu_space space) {
    uint32_t align;
    uint32_t bytes = variable_type(p, &align);
    do {
        bool unsized;
        struct symbol *s = ptx_declare(p, ptx_word(p), SYMBOL_VARIABLE);
        uint64_t size = s->size = array_elements(p, &unsized) * bytes;
        s->space = space;
        uint32_t *top = NULL;
        if (space == EMU_GLOBAL || space == EMU_CONST) {
            global_variable(p, s, bytes, size);
        } else if (space == EMU_SHARED && unsized) {
            s->is_dynamic = true; /* behind the static part: p->dynamic_offset */
            s->size = 0;
            if (align > p->dynamic_align) p->dynamic_align = align;
        } else if (!p->kernel) {
            if (space != EMU_SHARED) ptx_fail(p, "this space is not possible outside a kernel");
            top = &p->module_shared;
        } else if (space == EMU_SHARED) {
            top = &p->kernel->static_shared;
        } else {
            s->is_call_param = space == EMU_PARAM;
            s->space = EMU_LOCAL;
            s->in_frame = p->function;
            top = p->function ? &p->function->frame_bytes : &p->kernel->local_bytes;
        }
        if (top) {
            s->value = align_up(*top, align);
            if (s->value + size > EMU_WINDOW_BYTES) ptx_fail(p, "the array is too large");
            *top = (uint32_t)(s->value + size);
        }
        if (top && space == EMU_SHARED) name_array(p, s);
        if (space == EMU_SHARED) {
            uint32_t *most = p->kernel ? &p->kernel->shared_align : &p->module_align;
            if (align > *most) *most = align;
        }
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

bool ptx_declaration(struct parser *p) {
    static const struct {
        const char *word;
        enum emu_space space;
    } spaces[] = {{".shared", EMU_SHARED},
                  {".local", EMU_LOCAL},
                  {".global", EMU_GLOBAL},
                  {".const", EMU_CONST},
                  {".param", EMU_PARAM}};
    struct token *t = ptx_peek(p);
    if (ptx_is(t, ".reg")) {
        p->at++;
        declare_registers(p);
        return true;
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!ptx_is(t, spaces[i].word)) continue;
        p->at++;
        declare_variables(p, spaces[i].space);
        return true;
    }
    return false;
}

/* 'f' of .f32, 'u' of .u32, .s32, ...; 0 of what may be anything: .b32, and bytes. */
static char kind_of_parameter(struct parser *p) {
    for (const struct token *t = ptx_peek(p); t->kind != TOKEN_END && t->length; t++) {
        if (t->text[0] != '.') return 0;
        if (t->length > 2 && strchr("fus", t->text[1]) && isdigit((unsigned char)t->text[2]))
            return t->text[1] == 'f' ? 'f' : 'u';
    }
    return 0;
}

struct symbol *ptx_parameter(struct parser *p, uint32_t *top) {
    if (!ptx_is(ptx_word(p), ".param")) ptx_fail(p, "expected .param");
    char kind = kind_of_parameter(p);
    uint32_t align;
    bool unsized;
    uint32_t bytes = variable_type(p, &align);
    struct symbol *s = ptx_declare(p, ptx_word(p), SYMBOL_VARIABLE);
    s->space = EMU_PARAM;
    s->param_kind = kind;
    s->size = array_elements(p, &unsized) * bytes;
    s->value = align_up(*top, align);
    if (s->value + s->size > EMU_PARAM_BYTES)
        ptx_fail(p, "the parameters take more than %d bytes", EMU_PARAM_BYTES);
    *top = (uint32_t)(s->value + s->size);
    return s;
}

void ptx_params(struct parser *p) {
    struct emu_kernel *k = p->kernel;
    uint32_t capacity = 0, capacity2 = 0, capacity3 = 0;
    if (!ptx_accept(p, '(')) return;
    while (!ptx_accept(p, ')')) {
        struct symbol *s = ptx_parameter(p, &k->param_bytes);
        if (s->value + s->size > EMU_PARAM_BYTES)
            ptx_fail(p, "the parameters take more than %d bytes", EMU_PARAM_BYTES);
        k->param_bytes = (uint32_t)(s->value + s->size);
        uint32_t n = (uint32_t)k->n_params++;
        k->param_offset = ptx_grow(p, k->param_offset, n, &capacity, sizeof(uint32_t));
        k->param_size = ptx_grow(p, k->param_size, n, &capacity2, sizeof(uint32_t));
        k->param_kind = ptx_grow(p, k->param_kind, n, &capacity3, 1);
        k->param_kind[n] = s->param_kind;
        k->param_offset[n] = (uint32_t)s->value;
        k->param_size[n] = (uint32_t)s->size;
        ptx_accept(p, ',');
    }
}
