/* The order of stage 6's causal tiles: all are handed out, once, and by sections of heads. Groups of
 * heads that share tiles. */
#include "tests/test.h"

#include "common/base/chip.h"
#include "stages/6-wgmma-attention/cut.c"
#include "stages/6-wgmma-attention/schedule.c"

#include <stdbool.h>
#include <stdlib.h>

static struct attention causal(int batch, int heads, int kv_heads, int seqlen, int head_dim) {
    struct attention a = {.batch = batch,
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .seqlen_q = seqlen,
                          .seqlen_k = seqlen,
                          .head_dim = head_dim,
                          .mask = MASK_CAUSAL_BOTTOM_RIGHT};
    assert_null(attention_complete(&a));
    return a;
}

/* Bytes of K and V of a section, and of Q and O of a tile of each of its heads. */
static double bytes_of(const struct attention *a, const struct cut *c, int64_t heads) {
    const double kv = (double)a->seqlen_k * a->kv_heads / a->heads * c->pack;
    const double rows = (double)tile_of(a->head_dim, c->shape).bq * c->pack / packed_rows(c->pack);
    return 4.0 * a->head_dim * (kv + rows) * (double)heads;
}

/* Walks all tiles of a way: each of them once, those of a section before those of the next one, and
 * within a section the longest first, of its heads in their order. */
static void walk(const struct attention *a, const struct chip *chip, const struct cut *c) {
    const struct schedule s = schedule_of(a, chip, c);
    const uint32_t n_heads = (uint32_t)(a->batch * a->heads / c->pack);
    const uint32_t n = (uint32_t)cut_tiles(a, c->shape, c->pack), per_head = n / n_heads;
    const uint32_t heads = s.section_heads.d, last = s.last_section;
    const uint32_t ctas = (uint32_t)(chip->n_sms * tile_of(a->head_dim, c->shape).ctas);
    unsigned char *seen = calloc(n, 1);
    uint32_t before = 0, q_before = 0, head_before = 0;
    assert_non_null(seen);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t q = ~0u, head = causal_tile(s, n_heads, i, &q);
        assert_true(head < n_heads && q < per_head);
        assert_false(seen[head * per_head + q]);
        seen[head * per_head + q] = 1;
        const uint32_t section = head / heads < last ? head / heads : last;
        assert_true(i == 0 || section >= before);
        if (i && section == before)
            assert_true(q == q_before ? head == head_before + 1 : q == q_before + 1);
        else
            assert_int_equal(q, 0);
        before = section, q_before = q, head_before = head;
    }
    free(seen);
    /* The gaps at the end are filled from the last section, which has a tile for every CTA. */
    const uint32_t rest = n_heads - last * heads;
    assert_true(rest * per_head >= ctas || last == 0);
    assert_true(last == 0 || (heads & (heads - 1)) == 0);
    if (last && heads > 1) assert_true(bytes_of(a, c, heads) <= 0.66 * (double)chip->l2_bytes);
    if (last == 0 && !c->n_cut && n_heads * per_head > ctas + per_head && per_head > 4)
        assert_true(bytes_of(a, c, n_heads) <= 0.66 * (double)chip->l2_bytes ||
                    (heads < n_heads && (n_heads - heads) * per_head < ctas)); /* too few left */
}

static void every_causal_tile_is_handed_out_once(void **state) {
    (void)state;
    unsigned random = 1;
    struct cut cut[MAX_CUTS];
    for (int i = 0; i < 300; i++) {
        int draw[4];
        for (int j = 0; j < 4; j++) draw[j] = (int)((random = random * 1103515245 + 12345) >> 16);
        const int dim = 64 << draw[0] % 3, kv_heads = 1 << draw[1] % 4, group = 1 + draw[1] / 4 % 9;
        const struct attention a = causal(1 + draw[2] % 48, kv_heads * group, kv_heads,
                                          1 + draw[3] % (draw[0] / 3 % 2 ? 4000 : 500), dim);
        const struct chip *chip = chip_find(i % 2 ? "h100" : "h200");
        assert_non_null(chip);
        for (int n = cuts_of(&a, chip, cut) - 1; n >= 0; n--)
            if (cut[n].shape != SHAPE_SPLIT) walk(&a, chip, &cut[n]);
    }
}

/* B64 H16 S256 D128, a head of two tiles: sections of 32 heads, half as many tiles as there are CTAs at most. */
static void few_tiles_of_a_head_make_small_sections(void **state) {
    (void)state;
    const struct chip *chip = chip_find("h100");
    const struct cut way = {.shape = SHAPE_SHORT, .pack = 1, .split = 1, .parts = 1};
    const struct attention two = causal(64, 16, 16, 256, 128),
                           eight = causal(64, 16, 16, 1024, 128);
    const struct attention wide = causal(64, 16, 16, 256, 256);
    assert_int_equal(schedule_of(&two, chip, &way).section_heads.d, 32);
    assert_int_equal(schedule_of(&two, chip, &way).last_section, (1024 - 66) / 32);
    assert_true(schedule_of(&eight, chip, &way).section_tiles.d > 66);
    const struct cut of_256 = {.shape = SHAPE_LONG, .pack = 1, .split = 1, .parts = 1};
    assert_true(schedule_of(&wide, chip, &of_256).section_tiles.d > 66);
}

/* One query of a group of 2 to 64 heads: they share a tile, of a power of two of rows for it. */
static void heads_of_any_group_share_tiles(void **state) {
    (void)state;
    const struct chip *chip = chip_find("h200");
    struct cut cut[MAX_CUTS];
    int rows = 2;
    for (int group = 2; group <= 66; group++) {
        struct attention a = causal(16, 4 * group, 4, 8192, 128);
        a.seqlen_q = 1, a.mask = MASK_NONE;
        const int n = cuts_of(&a, chip, cut);
        if (group > rows) rows *= 2;
        assert_int_equal(packed_rows(group), rows);
        if (group > 64) {
            for (int i = 0; i < n; i++) assert_int_equal(cut[i].pack, 1);
            continue;
        }
        assert_int_equal(cut[0].pack, group);
        assert_int_equal(cut_tiles(&a, cut[0].shape, group), 16 * 4);
        const struct schedule s = schedule_of(&a, chip, &cut[0]);
        assert_int_equal(s.n_packed, group);
        assert_int_equal(1 << s.pack, rows);
        assert_int_equal(s.heads.d, 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_causal_tile_is_handed_out_once),
        cmocka_unit_test(few_tiles_of_a_head_make_small_sections),
        cmocka_unit_test(heads_of_any_group_share_tiles),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
