/* half.h against the definition of binary16, written here without the instructions that it uses. */
#include "tests/test.h"

#include "common/cuda/half.h"

#include <math.h>

/* The value of finite bits, by the definition. */
static double value(half h) {
    int sign = h >> 15, exponent = h >> 10 & 31, mantissa = h & 1023;
    double x = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return sign ? -x : x;
}

static void every_half_survives_a_round_trip(void **state) {
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        float f = half_to_float((half)h);
        if (half_is_nan((half)h)) {
            assert_true(isnan(f) && half_is_nan(half_from_float(f)));
            continue;
        }
        if (half_is_finite((half)h))
            assert_true(f == value((half)h));
        else
            assert_true(f == (h >> 15 ? -INFINITY : INFINITY));
        assert_int_equal(half_from_float(f), h);
        assert_int_equal(half_from_double(f), h);
    }
}

/* Between two neighbours: the middle goes to the even one, anything else to the nearer one. */
static void rounding_is_to_nearest_even(void **state) {
    (void)state;
    for (unsigned h = 0; h < 0x7c00; h++) {
        double low = value((half)h), high = h == 0x7bff ? 65536 : value((half)(h + 1));
        double middle = (low + high) / 2;
        half even = (half)(h & 1 ? h + 1 : h);
        for (int sign = 0; sign < 2; sign++) {
            double s = sign ? -1 : 1;
            half bit = (half)(sign << 15);
            assert_int_equal(half_from_double(s * middle), even | bit);
            assert_int_equal(half_from_double(s * nextafter(middle, 0)), h | bit);
            assert_int_equal(half_from_double(s * nextafter(middle, 1e9)), (h + 1) | bit);
            assert_int_equal(half_from_float((float)(s * middle)), even | bit);
            assert_int_equal(half_from_float(nextafterf((float)(s * middle), 0)), h | bit);
            assert_int_equal(half_from_float(nextafterf((float)(s * middle), s * 1e9f)),
                             (h + 1) | bit);
        }
    }
}

static void the_far_ends_of_double(void **state) {
    (void)state;
    assert_int_equal(half_from_double(1e300), 0x7c00);
    assert_int_equal(half_from_double(-1e300), 0xfc00);
    assert_int_equal(half_from_double(1e-300), 0);
    assert_int_equal(half_from_double(-1e-300), 0x8000);
    assert_int_equal(half_from_double(65519.999999999), 0x7bff);
    assert_int_equal(half_from_double(65520), 0x7c00);
    assert_int_equal(half_from_double(INFINITY), 0x7c00);
    assert_true(half_is_nan(half_from_double(NAN)));
    assert_int_equal(half_from_double(0x1p-25),
                     0); /* the middle of 0 and the smallest: 0 is even */
    assert_int_equal(half_from_double(0x1.0000000000001p-25), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_a_round_trip),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(the_far_ends_of_double),
    };
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
