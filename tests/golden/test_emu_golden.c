/* The emulator against recordings of an H200 (tests/golden/README.md): every form of the tensor,
 * matrix and asynchronous instructions, on random and nasty operands, bit for bit. */
#include "tests/test.h"

#include "emulator/core/state.h"
#include "emulator/emulator.h"
#include "common/device/emu_counters.h"
#include "forms.h"
#include "waves.h"
#include "emulator/instructions/tensormap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct emu_memory *memory;
static struct emu_result *result;

/* Runs all cases of a form; `out` is on the heap. NULL: `why` says it. `counts` may be NULL. */
static unsigned char *run(const struct golden_form *f, const struct emu_options *o,
                          const char **why, struct counters *counts) {
    size_t in_bytes = f->common_bytes + f->in_bytes * (size_t)f->n_cases,
           out_bytes = f->out_bytes * (size_t)f->n_cases;
    uint64_t in, out;
    struct emu_module *module = NULL;
    unsigned char *text = malloc(GOLDEN_PTX), *copy = NULL, map[128];
    golden_ptx(f, (char *)text);
    assert_null(emu_memory_alloc(memory, in_bytes, &in));
    assert_null(emu_memory_alloc(memory, out_bytes, &out));
    unsigned char *operands = emu_memory_at(memory, in, in_bytes);
    golden_common(f, operands);
    for (int c = 0; c < f->n_cases; c++)
        golden_operands(f, c, operands + f->common_bytes + (size_t)c * f->in_bytes);
    memset(emu_memory_at(memory, out, out_bytes), GOLDEN_POISON, out_bytes);
    struct emu_grid g = {.grid = {(unsigned)f->n_cases, 1, 1},
                         .block = {(unsigned)f->threads, 1, 1},
                         .cluster = {(unsigned)f->cluster, f->cluster > 0, f->cluster > 0},
                         .n_args = 2,
                         .arg = {&in, &out, map},
                         .arg_bytes = {8, 8, 128}};
    *why =
        emu_module_open(memory, (const char *)text, strlen((const char *)text), f->name, &module);
    if (!*why && f->map.rank) {
        struct tensormap m = {.base = f->map.is_store ? out : in,
                              .rank = f->map.rank,
                              .element_bytes = f->map.element_bytes,
                              .swizzle_bytes = f->map.swizzle_bytes};
        memcpy(m.extent, f->map.extent, sizeof m.extent);
        memcpy(m.stride, f->map.stride, sizeof m.stride);
        memcpy(m.box, f->map.box, sizeof m.box);
        m.im2col = f->map.im2col;
        memcpy(m.lower, f->map.lower, sizeof m.lower);
        memcpy(m.upper, f->map.upper, sizeof m.upper);
        static const enum emu_type types[2][9] = {{[2] = EMU_F16, [4] = EMU_F32, [8] = EMU_F64},
                                                  {[4] = EMU_U32, [8] = EMU_U64}};
        m.type = types[f->map.is_integer][f->map.element_bytes];
        *why = tensormap_encode(&m, map);
        g.n_args = 3;
    }
    emu_result_clear(result);
    if (!*why)
        *why = emu_launch(memory, emu_module_kernel(module, "golden"), &g, chip_find("h200"), o,
                          result);
    if (!*why && emu_result_reports(result)) *why = emu_result_report(result, 0);
    if (!*why && counts) *why = emu_counters_of(result, chip_find("h200"), counts);
    if (!*why && (copy = malloc(out_bytes)))
        memcpy(copy, emu_memory_at(memory, out, out_bytes), out_bytes);
    if (module) emu_module_close(module);
    emu_memory_free(memory, in);
    emu_memory_free(memory, out);
    free(text);
    return copy;
}

/* ---- Golden files: NAME CASE HASH [BYTES] ---- */

struct golden_line {
    char *name, *hex; /* hex: "" if only the hash was kept */
    int c;
    uint64_t hash;
};

static bool parse_line(char *line, struct golden_line *out) {
    int n = 0;
    unsigned long long hash;
    out->name = line;
    char *rest = strchr(line, ' ');
    if (!rest || line[0] == '#') return false;
    *rest++ = 0;
    if (sscanf(rest, "%d %llx%n", &out->c, &hash, &n) != 2) return false;
    out->hash = hash;
    out->hex = rest[n] == ' ' ? rest + n + 1 : rest + n;
    return true;
}

static unsigned byte_of(const char *hex, size_t i) {
    unsigned b = 0;
    sscanf(hex + 2 * i, "%2x", &b);
    return b;
}

static const struct golden_form *find(const char *name) {
    for (int i = 0; golden_form(i); i++)
        if (!strcmp(golden_form(i)->name, name)) return golden_form(i);
    return NULL;
}

/* Where the first word differs, in words; -1: nowhere (or only the hash is known). */
static long first_difference(const struct golden_form *f, const struct golden_line *l,
                             const unsigned char *out) {
    for (size_t i = 0; l->hex[0] > ' ' && i < f->out_bytes; i++)
        if (byte_of(l->hex, i) != out[i]) return (long)(i / 4);
    return -1;
}

