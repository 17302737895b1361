#include "emu_sass.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "device_ops.h"
#include "emulator/sass/sass.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool interrupted(void) { return interrupt_signal() != 0; }

bool emu_sass_variable(void *user, const char *name, uint64_t *address, uint64_t *bytes) {
    return emu_module_variable(user, name, address, bytes);
}

static const char *run(struct device *d, const struct sass_module *m, struct emu_module *variables,
                       const struct device_launch *l, struct sass_counts *counts) {
    const struct emu_grid launch = device_emu_grid(l);
    const struct sass_kernel *k = sass_find(m, l->kernel);
    struct sass_grid *g;
    if (!k) return reason("no kernel '%s' in the cubin", l->kernel);
    const char *why = sass_grid_open(device_emu_memory(d), k, &launch, &g);
    if (why) return why;
    g->unwritten = emu_draw_unwritten(device_emu_options.draw);
    g->stop = interrupted;
    g->n_threads = device_emu_options.n_threads > 0 ? device_emu_options.n_threads
                                                    : (int)sysconf(_SC_NPROCESSORS_ONLN);
    why = sass_grid_variables(g, variables, emu_sass_variable);
    if (!why) why = sass_run(g, counts);
    sass_grid_close(g);
    return why;
}

void emu_sass_values(const struct sass_counts *counts, struct counters *out) {
    struct sass_counted row;
    for (int i = 0; sass_counted(counts, i, &row); i++) {
        out->counter = heap_grown(out->counter, (size_t)(out->n + 1) * sizeof *out->counter);
        struct counter *c = &out->counter[out->n++];
        *c = (struct counter){.value = row.value, .source = SOURCE_EMULATOR};
        snprintf(c->name, sizeof c->name, "%s", row.name);
        snprintf(c->unit, sizeof c->unit, "%s", row.unit);
    }
}

const char *emu_sass_counters(struct device *d, const char *dir, const char *name,
                              struct emu_module *variables, const struct device_launch *launches,
                              int n, struct counters *out) {
    char path[PATH_MAX], cache[PATH_MAX];
    struct sass_module *m = NULL;
    struct sass_counts counts = {0};
    const char *why = NULL;
    snprintf(path, sizeof path, "%s/%s.sm_90a.cubin", dir, name);
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    if (d->info.chip.cc != 90)
        why = reason("it is executed of Hopper's code only, and %s is none", d->info.chip.name);
    else if (device_emu_options.count_ptx)
        why = "--count-ptx";
    else if (device_emu_options.without && strcmp(device_emu_options.without, "list"))
        why = "--without leaves that line out of PTX, not of SASS";
    else if (access(path, R_OK))
        why = reason_as(errno == ENOENT ? STATUS_UNSUPPORTED : STATUS_FILE, "%s: %s", path,
                        strerror(errno));
    if (!why) why = sass_open(path, cache, &m);
    for (int i = 0; i < n && !why; i++) why = run(d, m, variables, &launches[i], &counts);
    sass_close(m);
    if (why) return reason_as(reason_status(why, STATUS_UNSUPPORTED), "no counts of SASS: %s", why);
    emu_sass_values(&counts, out);
    return NULL;
}
