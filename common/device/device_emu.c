/* device.h on the emulator: launches run to their end at once; sync says which checks failed. */
#include "device_ops.h"

#include "predictor.h"
#include "emu_sass.h"
#include "emu_counted.h"
#include "emu_counters.h"
#include "common/base/ptxas.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "source.h"
#include "emulator/core/failed_check.h"
#include "emulator/instructions/tensormap.h"
#include "common/base/heap.h"

#include <cuda.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct emu_device {
    struct device device;
    struct emu_memory *memory;
    struct emu_result *result; /* since the last sync */
    struct emu_result *counts; /* while counters are collected: where launches count instead */
    struct emu_counted_launches
        counted; /* the launches that result counts, or did until the last sync */
};

struct device_image {
    struct emu_module *module;
    char dir[PATH_MAX - 128], name[64];
};

static struct emu_device *emu_of(struct device *d) { return (struct emu_device *)d; }

struct emu_memory *device_emu_memory(struct device *d) {
    return emu_of(d)->memory;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* So many bytes of an allocation are filled with what nobody has written: all that a stage needs. */
enum { MOST_FILLED = 1 << 26 };

static const char *emu_alloc(struct device *d, size_t bytes, device_ptr *out) {
    const char *why = emu_memory_alloc(emu_of(d)->memory, bytes, out);
    if (why) return reason_as(STATUS_DEVICE, "%s", why);
    emu_counted_forget(&emu_of(d)->counted);
    emu_draw_fill(emu_draw_unwritten(device_emu_options.draw), (unsigned char *)(uintptr_t)*out,
                  bytes < MOST_FILLED ? bytes : MOST_FILLED);
    return NULL;
}

static void emu_free(struct device *d, device_ptr p) {
    emu_counted_forget(&emu_of(d)->counted);
    emu_memory_free(emu_of(d)->memory, p);
}

static const char *range(struct device *d, device_ptr p, size_t bytes, void **at) {
    *at = emu_memory_at(emu_of(d)->memory, p, bytes);
    if (*at) return NULL;
    return reason_as(STATUS_DEVICE, "a copy of %zu bytes at 0x%llx leaves its allocation", bytes,
                     (unsigned long long)p);
}

static const char *emu_copy_in(struct device *d, device_ptr to, const void *from, size_t bytes) {
    void *at;
    const char *why = range(d, to, bytes, &at);
    emu_counted_forget(&emu_of(d)->counted);
    if (!why) memcpy(at, from, bytes);
    return why;
}

static const char *emu_copy_out(struct device *d, void *to, device_ptr from, size_t bytes) {
    void *at;
    const char *why = range(d, from, bytes, &at);
    if (!why) memcpy(to, at, bytes);
    return why;
}

static const char *emu_fill(struct device *d, device_ptr p, uint32_t word, size_t bytes) {
    void *at;
    const char *why = range(d, p, bytes, &at);
    emu_counted_forget(&emu_of(d)->counted);
    for (size_t i = 0; !why && i < bytes / 4; i++) memcpy((char *)at + 4 * i, &word, 4);
    return why;
}

/* ---- Images and launches --------------------------------------------------------------------- */

/* The newest PTX that the chip may run: Hopper's own first, Ada's on anything from Ada on. */
static const char *emu_load(struct device *d, const char *dir, const char *name,
                            struct device_image **out) {
    static const char *const arch[] = {"compute_90a", "compute_89"};
    char path[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    for (int a = d->info.chip.cc >= 90 ? 0 : 1; a < 2 && !text; a++) {
        snprintf(path, sizeof path, "%s/%s.%s.ptx", dir, name, arch[a]);
        text = path_read(path, &bytes);
        if (!text && errno != ENOENT)
            return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    }
    if (!text)
        return reason_as(STATUS_UNSUPPORTED,
                         "no image %s/%s.compute_*.ptx for the emulator as %s: make the stage's "
                         "images, or the stage is not for this chip",
                         dir, name, d->info.chip.name);
    struct device_image *image = heap_zeroed(1, sizeof *image);
    const char *why = emu_module_open(emu_of(d)->memory, text, bytes, path, &image->module);
    free(text);
    if (why) {
        free(image);
        return reason_as(reason_status(why, STATUS_UNSUPPORTED), "%s", why);
    }
    snprintf(image->dir, sizeof image->dir, "%s", dir);
    snprintf(image->name, sizeof image->name, "%s", name);
    *out = image;
    return NULL;
}

static void emu_unload(struct device *d, struct device_image *image) {
    emu_counted_forget(&emu_of(d)->counted); /* it and the result point into the module */
    emu_result_clear(emu_of(d)->result);
    emu_module_close(image->module);
    free(image);
}

static const char *find(struct device_image *image, const char *name,
                        const struct emu_kernel **out) {
    *out = emu_module_kernel(image->module, name);
    return *out ? NULL
                : reason_as(STATUS_DEVICE, "no kernel '%s' in the image %s", name, image->name);
}

/* Registers are what ptxas said of the cubin that was compiled from the same source. */
static const char *emu_kernel_info(struct device *d, struct device_image *image, const char *kernel,
                                   struct device_kernel_info *out) {
    const struct emu_kernel *k;
    const char *why = find(image, kernel, &k);
    if (why) return why;
    out->n_registers = -1;
    for (int a = d->info.chip.cc >= 90 ? 0 : 1; a < 2 && out->n_registers < 0; a++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.%s.ptxas", image->dir, image->name,
                 a ? "sm_89" : "sm_90a");
        out->n_registers = ptxas_registers(path, kernel);
        if (out->n_registers < -1)
            return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno ? errno : EIO));
    }
    out->static_shared = emu_kernel_static_shared(k);
    out->local_bytes = emu_kernel_local_bytes(k);
    out->max_threads = emu_kernel_max_threads(k) ? emu_kernel_max_threads(k) : 1024;
    return NULL;
}

