/* For tests on a GPU: the kernels that are compiled for them. */
#pragma once

/* build/images/tests, above the folder of this program. */
const char *test_images(void);
