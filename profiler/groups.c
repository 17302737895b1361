#include "groups.h"

#include "expression.h"
#include "common/base/reason.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct reader {
    const char *at, *end, *file;
    int line;       /* of `text` */
    char text[512]; /* the line, without its end and trailing spaces */
    struct group *out;
    struct group_value *value; /* the one that indented lines belong to */
};

#define WRONG(r, ...) group_wrong(r, reason(__VA_ARGS__))

static const char *group_wrong(const struct reader *r, const char *what) {
    return reason("%s:%d: %s", r->file, r->line, what);
}

/* Copies n characters, or says that they do not fit. */
static const char *copy(struct reader *r, const char *what, char *out, size_t out_bytes,
                        const char *from, size_t n) {
    while (n && from[n - 1] == ' ') n--;
    while (n && *from == ' ') from++, n--;
    if (n == 0) return WRONG(r, "%s is missing", what);
    if (n >= out_bytes) return WRONG(r, "%s is longer than %zu characters", what, out_bytes - 1);
    memcpy(out, from, n);
    out[n] = 0;
    return NULL;
}

/* The next line that is neither empty nor a comment; *more is false at the end. */
static const char *next_line(struct reader *r, bool *more) {
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (!stop) stop = r->end;
        size_t n = (size_t)(stop - r->at);
        const char *from = r->at;
        r->at = stop < r->end ? stop + 1 : r->end;
        r->line++;
        for (size_t i = 0; i < n; i++)
            if (from[i] < ' ' || from[i] > '~')
                return WRONG(r, "character %d is not plain ASCII (no tabs, no control characters)",
                             (unsigned char)from[i]);
        if (n >= sizeof r->text)
            return WRONG(r, "the line is longer than %zu characters", sizeof r->text - 1);
        while (n && from[n - 1] == ' ') n--;
        memcpy(r->text, from, n);
        r->text[n] = 0;
        if (n && *from != '#') {
            *more = true;
            return NULL;
        }
    }
    *more = false;
    return NULL;
}

static bool is_name(const char *s, size_t n) {
    if (!n || !islower((unsigned char)*s)) return false;
    for (size_t i = 0; i < n; i++)
        if (!islower((unsigned char)s[i]) && !isdigit((unsigned char)s[i]) && s[i] != '_')
            return false;
    return true;
}

