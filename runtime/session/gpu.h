/* A program on a GPU: its launches counted with CUPTI, in the same tables and the same record.
 *
 * The driver loads this library (build/runtime/libattnlab-gpu.so) when it starts, for build/run puts its name into
 * CUDA_INJECTION64_PATH. Each launch is run as often as CUPTI needs for what is asked for; in between it puts memory back. */
#pragma once

#include "session.h"

#include "common/device/counter.h"

/* "counted by CUPTI in 12 passes each" */
void gpu_how(char *out, size_t bytes);

/* Of all launches of a kernel that were counted. */
const char *gpu_counters(const struct session *s, const struct kernel *k, const char *groups,
                         struct counters *out);
