/* A libcupti.so.13 without counters, for refusals and losses that real ones give on machines that
 * tests do not have. Every metric exists, is collected in one pass, and is 42.
 *
 *   FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable:35    that function returns 35; ...:35:3 from its third call on
 *   FAKE_CUPTI_NO=vgpu|confidential|cmp|...        cuptiProfilerDeviceSupported says no to it
 *   FAKE_CUPTI_LOSE=pass|range|empty|nan           what is lost without an error
 *   FAKE_CUPTI_VALUES="METRIC=1,2 METRIC=3,4"      of the first launch, the second, and all after it
 *   FAKE_CUPTI_UNKNOWN=METRIC                      of the range profiler's: this chip has not
 *   FAKE_CUPTI_LOG=FILE                            where each call's name goes
 *   FAKE_CUPTI_CHIP=GH100
 *   FAKE_CUPTI_PC=256                              where the instruction lies that was counted */
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUptiResult planned(const char *name) {
    static int n_calls;
    char function[64];
    int result, first = 1;
    const char *text = getenv("FAKE_CUPTI_FAIL"), *log = getenv("FAKE_CUPTI_LOG");
    FILE *f = log ? fopen(log, "a") : NULL;
    if (f) {
        fprintf(f, "%s\n", name);
        fclose(f);
    }
    if (!text || sscanf(text, "%63[^:]:%d:%d", function, &result, &first) < 2) return CUPTI_SUCCESS;
    return strcmp(function, name) || ++n_calls < first ? CUPTI_SUCCESS : (CUptiResult)result;
}

static bool says(const char *variable, const char *word) {
    const char *text = getenv(variable);
    return text && !strcmp(text, word);
}

