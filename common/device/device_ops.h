/* Private to the devices: what device.h's functions call. device_cuda.c and device_emu.c each
 * fill in one table and put these structs first in their own:
 *
 *   struct cuda_device { struct device device; CUcontext context; ... };
 *
 * device.c checks nothing that the table's functions could check better: it only dispatches. */
#pragma once

#include "counter.h"
#include "device.h"
#include "emulator/emulator.h"
#include "source.h"

struct device_ops {
    void (*close)(struct device *d);
    const char *(*alloc)(struct device *d, size_t bytes, device_ptr *out);
    void (*free)(struct device *d, device_ptr p);
    const char *(*copy_in)(struct device *d, device_ptr to, const void *from, size_t bytes);
    const char *(*copy_out)(struct device *d, void *to, device_ptr from, size_t bytes);
    const char *(*fill)(struct device *d, device_ptr p, uint32_t word, size_t bytes);
    const char *(*load)(struct device *d, const char *dir, const char *name,
                        struct device_image **out);
    void (*unload)(struct device *d, struct device_image *image);
    const char *(*kernel_info)(struct device *d, struct device_image *image, const char *kernel,
                               struct device_kernel_info *out);
    const char *(*variable)(struct device *d, struct device_image *image, const char *name,
                            device_ptr *out, size_t *bytes);
    const char *(*tensor_map)(struct device *d, const struct device_tensor_map *m,
                              void *map_128_bytes);
    const char *(*launch)(struct device *d, struct device_image *image,
                          const struct device_launch *l);
    const char *(*sync)(struct device *d);

    /* The emulator leaves these six NULL: it has no time. */
    const char *(*graph_open)(struct device *d, struct device_image *image,
                              const struct device_launch *launches, int n, int repeats, bool cold,
                              struct device_graph **out);
    const char *(*graph_time)(struct device_graph *g, bool flush_l2, double *us_total);
    void (*graph_close)(struct device_graph *g);
    const char *(*graph_sm_clock_mhz)(struct device_graph *g, double *mhz);
    int (*clock_mhz)(struct device *d);
    double (*power_watts)(struct device *d);

    /* The emulator's half of counters_collect(), NULL on a GPU: runs the launches once and
     * appends its raw counts to `out`, free of groups. counter.name is what group files call
     * emu.NAME: "instructions", "threads", "hmma", "ld_shared.wavefronts", ...; counter.source
     * is SOURCE_EMULATOR for an exact count, SOURCE_MODEL for a modelled one. A launch with failed
     * checks is counted, too. */
    const char *(*counters)(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, struct counters *out);

    /* The prediction for the launches, NULL on a GPU: appends the values that group files call
     * predictor.NAME (predictor.h), all of SOURCE_MODEL. Before the launches have been counted, or
     * after. */
    const char *(*predict)(struct device *d, struct device_image *image,
                           const struct device_launch *launches, int n, struct counters *out);

    /* What the machine code of the launches does, NULL on a GPU: appends the counts that group files call
     * sass.NAME (emu_sass.h). Before or after the others. */
    const char *(*sass)(struct device *d, struct device_image *image,
                        const struct device_launch *launches, int n, struct counters *out);

    /* The emulator's half of attribution_collect(), NULL on a GPU: runs the launches once and adds
     * up what each source line did (source_add). */
    const char *(*source)(struct device *d, struct device_image *image,
                          const struct device_launch *launches, int n, struct source *out);
};

struct device {
    const struct device_ops *ops;
    struct device_info info;
};

struct device_graph {
    struct device *device;
};

/* No libcuda or no GPU: STATUS_NOTHING; a GPU that no image suits: STATUS_UNSUPPORTED
 * (reason.h). */
const char *device_cuda_open(struct device **out);

/* What device_info() would say of it; makes no context. */
const char *device_cuda_info(struct device_info *out);

/* Of a GPU only, for callers that have a stream of their own: all that follows goes to this CUstream
 * (returns the one before); and memory that lives, on that stream, from one call to the other, also
 * while it is captured. */
void *device_cuda_stream(struct device *d, void *stream);
const char *device_cuda_scratch(struct device *d, size_t bytes, device_ptr *out);
const char *device_cuda_scratch_end(struct device *d, device_ptr p);

/* The CUcontext of a GPU, for CUPTI; NULL of the emulator. */
void *device_cuda_context(struct device *d);

/* cuda_sm_clock.h's marks, in a stream of the caller. */
const char *device_cuda_mark(struct device *d, int mark, void *stream);
const char *device_cuda_between(struct device *d, double *mhz);

/* The cubin that was loaded, for source lines; NULL of the emulator. */
const void *device_cuda_cubin(const struct device *d, const struct device_image *image,
                              size_t *bytes);
const char *device_cuda_path(const struct device_image *image); /* its file, of a GPU only */

/* The options last given to device_emulator_options(); zeros before. */
extern struct emu_options device_emu_options;

/* What `chip` (NULL: h200) would do. */
const char *device_emu_open(const char *chip, struct device **out);
/* Its memory, for callers that run the images in another way (SASS). */
struct emu_memory *device_emu_memory(struct device *d);
/* A launch as the emulator wants it; the arguments stay where they are. */
struct emu_grid device_emu_grid(const struct device_launch *l);
/* device_info() of the emulator when it stands for this chip (NULL: h200). */
void device_emu_info(const char *chip, struct device_info *out);
