/* The emulator's tensor-core modules by themselves: the vector path against the definition, the
 * chips' rules on sums that tell them apart, layouts that cover their matrix once, descriptors,
 * and tensor maps' rules. What hardware says: test_emu_golden.c. */
#include "tests/test.h"

#include "common/cuda/half.h"
#include "emulator/core/spoil.h"
#include "emulator/instructions/tensor/mma_fragment.h"
#include "emulator/instructions/tensor/smem_desc.h"
#include "emulator/instructions/tensor/tensorcore.h"
#include "emulator/instructions/tensormap.h"

#include <math.h>
#include <string.h>

static uint64_t seed = 1;
static uint32_t draw(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Any bits of the type, or numbers near 1 so that sums do not drown. */
static uint32_t element(enum tensor_type t, bool near_one) {
    static const struct { int e, m; } f[] = {{5, 10}, {8, 7}, {8, 23}, {4, 3}, {5, 2}};
    int e = f[t].e, m = f[t].m, bias = (1 << (e - 1)) - 1;
    uint32_t all = e + m == 31 ? UINT32_MAX : (2u << (e + m)) - 1, x = draw() & all;
    if (near_one) x = (x & ~(((1u << e) - 1) << m)) | (uint32_t)(bias - 2 + (int)(draw() % 5)) << m;
    return x;
}

/* ---- Arithmetic ---- */

static void vectors_follow_the_definition(void **state) {
    static const int ccs[] = {70, 80, 89, 90};
    static uint32_t a[TENSOR_MAX_M * TENSOR_MAX_K], b[TENSOR_MAX_K * 64], c[TENSOR_MAX_M * 64],
        d[TENSOR_MAX_M * 64];
    (void)state;
    for (int round = 0; round < 400; round++) {
        enum tensor_type t = (enum tensor_type)(round % 5);
        bool wgmma = round / 5 % 2, near_one = round / 10 % 2;
        struct tensor_product p = {
            .a_type = t, .b_type = t, .m = 16, .n = wgmma ? 64 : 8, .f16_sum = round % 7 == 0};
        p.k = t == TENSOR_TF32 ? 8 : t >= TENSOR_E4M3 ? 32 : 16;
        p.rule = tensor_rule(wgmma ? 90 : ccs[round / 20 % 4], t, wgmma, round % 11 == 0);
        for (int i = 0; i < p.m * p.k; i++) a[i] = element(t, near_one);
        for (int i = 0; i < p.n * p.k; i++) b[i] = element(t, near_one);
        for (int i = 0; i < p.m * p.n; i++)
            c[i] = p.f16_sum  ? element(TENSOR_F16, near_one)
                   : near_one ? bits_of((float)(int32_t)draw() * 0x1p-28f)
                              : draw();
        tensor_mma(&p, a, b, c, d);
        for (int i = 0; i < p.m; i++)
            for (int j = 0; j < p.n; j++)
                assert_int_equal(d[i * p.n + j],
                                 tensor_dot(&p, a + i * p.k, b + j, p.n, c[i * p.n + j]));
    }
}

/* c + a[0] * b[0] + a[8] * b[8] in fp16, as chip `cc` computes it. */
static float sum_of(int cc, bool exact, float c, uint32_t a0, uint32_t b0, uint32_t a8,
                    uint32_t b8) {
    uint32_t a[16] = {[0] = a0, [8] = a8}, b[16] = {[0] = b0, [8] = b8};
    struct tensor_product p = {.a_type = TENSOR_F16, .b_type = TENSOR_F16, .m = 1, .n = 1, .k = 16};
    p.rule = tensor_rule(cc, TENSOR_F16, false, exact);
    uint32_t d = tensor_dot(&p, a, b, 1, bits_of(c));
    float f;
    memcpy(&f, &d, 4);
    return f;
}

enum { ONE = 0x3c00, MINUS_ONE = 0xbc00, TINY = 0x0c00 /* 2^-12 */ };

static void chips_differ_where_they_should(void **state) {
    (void)state;
    /* 2^-24 beside 1: kept behind the point by F = 25 and 24, until the sum is cut off; 1 - 1 lets
     * it show */
    assert_true(sum_of(90, false, 1, TINY, TINY, ONE, MINUS_ONE) == 0x1p-24f);
    assert_true(sum_of(70, false, 1, TINY, TINY, ONE, MINUS_ONE) == 0);
    /* Ada adds k 0..7 first, and cuts 1 + 2^-24 off to 1; Hopper sees all at once */
    assert_true(sum_of(89, false, 1, TINY, TINY, ONE, MINUS_ONE) == 0);
    /* truncation: 1 - 2^-25 falls below 1 by a whole unit; nearest stays */
    assert_true(sum_of(90, false, 1, TINY, 0x8800 /* -2^-13 */, 0, 0) == 1 - 0x1p-24f);
    assert_true(sum_of(90, true, 1, TINY, 0x8800, 0, 0) == 1);
    /* a product with a zero does not cut others off */
    assert_true(sum_of(90, false, 0, TINY, TINY, 0, 0x7bff) == 0x1p-24f);
}

static void integers_wrap_or_saturate(void **state) {
    (void)state;
    uint32_t a[32], b[32];
    for (int i = 0; i < 32; i++) a[i] = b[i] = 127;
    struct tensor_product p = {.a_type = TENSOR_S8, .b_type = TENSOR_S8, .m = 1, .n = 1, .k = 32};
    assert_int_equal(tensor_dot(&p, a, b, 1, 0), 32 * 127 * 127);
    assert_int_equal(tensor_dot(&p, a, b, 1, INT32_MAX), (uint32_t)INT32_MAX + 32 * 127 * 127);
    p.saturate = true;
    assert_int_equal(tensor_dot(&p, a, b, 1, INT32_MAX), INT32_MAX);
}

/* ---- Layouts ---- */

static void fragments_cover_their_matrix_once(void **state) {
    (void)state;
    for (int per = 1; per <= 4; per *= 2) { /* tf32, fp16, int8 */
        int k = 8 * per, seen_a[16][32] = {{0}}, seen_b[32][8] = {{0}};
        for (int lane = 0; lane < 32; lane++)
            for (int s = 0; s < per; s++) {
                for (int r = 0; r < 4; r++) {
                    struct fragment_at at = fragment_a(lane, r, s, per);
                    seen_a[at.row][at.col]++;
                }
                for (int r = 0; r < 2; r++) {
                    struct fragment_at at = fragment_b(lane, r, s, per);
                    seen_b[at.row][at.col]++;
                }
            }
        for (int i = 0; i < 16 * k; i++) assert_int_equal(seen_a[i / k][i % k], 1);
        for (int i = 0; i < k * 8; i++) assert_int_equal(seen_b[i / 8][i % 8], 1);
    }
    int seen_d[16][64] = {{0}}, seen_m[8][8] = {{0}};
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 32; i++) {
            struct fragment_at at = fragment_d(lane, i);
            seen_d[at.row][at.col]++;
        }
        for (int h = 0; h < 2; h++) {
            struct fragment_at at = fragment_matrix(lane, h, 0),
                               turned = fragment_matrix(lane, h, 1);
            assert_true(at.row == turned.col && at.col == turned.row);
            seen_m[at.row][at.col]++;
        }
    }
    for (int i = 0; i < 16 * 64; i++) assert_int_equal(seen_d[i / 64][i % 64], 1);
    for (int i = 0; i < 64; i++) assert_int_equal(seen_m[i / 8][i % 8], 1);
}