struct emu_grid device_emu_grid(const struct device_launch *l) {
    struct emu_grid g = {.shared_bytes = l->shared_bytes,
                         .overlaps_previous = l->overlaps_previous,
                         .n_args = l->n_args};
    for (int i = 0; i < 3; i++) {
        g.grid[i] = l->grid[i];
        g.block[i] = l->block[i];
        g.cluster[i] = l->cluster[i];
    }
    for (int a = 0; a < l->n_args; a++) {
        g.arg[a] = l->arg[a];
        g.arg_bytes[a] = l->arg_bytes[a];
    }
    return g;
}

static const char *emu_launch_one(struct device *d, struct device_image *image,
                                  const struct device_launch *l) {
    struct emu_device *e = emu_of(d);
    const struct emu_grid g = device_emu_grid(l);
    const struct emu_kernel *k;
    const char *why = find(image, l->kernel, &k);
    if (why) return why;
    if (e->counts)
        emu_counted_forget(&e->counted); /* they write to memory, too */
    else
        emu_counted_add(&e->counted, image, l);
    why = emu_launch(e->memory, k, &g, &d->info.chip, &device_emu_options,
                     e->counts ? e->counts : e->result);
    return why ? reason_as(reason_status(why, STATUS_DEVICE), "%s", why) : NULL;
}

/* Failed checks are printed in full; the reason counts them. A --without that left nothing out is an error,
 * because otherwise the run would look like a success. */
static const char *say_reports(const struct emu_result *r) {
    const char *without = device_emu_options.without;
    int n = 0;
    for (int i = 0; i < emu_result_reports(r); i++) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, emu_result_report(r, i));
        n += emu_result_report_kind(r, i) != EMU_NOTE;
    }
    if (!n && without && strcmp(without, "list") && emu_result_left_nothing_out(r))
        return reason_as(STATUS_USAGE,
                         "--without %.64s: the launches have no barrier, wait or fence there; "
                         "--without list shows them",
                         without);
    return n ? reason_as(STATUS_WRONG, "%d check%s of the emulator failed (above)", n,
                         n > 1 ? "s" : "")
             : NULL;
}

static const char *emu_sync(struct device *d) {
    struct emu_device *e = emu_of(d);
    const char *why = say_reports(e->result);
    const char *not_kept = emu_counted_end(&e->counted, &e->result);
    emu_result_clear(e->result);
    return why ? why : not_kept;
}

/* Runs the launches for their counts, unless they ran just now. Ends by drop_counts(). */
static const char *count(struct device *d, struct device_image *image,
                         const struct device_launch *launches, int n,
                         const struct emu_result **out) {
    struct emu_device *e = emu_of(d);
    *out = emu_counted_find(&e->counted, image, launches, n);
    if (*out) return NULL;
    const char *why = emu_result_open(&e->counts);
    for (int i = 0; i < n && !why; i++) why = emu_launch_one(d, image, &launches[i]);
    *out = e->counts;
    return why;
}

/* The reports of launches that count() ran. Those of earlier ones were said by emu_sync(). */
static const char *say_new_reports(struct device *d) {
    return emu_of(d)->counts ? say_reports(emu_of(d)->counts) : NULL;
}

