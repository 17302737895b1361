/* device.h: chooses the device, then hands every call to its table. */
#include "device_ops.h"

#include "common/base/reason.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_options device_emu_options;

void device_emulator_options(const struct emu_options *o) { device_emu_options = *o; }

const char *device_open(enum device_kind kind, const char *chip, struct device **out) {
    *out = NULL;
    if (chip && !chip_find(chip))
        return reason_as(STATUS_USAGE,
                         "no chip '%s' (--chip takes h200, h100, l4, rtx4090, a100 or the NAME of "
                         "a chips/NAME.txt)",
                         chip);
    if (kind == DEVICE_EMU) return device_emu_open(chip, out);
    const char *no_gpu = device_cuda_open(out);
    if (!no_gpu || kind == DEVICE_CUDA) return no_gpu;
    const char *no_emulator = device_emu_open(chip, out);
    if (no_emulator) return reason_as(STATUS_NOTHING, "%s; %s", no_gpu, no_emulator);
    int cause_bytes = (int)strcspn(no_gpu, ";"); /* its remedy, the emulator, is what happens now */
    fprintf(stderr, "%s: %.*s; running on the emulator, a few seconds for a small problem\n",
            program_invocation_short_name, cause_bytes, no_gpu);
    return NULL;
}

void device_close(struct device *d) {
    if (d) d->ops->close(d);
}

const struct device_info *device_info(const struct device *d) { return &d->info; }

const char *device_alloc(struct device *d, size_t bytes, device_ptr *out) {
    return d->ops->alloc(d, bytes, out);
}

void device_free(struct device *d, device_ptr p) {
    if (p) d->ops->free(d, p);
}

const char *device_copy_in(struct device *d, device_ptr to, const void *from, size_t bytes) {
    return bytes ? d->ops->copy_in(d, to, from, bytes) : NULL;
}

const char *device_copy_out(struct device *d, void *to, device_ptr from, size_t bytes) {
    return bytes ? d->ops->copy_out(d, to, from, bytes) : NULL;
}

const char *device_fill(struct device *d, device_ptr p, uint32_t word, size_t bytes) {
    return bytes ? d->ops->fill(d, p, word, bytes) : NULL;
}

const char *device_load(struct device *d, const char *dir, const char *name,
                        struct device_image **out) {
    *out = NULL;
    return d->ops->load(d, dir, name, out);
}

void device_unload(struct device *d, struct device_image *image) {
    if (image) d->ops->unload(d, image);
}

const char *device_variable(struct device *d, struct device_image *image, const char *name,
                            device_ptr *out, size_t *bytes) {
    return d->ops->variable(d, image, name, out, bytes);
}

const char *device_kernel_info(struct device *d, struct device_image *image, const char *kernel,
                               struct device_kernel_info *out) {
    return d->ops->kernel_info(d, image, kernel, out);
}

const char *device_tensor_map(struct device *d, const struct device_tensor_map *m,
                              void *map_128_bytes) {
    return d->ops->tensor_map(d, m, map_128_bytes);
}

const char *device_launch(struct device *d, struct device_image *image,
                          const struct device_launch *l) {
    return d->ops->launch(d, image, l);
}

const char *device_sync(struct device *d) { return d->ops->sync(d); }

int device_busy_sms(const struct device *d, const struct device_launch *launches, int n) {
    int busy = 1;
    for (int i = 0; i < n; i++) {
        const unsigned *g = launches[i].grid;
        double ctas = (double)g[0] * g[1] * g[2];
        if (ctas > busy) busy = ctas < d->info.chip.n_sms ? (int)ctas : d->info.chip.n_sms;
    }
    return busy;
}

const char *device_graph_open(struct device *d, struct device_image *image,
                              const struct device_launch *launches, int n, int repeats, bool cold,
                              struct device_graph **out) {
    *out = NULL;
    if (!d->ops->graph_open) return reason("this device measures no time");
    return d->ops->graph_open(d, image, launches, n, repeats, cold, out);
}

const char *device_graph_time(struct device_graph *g, bool flush_l2, double *us_total) {
    return g->device->ops->graph_time(g, flush_l2, us_total);
}

void device_graph_close(struct device_graph *g) {
    if (g) g->device->ops->graph_close(g);
}

const char *device_graph_sm_clock_mhz(struct device_graph *g, double *mhz) {
    return g->device->ops->graph_sm_clock_mhz(g, mhz);
}

const char *device_time(struct device *d, struct device_image *image,
                        const struct device_launch *launches, int n, double *us, double *mhz,
                        const char **no_clock) {
    enum { REPEATS = 20 };
    struct device_graph *g = NULL;
    *us = *mhz = 0;
    *no_clock = NULL;
    const char *why = device_graph_open(d, image, launches, n, REPEATS, false, &g);
    for (int i = 0; !why && i < 2; i++)
        why = device_graph_time(g, false, us); /* the first is cold */
    if (!why) *no_clock = device_graph_sm_clock_mhz(g, mhz);
    *us /= REPEATS;
    device_graph_close(g);
    return why;
}

int device_clock_mhz(struct device *d) { return d->ops->clock_mhz ? d->ops->clock_mhz(d) : 0; }

void device_launch_arg(struct device_launch *l, const void *value, size_t bytes) {
    if (l->n_args >= DEVICE_MAX_ARGS || bytes > DEVICE_MAX_ARG_BYTES) {
        fprintf(stderr, "%s:%d: argument %d of %s, %zu bytes: at most %d of %d bytes\n", __FILE__,
                __LINE__, l->n_args, l->kernel, bytes, DEVICE_MAX_ARGS, DEVICE_MAX_ARG_BYTES);
        abort();
    }
    if ((uintptr_t)l %
        _Alignof(struct device_launch)) { /* malloc's memory: heap_line has the right */
        fprintf(stderr, "%s:%d: the launch of %s lies at no multiple of %zu\n", __FILE__, __LINE__,
                l->kernel, _Alignof(struct device_launch));
        abort();
    }
    memcpy(l->arg[l->n_args], value, bytes);
    l->arg_bytes[l->n_args++] = bytes;
}

const struct device_launch *device_main_launch(const struct device_launch *launches, int n) {
    const struct device_launch *most = launches;
    for (int i = 1; i < n; i++)
        if (launches[i].shared_bytes > most->shared_bytes) most = &launches[i];
    return most;
}

double device_power_watts(struct device *d) {
    return d->ops->power_watts ? d->ops->power_watts(d) : 0;
}