static uint64_t descriptor(uint32_t start, uint32_t leading, uint32_t stride, uint64_t mode) {
    return start >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | mode << 62;
}

static void descriptors_name_the_usual_places(void **state) {
    (void)state;
    struct smem_desc k128 = smem_desc_decode(descriptor(2048, 16, 1024, 1)),
                     k64 = smem_desc_decode(descriptor(2048, 16, 512, 2)),
                     k32 = smem_desc_decode(descriptor(2048, 16, 256, 3)),
                     k0 = smem_desc_decode(descriptor(2048, 128, 256, 0)),
                     mn128 = smem_desc_decode(descriptor(2048, 4096, 1024, 1));
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t chunk = k >> 3, in = k % 8 * 2;
            assert_int_equal(smem_desc_address(&k128, false, 2, (int)row, (int)k),
                             2048 + row * 128 + ((chunk ^ (row & 7)) << 4) + in);
            assert_int_equal(smem_desc_address(&k64, false, 2, (int)row, (int)k),
                             2048 + row * 64 + ((chunk ^ (row >> 1 & 3)) << 4) + in);
            assert_int_equal(smem_desc_address(&k32, false, 2, (int)row, (int)k),
                             2048 + row * 32 + ((chunk ^ (row >> 2 & 1)) << 4) + in);
            assert_int_equal(smem_desc_address(&k0, false, 2, (int)row, (int)k),
                             2048 + row / 8 * 256 + row % 8 * 16 + chunk * 128 + in);
            /* V[key][d], d contiguous: slabs of 64 d, 4096 bytes apart */
            uint32_t d = row + 64;
            assert_int_equal(smem_desc_address(&mn128, true, 2, (int)d, (int)k),
                             2048 + 4096 + k * 128 + ((row / 8 ^ (k & 7)) << 4) + row % 8 * 2);
        }
    assert_null(smem_desc_check(descriptor(1024, 16, 1024, 1)));
    assert_reason(smem_desc_check(1ull << 15), "reserved bits");
    assert_reason(smem_desc_check(1ull << 49), "no swizzle");
}

