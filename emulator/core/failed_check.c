/* Failed checks: kernel, block, warp, source lines, message. The same place twice is counted once. */
#include "failed_check.h"

#include "state.h"
#include "trust.h"
#include "common/base/heap.h"
#include "common/base/plain.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_REPORTS = 100 };

struct emu_report_entry {
    enum emu_report_kind kind;
    const struct emu_kernel *kernel;
    uint32_t pc, other_pc;
    uint64_t block; /* which reported it, counted along the grid */
    uint64_t turn;  /* of this report among all of the launch: orders those of one block */
    char *text;
};

static const char *kind_name(enum emu_report_kind kind) {
    switch (kind) {
    case EMU_BAD_GLOBAL:
        return "global access out of bounds";
    case EMU_BAD_SHARED:
        return "shared access out of bounds";
    case EMU_BAD_ARRAY:
        return "shared access outside its array";
    case EMU_BAD_LOCAL:
        return "local access out of bounds";
    case EMU_MISALIGNED:
        return "misaligned access";
    case EMU_RACE:
        return "race";
    case EMU_UNINITIALISED:
        return "uninitialised shared memory";
    case EMU_UNINITIALISED_GLOBAL:
        return "uninitialised global memory";
    case EMU_UNINITIALISED_LOCAL:
        return "uninitialised local memory";
    case EMU_BAD_SHUFFLE:
        return "shuffle from an absent lane";
    case EMU_STALE:
        return "stale read";
    case EMU_NOTE:
        return "note";
    case EMU_DIVERGENT:
        return "divergent .aligned instruction";
    case EMU_BARRIER_MISMATCH:
        return "barrier mismatch";
    case EMU_DEADLOCK:
        return "deadlock";
    case EMU_PROXY:
        return "missing fence.proxy.async";
    case EMU_IN_FLIGHT:
        return "operand in flight";
    case EMU_BAD_MBARRIER:
        return "mbarrier misuse";
    case EMU_BAD_TENSOR_MAP:
        return "bad tensor map";
    case EMU_BAD_WGMMA:
        return "wgmma misuse";
    case EMU_TRAP:
        return "trap";
    case EMU_BAD_OPERAND:
        return "bad operand";
    case EMU_BAD_CLUSTER:
        return "access outside a block's life";
    case EMU_ENDLESS:
        return "endless";
    case EMU_TOO_EARLY:
        return "missing griddepcontrol.wait";
    }
    return "failed check";
}

