#include "expression.h"

#include "common/base/reason.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* sum     = product { ("+" | "-") product }
 * product = factor { ("*" | "/") factor }
 * factor  = number | name | "(" sum ")" | "-" factor
 *         | "max" "(" sum { "," sum } ")"      the largest; all must have a value
 *         | "first" "(" sum { "," sum } ")"    the first that has one; a failure ends it
 * name    = letter { letter | digit | "_" | "." | "@" } */
struct expression_parser {
    const char *text, *at;
    expression_lookup *lookup; /* NULL: grammar only, every name is 1 and nothing divides by zero */
    void *arg;
    const char *why; /* the first thing that went wrong */
    int depth;
    const char *chosen; /* of the call that ended last: the argument that was taken; NULL: none */
    int chosen_length;
    const char *lacks; /* and why the one before it had none, or NULL */
};

enum { MAX_DEPTH = 32, MAX_NAME = 128 };

static double sum(struct expression_parser *p);

static char peek(struct expression_parser *p) {
    while (*p->at == ' ') p->at++;
    return *p->at;
}

static double fail(struct expression_parser *p, const char *why) {
    if (!p->why) p->why = why;
    return NAN;
}

static size_t name_length(const char *at) {
    size_t n = 0;
    if (!isalpha((unsigned char)*at) && *at != '_') return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.' || at[n] == '@') n++;
    return n;
}

static double name(struct expression_parser *p, size_t length) {
    char text[MAX_NAME];
    if (length >= sizeof text)
        return fail(p, reason("a name of %zu characters is too long", length));
    snprintf(text, sizeof text, "%.*s", (int)length, p->at);
    p->at += length;
    double value = 1;
    if (!p->lookup || p->why) return value;
    const char *why = p->lookup(p->arg, text, &value);
    return why ? fail(p, why) : value;
}

/* Past what is left of an argument, to the comma or parenthesis behind it. */
static void skip_argument(struct expression_parser *p) {
    for (int depth = 0; *p->at && (depth || (*p->at != ',' && *p->at != ')')); p->at++)
        depth += (*p->at == '(') - (*p->at == ')');
}

/* The arguments of max() or first(). */
static double choice(struct expression_parser *p, bool first) {
    double chosen = NAN;
    const char *lacks = NULL, *of = NULL, *before = NULL;
    int length = 0;
    if (++p->depth > MAX_DEPTH) return fail(p, reason("more than %d levels deep", MAX_DEPTH));
    const int depth = p->depth;
    do {
        p->at++; /* past ( or , */
        const char *begin = p->at;
        double value = sum(p);
        if (first && p->why && p->lookup &&
            reason_status(p->why, STATUS_UNSUPPORTED) == STATUS_UNSUPPORTED) {
            /* not to be had here, and no failure: another may have a value */
            lacks = p->why;
            p->why = NULL;
            p->depth = depth;
            p->at = begin;
            skip_argument(p);
        } else if (isnan(chosen) || (!first && value > chosen)) {
            chosen = value;
            of = begin;
            length = (int)(p->at - begin);
            before = lacks;
        }
    } while (!p->why && peek(p) == ',');
    p->depth--;
    if (!p->why && peek(p) != ')')
        return fail(p, reason("expected , or ) at \"%.24s\" in \"%s\"", p->at, p->text));
    if (!p->why) p->at++;
    p->chosen = of;
    p->chosen_length = length;
    p->lacks = before;
    return isnan(chosen) && lacks ? fail(p, lacks) : chosen;
}

static double factor(struct expression_parser *p) {
    char c = peek(p);
    size_t length = name_length(p->at);
    if (length && p->at[length] == '(') {
        bool first = length == 5 && !strncmp(p->at, "first", 5);
        if (!first && !(length == 3 && !strncmp(p->at, "max", 3)))
            return fail(p, reason("%.*s() is neither max() nor first()", (int)length, p->at));
        p->at += length;
        return choice(p, first);
    }
    if (length) return name(p, length);
    if (isdigit((unsigned char)c)) {
        char *end;
        double value = strtod(p->at, &end);
        p->at = end;
        return value;
    }
    if (c != '(' && c != '-')
        return fail(
            p, reason("expected a number, a name or ( at \"%.24s\" in \"%s\"", p->at, p->text));
    if (++p->depth > MAX_DEPTH) return fail(p, reason("more than %d levels deep", MAX_DEPTH));
    p->at++;
    double value = c == '-' ? -factor(p) : sum(p);
    p->depth--;
    if (c == '(' && !p->why) {
        if (peek(p) != ')')
            return fail(p, reason("expected ) at \"%.24s\" in \"%s\"", p->at, p->text));
        p->at++;
    }
    return value;
}

static double product(struct expression_parser *p) {
    double value = factor(p);
    for (;;) {
        char op = peek(p);
        if (p->why || (op != '*' && op != '/')) return value;
        const char *divisor = ++p->at;
        double right = factor(p);
        if (op == '*') {
            value *= right;
        } else if (right == 0 && p->lookup && !p->why) {
            while (*divisor == ' ') divisor++;
            return fail(p,
                        reason("%.*s is 0: nothing to divide by", (int)(p->at - divisor), divisor));
        } else {
            value /= right;
        }
    }
}

static double sum(struct expression_parser *p) {
    double value = product(p);
    for (;;) {
        char op = peek(p);
        if (p->why || (op != '+' && op != '-')) return value;
        p->at++;
        double right = product(p);
        value = op == '+' ? value + right : value - right;
    }
}

const char *expression_evaluate(const char *text, expression_lookup *lookup, void *arg,
                                double *out) {
    struct expression_parser p = {.text = text, .at = text, .lookup = lookup, .arg = arg};
    *out = sum(&p);
    if (!p.why && peek(&p))
        return reason("expected an operator at \"%.24s\" in \"%s\"", p.at, text);
    return p.why;
}

void expression_chosen(const char *text, expression_lookup *lookup, void *arg,
                       struct expression_choice *out) {
    struct expression_parser p = {.text = text, .at = text, .lookup = lookup, .arg = arg};
    const bool first = !strncmp(text, "first(", 6);
    if (first) factor(&p);
    const bool whole = !first || p.why || !p.chosen || peek(&p);
    const char *from = whole ? text : p.chosen;
    while (*from == ' ') from++;
    snprintf(out->text, sizeof out->text, "%.*s",
             whole ? (int)strlen(text) : (int)(p.chosen + p.chosen_length - from), from);
    out->lacks = whole ? NULL : p.lacks;
}

const char *expression_check(const char *text) {
    double ignored;
    return expression_evaluate(text, NULL, NULL, &ignored);
}

const char *expression_names(const char *text, const char *(*visit)(void *arg, const char *name),
                             void *arg) {
    for (const char *at = text; *at;) {
        size_t length = name_length(at);
        char found[MAX_NAME];
        if (length && length < sizeof found && at[length] != '(') {
            snprintf(found, sizeof found, "%.*s", (int)length, at);
            const char *why = visit(arg, found);
            if (why) return why;
        }
        /* Past a name, or past a number whole: the e of 1e6 is no name. */
        if (!length && isdigit((unsigned char)*at)) {
            char *end;
            strtod(at, &end);
            at = end;
        } else {
            at += length ? length : 1;
        }
    }
    return NULL;
}

bool expression_is_name(const char *text) {
    size_t length = name_length(text);
    return length && !text[length];
}
