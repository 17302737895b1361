/* doctor: which devices this machine has, and whether their counters can be read; for each missing thing the remedy.
 *
 *   build/doctor        (make doctor runs it after doctor.sh has looked at the tools)
 *
 * Exit 0 if stages can run here, on a GPU or on the emulator; 77 if not. */
#include "cupti_list.h"
#include "common/device/device.h"
#include "gpu_counts.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/toolkit.h"
#include "refusal.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum doctor_verdict { HERE, MISSING, NOTE };

static void say(enum doctor_verdict verdict, const char *what, const char *text) {
    static const char *const words[] = {"ok", "missing", "note"};
    printf("%-8s %-16s %s\n", words[verdict], what, text);
}

/* ---- Who else uses the counters -------------------------------------------------------------- */

/* Services and tools that hold the counters of a GPU while they run, as /proc/N/comm has them. */
static const char *const rivals[] = {"nv-hostengine", "dcgm-exporter", "nsys",
                                     "ncu",           "nsys-launcher", "nv-nsight-cu-cl"};

static void check_rivals(void) {
    int n_found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[PATH_MAX], comm[64] = "";
        if (!isdigit((unsigned char)*e->d_name)) continue;
        snprintf(path, sizeof path, "/proc/%.20s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        if (fgets(comm, sizeof comm, f)) comm[strcspn(comm, "\n")] = 0;
        fclose(f);
        for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++)
            if (!strcmp(comm, rivals[i])) {
                say(NOTE, "other client",
                    reason("%s runs (process %.20s) and may hold the counters; `dcgmi profile "
                           "--pause` frees them from DCGM",
                           comm, e->d_name));
                n_found++;
            }
    }
    if (proc) closedir(proc);
    static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i])) {
            say(NOTE, "other client",
                reason("%s=%s loads a profiler into every CUDA program: unset it for counters",
                       variables[i], getenv(variables[i])));
            n_found++;
        }
    if (!n_found) say(HERE, "other clients", "none that is known to hold the counters");
}

/* ---- Devices --------------------------------------------------------------------------------- */

static void check_cupti(void) {
    const char *why = cupti_list_open();
    uint32_t v = cupti_list_version();
    say(why ? MISSING : HERE, "CUPTI",
        why ? why
            : reason("version %u.%u (API %u), %s", v / 10000, v / 100 % 100, v, cupti_list_path()));
}

static void check_counters(struct device *gpu) {
    const char *why = gpu_counts_permission(gpu);
    int admin_only = refusal_admin_only("/proc/driver/nvidia/params");
    say(why ? MISSING : HERE, "counters",
        why ? why
            : reason("this user may read them (RmProfilingAdminOnly: %s)",
                     admin_only < 0    ? "not said"
                     : admin_only == 0 ? "0, everyone may"
                                       : "1, administrators only"));
    if (why && admin_only == 1)
        say(NOTE, "administrator",
            "to allow counters: write `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
            "/etc/modprobe.d/nvidia-counters.conf, run update-initramfs -u (dracut -f on Fedora), "
            "restart");
}

static bool check_gpu(void) {
    struct device *gpu;
    const char *why = device_open(DEVICE_CUDA, NULL, &gpu);
    if (why) {
        say(MISSING, "GPU", why);
        return false;
    }
    const struct device_info *i = device_info(gpu);
    say(HERE, "GPU", reason("%s, %d SMs, %zu MiB", i->name, i->chip.n_sms, i->memory_bytes >> 20));
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    say(HERE, "which GPU",
        reason("%s%s%s%s", i->uuid, i->is_slice ? ", a MIG slice" : "",
               visible && *visible ? ", the first of CUDA_VISIBLE_DEVICES=" : "",
               visible ? visible : ""));
    if (i->n_others > 0)
        say(NOTE, "busy",
            reason("%d other process%s on it: times may be longer; nvidia-smi names them",
                   i->n_others, i->n_others > 1 ? "es" : ""));
    say(HERE, "driver", *i->driver ? i->driver : "its version cannot be had (no NVML)");
    say(HERE, "chip",
        reason("%s, compute capability %d.%d", i->chip.family, i->chip.cc / 10, i->chip.cc % 10));
    check_counters(gpu);
    device_close(gpu);
    return true;
}

static bool check_emulator(void) {
    struct device *emulator;
    const char *why = device_open(DEVICE_EMU, NULL, &emulator);
    say(why ? MISSING : HERE, "emulator", why ? why : device_info(emulator)->name);
    if (why) return false;
    device_close(emulator);
    return true;
}

int main(void) {
    char nvdisasm[PATH_MAX];
    check_cupti();
    bool gpu = check_gpu();
    check_rivals();
    bool emulator = check_emulator();
    if (gpu)
        printf("\nStages run here, on the GPU.\n");
    else if (emulator)
        printf("\nStages run here, on the emulator: counts and checks%s.\n",
               toolkit_find("nvdisasm", nvdisasm, sizeof nvdisasm)
                   ? "; predicted times need nvdisasm, which `make setup` installs"
                   : ", and predicted times");
    else
        printf("\nStages cannot run here: neither a GPU nor the emulator is to be had.\n");
    const char *why = path_stdout();
    if (why) fprintf(stderr, "doctor: %s\n", why);
    return why ? STATUS_FILE : gpu || emulator ? STATUS_RIGHT : STATUS_NOTHING;
}
