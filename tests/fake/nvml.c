/* A libnvidia-ml.so.1 for the driver of cuda.c: LD_LIBRARY_PATH=build/tests/fake:build/tests/fake/nvml.
 *
 *   FAKE_NVML_PROCESSES=2   that many other processes compute on the GPU (0), beside this one
 *   FAKE_NVML_MIG=1         MIG splits it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long nvml_process[3]; /* the process; its bytes; instances of MIG */

static unsigned setting(const char *name) {
    const char *text = getenv(name);
    return text ? (unsigned)atoi(text) : 0;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
    *device = (void *)1;
    return !*bus;
}
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz) {
    *mhz = 1980;
    return !device || clock != 1;
}
int nvmlSystemGetDriverVersion(char *text, unsigned bytes) {
    snprintf(text, bytes, "580.0");
    return 0;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *after_reset) {
    *now = *after_reset = setting("FAKE_NVML_MIG");
    return !device;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
    *device = (void *)2;
    return strncmp(uuid, setting("FAKE_NVML_MIG") ? "MIG-" : "GPU-", 4) || strlen(uuid) != 40;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, nvml_process *process) {
    const unsigned others = setting("FAKE_NVML_PROCESSES");
    if (device != (void *)2 || *n <= others) return 7;
    for (unsigned i = 0; i <= others; i++) process[i][0] = i ? 1000000 + i : (unsigned)getpid();
    *n = others + 1;
    return 0;
}
