#include "session.h"

#include "compiled.h"
#include "predictions.h"

#include "common/base/interrupt.h"
#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/device_ops.h"
#include "common/device/emu_counters.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/state.h"

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct session *session;
static atomic_bool ended;
static bool on_gpu;
static pid_t owner;         /* its children report nothing */
static enum status failed;  /* 0, or why there is no device */
static char no_counts[512]; /* not "": why */
static int n_lacking;       /* calls of what is not there */

/* ---- What is said ---------------------------------------------------------------------------- */

void session_say(const char *format, ...) {
    static struct said {
        struct said *next;
        char text[];
    } * all;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (struct said *s = all; s; s = s->next)
        if (!strcmp(s->text, text)) return;
    struct said *s = malloc(sizeof *s + strlen(text) + 1);
    if (s) {
        strcpy(s->text, text);
        s->next = all;
        all = s;
    }
    fflush(stdout);
    fprintf(stderr, "run: %s\n", text);
}

void session_lacks_call(void) { n_lacking++; }
int session_lacking_calls(void) { return n_lacking; }

/* ---- The end --------------------------------------------------------------------------------- */

const char *session_lacks_counts(void) {
    struct settings s;
    bool asked = *no_counts && !settings_from_environment(&s) && (s.counters || s.json_path);
    return asked ? no_counts : NULL;
}

static atomic_bool by_signal;            /* end_by_signal() ends the program */
static _Thread_local bool in_its_thread; /* which this one is */

/* Another thread ends the program: it may have the lock or not (lock_to_end), and it is not to be overtaken. */
static void leave_to_it(void) {
    while (by_signal && !in_its_thread) pause();
}

int session_finish(int status) {
    leave_to_it();
    if (ended) return status;
    pthread_mutex_lock(&lock);
    leave_to_it();
    if (ended || (!session && !failed && !*no_counts)) return status;
    ended = true;
    fflush(NULL);
    if (interrupt_signal()) status = 128 + interrupt_signal(); /* a sleep of main's ended early */
    int mine = session                             ? session_report(session, status)
               : !status && failed                 ? (int)failed
               : !status && n_lacking              ? STATUS_UNSUPPORTED
               : !status && session_lacks_counts() ? STATUS_COUNTERS
                                                   : status;
    fflush(NULL);
    return mine;
}

/* The program ends without a call that opened the device. */
static void say_no_call(void) {
    struct settings s;
    if (session || failed || on_gpu || n_lacking || getpid() != owner || interrupt_signal() ||
        settings_from_environment(&s))
        return;
    if (!s.quiet && !s.kernel)
        session_say("the program launched no kernel; nothing was counted or checked");
}

/* The program has returned from main or called exit. */
static void at_exit(int status, void *unused) {
    (void)unused;
    say_no_call();
    int mine = session_finish(status);
    if (mine != status || interrupt_signal()) _exit(mine);
}

int session_end_early(int status) {
    return getpid() == owner && getenv("ATTNLAB_RUN") ? session_finish(status) : status;
}

static atomic_bool busy; /* with what looks at no signal */

void session_busy(bool begins) { busy = begins; }

/* The lock; or, 0.1 s later, no lock if a library computes that does not come back soon. */
static void lock_to_end(void) {
    struct timespec until;
    do {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    } while (pthread_mutex_timedlock(&lock, &until) && !busy);
}

static int wake[2]; /* a pipe: from the signal handler to the thread that ends the program */

static void on_signal(int signal) {
    int kept = errno;
    unsigned char byte = (unsigned char)signal;
    interrupt_note(signal); /* the launch under way ends within 0.1 s */
    ssize_t n = write(wake[1], &byte, 1);
    (void)n;
    errno = kept;
}

static atomic_bool abort_told; /* the report of a program that aborts is complete */

static void *end_by_signal(void *unused) {
    unsigned char signal;
    while (read(wake[0], &signal, 1) != 1) {
    }
    in_its_thread = true;
    lock_to_end();
    if (!ended && session) {
        by_signal = true;
        ended = true;
        fflush(NULL);
        session_report(session, 128 + signal);
        fflush(NULL);
    }
    if (signal != SIGABRT) _exit(128 + signal);
    abort_told = true;
    return unused;
}

