#include "images.h"

#include "test.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

const char *test_images(void) {
    static char folder[PATH_MAX + 32];
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(n > 0);
    program[n] = 0;
    snprintf(folder, sizeof folder, "%s/images/tests", dirname(dirname(program)));
    return folder;
}
