/* sass-beside FILE.cubin FILE.ptx: kernels that ptxas made of the PTX, executed as machine code and as PTX.
 *
 * Each kernel has two parameters, const int in[1024] and int out[4096]; it runs with two blocks of 64 threads. A line
 * for each kernel: `same`, or how many words differ and the first of them. Exit status 1: some differ, or one stops. */
#include "common/base/chip.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "emulator/emulator.h"
#include "emulator/sass/sass.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_IN = 1024, N_OUT = 4096, THREADS = 64, BLOCKS = 2 };

struct beside {
    struct emu_memory *memory;
    struct emu_module *ptx;
    struct sass_module *sass;
    uint64_t in, out; /* addresses */
    struct emu_grid grid;
};

static uint32_t *at(const struct beside *b, uint64_t address, size_t n) {
    return emu_memory_at(b->memory, address, 4 * n);
}

/* Small numbers, some of them negative, then any. */
static void fill(const struct beside *b) {
    uint32_t *in = at(b, b->in, N_IN), random = 1;
    for (uint32_t i = 0; i < N_IN; i++) {
        random = random * 1664525 + 1013904223;
        in[i] = i < N_IN / 2 ? (random >> 16) % 200 - 100 : random ^ random >> 15;
    }
    memset(at(b, b->out, N_OUT), 0, 4 * N_OUT);
}

static const char *run_sass(const struct beside *b, const char *kernel, uint32_t *result) {
    struct sass_grid *g;
    const struct sass_kernel *k = sass_find(b->sass, kernel);
    if (!k) return "it is not in the cubin";
    fill(b);
    const char *why = sass_grid_open(b->memory, k, &b->grid, &g);
    if (why) return why;
    why = sass_run(g, NULL);
    sass_grid_close(g);
    memcpy(result, at(b, b->out, N_OUT), 4 * N_OUT);
    return why;
}

static const char *run_ptx(const struct beside *b, const char *kernel) {
    struct emu_options options = {.n_threads = 1, .no_checks = true};
    struct emu_result *result;
    fill(b);
    const char *why = emu_result_open(&result);
    if (why) return why;
    why = emu_launch(b->memory, emu_module_kernel(b->ptx, kernel), &b->grid, chip_find("h200"),
                     &options, result);
    emu_result_close(result);
    return why;
}

/* Do they agree? */
static bool compare(const struct beside *b, const char *kernel) {
    static uint32_t result[N_OUT];
    const char *why = run_sass(b, kernel, result);
    if (!why) why = run_ptx(b, kernel);
    if (why) {
        printf("%s: %s\n", kernel, why);
        return false;
    }
    const uint32_t *ptx = at(b, b->out, N_OUT);
    int differ = 0, first = 0, written = 0;
    for (int i = N_OUT - 1; i >= 0; i--) {
        written += ptx[i] != 0;
        if (result[i] != ptx[i]) differ++, first = i;
    }
    if (differ)
        printf("%s: %d words differ, the first is out[%d]: %#" PRIx32 ", of PTX %#" PRIx32 "\n",
               kernel, differ, first, result[first], ptx[first]);
    else
        printf("%s: %s\n", kernel, written ? "same" : "wrote nothing");
    return !differ && written;
}

static const char *open_all(struct beside *b, const char *cubin, const char *ptx) {
    size_t bytes;
    char cache[PATH_MAX];
    char *text = (char *)path_read(ptx, &bytes);
    if (!text) return reason_as(STATUS_FILE, "%s: it cannot be read", ptx);
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    const char *why = emu_memory_open(&b->memory);
    if (!why) why = emu_module_open(b->memory, text, bytes, ptx, &b->ptx);
    if (!why) why = sass_open(cubin, cache, &b->sass);
    if (!why) why = emu_memory_alloc(b->memory, 4 * N_IN, &b->in);
    if (!why) why = emu_memory_alloc(b->memory, 4 * N_OUT, &b->out);
    b->grid = (struct emu_grid){.grid = {BLOCKS, 1, 1},
                                .block = {THREADS, 1, 1},
                                .n_args = 2,
                                .arg = {&b->in, &b->out},
                                .arg_bytes = {8, 8}};
    free(text);
    return why;
}

int main(int argc, char **argv) {
    struct beside b = {0};
    bool all = true;
    const char *why = argc == 3 ? open_all(&b, argv[1], argv[2])
                                : reason_as(STATUS_USAGE, "usage: sass-beside FILE.cubin FILE.ptx");
    if (why) fprintf(stderr, "sass-beside: %s\n", why);
    for (int n = 0; !why && emu_module_kernel_name(b.ptx, n); n++)
        all &= compare(&b, emu_module_kernel_name(b.ptx, n));
    sass_close(b.sass);
    emu_module_close(b.ptx);
    if (b.memory) emu_memory_close(b.memory);
    return why ? reason_status(why, STATUS_DEVICE) : all ? STATUS_RIGHT : STATUS_WRONG;
}
