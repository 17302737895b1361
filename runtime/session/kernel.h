/* One kernel without host code: FILE.cu is compiled, the arguments of --arg are made, the kernel is
 * launched, its outputs are written and compared. */
#pragma once

#include "settings.h"

/* argv[1 + n_words] is the file. */
const char *kernel_run(const struct settings *s, int argc, char **argv, bool on_gpu);
