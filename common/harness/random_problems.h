/* --sweep-random: many random problems, each checked. Problem i of a seed is the same on every
 * machine and device class, so a failure can be run again: --sweep-random (i + 1) --seed S repeats
 * it as its last one. */
#pragma once

#include "options.h"
#include "common/base/reason.h"

/* So many random shapes, strides, masks and inputs that the stage supports; prints what it finds
 * and returns what the program exits with. */
enum status random_problems(const struct options *o, int argc, char **argv);
