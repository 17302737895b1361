/* Functions that programs may link, but not call. No header is included here: their parameters do not
 * matter. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

int cudart_unsupported(const char *call);
bool driver_lacks(const char *name);

#define UNSUPPORTED(name)                                                                          \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) { return cudart_unsupported(#name); }
#include "unsupported.def"
#include "unsupported_driver.def"

bool driver_lacks(const char *name) {
#undef UNSUPPORTED
#define UNSUPPORTED(name) #name,
    static const char *const names[] = {
#include "unsupported_driver.def"
    };
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (!strcmp(names[n], name)) return true;
    return false;
}

#undef UNSUPPORTED
#define UNSUPPORTED(name)                                                                          \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        cudart_unsupported(#name);                                                                 \
        return 15; /* CUBLAS_STATUS_NOT_SUPPORTED */                                               \
    }
#include "unsupported_blas.def"
