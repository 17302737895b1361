/* What foreign text may hold when it is printed and recorded. */
#include "tests/test.h"

#include "common/base/plain.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void each(void **state) {
    static const char *const texts[][2] = {
        {"", ""},
        {"a.cu\n\tb", "a.cu\n\tb"},
        {"x\x1b[2J\x07\r\x7f", "x?[2J???"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"x\xff\xfe.cu", "x??.cu"},
        {"\xc2\x9b"
         "1A",
         "??1A"},                          /* CSI in one character */
        {"\xc0\xaf\xe0\x80\xaf", "?????"}, /* longer than need be */
        {"\xed\xa0\x80", "???"},           /* half a pair */
        {"\xf4\x90\x80\x80", "????"},      /* behind the last */
        {"\xe2\x82", "??"},                /* cut off */
    };
    (void)state;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        char text[32];
        snprintf(text, sizeof text, "%s", texts[n][0]);
        plain_text(text);
        assert_string_equal(text, texts[n][1]);
    }
}

/* Whatever the bytes are, JSON holds what is left. */
static void json_holds_it(void **state) {
    (void)state;
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 1; b < 256; b++)
            for (unsigned c = 0x70; c < 0xd0; c += 0xf) {
                char text[] = {(char)a, (char)b, (char)c, (char)0x80, 'x', 0};
                plain_text(text);
                json_t *held = json_string(text);
                assert_non_null(held);
                assert_int_equal(strlen(text), 5);
                json_decref(held);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each), cmocka_unit_test(json_holds_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
