/* The rungs before kernel.cu, steps/N-*.cu, on the host. They run when --image names one. */
#pragma once

#include "common/harness/stage.h"
#include "tile.h"

/* N of an image like d64-2-tma, the image of rung N; 0: it is not one of a rung. */
int step_of(const char *image);

/* What out->image, an image of a rung, takes; `schedule`: of long shapes, heads not packed. */
const char *plan_step(const struct attention *a, struct device *d, const struct stage_tensors *t,
                      const struct schedule *schedule, struct stage_plan *out);
