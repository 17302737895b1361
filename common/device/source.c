#include "source.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b) {
    const struct source_line *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static struct source_line *find_or_add(struct source *s, const struct source_line *wanted) {
    for (int i = 0; i < s->n; i++)
        if (!by_place(&s->line[i], wanted)) return &s->line[i];
    s->line = heap_grown(s->line, (size_t)(s->n + 1) * sizeof *s->line);
    struct source_line *l = &s->line[s->n++];
    *l = (struct source_line){.line = wanted->line};
    memcpy(l->file, wanted->file, sizeof l->file);
    return l;
}

const char *source_add(struct source *s, const struct source_line *c) {
    if (!*c->file || c->line < 1) {
        s->unattributed += c->executed;
        return NULL;
    }
    struct source_line *l = find_or_add(s, c);
    l->executed += c->executed;
    l->threads += c->threads;
    l->wavefronts += c->wavefronts;
    l->wavefronts_ideal += c->wavefronts_ideal;
    l->sectors += c->sectors;
    l->sectors_ideal += c->sectors_ideal;
    l->splits += c->splits;
    return NULL;
}

void source_sort(struct source *s) {
    if (s->n) qsort(s->line, (size_t)s->n, sizeof *s->line, by_place);
}

void source_free(struct source *s) {
    free(s->line);
    *s = (struct source){0};
}