/* The program calls abort(), as a failed assertion does, or the C library does, which has found the heap damaged and keeps it
 * locked: the other thread, which has a heap of its own, reports the launches. Then the program ends as usual. */
static void on_abort(int signal) {
    enum { WAIT_S = 10, EACH_MS = 10 };
    const struct timespec each = {.tv_nsec = EACH_MS * 1000000};
    static const char untold[] =
        "run: the program aborted, and its launches could not be told; its heap may be damaged\n";
    const unsigned char byte = (unsigned char)signal;
    if (getpid() != owner || in_its_thread) return;
    busy = true; /* this thread may have the lock, and does not give it back */
    if (write(wake[1], &byte, 1) != 1) return;
    for (int i = 0; i < WAIT_S * 1000 / EACH_MS && !abort_told; i++) nanosleep(&each, NULL);
    if (!abort_told && write(STDERR_FILENO, untold, sizeof untold - 1) < 0) return;
}

/* SIGINT, SIGTERM and SIGABRT, unless the program has handlers of its own. */
static void catch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction mine = {.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    struct sigaction aborts = {.sa_handler = on_abort, .sa_flags = (int)SA_RESETHAND};
    struct sigaction found;
    pthread_t thread;
    if (pipe(wake) || pthread_create(&thread, NULL, end_by_signal, NULL)) return;
    pthread_detach(thread);
    if (!sigaction(SIGABRT, NULL, &found) && found.sa_handler == SIG_DFL)
        sigaction(SIGABRT, &aborts, NULL);
    for (int i = 0; i < 2; i++) {
        struct sigaction before;
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &mine, NULL);
    }
}

/* ---- The device ------------------------------------------------------------------------------ */

static const char *open_session(struct session **out) {
    struct session *s = calloc(1, sizeof *s);
    if (!s) return "no memory for the emulator";
    const char *why = settings_from_environment(&s->settings);
    if (!why && on_gpu) why = device_cuda_info(&s->info);
    if (!why && !on_gpu && !(why = emu_memory_open(&s->memory))) emu_memory_hide(s->memory);
    if (why) {
        free(s);
        return why;
    }
    *out = s;
    if (on_gpu) return NULL;
    s->repeat.memory = s->memory;
    device_emu_info(s->settings.chip, &s->info);
    device_emulator_options(&s->settings.emulator);
    return NULL;
}

const char *session_on_gpu(void) {
    on_gpu = true;
    return getenv("ATTNLAB_RUN") ? NULL : "build/run starts programs whose launches are counted";
}

void session_no_counts(const char *why) {
    session_say("no counts: %s", why);
    snprintf(no_counts, sizeof no_counts, "%s", why);
}

/* Before main and before the program's own handlers of exit, so that this one runs after them. */
__attribute__((constructor)) static void begin(void) {
    owner = getpid();
    if (getenv("ATTNLAB_RUN")) on_exit(at_exit, NULL);
}

void *session_place(const struct session *s, const void *p) {
    void *at = s->memory ? emu_memory_at(s->memory, (uint64_t)(uintptr_t)p, 1) : NULL;
    return at ? at : (void *)(uintptr_t)p;
}

struct session *session_lock(void) {
    pthread_mutex_lock(&lock);
    if (!session && !failed) {
        const char *why = open_session(&session);
        if (why) {
            failed = reason_status(why, STATUS_UNSUPPORTED);
            session_say("%s", why);
        } else if (getenv("ATTNLAB_RUN")) {
            catch_signals();
        }
    }
    if (!session) pthread_mutex_unlock(&lock);
    return session;
}

void session_unlock(void) { pthread_mutex_unlock(&lock); }

/* ---- Images and kernels ---------------------------------------------------------------------- */

struct image *session_add_image(struct session *s, const struct fatbin_ptx *ptx) {
    struct image *i = calloc(1, sizeof *i), **last = &s->images;
    if (!i) return NULL;
    i->ptx = *ptx;
    while (*last) last = &(*last)->next;
    return *last = i;
}

