/* Chip files of the clock, chips/NAME.txt, and one NAME=NUMBER on top. seeds: tests/fuzz/seeds/chip */
#include "emulator/predictor/predictor_chip.h"
#include "fuzz.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct predictor_chip chip;
    char path[32], assignment[256];
    int fd = fuzz_file(data, bytes, path);
    const char *why = predictor_chip_read(path, &chip);
    if (why && (!*why || strchr(why, '\n'))) abort(); /* one line, never empty */
    const double *field = (const double *)&chip;
    for (size_t i = 0; !why && i < sizeof chip / sizeof *field; i++)
        if (!isfinite(field[i]) || field[i] < 0) abort();
    size_t n = bytes < sizeof assignment ? bytes : sizeof assignment - 1;
    memcpy(assignment, data + bytes - n, n);
    assignment[n] = 0;
    why = predictor_chip_set(&chip, assignment);
    if (why && (!*why || strchr(why, '\n'))) abort();
    close(fd);
    return 0;
}
