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

/* Around all phases of a run: its title ("3-wmma-pv: B1 H8 S512 D64") and as payload the FLOP of one call.
 * A range of its own kind, started and stopped: it does not stand in the way of "attnlab@verify/". */
void nvtx_run_begin(const char *title, double flop);
void nvtx_run_end(void);
