/* build/run: starts a program with libraries that stand in for NVIDIA's, or on a GPU with one that counts; or runs one
 * kernel. */
#include "fatbin.h"
#include "kernel.h"
#include "settings.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/base/revision.h"
#include "profiler/counters.h"
#include "profiler/groups_folder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *why, enum status otherwise) {
    fprintf(stderr, "run: %s\n", why);
    return reason_status(why, otherwise);
}

/* ---- The program, looked at before it starts ------------------------------------------------- */

struct started_program {
    const unsigned char *at; /* mapped; NULL: no ELF file, say a script */
    size_t bytes;
    const Elf64_Shdr *section;
    int n_sections;
    const char *names;
};

static void map_program(const char *path, struct started_program *p) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *p = (struct started_program){0};
    if (fd < 0) return;
    if (!fstat(fd, &status) && (size_t)status.st_size > sizeof(Elf64_Ehdr)) {
        void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        const Elf64_Ehdr *h = at;
        if (at != MAP_FAILED && !memcmp(at, ELFMAG, SELFMAG) &&
            h->e_shoff <= (size_t)status.st_size &&
            h->e_shnum <= ((size_t)status.st_size - h->e_shoff) / sizeof(Elf64_Shdr)) {
            p->at = at;
            p->bytes = (size_t)status.st_size;
            p->section = (const Elf64_Shdr *)(const void *)(p->at + h->e_shoff);
            p->n_sections = h->e_shstrndx < h->e_shnum ? h->e_shnum : 0;
            if (p->n_sections) p->names = (const char *)p->at + p->section[h->e_shstrndx].sh_offset;
        }
    }
    close(fd);
}

static const Elf64_Shdr *find_section(const struct started_program *p, const char *name) {
    for (int n = 0; n < p->n_sections; n++) {
        const Elf64_Shdr *x = &p->section[n];
        if (x->sh_type != SHT_NOBITS && x->sh_offset <= p->bytes &&
            x->sh_size <= p->bytes - x->sh_offset && !strcmp(p->names + x->sh_name, name))
            return x;
    }
    return NULL;
}

static bool holds(const struct started_program *p, const char *section, const char *text,
                  size_t bytes) {
    const Elf64_Shdr *x = find_section(p, section);
    return x && memmem(p->at + x->sh_offset, x->sh_size, text, bytes);
}

/* Device code, but none that this chip can run: nothing of it would start. */
static const char *check_device_code(const struct started_program *p, const char *path,
                                     const struct chip *chip) {
    const Elf64_Shdr *x = find_section(p, ".nv_fatbin");
    char others[96] = "";
    if (!x) return NULL;
    for (size_t at = 0, bytes; at < x->sh_size; at += bytes ? bytes : 8) {
        struct fatbin_ptx ptx;
        bytes = fatbin_bytes(p->at + x->sh_offset + at, x->sh_size - at);
        if (!bytes || !fatbin_find(p->at + x->sh_offset + at, bytes, chip, &ptx)) continue;
        if (ptx.text) return NULL;
        if (*ptx.others) memcpy(others, ptx.others, sizeof others);
    }
    if (!*others) return NULL;
    if (find_section(p, "__nv_relfatbin"))
        return reason_as(
            STATUS_UNSUPPORTED,
            "%s has linked device code (-rdc=true), as kernels that launch kernels need: "
            "there is no PTX of it; compile without, or run it on a GPU",
            path);
    return reason_as(STATUS_UNSUPPORTED,
                     "%s has no PTX that %s can run, only: %s; build it with runtime/attnlab-nvcc",
                     path, chip->name, others);
}

/* Libraries whose kernels are machine code only. Their calls fail; the program goes on. */
static void say_libraries(const struct started_program *p, const char *path) {
    static const char *const libraries[] = {"libcufft", "libcusparse", "libcusolver",
                                            "libcudnn", "libnccl",     "libnpp"};
    for (size_t n = 0; n < sizeof libraries / sizeof *libraries; n++) {
        char name[32];
        int bytes = snprintf(name, sizeof name, "%s%s", libraries[n],
                             strcmp(libraries[n], "libnpp") ? ".so." : "");
        if (holds(p, ".dynstr", name, (size_t)bytes))
            fprintf(stderr, "run: %s calls %s, which has no PTX: on the emulator its calls fail\n",
                    path, libraries[n]);
    }
}

