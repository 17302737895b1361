/* What the clock knows of a chip: numbers by name, from a text file. A line is
 *
 *   name value unit source...
 *
 * and # begins a comment. Every name of timing_chip.def once, no other: a chip with a number missing would
 * predict nonsense in silence. */
#pragma once

struct timing_chip {
#define PARAM(name) double name;
#include "timing_chip.def"
#undef PARAM
};

/* NULL, or what is wrong with the file: line, name. */
const char *timing_chip_read(const char *path, struct timing_chip *out);

/* `assignment` is name=value: for questions of the kind "what if". */
const char *timing_chip_set(struct timing_chip *c, const char *assignment);