const char *session_load(struct session *s, struct image *i) {
    const char *why = NULL;
    if (i->module || i->why) return i->why;
    if (!i->ptx.text)
        why = reason_as(STATUS_UNSUPPORTED,
                        "no PTX that %s can run in the program, only: %s; build it with "
                        "runtime/attnlab-nvcc",
                        s->info.chip.name, *i->ptx.others ? i->ptx.others : "nothing");
    else
        why =
            emu_module_open(s->memory, i->ptx.text, i->ptx.bytes, "the program's PTX", &i->module);
    if (!why) return NULL;
    i->why = strdup(why);
    session_say("%s", why);
    return i->why;
}

/* "void sgemm<(int)32>(float const*)" -> "sgemm<(int)32>"; C names stay. */
char *session_shown_name(const char *symbol) {
    if (strncmp(symbol, "_Z", 2))
        return heap_text(symbol); /* a type may have its letter: f, float */
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    static void *library;
    if (!found && (library || (library = dlopen("libstdc++.so.6", RTLD_NOW))))
        found = dlsym(library, "__cxa_demangle");
    if (!found) heap_dlerror();
    memcpy(&demangle, &found, sizeof demangle);
    int status = -1;
    char *whole = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
    if (demangle && status == -1) heap_exhausted();
    if (status || !whole) return heap_text(symbol);
    char *begin = strncmp(whole, "void ", 5) ? whole : whole + 5, *end = begin + strlen(begin);
    for (int depth = 0; end > begin;) { /* the parameters: the last (...) */
        end--;
        depth += (*end == ')') - (*end == '(');
        if (*end == '(' && !depth) break;
    }
    char *name = strndup(begin, end > begin ? (size_t)(end - begin) : strlen(begin));
    if (!name) heap_exhausted();
    free(whole);
    return name;
}

