/* What nvcc leaves in a program: a fat binary, a list of images of the same kernels.
 *
 *   u32 magic 0xba55ed50 | u16 version | u16 header bytes | u64 bytes of all that follows
 *   one entry after the other:
 *     +0 u16 kind: 1 PTX, 2 cubin      +4 u32 header bytes    +8 u64 bytes of the image (padded)
 *     +16 u32 compressed bytes         +28 u32 architecture   +40 u64 flags: 0x2000, 0x8000: compressed
 *     the image */
#pragma once

#include "common/base/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fatbin_ptx {
    const char *text; /* in the fat binary; NULL: there is none that the chip can run */
    size_t bytes;
    const unsigned char *cubin; /* of the same architecture, or NULL */
    size_t cubin_bytes;
    char others[96]; /* what was there instead: "sm_75 cubin, compressed compute_90 PTX" */
};

/* The newest PTX of a fat binary that the chip can run. False: these bytes are no fat binary. */
bool fatbin_find(const void *fatbin, size_t most_bytes, const struct chip *chip,
                 struct fatbin_ptx *out);
/* Bytes of a whole fat binary; 0: it is none. */
size_t fatbin_bytes(const void *fatbin, size_t most_bytes);

/* 90 of a cubin for sm_90 or sm_90a. */
int fatbin_cubin_sm(const unsigned char *cubin, size_t bytes);
/* Registers of a thread of `kernel`, as the cubin says; -1 if it does not. */
int fatbin_registers(const unsigned char *cubin, size_t bytes, const char *kernel);
