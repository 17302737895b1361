/* A launch on a GPU as CUPTI shows it: what the driver was told, and what it says when it is asked. */
#pragma once

#include <cuda.h>
#include <cupti_callbacks.h>

#include <stdbool.h>
#include <stdint.h>

struct gpu_launch {
    CUfunction function;
    CUstream stream;
    unsigned grid[3], block[3], cluster[3], shared_bytes;
    void *const *argument; /* NULL: they are not given one by one */
};

struct gpu_launch gpu_launch_of(CUpti_CallbackId id, const void *parameters);
/* Into a graph: it does not run. */
bool gpu_launch_is_captured(CUstream stream);
/* -1: not known. */
int gpu_launch_attribute(CUfunction_attribute which, CUfunction function);
/* Equal launches have equal keys; 0: the arguments are not known, so no other launch is equal. */
uint64_t gpu_launch_key(const struct gpu_launch *l);
/* The number of the device that this thread launches on; -1: not known. */
int gpu_launch_device(void);
