/* What a limit costs: the predictor asked again with that limit taken away, or without the waits of
 * a line; and who waits for whom in the first block. Predictions, whose quality stands above them. */
#pragma once

#include "common/device/device.h"

#include <stdio.h>

/* Prints for launches of image `dir`/`name` on an emulator; NULL, or why there is no prediction. */
const char *whatif_print(struct device *d, const char *dir, const char *name,
                         const struct device_launch *launches, int n, FILE *out);
