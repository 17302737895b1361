/* nvdisasm's text of a cubin, instruction by instruction, and a cache of it: nvdisasm takes half a
 * second, the cache a millisecond. */
#pragma once

#include <stddef.h>

enum { SASS_FRAMES = 6 };
struct sass_frame {
    const char *file; /* as the compiler was told */
    int line;
};
struct sass_line {
    const char *guard, *opcode, *operands; /* "@!P0" or "", "IADD3.X", "R1,R2,..." */
    int kernel_line;                       /* of the innermost frame in a .cu */
    int n_frames;                          /* 0: unknown */
    struct sass_frame frame[SASS_FRAMES];  /* innermost first; the outermost is never left out */
};
struct sass_function {
    const char *name;
    int n;
    struct sass_line *line;
};
struct sass_listing {
    int n;
    struct sass_function *function;
    char *text; /* what the pointers point into */
};

/* cache_dir: NULL, no cache. */
const char *sass_listing_open(const char *cubin_path, const void *cubin, size_t bytes,
                              const char *cache_dir, struct sass_listing *out);
void sass_listing_close(struct sass_listing *l);
