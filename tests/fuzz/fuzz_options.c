/* Command lines: one argument a line. seeds: tests/fuzz/seeds/options */
#include "fuzz.h"
#include "common/harness/options.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char *text = malloc(bytes + 1), *argv[66] = {"stage-1"};
    if (!text) abort();
    memcpy(text, data, bytes);
    text[bytes] = 0;
    int argc = 1;
    for (char *line = strtok(text, "\n"); line && argc < 65; line = strtok(NULL, "\n"))
        argv[argc++] = line;
    struct options options;
    const char *why = options_read(argc, argv, NULL, &options);
    if (why && (!*why || strchr(why, '\n'))) abort(); /* one line, never empty */
    if (!why && !(attention_flops(&options.problem) >= 0)) abort();
    free(text);
    return 0;
}
