/* Layout arithmetic: that each element has one place, and that descriptors lead to it. */
#include "tests/test.h"

#include "common/cuda/gmma_layout.h"
#include "stages/5-wgmma/wgmma_fragment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void swizzled_chunks_lie_where_the_picture_says(void **state) {
    (void)state;
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t chunk = 0; chunk < 8; chunk++) /* 128 bytes: chunk c of row r at c ^ r % 8 */
            assert_int_equal(gmma_swizzled(row * 128 + chunk * 16, 128),
                             row * 128 + (chunk ^ row % 8) * 16);
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t chunk = 0; chunk < 4; chunk++) /* 64 bytes: at c ^ r / 2 % 4 */
            assert_int_equal(gmma_swizzled(row * 64 + chunk * 16, 64),
                             row * 64 + (chunk ^ row / 2 % 4) * 16);
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t chunk = 0; chunk < 2; chunk++) /* 32 bytes: at c ^ r / 4 % 2 */
            assert_int_equal(gmma_swizzled(row * 32 + chunk * 16, 32),
                             row * 32 + (chunk ^ row / 4 % 2) * 16);
    for (uint32_t at = 0; at < 4096; at++) {
        assert_int_equal(gmma_swizzled(at, 0), at);
        for (uint32_t span = 32; span <= 128; span *= 2) /* twice is not at all */
            assert_int_equal(gmma_swizzled(gmma_swizzled(at, span), span), at);
    }
}

/* 8 rows of one 16-byte column, which ldmatrix and WGMMA read at once, meet all 32 banks. */
static void swizzled_columns_have_no_bank_conflict(void **state) {
    (void)state;
    for (uint32_t span = 32; span <= 128; span *= 2)
        for (uint32_t column = 0; column < span; column += 16) {
            unsigned groups = 0; /* bit g: four banks from 4 g on */
            for (uint32_t row = 0; row < 8; row++)
                groups |= 1u << gmma_swizzled(row * span + column, span) / 16 % 8;
            assert_int_equal(groups, 255);
        }
}

/* Where hardware finds element (row, k) of the matrix that `d` describes: PTX ISA, canonical
 * layouts. */
static uint32_t found(struct gmma_desc d, bool mn_major, int row, int k) {
    static const uint32_t span_of[] = {0, 128, 64, 32};
    uint32_t span = span_of[d.swizzle], at = d.start;
    int half_span = (int)span / 2;
    if (!mn_major && span)
        at += row / 8 * d.stride_bytes + row % 8 * span + 2 * k;
    else if (!mn_major)
        at += row / 8 * d.stride_bytes + k / 8 * d.leading_bytes + row % 8 * 16 + k % 8 * 2;
    else if (span)
        at += row / half_span * d.leading_bytes + k / 8 * d.stride_bytes + k % 8 * span +
              row % half_span * 2;
    else
        at += row / 8 * d.stride_bytes + k / 8 * d.leading_bytes + k % 8 * 16 + row % 8 * 2;
    return gmma_swizzled(at, span);
}

static void each_element_has_its_place(const struct gmma_layout *l) {
    size_t bytes = gmma_layout_bytes(l);
    char *taken = calloc(bytes, 1);
    assert_non_null(taken);
    for (int row = 0; row < l->rows; row++)
        for (int k = 0; k < l->k; k++) {
            uint32_t at = gmma_layout_offset(l, row, k);
            assert_true(at % 2 == 0 && at + 2 <= bytes && !taken[at]);
            taken[at] = 1;
            int across = l->mn_major ? row : k; /* 8 elements are 16 contiguous bytes: one copy */
            if (across % 8)
                assert_int_equal(at - 2,
                                 gmma_layout_offset(l, row - l->mn_major, k - !l->mn_major));
        }
    free(taken);
}

static void descriptors_lead_to_the_elements(const struct gmma_layout *l) {
    for (int step = 0; step < l->k / 16; step++) {
        struct gmma_desc d = gmma_layout_desc(l);
        d.start = gmma_layout_step(l, step);
        d = gmma_desc_decode(gmma_desc_encode(d));
        for (int row = 0; row < l->rows; row++)
            for (int k = 0; k < 16; k++)
                assert_int_equal(found(d, l->mn_major, row, k),
                                 gmma_layout_offset(l, row, 16 * step + k));
    }
}

static void all_sixteen_layouts_hold(void **state) {
    (void)state;
    static const int sizes[][2] = {{64, 16}, {64, 64}, {128, 128}, {8, 16}, {192, 64}};
    for (int swizzle = 0; swizzle <= 128; swizzle = swizzle ? 2 * swizzle : 32)
        for (int mn_major = 0; mn_major < 2; mn_major++)
            for (int i = 0; i < 5; i++) {
                struct gmma_layout l = {sizes[i][0], sizes[i][1], mn_major, swizzle};
                each_element_has_its_place(&l);
                descriptors_lead_to_the_elements(&l);
            }
}

static void descriptor_bits_are_where_the_table_says(void **state) {
    (void)state;
    struct gmma_desc d = {0x1230, 0x80, 0x400, 5, GMMA_SWIZZLE_128};
    uint64_t word = gmma_desc_encode(d);
    assert_true(word == (0x123ull | 0x8ull << 16 | 0x40ull << 32 | 5ull << 49 | 1ull << 62));
    struct gmma_desc back = gmma_desc_decode(word);
    assert_memory_equal(&d, &back, sizeof d);
    assert_true(gmma_desc_decode(gmma_desc_advance(word, 32)).start == 0x1250);
    assert_true((gmma_desc_advance(word, 32) ^ word) >> 14 == 0);
}

static void accumulators_cover_the_tile_once(void **state) {
    (void)state;
    enum { N = 256 };
    static char taken[64][N];
    memset(taken, 0, sizeof taken);
    for (int tid = 0; tid < 128; tid++)
        for (int i = 0; i < N / 2; i++) {
            int row = wgmma_row(tid, i), col = wgmma_col(tid, i);
            assert_true(row >= 0 && row < 64 && col >= 0 && col < N && !taken[row][col]);
            taken[row][col] = 1;
            assert_int_equal(row, wgmma_row(tid ^ 1, i)); /* a row's lanes: 4 neighbours */
            assert_int_equal(row, wgmma_row(tid ^ 2, i));
        }
}

static void a_fragments_are_accumulators_side_by_side(void **state) {
    (void)state;
    static char taken[64][16];
    memset(taken, 0, sizeof taken);
    for (int tid = 0; tid < 128; tid++)
        for (int r = 0; r < 4; r++)
            for (int half = 0; half < 2; half++) {
                int row = wgmma_a_row(tid, r), k = wgmma_a_k(tid, r) + half;
                assert_true(row >= 0 && row < 64 && k >= 0 && k < 16 && !taken[row][k]);
                taken[row][k] = 1;
                /* two 8-column blocks of S, packed in pairs, are the A operand of P V as they
                 * stand */
                assert_int_equal(row, wgmma_row(tid, 2 * r + half));
                assert_int_equal(k, wgmma_col(tid, 2 * r + half));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swizzled_chunks_lie_where_the_picture_says),
        cmocka_unit_test(swizzled_columns_have_no_bank_conflict),
        cmocka_unit_test(all_sixteen_layouts_hold),
        cmocka_unit_test(descriptor_bits_are_where_the_table_says),
        cmocka_unit_test(accumulators_cover_the_tile_once),
        cmocka_unit_test(a_fragments_are_accumulators_side_by_side),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