/* ---- Tensor maps ---- */

static void maps_state_their_rules(void **state) {
    (void)state;
    const struct tensormap good = {.base = 256,
                                   .rank = 2,
                                   .element_bytes = 2,
                                   .extent = {100, 10},
                                   .stride = {0, 208},
                                   .box = {64, 4},
                                   .swizzle_bytes = 128};
    unsigned char bytes[128], other[128] = {1};
    struct tensormap m = good, back;
    assert_fine(tensormap_encode(&m, bytes));
    assert_true(tensormap_decode(bytes, &back));
    assert_memory_equal(&back, &good, sizeof back);
    assert_false(tensormap_decode(other, &back));
#define BROKEN(field, value, text)                                                                 \
    do {                                                                                           \
        m = good;                                                                                  \
        m.field = value;                                                                           \
        assert_reason(tensormap_encode(&m, bytes), text);                                          \
    } while (0)
    BROKEN(rank, 6, "1 to 5 dimensions");
    BROKEN(element_bytes, 3, "3 bytes");
    BROKEN(base, 8, "multiple of 16");
    BROKEN(extent[1], 0, "extent 1");
    BROKEN(stride[1], 200, "stride 1");
    BROKEN(box[1], 257, "box");
    BROKEN(box[0], 72, "takes at most");
    BROKEN(box[0], 20, "multiple of 16");
    BROKEN(swizzle_bytes, 16, "16-byte swizzle");
}

