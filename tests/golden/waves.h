/* Wavefront probes: one warp, one access to shared (or global) memory with a chosen address
 * pattern. generate.c --waves launches them one by one under ncu; test_emu_golden.c counts the
 * same launches. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct golden_wave {
    char name[32];  /* "lds128 pair" */
    const char *op; /* PTX of the access; %y2 = shared address, %x1 = global address of the lane */
    int access_bytes;   /* per lane (ldmatrix: per row) */
    int32_t offset[32]; /* bytes from the buffer's start; -1: the lane does not take part */
};

int golden_n_waves(void);
const struct golden_wave *golden_wave(int i); /* NULL past the last */

/* The module of one probe: kernel `golden`(in: 32 offsets then 64 KB of data, out: 32 words). */
void golden_wave_ptx(const struct golden_wave *w, char *out, size_t out_bytes);
