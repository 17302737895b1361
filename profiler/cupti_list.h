/* What CUPTI's library knows without a GPU, for tests and the doctor: no CUPTI type in sight. */
#pragma once

#include <stdint.h>

/* NULL, or why CUPTI cannot be loaded. */
const char *cupti_list_open(void);

/* File and version (130001: CUDA 13.0, update 1) of what was loaded. */
const char *cupti_list_path(void);
uint32_t cupti_list_version(void);

/* In how many passes the range profiler collects these metrics on a chip. Names without a dot are
 * SASS metrics: they must exist too, and count for no pass. */
const char *cupti_list_passes(const char *chip, const char *const *names, int n, int *n_passes);
