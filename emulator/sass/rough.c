/* HMMA and HGMMA in plain float, some ten times faster than bit by bit. The predictor uses it, because it needs
 * values only where branches depend on them (grid->rough). */
#include "exec.h"

#include "common/cuda/dtype.h"
#include "emulator/instructions/tensor/smem_desc.h"
#include "emulator/instructions/tensor/tensorcore.h"
#include "emulator/instructions/tensor/wgmma.h"

#include <string.h>

/* fp16 to float; infinities become 65536. */
static inline float from_half(uint32_t h) {
    union {
        uint32_t u;
        float f;
    } x = {.u = (h & 0x7fff) << 13};
    x.f *= 0x1p112f;
    x.u |= (h & 0x8000) << 16;
    return x.f;
}

static void to_floats(enum tensor_type type, const uint16_t *from, float to[8]) {
    if (type == TENSOR_BF16)
        for (int i = 0; i < 8; i++) to[i] = dtype_to_float(DTYPE_BF16, from[i]);
    else
        for (int i = 0; i < 8; i++) to[i] = from_half(from[i]);
}

/* A fragment's register is 8 rows of 8 neighbours in k: four lanes a row. */
static void load_a(const struct sass_warp *w, enum tensor_type type, const uint32_t rows[4],
                   float a[16][16]) {
    for (int r = 0; r < 4; r++) {
        const uint16_t *half = (const uint16_t *)(const void *)sass_row(w, rows[r]);
        for (int g = 0; g < 8; g++)
            to_floats(type, half + 8 * g, &a[g + 8 * (r & 1)][8 * (r >> 1)]);
    }
}

/* d (16 x 8, a fragment of four registers) = a b, plus c where there is one */
static void product(const struct sass_warp *w, float a[16][16], float b[16][8], const uint32_t *c,
                    const uint32_t d[4]) {
    float sum[16][8] = {{0}};
    for (int r = 0; r < 4 && c; r++) {
        const float *from = (const float *)(const void *)sass_row(w, c[r]);
        for (int lane = 0; lane < 32; lane++)
            sum[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)] = from[lane];
    }
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 8; n++) sum[row][n] += a[row][k] * b[k][n];
    for (int r = 0; r < 4; r++) {
        float *to = (float *)(void *)sass_row(w, d[r]);
        for (int lane = 0; lane < 32; lane++)
            to[lane] = sum[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)];
    }
}

static void transpose(float from[8][16], float to[16][8]) {
    for (int k = 0; k < 16; k++)
        for (int n = 0; n < 8; n++) to[k][n] = from[n][k];
}

void sass_rough_hmma(struct sass_warp *w, enum tensor_type type, const uint32_t a[4],
                     const uint32_t b[2], const uint32_t c[4], const uint32_t d[4]) {
    float left[16][16], columns[8][16], right[16][8];
    load_a(w, type, a, left);
    for (int r = 0; r < 2; r++) {
        const uint16_t *half = (const uint16_t *)(const void *)sass_row(w, b[r]);
        for (int n = 0; n < 8; n++) to_floats(type, half + 8 * n, &columns[n][8 * r]);
    }
    transpose(columns, right);
    product(w, left, right, c, d);
}

/* 8 neighbours from (mn, k) on, along k or, MN-major, along mn. */
static void from_shared(const struct sass_warp *w, enum tensor_type type, const struct smem_desc *d,
                        bool mn_major, int mn, int k, float to[8]) {
    uint16_t half[8];
    memcpy(half, sass_shared(w->cta, smem_desc_address(d, mn_major, 2, mn, k), sizeof half),
           sizeof half);
    to_floats(type, half, to);
}

bool sass_rough_hgmma(struct sass_warp *w, const struct sass_gmma *g, uint64_t desc_a,
                      uint64_t desc_b, bool add) {
    int flags = g->inst.aux[WGMMA_FLAGS], row = w->index % WGMMA_WARPS * 16;
    struct smem_desc da = smem_desc_decode(desc_a), db = smem_desc_decode(desc_b);
    float left[16][16], columns[8][16], right[16][8];
    const enum tensor_type type = (enum tensor_type)g->inst.aux[WGMMA_TYPE];
    if ((type != TENSOR_F16 && type != TENSOR_BF16) || g->inst.aux[WGMMA_K] != 16 ||
        flags & (WGMMA_F16_SUM | WGMMA_NEGATE | WGMMA_TRANS_A))
        return false;
    if (flags & WGMMA_RS)
        load_a(w, type, g->a, left);
    else
        for (int r = 0; r < 16; r++)
            for (int k = 0; k < 16; k += 8)
                from_shared(w, type, &da, false, row + r, k, &left[r][k]);
    for (int n = 0; n < g->inst.aux[WGMMA_N]; n += 8) {
        if (flags & WGMMA_TRANS_B) {
            for (int k = 0; k < 16; k++) from_shared(w, type, &db, true, n, k, right[k]);
        } else {
            for (int i = 0; i < 8; i++)
                for (int k = 0; k < 16; k += 8)
                    from_shared(w, type, &db, false, n + i, k, &columns[i][k]);
            transpose(columns, right);
        }
        product(w, left, right, add ? g->d + n / 2 : NULL, g->d + n / 2);
    }
    return true;
}