/* GROUP: question */
static const char *read_title(struct reader *r) {
    const char *colon = strchr(r->text, ':');
    if (!colon || colon == r->text)
        return WRONG(r, "the first line must be the group's name, a colon and its question");
    for (const char *c = r->text; c < colon; c++)
        if (!isupper((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
            return WRONG(r, "a group's name has only capitals, digits and _");
    const char *why = copy(r, "the group's name", r->out->name, sizeof r->out->name, r->text,
                           (size_t)(colon - r->text));
    if (why) return why;
    return copy(r, "the question", r->out->question, sizeof r->out->question, colon + 1,
                strlen(colon + 1));
}

/* name [unit] meaning */
static const char *read_value(struct reader *r) {
    const char *open = strchr(r->text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close) return WRONG(r, "expected `name [unit] meaning`, found \"%.40s\"", r->text);
    if (r->out->n == GROUP_MAX_VALUES) return WRONG(r, "more than %d values", GROUP_MAX_VALUES);
    struct group_value *v = &r->out->value[r->out->n];
    *v = (struct group_value){.line = r->line};
    const char *why =
        copy(r, "the value's name", v->name, sizeof v->name, r->text, (size_t)(open - r->text));
    if (why) return why;
    if (!is_name(v->name, strlen(v->name)))
        return WRONG(r, "\"%s\" is no value's name: small letters, digits and _", v->name);
    for (int i = 0; i < r->out->n; i++)
        if (!strcmp(r->out->value[i].name, v->name))
            return WRONG(r, "%s is defined already, in line %d", v->name, r->out->value[i].line);
    why = copy(r, "the unit", v->unit, sizeof v->unit, open + 1, (size_t)(close - open - 1));
    if (!why)
        why = copy(r, "the meaning", v->meaning, sizeof v->meaning, close + 1, strlen(close + 1));
    if (why) return why;
    r->out->n++;
    r->value = v;
    return NULL;
}

static bool is_place(const char *s, size_t n) {
    if (n == 3 && !memcmp(s, "GPU", 3)) return true;
    if (n == 8 && !memcmp(s, "emulator", 8)) return true;
    if (n < 4 || !isupper((unsigned char)s[0]) || !isupper((unsigned char)s[1])) return false;
    for (size_t i = 2; i < n; i++)
        if (!isdigit((unsigned char)s[i]) && s[i] != 'x') return false;
    return true;
}

static const char *check_places(struct reader *r, const char *places) {
    for (const char *at = places; *at;) {
        size_t n = strcspn(at, " ");
        if (!is_place(at, n))
            return WRONG(r,
                         "\"%.*s\" is no place: GPU, emulator, a chip (GH100) or a family (AD10x)",
                         (int)n, at);
        at += n + strspn(at + n, " ");
    }
    return NULL;
}

/* Names that are neither metric, launch nor emulator must be values defined further up. */
static const char *check_name(void *arg, const char *name) {
    static const char *const launch[] = {"registers",     "shared_bytes", "blocks_per_sm",
                                         "occupancy_pct", "warps",        "threads",
                                         "sms",           "busy_sms"};
    struct reader *r = arg;
    if (strstr(name, "__") || !strncmp(name, "emu.", 4) || !strncmp(name, "predictor.", 10) ||
        !strncmp(name, "sass.", 5))
        return NULL;
    if (!strncmp(name, "launch.", 7)) {
        for (size_t i = 0; i < sizeof launch / sizeof *launch; i++)
            if (!strcmp(name + 7, launch[i])) return NULL;
        return WRONG(r, "there is no %s (known: launch.registers and others, see groups.h)", name);
    }
    for (struct group_value *v = r->out->value; v < r->value; v++)
        if (!strcmp(v->name, name)) return NULL;
    return WRONG(r, "%s is neither a metric nor a value defined above", name);
}

/* "n/a (reason)" or a formula */
static const char *read_formula(struct reader *r, struct group_origin *o, const char *text) {
    text += strspn(text, " ");
    if (!strncmp(text, "n/a", 3)) {
        size_t n = strlen(text);
        if (n < 7 || strncmp(text, "n/a (", 5) || text[n - 1] != ')')
            return WRONG(r, "write `n/a (reason)`, found \"%.40s\"", text);
        return copy(r, "the reason", o->reason, sizeof o->reason, text + 5, n - 6);
    }
    const char *why = copy(r, "the formula", o->formula, sizeof o->formula, text, strlen(text));
    if (why) return why;
    if ((why = expression_check(o->formula))) return group_wrong(r, why);
    return expression_names(o->formula, check_name, r);
}

/* PLACES: formula */
static const char *read_origin(struct reader *r) {
    const char *colon = strchr(r->text, ':');
    if (!r->value) return WRONG(r, "an indented line needs a value above it");
    if (!colon) return WRONG(r, "expected `PLACES: formula`, found \"%.40s\"", r->text);
    if (r->value->n_origins == GROUP_MAX_ORIGINS)
        return WRONG(r, "more than %d lines for %s", GROUP_MAX_ORIGINS, r->value->name);
    struct group_origin *o = &r->value->origin[r->value->n_origins];
    *o = (struct group_origin){.line = r->line};
    const char *why =
        copy(r, "the place", o->places, sizeof o->places, r->text, (size_t)(colon - r->text));
    if (!why) why = check_places(r, o->places);
    if (!why) why = read_formula(r, o, colon + 1);
    if (!why) r->value->n_origins++;
    return why;
}

static const char *read_manual(struct reader *r) {
    size_t n = (size_t)(r->end - r->at);
    while (n && isspace((unsigned char)r->at[n - 1])) n--;
    if (n >= sizeof r->out->manual)
        return WRONG(r, "the text below is longer than %zu characters", sizeof r->out->manual - 1);
    memcpy(r->out->manual, r->at, n);
    r->out->manual[n] = 0;
    r->at = r->end;
    return n ? NULL : WRONG(r, "nothing below \"How to read:\"");
}

const char *group_parse(const char *text, size_t bytes, const char *file, struct group *out) {
    struct reader r = {.at = text, .end = text + bytes, .file = file, .out = out};
    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", file);
    for (;;) {
        bool more = false;
        const char *why = next_line(&r, &more);
        if (!why && !more) break;
        if (why) return why;
        if (!*out->name)
            why = read_title(&r);
        else if (!strcmp(r.text, "How to read:"))
            why = read_manual(&r);
        else if (*r.text == ' ')
            why = read_origin(&r);
        else
            why = read_value(&r);
        if (why) return why;
    }
    if (!*out->name) return WRONG(&r, "the file is empty");
    if (!out->n) return WRONG(&r, "%s has no values", out->name);
    if (!*out->manual)
        return WRONG(&r, "%s does not say how to read it (\"How to read:\")", out->name);
    for (int i = 0; i < out->n; i++)
        if (!out->value[i].n_origins) {
            r.line = out->value[i].line;
            return WRONG(&r, "%s comes from nowhere: no `PLACES: formula` below it",
                         out->value[i].name);
        }
    return NULL;
}

static bool place_fits(const char *pattern, size_t n, const char *place) {
    if (n == 3 && !memcmp(pattern, "GPU", 3)) return strcmp(place, "emulator") != 0;
    if (strlen(place) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (pattern[i] != place[i] && !(pattern[i] == 'x' && isdigit((unsigned char)place[i])))
            return false;
    return true;
}

const struct group_origin *group_origin(const struct group_value *value, const char *place) {
    for (int i = 0; i < value->n_origins; i++)
        for (const char *at = value->origin[i].places; *at;) {
            size_t n = strcspn(at, " ");
            if (place_fits(at, n, place)) return &value->origin[i];
            at += n + strspn(at + n, " ");
        }
    return NULL;
}
