/* Golden forms: small kernels, each around one tensor, matrix or asynchronous instruction, written
 * as PTX text so that the same text runs on a GPU (generate.c) and on the emulator
 * (test_emu_golden.c).
 *
 * A launch of form F runs golden cases 0 .. n_cases-1 as blocks of one grid; its parameters are
 *     in, out     global addresses: [common_bytes][n_cases][in_bytes] and [n_cases][out_bytes]
 *     map         for TMA forms only: a tensor map over `common` (loads) or over `out` (stores)
 * Operands come from a generator seeded by the form's name and the case number, so golden files
 * hold results alone. A case's number modulo GOLDEN_FLAVOURS says what is nasty about it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GOLDEN_FLAVOURS = 9, GOLDEN_NAME = 64, GOLDEN_PTX = 1 << 17 };

/* What a TMA form maps: as struct device_tensor_map, with an element size. */
struct golden_map {
    int rank; /* 0: no map */
    int element_bytes;
    uint64_t extent[5], stride[5]; /* elements; bytes, [0] unused */
    uint32_t box[5];
    int swizzle_bytes;
    int is_store; /* the map lies over `out`, otherwise over `common` */
    int im2col;   /* the box is channels x pixels */
    int lower[3], upper[3];
    const char *reduce; /* a store that is a reduction: "add" */
    int is_integer;     /* its elements */
};

struct golden_form {
    char name[GOLDEN_NAME];
    int n_cases, threads;
    int cluster; /* blocks, that is cases, that form a cluster; 0: none */
    size_t common_bytes, in_bytes, out_bytes;
    struct golden_map map;
    int ulps; /* 0: bit for bit. Otherwise an approximate function: see README.md */
    /* private to forms*.c */
    const char *kinds; /* one letter for each input register (is_flat: for each 128 bytes) */
    int n_in, n_out, is_flat;
    const char *body;
    int n, type, f16_sum, from_registers, trans_a, trans_b, descriptors,
        scale_a; /* wgmma, if n > 0 */
};

int golden_n_forms(void);
const struct golden_form *golden_form(int i); /* NULL past the last */

/* Writes the form's module into `out` (GOLDEN_PTX bytes); its kernel is called `golden`. */
void golden_ptx(const struct golden_form *f, char *out);

/* Fills `common` (common_bytes) and then one case's operands (in_bytes). */
void golden_common(const struct golden_form *f, void *common);
void golden_operands(const struct golden_form *f, int c, void *in);

/* What `out` holds before the launch. */
enum { GOLDEN_POISON = 0xEE };

/* FNV-1a of 64 bits: golden files keep the first cases whole and all cases as hashes. */
uint64_t golden_hash(const void *bytes, size_t n);