/* How many representable numbers lie between two, as bits of one format. NaN and NaN are the
 * same. */
static long distance(uint32_t a, uint32_t b, int exponent_bits, int mantissa_bits) {
    uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    uint32_t magnitude = (1u << (exponent_bits + mantissa_bits)) - 1;
    if ((a & magnitude) > infinity && (b & magnitude) > infinity) return 0;
    long x = a & magnitude, y = b & magnitude;
    return labs((a > magnitude ? -x : x) - (b > magnitude ? -y : y));
}

/* Approximate functions: within `ulps` of what hardware gave, or within 2^-20 of it (near a zero
 * of lg2, sin and cos, PTX bounds the absolute error: 2^-20.5). */
static bool close_enough(const struct golden_form *f, const struct golden_line *l,
                         const unsigned char *out) {
    for (size_t i = 0; l->hex[0] > ' ' && i < f->out_bytes; i += 4) {
        uint32_t theirs = 0, mine = 0;
        float x, y;
        for (int b = 3; b >= 0; b--) {
            theirs = theirs << 8 | byte_of(l->hex, i + (size_t)b);
            mine = mine << 8 | out[i + (size_t)b];
        }
        memcpy(&x, &theirs, 4);
        memcpy(&y, &mine, 4);
        if (strstr(f->name, "f16x2")) {
            if (distance(theirs & 0xffff, mine & 0xffff, 5, 10) > f->ulps) return false;
            if (distance(theirs >> 16, mine >> 16, 5, 10) > f->ulps) return false;
        } else if (distance(theirs, mine, 8, 23) > f->ulps && !(fabsf(x - y) <= 0x1p-20f)) {
            return false;
        }
    }
    return l->hex[0] > ' ';
}

static void compare_family(const char *family, const struct emu_options *o) {
    char path[128];
    size_t capacity = 0;
    snprintf(path, sizeof path, "tests/golden/%s.golden", family);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL, last[GOLDEN_NAME] = "";
    const struct golden_form *f = NULL;
    unsigned char *out = NULL;
    int n_forms = 0, n_bad = 0;
    while (getline(&line, &capacity, file) > 0) {
        struct golden_line l;
        const char *why;
        if (!parse_line(line, &l)) continue;
        if (strcmp(l.name, last)) {
            snprintf(last, sizeof last, "%s", l.name);
            free(out);
            out = NULL;
            f = find(l.name);
            if (!f) fail_msg("%s: no form %s", path, l.name);
            n_forms++;
            if (!(out = run(f, o, &why, NULL))) print_error("%s: %s\n", l.name, why), n_bad++;
        }
        if (!out) continue;
        const unsigned char *mine = out + (size_t)l.c * f->out_bytes;
        bool same = golden_hash(mine, f->out_bytes) == l.hash;
        if (same || (f->ulps && close_enough(f, &l, mine))) continue;
        long word = first_difference(f, &l, mine);
        print_error("%s case %d differs from the H200, first at word %ld\n", l.name, l.c, word);
        if (++n_bad > 200) break;
    }
    free(out);
    free(line);
    fclose(file);
    assert_int_equal(n_bad, 0);
    assert_true(n_forms > 0);
}

static void test_family(void **state) {
    struct emu_options o = {.n_threads = 1};
    compare_family(*state, &o);
}

/* ---- Wavefronts and sectors: tests/golden/waves.csv ---- */

struct wave_count {
    const char *opcode; /* of the access */
    size_t n;
    double wavefronts, ideal, sectors;
};

static struct wave_count run_wave(const struct golden_wave *w) {
    char text[8192];
    uint64_t in, out;
    struct emu_module *module;
    struct emu_options o = {.n_threads = 1};
    assert_null(emu_memory_alloc(memory, 256 + 65536, &in));
    assert_null(emu_memory_alloc(memory, 256, &out));
    memset(emu_memory_at(memory, in, 256 + 65536), 0, 256 + 65536);
    memcpy(emu_memory_at(memory, in, 256), w->offset, sizeof w->offset);
    golden_wave_ptx(w, text, sizeof text);
    struct emu_grid g = {.grid = {1, 1, 1},
                         .block = {32, 1, 1},
                         .n_args = 2,
                         .arg = {&in, &out},
                         .arg_bytes = {8, 8}};
    emu_result_clear(result);
    assert_fine(emu_module_open(memory, text, strlen(text), w->name, &module));
    assert_fine(
        emu_launch(memory, emu_module_kernel(module, "golden"), &g, chip_find("h200"), &o, result));
    const char *opcode = w->op[0] == '@' ? strchr(w->op, ' ') + 1 : w->op;
    struct wave_count c = {.opcode = opcode, .n = strcspn(opcode, " ")};
    for (struct emu_counted at = {0}; emu_result_next(result, &at);) {
        if (strncmp(at.inst->opcode, c.opcode, c.n) || at.inst->opcode[c.n]) continue;
        if (at.inst->class == EMU_ST_GLOBAL && c.sectors > 0) continue; /* the probe's result */
        c.wavefronts = (double)at.count->wavefronts;
        c.ideal = (double)at.count->wavefronts_ideal;
        c.sectors = (double)at.count->sectors;
    }
    emu_module_close(module);
    emu_memory_free(memory, in);
    emu_memory_free(memory, out);
    return c;
}

