/* The emulator from outside: memory, modules, launches, reports. device_emu.c is its caller.
 *
 *   memory_open - alloc - module_open - launch - reports, counts - module_close - memory_close */
#pragma once

#include "common/base/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum emu_schedule { EMU_ROUND_ROBIN, EMU_RANDOM, EMU_ADVERSARIAL };

struct emu_options {
    int n_threads;              /* host threads; 0: one for each core; 1 is deterministic */
    enum emu_schedule schedule; /* in which order the warps of a block run */
    uint64_t seed;              /* of EMU_RANDOM */
    bool no_checks;             /* no race, no uninitialised check; bounds are always checked */
    bool async_early;           /* asynchronous operations complete when issued */
    bool mma_exact;             /* tensor cores round once, to nearest: not what hardware does */
    int trace_line;             /* print warp 0 of block 0 at this source line; 0: off */
    int banks_line;             /* print the banks of shared accesses at this line; 0: off */
    const char *without;        /* leave out the synchronisation of a source line (without.c) */
    uint64_t watch;             /* print every access to this address; 0: off */
    bool watch_shared;          /* it is an offset in shared memory */
};

/* A place in a source file that an instruction comes from: its own line, or one that it was
 * inlined into. */
struct emu_frame {
    const char *file; /* as the compiler was told */
    int line;
    unsigned file_index; /* of the .file directive */
};

/* Device memory: addresses are never used twice, so that a stale pointer is always caught. */
struct emu_memory;
const char *emu_memory_open(struct emu_memory **out);
void emu_memory_close(struct emu_memory *m);
const char *emu_memory_alloc(struct emu_memory *m, size_t bytes, uint64_t *out);
void emu_memory_free(struct emu_memory *m, uint64_t p);
/* Host address of [p, p + bytes), or NULL if that is not inside one allocation. */
void *emu_memory_at(const struct emu_memory *m, uint64_t p, uint64_t bytes);

/* A PTX file, parsed and lowered. `name` is for messages. NULL, or what was not understood and
 * where: the strings live in a reason (reason.h). */
struct emu_module;
const char *emu_module_open(struct emu_memory *m, const char *text, size_t bytes, const char *name,
                            struct emu_module **out);
void emu_module_close(struct emu_module *m);

struct emu_kernel;
const struct emu_kernel *emu_module_kernel(const struct emu_module *m, const char *name);
int emu_kernel_static_shared(const struct emu_kernel *k);
int emu_kernel_local_bytes(const struct emu_kernel *k);
int emu_kernel_max_threads(const struct emu_kernel *k);

struct emu_grid {
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_bytes;  /* dynamic */
    bool overlaps_previous; /* may start before earlier launches have ended (device.h) */
    int n_args;
    const void *arg[16];
    size_t arg_bytes[16];
};

/* Runs a grid to its end. `result` collects counts and reports over launches until it is cleared.
 * Returns a reason if the launch is impossible; a failed check is in result, not here. */
struct emu_result;
const char *emu_result_open(struct emu_result **out);
void emu_result_clear(struct emu_result *r);
void emu_result_close(struct emu_result *r);
const char *emu_launch(struct emu_memory *m, const struct emu_kernel *k, const struct emu_grid *g,
                       const struct chip *chip, const struct emu_options *o, struct emu_result *r);

/* The failed checks so far: how many, and the text of the i-th (several lines). */
int emu_result_reports(const struct emu_result *r);
const char *emu_result_report(const struct emu_result *r, int i);
/* There were launches, and options.without named nothing in any of them. */
bool emu_result_left_nothing_out(const struct emu_result *r);
