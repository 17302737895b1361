/* What mma*.c and wmma.c share: the opcode's shape and types, and registers as matrices. */
#pragma once

#include "tensorcore.h"

#include "emulator/core/state.h"

/* What the opcode says, kept in emu_inst.aux. */
enum { MMA_SHAPE, MMA_TYPES, MMA_FLAGS, MMA_MATRIX };
enum {
    MMA_F16_SUM = 1,
    MMA_SATURATE = 2,
    WMMA_COL_MAJOR = 4,
    WMMA_STORE = 8,
    MMA_FOUR_BITS = 16,
    WMMA_OTHER_SUM = 32 /* C is fp32 where D is fp16, or the other way round */
};
enum { MATRIX_A, MATRIX_B, MATRIX_C };

static inline int mma_shape_m(const struct emu_inst *i) { return i->aux[MMA_SHAPE] & 255; }
static inline int mma_shape_n(const struct emu_inst *i) { return i->aux[MMA_SHAPE] >> 8 & 255; }
static inline int mma_shape_k(const struct emu_inst *i) { return i->aux[MMA_SHAPE] >> 16 & 255; }
static inline enum tensor_type mma_type_a(const struct emu_inst *i) {
    return (enum tensor_type)(i->aux[MMA_TYPES] & 15);
}
static inline enum tensor_type mma_type_b(const struct emu_inst *i) {
    return (enum tensor_type)(i->aux[MMA_TYPES] >> 4);
}

static inline int mma_element_bits(enum tensor_type t) {
    return t == TENSOR_TF32 ? 32 : t == TENSOR_F16 || t == TENSOR_BF16 ? 16 : 8;
}

bool emu_mma_set_type(struct emu_inst *i, enum emu_type a, enum emu_type b);
bool emu_mma_set_shape(struct emu_inst *i);
struct tensor_product emu_mma_product(const struct emu_warp *w, const struct emu_inst *i, int m,
                                      int n);

/* Changes a[m][k] and b[k][n] as options.spoil says; only 16-bit and TF32 elements. */
void emu_spoil_operands(const struct emu_warp *w, const struct tensor_product *p, uint32_t *a,
                        uint32_t *b);

/* One of the accesses by which wmma moves a fragment between memory and its registers from r on, of which
 * `distinct` are no copies; returns as emu_shared_access(). */
uint32_t emu_fragment_access(struct emu_warp *w, const struct emu_inst *i, int r, int distinct,
                             bool in_shared, const uint64_t addr[32], unsigned bytes);

/* Where one of its elements lies, once that has let all lanes through: at an offset into the block's shared
 * memory, or at a global address. */
struct emu_place emu_fragment_place(const struct emu_warp *w, const struct emu_inst *i,
                                    bool in_shared, uint64_t addr, uint64_t bytes);

/* A fragment's registers (mma_fragment.h) as a[16][k], as 8 columns of b[k][n], and as d[16][8]
 * with rows n apart: one element of raw bits in each uint32_t. */
void emu_mma_gather_a(const struct emu_warp *w, const uint32_t *rows, int n_rows, int bits, int k,
                      uint32_t *a);
void emu_mma_gather_b(const struct emu_warp *w, const uint32_t *rows, int n_rows, int bits, int n,
                      uint32_t *b);
void emu_mma_gather_d(const struct emu_warp *w, const uint32_t *rows, int n_rows, bool f16, int n,
                      uint32_t *d);
void emu_mma_scatter_d(const struct emu_warp *w, const uint32_t *rows, int n_rows, bool f16, int n,
                       const uint32_t *d);
