/* Attribution as text: columns beside the source, CSV, JSON. */
#include "attribution.h"

#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/plain.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/base/table.h"
#include "groups_folder.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HOT = 5 };

/* ---- Texts of files --------------------------------------------------------------------------- */

struct text {
    const char *file;  /* as s->file[] */
    const char *shown; /* what to call it; points into `file` */
    char *bytes;       /* NULL: it is not here */
    int n;
    char **line; /* line[0] is line 1 */
};

/* Reads the longest tail of `path` that exists below the folder above the program's (a tree may
 * have moved since it was compiled), else `path` as it is. */
static const char *read_file(struct text *t) {
    char here[PATH_MAX], moved[PATH_MAX];
    size_t bytes;
    snprintf(here, sizeof here, "%s", program_folder());
    const char *root = dirname(here);
    for (const char *tail = t->file; tail; tail = strchr(tail, '/')) {
        tail += *tail == '/';
        t->shown = tail;
        if (snprintf(moved, sizeof moved, "%s/%s", root, tail) >= (int)sizeof moved) continue;
        if ((t->bytes = path_read_source(moved, &bytes))) return NULL;
        if (errno != ENOENT && errno != ENOTDIR)
            return reason_as(STATUS_FILE, "%s: %s", moved, strerror(errno));
    }
    t->shown = t->file;
    if ((t->bytes = path_read_source(t->file, &bytes)) || errno == ENOENT || errno == ENOTDIR)
        return NULL;
    return reason_as(STATUS_FILE, "%s: %s", t->file, strerror(errno));
}

static void split(struct text *t) {
    for (char *at = t->bytes; at && (at = strstr(at, "\r\n"));) *at = ' ';
    if (t->bytes) plain_text(t->bytes);
    for (char *at = t->bytes; at && *at;) {
        t->line = heap_grown(t->line, (size_t)(t->n + 1) * sizeof *t->line);
        t->line[t->n++] = at;
        at += strcspn(at, "\n");
        if (*at) *at++ = 0;
    }
}

struct texts {
    int n;
    struct text *text;
};

static const char *texts_open(const struct source *s, struct texts *out) {
    out->n = s->n_files;
    out->text = heap_zeroed((size_t)s->n_files + 1, sizeof *out->text);
    for (int i = 0; i < s->n_files; i++) {
        struct text *t = &out->text[i];
        t->file = s->file[i];
        const char *why = read_file(t);
        if (why) return why;
        split(t);
    }
    return NULL;
}

static void texts_close(struct texts *all) {
    for (int i = 0; i < all->n; i++) {
        free(all->text[i].bytes);
        free(all->text[i].line);
    }
    free(all->text);
}

static const struct text *text_of(const struct texts *all, const char *file) {
    for (int i = 0; i < all->n; i++)
        if (all->text[i].file == file) return &all->text[i];
    return NULL;
}

static const char *line_text(const struct texts *all, struct source_frame at) {
    const struct text *t = text_of(all, at.file);
    return at.line <= t->n ? t->line[at.line - 1] : "(the source is not here)";
}

/* "kernel.cu:99" */
static const char *place_name(struct source_frame at, char out[96]) {
    const char *slash = strrchr(at.file, '/');
    snprintf(out, 96, "%.80s:%d", slash ? slash + 1 : at.file, at.line);
    return out;
}

static const char *unindented(const char *text) { return text + strspn(text, " \t"); }

/* ---- Cells ------------------------------------------------------------------------------------ */

/* "1234", "123.4k", "12.35M"; "" for 0. */
static const char *count(double value, char out[16]) {
    static const char units[] = " kMGT";
    int unit = 0;
    while (value >= 99999.5 && unit < 4) value /= 1000, unit++;
    if (value == 0)
        *out = 0;
    else if (unit == 0)
        snprintf(out, 16, "%.0f", value);
    else
        snprintf(out, 16, "%.*f%c",
                 value < 99.995   ? 2
                 : value < 999.95 ? 1
                                  : 0,
                 value, units[unit]);
    return out;
}

/* How many more wavefronts or sectors there are than the ideal has: +100% is twice as many. "" if none. */
static const char *excess(double actual, double ideal, char out[16]) {
    if (actual > ideal)
        snprintf(out, 16, "+%.0f%%", ideal > 0 ? 100 * (actual - ideal) / ideal : 0);
    else
        *out = 0;
    return out;
}