/* cp.async of 4 and 8 bytes counts more on hardware when the lanes read from more than 4 lines. */
static bool is_approximate(const struct golden_wave *w) {
    int32_t lines[32], n = 0;
    if (strncmp(w->name, "ldgsts4", 7) && strncmp(w->name, "ldgsts8", 7)) return false;
    for (int l = 0; l < 32; l++) {
        int32_t seen = 0;
        while (seen < n && lines[seen] != w->offset[l] / 128) seen++;
        if (seen == n) lines[n++] = w->offset[l] / 128;
    }
    return n > 4;
}

/* cp.async of 16 bytes: this counter of the hardware says 3 whatever the addresses, the one by
 * instruction (smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared), which the emulator follows,
 * does not: test_emu_checks. */
static void wavefronts_and_sectors(void **state) {
    (void)state;
    FILE *file = fopen("tests/golden/waves.csv", "r");
    char line[128], wavefronts[16], conflicts[16], sectors[16];
    int n = 0, n_bad = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        const struct golden_wave *w = golden_wave(n++);
        assert_non_null(w);
        assert_int_equal(strncmp(line, w->name, strlen(w->name)), 0);
        assert_int_equal(
            sscanf(line + strlen(w->name), ",%15[^,],%15[^,],%15s", wavefronts, conflicts, sectors),
            3);
        struct wave_count c = run_wave(w);
        bool right =
            sectors[0] != '-'                  ? c.sectors == atof(sectors)
            : is_approximate(w)                ? c.wavefronts <= atof(wavefronts)
            : !strncmp(w->name, "ldgsts16", 8) ? atof(wavefronts) == 3 && c.wavefronts >= c.ideal
            : strstr(w->name, "cas")
                ? c.wavefronts == atof(wavefronts) /* half its conflicts, it says */
                : c.wavefronts == atof(wavefronts) && c.wavefronts - c.ideal == atof(conflicts);
        if (right) continue;
        n_bad++;
        print_error("%s: H200 %s wavefronts, %s conflicts, %s sectors; emulator %g, %g, %g\n",
                    w->name, wavefronts, conflicts, sectors, c.wavefronts, c.wavefronts - c.ideal,
                    c.sectors);
    }
    fclose(file);
    assert_int_equal(n, golden_n_waves());
    assert_int_equal(n_bad, 0);
}

/* ---- What goes from block to block: tests/golden/dshared.csv ---- */

static double counted(const struct counters *c, const char *name) {
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->counter[i].name, name)) return c->counter[i].value;
    fail_msg("no counter %s", name);
    return 0;
}

static void traffic_between_blocks(void **state) {
    static const char *const names[] = {"ld_dshared", "st_dshared", "ld_dshared.sectors",
                                        "st_dshared.sectors"};
    (void)state;
    FILE *file = fopen("tests/golden/dshared.csv", "r");
    char line[128], name[64];
    double recorded[4];
    int n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct emu_options o = {.n_threads = 1};
        struct counters c = {0};
        const char *why;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%63[^,],%lf,%lf,%lf,%lf", name, &recorded[0], &recorded[1],
                                &recorded[2], &recorded[3]),
                         5);
        assert_non_null(find(name));
        unsigned char *out = run(find(name), &o, &why, &c);
        if (!out) fail_msg("%s: %s", name, why);
        for (int k = 0; k < 4; k++)
            if (counted(&c, names[k]) != recorded[k])
                fail_msg("%s: %g %s, an H200 counts %g", name, counted(&c, names[k]), names[k],
                         recorded[k]);
        counters_free(&c);
        free(out);
        n++;
    }
    fclose(file);
    assert_true(n > 10);
}

int main(void) {
    static const char *const families[] = {"mma",       "wmma",  "ldmatrix", "stmatrix",
                                           "movmatrix", "cp",    "bulk",     "op",
                                           "tma",       "wgmma", "cluster",  "sparse"};
    struct CMUnitTest tests[sizeof families / sizeof *families + 2] = {
        cmocka_unit_test(wavefronts_and_sectors), cmocka_unit_test(traffic_between_blocks)};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        tests[i + 2] = (struct CMUnitTest){families[i], test_family, NULL, NULL,
                                           (void *)(uintptr_t)families[i]};
    if (emu_memory_open(&memory) || emu_result_open(&result)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_result_close(result);
    emu_memory_close(memory);
    return failed;
}
