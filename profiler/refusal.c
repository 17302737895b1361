#include "refusal.h"

#include "common/base/path.h"
#include "common/base/reason.h"

#include <cupti_result.h>
#include <stddef.h>
#include <stdio.h>

static const char params_path[] = "/proc/driver/nvidia/params";

static const struct {
    int code;
    const char *say; /* cause; remedy */
} table[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
     "counters are for administrators here; be one, or --counters none, or ask for "
     "NVreg_RestrictProfilingToAdminUsers=0 (make doctor says how)"},
    {CUPTI_ERROR_HARDWARE_BUSY, "another client holds the counters; for DCGM `dcgmi profile "
                                "--pause` (later --resume), else stop "
                                "the other ncu, nsys or CUPTI program"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "this runs under another tool (ncu, nsys, cuda-gdb, compute-sanitizer) and CUPTI serves one; "
     "run "
     "without it, or with --counters none"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
     "something in this process uses CUPTI's old event API, which excludes this one; unset it (see "
     "CUDA_INJECTION64_PATH)"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
     "CUPTI's old event API, which CUDA 13 does not have, is asked for by a tool in this process; "
     "unset "
     "it (see CUDA_INJECTION64_PATH)"},
    {CUPTI_ERROR_DISABLED,
     "another profiler in this process has disabled CUPTI; unset it (see CUDA_INJECTION64_PATH)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
     "this is a virtual GPU (vGPU) of a type without profiling; use a whole GPU, or a vGPU type "
     "that "
     "has it"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "the hypervisor forbids profiling of this virtual GPU; its administrator can allow it (vGPU "
     "parameter enable_profiling)"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
     "the GPU is in confidential-computing mode, which forbids counters; use one that is not"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED,
     "a mining board (CMP) has no counters for programs; use another GPU"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
     "the GPU is split (MIG) and CUPTI does not count on this slice; use a GPU with MIG off"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "CUPTI does not count on GPUs in SLI; turn SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "this Windows subsystem (WSL) gives no counters; update "
                                           "driver and WSL and allow them in the NVIDIA "
                                           "control panel, or use Linux itself"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "CUPTI is older than the GPU; install a newer CUDA toolkit, or "
                                    "set ATTNLAB_CUPTI to the folder of "
                                    "one"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "driver and CUPTI do not fit; set ATTNLAB_CUPTI to the CUPTI of "
                                 "the CUDA version that `nvidia-smi` "
                                 "shows, or of an older one"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI cannot reach the driver: none is loaded, it does not fit, "
                                  "or libnvperf_host.so is not beside "
                                  "libcupti; see `nvidia-smi` and ATTNLAB_CUPTI"},
    {CUPTI_ERROR_NOT_SUPPORTED, "this GPU or system cannot do it; see `make doctor`"},
    {CUPTI_ERROR_OUT_OF_MEMORY, "memory ran out; use a smaller problem or free some"},
    {CUPTI_ERROR_INVALID_METRIC_NAME, "there is no such metric on this chip; see --list-counters"},
};

static const char *sentence(int code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].say;
    return NULL;
}

const char *refusal(int code, const char *call) {
    if (code == CUPTI_SUCCESS) return NULL;
    const char *say = sentence(code);
    if (!say)
        return reason("%s failed with CUPTI result %d (its meaning: cupti_result.h)", call, code);
    if (code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) {
        int admin_only = refusal_admin_only(params_path);
        return reason("%s (%s returned %d, RmProfilingAdminOnly is %s)", say, call, code,
                      admin_only < 0 ? "not to be seen"
                      : admin_only   ? "1"
                                     : "0");
    }
    return reason("%s (%s returned %d)", say, call, code);
}

int refusal_code(int i) {
    return i >= 0 && i < (int)(sizeof table / sizeof *table) ? table[i].code : -1;
}

const char *refusal_of_flags(const struct refusal_flags *f) {
    if (f->architecture)
        return reason(
            "this GPU is too old for counters: CUPTI's profiling API needs compute capability 7.0 "
            "(Volta) or newer");
    if (f->sli)
        return refusal(CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "cuptiProfilerDeviceSupported");
    if (f->vgpu)
        return refusal(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
                       "cuptiProfilerDeviceSupported");
    if (f->vgpu_disabled)
        return refusal(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
                       "cuptiProfilerDeviceSupported");
    if (f->confidential)
        return refusal(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
                       "cuptiProfilerDeviceSupported");
    if (f->cmp)
        return refusal(CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "cuptiProfilerDeviceSupported");
    if (f->wsl)
        return refusal(CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "cuptiProfilerDeviceSupported");
    return reason(
        "CUPTI says that this device cannot be profiled, and not why; `make doctor` says what is "
        "here");
}

int refusal_admin_only(const char *path) {
    FILE *f = path_open(path);
    if (!f) return -1;
    char line[256];
    int value = -1;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RmProfilingAdminOnly: %d", &value) == 1) break;
    fclose(f);
    return value;
}
