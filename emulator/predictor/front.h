/* Where the predictor's instructions come from: sass.h, or streams that a test makes. */
#pragma once

#include "emulator/sass/sass.h"

struct predictor_front {
    const struct sass_inst *(*next)(const struct sass_warp *w);
    enum sass_wait_kind (*waits)(const struct sass_warp *w);
    enum sass_status (*step)(struct sass_warp *w, struct sass_effect *e);
    void (*deliver)(const struct sass_event *event);
    struct sass_warp *(*warp)(struct sass_cta *cta, int index);
    const char *(*fault)(const struct sass_warp *w);
    uint32_t (*wavefronts)(const struct sass_effect *e, uint32_t *ideal);
    uint32_t (*l1_wavefronts)(const struct sass_effect *e);
    uint32_t (*sectors)(const struct sass_effect *e, uint64_t sector[64]);
    void (*tma_rows)(const struct sass_effect *e, void *user,
                     void (*each)(void *user, uint64_t global, uint32_t bytes));
};
