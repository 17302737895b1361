/* The SM clock between two points of a stream: what NVML reads afterwards is another clock, the
 * board's when it is idle again. A small kernel notes every SM's cycles and the time. */
#pragma once

#include "cuda_device.h"

enum { CUDA_SM_CLOCK_BEGIN, CUDA_SM_CLOCK_END };

/* Notes `mark`, one of the two, where the stream has come to. The first call compiles the kernel.
 * NULL, or why there is no such clock: from the first call that fails on. */
const char *cuda_sm_clock_mark(struct cuda_device *c, int mark, CUstream stream);

/* MHz from the one mark to the other, the mean of all SMs; 0 where it returns why there is none. The
 * stream must be idle. */
const char *cuda_sm_clock_between(struct cuda_device *c, double *mhz);

void cuda_sm_clock_close(struct cuda_device *c);
