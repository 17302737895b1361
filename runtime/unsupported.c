/* Functions that programs may link, but not call. No header is included here: their parameters do not
 * matter. */
#include <stdbool.h>

int cudart_unsupported(const char *call);

#define UNSUPPORTED(name)                                                                          \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) { return cudart_unsupported(#name); }
#include "unsupported.def"

#undef UNSUPPORTED
#define UNSUPPORTED(name)                                                                          \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        cudart_unsupported(#name);                                                                 \
        return 15; /* CUBLAS_STATUS_NOT_SUPPORTED */                                               \
    }
#include "unsupported_blas.def"
