/* A cubin's kernels: ELF and listing together, decoded. */
#include "exec.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "elf.h"
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sass_module {
    struct sass_elf elf;
    struct sass_listing listing;
    int n;
    struct sass_kernel *kernel;
};

static uint32_t word_at(const unsigned char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

/* Registers, parameters, threads: .nv.info of the kernel, and (registers) of all. */
static const char *attributes(const struct sass_module *m, struct sass_kernel *k,
                              struct sass_code *code) {
    struct sass_section info;
    struct sass_attribute a;
    k->param_base = 0;
    if (!sass_elf_section(&m->elf, ".nv.info.", k->name, &info)) return "it has no .nv.info";
    for (size_t at = 0; sass_elf_attribute(&info, &at, &a);) {
        if (a.kind == SASS_ATTR_MAX_THREADS && a.bytes == 12)
            k->max_threads = (int)(word_at(a.data) * word_at(a.data + 4) * word_at(a.data + 8));
        if (a.kind == SASS_ATTR_PARAM_CBANK && a.bytes == 8) {
            k->param_base = word_at(a.data + 4) & 0xffff;
            k->param_bytes = word_at(a.data + 4) >> 16;
        }
        if (a.kind != SASS_ATTR_KPARAM || a.bytes != 12) continue;
        uint32_t ordinal = word_at(a.data + 4) & 0xffff, offset = word_at(a.data + 4) >> 16;
        if (ordinal >= 32) return "it has more than 32 parameters";
        code->param_offset[ordinal] = offset;
        code->param_size[ordinal] = word_at(a.data + 8) >> 18;
        if (offset + code->param_size[ordinal] > SASS_BANK_BYTES)
            return "its parameters do not fit their bank";
        if ((int)ordinal >= code->n_params) code->n_params = (int)ordinal + 1;
    }
    if (!k->param_base && code->n_params) return "it does not say where its parameters are";
    if (!k->param_base) k->param_base = k->sm == 90 ? 0x210 : 0x160; /* it has none */
    if (!sass_elf_section(&m->elf, ".nv.info", "", &info)) return "the cubin has no .nv.info";
    for (size_t at = 0; sass_elf_attribute(&info, &at, &a);) {
        uint32_t section;
        uint64_t value;
        if ((a.kind != SASS_ATTR_REGCOUNT && a.kind != SASS_ATTR_STACK) || a.bytes != 8) continue;
        const char *name = sass_elf_symbol(&m->elf, (int)word_at(a.data), &section, &value);
        if (!name || strcmp(name, k->name)) continue;
        if (a.kind == SASS_ATTR_STACK)
            k->local_bytes = word_at(a.data + 4);
        else
            k->n_registers = (int)word_at(a.data + 4);
    }
    if (k->local_bytes > 512 * 1024) return "it has more than 512 KiB of local memory a thread";
    return k->n_registers ? NULL : "it does not say how many registers it has";
}

static int symbols_of(const struct sass_module *m, uint32_t section, struct sass_symbol *out,
                      int capacity) {
    const char *name;
    uint32_t where;
    uint64_t value;
    int n = 0;
    for (int s = 0; (name = sass_elf_symbol(&m->elf, s, &where, &value)); s++)
        if (where == section && *name && n < capacity)
            out[n++] = (struct sass_symbol){name, (uint32_t)value};
    return n;
}

static char *text_of(const struct sass_line *l) {
    char all[512];
    snprintf(all, sizeof all, "%s%s%s%s%s", l->guard, *l->guard ? " " : "", l->opcode,
             *l->operands ? " " : "", l->operands);
    return heap_text(all);
}

/* The innermost line in a .cu file, where a kernel's author can change it; else the innermost; NULL: none. */
static const struct sass_frame *written_at(const struct sass_line *l) {
    for (int f = 0; f < l->n_frames; f++) {
        const char *dot = strrchr(l->frame[f].file, '.');
        if (dot && !strcmp(dot, ".cu")) return &l->frame[f];
    }
    return l->n_frames ? l->frame : NULL;
}

/* What runs instead of a last instruction that has none behind it. */
static enum sass_go stop_at_end(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)mask;
    return sass_stop(w, x, "the warp runs past the end of the kernel");
}

/* Is it a branch or an exit for all lanes, behind which nothing runs? */
static bool leaves(const struct sass_exec *x) {
    bool always = x->guard == SASS_P_TRUE && !x->guard_flip && x->pin[0].index == SASS_P_TRUE &&
                  !x->pin[0].flip;
    return x->run == sass_unknown || (always && (x->run == sass_exit || x->run == sass_bra));
}

