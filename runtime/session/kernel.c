#include "kernel.h"

#include "kernel_gpu.h"
#include "runtime/python/raw.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/npy.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/base/scratch.h"
#include "common/cuda/dtype.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Compiling ------------------------------------------------------------------------------- */

/* FILE.cu -> a fat binary beside which nothing is left. */
static const char *compile(const char *file, const char *chip, char **image, size_t *bytes) {
    char compiler[PATH_MAX], to[SCRATCH_PATH];
    pid_t child;
    int status, fd;
    if (!program_find("runtime/attnlab-nvcc", compiler, sizeof compiler))
        return reason_as(STATUS_NOTHING, "runtime/attnlab-nvcc is not here");
    if ((fd = scratch_open(to)) < 0)
        return reason_as(STATUS_FILE, "a file in memory: %s", strerror(errno));
    heap_setenv("CHIP", chip);
    char *argv[] = {compiler, "-fatbin", "-o", to, (char *)(uintptr_t)file, NULL};
    const char *why = NULL;
    if ((errno = posix_spawn(&child, compiler, NULL, NULL, argv, environ)))
        why = reason_as(STATUS_NOTHING, "%s: %s", compiler, strerror(errno));
    else if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        why = reason_as(STATUS_USAGE, "%s does not compile (above)", file);
    else if (!(*image = path_read(to, bytes)))
        why = reason_as(STATUS_FILE, "%s: %s", to, strerror(errno));
    close(fd);
    return why;
}

static const char *read_image(const char *file, const char *chip, char **image, size_t *bytes) {
    size_t n = strlen(file);
    if (access(file, R_OK)) return reason_as(STATUS_FILE, "%s: %s", file, strerror(errno));
    if (n > 3 && !strcmp(file + n - 3, ".cu")) return compile(file, chip, image, bytes);
    if (n < 4 || strcmp(file + n - 4, ".ptx"))
        return reason_as(STATUS_USAGE, "%s is no .cu and no .ptx file", file);
    *image = path_read(file, bytes);
    return *image ? NULL : reason_as(STATUS_FILE, "%s: %s", file, strerror(errno));
}

/* ---- Elements -------------------------------------------------------------------------------- */

static const struct type {
    const char *name, *descr; /* NumPy's; bf16 has none of its own */
    size_t bytes;
    double tolerance;
} types[] = {{"f16", "<f2", 2, 1e-2},  {"bf16", "<u2", 2, 2e-2}, {"f32", "<f4", 4, 1e-5},
             {"f64", "<f8", 8, 1e-12}, {"i8", "|i1", 1, 0},      {"u8", "|u1", 1, 0},
             {"i16", "<i2", 2, 0},     {"u16", "<u2", 2, 0},     {"i32", "<i4", 4, 0},
             {"u32", "<u4", 4, 0},     {"i64", "<i8", 8, 0},     {"u64", "<u8", 8, 0}};

static const struct type *type_named(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !strncmp(types[i].name, text, length))
            return &types[i];
    return NULL;
}

static bool is_whole(const struct type *t) { return t->name[0] != 'f' && t->name[0] != 'b'; }

static void put(const struct type *t, void *array, size_t i, double x) {
    char *at = (char *)array + i * t->bytes;
    float f = (float)x;
    half h;
    int64_t n = (int64_t)x;
    if (is_whole(t)) {
        memcpy(at, &n, t->bytes);
    } else if (t->bytes == 8) {
        memcpy(at, &x, 8);
    } else if (t->bytes == 4) {
        memcpy(at, &f, 4);
    } else {
        h = dtype_from_float(t->name[0] == 'f' ? DTYPE_FP16 : DTYPE_BF16, f);
        memcpy(at, &h, 2);
    }
}

