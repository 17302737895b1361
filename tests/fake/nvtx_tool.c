/* A tool as ncu and nsys are: NVTX loads it (NVTX_INJECTION64_PATH), and it prints to stderr what it hears:
 *
 *   run 3-wmma-pv: B1 H8 S512 D64, 5.36870912e+08
 *   begin attnlab verify
 *   end
 *   done */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static const char *domain_name = "?";
static char name[16][32]; /* registered strings: handle k + 1 is name[k] */
static int n_names;

static nvtxDomainHandle_t domain_create(const char *text) {
    domain_name = text;
    return (nvtxDomainHandle_t)&domain_name;
}

static nvtxStringHandle_t string_register(nvtxDomainHandle_t domain, const char *text) {
    (void)domain;
    snprintf(name[n_names], sizeof *name, "%s", text);
    return (nvtxStringHandle_t)(uintptr_t)++n_names;
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    uintptr_t k = (uintptr_t)event->message.registered;
    (void)domain;
    if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && k && k <= (uintptr_t)n_names)
        fprintf(stderr, "begin %s %s\n", domain_name, name[k - 1]);
    return 0;
}

static int pop(nvtxDomainHandle_t domain) {
    (void)domain;
    fprintf(stderr, "end\n");
    return 0;
}

static nvtxRangeId_t range_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    (void)domain;
    if (event->messageType == NVTX_MESSAGE_TYPE_ASCII &&
        event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
        fprintf(stderr, "run %s, %.9g\n", event->message.ascii, event->payload.dValue);
    return 7;
}

static void range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    (void)domain;
    if (id == 7) fprintf(stderr, "done\n");
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable core2;
    unsigned n;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &n))
        return 0;
    const struct {
        int id;
        NvtxFunctionPointer function;
    } heard[] = {
        {NVTX_CBID_CORE2_DomainCreateA, (NvtxFunctionPointer)domain_create},
        {NVTX_CBID_CORE2_DomainRegisterStringA, (NvtxFunctionPointer)string_register},
        {NVTX_CBID_CORE2_DomainRangePushEx, (NvtxFunctionPointer)push},
        {NVTX_CBID_CORE2_DomainRangePop, (NvtxFunctionPointer)pop},
        {NVTX_CBID_CORE2_DomainRangeStartEx, (NvtxFunctionPointer)range_start},
        {NVTX_CBID_CORE2_DomainRangeEnd, (NvtxFunctionPointer)range_end},
    };
    for (size_t k = 0; k < sizeof heard / sizeof *heard; k++)
        *core2[heard[k].id] = heard[k].function;
    return 1;
}
