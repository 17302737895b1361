/* Patterns of addresses against their definition, counted anew the long way: banks, sectors, cells, and
 * what is recognised when it comes again. */
#include "tests/test.h"

#include "emulator/core/pattern.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static uint32_t draw(uint32_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static const unsigned widths[] = {1, 2, 4, 8, 16};
static struct emu_pattern *slot[2];
static struct emu_warp warp = {.pattern = slot};

static void forget(void) {
    for (int k = 0; k < 2; k++) free(slot[k]), slot[k] = NULL;
}

/* A word of memory counts once for all lanes of its request that want it, but for atomics. */
static uint32_t waves_of(uint32_t mask, const uint32_t *addr, unsigned bytes, int first, int lanes,
                         bool atomic) {
    uint32_t worst = 0;
    for (uint32_t bank = 0; bank < 32; bank++) {
        uint32_t word[128], n = 0;
        for (int l = first; l < first + lanes; l++)
            for (uint32_t k = 0; mask >> l & 1 && k < (bytes + 3) / 4; k++) {
                uint32_t at = addr[l] / 4 + k, same = 0;
                for (uint32_t s = 0; s < n; s++) same |= word[s] == at;
                if (at % 32 == bank && (atomic || !same)) word[n++] = at;
            }
        if (n > worst) worst = n;
    }
    return worst;
}

static bool pairs_agree(uint32_t mask, const uint32_t *addr, int distance) {
    for (int l = 0; l < 32; l++)
        if (!(l & distance) && mask >> l & 1 && mask >> (l + distance) & 1 &&
            addr[l] != addr[l + distance])
            return false;
    return true;
}

static uint32_t waves(uint32_t mask, const uint32_t *addr, unsigned bytes, bool load, bool atomic,
                      uint32_t *ideal) {
    int lanes = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    uint32_t sum = 0;
    if (load && bytes > 4 && (pairs_agree(mask, addr, 1) || pairs_agree(mask, addr, 2))) lanes *= 2;
    *ideal = 0;
    for (int first = 0; first < 32; first += lanes) {
        uint32_t n = waves_of(mask, addr, bytes, first, lanes, atomic);
        sum += n;
        *ideal += n > 0;
    }
    return sum;
}

/* Offsets of 32 lanes: of tiles, columns, rows, strides, or any. Multiples of `bytes`. */
static void draw_offsets(int32_t *offset, unsigned bytes) {
    uint32_t how = draw(9), stride = bytes * (1 + draw(40));
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t at = how == 0   ? 0
                      : how == 1 ? l * bytes
                      : how == 2 ? (l & 7) * stride
                      : how == 3 ? l / 8 * stride
                      : how == 4 ? l * stride
                      : how == 5 ? l / 2 * stride
                      : how == 6 ? (l & ~2u) * stride
                      : how == 7 ? 128 * draw(8) + bytes * draw(2)
                                 : bytes * draw(600);
        offset[l] = (int32_t)at;
    }
}

static uint32_t draw_mask(void) {
    uint32_t how = draw(5);
    return how < 2    ? EMU_FULL
           : how == 2 ? 1u << draw(32)
           : how == 3 ? 0xffffu << draw(17)
                      : draw(UINT32_MAX) | 1u << draw(32);
}

static void described(const struct emu_pattern *p, uint32_t mask, const int64_t *delta,
                      unsigned bytes) {
    bool zero = true, row = true, period = true, half = true, runs = true;
    int64_t least = 0, most = 0;
    uint32_t bits = 0;
    for (int l = 0; l < 32; l++) {
        int64_t d = mask >> l & 1 ? delta[l] : 0;
        assert_int_equal(p->delta[l], d);
        if (d < least) least = d;
        if (d > most) most = d;
        bits |= (uint32_t)d;
        if (!(mask >> l & 1)) continue; /* they fit any kind; what they would read lies at 0 */
        zero &= d == 0;
        row &= d == l * (int64_t)bytes;
        period &= d == p->delta[l % 8];
        half &= d == p->delta[l % 16];
        runs &= d == p->delta[l / 8 * 8];
    }
    row &= mask == EMU_FULL;
    assert_int_equal(p->mask, mask);
    assert_int_equal(p->bytes, bytes);
    assert_true(p->min == least && p->max == most && p->delta_bits == bits);
    assert_int_equal(p->kind, zero     ? EMU_PATTERN_BROADCAST
                              : row    ? EMU_PATTERN_CONTIGUOUS
                              : period ? EMU_PATTERN_PERIOD8
                              : runs   ? EMU_PATTERN_RUNS8
                              : half   ? EMU_PATTERN_PERIOD16
                                       : EMU_PATTERN_OTHER);
}

