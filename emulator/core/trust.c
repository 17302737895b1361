/* Which races are trusted. */
#include "trust.h"

#include "common/base/path.h"
#include "common/base/heap.h"
#include "common/base/reason.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* In place, a tile is written after all tiles before it were read: the relaxed look-back says so in practice,
 * but orders no plain accesses. Between two collectives of a tile of several warps only shuffles come, which order no
 * accesses to its scratch memory. The last thread to leave a cuda::pipeline ends its mbarriers: of each warp one lane has
 * said that all have left. */
static const struct emu_trust defaults[] = {
    {"/cooperative_groups", "/cooperative_groups.h"},
    {"barrier", "/cccl/cuda/pipeline"},
    {"/cccl/", "/thrust/system/cuda/detail/unique.h"},
    {"/cccl/", "/cub/device/dispatch/dispatch_select_if.cuh"},
};

const struct emu_trust *emu_trust_default(int *n) {
    *n = sizeof defaults / sizeof *defaults;
    return defaults;
}

static bool is_in(const struct emu_origin *o, const char *where) {
    return o->n_frames && strstr(o->frame[0].file, where);
}

static bool is_within(const struct emu_origin *o, const char *within) {
    for (int f = 0; f < o->n_frames; f++)
        if (strstr(o->frame[f].file, within)) return true;
    return false;
}

bool emu_trusted(const struct emu_trust *trust, int n, const struct emu_origin *a,
                 const struct emu_origin *b) {
    for (int k = 0; k < n; k++)
        if (is_in(a, trust[k].where) && is_in(b, trust[k].where) &&
            (is_within(a, trust[k].within) || is_within(b, trust[k].within)))
            return true;
    return false;
}

const char *emu_trust_read(const char *path, const struct emu_trust **out, int *n) {
    FILE *f = path_open(path);
    char line[512], where[256], within[256];
    struct emu_trust *list = NULL;
    *n = 0;
    if (!f) return reason_as(STATUS_USAGE, "--trust %.200s: %s", path, strerror(errno));
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        line[strcspn(line, "#")] = 0;
        int words = sscanf(line, "%255s %255s", where, within);
        if (words == 1) {
            fclose(f);
            return reason_as(STATUS_USAGE,
                             "--trust %.200s, line %d: two parts of paths are needed, WHERE the "
                             "race is and WITHIN what",
                             path, number);
        }
        if (words != 2) continue;
        list = heap_grown(list, (size_t)(*n + 1) * sizeof *list);
        list[(*n)++] = (struct emu_trust){heap_text(where), heap_text(within)};
    }
    fclose(f);
    *out = list ? list : defaults; /* none of them */
    return NULL;
}