static void drop_counts(struct device *d) {
    emu_result_close(emu_of(d)->counts);
    emu_of(d)->counts = NULL;
}

static const char *emu_counters(struct device *d, struct device_image *image,
                                const struct device_launch *launches, int n, struct counters *out) {
    const struct emu_result *counts;
    const char *why = count(d, image, launches, n, &counts);
    if (!why) why = emu_counters_of(counts, &d->info.chip, out);
    if (!why) why = say_new_reports(d);
    drop_counts(d);
    return why;
}

static const char *open_predictor(struct predictor *c, struct device *d,
                                  struct device_image *image) {
    const char *why = predictor_open(c, d, image->dir, image->name);
    c->find = emu_sass_variable;
    c->find_user = image->module;
    return why;
}

static const char *predictor(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, struct counters *out) {
    struct predictor c;
    const char *why = open_predictor(&c, d, image);
    if (!why) why = predictor_counters(&c, launches, n, out);
    predictor_close(&c);
    return why;
}

static const char *emu_sass(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, struct counters *out) {
    return emu_sass_counters(d, image->dir, image->name, image->module, launches, n, out);
}

static const char *emu_source(struct device *d, struct device_image *image,
                              const struct device_launch *launches, int n, struct source *out) {
    const struct emu_result *counts;
    const char *why = count(d, image, launches, n, &counts);
    if (!why) why = say_new_reports(d);
    if (!why) { /* the counts are useful without a prediction, too */
        struct predictor c;
        emu_source_of(counts, &d->info.chip, device_busy_sms(d, launches, n), out);
        const char *no_clock = open_predictor(&c, d, image);
        if (!no_clock) no_clock = predictor_source(&c, launches, n, out);
        predictor_close(&c);
        if (no_clock) snprintf(out->about, sizeof out->about, "n/a: %s", no_clock);
    }
    drop_counts(d);
    return why;
}

/* ---- Open and close -------------------------------------------------------------------------- */

static void emu_close(struct device *d) {
    struct emu_device *e = emu_of(d);
    emu_counted_close(&e->counted);
    emu_result_close(e->result);
    emu_memory_close(e->memory);
    free(e);
}

static const char *emu_variable(struct device *d, struct device_image *image, const char *name,
                                device_ptr *out, size_t *bytes) {
    uint64_t n;
    (void)d;
    if (!emu_module_variable(image->module, name, out, &n))
        return reason("the image has no variable %s", name);
    *bytes = n;
    return NULL;
}

static const char *emu_map(struct device *d, const struct device_tensor_map *m,
                           void *map_128_bytes) {
    struct tensormap t = {.base = m->base,
                          .rank = m->rank,
                          .element_bytes = 2,
                          .type = EMU_F16,
                          .swizzle_bytes = m->swizzle_bytes};
    (void)d;
    memcpy(t.extent, m->extent, sizeof t.extent);
    memcpy(t.stride, m->stride, sizeof t.stride);
    memcpy(t.box, m->box, sizeof t.box);
    return tensormap_encode(&t, map_128_bytes);
}

void device_emu_info(const char *chip, struct device_info *info) {
    info->chip = *chip_find(chip ? chip : "h200");
    info->is_emulator = true;
    info->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    snprintf(info->name, sizeof info->name, "emulator (%s)", info->chip.name);
    snprintf(info->toolkit, sizeof info->toolkit, "%d.%d", CUDA_VERSION / 1000,
             CUDA_VERSION % 1000 / 10);
}

const char *device_emu_open(const char *chip, struct device **out) {
    static const struct device_ops ops = {
        .close = emu_close,
        .alloc = emu_alloc,
        .free = emu_free,
        .copy_in = emu_copy_in,
        .copy_out = emu_copy_out,
        .fill = emu_fill,
        .load = emu_load,
        .unload = emu_unload,
        .kernel_info = emu_kernel_info,
        .variable = emu_variable,
        .tensor_map = emu_map,
        .launch = emu_launch_one,
        .sync = emu_sync,
        .counters = emu_counters,
        .predict = predictor,
        .sass = emu_sass,
        .source = emu_source,
    };
    struct emu_device *e = heap_zeroed(1, sizeof *e);
    *out = NULL;
    const char *why = emu_memory_open(&e->memory);
    if (!why) why = emu_result_open(&e->result);
    if (why) {
        emu_memory_close(e->memory);
        free(e);
        return reason_as(STATUS_DEVICE, "%s", why);
    }
    e->device.ops = &ops;
    device_emu_info(chip, &e->device.info);
    *out = &e->device;
    return NULL;
}
