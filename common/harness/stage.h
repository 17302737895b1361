/* A stage is a folder that exports one `const struct stage stage`. Which stage a program runs is decided
 * at link time; there is no list. */
#pragma once

#include "attention.h"
#include "common/base/reason.h"
#include "common/device/device.h"
#include "options.h"

enum { STAGE_MAX_LAUNCHES = 4 };

/* Where the tensors of one problem lie on the device. */
struct stage_tensors {
    device_ptr q, k, v, o, lse;
    device_ptr workspace; /* stage.workspace_bytes() long, contents undefined; 0 if that is 0 */
};

/* What a stage wants to run for one problem: launches in order, on one stream. */
struct stage_plan {
    char image[48]; /* which line of the stage's `images` file: "d64" */
    int choice;     /* comes in: which of the stage's choices; 0, the best, if not asked for */
    int n_launches; /* 0 for a zero-sized problem */
    bool is_other_kernel; /* asked for by --image: max_registers and the formula are not about it */
    struct device_launch launch[STAGE_MAX_LAUNCHES];
};

/* One way to run a problem, of several, and what the stage's model expects of it. */
struct stage_choice {
    char image[48];
    char text[208]; /* in words, other words for each */
    double us;      /* expected: source `model` */
    double fill;    /* expected part of the time in which SMs have something to do */
};

struct stage {
    const char *name;       /* its folder, "2-wmma-qk": STAGE_FOLDER, which the Makefile defines */
    const char *previous;   /* the folder of the stage before, or "": STAGE_PREVIOUS */
    double row_error_limit; /* pass rule, point 2: worst relative L2 error of an output row */
    int max_registers;      /* stated limit for ptxas, per thread */
    bool takes_bf16;        /* each image has one more, NAME-bf16, for it */
    const char *tensor_family; /* "HMMA", "HGMMA" or NULL: which tensor instructions it issues */

    /* NULL, or the rule that this problem breaks on this chip: one sentence, before any launch. */
    const char *(*supports)(const struct attention *a, const struct chip *chip);

    /* The other three are asked about supported problems with at least one output element only. */

    /* Bytes of scratch memory between launches; NULL stands for a function that returns 0. */
    size_t (*workspace_bytes)(const struct attention *a, const struct chip *chip);

    /* Chooses image, tiles and grids, and fills in the kernels' arguments. On entry out->image is
     * empty, or the image that --image names: then that image is launched, with the grid chosen here. */
    const char *(*plan)(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out);

    /* All ways that were considered, the best first, which is the one that is planned: fills up to
     * n_max and returns how many. NULL: there is one way only. */
    int (*choices)(const struct attention *a, const struct chip *chip, struct stage_choice *out,
                   int n_max);

    /* How many tensor instructions (mma.sync m16n8k16 or wgmma, in SASS terms) the plan executes,
     * NULL if the stage has no formula: a gate compares it with the counter. */
    double (*tensor_instructions)(const struct attention *a, const struct chip *chip);

    /* The count may exceed that formula by this share: with usual data some tiles are computed again. */
    double tensor_redone;

    /* A stage that computes no attention has a problem of its own, and none of what stands above
     * but name, previous and max_registers: it says which options describe that problem, and what
     * it does. NULL, NULL: attention. */
    const struct option_table *options;
    enum status (*run)(const struct options *o, int argc, char **argv);
};

extern const struct stage stage;

/* NULL, or the rule of the stage that this problem breaks: supports(), and its type. */
const char *stage_supports(const struct attention *a, const struct chip *chip);

/* The image that stands for `image` where the problem's type is `t`: NAME or NAME-bf16, whichever was given. */
void stage_image_of_type(enum dtype t, const char *image, char *out, size_t bytes);

/* The stage's plan; the image is the one for the problem's type. As stage.plan otherwise. */
const char *stage_plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                       struct stage_plan *out);

/* N of the folder "N-name". */
int stage_number(const char *folder);

/* Where the kernel images of that stage lie: images/stage-N beside the program. */
const char *stage_image_folder(const char *folder);

/* The kernel arguments for problem `a` at these addresses. */
struct attention_args stage_args(const struct attention *a, const struct stage_tensors *t);
