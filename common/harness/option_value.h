/* The value of one option, from its text. NULL, or a reason (STATUS_USAGE) that names the option
 * and the value. */
#pragma once

#include "attention.h"
#include "common/device/device.h"
#include "emulator/emulator.h"

const char *option_int(const char *option, const char *text, long min, long max, int *out);
const char *option_real(const char *option, const char *text, double min, double max, double *out);
const char *option_device(const char *text, enum device_kind *out);
const char *option_chip(const char *text, const char **out);
const char *option_seed(const char *text, uint64_t *out);
const char *option_causal(const char *text, enum mask *out); /* NULL: bottom-right */
const char *option_l2(const char *text, bool *cold);
const char *option_input(const char *text, const char **out);
const char *option_dtype(const char *text, enum dtype *out);
const char *option_image(const char *text, const char **out);
const char *option_schedule(const char *text, enum emu_schedule *out);
const char *option_watch(const char *text, struct emu_options *out);
