#include "revision.h"

const char *revision(void) { return REVISION; } /* revision.mk */