/* "12.3"; "" below 0.05. */
static const char *percent(double share, char out[16]) {
    if (share >= 0.0005)
        snprintf(out, 16, "%.1f", 100 * share);
    else
        *out = 0;
    return out;
}

static int most_of(const struct source_counts *c) {
    int most = 0;
    for (int r = 1; r < SOURCE_REASONS; r++)
        if (c->cycles[r] > c->cycles[most]) most = r;
    return most;
}

struct view {
    const struct source *s;
    const struct texts *texts;
    int limit;
    unsigned instructions, named; /* named: bits of reasons that were printed */
    FILE *out;
};

/* The share of the limiting resource where it is not time, of time, and what most of that was. */
static void print_shares(struct view *v, const struct source_counts *c) {
    char share[16];
    if (v->limit != ATTRIBUTION_TIME)
        fprintf(v->out, "%6s ", percent(attribution_share(v->s, c, v->limit), share));
    if (!source_cycles(&v->s->total)) return;
    const char *time = percent(attribution_share(v->s, c, ATTRIBUTION_TIME), share);
    const char *reason = "";
    if (*time) reason = v->s->reason[most_of(c)], v->named |= 1u << most_of(c);
    fprintf(v->out, "%5s %-17s", time, reason);
}

/* The two lines above those columns. */
static void head_shares(const struct view *v, int row) {
    const char *limit = v->limit == ATTRIBUTION_TIME ? "" : source_resource_name[v->limit];
    if (*limit) fprintf(v->out, "%6s ", row ? "%" : limit);
    if (source_cycles(&v->s->total))
        fprintf(v->out, "%5s %-17s", row ? "%" : "time", row ? "issue or stall" : "most of it:");
}

/* ---- The head: what limits, the hottest lines, what is inlined where ------------------------------ */

static void print_limit(const struct view *v) {
    const struct source *s = v->s;
    char n[3][16];
    const char *between = " ";
    fprintf(v->out, "in all %s warp instructions, %s wavefronts, %s sectors, counted of %s\n",
            count(s->total.executed, n[0]),
            s->total.wavefronts ? count(s->total.wavefronts, n[1]) : "0",
            s->total.sectors ? count(s->total.sectors, n[2]) : "0",
            s->n_insts && s->inst[0].isa == SOURCE_PTX
                ? "PTX (a stage's run counts SASS, which ptxas makes of it)"
                : "SASS");
    bool any = v->limit != ATTRIBUTION_TIME;
    for (int r = 0; r < SOURCE_RESOURCES; r++) any |= s->total.busy[r] >= 0.5;
    fputs(any ? "cycles in which an SM's share keeps each resource busy:" : "cycles elapsed:",
          v->out);
    for (int r = 0; r < SOURCE_RESOURCES; r++) {
        double busy = s->total.busy[r];
        if (busy < 0.5 && r != v->limit) continue;
        fprintf(v->out, "%s%s %.*f", between, source_resource_name[r], busy < 9.5, busy);
        between = ", ";
    }
    if (s->elapsed > 0)
        fprintf(v->out, "%s %.0f %s", any ? " of" : "", s->elapsed,
                s->sampled ? "measured" : "predicted");
    if (*s->not_timed) fprintf(v->out, "%s n/a (%s)", any ? " of" : "", s->not_timed);
    if (v->limit == ATTRIBUTION_TIME)
        fprintf(v->out,
                ": no resource is busy half of the time, so lines are sorted by warps' time\n");
    else
        fprintf(v->out, ": %s limits\n", source_resource_name[v->limit]);
}

static void print_hot(struct view *v) {
    int line[HOT];
    char name[96];
    const char *limit = v->limit == ATTRIBUTION_TIME ? "time" : source_resource_name[v->limit];
    attribution_hot(v->s, v->limit, HOT, line);
    fprintf(v->out, "\nhot lines: most %s first\n", limit);
    head_shares(v, 0);
    fputc('\n', v->out);
    head_shares(v, 1);
    fputs("line\n", v->out);
    for (int i = 0; i < HOT && line[i] >= 0; i++) {
        const struct source_line *l = &v->s->line[line[i]];
        print_shares(v, &l->own);
        fprintf(v->out, "%s  %s\n", place_name(l->at, name),
                unindented(line_text(v->texts, l->at)));
    }
}

