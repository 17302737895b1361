/* Programs of the CUDA toolkit. */
#pragma once

#include <stddef.h>

/* The path of `name` ("nvdisasm"): in the .venv beside the program's folder, on PATH, or in the toolkit's
 * usual place. NULL, or why there is none. */
const char *toolkit_find(const char *name, char *out, size_t out_bytes);
