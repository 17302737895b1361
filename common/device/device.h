/* A device is a GPU behind the CUDA driver, or the emulator. Both take the same launches.
 *
 *   open - alloc - copy_in - load an image - launch - sync - copy_out - close
 *
 * Every function that can fail for a reason outside the program returns a reason (reason.h) or
 * NULL. Addresses are the device's own (device_ptr); 0 is no address. One thread at a time uses
 * a device. */
#pragma once

#include "common/base/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_kind { DEVICE_AUTO, DEVICE_CUDA, DEVICE_EMU };
typedef uint64_t device_ptr;

struct device;       /* opaque: device_cuda.c or device_emu.c */
struct device_image; /* a loaded cubin or PTX file */

enum { DEVICE_MAX_ARGS = 8, DEVICE_MAX_ARG_BYTES = 256 };

/* One kernel launch, ready to be replayed: nothing in it points to the host. */
struct device_launch {
    char kernel[64]; /* symbol in the image */
    unsigned grid[3], block[3];
    unsigned cluster[3];    /* blocks that can reach each other's shared memory; {0,0,0}: alone */
    bool overlaps_previous; /* may start before the launch ahead of it has ended: its kernel runs
                               griddepcontrol.wait before it reads what launches ahead of it write,
                               or writes what they read or write */
    unsigned shared_bytes;  /* dynamic shared memory */
    const struct device_launch *on_gpu; /* what the predictor predicts, where the emulator runs
                                           less than a GPU would; NULL: both are the same */
    int n_args;
    size_t arg_bytes[DEVICE_MAX_ARGS];
    _Alignas(64) unsigned char arg[DEVICE_MAX_ARGS][DEVICE_MAX_ARG_BYTES];
};

/* Appends one argument; no room for it is a bug, and ends the program. */
void device_launch_arg(struct device_launch *l, const void *value, size_t bytes);

/* The launch with the most shared memory: where there are several, the others prepare or finish. */
const struct device_launch *device_main_launch(const struct device_launch *launches, int n);

/* Attributes of a loaded kernel. */
struct device_kernel_info {
    int n_registers;   /* per thread; -1: unknown (PTX in the emulator) */
    int static_shared; /* bytes */
    int local_bytes;   /* per thread: more than 0 means spills or a stack frame */
    int max_threads;   /* per block, from __launch_bounds__ */
};

/* A tensor map (CUtensorMap), fp16 elements, up to 5 dimensions, innermost first. */
struct device_tensor_map {
    device_ptr base;    /* 16-byte aligned */
    int rank;           /* 1..5 */
    uint64_t extent[5]; /* elements */
    uint64_t stride[5]; /* bytes; [0] is ignored (2), others multiples of 16 */
    uint32_t box[5];    /* elements, each at most 256 */
    int swizzle_bytes;  /* 0, 32, 64, 128: box[0] * 2 must not exceed it (16-byte steps for 0) */
};

struct device_info {
    char name[96];    /* "NVIDIA H200" or "emulator (h200)" */
    struct chip chip; /* limits as the device states them (the emulator: from chip.c) */
    bool is_emulator;
    char driver[32];  /* "580.159.04"; "" for the emulator */
    char toolkit[32]; /* "13.0" */
    size_t memory_bytes;
    char uuid[48]; /* "GPU-1a2b...", of a MIG slice "MIG-..."; "" for the emulator */
    bool is_slice; /* of a GPU that MIG splits */
    int n_others; /* processes that computed on it when it was opened, beside this one; -1: unknown */
};

/* How the emulator runs (emulator.h): call it before device_open. A GPU ignores it. */
struct emu_options;
void device_emulator_options(const struct emu_options *o);

/* DEVICE_AUTO takes a supported GPU if there is one, else the emulator. `chip` names what the
 * emulator stands for (NULL: h200); a GPU ignores it. */
const char *device_open(enum device_kind kind, const char *chip, struct device **out);
void device_close(struct device *d);
const struct device_info *device_info(const struct device *d);

const char *device_alloc(struct device *d, size_t bytes, device_ptr *out); /* 256-byte aligned */
void device_free(struct device *d, device_ptr p);
const char *device_copy_in(struct device *d, device_ptr to, const void *from, size_t bytes);
const char *device_copy_out(struct device *d, void *to, device_ptr from, size_t bytes);
const char *device_fill(struct device *d, device_ptr p, uint32_t word,
                        size_t bytes); /* bytes % 4 == 0 */

/* Loads `dir`/`name`.ARCH.cubin or .ptx, whichever ARCH this device takes, newest first. */
const char *device_load(struct device *d, const char *dir, const char *name,
                        struct device_image **out);
void device_unload(struct device *d, struct device_image *image);
/* An image's __device__ variable, by its symbol. */
const char *device_variable(struct device *d, struct device_image *image, const char *name,
                            device_ptr *out, size_t *bytes);
const char *device_kernel_info(struct device *d, struct device_image *image, const char *kernel,
                               struct device_kernel_info *out);

/* Fills the 128 bytes of a CUtensorMap. */
const char *device_tensor_map(struct device *d, const struct device_tensor_map *m,
                              void *map_128_bytes);

const char *device_launch(struct device *d, struct device_image *image,
                          const struct device_launch *l);
const char *device_sync(struct device *d);

/* How many SMs have a CTA of the largest of the launches. */
int device_busy_sms(const struct device *d, const struct device_launch *launches, int n);

/* Time: a graph that holds `repeats` times the n launches back to back, replayed once between
 * two events. `flush_l2` overwrites a buffer larger than L2 before each replay: for graphs opened
 * as `cold`, with 1 repeat. The emulator has no time and gives the reason. */
struct device_graph;
const char *device_graph_open(struct device *d, struct device_image *image,
                              const struct device_launch *launches, int n, int repeats, bool cold,
                              struct device_graph **out);
const char *device_graph_time(struct device_graph *g, bool flush_l2, double *us_total);
void device_graph_close(struct device_graph *g);

/* us of the launches, warm, of 20 back to back, and sm_clock meanwhile. Where sm_clock is unknown, it is 0 MHz and
 * *no_clock says why; else *no_clock is NULL. */
const char *device_time(struct device *d, struct device_image *image,
                        const struct device_launch *launches, int n, double *us, double *mhz,
                        const char **no_clock);

/* sm_clock over the last replay, MHz, counted on the SMs. 0 with a reason where it cannot be had. */
const char *device_graph_sm_clock_mhz(struct device_graph *g, double *mhz);

/* sm_clock now, MHz, as NVML reports it; 0 where it cannot be had. */
int device_clock_mhz(struct device *d);

/* Power that the board draws, W, as NVML reports it, a mean over a short time; 0 where it cannot be had. */
double device_power_watts(struct device *d);