/* CUPTI's functions take one struct each: what is done with *p if the call is not to fail. */
#define FAKE(name, type, ...)                                                                      \
    CUptiResult name(type *p) {                                                                    \
        CUptiResult result_ = planned(#name);                                                      \
        (void)p;                                                                                   \
        if (!result_) {                                                                            \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return result_;                                                                            \
    }

static char object;

CUptiResult cuptiGetVersion(uint32_t *version) {
    *version = 130001;
    return planned("cuptiGetVersion");
}

/* ---- Host ------------------------------------------------------------------------------------ */

FAKE(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params,
     p->pChipName = getenv("FAKE_CUPTI_CHIP") ? getenv("FAKE_CUPTI_CHIP") : "GH100")
FAKE(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params,
     p->pHostObject = (CUpti_Profiler_Host_Object *)&object)
FAKE(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)
FAKE(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params)
FAKE(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params)
FAKE(
    cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params,
    for (size_t i = 0; i < p->numMetrics; i++) {
        if (says("FAKE_CUPTI_UNKNOWN", p->ppMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
    })
FAKE(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params,
     p->configImageSize = 1)
FAKE(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
FAKE(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, p->numOfPasses = 1)

static double value_of(const char *metric, int launch) {
    const char *text = getenv("FAKE_CUPTI_VALUES");
    const size_t n = strlen(metric);
    while (text && (text = strstr(text, metric)) && text[n] != '=') text += n;
    if (!text) return says("FAKE_CUPTI_LOSE", "nan") ? NAN : 42;
    for (text += n + 1; launch && strcspn(text, ", ") < strcspn(text, " "); launch--)
        text += strcspn(text, ",") + 1;
    return atof(text);
}

static int n_evaluated;
FAKE(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     for (size_t i = 0; i < p->numMetrics; i++)
         p->pMetricValues[i] = value_of(p->ppMetricNames[i], n_evaluated);
     n_evaluated++)

/* ---- Callbacks: what the driver of cuda.c does is told to who listens -------------------------- */

static CUpti_CallbackFunc listener;
static bool wanted[CUPTI_CB_DOMAIN_SIZE][1024];

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc f, void *user) {
    (void)user;
    *out = (CUpti_SubscriberHandle)&object;
    listener = f;
    return planned("cuptiSubscribe");
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle who,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    (void)who;
    if (domain < CUPTI_CB_DOMAIN_SIZE && id < 1024) wanted[domain][id] = enable;
    return planned("cuptiEnableCallback");
}

void fake_cupti_context(void);
void fake_cupti_context(void) {
    CUpti_ResourceData data = {.context = (CUcontext)&object};
    if (listener && wanted[CUPTI_CB_DOMAIN_RESOURCE][CUPTI_CBID_RESOURCE_CONTEXT_CREATED])
        listener(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

/* A call of the driver's, with its parameters: it begins (`result` NULL), or has ended so. */
void fake_cupti_call(int id, const char *symbol, const void *parameters, const CUresult *result);
void fake_cupti_call(int id, const char *symbol, const void *parameters, const CUresult *result) {
    CUresult returned = result ? *result : CUDA_SUCCESS;
    CUpti_CallbackData data = {.functionParams = parameters,
                               .functionReturnValue = result ? &returned : NULL,
                               .symbolName = symbol,
                               .context = (CUcontext)&object,
                               .callbackSite = result ? CUPTI_API_EXIT : CUPTI_API_ENTER};
    if (listener && wanted[CUPTI_CB_DOMAIN_DRIVER_API][id])
        listener(NULL, CUPTI_CB_DOMAIN_DRIVER_API, (CUpti_CallbackId)id, &data);
}

/* ---- Device ---------------------------------------------------------------------------------- */

FAKE(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)
FAKE(cuptiProfilerDeInitialize, CUpti_Profiler_DeInitialize_Params)
FAKE(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params,
     p->counterAvailabilityImageSize = 1)

#define SUPPORT(word)                                                                              \
    (says("FAKE_CUPTI_NO", word) ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED                        \
                                 : CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
FAKE(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params,
     p->isSupported = getenv("FAKE_CUPTI_NO") ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                                              : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
     p->architecture = SUPPORT("architecture"); p->sli = SUPPORT("sli"); p->vGpu = SUPPORT("vgpu");
     p->confidentialCompute = SUPPORT("confidential"); p->cmp = SUPPORT("cmp");
     p->wsl = SUPPORT("wsl"))

/* ---- Range profiler -------------------------------------------------------------------------- */

static size_t n_ranges; /* as many as were asked for come back */

FAKE(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params,
     p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&object)
FAKE(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params)
FAKE(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params,
     n_ranges = p->maxNumOfRanges;
     p->counterDataSize = 1)
FAKE(cuptiRangeProfilerCounterDataImageInitialize,
     CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
FAKE(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)
FAKE(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params)
FAKE(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params,
     p->isAllPassSubmitted = !says("FAKE_CUPTI_LOSE", "pass"))
FAKE(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params,
     p->numOfRangeDropped = says("FAKE_CUPTI_LOSE", "range"))
FAKE(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     p->numTotalRanges = says("FAKE_CUPTI_LOSE", "empty") ? 0 : n_ranges)

static uint64_t pc_of_counted(void) {
    const char *text = getenv("FAKE_CUPTI_PC");
    return text ? (uint64_t)atoll(text) : 0;
}

/* ---- SASS metrics: one instruction, which executes 42 times ---------------------------------- */

static const char *const sass_names[] = {
    "smsp__sass_inst_executed",
    "smsp__sass_thread_inst_executed_pred_on",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_branch_targets_threads_divergent",
};
enum { N_SASS = sizeof sass_names / sizeof *sass_names };

FAKE(cuptiSassMetricsGetNumOfMetrics, CUpti_SassMetrics_GetNumOfMetrics_Params,
     p->numOfMetrics = N_SASS)
FAKE(
    cuptiSassMetricsGetMetrics, CUpti_SassMetrics_GetMetrics_Params,
    for (int i = 0; i < N_SASS; i++) {
        p->pMetricsList[i].metricId = (uint64_t)i + 1;
        p->pMetricsList[i].pMetricName = sass_names[i];
    })
FAKE(cuptiSassMetricsSetConfig, CUpti_SassMetricsSetConfig_Params)
FAKE(cuptiSassMetricsUnsetConfig, CUpti_SassMetricsUnsetConfig_Params)
FAKE(cuptiSassMetricsEnable, CUpti_SassMetricsEnable_Params)
FAKE(cuptiSassMetricsDisable, CUpti_SassMetricsDisable_Params,
     p->numOfDroppedRecords = says("FAKE_CUPTI_LOSE", "record"))
FAKE(cuptiSassMetricsGetDataProperties, CUpti_SassMetricsGetDataProperties_Params,
     p->numOfPatchedInstructionRecords = N_SASS;
     p->numOfInstances = 1)
FAKE(
    cuptiSassMetricsFlushData, CUpti_SassMetricsFlushData_Params,
    for (int i = 0; i < N_SASS; i++) { /* a record for each instruction and metric */
                                       p->pMetricsData[i].functionName = "attention";
                                       p->pMetricsData[i].pcOffset = (uint32_t)pc_of_counted();
                                       p->pMetricsData[i].pInstanceValues->metricId =
                                           (uint64_t)i + 1;
                                       p->pMetricsData[i].pInstanceValues->value = 42;
    })
FAKE(cuptiGetSassToSourceCorrelation, CUpti_GetSassToSourceCorrelationParams, p->lineNumber = 1;
     p->fileName = strdup("kernel.cu"); p->dirName = strdup("/nowhere");
     if (!p->fileName || !p->dirName) return CUPTI_ERROR_OUT_OF_MEMORY)

/* ---- PC sampling: two instructions, of which one was counted ------------------------------------- */

static const char *const stall_names[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_selected",
    "smsp__pcsamp_warps_issue_stalled_tex_throttle",
};
enum { N_STALLS = sizeof stall_names / sizeof *stall_names };
static const void *fetched; /* not NULL: the samples were fetched */

FAKE(cuptiPCSamplingEnable, CUpti_PCSamplingEnableParams, fetched = NULL)
FAKE(cuptiPCSamplingDisable, CUpti_PCSamplingDisableParams)
FAKE(cuptiPCSamplingGetNumStallReasons, CUpti_PCSamplingGetNumStallReasonsParams,
     *p->numStallReasons = N_STALLS)
FAKE(
    cuptiPCSamplingGetStallReasons, CUpti_PCSamplingGetStallReasonsParams,
    for (uint32_t i = 0; i < N_STALLS; i++) {
        p->stallReasonIndex[i] = i + 7;
        strcpy(p->stallReasons[i], stall_names[i]);
    })
FAKE(cuptiPCSamplingSetConfigurationAttribute, CUpti_PCSamplingConfigurationInfoParams)
FAKE(cuptiPCSamplingStart, CUpti_PCSamplingStartParams)
FAKE(cuptiPCSamplingStop, CUpti_PCSamplingStopParams)
FAKE(
    cuptiPCSamplingGetData, CUpti_PCSamplingGetDataParams,
    CUpti_PCSamplingData *d = p->pcSamplingData;
    d->totalNumPcs = 0; d->remainingNumPcs = 0;
    d->droppedSamples = says("FAKE_CUPTI_LOSE", "sample") && !fetched ? 5 : 0;
    d->hardwareBufferFull = says("FAKE_CUPTI_LOSE", "samples"); if (!fetched) {
        for (uint32_t i = 0; i < 2;
             i++) { /* a warp that waits; one that issues where nothing was counted */
            CUpti_PCSamplingPCData *pc = &d->pPcData[d->totalNumPcs++];
            pc->pcOffset = pc_of_counted() + i * 16;
            pc->functionName = "attention";
            pc->stallReasonCount = 2;
            pc->stallReason[0] = (CUpti_PCSamplingStallReason){7 + 2 * i, 30};
            pc->stallReason[1] = (CUpti_PCSamplingStallReason){8 + 2 * i, 10};
        }
        fetched = d;
    })

/* ---- PM sampling: no sample ------------------------------------------------------------------ */

FAKE(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params,
     p->pPmSamplingObject = (CUpti_PmSampling_Object *)&object)
FAKE(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params)
FAKE(cuptiPmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params,
     p->counterAvailabilityImageSize = 1)
FAKE(cuptiPmSamplingGetCounterDataSize, CUpti_PmSampling_GetCounterDataSize_Params,
     p->counterDataSize = 1)
FAKE(cuptiPmSamplingCounterDataImageInitialize, CUpti_PmSampling_CounterDataImage_Initialize_Params)
FAKE(cuptiPmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params)
FAKE(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params)
FAKE(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params)
FAKE(cuptiPmSamplingDecodeData, CUpti_PmSampling_DecodeData_Params,
     p->overflow = says("FAKE_CUPTI_LOSE", "overflow");
     p->decodeStopReason = says("FAKE_CUPTI_LOSE", "full")
                               ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                               : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS)
FAKE(cuptiPmSamplingGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params)
FAKE(cuptiPmSamplingCounterDataGetSampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params)
