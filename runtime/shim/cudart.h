/* Private to the files that stand in for the CUDA runtime and driver. */
#pragma once

#include "runtime/session/order.h"
#include "runtime/session/session.h"

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#define EXPORT __attribute__((visibility("default")))

/* What a host function, or a name in a module, stands for: cudaFunction_t, cudaKernel_t and
 * CUfunction are pointers to these. */
struct binary;
struct function {
    struct function *next;
    const void *host; /* the stub that programs name; NULL: of a module */
    const char *name;
    struct binary *binary;
    struct kernel *kernel; /* NULL: not used yet */
};

struct binary { /* a registered fat binary, or a loaded module */
    struct binary *next;
    const void *fatbin;
    size_t most;         /* bytes that it may have; SIZE_MAX: not known */
    struct image *image; /* NULL: not used yet */
    char *text;          /* a module's own copy of its PTX */
    struct function *functions;
    struct variable *variables;
};

struct variable {
    struct variable *next;
    const void *host;
    const char *name;
    void **managed; /* where the program keeps the address, or NULL */
};

/* Begins a call: *error says why there is none to begin with. Calls that fail because an earlier
 * launch did return its code. */
struct session *cudart_enter(cudaError_t *error);
/* Ends it: keeps an error for cudaGetLastError. */
cudaError_t cudart_leave(cudaError_t e);
#define WITH_SESSION(s)                                                                            \
    cudaError_t error_;                                                                            \
    struct session *s = cudart_enter(&error_);                                                     \
    if (!s) return error_

/* Says once that a call is not there. */
cudaError_t cudart_unsupported(const char *call);
/* The rest of the process fails with it, as after a fault on a GPU. */
void cudart_fault(cudaError_t e);

/* Streams and events are handles; capture: cudart_capture.c. */
struct capture;
struct CUstream_st {
    unsigned flags;
    int priority;
    unsigned long long id;
    int order;               /* its number in runtime/session/order.h; 0: not kept */
    struct capture *capture; /* NULL: none yet */
    bool began_capture;      /* and did not join another's */
};

/* streams.c: what calls do until stream_leave() is done in this stream, while the host goes on. */
void stream_enter(cudaStream_t stream);
cudaError_t stream_leave(cudaError_t e); /* e */
/* Begins an operation, unless one is under way; waits: outside of stream_enter() the host waits for it. It ends with the
 * call. */
void stream_operation(struct session *s, const char *what, bool waits);
void stream_waits_for_operation(void);
void stream_uses(enum order_use use, const void *p, size_t bytes);
void stream_launched(struct session *s, const char *kernel); /* and it has run */
void stream_end_operation(void);
void stream_host_waits_for_all(void);
void stream_name(int stream, char out[64]);
/* There is memory that the host uses, too; with_kernels: beside kernels. */
void stream_host_shares(struct session *s, bool with_kernels);

/* cudart_capture.c: the graph that a stream adds to, NULL: none; and adding to it */
cudaGraph_t graph_capturing(cudaStream_t stream);
bool graph_any_capture(void);
/* A capture of the global mode is under way, and is invalid now: the host must not wait for the device. */
bool graph_forbids_waiting(void);
cudaError_t graph_add_launch(cudaGraph_t g, const void *p, const cudaLaunchConfig_t *c,
                             void **args);
cudaError_t graph_add_copy(cudaGraph_t g, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind);
cudaError_t graph_add_copy_3d(cudaGraph_t g, const struct cudaMemcpy3DParms *p);
cudaError_t graph_add_set(cudaGraph_t g, void *p, size_t pitch, int value, size_t width,
                          size_t height);
cudaError_t graph_add_host(cudaGraph_t g, cudaHostFn_t function, void *data);
cudaError_t graph_add_memory(cudaGraph_t g, void **p, size_t bytes);

/* cudart_memory.c; a graph's memory is not freed: it may be launched again */
enum memory_kind {
    MEMORY_NONE,
    MEMORY_DEVICE,
    MEMORY_PINNED,
    MEMORY_MANAGED,
    MEMORY_REGISTERED,
    MEMORY_GRAPH
};
/* Is p managed, or pinned and used by a copy, so that the host must wait before it uses it? */
bool memory_is_guarded(const struct session *s, uint64_t p, bool talks);
cudaError_t memory_alloc(struct session *s, void **p, size_t bytes, enum memory_kind kind);
enum memory_free {
    FREE_DEVICE,
    FREE_HOST,
    FREE_IN_STREAM
}; /* all but the last wait for all that runs */
cudaError_t memory_free(struct session *s, void *p, enum memory_free how);
uint64_t memory_of_graphs(void); /* bytes */
cudaError_t memory_copy(struct session *s, void *to, const void *from, size_t bytes,
                        enum cudaMemcpyKind kind);
cudaError_t memory_set(struct session *s, void *to, int value, size_t bytes);
cudaError_t memory_set_words(struct session *s, void *to, uint32_t value, size_t word_bytes,
                             size_t n); /* word_bytes: 2 or 4 */

/* cudart_texture.c: where an array lies; returns the bytes of an element */
size_t array_memory(cudaArray_const_t a, struct cudaPitchedPtr *out);

/* cudart_launch.c */
cudaError_t binary_load(struct session *s, struct binary *b);
cudaError_t binary_open(struct session *s, const void *image, size_t most_bytes,
                        struct binary **out); /* a module */
cudaError_t function_find(struct session *s, struct binary *b, const char *name,
                          struct function **out);
cudaError_t function_of(struct session *s, const void *host_or_handle, struct kernel **out);
cudaError_t function_launch(struct session *s, const void *host_or_handle,
                            const struct emu_grid *grid, void *const *args);
cudaError_t launch_late_fault(struct session *s); /* what a launch that was put off came to */
cudaError_t variable_address(struct session *s, struct binary *b, const char *name, uint64_t *p,
                             uint64_t *bytes);

/* guard.c */
void guard_lift(void);

/* cudart_device.c */
int device_attribute(const struct session *s, int attribute);

/* driver.c: "cuMemAlloc" -> cuMemAlloc_v2; NULL: not here */
void *driver_function(const char *name);
bool driver_lacks(const char *name); /* unsupported.c: programs may link it, but not call it */
