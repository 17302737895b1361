/* vector.h and modes.h against definitions in scalar code: x86-64 has instructions where other processors have loops. */
#include "tests/test.h"

#include "common/cuda/vector.h"
#include "emulator/instructions/arithmetic/modes.h"

#include <fenv.h>
#include <math.h>

enum { ROUNDS = 20000 };

static uint32_t noise(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return (uint32_t)(x >> 16);
}
static v8i noise8(void) {
    v8i v;
    for (int l = 0; l < 8; l++) v[l] = (int32_t)noise() >> noise() % 32;
    return v;
}

static void whole_numbers(void **state) {
    (void)state;
    for (int n = 0; n < ROUNDS; n++) {
        const v8i a = noise8(), b = noise8();
        const v8i most = max8(a, b), size = abs8(a), like = sign8(a, b), shifted = shift8(a, b);
        bool any = false;
        for (int l = 0; l < 8; l++) {
            any |= a[l] != 0;
            assert_int_equal(most[l], a[l] > b[l] ? a[l] : b[l]);
            assert_int_equal((uint32_t)size[l], a[l] < 0 ? 0u - (uint32_t)a[l] : (uint32_t)a[l]);
            assert_int_equal((uint32_t)like[l], b[l] > 0   ? (uint32_t)a[l]
                                                : b[l] < 0 ? 0u - (uint32_t)a[l]
                                                           : 0);
            assert_int_equal((uint32_t)shifted[l],
                             (uint32_t)b[l] < 32 ? (uint32_t)a[l] >> (uint32_t)b[l] : 0);
        }
        assert_int_equal(any8(a), any);
    }
    for (int l = 0; l < 8; l++) {
        v8i one = {0};
        assert_false(any8(one));
        one[l] = INT32_MIN;
        assert_true(any8(one));
    }
}

/* Products of 16 bits with a sign; the upper half of the second is 0, as tensorcore.c has it. */
static void products(void **state) {
    (void)state;
    for (int n = 0; n < ROUNDS; n++) {
        v8i a = noise8(), b = noise8();
        a = a << 16 >> 16, b &= 0xffff;
        const v8i product = multiply8(a, b);
        for (int l = 0; l < 8; l++) assert_int_equal(product[l], a[l] * (int16_t)b[l]);
    }
}

static void lanes_and_widths(void **state) {
    (void)state;
    unsigned char at[64];
    for (int n = 0; n < ROUNDS / 10; n++) {
        uint16_t halves[8];
        v8i delta, old = noise8();
        for (size_t k = 0; k < sizeof at; k++) at[k] = (unsigned char)noise();
        for (int l = 0; l < 8; l++) delta[l] = (int32_t)(noise() % 61);
        memcpy(halves, at + 1, sizeof halves);
        const uint32_t mask = noise();
        const v8i all = gather8(at, delta), some = gather8_some(old, lanes8(mask), at, delta),
                  wide = load8_halves(at + 1), bytes = widen8_bytes(at + 3);
        const v8h back = narrow8(wide);
        for (int l = 0; l < 8; l++) {
            int32_t here;
            memcpy(&here, at + delta[l], 4);
            assert_int_equal(all[l], here);
            assert_int_equal(some[l], mask >> l & 1 ? here : old[l]);
            assert_int_equal(wide[l], halves[l]);
            assert_int_equal(back[l], halves[l]);
            assert_int_equal(bytes[l], at[3 + l]);
        }
    }
}

/* Eight at a time as one by one, which test_half.c checks. */
static void halves(void **state) {
    (void)state;
    for (uint32_t first = 0; first < 65536; first += 8) {
        v8h h;
        for (int l = 0; l < 8; l++) h[l] = (uint16_t)(first + (uint32_t)l);
        const v8f x = floats8(h);
        const v8h back = halves8(x);
        for (int l = 0; l < 8; l++) {
            const float f = x[l], alone = float_of_half(h[l]);
            assert_int_equal(float_bits(f), float_bits(alone));
            if (alone == alone)
                assert_int_equal(back[l], half_of_float(alone));
            else
                assert_true((back[l] & 0x7fff) > 0x7c00);
        }
    }
    for (int n = 0; n < ROUNDS; n++) {
        const v8i bits = noise8();
        const v8h h = halves8((v8f)bits);
        for (int l = 0; l < 8; l++)
            assert_int_equal(h[l], half_of_float(bits_float((uint32_t)bits[l])));
    }
}

/* ---- .ftz ----------------------------------------------------------------------------------------- */

