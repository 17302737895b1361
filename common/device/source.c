#include "source.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

const char *const source_resource_name[SOURCE_RESOURCES] = {
    [SOURCE_TENSOR] = "tensor", [SOURCE_MUFU] = "mufu",     [SOURCE_FMA] = "fma",
    [SOURCE_SHARED] = "shared", [SOURCE_GLOBAL] = "global", [SOURCE_ISSUE] = "issue"};

/* ---- Places ---------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *tail) {
    size_t n = strlen(path), t = strlen(tail);
    return n >= t && !strcmp(path + n - t, tail) && (n == t || path[n - t - 1] == '/');
}

/* "/a/./b.h" becomes "/a/b.h", as a -I. leaves it. */
static char *tidy(const char *path) {
    char *all = heap_text(path), *to = all;
    for (const char *at = path; *at;)
        if (at[0] == '.' && at[1] == '/' && (at == path || at[-1] == '/'))
            at += 2;
        else
            *to++ = *at++;
    *to = 0;
    return all;
}

static const char *file_of(struct source *s, const char *as_told) {
    char *path = tidy(as_told);
    for (int i = 0; i < s->n_files; i++)
        if (ends_in(s->file[i], path) || ends_in(path, s->file[i])) {
            free(path);
            return s->file[i];
        }
    s->file = heap_grown(s->file, (size_t)(s->n_files + 1) * sizeof *s->file);
    return s->file[s->n_files++] = path;
}

static int place_of(struct source *s, int parent, struct source_frame at) {
    for (int i = parent + 1; i < s->n_places; i++) {
        const struct source_place *p = &s->place[i];
        if (p->parent == parent && p->at.line == at.line && p->at.file == at.file) return i;
    }
    s->place = heap_grown(s->place, (size_t)(s->n_places + 1) * sizeof *s->place);
    s->place[s->n_places] = (struct source_place){.parent = parent, .at = at};
    return s->n_places++;
}

static void add(struct source_counts *to, const struct source_counts *c) {
    to->executed += c->executed;
    to->threads += c->threads;
    to->wavefronts += c->wavefronts;
    to->wavefronts_ideal += c->wavefronts_ideal;
    to->sectors += c->sectors;
    to->sectors_ideal += c->sectors_ideal;
    to->splits += c->splits;
    for (int r = 0; r < SOURCE_RESOURCES; r++) to->busy[r] += c->busy[r];
    for (int r = 0; r < SOURCE_REASONS; r++) to->cycles[r] += c->cycles[r];
}

void source_add(struct source *s, enum source_isa isa, int number, const char *text,
                const struct source_frame *frame, int n, const struct source_counts *counts) {
    int place = -1;
    for (int f = 0; f < n; f++)
        if (!frame[f].file || !*frame[f].file || frame[f].line < 1) n = 0;
    for (int f = n - 1; f >= 0; f--)
        place = place_of(s, place, (struct source_frame){file_of(s, frame[f].file), frame[f].line});
    s->inst = heap_grown(s->inst, (size_t)(s->n_insts + 1) * sizeof *s->inst);
    s->inst[s->n_insts++] = (struct source_inst){isa, number, heap_text(text), place, *counts};
    add(&s->total, counts);
    add(place < 0 ? &s->no_line : &s->place[place].own, counts);
}

void source_forget(struct source *s, enum source_isa isa, enum source_resource resource) {
    for (int i = 0; i < s->n_insts; i++) {
        struct source_inst *x = &s->inst[i];
        if (x->isa != isa) continue;
        struct source_counts *of = x->place < 0 ? &s->no_line : &s->place[x->place].own;
        of->busy[resource] -= x->counts.busy[resource];
        s->total.busy[resource] -= x->counts.busy[resource];
        x->counts.busy[resource] = 0;
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static size_t folder_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

const struct source_frame *source_owner(const struct source *s, int place) {
    int root = place;
    while (s->place[root].parent >= 0) root = s->place[root].parent;
    const char *kernel = s->place[root].at.file;
    size_t n = folder_bytes(kernel);
    for (;; place = s->place[place].parent) {
        const char *file = s->place[place].at.file;
        if (place == root || (folder_bytes(file) == n && !memcmp(file, kernel, n)))
            return &s->place[place].at;
    }
}

static int by_place(const void *a, const void *b) {
    const struct source_line *x = a, *y = b;
    int files = strcmp(x->at.file, y->at.file);
    return files ? files : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

void source_lines(struct source *s) {
    s->line = heap_grown(s->line, (size_t)(s->n_places + 1) * sizeof *s->line);
    s->n_lines = 0;
    for (int i = 0; i < s->n_places; i++) {
        const struct source_frame *at = source_owner(s, i);
        int l = 0;
        while (l < s->n_lines && (s->line[l].at.line != at->line || s->line[l].at.file != at->file))
            l++;
        if (l == s->n_lines) s->line[s->n_lines++] = (struct source_line){.at = *at};
        add(&s->line[l].own, &s->place[i].own);
    }
    if (s->n_lines) qsort(s->line, (size_t)s->n_lines, sizeof *s->line, by_place);
}

double source_cycles(const struct source_counts *c) {
    double sum = 0;
    for (int r = 0; r < SOURCE_REASONS; r++) sum += c->cycles[r];
    return sum;
}

void source_free(struct source *s) {
    for (int i = 0; i < s->n_insts; i++) free(s->inst[i].text);
    for (int i = 0; i < s->n_files; i++) free(s->file[i]);
    free(s->file);
    free(s->inst);
    free(s->place);
    free(s->line);
    *s = (struct source){0};
}