struct kernel *session_kernel(struct session *s, struct image *i, const char *name) {
    struct kernel **last = &s->kernels;
    for (; *last; last = &(*last)->next)
        if ((*last)->image == i && !strcmp((*last)->name, name)) return *last;
    if (session_load(s, i)) return NULL;
    const struct emu_kernel *code = emu_module_kernel(i->module, name);
    struct kernel *k = code ? calloc(1, sizeof *k) : NULL;
    if (!k) return NULL;
    k->image = i;
    k->name = strdup(name);
    k->shown = session_shown_name(name);
    k->code = code;
    k->max_dynamic_shared = -1;
    k->static_shared = emu_kernel_static_shared(code);
    k->n_registers = i->ptx.cubin ? fatbin_registers(i->ptx.cubin, i->ptx.cubin_bytes, name) : -1;
    if (!k->name || !k->shown || emu_result_open(&k->result)) return NULL;
    return *last = k;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Whose sectors a GPU counts as global ones (profiler/groups/MEMORY.txt): not those of atomics and constants. */
static bool is_global(enum emu_class c) {
    return c == EMU_LD_GLOBAL || c == EMU_ST_GLOBAL || c == EMU_LDGSTS;
}

static struct session_sums sums_of(const struct emu_result *r) {
    struct session_sums s = {0};
    for (struct emu_counted at = {0}; emu_result_next(r, &at);) {
        const struct emu_count *c = at.count;
        const enum emu_class class = at.inst->class;
        s.executed += (double)c->executed;
        s.threads += 32.0 * (double)c->executed - (double)c->lanes_off;
        if (is_global(class)) {
            s.sectors += (double)c->sectors;
            s.sectors_ideal += (double)c->sectors_ideal;
        }
        if (class != EMU_TMA) { /* as the hardware's counters by instruction */
            s.wavefronts += (double)c->wavefronts;
            s.wavefronts_ideal += (double)c->wavefronts_ideal;
        }
        if (class == EMU_HMMA || class == EMU_HGMMA)
            s.tensor += (double)c->executed * at.inst->units;
    }
    return s;
}

static struct session_sums minus(struct session_sums a, struct session_sums b) {
    return (struct session_sums){
        a.executed - b.executed,     a.threads - b.threads,
        a.sectors - b.sectors,       a.sectors_ideal - b.sectors_ideal,
        a.wavefronts - b.wavefronts, a.wavefronts_ideal - b.wavefronts_ideal,
        a.tensor - b.tensor};
}

static enum fault fault_of(int kind) {
    switch (kind) {
    case EMU_BAD_GLOBAL:
        return FAULT_ADDRESS;
    case EMU_MISALIGNED:
        return FAULT_ALIGNMENT;
    case EMU_BAD_SHARED:
    case EMU_BAD_LOCAL:
    case EMU_TRAP:
        return FAULT_LAUNCH;
    case EMU_DEADLOCK:
    case EMU_ENDLESS:
        return FAULT_TIMEOUT;
    default:
        return FAULT_NONE; /* a GPU would go on */
    }
}

bool session_chooses(struct session *s, const struct kernel *k) {
    const int64_t first = s->settings.launch_skip, most = s->settings.launch_count;
    bool yes = true;
    if (!first && !most) return true;
    if (settings_means(&s->settings, k->shown)) {
        const int64_t number = s->n_numbered++;
        yes = number >= first && (!most || number < first + most);
    } else {
        yes = false;
    }
    s->n_unchosen += !yes;
    return yes;
}

int session_dynamic_shared(const struct kernel *k) {
    const int left = 49152 - emu_kernel_static_shared(k->code);
    return k->max_dynamic_shared >= 0 ? k->max_dynamic_shared : left > 0 ? left : 0;
}

/* The rules that a GPU answers with codes of their own. */
static enum fault check_config(struct session *s, const struct kernel *k,
                               const struct emu_grid *g) {
    const uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    const int statics = emu_kernel_static_shared(k->code), all = s->info.chip.shared_per_block;
    const int most = session_dynamic_shared(k);
    char *const why = s->unlaunched;
    const size_t n = sizeof s->unlaunched;
    struct occupancy o;
    *why = 0;
    if (!g->grid[0] || !g->grid[1] || !g->grid[2] || !threads)
        return snprintf(why, n, "an extent of 0"), FAULT_CONFIG;
    if (threads > 1024)
        return snprintf(why, n, "%llu threads in a block; at most 1024",
                        (unsigned long long)threads),
               FAULT_CONFIG;
    if (g->block[2] > 64)
        return snprintf(why, n, "a block %u threads deep; at most 64", g->block[2]), FAULT_CONFIG;
    if (g->grid[1] > 65535 || g->grid[2] > 65535 || g->grid[0] > 0x7fffffff)
        return snprintf(why, n, "a grid is at most 2147483647 x 65535 x 65535 blocks"),
               FAULT_CONFIG;
    if ((int64_t)g->shared_bytes > all - statics)
        return snprintf(why, n, "dynamic shared memory is at most %d bytes here", all - statics),
               FAULT_VALUE;
    if ((int64_t)g->shared_bytes > most)
        return snprintf(why, n,
                        "dynamic shared memory is at most %d bytes, and up to %d after "
                        "cudaFuncSetAttribute(kernel, "
                        "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
                        most, all - statics),
               FAULT_VALUE;
    if (k->n_registers > 0 && !session_occupancy(s, k, (int)threads, (int)g->shared_bytes, &o) &&
        o.blocks_per_sm == 0)
        return snprintf(why, n,
                        "%d registers in each of %llu threads are more than an SM has; "
                        "__launch_bounds__ takes fewer",
                        k->n_registers, (unsigned long long)threads),
               FAULT_MEMORY;
    return FAULT_NONE;
}

struct launch *session_add_launch(struct kernel *k) {
    if (k->n_launches == k->capacity) {
        int capacity = k->capacity ? 2 * k->capacity : 8;
        struct launch *more = realloc(k->launch, (size_t)capacity * sizeof *more);
        if (!more) return NULL;
        k->launch = more;
        k->capacity = capacity;
    }
    k->launch[k->n_launches] = (struct launch){.seconds = 0};
    return &k->launch[k->n_launches++];
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct repeat_span span_of(const void *p, size_t bytes) {
    uint64_t from = (uint64_t)(uintptr_t)p;
    return (struct repeat_span){from, from + bytes};
}

bool session_puts_off(const struct session *s, uint64_t key) {
    return s->settings.puts_off && repeat_done_before(&s->repeat, key, s->settings.repeats);
}

void session_before_read(struct session *s, const void *p, size_t bytes) {
    struct repeat_span nothing = {0, 0};
    if (repeat_writes(&s->repeat, span_of(p, bytes))) repeat_settle(&s->repeat, nothing);
}

void session_before_write(struct session *s, const void *p, size_t bytes) {
    struct repeat_span all = span_of(p, bytes);
    if (repeat_writes(&s->repeat, all) || repeat_reads(&s->repeat, all))
        repeat_settle(&s->repeat, all);
    s->repeat.last = 0;
}

static uint64_t key_of(const struct kernel *k, const struct emu_grid *g) {
    uint64_t key = repeat_key(0, &k, sizeof k);
    key = repeat_key(key, g->grid, sizeof g->grid);
    key = repeat_key(key, g->block, sizeof g->block);
    key = repeat_key(key, g->cluster, sizeof g->cluster);
    key = repeat_key(key, &g->shared_bytes, sizeof g->shared_bytes);
    for (int a = 0; a < g->n_args; a++) key = repeat_key(key, g->arg[a], g->arg_bytes[a]);
    return key;
}

static void note_launch(struct session *s, const struct kernel *k, uint64_t key);

/* The launch `row` of k, with arguments of its own. */
struct put_off {
    struct session *s;
    struct kernel *k;
    uint64_t key;
    int row; /* -1: it has none yet */
    int number;
    struct emu_grid grid;
    unsigned char arg[];
};

/* --predict-only: notes the launch. May it be left out? */
static bool only_predicted(const struct session *s, struct kernel *k, int row,
                           const struct emu_grid *g, int predicted) {
    struct launch *l = &k->launch[row];
    if (!s->settings.predict_only) return false;
    l->predicted = predicted;
    memcpy(l->grid, g->grid, sizeof l->grid);
    memcpy(l->block, g->block, sizeof l->block);
    memcpy(l->cluster, g->cluster, sizeof l->cluster);
    l->shared_bytes = g->shared_bytes;
    return predictions_instructions(k, predicted) > (double)s->settings.emulator.max_instructions;
}

/* Its last launch is predicted: the program ends. */
static void end_predicted(struct session *s) {
    ended = true;
    fflush(NULL);
    const int status = session_report(s, 0);
    fflush(NULL);
    _exit(status);
}

/* Row -1: it is not counted (session_chooses). */
static enum fault run_launch(struct session *s, struct kernel *k, int row, const struct emu_grid *g,
                             uint64_t key);

static void run_put_off(void *what) {
    struct put_off *p = what;
    enum fault fault = FAULT_MEMORY;
    p->s->n_skipped--;
    if (p->row < 0 && session_add_launch(p->k)) p->row = p->k->n_launches - 1;
    if (p->row >= 0) p->k->launch[p->row].number = p->number;
    if (p->row >= 0) fault = run_launch(p->s, p->k, p->row, &p->grid, p->key);
    if (!repeat_is_known(&p->s->repeat, p->key)) note_launch(p->s, p->k, p->key);
    if (fault) p->s->late_fault = fault;
}

/* A launch that is not run yet, and maybe never; if it is like an earlier one its counts are known. */
static enum fault put_off(struct session *s, struct kernel *k, const struct emu_grid *g,
                          uint64_t key) {
    size_t bytes = 0;
    for (int a = 0; a < g->n_args; a++) bytes += g->arg_bytes[a];
    struct put_off *p = calloc(1, sizeof *p + bytes);
    if (!p) return FAULT_MEMORY;
    p->s = s, p->k = k, p->key = key, p->row = -1, p->number = s->n_launches++, p->grid = *g;
    if (repeat_is_known(&s->repeat, key)) {
        struct launch *l = session_add_launch(k), *before = l;
        if (!l) return s->n_launches--, FAULT_MEMORY;
        while (before == l || before->key != key) before--;
        *l = *before;
        l->seconds = 0;
        l->number = p->number;
        l->predicted = predictions_make(s, k, g);
        p->row = k->n_launches - 1;
    }
    unsigned char *at = p->arg;
    for (int a = 0; a < g->n_args; at += g->arg_bytes[a++]) {
        memcpy(at, g->arg[a], g->arg_bytes[a]);
        p->grid.arg[a] = at;
    }
    s->n_skipped++;
    repeat_put_off(&s->repeat, key, run_put_off, p);
    return FAULT_NONE;
}

/* What the launch that has just run did to memory. */
static void note_launch(struct session *s, const struct kernel *k, uint64_t key) {
    enum { MOST = REPEAT_EFFECTS };
    struct repeat_effect effect[MOST];
    struct emu_effect e;
    int n = 0;
    bool never = emu_kernel_acts(k->code);
    for (int i = 0; emu_memory_next_effect(s->memory, &i, &e);) {
        never |= n == MOST || emu_memory_is_shared(s->memory, e.base);
        if (never) break;
        effect[n++] = (struct repeat_effect){.read = {e.base, e.read ? e.end : e.base},
                                             .written = {e.wrote_from, e.wrote_to}};
    }
    if (never)
        repeat_never(&s->repeat, key);
    else
        repeat_note(&s->repeat, key, effect, n, false);
}

static enum fault launch(struct session *s, struct kernel *k, const struct emu_grid *config,
                         void *const *args) {
    struct emu_grid g = *config;
    *s->unlaunched = 0;
    if (emu_kernel_refused(k->code)) {
        if (!k->refused) session_say("%s", emu_kernel_refused(k->code));
        s->n_refused += !k->refused;
        k->refused = true;
        return FAULT_REFUSED;
    }
    enum fault fault = check_config(s, k, &g);
    if (fault) return fault;
    g.n_args = emu_kernel_params(k->code);
    if (g.n_args > EMU_MAX_ARGS) {
        session_say("%s takes %d arguments; %d at most run here", k->shown, g.n_args, EMU_MAX_ARGS);
        return FAULT_VALUE;
    }
    for (int a = 0; a < g.n_args; a++) {
        if (!args || !args[a]) return FAULT_VALUE;
        g.arg[a] = args[a];
        g.arg_bytes[a] = emu_kernel_param_bytes(k->code, a);
    }
    if (!session_chooses(s, k)) {
        if (!k->unchosen && emu_result_open(&k->unchosen)) return FAULT_MEMORY;
        return run_launch(s, k, -1, &g, 0);
    }
    uint64_t key = key_of(k, &g);
    bool unseen = repeat_is_known(&s->repeat, key) ||
                  !(emu_kernel_acts(k->code) || emu_memory_any_shared(s->memory));
    if (session_puts_off(s, key) && unseen) return put_off(s, k, &g, key);
    if (s->settings.puts_off) repeat_settle(&s->repeat, (struct repeat_span){0, 0});
    struct launch *row = session_add_launch(k);
    if (!row) return FAULT_MEMORY;
    row->number = s->n_launches++;
    fault = run_launch(s, k, k->n_launches - 1, &g, key);
    if (fault == FAULT_VALUE || fault == FAULT_MEMORY) {
        k->n_launches--;
        s->n_launches--;
        return fault;
    }
    if (s->settings.puts_off) note_launch(s, k, key);
    return fault;
}

/* What a launch writes is unknown, because launch number `launch` did not run. */
static void unknown_from(struct session *s, const struct kernel *k, const struct emu_grid *g,
                         int predicted, int launch) {
    if (!predictions_unknown(s, k, predicted, launch))
        stale_launch(&s->stale, s->memory, g, launch);
}

static enum fault run_launch(struct session *s, struct kernel *k, int row, const struct emu_grid *g,
                             uint64_t key) {
    struct emu_result *result = row < 0 ? k->unchosen : k->result;
    enum fault fault = FAULT_NONE;
    const bool had_count = !compiled_lacks(k), had_prediction = !predictions_missing(k);
    int n_before = emu_result_reports(result), predicted = row < 0 ? 0 : predictions_make(s, k, g);
    struct session_sums sass;
    const bool of_ptx = row < 0 || !compiled_count(s, k, g, &sass);
    double begin_s = now_s();
    const int last = s->settings.predict_only;
    const bool left_out = row >= 0 && only_predicted(s, k, row, g, predicted);
    if (last && s->n_launches >= last) end_predicted(s);
    if (left_out) unknown_from(s, k, g, predicted, k->launch[row].number);
    if (left_out) return FAULT_NONE;
    const int unknown = stale_of(&s->stale, s->memory, g);
    if (unknown >= 0 && row >= 0) unknown_from(s, k, g, predicted, unknown);
    fflush(stdout); /* what the kernel prints comes after what the program printed */
    const char *why =
        emu_launch(s->memory, k->code, g, &s->info.chip, &s->settings.emulator, result);
    bool stopped = interrupt_signal() != 0;
    if (stopped) why = NULL; /* what it did until then is counted */
    if (why) {
        session_say("%s", why);
        return reason_status(why, STATUS_USAGE) == STATUS_DEVICE ? FAULT_MEMORY : FAULT_VALUE;
    }
    if (row >= 0) {
        struct launch *l = &k->launch[row];
        struct session_sums total = sums_of(k->result), ptx = minus(total, k->total);
        sass.tensor = ptx.tensor; /* the same in both */
        *l = (struct launch){.sums = of_ptx ? ptx : sass,
                             .ptx = ptx,
                             .of_ptx = of_ptx,
                             .seconds = now_s() - begin_s,
                             .key = key,
                             .predicted = predicted,
                             .number = l->number};
        l->shared_bytes = g->shared_bytes;
        memcpy(l->grid, g->grid, sizeof l->grid);
        memcpy(l->block, g->block, sizeof l->block);
        memcpy(l->cluster, g->cluster, sizeof l->cluster);
        k->total = total;
        s->seconds += l->seconds;
    }
    for (int r = n_before; r < emu_result_reports(result); r++) {
        fflush(stdout);
        fprintf(stderr, "run: %s\n", emu_result_report(result, r));
        s->n_reports += emu_result_report_kind(result, r) != EMU_NOTE;
        const int kind = emu_result_report_kind(result, r);
        const bool too_long = last && kind == EMU_ENDLESS; /* as if it had been left out */
        if (too_long && row >= 0) unknown_from(s, k, g, predicted, k->launch[row].number);
        if (!fault && !too_long) fault = fault_of(kind);
        if (emu_result_report_kind(result, r) == EMU_TRAP &&
            strstr(emu_result_report(result, r), "assertion"))
            fault = FAULT_ASSERT;
    }
    if (fault == FAULT_ADDRESS || fault == FAULT_ALIGNMENT || fault == FAULT_LAUNCH) {
        if (had_count) compiled_failed(k);
        if (had_prediction) predictions_failed(k);
    }
    if (stopped) { /* the thread that ends the program takes over */
        session_unlock();
        for (;;) pause();
    }
    return fault;
}

enum fault session_launch(struct session *s, struct kernel *k, const struct emu_grid *config,
                          void *const *args) {
    enum fault fault = launch(s, k, config, args);
    if (!s->is_alone && (fault == FAULT_CONFIG || fault == FAULT_VALUE || fault == FAULT_MEMORY))
        session_launch_failed(s, k, config, s->unlaunched);
    return fault;
}

void session_launch_failed(struct session *s, const struct kernel *k, const struct emu_grid *config,
                           const char *why) {
    const unsigned *g = config->grid, *b = config->block;
    s->n_failed++;
    session_say("a launch of %s could not begin: a grid of %u x %u x %u blocks of %u x %u x %u "
                "threads, %u bytes of dynamic shared memory%s%s; only the error that the call "
                "returned tells the program",
                k->shown, g[0], g[1], g[2], b[0], b[1], b[2], config->shared_bytes,
                *why ? ": " : "", why);
}

const char *session_occupancy(const struct session *s, const struct kernel *k, int threads,
                              int dynamic_shared, struct occupancy *out) {
    return occupancy_of(&s->info.chip, k->n_registers > 0 ? k->n_registers : 16, k->static_shared,
                        dynamic_shared, threads, out);
}

const char *session_kernel_occupancy(const struct session *s, const struct kernel *k, int threads,
                                     int dynamic_shared, struct occupancy *out) {
    if (k->n_registers < 0)
        return "the program has no cubin that says how many registers the kernel takes";
    return session_occupancy(s, k, threads, dynamic_shared, out);
}
