/* forward_once LIBRARY IMAGES: attnlab.forward as Python calls it, on one small problem of the emulator; prints
 * what came of it. Exit status: forward's, 4 where the library cannot be loaded. */
#include "runtime/python/forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

enum { HEADS = 2, SEQLEN = 24, DIM = 64, N = HEADS * SEQLEN * DIM };

static uint16_t q[N], k[N], v[N], o[N];
static float lse[HEADS * SEQLEN];

int main(int argc, char **argv) {
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
    const char *(*call)(const struct forward *, int *) = NULL;
    if (library) *(void **)&call = dlsym(library, "attnlab_forward");
    if (!call) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, dlerror());
        return 4;
    }
    for (int i = 0; i < N; i++) { /* fp16 between 1 and 2 */
        q[i] = (uint16_t)(0x3c00 | i * 37 % 1024);
        k[i] = (uint16_t)(0x3c00 | i * 91 % 1024);
        v[i] = (uint16_t)(0x3c00 | i * 53 % 1024);
    }
    struct forward f = {.batch = 1,
                        .heads = HEADS,
                        .kv_heads = HEADS,
                        .seqlen_q = SEQLEN,
                        .seqlen_k = SEQLEN,
                        .head_dim = DIM,
                        .q = (uintptr_t)q,
                        .k = (uintptr_t)k,
                        .v = (uintptr_t)v,
                        .o = (uintptr_t)o,
                        .lse = (uintptr_t)lse,
                        .images = argv[2]};
    for (int t = 0; t < 4; t++) {
        f.stride[t][0] = N;
        f.stride[t][1] = SEQLEN * DIM;
        f.stride[t][2] = DIM;
    }
    int status = 0;
    const char *why = call(&f, &status);
    if (why) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
        return status;
    }
    for (int i = 0; i < N; i++) printf("%x ", o[i]);
    for (int i = 0; i < HEADS * SEQLEN; i++) printf("%a ", (double)lse[i]);
    return puts("") == EOF;
}
