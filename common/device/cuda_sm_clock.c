#include "cuda_sm_clock.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A block of its own for each SM: `SHARED` bytes leave no room for a second one. */
enum { MAX_SMS = 512, SHARED = 120 * 1024 };

/* note[%smid] = {cycles, ns}. PTX, for the driver to compile: the device's own, of no stage. */
static const char kernel[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry note(.param .u64 p)\n"
                             "{\n"
                             "    .reg .b32 %r<2>;\n"
                             "    .reg .b64 %a<4>;\n"
                             "    mov.u32 %r1, %smid;\n"
                             "    ld.param.u64 %a1, [p];\n"
                             "    cvta.to.global.u64 %a1, %a1;\n"
                             "    mad.wide.u32 %a1, %r1, 16, %a1;\n"
                             "    mov.u64 %a2, %clock64;\n"
                             "    mov.u64 %a3, %globaltimer;\n"
                             "    st.global.v2.u64 [%a1], {%a2, %a3};\n"
                             "    ret;\n"
                             "}\n";

struct note {
    uint64_t cycles, ns; /* 0: no block ran on this SM */
};

struct cuda_sm_clock {
    CUmodule module;
    CUfunction note;
    CUdeviceptr notes; /* [2][MAX_SMS] struct note */
    char why[256];     /* the first call that failed: then there is no sm_clock; "" */
};

void cuda_sm_clock_close(struct cuda_device *c) {
    if (!c->clock) return;
    if (c->clock->notes) c->cu->MemFree(c->clock->notes);
    if (c->clock->module) c->cu->ModuleUnload(c->clock->module);
    free(c->clock);
    c->clock = NULL;
}

static const char *clock_open(struct cuda_device *c, struct cuda_sm_clock *k) {
    if (c->device.info.chip.n_sms > MAX_SMS) return "more SMs than the clock has notes for";
    TRY(c, ModuleLoadData, &k->module, kernel);
    TRY(c, ModuleGetFunction, &k->note, k->module, "note");
    TRY(c, FuncSetAttribute, k->note, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED);
    TRY(c, MemAlloc, &k->notes, 2 * MAX_SMS * sizeof(struct note));
    TRY(c, MemsetD32Async, k->notes, 0, 2 * MAX_SMS * sizeof(struct note) / 4, c->stream);
    TRY(c, StreamSynchronize, c->stream);
    return NULL;
}

static const char *clock_mark(struct cuda_device *c, int mark, CUstream stream) {
    CUdeviceptr at = c->clock->notes + (size_t)mark * MAX_SMS * sizeof(struct note);
    void *args[] = {&at};
    CUlaunchConfig config = {.gridDimX = (unsigned)c->device.info.chip.n_sms,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = SHARED,
                             .hStream = stream};
    TRY(c, LaunchKernelEx, &config, c->clock->note, args, NULL);
    return NULL;
}

static const char *read_notes(struct cuda_device *c, struct note note[2][MAX_SMS]) {
    TRY(c, MemcpyDtoHAsync, note, c->clock->notes, 2 * MAX_SMS * sizeof note[0][0], c->stream);
    TRY(c, StreamSynchronize, c->stream);
    return NULL;
}

/* Keeps the first reason. */
static const char *so_far(struct cuda_sm_clock *k, const char *why) {
    if (why && !*k->why) snprintf(k->why, sizeof k->why, "%s", why);
    return *k->why ? k->why : NULL;
}

const char *cuda_sm_clock_mark(struct cuda_device *c, int mark, CUstream stream) {
    if (!c->clock) {
        c->clock = heap_zeroed(1, sizeof *c->clock);
        so_far(c->clock, clock_open(c, c->clock));
    }
    const char *why = so_far(c->clock, NULL);
    return why ? why : so_far(c->clock, clock_mark(c, mark, stream));
}

const char *cuda_sm_clock_between(struct cuda_device *c, double *mhz) {
    static struct note note[2][MAX_SMS];
    double sum = 0;
    int n = 0;
    *mhz = 0;
    if (!c->clock) return "no mark was set";
    const char *why = so_far(c->clock, NULL);
    if (!why) why = so_far(c->clock, read_notes(c, note));
    if (why) return why;
    for (int i = 0; i < MAX_SMS; i++) {
        if (!note[0][i].ns || note[1][i].ns <= note[0][i].ns) continue;
        sum += 1e3 * (double)(note[1][i].cycles - note[0][i].cycles) /
               (double)(note[1][i].ns - note[0][i].ns);
        n++;
    }
    if (n) *mhz = sum / n;
    return n ? NULL : "no SM noted the time";
}
