/* Modules: a PTX file read, its kernels found by name. */
#include "module.h"

#include "parser.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

static const char *file_of(const struct emu_module *m, uint32_t file) {
    return file && file < m->n_files && m->file[file] ? m->file[file] : "";
}

/* .file directives come last, so places get their names at the end. */
static void name_origins(struct emu_kernel *k) {
    for (int i = 0; i < k->n_inst; i++) {
        struct emu_origin *o = &k->origin[i];
        for (int f = 0; f < o->n_frames; f++)
            o->frame[f].file = file_of(k->module, o->frame[f].file_index);
    }
}

const char *emu_module_open(struct emu_memory *memory, const char *text, size_t bytes,
                            const char *name, struct emu_module **out) {
    struct emu_module *m = heap_zeroed(1, sizeof *m);
    struct parser *p = heap_zeroed(1, sizeof *p);
    *out = NULL;
    p->module = m;
    m->memory = memory;
    m->name = name;
    jmp_buf failed;
    p->failed = &failed;
    if (!setjmp(failed)) {
        size_t length = strlen(name);
        char *copy = ptx_alloc(p, length + 1);
        m->name = memcpy(copy, name, length);
        const char *more = ptx_supplied(text, bytes);
        const size_t more_bytes = strlen(more);
        char *kept = ptx_alloc(p, bytes + more_bytes + 1); /* names point into it */
        if (bytes) memcpy(kept, text, bytes);
        memcpy(kept + bytes, more, more_bytes);
        ptx_lex(p, kept, bytes + more_bytes);
        ptx_parse(p);
        for (int i = 0; i < m->n_kernels; i++) name_origins(m->kernel[i]);
    }
    const char *why = p->why;
    free(p);
    if (why)
        emu_module_close(m);
    else
        *out = m;
    return why;
}

void emu_module_close(struct emu_module *m) {
    if (!m) return;
    for (int i = 0; i < m->n_variables; i++) emu_memory_free(m->memory, m->variable[i].address);
    emu_arena_free(&m->arena);
    free(m);
}

const struct emu_kernel *emu_module_kernel(const struct emu_module *m, const char *name) {
    for (int i = 0; i < m->n_kernels; i++)
        if (!strcmp(m->kernel[i]->name, name)) return m->kernel[i];
    return NULL;
}

const char *emu_module_kernel_name(const struct emu_module *m, int i) {
    return i >= 0 && i < m->n_kernels ? m->kernel[i]->name : NULL;
}

const char *emu_module_variable_name(const struct emu_module *m, int i) {
    return i >= 0 && i < m->n_variables ? m->variable[i].name : NULL;
}

bool emu_module_variable(const struct emu_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes) {
    for (int i = 0; i < m->n_variables; i++) {
        if (strcmp(m->variable[i].name, name)) continue;
        *address = m->variable[i].address;
        *bytes = m->variable[i].bytes;
        return true;
    }
    return false;
}
