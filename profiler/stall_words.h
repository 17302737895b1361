/* What warps do that are in a state of group STALL, in words. */
#pragma once

/* Of "stall_wait", or of "wait": "wait for their own last result". The predictor's names are known, too
 * (mio_throttle). A name that is unknown is its own word. */
const char *stall_words(const char *name);
