#include "cupti.h"

#include "common/base/heap.h"

#include "common/base/program.h"
#include "common/base/reason.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tried in this order in each folder; 13 is what the headers are from, 12.6 is the first with all
 * of it. */
static const char *const file_names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

/* Where toolkits and NVIDIA's Python wheels put it. $VAR at the front is the variable's value
 * (skipped if unset), @ the nearest .venv above the program. */
static const char *const folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_HOME/lib",
    "$CUDA_HOME/extras/CUPTI/lib64",
    "$CUDA_PATH/lib64",
    "$CUDA_PATH/extras/CUPTI/lib64",
    "@/lib/python3*/site-packages/nvidia/cu13/lib",
    "@/lib/python3*/site-packages/nvidia/cuda_cupti/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cu13/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cuda_cupti/lib",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/usr/local/cuda/lib",
    "/usr/local/cuda-1[23]*/lib64",
    "/usr/local/cuda-1[23]*/extras/CUPTI/lib64",
    "/usr/local/cuda-1[23]*/lib",
    "/opt/cuda/lib64",
    "/opt/cuda/extras/CUPTI/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/cuda_cupti/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cu13/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cuda_cupti/lib",
};

/* Writes the pattern with its $VAR or @ filled in; false if that is not to be had. */
static bool expand(const char *pattern, char *out, size_t out_bytes) {
    const char *rest = strchr(pattern, '/');
    char name[32], venv[PATH_MAX];
    if (*pattern == '$') {
        snprintf(name, sizeof name, "%.*s", (int)(rest - pattern - 1), pattern + 1);
        const char *value = getenv(name);
        if (!value || !*value) return false;
        return snprintf(out, out_bytes, "%s%s", value, rest) < (int)out_bytes;
    }
    if (*pattern == '@')
        return program_find(".venv", venv, sizeof venv) &&
               snprintf(out, out_bytes, "%s%s", venv, rest) < (int)out_bytes;
    return snprintf(out, out_bytes, "%s", pattern) < (int)out_bytes;
}

/* Loads folder/libcupti.so.*, or what the loader itself finds if folder is NULL. */
static void *load_from(const char *folder, char *error, size_t error_bytes) {
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "",
                 file_names[i]);
        if (folder && access(path, R_OK) != 0) continue;
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        /* libcupti asks for these two by name alone, and then finds the loaded ones. */
        static const char *const companions[] = {"libnvperf_host.so", "libnvperf_target.so"};
        for (int k = 0; handle && folder && k < 2; k++) {
            snprintf(path, sizeof path, "%s/%s", folder, companions[k]);
            if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) heap_dlerror();
        }
        if (handle) return handle;
        /* A file that is there and does not load says more than one that is not. */
        const char *why = heap_dlerror();
        if (folder || !*error) snprintf(error, error_bytes, "%s", why);
    }
    return NULL;
}

static void *search(char *error, size_t error_bytes) {
    const char *chosen = getenv("ATTNLAB_CUPTI");
    if (chosen && *chosen) return load_from(chosen, error, error_bytes);
    void *handle = load_from(NULL, error, error_bytes);
    for (size_t i = 0; !handle && i < sizeof folders / sizeof *folders; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        if (!expand(folders[i], pattern, sizeof pattern)) continue;
        if (glob(pattern, 0, NULL, &found) != 0) continue;
        for (size_t k = 0; !handle && k < found.gl_pathc; k++)
            handle = load_from(found.gl_pathv[k], error, error_bytes);
        globfree(&found);
    }
    return handle;
}

static const char *load(struct cupti *c) {
    char error[256] = "";
    void *handle = search(error, sizeof error);
    if (!handle)
        return reason(
            "CUPTI cannot be loaded (%s): install the CUDA toolkit's CUPTI (`make setup` does) or "
            "set ATTNLAB_CUPTI to the folder that holds libcupti.so.13",
            error);
    const char *missing = NULL;
#define CUPTI_LOOKUP(f)                                                                            \
    c->f = (__typeof__(c->f))dlsym(handle, #f);                                                    \
    if (!c->f && !missing) missing = #f;
    CUPTI_FUNCTIONS(CUPTI_LOOKUP)
#undef CUPTI_LOOKUP
    Dl_info info;
    void *any = dlsym(handle, "cuptiGetVersion");
    if (any && dladdr(any, &info) && info.dli_fname)
        snprintf(c->path, sizeof c->path, "%s", info.dli_fname);
    if (c->cuptiGetVersion) c->cuptiGetVersion(&c->version);
    if (missing)
        return reason(
            "%s (CUPTI version %u) has no %s: it is older than CUDA 12.6; set ATTNLAB_CUPTI to the "
            "folder of a newer one",
            c->path, c->version, missing);
    return NULL;
}

const char *cupti_open(const struct cupti **out) {
    static struct cupti cupti;
    static bool tried;
    static char refused[512];
    if (!tried) {
        tried = true;
        const char *why = load(&cupti);
        if (why) snprintf(refused, sizeof refused, "%s", why);
    }
    *out = *refused ? NULL : &cupti;
    return *refused ? refused : NULL;
}

const char *cupti_start(const struct cupti *cupti) {
    static bool started; /* cuptiProfilerDeInitialize is not counted: start once, never stop */
    if (started) return NULL;
    CUPTI_PARAMS(CUpti_Profiler_Initialize, initialize);
    const char *why = CUPTI_CALL(cupti, cuptiProfilerInitialize, &initialize);
    started = !why;
    return why;
}

const char *cupti_chip(const struct cupti *cupti, int device_index, const char **chip) {
    CUPTI_PARAMS(CUpti_Device_GetChipName, name, .deviceIndex = (size_t)device_index);
    const char *why = CUPTI_CALL(cupti, cuptiDeviceGetChipName, &name);
    *chip = why ? NULL : name.pChipName;
    return why;
}

const char *cupti_supports(const struct cupti *cupti, CUdevice device, CUpti_Profiler_API api) {
    CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, ask, .cuDevice = device, .api = api);
    const char *why = CUPTI_CALL(cupti, cuptiProfilerDeviceSupported, &ask);
    if (why || ask.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return why;
    const struct refusal_flags flags = {
        .architecture = ask.architecture == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
        .sli = ask.sli == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
        .vgpu = ask.vGpu == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
        .vgpu_disabled = ask.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED,
        .confidential = ask.confidentialCompute == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
        .cmp = ask.cmp == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
        .wsl = ask.wsl == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED,
    };
    return refusal_of_flags(&flags);
}