static bool begins_with(const char *text, const char *const *list) {
    for (; *list; list++)
        if (!strncmp(text, *list, strlen(*list))) return true;
    return false;
}

/* It has no library but the system's own, loads none and starts no other program: no kernel of it can be seen. */
static bool stays_with_system(const struct started_program *p) {
    static const char *const own[] = {"libc.so",      "libm.so",  "libgcc_s.so",
                                      "libstdc++.so", "libdl.so", "librt.so",
                                      "libpthread",   "ld-linux", NULL},
                             *const ways[] = {"dlopen", "exec",  "fexec", "posix_spawn",
                                              "system", "popen", NULL};
    const Elf64_Shdr *x = find_section(p, ".dynstr");
    const char *at = x ? (const char *)p->at + x->sh_offset : NULL;
    const char *const end = x ? at + x->sh_size : NULL;
    if (!x || !x->sh_size || end[-1]) return false;
    for (; at < end; at += strlen(at) + 1)
        if (begins_with(at, ways) || (strstr(at, ".so") && !begins_with(at, own))) return false;
    return true;
}

static const char *check_program(const char *path, const struct chip *chip, bool quiet,
                                 bool *uses_nvrtc) {
    struct started_program p;
    struct stat status;
    if (stat(path, &status)) return reason_as(STATUS_USAGE, "%s: %s", path, strerror(errno));
    const size_t length = strlen(path);
    if (S_ISREG(status.st_mode) && length > 3 && !strcmp(path + length - 3, ".cu")) {
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const int n = (int)strlen(name) - 3;
        return reason_as(STATUS_USAGE,
                         "%s is source: compile it, runtime/attnlab-nvcc -O3 -o %.*s %s, then "
                         "build/run ./%.*s; or --kernel NAME runs one kernel of it",
                         path, n, name, path, n, name);
    }
    if (!S_ISREG(status.st_mode) || access(path, X_OK))
        return reason_as(STATUS_USAGE, "%s is no program", path);
    map_program(path, &p);
    if (!p.at) return NULL; /* a script: what it starts is looked at by the library */
    bool is_shared = holds(&p, ".dynstr", "libcudart.so.13", 16);
    if (holds(&p, ".dynstr", "libcudart.so.", 13) && !is_shared)
        return reason_as(STATUS_UNSUPPORTED,
                         "%s is built for another CUDA than 13; build it with runtime/attnlab-nvcc",
                         path);
    if (holds(&p, ".rodata", "cudaErrorInitializationError", 28) &&
        !is_shared) /* one of its names */
        return reason_as(STATUS_UNSUPPORTED,
                         "%s has the CUDA runtime inside (-cudart static); build it with "
                         "runtime/attnlab-nvcc",
                         path);
    say_libraries(&p, path);
    if (!quiet && stays_with_system(&p))
        fputs("run: the program launches no kernel: it has no library of CUDA; nothing is counted "
              "or checked\n",
              stderr);
    *uses_nvrtc = holds(&p, ".dynstr", "libnvrtc.so.", 12);
    const char *why = check_device_code(&p, path, chip);
    munmap((void *)(uintptr_t)p.at, p.bytes);
    return why;
}

/* ---- Starting it ----------------------------------------------------------------------------- */

