#include "compiled.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/base/scratch.h"
#include "common/base/toolkit.h"
#include "common/device/emu_sass.h"
#include "emulator/sass/undo.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct compiled {
    struct sass_module *module; /* NULL: not opened */
    char *closed;               /* not NULL: why it cannot be opened */
    char *uncounted;            /* not NULL: why the first launch that was not counted was not */
    struct sass_counts counts;  /* of the launches that were */
};

static struct compiled *compiled_of(struct kernel *k) {
    if (!k->compiled) k->compiled = heap_zeroed(1, sizeof *k->compiled);
    return k->compiled;
}

/* ---- The cubin ------------------------------------------------------------------------------- */

/* build/sass: this library is in build/runtime, build/run in build. */
static void cache_folder(char out[PATH_MAX]) {
    char home[PATH_MAX];
    snprintf(home, sizeof home, "%s", program_home());
    size_t n = strlen(home), tail = strlen("/runtime");
    if (n > tail && !strcmp(home + n - tail, "/runtime")) home[n - tail] = 0;
    snprintf(out, PATH_MAX, "%.*s/sass", PATH_MAX - 64, home);
}

static const char *write_file(const char *path, const void *data, size_t bytes) {
    FILE *f = fopen(path, "w");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    if (f && fclose(f)) ok = false;
    return ok ? NULL : reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
}

/* Of the PTX and of the ptxas that compiles it. */
static uint64_t key_of(const struct fatbin_ptx *ptx, const char *ptxas, const char *arch) {
    struct stat file;
    uint64_t key = repeat_key(0, ptx->text, ptx->bytes);
    key = repeat_key(key, arch, strlen(arch));
    if (!stat(ptxas, &file)) {
        key = repeat_key(key, &file.st_mtim, sizeof file.st_mtim);
        key = repeat_key(key, &file.st_size, sizeof file.st_size);
    }
    return key;
}

