#include "cuda_driver.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* cuda.h renames functions to their newest version (cuMemAlloc is cuMemAlloc_v2): expand, then
 * stringify. */
#define SYMBOL_(name) #name
#define SYMBOL(name)  SYMBOL_(name)

static const char *driver_load(struct cuda_driver *cu) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib && heap_dlerror())
        return reason_as(STATUS_NOTHING,
                         "no NVIDIA driver here (libcuda.so.1 not found); install one, "
                         "or use --device emu");
#define CUDA_DRIVER_RESOLVE(name)                                                                  \
    if (!(*(void **)&cu->name = dlsym(lib, SYMBOL(cu##name))))                                     \
        return reason_as(STATUS_DEVICE,                                                            \
                         "the NVIDIA driver lacks %s: install driver 580 (CUDA 13.0) "             \
                         "or later",                                                               \
                         SYMBOL(cu##name));
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_RESOLVE)
#undef CUDA_DRIVER_RESOLVE
    CUresult r = cu->Init(0);
    if (r == CUDA_ERROR_NO_DEVICE) return reason_as(STATUS_NOTHING, CUDA_NO_GPU);
    if (r == CUDA_ERROR_STUB_LIBRARY)
        return reason_as(STATUS_NOTHING,
                         "libcuda.so.1 is the toolkit's stub, not a driver; install "
                         "a driver, or use --device emu");
    return cuda_driver_reason(cu, r, "cuInit");
}

const char *cuda_driver_open(const struct cuda_driver **out) {
    static struct cuda_driver driver;
    static enum { NOT_TRIED, LOADED } state;
    if (state == NOT_TRIED) {
        const char *why = driver_load(&driver);
        if (why) return why;
        state = LOADED;
    }
    *out = &driver;
    return NULL;
}

bool cuda_is_kernel_fault(CUresult result) {
    return result == CUDA_ERROR_ILLEGAL_ADDRESS ||
           (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

const char *cuda_driver_reason(const struct cuda_driver *cu, CUresult result, const char *call) {
    if (result == CUDA_SUCCESS) return NULL;
    const char *name = NULL, *text = NULL;
    cu->GetErrorName(result, &name);
    cu->GetErrorString(result, &text);
    return reason_as(
        STATUS_DEVICE, "%s: %s (%s)%s", call, name ? name : "unknown error",
        text ? text : "no text",
        cuda_is_kernel_fault(result) ? "; --device emu or compute-sanitizer name the line" : "");
}

/* ---- NVML: some functions, declared here because the toolkit may come without nvml.h -------- */

typedef struct nvml_device *nvml_device;
enum { NVML_CLOCK_SM = 1 };
typedef unsigned long long
    nvml_process[3]; /* the process, in its low half; its bytes; instances of MIG */

struct cuda_nvml {
    void *lib;
    nvml_device device;
    int (*shutdown)(void);
    int (*clock_info)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *); /* mW; NULL: an old library */
    int (*driver_version)(char *, unsigned);
    /* NULL in an old library: */
    int (*mig_mode)(nvml_device, unsigned *now, unsigned *after_reset);
    int (*by_uuid)(const char *, nvml_device *);
    int (*processes)(nvml_device, unsigned *n, nvml_process *);
};

struct cuda_nvml *cuda_nvml_open(const char *pci_bus_id) {
    struct cuda_nvml *n = heap_zeroed(1, sizeof *n);
    n->lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->lib && heap_dlerror()) goto fail;
    int (*init)(void) = (int (*)(void))dlsym(n->lib, "nvmlInit_v2");
    int (*find)(const char *, nvml_device *) =
        (int (*)(const char *, nvml_device *))dlsym(n->lib, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&n->shutdown = dlsym(n->lib, "nvmlShutdown");
    *(void **)&n->clock_info = dlsym(n->lib, "nvmlDeviceGetClockInfo");
    *(void **)&n->power = dlsym(n->lib, "nvmlDeviceGetPowerUsage");
    *(void **)&n->driver_version = dlsym(n->lib, "nvmlSystemGetDriverVersion");
    *(void **)&n->mig_mode = dlsym(n->lib, "nvmlDeviceGetMigMode");
    *(void **)&n->by_uuid = dlsym(n->lib, "nvmlDeviceGetHandleByUUID");
    *(void **)&n->processes = dlsym(n->lib, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!init || !find || !n->shutdown || !n->clock_info || !n->driver_version) goto fail;
    if (init()) goto fail;
    if (!find(pci_bus_id, &n->device)) return n;
    n->shutdown();
fail:
    if (n->lib) dlclose(n->lib);
    free(n);
    return NULL;
}

void cuda_nvml_close(struct cuda_nvml *n) {
    if (!n) return;
    n->shutdown();
    dlclose(n->lib);
    free(n);
}

int cuda_nvml_sm_clock_mhz(const struct cuda_nvml *n) {
    unsigned mhz = 0;
    return n && !n->clock_info(n->device, NVML_CLOCK_SM, &mhz) ? (int)mhz : 0;
}

double cuda_nvml_watts(const struct cuda_nvml *n) {
    unsigned mw = 0;
    return n && n->power && !n->power(n->device, &mw) ? 1e-3 * mw : 0;
}

void cuda_nvml_driver_version(const struct cuda_nvml *n, char *out, size_t out_bytes) {
    if (!n || n->driver_version(out, (unsigned)out_bytes)) *out = 0;
}

bool cuda_nvml_is_mig(const struct cuda_nvml *n) {
    unsigned now = 0, after_reset;
    return n && n->mig_mode && !n->mig_mode(n->device, &now, &after_reset) && now;
}

int cuda_nvml_others(const struct cuda_nvml *n, const char *uuid) {
    enum { MOST = 256 };
    nvml_process process[MOST];
    unsigned n_processes = MOST;
    nvml_device device;
    if (!n || !n->by_uuid || !n->processes || n->by_uuid(uuid, &device)) return -1;
    if (n->processes(device, &n_processes, process) || n_processes > MOST) return -1;
    int others = 0;
    for (unsigned i = 0; i < n_processes; i++)
        others += (unsigned)process[i][0] != (unsigned)getpid();
    return others;
}
