/* NumPy .npy files, format 1.0 to 3.0: what comes in is fp16, C order, 4-D; what goes out, fp16 or
 * fp32.
 *
 *   \x93NUMPY  major minor  header length (2 bytes, from 2.0 on 4)  header  data
 *   header: {'descr': '<f2', 'fortran_order': False, 'shape': (1, 8, 512, 64), }  padded to \n */
#pragma once

#include "common/cuda/attention_args.h"

/* Reads a file of exactly the announced size. *data is malloc'ed, (shape[0] ... shape[3]), little
 * endian. NULL, or the reason with the path in it: nothing is allocated then. */
const char *npy_read_half(const char *path, int64_t shape[4], half **data);

/* Writes contiguous data to a temporary file in the same folder, syncs it and renames it to `path`,
 * so that `path` is whole or untouched. NULL, or the reason. */
const char *npy_write_half(const char *path, int rank, const int64_t *shape, const half *data);
const char *npy_write_float(const char *path, int rank, const int64_t *shape, const float *data);
