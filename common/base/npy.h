/* NumPy .npy files, format 1.0 to 3.0, little-endian, C order: 4-D fp16 for attention, or any.
 *
 *   \x93NUMPY  major minor  header length (2 bytes, from 2.0 on 4)  header  data
 *   header: {'descr': '<f2', 'fortran_order': False, 'shape': (1, 8, 512, 64), }  padded to \n */
#pragma once

#include "common/cuda/attention_args.h"

#include <stddef.h>

/* Reads a file of exactly the announced size. *data is malloc'ed, (shape[0] ... shape[3]), little
 * endian. NULL, or the reason with the path in it: nothing is allocated then. */
const char *npy_read_half(const char *path, int64_t shape[4], half **data);

/* The same for bf16, whose bits are '<u2' or, as ml_dtypes writes them, 'V2' in the file. */
const char *npy_read_bf16(const char *path, int64_t shape[4], half **data);

/* Writes contiguous data to a temporary file in the same folder, syncs it and renames it to `path`,
 * so that `path` is whole or untouched. NULL, or the reason. */
const char *npy_write_half(const char *path, int rank, const int64_t *shape, const half *data);
const char *npy_write_bf16(const char *path, int rank, const int64_t *shape,
                           const half *data); /* as '<u2' */
const char *npy_write_float(const char *path, int rank, const int64_t *shape, const float *data);

/* An array of any type: descr is NumPy's name of it ("<f4", "|u1"). */
struct npy {
    char descr[8];
    int rank;
    int64_t shape[8];
    void *data; /* free() it */
    size_t bytes;
};
const char *npy_read(const char *path, struct npy *out);
const char *npy_write(const char *path, const char *descr, int rank, const int64_t *shape,
                      const void *data, size_t element_bytes);
