/* Formulas in counter groups: + - * / ( ), numbers, names such as sm__cycles_active.avg, max(a, b)
 * and first(a, b), which is b where a has no value. */
#pragma once

#include <stdbool.h>

/* The value of a name, or the reason why it has none. */
typedef const char *expression_lookup(void *arg, const char *name, double *value);

/* NULL, or what is wrong with the text or what `lookup` said. A division by zero names its
 * divisor. */
const char *expression_evaluate(const char *text, expression_lookup *lookup, void *arg,
                                double *out);

/* Checks the grammar only. */
const char *expression_check(const char *text);

/* Calls `visit` for each name in the text, in order, until one call returns a reason. */
const char *expression_names(const char *text, const char *(*visit)(void *arg, const char *name),
                             void *arg);

/* What the value comes from: of a text that is first(a, b) and nothing else the argument that has one,
 * and why those before it have none. Else the whole text. */
struct expression_choice {
    char text[128];
    const char *lacks; /* NULL: it is the first */
};
void expression_chosen(const char *text, expression_lookup *lookup, void *arg,
                       struct expression_choice *out);

/* The text is one name and nothing else: no formula, a plain value. */
bool expression_is_name(const char *text);