/* ptxas of `from` into `to`: NULL, or the first line of what it said. */
static const char *run_ptxas(const char *ptxas, const char *arch, const char *from,
                             const char *to) {
    char command[3 * PATH_MAX + 64], line[512] = "";
    if (strchr(ptxas, '\'') || strchr(from, '\'') || strchr(to, '\''))
        return reason_as(STATUS_FILE, "%s: a path with a quote", to);
    snprintf(command, sizeof command, "'%s' -arch=%s -lineinfo -o '%s' '%s' 2>&1", ptxas, arch, to,
             from);
    FILE *f = popen(command, "r");
    if (!f) return reason_as(STATUS_DEVICE, "%s: %s", ptxas, strerror(errno));
    if (fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    while (fgetc(f) != EOF) {
    }
    if (!pclose(f)) return NULL;
    return reason_as(STATUS_UNSUPPORTED, "ptxas does not take its PTX: %s", line);
}

/* Compiled once: `cubin` is its place in the cache, or, where nothing can be written there, a file
 * that ends with *fd. */
static const char *compile(const struct fatbin_ptx *ptx, const char *arch, const char *cache,
                           char cubin[PATH_MAX], int *fd) {
    char ptxas[PATH_MAX], text[SCRATCH_PATH], made[SCRATCH_PATH];
    const char *why = toolkit_find("ptxas", ptxas, sizeof ptxas);
    if (why) return why;
    snprintf(cubin, PATH_MAX, "%.*s/%016llx.cubin", PATH_MAX - 32, cache,
             (unsigned long long)key_of(ptx, ptxas, arch));
    if (!access(cubin, R_OK)) return NULL;
    int text_fd = scratch_open(text), made_fd = scratch_open(made);
    if (text_fd < 0 || made_fd < 0)
        why = reason_as(STATUS_FILE, "a file in memory: %s", strerror(errno));
    if (!why && !(why = write_file(text, ptx->text, ptx->bytes)))
        why = run_ptxas(ptxas, arch, text, made);
    if (text_fd >= 0) close(text_fd);
    size_t bytes;
    char part[PATH_MAX + 32], *data = why ? NULL : path_read(made, &bytes);
    snprintf(part, sizeof part, "%s.%d", cubin, (int)getpid());
    mkdir(cache, 0777);
    if (data && (write_file(part, data, bytes) || rename(part, cubin))) {
        unlink(part); /* no cache */
        snprintf(cubin, PATH_MAX, "%s", made);
        *fd = made_fd;
    } else if (made_fd >= 0) {
        close(made_fd);
    }
    free(data);
    return why;
}

/* The program's own cubin, where it has one for the chip: it was made with its options. */
static const char *write_own(const struct fatbin_ptx *ptx, char cubin[PATH_MAX], int *fd) {
    *fd = scratch_open(cubin);
    if (*fd < 0) return reason_as(STATUS_FILE, "a file in memory: %s", strerror(errno));
    return write_file(cubin, ptx->cubin, ptx->cubin_bytes);
}

bool compiled_variable(void *user, const char *name, uint64_t *address, uint64_t *bytes) {
    const struct image *i = user;
    return emu_module_variable(i->module, name, address, bytes);
}

static const char *open_module(const struct session *s, struct kernel *k,
                               struct sass_module **out) {
    char cache[PATH_MAX], cubin[PATH_MAX] = "";
    int fd = -1;
    const struct fatbin_ptx *ptx = &k->image->ptx;
    cache_folder(cache);
    const int cc = s->info.chip.cc;
    const char *why = ptx->cubin && fatbin_cubin_sm(ptx->cubin, ptx->cubin_bytes) == cc
                          ? write_own(ptx, cubin, &fd)
                          : compile(ptx, cc >= 90 ? "sm_90a" : "sm_89", cache, cubin, &fd);
    if (!why) why = sass_open_kernel(cubin, cache, k->name, out);
    if (fd >= 0) close(fd);
    return why;
}

const char *compiled_open(const struct session *s, struct kernel *k, struct sass_module **out) {
    struct compiled *m = compiled_of(k);
    if (!m->module && !m->closed) {
        const char *why = open_module(s, k, &m->module);
        if (why) m->module = NULL, m->closed = heap_text(why);
    }
    *out = m->module;
    return m->closed ? reason_as(STATUS_COUNTERS, "%s", m->closed) : NULL;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static double end_s; /* --timeout */

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool has_to_end(void) { return interrupt_signal() || now_s() > end_s; }

static const char *switched_off(const struct session *s) {
    const struct settings *o = &s->settings;
    if (s->info.chip.cc != 90)
        return reason("it is executed of Hopper's code only, and %s is none", s->info.chip.name);
    if (o->emulator.count_ptx) return "--count-ptx";
    if (o->predict_only) return "--predict-only counts nothing";
    if (o->emulator.without) return "--without leaves that line out of PTX, not of SASS";
    if (o->emulator.sample_blocks) return "with --sample-blocks most blocks do not run";
    if (o->quiet && !o->json_path) return "--quiet";
    if (s->sass_work >= SASS_LARGE_WORK)
        return reason("earlier launches of the program took long (%g instructions)",
                      (double)SASS_LARGE_WORK);
    return NULL;
}

static const char *count(struct session *s, struct kernel *k, const struct emu_grid *launch,
                         struct sass_counts *counts) {
    const struct emu_options *o = &s->settings.emulator;
    struct sass_module *module;
    struct sass_grid *g;
    const char *why = switched_off(s);
    if (!why) why = compiled_open(s, k, &module);
    if (why) return why;
    const struct sass_kernel *code = sass_find(module, k->name);
    if (!code) return reason("no kernel '%s' in the cubin", k->name);
    if ((why = sass_grid_open(s->memory, code, launch, &g))) return why;
    g->unwritten = emu_draw_unwritten(o->draw);
    end_s = o->timeout_s > 0 ? now_s() + o->timeout_s : INFINITY;
    g->stop = has_to_end;
    g->most_work = SASS_LARGE_WORK - s->sass_work;
    if (o->max_instructions && o->max_instructions < g->most_work)
        g->most_work = o->max_instructions;
    g->n_threads = o->n_threads > 0 ? o->n_threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    g->undo = sass_undo_open();
    why = sass_grid_variables(g, k->image, compiled_variable);
    if (!why) why = sass_run(g, counts);
    s->sass_work += counts->work;
    sass_undo_close(g->undo);
    sass_grid_close(g);
    return why;
}

static void add(struct sass_counts *to, const struct sass_counts *from) {
    to->instructions += from->instructions;
    to->threads += from->threads;
    to->work += from->work;
    for (int i = 0; i < 256; i++) to->op[i] += from->op[i];
    for (int m = 0; m < SASS_MEMORIES; m++) {
        to->access[m].n += from->access[m].n;
        to->access[m].wavefronts += from->access[m].wavefronts;
        to->access[m].wavefronts_ideal += from->access[m].wavefronts_ideal;
        to->access[m].sectors += from->access[m].sectors;
        to->access[m].sectors_ideal += from->access[m].sectors_ideal;
    }
}

static double named(const struct sass_counts *c, const char *name) {
    struct sass_counted row;
    for (int i = 0; sass_counted(c, i, &row); i++)
        if (!strcmp(row.name, name)) return row.value;
    return 0;
}

bool compiled_count(struct session *s, struct kernel *k, const struct emu_grid *g,
                    struct session_sums *out) {
    struct compiled *m = compiled_of(k);
    struct sass_counts c = {0};
    const char *why = count(s, k, g, &c);
    if (why && !m->uncounted) m->uncounted = heap_text(why);
    if (why) return false;
    add(&m->counts, &c);
    *out = (struct session_sums){.executed = (double)c.instructions,
                                 .threads = (double)c.threads,
                                 .sectors = named(&c, "global_sectors"),
                                 .sectors_ideal = named(&c, "global_sectors_ideal"),
                                 .wavefronts = named(&c, "shared_wavefronts"),
                                 .wavefronts_ideal = named(&c, "shared_wavefronts_ideal")};
    return true;
}

const char *compiled_lacks(const struct kernel *k) {
    return k->compiled ? k->compiled->uncounted : NULL;
}

void compiled_failed(struct kernel *k) {
    struct compiled *m = k->compiled;
    if (!m || !m->uncounted) return;
    free(m->uncounted);
    m->uncounted = heap_text(SESSION_FAILED);
}

const char *compiled_values(const struct kernel *k, struct counters *out) {
    if (!k->compiled) return "no counts of SASS: nothing was launched";
    if (k->compiled->uncounted) return reason("no counts of SASS: %s", k->compiled->uncounted);
    emu_sass_values(&k->compiled->counts, out);
    return NULL;
}
