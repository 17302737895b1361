#include "refusal.h"

#include "reason.h"

#include <cupti_result.h>
#include <stddef.h>
#include <stdio.h>

static const char params_path[] = "/proc/driver/nvidia/params";

static const struct {
    int code;
    const char *say; /* cause, then remedy */
} table[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "counters are for administrators on this machine; run as "
                                          "root or with CAP_SYS_ADMIN, or ask for the "
                                          "driver option NVreg_RestrictProfilingToAdminUsers=0 (a "
                                          "security choice: its owner's to make)"},
    {CUPTI_ERROR_HARDWARE_BUSY,
     "another client holds the counters: a DCGM service (`dcgmi profile --pause` frees them until "
     "`--resume`), or another ncu, nsys or CUPTI program; stop it and try again"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "this runs under another tool (ncu, nsys, cuda-gdb, compute-sanitizer), and CUPTI serves one; "
     "run "
     "without that tool, or without --counters"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
     "something in this process has started CUPTI's old event and metric API, which excludes this "
     "one; "
     "unset the profiler that does it (see CUDA_INJECTION64_PATH)"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
     "CUPTI's old event and metric API does not exist for this GPU or CUDA 13; an old tool is "
     "loaded into "
     "this process (see CUDA_INJECTION64_PATH): unset it"},
    {CUPTI_ERROR_DISABLED,
     "another profiler that is enabled in this process has disabled CUPTI; unset it (see "
     "CUDA_INJECTION64_PATH)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
     "this is a virtual GPU (vGPU), whose type has no profiling; use a whole GPU or a vGPU type "
     "that has"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "the hypervisor forbids profiling of this virtual GPU; its administrator can enable it (vGPU "
     "plugin "
     "parameter enable_profiling)"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
     "the GPU is in confidential-computing mode, which forbids counters; use one that is not"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED,
     "a mining board (CMP) has no counters for programs; use another GPU"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
     "the GPU is split (MIG) and CUPTI does not count on this slice; use a GPU with MIG off"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "CUPTI does not count on GPUs in SLI; turn SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "this Windows subsystem (WSL) has no counters; update "
                                           "driver and WSL, allow counters for all users in "
                                           "the NVIDIA control panel, or use Linux itself"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "CUPTI does not know this chip: it is older than the GPU; "
                                    "install a newer CUDA toolkit, or set "
                                    "ATTNLAB_CUPTI to the folder of one"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "driver and CUPTI do not fit together; use the CUPTI of the CUDA "
                                 "version that `nvidia-smi` shows, or "
                                 "an older one (ATTNLAB_CUPTI)"},
    {CUPTI_ERROR_NOT_INITIALIZED,
     "CUPTI cannot reach the driver: no NVIDIA driver is loaded, it does not fit this CUPTI, or "
     "libnvperf_host.so or libnvperf_target.so is missing beside libcupti; see `nvidia-smi`, and "
     "ATTNLAB_CUPTI for the folder that holds all three"},
    {CUPTI_ERROR_NOT_SUPPORTED,
     "this GPU or system does not support it; `make doctor` says what is here"},
    {CUPTI_ERROR_OUT_OF_MEMORY, "memory ran out; use a smaller problem or free some"},
    {CUPTI_ERROR_INVALID_METRIC_NAME, "there is no such metric on this chip"},
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
        return reason("%s (%s says RmProfilingAdminOnly: %s; %s returned %d)", say, params_path,
                      admin_only < 0 ? "nothing"
                      : admin_only   ? "1"
                                     : "0, so this container or vGPU withholds the right",
                      call, code);
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
    FILE *f = fopen(path, "r");
    if (!f) return -1;
    char line[256];
    int value = -1;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RmProfilingAdminOnly: %d", &value) == 1) break;
    fclose(f);
    return value;
}