static void boxes_are_cut_at_the_edges(void **state) {
    (void)state;
    const struct tensormap m = {.base = 4096,
                                .rank = 3,
                                .element_bytes = 2,
                                .extent = {100, 10, 3},
                                .stride = {0, 208, 4096},
                                .box = {64, 4, 2}};
    const struct {
        int32_t at[5];
        int r;
        struct tensormap_row row;
    } cases[] = {
        {{0, 0, 0}, 0, {4096, 0, 128}},
        {{64, 0, 0}, 1, {4096 + 208 + 128, 0, 72}},
        {{-8, 2, 0}, 0, {4096 + 416, 16, 112}},
        {{100, 0, 0}, 0, {0, 0, 0}},
        {{-64, 0, 0}, 0, {0, 0, 0}},
        {{0, 8, 0}, 2, {0, 0, 0}},
        {{0, 8, 0}, 4, {4096 + 4096 + 8 * 208, 0, 128}},
        {{0, -1, 0}, 0, {0, 0, 0}},
        {{0, -1, 1}, 1, {4096 + 4096, 0, 128}},
        {{0, 0, 2}, 4, {0, 0, 0}},
    };
    assert_int_equal(tensormap_rows(&m), 8);
    assert_int_equal(tensormap_box_bytes(&m), 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tensormap_row row = tensormap_row(&m, cases[i].at, cases[i].r);
        assert_int_equal(row.bytes, cases[i].row.bytes);
        if (!row.bytes) continue;
        assert_int_equal(row.skip, cases[i].row.skip);
        assert_int_equal(row.global, cases[i].row.global);
    }
    struct tensormap narrow = m;
    narrow.box[0] = 32;
    narrow.swizzle_bytes = 128;
    assert_int_equal(tensormap_pitch(&narrow), 128);
    assert_int_equal(tensormap_shared(&narrow, 1024, 1, 0),
                     1024 + 128 + 16); /* row 1: chunk 0 ^ 1 */
}

/* ---- Changed operands ---- */

static float factor(const struct emu_spoil *s, uint16_t x, bool is_a) {
    return half_to_float(emu_spoil_half(s, x, is_a)) / half_to_float(x);
}

/* Each change multiplies by what it says, exactly; of the same number in TF32 as in fp16. */
static void operands_are_changed_exactly(void **state) {
    unsigned seen[5] = {0};
    (void)state;
    for (uint32_t n = 0; n < 4 * 65536; n++) {
        const struct emu_spoil doubled = {.how = EMU_SPOIL_DOUBLED},
                               below = {.how = EMU_SPOIL_BELOW_ZERO},
                               drawn = {.how = EMU_SPOIL_DRAWN,
                                        .seed = 0x9e3779b97f4a7c15u >> n / 65536};
        const uint16_t x = (uint16_t)n;
        const float value = half_to_float(x);
        assert_int_equal(emu_spoil_half(&(struct emu_spoil){0}, x, true), x);
        assert_int_equal(emu_spoil_half(&doubled, x, false), x);
        if (!isfinite(value)) {
            assert_false(isfinite(half_to_float(emu_spoil_half(&drawn, x, true))));
            assert_int_equal(emu_spoil_half(&doubled, x, true), x);
        }
        if (value == 0) assert_true(half_to_float(emu_spoil_half(&drawn, x, true)) == 0);
        if (!isfinite(value) || value == 0 || fabsf(value) > 16000) continue;
        assert_true(factor(&doubled, x, true) == 2);
        assert_true(factor(&below, x, true) == (value < 0 ? 2 : 1));
        assert_true(factor(&below, x, false) == factor(&below, x, true));
        const float by = factor(&drawn, x, n & 1);
        assert_true(value > 0 ? by == 1 : by == 2 || by == -1 || by == -2 || by == 4);
        if (value < 0) seen[by == 2 ? 0 : by == -1 ? 1 : by == -2 ? 2 : 3]++;
        if (fabsf(value) < HALF_MIN_NORMAL) continue;
        uint32_t wide = emu_spoil_element(&drawn, bits_of(value), true, 23, 32);
        assert_int_equal(wide, bits_of(half_to_float(emu_spoil_half(&drawn, x, true))));
    }
    for (int f = 0; f < 4; f++) assert_true(seen[f] > 1000);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_follow_the_definition),
        cmocka_unit_test(chips_differ_where_they_should),
        cmocka_unit_test(integers_wrap_or_saturate),
        cmocka_unit_test(fragments_cover_their_matrix_once),
        cmocka_unit_test(descriptors_name_the_usual_places),
        cmocka_unit_test(maps_state_their_rules),
        cmocka_unit_test(boxes_are_cut_at_the_edges),
        cmocka_unit_test(operands_are_changed_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
