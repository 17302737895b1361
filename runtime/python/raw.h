/* Kernels without host code: loaded from a fat binary or PTX, launched on arrays of the host, which
 * are copied to the device and back. The functions attnlab_* are what attnlab/__init__.py calls.
 *
 *   raw_open - raw_launch ... - attnlab_counters, attnlab_source, attnlab_reports */
#pragma once

#include "runtime/session/session.h"

struct raw_arg {
    void *at; /* an array's data, or the value */
    size_t bytes;
    bool is_array;
    char kind; /* of a value: 'f' real, 'u' whole, 0: not known */
};

/* `name`: the symbol, or what C++ calls it; one that several kernels share is refused. */
const char *raw_open(const void *image, size_t bytes, const char *name, struct kernel **out);
const char *raw_launch(struct kernel *k, const struct emu_grid *config, const struct raw_arg *arg,
                       int n);

/* Parts of these, for a kernel that runs elsewhere: its symbol, whether these are its arguments, why it was not
 * launched (NULL: it was). */
const char *raw_find(const struct emu_module *m, const char *name, const char **symbol);
const char *raw_check(const struct emu_kernel *code, const char *shown, const struct raw_arg *arg,
                      int n);
const char *raw_fault(enum fault f, const char *shown, const char *because);
