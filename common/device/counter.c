#include "counter.h"

#include <stdlib.h>
#include <string.h>
#include <string.h>

void counters_free(struct counters *c) {
    free(c->counter);
    *c = (struct counters){0};
}

const char *counter_source_name(enum counter_source s) {
    static const char *const names[] = {"cupti", "event", "emulator", "model", "ptxas"};
    return names[s];
}

const struct counter *counters_find(const struct counters *c, const char *name) {
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->counter[i].name, name)) return *c->counter[i].reason ? NULL : &c->counter[i];
    return NULL;
}
