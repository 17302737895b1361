/* Runs every microbenchmark on this machine's GPU and writes what was measured, one line a number:
 *
 *   bench  variant  what  value  unit  least  most  n          (tab separated)
 *
 * value is the median of n; a list of numbers stands in one field, blanks between. Programs come
 * from chips/bench/pipes.py (a file of machine code, put over the code of a template kernel),
 * kernels from chips/bench/<name>.cu (table in calibrate_kernels.c).
 *
 * A child process does the work, so that a kernel that faults or hangs costs one line: the parent
 * starts another child behind it. What faulted is not tried again in other places: the rest of its
 * variants (those equal up to the first '/') is skipped, and so is a bench that has lost BENCH_LOSSES
 * contexts. --probe runs only the least programs, one by one, and says which of them work. */
#include "calibrate.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WORDS = 128,  /* a warp's record: chips/bench/pipes.py */
    WARPS = 32,   /* records a CTA has room for */
    SM_WORD = 16, /* behind 8 x (start, end) */
    MAX_REPS = 9,
    TASK_SECONDS = 10, /* a task that takes longer hangs */
    BENCH_LOSSES = 6,  /* lost contexts until the rest of a bench is skipped */
    LOSSES_IN_A_ROW = 30,
    MAX_GROUPS = 512,
};

/* pipes.py, pack() */
struct calibrate_program {
    char bench[24], variant[56];
    uint32_t code_bytes, threads, ctas, smem_bytes, reps, n_stamps, passes, instructions, wide,
        expect; /* the first stamp, or 0 */
};