/* PATH:before, so that the stand-ins are found first. */
static void prepend(const char *variable, const char *path) {
    const char *before = getenv(variable);
    char *text = NULL;
    if (asprintf(&text, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
        heap_exhausted();
    heap_setenv(variable, text);
    free(text);
}

static void find_groups(void) {
    char groups[PATH_MAX];
    if (!getenv("ATTNLAB_GROUPS") && program_find("profiler/groups", groups, sizeof groups))
        heap_setenv("ATTNLAB_GROUPS", groups);
}

static const char *start_on_emulator(const struct settings *s, char **argv, bool uses_nvrtc) {
    char folder[PATH_MAX], library[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/runtime", program_folder());
    snprintf(library, sizeof library, "%s/libcudart.so.13", folder);
    if (access(library, R_OK))
        return reason_as(STATUS_FILE, "%s: %s (make build/run)", library, strerror(errno));
    prepend("LD_LIBRARY_PATH", folder);
    if (uses_nvrtc) prepend("LD_PRELOAD", library); /* nvrtc.c comes before NVRTC */
    find_groups();
    return settings_to_environment(s, argv);
}

/* What the driver loads into the program: gpu.c. */
static const char injection[] = "CUDA_INJECTION64_PATH";
static const char *injected(void) {
    static char library[PATH_MAX + 32];
    snprintf(library, sizeof library, "%s/runtime/libattnlab-gpu.so", program_folder());
    return library;
}

static const char *start_on_gpu(const struct settings *s, char **argv) {
    const struct emu_options *e = &s->emulator;
    if (access(injected(), R_OK))
        return reason_as(STATUS_FILE, "%s: %s (make build/run)", injected(), strerror(errno));
    if (s->source || e->trace_line || e->banks_line || e->without || e->watch || e->sample_blocks ||
        e->check_blocks)
        fprintf(stderr, "run: on the GPU: --source, --trace, --banks, --without, --watch, "
                        "--sample-blocks and --check-blocks are the emulator's, --device emu\n");
    heap_setenv(injection, injected());
    find_groups();
    return settings_to_environment(s, argv);
}

/* Was this program started by itself, to run one kernel on a GPU? */
static bool is_started_on_gpu(void) {
    const char *library = getenv(injection);
    return library && !strcmp(library, injected());
}

/* A program; or one kernel, for which on a GPU this one is the program. */
static const char *run(const struct settings *s, int argc, char **argv) {
    char **program = argv + 1 + s->n_words;
    const char *why = NULL;
    bool emulate = s->device == DEVICE_EMU || (s->watch_page && s->device == DEVICE_AUTO);
    bool uses_nvrtc = false;
    if (s->watch_page && !emulate)
        return reason_as(STATUS_USAGE, "--watch-page asks the predictor: add --device emu");
    if (s->kernel && !emulate && is_started_on_gpu()) return kernel_run(s, argc, argv, true);
    if (!emulate) {
        struct device *d = NULL;
        const char *no_gpu = device_open(DEVICE_CUDA, NULL, &d);
        device_close(d);
        if (no_gpu && s->device == DEVICE_CUDA) return no_gpu;
        emulate = no_gpu != NULL;
    }
    if (s->kernel && emulate) return kernel_run(s, argc, argv, false);
    const struct chip *chip = chip_find(s->chip ? s->chip : "h200");
    if (emulate && (why = check_program(program[0], chip, s->quiet, &uses_nvrtc))) return why;
    why = emulate ? start_on_emulator(s, argv, uses_nvrtc) : start_on_gpu(s, argv);
    if (why) return why;
    fflush(NULL);
    if (s->csv && !s->quiet) settings_keep_stdout();
    if (s->kernel)
        execv("/proc/self/exe", argv);
    else
        execv(program[0], program);
    return reason_as(STATUS_USAGE, "%s: %s", s->kernel ? argv[0] : program[0], strerror(errno));
}

int main(int argc, char **argv) {
    struct settings s;
    const char *why = settings_read(argc, argv, &s);
    if (why) return fail(why, STATUS_USAGE);
    if (s.help) {
        settings_help(stdout, "build/run");
    } else if (s.list_counters) {
        why = groups_print(stdout);
    } else if (s.version) {
        printf("attnlab run, %s\n", revision());
    } else {
        if (1 + s.n_words >= argc)
            why = reason_as(
                STATUS_USAGE,
                "which program? build/run [options] PROGRAM; build/run --help lists the options");
        if (!why && s.counters) why = counters_check(s.counters);
        if (!why && s.json_path) why = path_writable(s.json_path);
        if (!why && s.watch_page) why = path_writable(s.watch_page);
        if (!why) why = run(&s, argc, argv);
        if (why) return fail(why, STATUS_DEVICE);
    }
    why = path_stdout();
    return why ? fail(why, STATUS_FILE) : interrupt_signal() ? 128 + interrupt_signal() : 0;
}
