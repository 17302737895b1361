/* Rows of the row file, and names. */
#include "ptx.h"

#include <string.h>

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
    return row;
}

uint32_t ptx_constant(struct parser *p, uint64_t value, bool wide) {
    if (value == 0) return EMU_ZERO;
    for (uint32_t i = 0; i < p->n_constants; i++)
        if (p->constant[i].value == value && p->constant[i].wide == wide) return p->constant[i].row;
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
    p->constant[p->n_constants++].row = row;
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
    if (s->rows[index]) return s->rows[index];
    uint32_t row;
    if (s->bytes) {
        row = ptx_new_row(p, s->bytes == 8 ? 256 : 128);
    } else {
        if (p->pred_used % 128 == 0) p->pred_row = ptx_new_row(p, 128), p->pred_used = 0;
        row = p->pred_row + p->pred_used;
        p->pred_used += 4;
    }
    return s->rows[index] = row;
}

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
void ptx_forget(struct parser *p, struct symbol *s) {
    struct symbol **at = &p->bucket[hash(s->name, s->length)];
    while (*at != s) at = &(*at)->chain;
    *at = s->chain;
}
