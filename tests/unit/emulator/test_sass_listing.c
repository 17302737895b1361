/* The cache of nvdisasm's text: kept, read, and made anew where it is damaged. */
#include "emulator/sass/listing.h"
#include "tests/test.h"

#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/toolkit.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cubin_path[PATH_MAX], folder[PATH_MAX];
static char *cubin;
static size_t bytes;

/* The one file in the folder. */
static void cached(char out[PATH_MAX]) {
    char pattern[PATH_MAX + 2];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(out, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
}

/* Opens it: as many instructions as `wanted`, unless that is 0. Returns how many. */
static int opens(int wanted) {
    struct sass_listing l;
    int n = 0;
    assert_fine(sass_listing_open(cubin_path, cubin, bytes, folder, &l));
    for (int f = 0; f < l.n; f++) n += l.function[f].n;
    sass_listing_close(&l);
    assert_true(wanted ? n == wanted : n > 100);
    return n;
}

static void damaged(void **state) {
    char path[PATH_MAX];
    size_t whole_bytes, again_bytes;
    (void)state;
    if (!*cubin_path) SKIP("no cubin of stage 1, or no nvdisasm");
    const int n = opens(0);
    cached(path);
    char *whole = path_read(path, &whole_bytes);
    assert_non_null(whole);
    static const char *const texts[] = {"", "nothing\n", "function\tf\t-1\n",
                                        "function\tf\t2000000000\n", "function\tf\t2\n\tEXIT\t\n"};
    for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        if (i < sizeof texts / sizeof *texts)
            fputs(texts[i], f);
        else /* the first half of a function's lines */
            fwrite(whole, 1, whole_bytes / 2, f);
        fclose(f);
        opens(n);
        char *again = path_read(path, &again_bytes);
        assert_non_null(again);
        assert_int_equal(again_bytes, whole_bytes);
        assert_memory_equal(again, whole, whole_bytes);
        free(again);
    }
    /* One that is whole is read, not made. */
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("function\tf\t1\n\tEXIT\t\n", f);
    fclose(f);
    opens(1);
    free(whole);
    assert_int_equal(unlink(path), 0);
}

static int begin(void **state) {
    char program[PATH_MAX];
    const char *const temporary = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%s/listing-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) return 1;
    if (toolkit_find("nvdisasm", program, sizeof program)) return 0;
    snprintf(cubin_path, sizeof cubin_path, "%s/../images/stage-1/d64.sm_89.cubin",
             program_folder());
    cubin = path_read(cubin_path, &bytes);
    if (!cubin) *cubin_path = 0;
    return 0;
}
static int end(void **state) {
    (void)state;
    free(cubin);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, begin, end);
}
