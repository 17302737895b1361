#include "emu_counted.h"

#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

/* Launches print while they run, so each must run whenever it is asked for. */
static bool says_something(const struct emu_options *o) {
    return o->trace_line || o->banks_line || o->watch || o->watch_shared || o->without;
}

static bool same_options(const struct emu_options *o) {
    return !memcmp(o, &device_emu_options, sizeof *o);
}

void emu_counted_close(struct emu_counted_launches *c) {
    emu_result_close(c->result);
    free(c->launch);
    *c = (struct emu_counted_launches){0};
}

void emu_counted_add(struct emu_counted_launches *c, const struct device_image *image,
                     const struct device_launch *l) {
    if (c->result) emu_counted_close(c);
    if (!c->n) {
        c->image = image;
        memcpy(&c->options, &device_emu_options, sizeof c->options);
    }
    c->mixed |= c->image != image || !same_options(&c->options);
    c->launch = heap_grown(c->launch, (size_t)(c->n + 1) * sizeof *c->launch);
    memcpy(&c->launch[c->n++], l, sizeof *l);
}

const char *emu_counted_end(struct emu_counted_launches *c, struct emu_result **result) {
    if (c->result) return NULL; /* nothing was launched after it */
    if (!c->n || c->mixed || says_something(&c->options) || emu_result_reports(*result)) {
        emu_counted_close(c);
        return NULL;
    }
    c->result = *result;
    return emu_result_open(result);
}

void emu_counted_forget(struct emu_counted_launches *c) {
    if (c->result)
        emu_counted_close(c);
    else
        c->mixed = c->n > 0;
}

const struct emu_result *emu_counted_find(const struct emu_counted_launches *c,
                                          const struct device_image *image,
                                          const struct device_launch *launches, int n) {
    const bool same = c->result && c->n == n && c->image == image && same_options(&c->options) &&
                      !memcmp(c->launch, launches, (size_t)n * sizeof *launches);
    return same ? c->result : NULL;
}
