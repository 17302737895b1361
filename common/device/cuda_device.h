/* Private to device_cuda.c and cuda_graph.c: a device behind the CUDA driver. */
#pragma once

#include "cuda_driver.h"
#include "device_ops.h"

struct cuda_device {
    struct device device;
    const struct cuda_driver *cu;
    struct cuda_nvml *nvml; /* NULL: no clock, no driver version */
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    struct cuda_sm_clock *clock; /* cuda_sm_clock.c: from its first mark on; NULL */
    CUdeviceptr flush;           /* twice the L2 cache, allocated at the first cold sample */
    size_t flush_bytes;
};

static inline struct cuda_device *cuda_of(struct device *d) { return (struct cuda_device *)d; }

/* Returns the reason from the function it stands in, unless the driver call succeeded. */
#define TRY(c, call, ...)                                                                          \
    do {                                                                                           \
        CUresult result_ = (c)->cu->call(__VA_ARGS__);                                             \
        if (result_) return cuda_driver_reason((c)->cu, result_, "cu" #call);                      \
    } while (0)

const char *cuda_launch(struct device *d, struct device_image *image,
                        const struct device_launch *l);
const char *cuda_sync(struct device *d);
