/* What the last launches counted. If counts of the same launches are asked for, they need not run again. */
#pragma once

#include "device_ops.h"

#include "emulator/launch/launch.h"

struct emu_counted_launches {
    struct device_launch *launch;
    int n;
    const struct device_image *image; /* of all of them */
    struct emu_options options;       /* of all of them */
    bool mixed; /* they differ in image or options, or memory changed between them: of no use */
    struct emu_result *result; /* what all counted; NULL: they have not ended */
};

/* l is launched. What was counted before the last emu_counted_end() is forgotten. */
void emu_counted_add(struct emu_counted_launches *c, const struct device_image *image,
                     const struct device_launch *l);
/* The launches have ended, and *result is what they counted. Takes it and leaves an empty one; or leaves it as it is,
 * if it is of no use: a check failed, or the launches printed what they did. */
const char *emu_counted_end(struct emu_counted_launches *c, struct emu_result **result);
/* Memory or images change: the same launches might count something else. */
void emu_counted_forget(struct emu_counted_launches *c);
void emu_counted_close(struct emu_counted_launches *c); /* empty again */
/* What just these launches counted, or NULL: run them. */
const struct emu_result *emu_counted_find(const struct emu_counted_launches *c,
                                          const struct device_image *image,
                                          const struct device_launch *launches, int n);
