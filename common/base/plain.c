#include "plain.h"

#include <stdlib.h>
#include <string.h>

/* How many bytes the character at `at` has, 0 if it is none: RFC 3629, section 4. */
static int character(const unsigned char *at) {
    const unsigned char c = at[0],
                        lowest = c == 0xe0   ? 0xa0
                                 : c == 0xf0 ? 0x90
                                             : 0x80,
                        highest = c == 0xed   ? 0x9f
                                  : c == 0xf4 ? 0x8f
                                              : 0xbf;
    const int n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n > 1 && (at[1] < lowest || at[1] > highest)) return 0;
    for (int k = 2; k < n; k++)
        if (at[k] < 0x80 || at[k] > 0xbf) return 0;
    return n;
}

void plain_text(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at;) {
        const int n = character(at);
        const int is_control =
            n == 1 ? *at < 0x20 || *at == 0x7f : n == 2 && *at == 0xc2 && at[1] < 0xa0;
        if (n && !(is_control && *at != '\n' && *at != '\t')) {
            at += n;
        } else {
            *at++ = '?';
        }
    }
}

const char *plain_name(const char *symbol, int *length) {
    char *name;
    const size_t all = strlen(symbol);
    *length = (int)all;
    if (strncmp(symbol, "_Z", 2) || symbol[2] < '1' || symbol[2] > '9') return symbol;
    const unsigned long n = strtoul(symbol + 2, &name, 10);
    if (n >= (size_t)(symbol + all - name) || name[n] == 'I') return symbol; /* I: a template */
    *length = (int)n;
    return name;
}
