/* Private to build/calibrate: the open device, and the tasks that are compiled kernels. */
#pragma once

#include "common/base/reason.h"
#include "common/device/cuda_driver.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RESULT_BYTES ((size_t)64 << 20)
#define DATA_BYTES   ((size_t)10 << 30)

enum image_name { SMALL, LARGE, WIDE, MEMORY, SYNC, LAUNCH, N_IMAGES };

struct calibrate_image {
    char *bytes;
    size_t n_bytes;
    size_t text_at, text_bytes; /* .text.bench, in templates */
};

struct calibrate_bench {
    const struct cuda_driver *cu;
    CUdeviceptr results; /* RESULT_BYTES */
    CUdeviceptr data;    /* DATA_BYTES, zeros at first */
    struct calibrate_image image[N_IMAGES];
    CUmodule module[N_IMAGES]; /* NULL for the templates */
    FILE *out;
    int first_task; /* of this process */
};

/* The reason why a call of the driver failed, or NULL. */
const char *bench_call(struct calibrate_bench *b, CUresult r, const char *call);
#define CALL(b, name, ...) bench_call(b, (b)->cu->name(__VA_ARGS__), "cu" #name)

/* Sorts x. */
double median(double *x, int n);

/* One line of the output: the median of x[n], which it sorts. */
void line(struct calibrate_bench *b, const char *bench, const char *variant, const char *what,
          double *x, int n, const char *unit);

int kernels_count(void);
const char *kernels_bench(int i);
const char *kernels_variant(int i);
const char *kernels_run(struct calibrate_bench *b, int i);
