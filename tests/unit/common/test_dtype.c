/* dtype.h: bf16 against its definition, and both types against rounding by comparison of neighbours. */
#include "tests/test.h"

#include "common/cuda/dtype.h"

#include <math.h>

/* The value of finite bf16 bits, by the definition. */
static double value(unsigned h) {
    int exponent = h >> 7 & 255, mantissa = h & 127;
    double x = exponent ? ldexp(128 + mantissa, exponent - 134) : ldexp(mantissa, -133);
    return h >> 15 ? -x : x;
}

static void every_bf16_survives_a_round_trip(void **state) {
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        float x = dtype_to_float(DTYPE_BF16, (half)h);
        bool finite = (h >> 7 & 255) != 255, nan = !finite && h & 127;
        assert_int_equal(dtype_is_finite(DTYPE_BF16, (half)h), finite);
        if (nan) {
            assert_true(isnan(x));
            assert_true(isnan(dtype_to_float(DTYPE_BF16, dtype_from_float(DTYPE_BF16, x))));
            assert_true(isnan(dtype_to_float(DTYPE_BF16, dtype_from_double(DTYPE_BF16, x))));
            continue;
        }
        assert_true(finite ? x == value(h) : isinf(x) && (x < 0) == h >> 15);
        assert_int_equal(dtype_from_float(DTYPE_BF16, x), h);
        assert_int_equal(dtype_from_double(DTYPE_BF16, x), h);
    }
}

/* Between two neighbours: the middle goes to the even one, anything else to the nearer one. */
static void rounding_is_to_nearest_even(void **state) {
    (void)state;
    for (unsigned h = 0; h < 0x7f80; h++) {
        double low = value(h), high = h == 0x7f7f ? 0x1p128 : value(h + 1);
        double middle = (low + high) / 2;
        unsigned even = h & 1 ? h + 1 : h;
        for (unsigned bit = 0; bit < 65536; bit += 32768) {
            double s = bit ? -1 : 1;
            assert_int_equal(dtype_from_double(DTYPE_BF16, s * middle), even | bit);
            assert_int_equal(dtype_from_double(DTYPE_BF16, s * nextafter(middle, 0)), h | bit);
            assert_int_equal(dtype_from_double(DTYPE_BF16, s * nextafter(middle, 1e300)),
                             (h + 1) | bit);
            assert_int_equal(dtype_from_float(DTYPE_BF16, (float)(s * middle)), even | bit);
            assert_int_equal(
                dtype_from_float(DTYPE_BF16, nextafterf((float)(s * middle), (float)-s * INFINITY)),
                h | bit);
        }
    }
    assert_int_equal(dtype_from_double(DTYPE_BF16, 1e300), 0x7f80);
    assert_int_equal(dtype_from_double(DTYPE_BF16, -1e-300), 0x8000);
}

/* One unit of roundoff: the largest relative error between 1 and 2, which the middle of neighbours has. */
static void unit_roundoff_is_the_largest_error(void **state) {
    (void)state;
    static const enum dtype types[] = {DTYPE_FP16, DTYPE_BF16};
    for (int i = 0; i < 2; i++) {
        double u = dtype_unit_roundoff(types[i]), most = 0;
        for (int n = 0; n < 4096; n++) {
            double x = 1 + n / 4096.0;
            double error = dtype_to_float(types[i], dtype_from_double(types[i], x)) - x;
            most = fmax(most, fabs(error));
        }
        assert_true(most == u);
        assert_true(
            dtype_to_float(types[i], dtype_from_double(types[i], dtype_min_normal(types[i]))) ==
            dtype_min_normal(types[i]));
        double below = dtype_min_normal(types[i]) * (1 - u / 2);
        assert_true(dtype_to_float(types[i], dtype_from_double(types[i], below)) != below);
    }
    assert_string_equal(dtype_name(DTYPE_FP16), "fp16");
    assert_string_equal(dtype_name(DTYPE_BF16), "bf16");
}

static void fp16_is_half(void **state) {
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        float x = half_to_float((half)h), y = dtype_to_float(DTYPE_FP16, (half)h);
        assert_memory_equal(&x, &y, sizeof x);
        assert_int_equal(dtype_is_finite(DTYPE_FP16, (half)h), half_is_finite((half)h));
        assert_int_equal(dtype_from_float(DTYPE_FP16, x * 1.01f), half_from_float(x * 1.01f));
        assert_int_equal(dtype_from_double(DTYPE_FP16, x * 1.01), half_from_double(x * 1.01));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bf16_survives_a_round_trip),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(unit_roundoff_is_the_largest_error),
        cmocka_unit_test(fp16_is_half),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
