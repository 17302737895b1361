/* One trial of a student's kernel, in four programs that share nothing but files:
 *
 *   draw    a secret seed -> cases.json: shapes, masks, inputs
 *   run     one case, one folder of images -> what the kernel left, counted (in a sandbox)
 *   judge   one case, what was left -> right or wrong, by the pass rule (check.h)
 *
 *   facts   a PTX file -> what it may keep, call and know beside its arguments, as the emulator reads it
 *
 * `run` never sees the reference nor the secret seed; `judge` never sees the kernel. The kernel of a
 * case finds no more on its device than one case's inputs, and outputs filled with poison. */
#pragma once

#include "common/device/device.h"
#include "emulator/core/spoil.h"

#include <jansson.h>

/* The arguments after the word: NULL, or why not (reason.h). */
const char *trial_draw(int argc, char **argv);
const char *trial_run(int argc, char **argv);
const char *trial_judge(int argc, char **argv);
const char *trial_facts(int argc, char **argv);

/* Case `index` of a file of cases; a new reference. */
const char *trial_case(const char *path, const char *index, json_t **out);
int trial_int(const json_t *trial_case, const char *name);
const char *trial_text(const json_t *trial_case, const char *name);
uint64_t trial_seed(const json_t *trial_case);
/* Writes FOLDER/NAME.bin, and reads it, `bytes` of it and no more. */
const char *trial_put(const char *folder, const char *name, const void *data, size_t bytes);
const char *trial_get(const char *folder, const char *name, void *data, size_t bytes);

/* What a trial needs of a stage's problem: attention.c has it for attention, product.c for stage 5. */
struct subject {
    struct device *device;
    struct device_image *image;
    const struct device_launch *launch;
    int n_launches;
    size_t out_bytes;  /* of all outputs, one after the other, guard bands included: */
    size_t half_bytes; /* first those in fp16, the rest are in fp32 */
    void *own;
};
const char *subject_open(const json_t *trial_case, struct device *d, struct subject *out);
void subject_close(struct subject *s);
/* Outputs are poison: CHECK_POISON_WORD. */
const char *subject_poison(struct subject *s);
const char *subject_fetch(struct subject *s, void *outputs);
/* Inputs on the device: as drawn (NULL); those of a launch whose tensor cores multiply something else (`spoil`); or
 * `instead` those that give its answer to ordinary tensor cores, V through them (`v_too`) or in scalar code. */
struct changed_inputs {
    const struct emu_spoil *spoil;
    bool instead, v_too;
};
const char *subject_inputs(struct subject *s, const struct changed_inputs *c);
/* Appends the names of inputs whose bytes are others than subject_inputs() left. */
const char *subject_changed(struct subject *s, json_t *names);
/* On a GPU: the time of one problem, us, while it takes turns with another one in the same outputs;
 * the inputs of the next seed come last. */
const char *subject_time(struct subject *s, const json_t *trial_case, double *us, double *iqr_us);