static const char *decode_all(struct sass_kernel *k, struct sass_code *code,
                              const struct sass_function *f, const unsigned char *words,
                              const struct sass_symbol *symbols, int n_symbols) {
    struct sass_inst *inst = heap_zeroed((size_t)f->n, sizeof *inst);
    struct sass_origin *origin = heap_zeroed((size_t)f->n, sizeof *origin);
    const char **text = heap_zeroed((size_t)f->n, sizeof *text);
    code->exec = heap_zeroed((size_t)f->n, sizeof *code->exec);
    k->inst = inst;
    k->origin = origin;
    k->text = text;
    k->n_inst = f->n;
    for (int i = 0; i < f->n; i++) {
        const struct sass_line *l = &f->line[i];
        struct sass_text t = {l->opcode, l->operands, l->guard};
        uint64_t word[2];
        memcpy(word, words + 16 * i, sizeof word);
        text[i] = text_of(l);
        origin[i] = (struct sass_origin){l->n_frames ? l->frame[0].file : NULL, l->frame[0].line,
                                         l->kernel_line, l->n_frames, l->frame};
        const char *why = sass_decode(code, &t, word, 16 * (uint32_t)i, symbols, n_symbols,
                                      &inst[i], &code->exec[i]);
        const struct sass_frame *at = written_at(l);
        const char *file = at ? at->file : "?";
        int line_number = at ? at->line : 0;
        if (why)
            code->exec[i].more =
                heap_text(reason("%#x  %s (%s:%d): %s", 16 * i, text[i], file, line_number, why));
        else if (code->exec[i].target >= (uint32_t)f->n)
            return reason("%#x  %s (%s:%d): its target lies outside", 16 * i, text[i], file,
                          line_number);
    }
    struct sass_exec *last = f->n ? &code->exec[f->n - 1] : NULL;
    if (!last || leaves(last)) return NULL;
    last->run = stop_at_end;
    last->guard = SASS_P_TRUE, last->guard_flip = 0;
    return NULL;
}

static const char *add_kernel(struct sass_module *m, const struct sass_function *f) {
    struct sass_section text, shared, bank;
    struct sass_symbol symbols[64];
    struct sass_kernel *k = &m->kernel[m->n++];
    struct sass_code *code = heap_zeroed(1, sizeof *code);
    k->exec = code;
    k->name = f->name;
    k->module = m;
    k->sm = code->sm = sass_elf_sm(&m->elf);
    if (!sass_elf_section(&m->elf, ".text.", f->name, &text) || !text.data ||
        text.bytes != (size_t)f->n * 16)
        return reason("nvdisasm lists %d instructions, the cubin has %zu: `make setup` brings an "
                      "nvdisasm that is known",
                      f->n, text.data ? text.bytes / 16 : 0);
    const char *why = attributes(m, k, code);
    if (why) return why;
    const uint32_t reserved = sass_reserved_shared(k);
    if (sass_elf_section(&m->elf, ".nv.shared.", f->name, &shared) && shared.bytes > reserved)
        k->static_shared = (uint32_t)shared.bytes - reserved;
    if (sass_elf_section(&m->elf, ".nv.constant2.", f->name, &bank) && bank.data)
        code->bank2 = bank.data, code->bank2_bytes = (uint32_t)bank.bytes;
    if (sass_elf_section(&m->elf, ".nv.constant4.", f->name, &bank) && bank.data)
        code->bank4 = bank.data, code->bank4_bytes = (uint32_t)bank.bytes;
    int n = symbols_of(m, text.index, symbols, 64);
    why = decode_all(k, code, f, text.data, symbols, n);
    code->row_bytes = SASS_ROW_CONST + (uint32_t)code->n_constants * SASS_ROW;
    return why;
}

static const char *open_module(const char *cubin_path, const char *cache_dir, const char *kernel,
                               struct sass_module *m) {
    const char *why = sass_elf_open(cubin_path, &m->elf);
    if (!why && sass_elf_sm(&m->elf) != 90 && sass_elf_sm(&m->elf) != 89)
        why = reason_as(
            STATUS_UNSUPPORTED,
            "%s is for sm_%d; only sm_90a and sm_89 are understood: compile for one of them",
            kernel ? "the cubin" : cubin_path, sass_elf_sm(&m->elf));
    if (!why) why = sass_listing_open(cubin_path, m->elf.bytes, m->elf.n, cache_dir, &m->listing);
    if (!why) m->kernel = heap_zeroed((size_t)m->listing.n + 1, sizeof *m->kernel);
    for (int f = 0; !why && f < m->listing.n; f++) {
        const char *name = m->listing.function[f].name;
        if (kernel && strcmp(kernel, name)) continue;
        why = add_kernel(m, &m->listing.function[f]);
        if (why && kernel) return reason_as(STATUS_UNSUPPORTED, "%s", why);
        if (why) why = reason_as(STATUS_UNSUPPORTED, "%s, kernel %s: %s", cubin_path, name, why);
    }
    if (!why && kernel && !m->n) why = reason("no kernel '%s' in the cubin", kernel);
    return why;
}