static int lowest(uint32_t mask) { return __builtin_ctz(mask); }

static void shared_accesses(void **state) {
    static const struct {
        enum emu_class class;
        const char *opcode;
    } access[] = {{EMU_LD_SHARED, "ld.shared"},           {EMU_ST_SHARED, "st.shared"},
                  {EMU_ATOMIC, "atom.shared.add.u32"},    {EMU_ATOMIC, "atom.shared.cas.b32"},
                  {EMU_LD_CLUSTER, "ld.shared::cluster"}, {EMU_MBARRIER, "mbarrier.arrive"}};
    (void)state;
    for (int round = 0; round < 6000; round++) {
        unsigned bytes = widths[draw(5)], how = draw(6);
        struct emu_inst inst = {
            .pc = draw(2), .class = access[how].class, .opcode = access[how].opcode};
        uint32_t mask = draw_mask(), ideal, n;
        uint32_t base = 4096 + bytes * draw(64), addr[32];
        int32_t offset[32];
        int64_t delta[32];
        if (bytes == 4 && how == 0 && draw(2)) inst.joined_bytes = 8;
        draw_offsets(offset, inst.joined_bytes ? 8 : bytes);
        for (int again = 0; again < 3;
             again++) { /* here, somewhere else, and with one lane elsewhere */
            if (again == 1) base += 128 * draw(9) + (draw(4) ? 0 : bytes);
            if (again == 2) offset[draw(32)] += (int32_t)bytes;
            for (int l = 0; l < 32; l++) addr[l] = base + (uint32_t)offset[l];
            for (int l = 0; l < 32; l++) delta[l] = (int64_t)addr[l] - addr[lowest(mask)];
            const struct emu_pattern *p = emu_shared_pattern(&warp, &inst, mask, addr, bytes);
            described(p, mask, delta, bytes);
            assert_int_equal(p->key, addr[lowest(mask)] % 4);
            n = waves(mask, addr, inst.joined_bytes ? inst.joined_bytes : bytes, how == 0,
                      how == 2 || how == 3, &ideal);
            uint32_t times = how == 3 ? 2 : how == 5 ? 0 : 1;
            assert_int_equal(p->wavefronts, n * times);
            assert_int_equal(p->wavefronts_ideal, ideal * times);
            /* every byte is of the cell that holds it, and no cell is there twice */
            uint8_t which[128] = {0}, lane[128];
            for (int l = 0; l < 32; l++)
                for (unsigned b = 0; mask >> l & 1 && b < bytes; b++) {
                    int64_t at = (int64_t)p->key + delta[l] + b;
                    int c = 0;
                    while (c < p->n_cells && p->cell[c] != at >> 2) c++;
                    assert_true(c < p->n_cells);
                    lane[c] = (uint8_t)(which[c] && lane[c] != l ? EMU_MANY_LANES : l);
                    which[c] |= (uint8_t)(1u << (at & 3));
                }
            for (int c = 0; c < p->n_cells; c++) {
                assert_int_equal(p->cell_bytes[c], which[c]);
                assert_int_equal(p->cell_lane[c], lane[c]);
                for (int k = 0; k < c; k++) assert_int_not_equal(p->cell[c], p->cell[k]);
            }
        }
        if (!draw(50)) forget();
    }
    forget();
}

