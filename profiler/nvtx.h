/* NVTX ranges: what ncu and nsys show, and what they can be told to look at only:
 *
 *   ncu --nvtx --nvtx-include "attnlab@verify/" build/stage-3 --counters none
 *
 * One domain, "attnlab"; the strings are the phases' names. Costs nothing where no tool listens. */
#pragma once

enum nvtx_phase { NVTX_WARMUP, NVTX_TIME, NVTX_COUNT, NVTX_VERIFY, NVTX_PHASES };

/* Ranges nest; each begin needs its end, on the same thread. */
void nvtx_begin(enum nvtx_phase phase);
void nvtx_end(void);
