/* Runs a grid, and keeps its reports and counts. */
#pragma once

#include "emulator/core/emulator_options.h"
#include "emulator/core/memory.h"

#include "common/base/chip.h"

struct emu_count;
struct emu_inst;
struct emu_kernel;
struct emu_origin;

const char *emu_kernel_refused(const struct emu_kernel *k); /* why it cannot run here, or NULL */
/* It prints or allocates: a launch of it cannot be left out. */
bool emu_kernel_acts(const struct emu_kernel *k);
int emu_kernel_static_shared(const struct emu_kernel *k);
int emu_kernel_local_bytes(const struct emu_kernel *k);
int emu_kernel_max_threads(const struct emu_kernel *k);
int emu_kernel_params(const struct emu_kernel *k);
size_t emu_kernel_param_bytes(const struct emu_kernel *k, int i);
char emu_kernel_param_kind(const struct emu_kernel *k, int i); /* 'f', 'u' or 0: unknown */

enum { EMU_MAX_ARGS = 128 };
struct emu_grid {
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_bytes;  /* dynamic */
    bool overlaps_previous; /* may start before earlier launches have ended (device.h) */
    bool ordinary; /* not cooperative: grid.sync() has no workspace, and traps as on a GPU */
    int n_args;
    const void *arg[EMU_MAX_ARGS];
    size_t arg_bytes[EMU_MAX_ARGS];
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
/* How many races were trusted instead (emulator/core/trust.h). */
int emu_result_trusted(const struct emu_result *r);
const char *emu_result_report(const struct emu_result *r, int i);
int emu_result_report_kind(const struct emu_result *r, int i); /* core/failed_check.h */
/* There were launches, and options.without named nothing in any of them. */
bool emu_result_left_nothing_out(const struct emu_result *r);

/* The counts so far, instruction by instruction of every kernel that ran:
 *
 *   for (struct emu_counted c = {0}; emu_result_next(r, &c);) ... */
struct emu_counted {
    const struct emu_kernel *kernel;
    const struct emu_inst *inst;
    const struct emu_origin *origin;
    const struct emu_count *count;
};
bool emu_result_next(const struct emu_result *r, struct emu_counted *at);

/* What memory holds that nobody has written, 8 bytes, by the draw of emu_options; and much of it. */
uint64_t emu_draw_unwritten(uint64_t draw);
void emu_draw_fill(uint64_t unwritten, unsigned char *at, size_t bytes);
