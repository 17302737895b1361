/* One kernel without host code on a GPU. Whoever counts its launch listens to the driver (gpu.c). */
#pragma once

#include "runtime/python/raw.h"

#include "common/device/device.h"

/* Launches the kernel that is called `name` in a fat binary or PTX, and copies all arrays in and back. */
const char *kernel_gpu_launch(struct device *d, const char *image, size_t bytes, const char *name,
                              const struct emu_grid *config, const struct raw_arg *arg, int n);
