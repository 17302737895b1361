#include "counter.h"

#include <stdlib.h>

void counters_free(struct counters *c) {
    free(c->counter);
    *c = (struct counters){0};
}

const char *counter_source_name(enum counter_source s) {
    static const char *const names[] = {"cupti", "event", "emulator", "model", "ptxas"};
    return names[s];
}
