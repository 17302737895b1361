#include "test.h"

#include <stdio.h>
#include <stdlib.h>

char *own_template(char out[OWN_BYTES], const char *name) {
    const char *folder = getenv("TMPDIR");
    if (snprintf(out, OWN_BYTES, "%s/%s", folder ? folder : "/tmp", name) >= OWN_BYTES)
        fail_msg("TMPDIR has too long a name: %s", folder);
    return out;
}
