/* The page of a stage's main launch. */
#pragma once

#include "common/harness/bench.h"

/* The launch with the most shared memory; o: of a checked run, guard band first; found: NULL, or what was wrong with it,
 * for which the page has a map of O. Changes the device's memory as the launch does. */
const char *watch_stage(const struct bench *b, const struct inputs *in, const half *o,
                        const struct check_result *found, const char *title, const char *path);
