/* Several launches made one value: counts add up,
 * shares are averaged over what they are shares of. */
#include "tests/test.h"

#include "profiler/launches.h"

#include <math.h>
#include <string.h>

enum { STRIDE = 1 + LAUNCHES_WEIGHTS };

/* Two launches: metric, then active cycles, elapsed
 * cycles, issues. The first is three times as active. */
static const double two[2][STRIDE] = {{80, 300, 1000, 50}, {40, 100, 1000, 150}};

static double of(const char *metric) {
    double out;
    assert_fine(launches_combine(metric, two[0], two[0] + 1, STRIDE, 2, &out));
    return out;
}

static void counts_add_up(void **state) {
    (void)state;
    assert_true(of("sm__inst_executed.sum") == 120);
    assert_true(of("sm__cycles_elapsed.max") == 80);
    assert_true(of("sm__cycles_active.avg") == 120); /* launches follow each other */
    assert_true(of("smsp__inst_executed.avg") == 120);
    double out;
    const double rising[3] = {40, 80, 60};
    assert_fine(launches_combine("sm__cycles_elapsed.max", rising, rising, 1, 3, &out));
    assert_true(out == 80); /* neither the first nor the last */
    const double with_weights[3][STRIDE] = {{40}, {80}, {60}};
    assert_fine(launches_combine("sm__cycles_elapsed.max", with_weights[0], with_weights[0] + 1,
                                 STRIDE, 3, &out));
    assert_true(out == 80);
    assert_true(of(".sum") == 120); /* nothing before the ending */
}

static void shares_are_averaged_over_their_cycles(void **state) {
    (void)state;
    assert_true(of("sm__x.avg.pct_of_peak_sustained_active") == 70);
    assert_true(of("sm__warps_active.avg.per_cycle_active") == 70);
    assert_true(of("sm__x.avg.pct_of_peak_sustained_elapsed") == 60);
    assert_true(of("smsp__y_per_issue_active.ratio") == 50);
}

static void one_launch_is_itself(void **state) {
    (void)state;
    double out;
    assert_fine(launches_combine("anything.pct", two[0], two[0] + 1, STRIDE, 1, &out));
    assert_true(out == 80);
}

static void what_has_no_rule_is_refused(void **state) {
    (void)state;
    double out;
    assert_reason(launches_combine("lts__hit_rate.pct", two[0], two[0] + 1, STRIDE, 2, &out),
                  "lts__hit_rate.pct of 2");
}

/* A launch without a cycle has 0 / 0 as its share; without any there is no share at all. */
static void an_idle_launch_has_no_say(void **state) {
    (void)state;
    double out;
    const double idle[2][STRIDE] = {{80, 300, 1, 1}, {NAN, 0, 1, 1}};
    assert_fine(
        launches_combine("sm__x.avg.per_cycle_active", idle[0], idle[0] + 1, STRIDE, 2, &out));
    assert_true(out == 80);
    const double none[2][STRIDE] = {{NAN, 0, 1, 1}, {NAN, 0, 1, 1}};
    assert_fine(
        launches_combine("sm__x.avg.per_cycle_active", none[0], none[0] + 1, STRIDE, 2, &out));
    assert_true(isnan(out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(shares_are_averaged_over_their_cycles),
        cmocka_unit_test(one_launch_is_itself),
        cmocka_unit_test(what_has_no_rule_is_refused),
        cmocka_unit_test(an_idle_launch_has_no_say),
    };
    return cmocka_run_group_tests_name("launches", tests, NULL, NULL);
}