/* Shares of places with all that is inlined there: a parent stands before its children. */
static double *inclusive(const struct source *s, int limit) {
    double *share = heap_zeroed((size_t)s->n_places + 1, sizeof *share);
    for (int i = s->n_places - 1; i >= 0; i--) {
        share[i] += attribution_share(s, &s->place[i].own, limit);
        if (s->place[i].parent >= 0) share[s->place[i].parent] += share[i];
    }
    return share;
}

static void print_tree(const struct view *v, int parent, int depth, const double *share) {
    const struct source *s = v->s;
    const double least = 0.02;
    bool *done = heap_zeroed((size_t)s->n_places + 1, sizeof *done);
    for (int most;; done[most] = true) { /* the largest share first */
        most = -1;
        for (int i = parent + 1; i < s->n_places; i++)
            if (s->place[i].parent == parent && !done[i] && share[i] >= least &&
                (most < 0 || share[i] > share[most]))
                most = i;
        if (most < 0) break;
        const struct source_place *p = &s->place[most];
        char all[16], own[16], name[96];
        fprintf(v->out, "%6s %6s  %*s%s  %s\n", percent(share[most], all),
                percent(attribution_share(s, &p->own, v->limit), own), 2 * depth, "",
                place_name(p->at, name), unindented(line_text(v->texts, p->at)));
        print_tree(v, most, depth + 1, share);
    }
    free(done);
}

static void print_inlined(const struct view *v) {
    bool any = false;
    for (int i = 0; i < v->s->n_places; i++) any |= v->s->place[i].parent >= 0;
    if (!any) return;
    double *share = inclusive(v->s, v->limit);
    fprintf(v->out,
            "\ninlined functions, lines of 2 %% and more\n"
            "  %% of %s: first with the lines that are inlined there, then without them\n",
            v->limit == ATTRIBUTION_TIME ? "time" : source_resource_name[v->limit]);
    print_tree(v, -1, 0, share);
    free(share);
}

/* ---- The listing ------------------------------------------------------------------------------ */

static void print_counts(struct view *v, const struct source_counts *c) {
    char executed[16], lanes[16] = "", waves[16], waves_more[16], sectors[16], sectors_more[16],
                       splits[16];
    if (c->executed) snprintf(lanes, sizeof lanes, "%.1f", c->threads / c->executed);
    print_shares(v, c);
    fprintf(v->out, "%8s %5s %8s %5s %8s %5s %7s |", count(c->executed, executed), lanes,
            count(c->wavefronts, waves), excess(c->wavefronts, c->wavefronts_ideal, waves_more),
            count(c->sectors, sectors), excess(c->sectors, c->sectors_ideal, sectors_more),
            count(c->splits, splits));
}

static void print_instructions(struct view *v, struct source_frame at) {
    for (int i = 0; i < v->s->n_insts; i++) {
        const struct source_inst *x = &v->s->inst[i];
        if (!(v->instructions >> x->isa & 1) || x->place < 0) continue;
        const struct source_frame *owner = source_owner(v->s, x->place);
        if (owner->line != at.line || owner->file != at.file) continue;
        print_counts(v, &x->counts);
        fprintf(v->out, x->isa == SOURCE_PTX ? "    |  %5d  %s\n" : "    |  %05x  %s\n", x->number,
                x->text);
    }
}

static void print_row(struct view *v, const struct source_line *l, int number, const char *text) {
    static const struct source_counts none;
    print_counts(v, l ? &l->own : &none);
    fprintf(v->out, "%4d  %s\n", number, text);
    if (l && v->instructions) print_instructions(v, l->at);
}

/* l[n]: the lines of one file. */
static void print_file(struct view *v, const struct source_line *l, int n, bool whole) {
    const struct text *t = text_of(v->texts, l->at.file);
    fprintf(v->out, "\n%s\n", t->shown);
    head_shares(v, 0);
    fprintf(v->out, "%8s %5s %8s %5s %8s %5s %7s |\n", "warp", "", "shared", "", "global", "",
            "divided");
    head_shares(v, 1);
    fprintf(v->out, "%8s %5s %8s %5s %8s %5s %7s |line\n", "inst", "lanes", "wavefr.", "more",
            "sectors", "more", "warps");
    int next = 0;
    for (int number = 1; number <= t->n; number++) {
        const struct source_line *found = next < n && l[next].at.line == number ? &l[next++] : NULL;
        if (found || whole) print_row(v, found, number, t->line[number - 1]);
    }
    for (; next < n; next++) print_row(v, &l[next], l[next].at.line, "(the source is not here)");
}

