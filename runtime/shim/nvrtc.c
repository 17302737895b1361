/* NVRTC itself compiles; these calls make PTX where a program asks for a cubin. build/run
 * puts this library before libnvrtc (LD_PRELOAD), so that these three calls come here first. */
#include "cudart.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NVRTC_OUT_OF_MEMORY = 1, NVRTC_INTERNAL_ERROR = 11, MOST = 256 };

/* The same call of libnvrtc; NULL, after a line on stderr: there is none. */
static void *real(const char *name) {
    void *p = dlsym(RTLD_NEXT, name);
    if (!p) session_say("%s: no libnvrtc is loaded", name);
    return p;
}

/* "--gpu-architecture=sm_90" -> "--gpu-architecture=compute_90"; NULL: another option. */
static char *virtual_architecture(const char *option) {
    static const char *const names[] = {"--gpu-architecture=sm_", "-arch=sm_"};
    for (int n = 0; n < 2; n++) {
        size_t length = strlen(names[n]);
        char *text = NULL;
        if (strncmp(option, names[n], length)) continue;
        if (asprintf(&text, "-arch=compute_%s", option + length) < 0) return NULL;
        return text;
    }
    return NULL;
}

EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options) {
    int (*compile)(void *, int, const char *const *) = real("nvrtcCompileProgram");
    const char *mine[MOST + 1];
    char *made[MOST] = {0};
    if (!compile) return NVRTC_INTERNAL_ERROR;
    if (n < 0 || n > MOST) return NVRTC_OUT_OF_MEMORY;
    for (int i = 0; i < n; i++) {
        made[i] = virtual_architecture(options[i]);
        mine[i] = made[i] ? made[i] : options[i];
    }
    mine[n] = "-lineinfo"; /* for reports; said twice it does no harm */
    int status = compile(program, n + 1, mine);
    for (int i = 0; i < n; i++) free(made[i]);
    return status;
}

EXPORT int nvrtcGetCUBINSize(void *program, size_t *bytes) {
    int (*size)(void *, size_t *) = real("nvrtcGetPTXSize");
    return size ? size(program, bytes) : NVRTC_INTERNAL_ERROR;
}

EXPORT int nvrtcGetCUBIN(void *program, char *cubin) {
    int (*get)(void *, char *) = real("nvrtcGetPTX");
    return get ? get(program, cubin) : NVRTC_INTERNAL_ERROR;
}