const char *sass_open_kernel(const char *cubin_path, const char *cache_dir, const char *kernel,
                             struct sass_module **out) {
    struct sass_module *m = heap_zeroed(1, sizeof *m);
    const char *why = open_module(cubin_path, cache_dir, kernel, m);
    *out = NULL;
    if (why)
        sass_close(m);
    else
        *out = m;
    return why;
}

const char *sass_open(const char *cubin_path, const char *cache_dir, struct sass_module **out) {
    return sass_open_kernel(cubin_path, cache_dir, NULL, out);
}

void sass_close(struct sass_module *m) {
    if (!m) return;
    for (int n = 0; n < m->n; n++) {
        struct sass_kernel *k = &m->kernel[n];
        struct sass_code *code = k->exec;
        for (int i = 0; i < k->n_inst; i++) {
            if (k->text) free((void *)k->text[i]);
            if (code) free(code->exec[i].more);
        }
        if (code) {
            free(code->exec);
            free(code->constant);
            free(code->from);
        }
        free(code);
        free((void *)k->inst);
        free((void *)k->origin);
        free((void *)k->text);
    }
    free(m->kernel);
    sass_listing_close(&m->listing);
    sass_elf_close(&m->elf);
    free(m);
}

const struct sass_kernel *sass_find(const struct sass_module *m, const char *kernel) {
    for (int n = 0; n < m->n; n++)
        if (!strcmp(m->kernel[n].name, kernel)) return &m->kernel[n];
    return NULL;
}

int sass_unfuse(struct sass_module *m) {
    int n = 0;
    for (int k = 0; k < m->n; k++) {
        struct sass_code *code = m->kernel[k].exec;
        for (int i = 0; i < m->kernel[k].n_inst; i++) {
            struct sass_exec *x = &code->exec[i];
            if (x->run != sass_ffma || !x->s[2].flip) continue;
            x->run = sass_ffma_apart;
            n++;
        }
    }
    return n;
}

/* ---- Variables ------------------------------------------------------------------------------- */

typedef bool variable_finder(void *user, const char *name, uint64_t *address, uint64_t *bytes);

static void set_bank(struct sass_bank *bank, const struct sass_section *section) {
    unsigned char *copy = heap_zeroed(section->bytes + 1, 1);
    if (section->data) memcpy(copy, section->data, section->bytes);
    free((void *)(uintptr_t)bank->at);
    *bank = (struct sass_bank){copy, (uint32_t)section->bytes};
}

const char *sass_grid_variables(struct sass_grid *g, void *user, variable_finder *find) {
    const struct sass_elf *e = &g->kernel->module->elf;
    struct sass_section section;
    const char *name;
    uint32_t in;
    uint64_t value, address, bytes;
    if (sass_elf_section(e, ".nv.constant3", "", &section)) {
        set_bank(&g->variables, &section);
        for (int s = 0; (name = sass_elf_symbol(e, s, &in, &value)); s++) {
            if (in != section.index || !*name || !find(user, name, &address, &bytes)) continue;
            const void *at = emu_memory_at(g->memory, address, bytes);
            if (!at || value > section.bytes || bytes > section.bytes - value)
                return reason("variable %s leaves its bank", name);
            memcpy((unsigned char *)(uintptr_t)g->variables.at + value, at, bytes);
        }
    }
    if (!sass_elf_section(e, ".nv.constant4", "", &section)) return NULL;
    set_bank(&g->addresses, &section);
    uint64_t where;
    int symbol, is;
    int64_t addend;
    for (int n = 0; (is = sass_elf_address(e, section.index, n, &where, &symbol, &addend)); n++) {
        name = sass_elf_symbol(e, symbol, &in, &value);
        const bool printf = name && !in && !strcmp(name, "vprintf");
        if (name && !in && !printf) continue; /* the driver's, as __assertfail: nothing lies at 0 */
        if (printf && section.bytes >= 8 && where <= section.bytes - 8) {
            const uint64_t at = SASS_VPRINTF;
            memcpy((unsigned char *)(uintptr_t)g->addresses.at + where, &at, 8);
            continue;
        }
        if (is < 0 || !name || section.bytes < 8 || where > section.bytes - 8 ||
            !find(user, name, &address, &bytes))
            return reason("the address of %s is not known", name && *name ? name : "a symbol");
        address += (uint64_t)addend;
        memcpy((unsigned char *)(uintptr_t)g->addresses.at + where, &address, 8);
    }
    return NULL;
}
