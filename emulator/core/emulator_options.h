/* How the emulator runs a grid: what the command line can ask for. */
#pragma once

#include "spoil.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_trust;

enum emu_schedule { EMU_ROUND_ROBIN, EMU_RANDOM, EMU_ADVERSARIAL };

struct emu_options {
    int n_threads;              /* host threads; 0: one for each core; 1 is deterministic */
    enum emu_schedule schedule; /* in which order the warps of a block run */
    uint64_t seed;              /* of EMU_RANDOM */
    /* Where shared memory begins, and what registers and memory hold that nobody has written: drawn
     * by it. 0: shared memory begins at 0x400, as on an H200. */
    uint64_t draw;
    bool no_checks;            /* no race, no uninitialised check; bounds are always checked */
    bool async_early;          /* asynchronous operations complete when issued */
    bool mma_exact;            /* tensor cores round once, to nearest: not what hardware does */
    int trace_line;            /* print warp 0 of block 0 at this source line; 0: off */
#define EMU_EVERY_LINE (-1)    /* as trace_line */
    int banks_line;            /* print the banks of shared accesses at this line; 0: off */
    uint64_t max_instructions; /* of all warps of a launch; 0: no limit */
    double timeout_s;          /* of a launch; 0: none */
    uint64_t sample_blocks;    /* of a launch run so many, spread over the grid; 0: all */
    uint64_t
        check_blocks;    /* look for races and uninitialised values in so many, spread; 0: in all */
    bool alike_once;     /* of blocks that must compute the same, run one and count all */
    bool progress;       /* say how far launches over 2 s are, even to no terminal */
    const char *without; /* leave out the synchronisation of a source line (views/without.c) */
    bool count_ptx;      /* count PTX even where the machine code can be executed */
    double clock_mhz;    /* sm_clock of predicted times, MHz; 0: the chip's boost clock */
    uint64_t watch;      /* print every access to this address; 0: off */
    bool watch_shared;   /* it is an offset in shared memory */
    const struct emu_trust *trust; /* races that are only counted (trust.h); NULL: the default */
    int n_trust;
    struct emu_spoil spoil; /* what tensor cores multiply */
};