/* The kernel's own file: that of the lines that are inlined nowhere. */
static const char *main_file(const struct source *s) {
    double *executed = heap_zeroed((size_t)s->n_places + 1, sizeof *executed);
    int most = -1;
    for (int i = s->n_places - 1; i >= 0; i--) {
        const struct source_place *p = &s->place[i];
        executed[i] += p->own.executed;
        if (p->parent >= 0)
            executed[p->parent] += executed[i];
        else if (most < 0 || executed[i] > executed[most])
            most = i;
    }
    free(executed);
    return most < 0 ? NULL : s->place[most].at.file;
}

/* The sentence of counter group STALL for each reason that was named. */
static void print_reasons(const struct view *v) {
    struct group *g = heap_zeroed(1, sizeof *g);
    const char *why = v->named ? group_read("STALL", g) : NULL;
    bool known = v->named && !why;
    if (known) fprintf(v->out, "\nissue or stall: what a warp's cycles are\n");
    if (why) fprintf(v->out, "\nwhat the names of the stalls mean: n/a: %s\n", why);
    for (int r = 0; known && r < v->s->n_reasons; r++)
        for (int i = 0; v->named >> r & 1 && i < g->n; i++) {
            char formula[64];
            const struct group_origin *o = group_origin(&g->value[i], "emulator");
            snprintf(formula, sizeof formula, "predictor.stall.%s", v->s->reason[r]);
            if (o && !strcmp(o->formula, formula))
                fprintf(v->out, "  %-16s %s\n", v->s->reason[r], g->value[i].meaning);
        }
    free(g);
}

const char *attribution_print(const struct source *s, unsigned instructions, FILE *out) {
    struct texts texts = {0};
    const char *why = texts_open(s, &texts), *kernel = main_file(s);
    struct view v = {s, &texts, attribution_limit(s), instructions, 0, out};
    if (!why) {
        if (*s->about)
            fprintf(out, "%s: %s\n",
                    s->sampled ? "stall samples by line" : "warps' cycles by line, predicted",
                    s->about);
        print_limit(&v);
        if (s->n_lines) print_hot(&v);
        print_inlined(&v);
        for (int pass = 0; pass < 2; pass++) /* the file that matters first */
            for (int i = 0, n; i < s->n_lines; i += n) {
                n = 1;
                while (i + n < s->n_lines && s->line[i].at.file == s->line[i + n].at.file) n++;
                bool is_kernel = s->line[i].at.file == kernel;
                if (is_kernel == (pass == 0)) print_file(&v, &s->line[i], n, is_kernel);
            }
        print_reasons(&v);
    }
    if (s->no_line.executed > 0 && !why) {
        char text[16];
        fprintf(out, "\n%s warp instructions belong to no source line\n",
                count(s->no_line.executed, text));
    }
    texts_close(&texts);
    return why;
}

/* ---- For programs ----------------------------------------------------------------------------- */

static void csv_rows(const struct source *s, struct table *t, const struct source_counts *c,
                     const char *cell[6]) {
    struct attribution_value v;
    char value[32];
    for (int i = 0; attribution_value(s, c, i, &v); i++) {
        if (!v.value) continue;
        snprintf(value, sizeof value, "%.17g", v.value);
        table_row(t, (const char *[]){cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], v.name,
                                      value, v.unit});
    }
}

