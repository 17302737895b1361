/* Every refusal that CUPTI can answer with becomes one line that names a cause and a remedy. */
#include "tests/test.h"

#include "profiler/counters.h"
#include "profiler/refusal.h"

#include <cupti_result.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void success_is_no_refusal(void **state) {
    (void)state;
    assert_null(refusal(CUPTI_SUCCESS, "f"));
}

/* A sentence of its own: one line, longer than its bare number, ends in the call and the code. */
static void assert_sentence(int code) {
    char tail[64];
    const char *say = refusal(code, "cuptiSomething");
    snprintf(tail, sizeof tail, "cuptiSomething returned %d", code);
    assert_non_null(say);
    assert_null(strchr(say, '\n'));
    assert_non_null(strstr(say, tail));
    assert_null(strstr(say, "its meaning: cupti_result.h"));
    assert_true(strlen(say) > 60);
    assert_true(strlen(say) < sizeof(((struct counter *)0)->reason)); /* or it would be cut */
}

static void known_codes_have_sentences(void **state) {
    (void)state;
    const int wanted[] = {35, 26, 39, 38, 36, 33, 40, 41, 42, 43, 44, 45, 46, 14, 15};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) assert_sentence(wanted[i]);
    for (int i = 0; refusal_code(i) >= 0; i++) {
        assert_sentence(refusal_code(i));
        for (int k = 0; k < i; k++) assert_int_not_equal(refusal_code(i), refusal_code(k));
    }
    assert_true(refusal_code(0) >= 0);
    assert_int_equal(refusal_code(-1), -1);
    assert_int_equal(refusal_code(1000), -1);
}

static void remedies_name_what_to_do(void **state) {
    (void)state;
    assert_non_null(strstr(refusal(35, "f"), "NVreg_RestrictProfilingToAdminUsers=0"));
    assert_non_null(strstr(refusal(35, "f"), "RmProfilingAdminOnly"));
    assert_non_null(strstr(refusal(26, "f"), "dcgmi profile --pause"));
    assert_non_null(strstr(refusal(39, "f"), "--counters none"));
    assert_non_null(strstr(refusal(15, "f"), "libnvperf_host"));
    assert_non_null(strstr(refusal(46, "f"), "newer CUDA toolkit"));
}

static void unknown_code_says_its_number(void **state) {
    (void)state;
    assert_string_equal(refusal(999, "cuptiX"),
                        "cuptiX failed with CUPTI result 999 (its meaning: cupti_result.h)");
}

static void each_flag_has_its_sentence(void **state) {
    (void)state;
    const struct {
        struct refusal_flags flags;
        const char *word;
    } cases[] = {
        {{.architecture = true}, "7.0"},
        {{.sli = true}, "SLI"},
        {{.vgpu = true}, "vGPU"},
        {{.vgpu_disabled = true}, "hypervisor"},
        {{.confidential = true}, "confidential"},
        {{.cmp = true}, "CMP"},
        {{.wsl = true}, "WSL"},
        {{0}, "not why"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *say = refusal_of_flags(&cases[i].flags);
        assert_non_null(say);
        assert_non_null(strstr(say, cases[i].word));
    }
}

static int admin_only_in(const char *text) {
    char path[OWN_BYTES];
    int fd = own_file(path, "params");
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int value = refusal_admin_only(path);
    unlink(path);
    return value;
}

static void driver_parameter_is_read(void **state) {
    (void)state;
    assert_int_equal(admin_only_in("EnableMSI: 1\nRmProfilingAdminOnly: 1\n"), 1);
    assert_int_equal(admin_only_in("RmProfilingAdminOnly: 0\n"), 0);
    assert_int_equal(admin_only_in("EnableMSI: 1\n"), -1);
    assert_int_equal(refusal_admin_only("/nonexistent/params"), -1);
    assert_int_equal(admin_only_in("RmProfilingAdminOnly: 1\nRmProfilingAdminOnly: 0\n"), 1);
    const int before = open("/dev/null", O_RDONLY);
    close(before);
    assert_int_equal(admin_only_in(""), -1);
    const int after = open("/dev/null", O_RDONLY);
    close(after);
    assert_int_equal(before, after); /* the file was closed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_no_refusal),
        cmocka_unit_test(known_codes_have_sentences),
        cmocka_unit_test(remedies_name_what_to_do),
        cmocka_unit_test(unknown_code_says_its_number),
        cmocka_unit_test(each_flag_has_its_sentence),
        cmocka_unit_test(driver_parameter_is_read),
    };
    return cmocka_run_group_tests_name("refusal", tests, NULL, NULL);
}
