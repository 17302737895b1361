/* What warps do that are in a state of group STALL, in words. */
#pragma once

#include <stdbool.h>

/* Of "stall_wait", or of "wait": "wait for their own last result". The
 * predictor's names are known, too (mio_throttle). predicted: as the predictor takes the word. A name that
 * is unknown is its own word. */
const char *stall_words(const char *name, bool predicted);
