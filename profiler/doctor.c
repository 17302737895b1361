/* doctor: what this machine has of what the project can use, and for each missing thing the remedy.
 *
 *   build/doctor NVCC PYTHON        (make doctor fills them in)
 *
 * Exit 0 if stages can run here, on a GPU or on the emulator; 77 if not. */
#include "cupti_list.h"
#include "common/device/device.h"
#include "gpu_counts.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "refusal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum doctor_verdict { HERE, MISSING, NOTE };

static void say(enum doctor_verdict verdict, const char *what, const char *text) {
    static const char *const words[] = {"ok", "missing", "note"};
    printf("%-8s %-16s %s\n", words[verdict], what, text);
}

/* ---- Programs ------------------------------------------------------------------------------- */

/* The first line that `argv` prints that contains `word`, without its end; false if there is none
 * or it does not run. No shell: argv is run as it is. */
static bool first_line(char *const argv[], const char *word, char *out, size_t out_bytes) {
    int pipe_fd[2];
    if (pipe(pipe_fd)) return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_fd[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(pipe_fd[1]);
    FILE *f = fdopen(pipe_fd[0], "r");
    char line[512];
    bool found = false;
    while (f && fgets(line, sizeof line, f))
        if (!found && strstr(line, word)) {
            snprintf(out, out_bytes, "%.*s", (int)strcspn(line, "\n"), line);
            found = true;
        }
    if (f) fclose(f);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return child > 0 && found && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_program(const char *what, char *const argv[], const char *word,
                          const char *remedy) {
    char line[512];
    bool here = first_line(argv, word, line, sizeof line);
    say(here ? HERE : MISSING, what, here ? line : remedy);
}

static void check_programs(char *nvcc, char *python) {
    check_program("nvcc", (char *[]){nvcc, "--version", NULL}, "release",
                  "needed to build kernels: `make setup` puts a CUDA toolkit into .venv");
    check_program("gnuplot", (char *[]){"gnuplot", "--version", NULL}, "gnuplot",
                  "needed for plots: `make setup`, or install gnuplot-nox");
    check_program("python", (char *[]){python, "--version", NULL}, "Python",
                  "needed for notebooks: `make setup` makes .venv");
    static const char *const modules[] = {"jupytext", "nbclient", "nbformat", "ipykernel", "numpy"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        char code[128];
        snprintf(code, sizeof code, "import %s; print('%s', %s.__version__)", modules[i],
                 modules[i], modules[i]);
        check_program(modules[i], (char *[]){python, "-c", code, NULL}, modules[i],
                      "needed for notebooks: `make setup` installs it into .venv");
    }
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

int main(int argc, char **argv) {
    check_programs(argc > 1 ? argv[1] : "nvcc", argc > 2 ? argv[2] : "python3");
    check_cupti();
    bool gpu = check_gpu();
    check_rivals();
    bool emulator = check_emulator();
    if (gpu)
        printf("\nStages run here, on the GPU.\n");
    else if (emulator)
        printf("\nStages run here, on the emulator: counts and checks, no times.\n");
    else
        printf("\nStages cannot run here: neither a GPU nor the emulator is to be had.\n");
    const char *why = path_stdout();
    if (why) fprintf(stderr, "doctor: %s\n", why);
    return why ? STATUS_FILE : gpu || emulator ? STATUS_RIGHT : STATUS_NOTHING;
}
