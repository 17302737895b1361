/* sm_clock, the clock rate of the SMs in MHz, between two points of a stream. NVML cannot tell it: what it reads
 * afterwards is the clock of an idle board. A small kernel notes every SM's cycles and the time. */
#pragma once

#include "cuda_device.h"

enum { CUDA_SM_CLOCK_BEGIN, CUDA_SM_CLOCK_END };

/* Adds `mark`, one of the two, to the stream. The first call compiles the kernel. NULL, or why there is no
 * sm_clock; after the first call that fails every call returns that reason. */
const char *cuda_sm_clock_mark(struct cuda_device *c, int mark, CUstream stream);

/* MHz from the one mark to the other, the mean of all SMs; 0 where it returns why there is none. The
 * stream must be idle. */
const char *cuda_sm_clock_between(struct cuda_device *c, double *mhz);

void cuda_sm_clock_close(struct cuda_device *c);
