/* Files of records, cut and damaged. seeds: records/runs tests/fuzz/seeds/record */
#include "fuzz.h"
#include "common/harness/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char path[32];
    int fd = fuzz_file(data, bytes, path), n_cut = 0;
    json_t *records = NULL;
    const char *why = record_read(path, &records, &n_cut);
    if (!why != !!records) abort(); /* an array or a reason, never both */
    json_decref(records);
    close(fd);
    return 0;
}
