/* The table of a timeline: what it says, and what is left where it cannot be written. */
#include "tests/test.h"

#include "profiler/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct timeline_sample sample[] = {{1, 100, 25.5, 12.25}, {3, 50, 0, 0}};
static const struct timeline two = {.n = 2, .sample = sample, .n_runs = 64, .interval_us = 2};

static void a_table_says_what_it_is(void **state) {
    (void)state;
    char path[OWN_BYTES], text[1024] = "";
    int fd = own_file(path, "timeline");
    assert_true(fd >= 0);
    assert_fine(timeline_write(&two, "stage 6: B1", path));
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    unlink(path);
    assert_ptr_equal(strstr(text, "# stage 6: B1\n# 64 runs, sampled every 2 us"), text);
    assert_non_null(strstr(text, "\nus\tsm_pct\ttensor_pct\tmufu_pct\n"
                                 "1.000\t100.000\t25.500\t12.250\n3.000\t50.000\t0.000\t0.000\n"));
}

static void a_failed_write_is_told(void **state) {
    (void)state;
    struct stat there;
    assert_reason(timeline_write(&two, "t", "/nonexistent/t.tsv"), "No such file");
    if (stat("/dev/full", &there) || !S_ISCHR(there.st_mode)) SKIP("no /dev/full here");
    char folder[OWN_BYTES], full[OWN_BYTES + 8];
    assert_non_null(own_folder(folder, "timeline"));
    snprintf(full, sizeof full, "%s/full", folder);
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_reason(timeline_write(&two, "t", full), "No space left");
    assert_int_equal(unlink(full), 0); /* what is no file is not removed */
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_says_what_it_is),
        cmocka_unit_test(a_failed_write_is_told),
    };
    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
