/* What the warps of a launch's first block do over time, by role, and the pipes of its SM: a table for
 * gnuplot (plots/warps.gp), and a trace for Perfetto or Chrome. From the predictor, or from the
 * stamps that an instrumented image leaves (common/cuda/stamps.cuh). */
#pragma once

#include "common/device/device.h"

/* The launch with the most shared memory. Writes `path`, and beside it `path` with .json for its
 * ending. A line of the table is lane, name, what, its number (the order of the key), begin and end
 * in us, share of that time (of a pipe's; 1 of a warp's), tab separated; # begins what it is of.
 * What is shorter than a few thousandths of the block's time goes to what there is most of beside
 * it. The reason if there is no clock here, or a file cannot be written; neither is left then. */
const char *warps_write(struct device *d, const char *image_dir, const char *image,
                        const struct device_launch *launches, int n, const char *title,
                        const char *path);

/* The same from a run of the launch with the most shared memory, of `image`, an instrumented one whose runs
 * have a clock of `mhz`. What the tensor cores and MUFU do is not stamped: instead of them there are the time from the
 * issue of products to their end, and the share of the multiplying warps that are at other work. Of a long
 * block the first 20 us are written. */
const char *warps_stamped(struct device *d, struct device_image *image,
                          const struct device_launch *launches, int n, double mhz,
                          const char *title, const char *path);