/* Words of a request: each in one wavefront, and no bank has two of them there. */
static void words_are_served(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        unsigned bytes = widths[draw(5)];
        uint32_t mask = draw_mask(), addr[32], ideal;
        uint8_t served[32][4];
        int32_t offset[32];
        memset(served, 0xff, sizeof served);
        draw_offsets(offset, bytes);
        for (int l = 0; l < 32; l++) addr[l] = 1024 + (uint32_t)offset[l];
        uint32_t n = emu_wavefronts(mask, addr, bytes, false, false, &ideal, served);
        int lanes = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
        for (int a = 0; a < 32 * 4; a++) {
            int l = a / 4, k = a % 4;
            if (!(mask >> l & 1) || k >= ((int)bytes + 3) / 4) {
                assert_int_equal(served[l][k], 0xff);
                continue;
            }
            assert_true(served[l][k] < n);
            for (int b = 0; b < a; b++) {
                int m = b / 4, j = b % 4;
                if (served[m][j] == 0xff) continue;
                uint32_t x = addr[l] / 4 + (uint32_t)k, y = addr[m] / 4 + (uint32_t)j;
                if (l / lanes != m / lanes)
                    assert_true(served[m][j] < served[l][k]); /* requests one after the other */
                else if (x == y)
                    assert_int_equal(served[l][k], served[m][j]);
                else if (x % 32 == y % 32)
                    assert_int_not_equal(served[l][k], served[m][j]);
            }
        }
    }
}

static void global_accesses(void **state) {
    (void)state;
    struct emu_inst inst = {.class = EMU_LD_GLOBAL, .opcode = "ld.global"};
    for (int round = 0; round < 6000; round++) {
        unsigned bytes = widths[draw(5)];
        uint32_t mask = draw_mask();
        uint64_t base = (1ull << 40) + bytes * draw(64), addr[32];
        int32_t offset[32];
        int64_t delta[32];
        draw_offsets(offset, draw(3) ? bytes : 32);
        int away = (int)draw(200); /* a lane of its own far away, or just not */
        int64_t distance = (draw(2) ? 1ll << 31 : -(1ll << 31)) + (int64_t)draw(3) - 1;
        for (int again = 0; again < 3; again++) {
            if (again == 1) base += bytes * draw(40);
            if (again == 2) offset[draw(32)] += 32;
            bool beyond = false, far;
            for (int l = 0; l < 32; l++) addr[l] = base + (uint64_t)(int64_t)offset[l];
            if (away < 32 && again != 1) addr[away] = addr[lowest(mask)] + (uint64_t)distance;
            for (int l = 0; l < 32; l++) {
                delta[l] = (int64_t)(addr[l] - addr[lowest(mask)]);
                beyond |= mask >> l & 1 && (delta[l] >= 1ll << 31 || delta[l] < -(1ll << 31));
            }
            const struct emu_pattern *p = emu_global_pattern(&warp, &inst, mask, addr, bytes, &far);
            assert_int_equal(far, beyond);
            uint32_t n = 0, active = 0;
            bool same = true;
            for (int l = 0; l < 32; l++) {
                if (!(mask >> l & 1)) continue;
                bool new = true;
                for (int k = 0; k < l; k++) new &= !(mask >> k & 1) || addr[k] / 32 != addr[l] / 32;
                n += new;
                active++;
                same &= delta[l] == 0;
            }
            uint32_t ideal = (active * bytes + 31) / 32;
            if ((same && mask == EMU_FULL) || n < ideal) ideal = n;
            assert_int_equal(p->wavefronts, n);
            assert_int_equal(p->wavefronts_ideal, ideal);
            assert_int_equal(emu_sectors(mask, addr), n);
            assert_int_equal(emu_sectors_ideal(mask, bytes), (active * bytes + 31) / 32);
            if (far)
                assert_int_equal(p->kind, EMU_PATTERN_OTHER);
            else
                described(p, mask, delta, bytes);
        }
    }
    forget();
}

/* What was counted of lanes far apart is nobody's pattern. */
static void far_lanes_leave_no_pattern(void **state) {
    (void)state;
    struct emu_inst inst = {.class = EMU_LD_GLOBAL, .opcode = "ld.global"};
    uint64_t addr[32];
    bool far;
    for (int l = 0; l < 32; l++) addr[l] = (1ull << 40) + 4 * (uint64_t)l;
    assert_int_equal(emu_global_pattern(&warp, &inst, EMU_FULL, addr, 4, &far)->wavefronts, 4);
    addr[31] = 1ull << 50;
    assert_int_equal(emu_global_pattern(&warp, &inst, EMU_FULL, addr, 4, &far)->wavefronts, 5);
    assert_int_equal(emu_global_pattern(&warp, &inst, 1, addr, 4, &far)->wavefronts, 1);
    forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_accesses),
        cmocka_unit_test(words_are_served),
        cmocka_unit_test(global_accesses),
        cmocka_unit_test(far_lanes_leave_no_pattern),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
