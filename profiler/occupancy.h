/* Theoretical occupancy: how many blocks of a launch one SM can hold at a time, and what stops one
 * more. NVIDIA's own calculator (cuda_occupancy.h) on the limits of any struct chip: needs
 * no GPU. */
#pragma once

#include "common/device/device.h"

struct occupancy {
    int registers;     /* per thread, as the compiler allotted them */
    int shared_bytes;  /* per block, static and dynamic, without the system's own */
    int warps;         /* per block */
    int blocks_per_sm; /* 0: this launch cannot run on this chip */
    int warps_per_sm;
    double pct; /* warps_per_sm of chip->max_warps_per_sm */
    char limited_by
        [48]; /* "registers", "shared memory", "blocks", "warps"; several: "registers, warps" */
};

/* `registers` per thread, `static_shared` and `dynamic_shared` bytes per block, `threads` per
 * block. The reason: numbers that no launch has, or a chip that the calculator does not know. */
const char *occupancy_of(const struct chip *chip, int registers, int static_shared,
                         int dynamic_shared, int threads, struct occupancy *out);
