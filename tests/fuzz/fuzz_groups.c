/* Fuzzes the parser of counter groups, and the formulas in what it accepts.
 * seeds: profiler/groups */
#include "profiler/expression.h"
#include "profiler/groups.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static const char *one(void *arg, const char *name, double *value) {
    *value = (double)strlen(name) - *(int *)arg;
    return NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    static struct group g;
    if (group_parse((const char *)data, bytes, "fuzz", &g)) return 0;
    if (!*g.name || !g.n || g.n > GROUP_MAX_VALUES) abort();
    for (int i = 0; i < g.n; i++) {
        const struct group_origin *o = group_origin(&g.value[i], "GH100");
        double value;
        if (o && !*o->formula && !*o->reason) abort();
        if (o && *o->formula) (void)expression_evaluate(o->formula, one, &i, &value);
    }
    return 0;
}
