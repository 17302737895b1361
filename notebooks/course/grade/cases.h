/* Cases of attention, drawn from a seed and read again. */
#pragma once

#include "common/harness/attention.h"

#include <jansson.h>

/* The problem of a case, completed. */
const char *case_problem(const json_t *trial_case, struct attention *out);
