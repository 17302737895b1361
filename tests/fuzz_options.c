/* Fuzzes the command line: words separated by newlines. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    enum { MAX_WORDS = 32 };
    char *text = malloc(bytes + 1), *argv[MAX_WORDS + 2] = {"stage-1"};
    int argc = 1;
    struct options o;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    for (char *w = strtok(text, "\n"); w && argc <= MAX_WORDS; w = strtok(NULL, "\n"))
        argv[argc++] = w;
    const char *why = options_read(argc, argv, &o);
    if (why && (!*why || strchr(why, '\n'))) abort(); /* one line, never empty */
    free(text);
    return 0;
}
