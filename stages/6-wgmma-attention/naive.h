/* The tile of naive.cu, for it and for stage.c. */
#pragma once

enum { NAIVE_BQ = 64, NAIVE_BKV = 128, NAIVE_THREADS = 128 };

/* 1024 to align, Q, K, V */
#define NAIVE_SHARED_BYTES(dim) (1024 + 2 * (dim) * (NAIVE_BQ + 2 * NAIVE_BKV))