static double get(const struct type *t, const void *array, size_t i) {
    const char *at = (const char *)array + i * t->bytes;
    float f;
    double d;
    int64_t n = 0;
    half h;
    if (!is_whole(t)) {
        if (t->bytes == 8) return memcpy(&d, at, 8), d;
        if (t->bytes == 4) return memcpy(&f, at, 4), (double)f;
        memcpy(&h, at, 2);
        return (double)dtype_to_float(t->name[0] == 'f' ? DTYPE_FP16 : DTYPE_BF16, h);
    }
    memcpy(&n, at, t->bytes);
    if (t->name[0] == 'u') return (double)(uint64_t)n;
    int unused = 64 - 8 * (int)t->bytes;
    return (double)(n << unused >> unused);
}

/* ---- Arguments: TYPE=VALUE, TYPE[2x3]=SOURCE, TYPE[2x3]=out:FILE -------------------------------- */

struct argument {
    const struct type *type;
    const char *text;
    int rank;
    int64_t shape[8];
    size_t n;
    void *data;
    bool is_array, is_out;
    const char *out_path; /* NULL: not written */
    int64_t value;        /* bytes of a scalar */
};

static uint64_t random_bits(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static double random_real(uint64_t *state) { /* (0, 1) */
    return ((double)(random_bits(state) >> 11) + 0.5) * 0x1p-53;
}

/* From -1 to 1; whole ones from -100 to 100, or from 0 on where there is no sign. */
static double uniform_element(const struct type *t, uint64_t *state) {
    if (!is_whole(t)) return 2 * random_real(state) - 1;
    return t->name[0] == 'u' ? floor(101 * random_real(state))
                             : floor(201 * random_real(state)) - 100;
}
/* Whole ones are rounded, and lose a sign that their type does not have. */
static double normal_element(const struct type *t, uint64_t *state) {
    const double x = sqrt(-2 * log(random_real(state))) * cos(2 * M_PI * random_real(state));
    if (!is_whole(t)) return x;
    return t->name[0] == 'u' ? fabs(round(x)) : round(x);
}

static bool fill(struct argument *a, const char *source, uint64_t seed) {
    bool normal = !strcmp(source, "normal"), uniform = !strcmp(source, "uniform");
    bool ramp = !strcmp(source, "ramp");
    if (!normal && !uniform && !ramp && strcmp(source, "zero")) return false;
    for (size_t i = 0; i < a->n; i++)
        put(a->type, a->data, i,
            normal    ? normal_element(a->type, &seed)
            : uniform ? uniform_element(a->type, &seed)
            : ramp    ? (double)i
                      : 0);
    return true;
}

static const char *read_shape(struct argument *a, const char *at, const char **end) {
    const size_t most = (size_t)1 << 36;
    a->n = 1;
    for (a->rank = 0; a->rank < 8; at++) {
        char *after;
        long n = strtol(at, &after, 10);
        if (after == at || n < 0) break;
        a->shape[a->rank++] = n;
        if (n > INT_MAX || __builtin_mul_overflow(a->n, (size_t)n, &a->n) || a->n > most)
            return reason_as(STATUS_USAGE,
                             "--arg '%.64s' is too large: an array has at most %zu elements, %d in "
                             "a dimension",
                             a->text, most, INT_MAX);
        at = after;
        if (*at == ']') {
            *end = at + 1;
            return NULL;
        }
        if (*at != 'x') break;
    }
    return reason_as(STATUS_USAGE, "--arg '%.64s': a shape is written [256x64]", a->text);
}

static const char *read_file(struct argument *a, const char *path) {
    struct npy file;
    const char *why = npy_read(path, &file);
    if (why) return reason_as(STATUS_FILE, "%s", why);
    bool fits = !strcmp(file.descr, a->type->descr) && (!a->rank || file.rank == a->rank);
    for (int d = 0; fits && d < a->rank; d++) fits = file.shape[d] == a->shape[d];
    if (!fits) {
        free(file.data);
        return reason_as(STATUS_USAGE, "--arg '%.64s': %.64s has another type or shape ('%s')",
                         a->text, path, file.descr);
    }
    free(a->data);
    a->data = file.data;
    a->rank = file.rank;
    memcpy(a->shape, file.shape, sizeof a->shape);
    a->n = file.bytes / a->type->bytes;
    return NULL;
}

static const char *read_scalar(struct argument *a, const char *text) {
    char *end;
    errno = 0;
    if (!is_whole(a->type)) {
        put(a->type, &a->value, 0, strtod(text, &end));
    } else {
        bool is_signed = a->type->name[0] == 'i';
        a->value = is_signed ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
        int unused = 64 - 8 * (int)a->type->bytes;
        int64_t kept = is_signed ? a->value << unused >> unused
                                 : (int64_t)((uint64_t)a->value << unused >> unused);
        if (kept != a->value || (!is_signed && *text == '-')) errno = ERANGE;
    }
    if (end != text && !*end && !errno) return NULL;
    return reason_as(STATUS_USAGE, "--arg '%.64s': '%.32s' is no %s", a->text, text, a->type->name);
}

static const char *read_argument(struct argument *a, const char *text, uint64_t seed) {
    const char *at = text + strcspn(text, "[="), *why = NULL;
    *a = (struct argument){.text = text, .type = type_named(text, (size_t)(at - text))};
    if (!a->type)
        return reason_as(STATUS_USAGE,
                         "--arg '%.64s': a type is f16, bf16, f32, f64, i8, u8 ... i64 or u64",
                         text);
    size_t length = strlen(text);
    bool is_file = length > 4 && !strcmp(text + length - 4, ".npy");
    a->is_array = *at == '[' || is_file;
    if (*at == '[' && (why = read_shape(a, at + 1, &at))) return why;
    if (*at++ != '=')
        return reason_as(STATUS_USAGE, "--arg '%.64s' has no value: f32=0.5, f32[256]=normal",
                         text);
    if (!a->is_array) return read_scalar(a, at);
    a->data = malloc(a->n * a->type->bytes + 1);
    if (!a->data) return reason_as(STATUS_DEVICE, "no memory for --arg '%.64s'", text);
    if (!strncmp(at, "out", 3) && (!at[3] || at[3] == ':') && a->rank) {
        a->is_out = true;
        a->out_path = at[3] ? at + 4 : NULL;
        memset(a->data, 0xff, a->n * a->type->bytes); /* NaN: all of it is to be written */
        return a->out_path ? path_writable(a->out_path) : NULL;
    }
    if (is_file) return read_file(a, at);
    if (fill(a, at, seed)) return NULL;
    return reason_as(
        STATUS_USAGE,
        "--arg '%.64s': an array is normal, uniform, zero, ramp, a .npy file or out:", text);
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static const char *check_output(const struct settings *s, const struct argument *a,
                                const char *path) {
    struct npy wanted;
    const char *why = npy_read(path, &wanted);
    if (why) return reason_as(STATUS_FILE, "%s", why);
    double worst = 0, largest = 0;
    double tolerance = s->tolerance >= 0 ? s->tolerance : a->type->tolerance;
    size_t at = 0;
    bool same = !strcmp(wanted.descr, a->type->descr) && wanted.bytes == a->n * a->type->bytes;
    for (size_t i = 0; same && i < a->n; i++) {
        double x = get(a->type, a->data, i), y = get(a->type, wanted.data, i), error = fabs(x - y);
        if (!(error <= worst) && !(isnan(x) && isnan(y)))
            worst = isnan(error) ? INFINITY : error, at = i;
        if (fabs(y) > largest) largest = fabs(y);
    }
    if (!same)
        why = reason_as(STATUS_USAGE, "%s has another type or size than '%.64s'", path, a->text);
    else if (!(worst <= tolerance * largest))
        why = reason_as(
            STATUS_WRONG, "wrong answer: element %zu is %g, %s has %g (tolerance %g of %g)", at,
            get(a->type, a->data, at), path, get(a->type, wanted.data, at), tolerance, largest);
    else if (!s->quiet)
        printf("%s: PASS, worst error %.3g, within %g of %g\n", path, worst, tolerance, largest);
    free(wanted.data);
    return why;
}

static const char *take_outputs(const struct settings *s, const struct argument *a, int n) {
    const char *why = NULL;
    int out = 0;
    for (int i = 0; i < n && !why; i++) {
        if (!a[i].is_out) continue;
        if (a[i].out_path) {
            why = npy_write(a[i].out_path, a[i].type->descr, a[i].rank, a[i].shape, a[i].data,
                            a[i].type->bytes);
            if (why) why = reason_as(STATUS_FILE, "%s", why);
        }
        if (!why && out < s->n_expected) why = check_output(s, &a[i], s->expected[out]);
        out++;
    }
    if (!why && out < s->n_expected)
        why = reason_as(STATUS_USAGE, "%d times --expect, but %d out: array%s", s->n_expected, out,
                        out == 1 ? "" : "s");
    return why;
}

const char *kernel_run(const struct settings *s, int argc, char **argv, bool on_gpu) {
    static struct device *gpu; /* to the program's end: gpu.c counts in it */
    struct argument a[SETTINGS_MAX_ARGS] = {0};
    struct raw_arg raw[SETTINGS_MAX_ARGS];
    struct emu_grid g = {.shared_bytes = s->shared_bytes};
    struct kernel *k = NULL;
    char *image = NULL;
    size_t bytes;
    const char *file = argv[1 + s->n_words], *why = NULL;
    if (argc > 2 + s->n_words)
        return reason_as(STATUS_USAGE, "'%.64s' comes after the file: options go before it",
                         argv[2 + s->n_words]);
    for (int i = 0; i < s->n_expected; i++) /* said before a long run, not after it */
        if (access(s->expected[i], R_OK))
            return reason_as(STATUS_FILE, "--expect %s: %s", s->expected[i], strerror(errno));
    for (int i = 0; i < s->n_args && !why; i++) {
        why = read_argument(&a[i], s->arg[i], s->emulator.seed * 1000003 + (uint64_t)i);
        if (why) break;
        raw[i] = (struct raw_arg){a[i].is_array ? a[i].data : &a[i].value,
                                  a[i].is_array ? a[i].n * a[i].type->bytes : a[i].type->bytes,
                                  a[i].is_array, is_whole(a[i].type) ? 'u' : 'f'};
    }
    if (!why)
        why = on_gpu ? device_open(DEVICE_CUDA, NULL, &gpu) : settings_to_environment(s, argv);
    const char *chip = gpu ? device_info(gpu)->chip.name : s->chip ? s->chip : "h200";
    if (!why) why = read_image(file, chip, &image, &bytes);
    memcpy(g.grid, s->grid, sizeof g.grid);
    memcpy(g.block, s->block, sizeof g.block);
    memcpy(g.cluster, s->cluster, sizeof g.cluster);
    if (!why && on_gpu) {
        why = kernel_gpu_launch(gpu, image, bytes, s->kernel, &g, raw, s->n_args);
    } else if (!why) {
        why = raw_open(image, bytes, s->kernel, &k);
        if (!why) why = raw_launch(k, &g, raw, s->n_args);
    }
    if (!why) why = take_outputs(s, a, s->n_args);
    if (k && k->n_launches) {
        char kept[2048]; /* the report makes more reasons than are kept */
        enum status failed = why ? reason_status(why, STATUS_DEVICE) : STATUS_RIGHT;
        snprintf(kept, sizeof kept, "%s", why ? why : "");
        int status = session_finish((int)failed);
        if (why) why = reason_as(failed, "%s", kept);
        fflush(stdout);
        if (!why && status) _exit(status); /* a failed check: it was said */
    }
    for (int i = 0; i < s->n_args; i++) free(a[i].data);
    free(image);
    return why;
}
