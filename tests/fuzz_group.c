/* Counter groups. seeds: profiler/groups */
#include "fuzz.h"
#include "groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct group group;
    if (group_parse((const char *)data, bytes, "fuzz", &group)) return 0;
    for (int i = 0; i < group.n; i++) {
        group_origin(&group.value[i], "GH100");
        group_origin(&group.value[i], "emulator");
    }
    return 0;
}