/* Paths below the working directory are printed relative to it. */
static const char *short_path(const char *path) {
    char here[1024];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n && !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

static void print_place(FILE *out, const struct emu_kernel *k, uint32_t pc) {
    const struct emu_origin *o = &k->origin[pc];
    int printed = 0;
    for (int f = 0; f < o->n_frames; f++) {
        if (!emu_in_kernel(o, f)) continue;
        if (printed++)
            fprintf(out, ", called from line %d", o->frame[f].line);
        else if (o->frame[f].line)
            fprintf(out, "\n    %s:%d", short_path(o->frame[f].file), o->frame[f].line);
        else /* one instruction for several lines */
            fprintf(out, "\n    %s, a line that the compiler does not name",
                    short_path(o->frame[f].file));
    }
    if (!printed)
        fprintf(out, "\n    PTX line %d", o->ptx_line);
    else if (!emu_in_kernel(o, 0))
        fprintf(out, " (%s:%d)", short_path(o->frame[0].file), o->frame[0].line);
    fprintf(out, "  %s", k->inst[pc].opcode);
}

static bool same_place(const struct emu_kernel *k, uint32_t a, uint32_t b) {
    if (a == UINT32_MAX || b == UINT32_MAX) return a == b;
    const struct emu_origin *x = &k->origin[a], *y = &k->origin[b];
    if (!x->n_frames || x->n_frames != y->n_frames) return a == b;
    for (int f = 0; f < x->n_frames; f++)
        if (x->frame[f].line != y->frame[f].line ||
            x->frame[f].file_index != y->frame[f].file_index)
            return false;
    return true;
}

static bool same(const struct emu_report_entry *e, enum emu_report_kind kind,
                 const struct emu_kernel *k, uint32_t pc, uint32_t other_pc) {
    return e->kind == kind && e->kernel == k && same_place(k, e->pc, pc) &&
           same_place(k, e->other_pc, other_pc);
}

static bool trusts(const struct emu_launch_state *l, const struct emu_kernel *k, uint32_t a,
                   uint32_t b) {
    int n = l->options->n_trust;
    const struct emu_trust *trust = l->options->trust;
    if (!trust) trust = emu_trust_default(&n);
    return emu_trusted(trust, n, &k->origin[a], &k->origin[b]);
}

void emu_report(enum emu_report_kind kind, const struct emu_warp *w, const struct emu_inst *i,
                const struct emu_inst *other, const char *format, ...) {
    const struct emu_block *b = w->block;
    const struct emu_kernel *k = b->kernel;
    struct emu_reports *r = b->launch->reports;
    uint32_t other_pc = other ? other->pc : UINT32_MAX;
    pthread_mutex_lock(&r->lock);
    int n = 0;
    if ((kind == EMU_RACE || kind == EMU_STALE) && other && trusts(b->launch, k, i->pc, other_pc)) {
        r->n_trusted++;
        goto done;
    }
    while (n < r->n && !same(&r->entry[n], kind, k, i->pc, other_pc)) n++;
    if (n == MAX_REPORTS) goto done;
    const uint32_t *grid = b->launch->grid;
    const uint64_t block = ((uint64_t)b->id[2] * grid[1] + b->id[1]) * grid[0] + b->id[0];
    const bool is_new = n == r->n;
    if (!is_new) { /* the first block keeps it, whichever host thread was faster */
        if (n < r->n_settled || r->entry[n].block <= block) goto done;
        free(r->entry[n].text);
    } else if (n == r->capacity) {
        int capacity = r->capacity ? 2 * r->capacity : 8;
        r->entry = heap_grown(r->entry, (size_t)capacity * sizeof *r->entry);
        r->capacity = capacity;
    }
    struct emu_report_entry *e = &r->entry[n];
    *e = (struct emu_report_entry){kind, k, i->pc, other_pc, block, r->n_turns++, NULL};
    size_t bytes;
    FILE *out = open_memstream(&e->text, &bytes);
    if (!out) heap_exhausted();
    int length;
    const char *name = plain_name(k->name, &length);
    fprintf(out, "%s in kernel %.*s, block (%u,%u,%u), warp %u: ", kind_name(kind), length, name,
            b->id[0], b->id[1], b->id[2], w->index);
    va_list args;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    print_place(out, k, i->pc);
    if (other) print_place(out, k, other_pc);
    if (ferror(out) | fclose(out) || !e->text) heap_exhausted(); /* a report must not be lost */
    plain_text(e->text);
    r->n += is_new;
done:
    pthread_mutex_unlock(&r->lock);
}

static int by_block(const void *a, const void *b) {
    const struct emu_report_entry *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return x->turn < y->turn ? -1 : 1;
}

void emu_reports_settle(struct emu_reports *r) {
    if (r->n > r->n_settled)
        qsort(r->entry + r->n_settled, (size_t)(r->n - r->n_settled), sizeof *r->entry, by_block);
    r->n_settled = r->n;
}

void emu_reports_clear(struct emu_reports *r) {
    for (int n = 0; n < r->n; n++) free(r->entry[n].text);
    free(r->entry);
    r->entry = NULL;
    r->n = r->n_settled = r->capacity = r->n_trusted = 0;
    r->n_turns = 0;
}

const char *emu_reports_text(const struct emu_reports *r, int i) {
    return i >= 0 && i < r->n ? r->entry[i].text : NULL;
}

enum emu_report_kind emu_reports_kind(const struct emu_reports *r, int i) {
    return r->entry[i].kind;
}
