/* Counts beside the source lines that they come from: on a GPU from CUPTI's SASS metrics and the
 * line table that -lineinfo leaves in the cubin, on the emulator from its own counts.
 *
 *   attribution_collect - attribution_print - source_free (common/device/source.h) */
#pragma once

#include "common/device/device.h"
#include "common/device/source.h"

#include <stdio.h>

/* Runs the launches once, counted by instruction; sorted by file and line. */
const char *attribution_collect(struct device *d, struct device_image *image,
                                const struct device_launch *launches, int n, struct source *out);

/* Prints every file that has counts: whole if its path contains `whole` ("kernel.cu"), else only
 * the lines that have some. Files are looked for as named and below the folder above the
 * program's. NULL, or why one that is there could not be read. */
const char *attribution_print(const struct source *s, const char *whole, FILE *out);
