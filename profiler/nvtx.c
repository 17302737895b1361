#include "nvtx.h"

#include <nvtx3/nvToolsExt.h>
#include <stdbool.h>

static const char *const names[NVTX_PHASES] = {"warmup", "time", "count", "verify"};

static nvtxDomainHandle_t domain;
/* registered once: a tool sees a handle, not a text */
static nvtxStringHandle_t strings[NVTX_PHASES];
static nvtxRangeId_t running; /* 0: no run */

static void start(void) {
    static bool started;
    if (started) return;
    started = true;
    domain = nvtxDomainCreateA("attnlab");
    for (int i = 0; i < NVTX_PHASES; i++) {
        strings[i] = nvtxDomainRegisterStringA(domain, names[i]);
        nvtxDomainNameCategoryA(domain, (uint32_t)i + 1, names[i]);
    }
}

void nvtx_begin(enum nvtx_phase phase) {
    start();
    const nvtxEventAttributes_t event = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .category = (uint32_t)phase + 1,
        .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
        .message.registered = strings[phase],
    };
    nvtxDomainRangePushEx(domain, &event);
}

void nvtx_end(void) { nvtxDomainRangePop(domain); }

void nvtx_run_begin(const char *title, double flop) {
    start();
    const nvtxEventAttributes_t event = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .payloadType = NVTX_PAYLOAD_TYPE_DOUBLE,
        .payload.dValue = flop,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = title,
    };
    running = nvtxDomainRangeStartEx(domain, &event);
}

void nvtx_run_end(void) {
    if (running) nvtxDomainRangeEnd(domain, running);
    running = 0;
}