void attribution_csv(const struct source *s, unsigned instructions, FILE *out) {
    static const char *const isa[] = {"ptx", "sass"};
    struct table t;
    char line[16], number[16], around[512];
    table_open(&t, 9,
               (const char *const[]){"of", "file", "line", "inlined_at", "instruction", "text",
                                     "name", "value", "unit"});
    csv_rows(s, &t, &s->total, (const char *[]){"total", "", "", "", "", ""});
    csv_rows(s, &t, &s->no_line, (const char *[]){"no line", "", "", "", "", ""});
    for (int i = 0; i < s->n_lines; i++) {
        snprintf(line, sizeof line, "%d", s->line[i].at.line);
        csv_rows(s, &t, &s->line[i].own,
                 (const char *[]){"line", s->line[i].at.file, line, "", "", ""});
    }
    for (int i = 0; i < s->n_places; i++) {
        const struct source_place *p = &s->place[i];
        size_t n = 0;
        *around = 0;
        for (int up = p->parent; up >= 0 && n < sizeof around; up = s->place[up].parent) {
            char name[96];
            n += (size_t)snprintf(around + n, sizeof around - n, "%s%s", n ? " " : "",
                                  place_name(s->place[up].at, name));
        }
        snprintf(line, sizeof line, "%d", p->at.line);
        csv_rows(s, &t, &p->own, (const char *[]){"place", p->at.file, line, around, "", ""});
    }
    for (int i = 0; i < s->n_insts; i++) {
        const struct source_inst *x = &s->inst[i];
        if (!(instructions >> x->isa & 1)) continue;
        snprintf(number, sizeof number, x->isa == SOURCE_PTX ? "%d" : "%#x", x->number);
        snprintf(line, sizeof line, "%d", x->place < 0 ? 0 : s->place[x->place].at.line);
        csv_rows(s, &t, &x->counts,
                 (const char *[]){isa[x->isa], x->place < 0 ? "" : s->place[x->place].at.file,
                                  x->place < 0 ? "" : line, "", number, x->text});
    }
    table_print_csv(&t, out);
    table_close(&t);
}

static json_t *json_counts(const struct source *s, const struct source_counts *c) {
    json_t *o = json_object();
    struct attribution_value v;
    for (int i = 0; attribution_value(s, c, i, &v); i++)
        if (v.value) json_object_set_new(o, v.name, json_real(v.value));
    return o;
}

static json_t *json_place(struct source_frame at, const struct source *s,
                          const struct source_counts *c) {
    json_t *o = json_pack("{s:i, s:o}", "line", at.line, "counts", json_counts(s, c));
    json_object_set_new(o, "file", json_string(at.file)); /* absent if it is not UTF-8 */
    return o;
}

json_t *attribution_json(const struct source *s, unsigned instructions) {
    struct texts texts = {0};
    int limit = attribution_limit(s);
    bool readable = !texts_open(s, &texts);
    json_t *lines = json_array(), *places = json_array(), *insts = json_array();
    for (int i = 0; i < s->n_lines; i++) {
        const struct source_line *l = &s->line[i];
        json_t *one = json_place(l->at, s, &l->own);
        json_object_set_new(one, "share", json_real(attribution_share(s, &l->own, limit)));
        if (readable)
            json_object_set_new(one, "text", json_string(unindented(line_text(&texts, l->at))));
        json_array_append_new(lines, one);
    }
    for (int i = 0; i < s->n_places; i++) {
        json_t *one = json_place(s->place[i].at, s, &s->place[i].own);
        json_object_set_new(one, "inlined_at", json_integer(s->place[i].parent));
        json_array_append_new(places, one);
    }
    for (int i = 0; i < s->n_insts; i++) {
        const struct source_inst *x = &s->inst[i];
        if (instructions >> x->isa & 1)
            json_array_append_new(insts, json_pack("{s:s, s:i, s:s, s:i, s:o}", "isa",
                                                   x->isa == SOURCE_PTX ? "ptx" : "sass", "number",
                                                   x->number, "text", x->text, "place", x->place,
                                                   "counts", json_counts(s, &x->counts)));
    }
    texts_close(&texts);
    json_t *all =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "limit",
                  limit == ATTRIBUTION_TIME ? "time" : source_resource_name[limit], "counted",
                  s->n_insts && s->inst[0].isa == SOURCE_PTX ? "ptx" : "sass", "total",
                  json_counts(s, &s->total), "no_line", json_counts(s, &s->no_line), "lines", lines,
                  "places", places, "instructions", insts);
    if (s->elapsed > 0) json_object_set_new(all, "cycles", json_real(s->elapsed));
    if (*s->not_timed) json_object_set_new(all, "no_cycles", json_string(s->not_timed));
    if (*s->about)
        json_object_set_new(all, s->sampled ? "samples" : "predictor", json_string(s->about));
    return all;
}