/* What exact * 1 is in fp32 in the current rounding mode; 0 where it is below 2^-126 after rounding to 24 bits. */
static float flushed(double exact) {
    int exponent;
    const double fraction = frexp(exact, &exponent);
    volatile double whole = nearbyint(ldexp(fraction, 24));
    const double rounded = ldexp(whole, exponent - 24);
    if (fabs(rounded) < 0x1p-126) return copysignf(0, (float)exact);
    return (float)rounded;
}

/* Near the least normal number: `bits` of mantissa, products and sums of which a double holds exactly. */
static float near_least(int exponent, int bits) {
    const uint32_t mantissa =
        noise() % 3 ? noise() & ((1u << bits) - 1) : (1u << bits) - 1 - noise() % 4;
    return (noise() & 1 ? -1.0f : 1.0f) * ldexpf((float)((1u << bits) + mantissa), exponent - bits);
}

static void subnormal_results_become_0(void **state) {
    (void)state;
    static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int kept = 0, lost = 0;
    for (int n = 0; n < 50 * ROUNDS; n++) {
        const int e = (int)(noise() % 60) - 100;
        volatile float a = near_least(e, 23), b = (float)(0x1p-126 / a), c = near_least(-126, 23),
                       d = near_least(-126 + (int)(noise() % 2), 23);
        volatile float p = near_least(e, 11), q = near_least(-127 - e + (int)(noise() % 3), 11);
        if (noise() & 1) b = nextafterf(b, noise() & 1 ? INFINITY : -INFINITY);
        fesetround(mode[n % 4]);
        volatile double ab = (double)a * b, cd = (double)c + d, pqc = (double)p * q + (double)c;
        const float want[] = {flushed(ab), flushed(cd), flushed(pqc)};
        volatile float got[] = {mul_ftz(a, b), add_ftz(c, d), fma_ftz(p, q, c)};
        fesetround(FE_TONEAREST);
        for (int k = 0; k < 3; k++)
            if (got[k] != want[k])
                fail_msg("case %d: %a %a %a gave %a, not %a", k,
                         k == 2 ? p
                         : k    ? c
                                : a,
                         k == 2 ? q
                         : k    ? d
                                : b,
                         c, got[k], want[k]);
        kept += fabs(ab) < 0x1p-126 && got[0] != 0, lost += fabs(ab) < 0x1p-126 && got[0] == 0;
    }
    assert_true(kept > 1000 && lost > 1000); /* both happen just below 2^-126 */
}

static void quotients(void **state) {
    (void)state;
    assert_true(div_ftz(0x1p-126f, 2) == 0 && div_ftz(0x1p-125f, 2) == 0x1p-126f);
    assert_true(div_ftz(0x1p-127f, 0x1p-20f) == 0); /* the operand is subnormal */
    assert_true(signbit(div_ftz(-0x1p-126f, 4)));
    assert_true(isinf(div_ftz(1, 0x1p-130f)) && isnan(div_ftz(0x1p-130f, 0)));
    assert_true(div_ftz(0x1.fffffep127f, 0x1p-2f) == INFINITY);
    assert_true(div_ftz(0x1.fffffep127f, 0x1p100f) == 0x1.fffffep27f);
    assert_true(div_ftz(0x1p-126f * 0x1.fffffcp0f, 0x1.fffffep0f) == 0); /* 2^-126 - 2^-150 or so */
}

static void operands_are_flushed_and_large_numbers_stay(void **state) {
    (void)state;
    assert_true(add_ftz(0x1p-127f, 0x1p-126f) == 0x1p-126f);
    assert_true(fma_ftz(0x1p-127f, 0x1p20f, 1) == 1 && fma_ftz(2, 3, 0x1p-130f) == 6);
    assert_true(mul_ftz(0x1p127f, 0x1p-126f) == 2 && mul_ftz(0x1p127f, 2) == INFINITY);
    assert_true(fma_ftz(0x1p100f, 0x1p-100f, 0x1p127f) == 0x1p127f);
    assert_true(isnan(mul_ftz(INFINITY, 0)) && isnan(add_ftz(INFINITY, -INFINITY)));
    assert_true(signbit(mul_ftz(-0x1p-100f, 0x1p-100f)) && !signbit(add_ftz(1, -1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(products),
        cmocka_unit_test(lanes_and_widths),
        cmocka_unit_test(halves),
        cmocka_unit_test(subnormal_results_become_0),
        cmocka_unit_test(quotients),
        cmocka_unit_test(operands_are_flushed_and_large_numbers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