/* Shared by parent and children. */
struct calibrate_progress {
    volatile int task;       /* under way */
    volatile double started; /* seconds */
    volatile int losses, in_a_row, wrong;
    volatile int n_groups;
    struct calibrate_group {
        char name[88]; /* a bench, or a bench and the start of a variant */
        int losses;
    } group[MAX_GROUPS];
};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *x, int n) {
    qsort(x, n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

void line(struct calibrate_bench *b, const char *bench, const char *variant, const char *what,
          double *x, int n, const char *unit) {
    double m = median(x, n);
    fprintf(b->out, "%s\t%s\t%s\t%.6g\t%s\t%.6g\t%.6g\t%d\n", bench, variant, what, m, unit, x[0],
            x[n - 1], n);
}

const char *bench_call(struct calibrate_bench *b, CUresult r, const char *call) {
    return cuda_driver_reason(b->cu, r, call);
}

/* ---- images */

static char *read_file(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = ftell(f);
    rewind(f);
    char *p = malloc(*bytes + 1);
    if (p && fread(p, 1, *bytes, f) != *bytes) free(p), p = NULL;
    fclose(f);
    return p;
}

const char *image_open(struct calibrate_image *im, const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.cubin", folder, name);
    im->bytes = read_file(path, &im->n_bytes);
    if (!im->bytes) return reason("cannot read %s: make calibrate builds it", path);
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)im->bytes;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(im->bytes + e->e_shoff);
    const char *names = im->bytes + s[e->e_shstrndx].sh_offset;
    for (int i = 0; i < e->e_shnum; i++)
        if (!strcmp(names + s[i].sh_name, ".text.bench")) {
            im->text_at = s[i].sh_offset;
            /* The last EXIT stays: the file says where it is, and the driver may rely on that. */
            for (size_t k = 0; k + 16 <= s[i].sh_size; k += 16)
                if ((*(const uint16_t *)(im->bytes + im->text_at + k) & 0xfff) == 0x94d)
                    im->text_bytes = k;
        }
    return NULL;
}

/* ---- programs: code over a template's code */

/* One launch's records: words[cta][warp][WORDS]. */
static uint32_t *record_of(uint32_t *all, int cta, int warp) {
    return all + ((size_t)cta * WARPS + warp) * WORDS;
}

static bool took_part(const uint32_t *w, int pass) { return w[2 * pass] || w[2 * pass + 1]; }

struct calibrate_seen { /* of one program: the warps on the SM of CTA 0 */
    int n, cta[64], warp[64];
    double span[8][MAX_REPS];       /* by pass: last end - first start */
    double each[64][MAX_REPS];      /* last pass: end - start */
    double stamp[64][64][MAX_REPS]; /* since the first start of the last pass */
};

static void look(const struct calibrate_program *p, uint32_t *all, int rep,
                 struct calibrate_seen *s) {
    uint32_t sm = record_of(all, 0, 0)[SM_WORD];
    for (int w = 0; w < WARPS; w++) /* CTA 0's first warp that took part knows its SM */
        if (took_part(record_of(all, 0, w), p->passes - 1)) {
            sm = record_of(all, 0, w)[SM_WORD];
            break;
        }
    s->n = 0;
    for (uint32_t c = 0; c < p->ctas; c++)
        for (int w = 0; w < WARPS && s->n < 64; w++) {
            uint32_t *r = record_of(all, c, w);
            if (!took_part(r, p->passes - 1) || r[SM_WORD] != sm) continue;
            s->cta[s->n] = c;
            s->warp[s->n++] = w;
        }
    uint32_t first = 0;
    for (uint32_t pass = 0; pass < p->passes; pass++) {
        uint32_t last = 0;
        for (int i = 0; i < s->n; i++) {
            uint32_t *r = record_of(all, s->cta[i], s->warp[i]) + 2 * pass;
            if (i == 0 || (int32_t)(r[0] - first) < 0) first = r[0];
            if (i == 0 || (int32_t)(r[1] - last) > 0) last = r[1];
            s->each[i][rep] = r[1] - r[0];
        }
        s->span[pass][rep] = last - first;
    }
    bool values = !strcmp(p->bench, "least") || p->expect; /* stamps are results there */
    for (int i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < p->n_stamps; k++) {
            uint32_t t = record_of(all, s->cta[i], s->warp[i])[SM_WORD + 1 + k];
            s->stamp[i][k][rep] = values ? t : (double)(int32_t)(t - first);
        }
}

static void tell(struct calibrate_bench *b, const struct calibrate_program *p,
                 struct calibrate_seen *s, int reps) {
    fprintf(b->out, "%s\t%s\tinstructions\t%u\t1\t\t\t1\n", p->bench, p->variant, p->instructions);
    line(b, p->bench, p->variant, "span", s->span[p->passes - 1], reps, "cycles");
    if (p->passes > 2) {
        fprintf(b->out, "%s\t%s\tpasses\t", p->bench, p->variant);
        for (uint32_t k = 0; k < p->passes; k++)
            fprintf(b->out, "%s%g", k ? " " : "", median(s->span[k], reps));
        fprintf(b->out, "\tcycles\t\t\t%d\n", reps);
    }
    fprintf(b->out, "%s\t%s\teach\t", p->bench, p->variant);
    for (int i = 0; i < s->n; i++)
        fprintf(b->out, "%s%d.%d:%g", i ? " " : "", s->cta[i], s->warp[i],
                median(s->each[i], reps));
    fprintf(b->out, "\tcycles\t\t\t%d\n", reps);
    bool one = !strcmp(p->bench, "arbitration"); /* medians would mix different orders */
    for (int i = 0; i < s->n && p->n_stamps; i++) {
        fprintf(b->out, "%s\t%s\tstamps %d.%d\t", p->bench, p->variant, s->cta[i], s->warp[i]);
        for (uint32_t k = 0; k < p->n_stamps; k++)
            fprintf(b->out, "%s%.8g", k ? " " : "",
                    one ? s->stamp[i][k][reps - 1] : median(s->stamp[i][k], reps));
        fprintf(b->out, "\tcycles\t\t\t%d\n", one ? 1 : reps);
    }
}

static const char *program_run(struct calibrate_bench *b, const struct calibrate_program *p) {
    static struct calibrate_seen seen;
    static uint32_t *all;
    const struct calibrate_image *im =
        &b->image[p->wide                                       ? WIDE
                  : p->code_bytes <= b->image[SMALL].text_bytes ? SMALL
                                                                : LARGE];
    if (p->code_bytes > im->text_bytes) return "the program is longer than the template";
    size_t bytes = (size_t)p->ctas * WARPS * WORDS * 4;
    if (!all) all = malloc((size_t)528 * WARPS * WORDS * 4);
    char *copy = malloc(im->n_bytes);
    if (!all || !copy || p->ctas > 528) return "no memory";
    memcpy(copy, im->bytes, im->n_bytes);
    memcpy(copy + im->text_at, p + 1, p->code_bytes);
    CUmodule module = NULL;
    CUfunction f;
    const char *why = CALL(b, ModuleLoadData, &module, copy);
    if (!why) why = CALL(b, ModuleGetFunction, &f, module, "bench");
    if (!why)
        why = CALL(b, FuncSetAttribute, f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   p->smem_bytes);
    CUlaunchConfig config = {.gridDimX = p->ctas,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = p->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = p->smem_bytes};
    CUdeviceptr scratch = b->data;
    int one = 1, n = 32, reps = p->reps > MAX_REPS ? MAX_REPS : (int)p->reps;
    void *args[] = {&b->results, &scratch, &one, &n};
    for (int rep = -1; !why && rep < reps; rep++) { /* the first is cold and does not count */
        if ((why = CALL(b, MemsetD32Async, b->results, 0, bytes / 4, NULL))) break;
        if ((why = CALL(b, LaunchKernelEx, &config, f, args, NULL))) break;
        if ((why = CALL(b, MemcpyDtoHAsync, all, b->results, bytes, NULL))) break;
        if ((why = CALL(b, StreamSynchronize, NULL))) break;
        look(p, all, rep < 0 ? 0 : rep, &seen);
        if (rep < 0 && p->passes > 2) /* code that has not run before */
            fprintf(b->out, "%s\t%s\tfirst launch, pass 0\t%g\tcycles\t\t\t1\n", p->bench,
                    p->variant, seen.span[0][0]);
    }
    if (!why) tell(b, p, &seen, reps);
    if (!why && !seen.n && strcmp(p->bench, "probe")) why = "no warp left a record";
    if (!why && p->expect && seen.stamp[0][0][0] != p->expect)
        why = reason("%g where %u was expected", seen.stamp[0][0][0], p->expect);
    if (module) b->cu->ModuleUnload(module);
    free(copy);
    return why;
}

/* ---- the child: all tasks from one on */

static const char *bench_open(struct calibrate_bench *b, const char *folder, size_t data_bytes) {
    const char *why = cuda_driver_open(&b->cu);
    if (why) return why;
    CUdevice device;
    if ((why = CALL(b, DeviceGet, &device, 0))) return why;
    CUcontext context;
    if ((why = CALL(b, DevicePrimaryCtxRetain, &context, device))) return why;
    if ((why = CALL(b, CtxSetCurrent, context))) return why;
    if ((why = CALL(b, MemAlloc, &b->results, RESULT_BYTES))) return why;
    if ((why = CALL(b, MemAlloc, &b->data, data_bytes))) return why;
    if ((why = CALL(b, MemsetD32Async, b->data, 0, data_bytes / 4, NULL))) return why;
    static const char *const names[] = {"small", "large", "wide", "memory", "sync", "launch"};
    for (int i = 0; i < N_IMAGES; i++) {
        if ((why = image_open(&b->image[i], folder, names[i]))) return why;
        if (i <= WIDE) continue;
        if ((why = CALL(b, ModuleLoadData, &b->module[i], b->image[i].bytes))) return why;
    }
    if (b->first_task == 0) {
        char name[128] = "";
        b->cu->DeviceGetName(name, sizeof name, device);
        int sms = 0, khz = 0, l2 = 0, memory_khz = 0, bits = 0;
        b->cu->DeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
        b->cu->DeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
        b->cu->DeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
        b->cu->DeviceGetAttribute(&memory_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
        b->cu->DeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
        fprintf(b->out, "machine\t%s\tsms\t%d\t1\t\t\t1\n", name, sms);
        fprintf(b->out, "machine\t%s\tclock\t%d\tkHz\t\t\t1\n", name, khz);
        fprintf(b->out, "machine\t%s\tL2\t%d\tbytes\t\t\t1\n", name, l2);
        fprintf(b->out, "machine\t%s\tdram\t%.0f\tbytes/ns\t\t\t1\n", name,
                2e-6 * memory_khz * bits / 8);
    }
    return CALL(b, StreamSynchronize, NULL);
}

struct calibrate_options {
    const char *images, *pack, *out, *only;
    double begin, limit; /* seconds: time at that moment; duration in all */
};

static int count_programs(const char *pack, size_t bytes, const struct calibrate_program **at,
                          int room) {
    int n = 0;
    for (size_t i = 0; i + sizeof(struct calibrate_program) <= bytes && n < room;) {
        at[n] = (const struct calibrate_program *)(pack + i);
        i += sizeof(struct calibrate_program) + at[n++]->code_bytes;
    }
    return n;
}

static bool wanted(const struct calibrate_options *o, const char *bench) {
    if (o->only) return !strncmp(bench, o->only, strlen(o->only));
    return strcmp(bench, "counted") != 0 && strcmp(bench, "probe") != 0;
}

/* NULL if it has lost nothing, unless it is to be made. */
static struct calibrate_group *group_of(struct calibrate_progress *progress, const char *bench,
                                        const char *variant, bool make) {
    char name[sizeof progress->group->name];
    int n = variant ? (int)strcspn(variant, "/") : 0;
    snprintf(name, sizeof name, "%.23s%s%.*s", bench, variant ? " " : "", n,
             variant ? variant : "");
    for (int i = 0; i < progress->n_groups; i++)
        if (!strcmp(progress->group[i].name, name)) return &progress->group[i];
    if (!make || progress->n_groups == MAX_GROUPS) return NULL;
    struct calibrate_group *g = &progress->group[progress->n_groups];
    snprintf(g->name, sizeof g->name, "%s", name);
    progress->n_groups++;
    return g;
}

static void lost(struct calibrate_progress *progress, const char *bench, const char *variant) {
    progress->losses++;
    progress->in_a_row++;
    if (!strcmp(bench, "probe")) return; /* all of them run */
    struct calibrate_group *all = group_of(progress, bench, NULL, true),
                           *these = group_of(progress, bench, variant, true);
    if (all) all->losses++;
    if (these) these->losses++;
}

static bool given_up(struct calibrate_progress *progress, const char *bench, const char *variant) {
    const struct calibrate_group *all = group_of(progress, bench, NULL, false);
    return (all && all->losses >= BENCH_LOSSES) || group_of(progress, bench, variant, false);
}

/* These measure nothing themselves. */
static bool measures_nothing(const struct calibrate_options *o) {
    return o->only && (!strcmp(o->only, "counted") || !strcmp(o->only, "probe"));
}

static int child(const struct calibrate_options *o, const struct calibrate_program **programs,
                 int n_programs, int from, struct calibrate_progress *progress) {
    static struct calibrate_bench b;
    b.first_task = from;
    b.out = fopen(o->out, from ? "a" : "w");
    if (!b.out) return fprintf(stderr, "cannot write %s\n", o->out), 5;
    /* A profiler that repeats launches saves memory first: what it counts needs little. */
    const char *why =
        bench_open(&b, o->images, measures_nothing(o) ? (size_t)64 << 20 : DATA_BYTES);
    if (why) return fprintf(stderr, "%s\n", why), 4;
    int n_kernels = kernels_count(), n_tasks = n_kernels + n_programs;
    for (int i = from; i < n_tasks; i++) {
        const char *bench = i < n_kernels ? kernels_bench(i) : programs[i - n_kernels]->bench;
        const char *variant = i < n_kernels ? kernels_variant(i) : programs[i - n_kernels]->variant;
        progress->task = i;
        progress->started = seconds();
        if (!wanted(o, bench)) continue;
        if (given_up(progress, bench, variant)) {
            fprintf(b.out, "%s\t%s\tskipped\t\t\t\t\t0\n", bench, variant);
            continue;
        }
        bool probe = !strcmp(bench, "probe"), faults = !strncmp(variant, "faults", 6);
        if (!probe && i % 250 == 0) {
            printf("%3.0f s, %d of %d: %s\n", seconds() - o->begin, i, n_tasks, bench);
            fflush(stdout);
        }
        why = i < n_kernels ? kernels_run(&b, i) : program_run(&b, programs[i - n_kernels]);
        if (probe) {
            printf("probe %-28s %s\n", variant,
                   why      ? why
                   : faults ? "works: it should fault"
                            : "ok");
            fflush(stdout);
            if (!why != !faults && !strncmp(variant, "frame", 5)) progress->wrong++;
        }
        if (why) {
            fprintf(b.out, "%s\t%s\tfailed\t%s\t\t\t\t0\n", bench, variant, why);
            fflush(b.out);
            if (!probe) printf("%s %s: %s\n", bench, variant, why);
            if (CALL(&b, StreamSynchronize, NULL)) { /* the context is lost */
                lost(progress, bench, variant);
                return 1;
            }
        } else
            progress->in_a_row = 0;
        fflush(b.out);
    }
    progress->task = n_tasks;
    return 0;
}

static int parent(const struct calibrate_options *o, const struct calibrate_program **programs,
                  int n_programs) {
    struct calibrate_progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 5;
    int n_tasks = kernels_count() + n_programs, idle = 0;
    for (int from = 0; from < n_tasks && seconds() - o->begin < o->limit;) {
        progress->task = from - 1;
        progress->started = seconds() + 40; /* the context takes a while */
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) _exit(child(o, programs, n_programs, from, progress));
        if (pid < 0) return 5;
        int status = 0;
        while (waitpid(pid, &status, WNOHANG) == 0) {
            usleep(20000);
            bool hangs = seconds() - progress->started > TASK_SECONDS;
            if (hangs || seconds() - o->begin > o->limit) {
                printf("task %d %s\n", progress->task,
                       hangs ? "hangs: ended" : "cut off: time is up");
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
                break;
            }
        }
        if (progress->task >= n_tasks) break;
        if (progress->task < from) { /* the GPU may still be recovering from the last child */
            if (++idle == 3) return fprintf(stderr, "calibrate: no task could start\n"), 4;
            sleep(2);
            continue;
        }
        if (WIFSIGNALED(status)) {
            FILE *f = fopen(o->out, "a");
            int i = progress->task - kernels_count();
            const char *bench = i < 0 ? kernels_bench(progress->task) : programs[i]->bench;
            const char *variant = i < 0 ? kernels_variant(progress->task) : programs[i]->variant;
            if (f) {
                fprintf(f, "\n%s\t%s\tfailed\tended by signal %d\t\t\t\t0\n", bench, variant,
                        WTERMSIG(status));
                fclose(f);
            }
            printf("%s %s: ended by signal %d\n", bench, variant, WTERMSIG(status));
            if (!strncmp(variant, "frame", 5)) progress->wrong++;
            lost(progress, bench, variant);
        }
        if (progress->in_a_row > LOSSES_IN_A_ROW)
            return fprintf(stderr, "calibrate: nothing works any more\n"), 4;
        from = progress->task + 1;
    }
    printf("%d tasks, %d lost contexts, %.0f s\n", n_tasks, progress->losses, seconds() - o->begin);
    if (progress->wrong) printf("%d frames do not work: nothing else can\n", progress->wrong);
    bool probe = o->only && !strcmp(o->only, "probe");
    return probe ? progress->wrong > 0 : progress->losses > 0;
}

int main(int argc, char **argv) {
    struct calibrate_options o = {
        "build/chips", "build/chips/pipes.pack", NULL, NULL, seconds(), 270};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--images") && more)
            o.images = argv[++i];
        else if (!strcmp(argv[i], "--pack") && more)
            o.pack = argv[++i];
        else if (!strcmp(argv[i], "--out") && more)
            o.out = argv[++i];
        else if (!strcmp(argv[i], "--only") && more)
            o.only = argv[++i];
        else if (!strcmp(argv[i], "--probe")) {
            o.only = "probe";
            o.limit = 120;
        } else if (!strcmp(argv[i], "--seconds") && more)
            o.limit = atof(argv[++i]);
        else {
            fprintf(stderr,
                    "usage: %s [--images DIR] [--pack FILE] [--out FILE] [--only BENCH] "
                    "[--seconds N] [--probe]\n",
                    argv[0]);
            return 2;
        }
    }
    if (!o.out) o.out = measures_nothing(&o) ? "/dev/null" : "results/calibrate.tsv";
    size_t bytes = 0;
    char *pack = read_file(o.pack, &bytes);
    if (!pack) return fprintf(stderr, "cannot read %s: make calibrate makes it\n", o.pack), 5;
    static const struct calibrate_program *programs[20000];
    int n = count_programs(pack, bytes, programs, 20000);
    return parent(&o, programs, n);
}
