/* Stage 6 divides by multiplication: compared with / at every
 * edge of a quotient, and past one where the promise ends. */
#include "tests/test.h"

#include "common/cuda/divisor.h"

static const uint32_t last = 0x7FFFFFFF;

static void check_one(uint32_t x, struct divisor by) {
    if (divided(x, by) != x / by.d)
        fail_msg("%u / %u = %u, not %u", x, by.d, x / by.d, divided(x, by));
}

static void around_each_quotient(uint32_t d) {
    struct divisor by = divisor_of(d);
    uint32_t n = last / d, step = n / 1000 + 1;
    for (uint64_t q = 0; q <= n; q += step)
        for (int64_t x = (int64_t)(q * d) - 1; x <= (int64_t)(q * d) + 1; x++)
            if (x >= 0 && x <= last) check_one((uint32_t)x, by);
    check_one(n * d, by);
    if (n > 0) check_one(n * d - 1, by);
    check_one(last, by);
}

static void small_and_neighbours_of_powers(void **state) {
    (void)state;
    for (uint32_t d = 1; d <= 3000; d++) around_each_quotient(d);
    for (int bit = 12; bit < 31; bit++)
        for (int off = -2; off <= 2; off++) around_each_quotient((1u << bit) + (uint32_t)off);
    around_each_quotient(last);
    around_each_quotient(1u << 31);
}

static void the_promise_ends_at_2_to_the_31(void **state) {
    (void)state;
    int n_wrong = 0; /* were there none, a shorter proof or a smaller shift would do */
    for (uint32_t d = 3; d < 3000; d += 2)
        n_wrong += divided(0xFFFFFFFF - 0xFFFFFFFF % d - 1, divisor_of(d)) !=
                   (0xFFFFFFFF - 0xFFFFFFFF % d - 1) / d;
    assert_true(n_wrong > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_and_neighbours_of_powers),
        cmocka_unit_test(the_promise_ends_at_2_to_the_31),
    };
    return cmocka_run_group_tests_name("divisor", tests, NULL, NULL);
}
