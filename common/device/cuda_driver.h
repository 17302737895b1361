/* The CUDA driver (libcuda.so.1) and NVML, opened at run time: a program that holds this starts
 * on a machine without either. The functions carry the names and types of cuda.h:
 *
 *   const struct cuda_driver *cu;
 *   const char *why = cuda_driver_open(&cu);
 *   if (!why) cu->MemAlloc(&p, bytes); */
#pragma once

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define CUDA_DRIVER_FUNCTIONS(F) \
    F(Init) F(GetErrorName) F(GetErrorString) F(DeviceGetCount) \
    F(DeviceGet) F(DeviceGetName) F(DeviceGetAttribute) F(DeviceTotalMem) \
    F(DeviceGetPCIBusId) F(DeviceGetUuid) F(DevicePrimaryCtxRetain) F(DevicePrimaryCtxRelease) \
    F(CtxSetCurrent) F(StreamCreate) F(StreamDestroy) F(StreamSynchronize) \
    F(StreamBeginCapture) F(StreamEndCapture) F(MemAlloc) F(MemFree) F(MemcpyHtoDAsync) \
    F(MemAllocAsync) F(MemFreeAsync) F(MemcpyDtoHAsync) F(MemsetD32Async) F(ModuleLoadData) F(ModuleUnload) \
    F(ModuleGetFunction) F(ModuleGetGlobal) F(FuncGetAttribute) F(FuncSetAttribute) F(LaunchKernelEx) \
    F(TensorMapEncodeTiled) F(GraphInstantiate) F(GraphUpload) F(GraphLaunch) \
    F(GraphExecDestroy) F(GraphDestroy) F(EventCreate) F(EventDestroy) \
    F(EventRecordWithFlags) F(EventElapsedTime)
/* clang-format on */

struct cuda_driver {
#define CUDA_DRIVER_FIELD(name) __typeof__(&cu##name) name;
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_FIELD)
#undef CUDA_DRIVER_FIELD
};

/* The reason for a driver that sees no GPU. */
#define CUDA_NO_GPU                                                                                \
    "no GPU here; check nvidia-smi and CUDA_VISIBLE_DEVICES (the driver is there), or use "        \
    "--device emu"

/* Loads libcuda once for the whole program and initialises it. NULL, or why there is no GPU to
 * speak to. */
const char *cuda_driver_open(const struct cuda_driver **out);

/* NULL for CUDA_SUCCESS, else "CALL: CUDA_ERROR_NAME (what it means)". */
const char *cuda_driver_reason(const struct cuda_driver *cu, CUresult result, const char *call);
/* Of a kernel that ran, in this call or in one before it. */
bool cuda_is_kernel_fault(CUresult result);

/* What only NVML knows of the GPU at this PCI address; every part may be missing. */
struct cuda_nvml;
struct cuda_nvml *cuda_nvml_open(const char *pci_bus_id);
void cuda_nvml_close(struct cuda_nvml *n);
int cuda_nvml_sm_clock_mhz(const struct cuda_nvml *n); /* 0: unknown */
double cuda_nvml_watts(const struct cuda_nvml *n);     /* 0: unknown */
void cuda_nvml_driver_version(const struct cuda_nvml *n, char *out,
                              size_t out_bytes); /* "": unknown */

/* Whether the GPU is split into MIG slices. */
bool cuda_nvml_is_mig(const struct cuda_nvml *n);
/* How many other processes compute on the GPU, or on the MIG slice, of this UUID ("GPU-1a2b...", "MIG-..."), other users'
 * among them; -1: unknown. */
int cuda_nvml_others(const struct cuda_nvml *n, const char *uuid);
