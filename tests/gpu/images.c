#include "images.h"

#include "common/base/program.h"
#include "tests/test.h"

#include <limits.h>

const char *test_images(void) {
    static char folder[PATH_MAX];
    assert_true(program_find("images/tests", folder, sizeof folder));
    return folder;
}
