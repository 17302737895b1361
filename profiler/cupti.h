/* CUPTI, loaded at run time: a machine without it gets a sentence, not a failure to start. Private
 * to profiler/. Parameter structs hold their size, and zero in all fields that are not set, as
 * CUPTI's headers demand: CUPTI_PARAMS sees to it. */
#pragma once

#include "refusal.h"

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h> /* includes <string>; profiler/cxx/string is empty, for C */
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

/* X-macro: the functions that this project calls. */
#define CUPTI_FUNCTIONS(F)                                                                         \
    F(cuptiGetVersion)                                                                             \
    F(cuptiSubscribe)                                                                              \
    F(cuptiEnableCallback)                                                                         \
    F(cuptiDeviceGetChipName)                                                                      \
    F(cuptiProfilerInitialize)                                                                     \
    F(cuptiProfilerDeInitialize)                                                                   \
    F(cuptiProfilerDeviceSupported)                                                                \
    F(cuptiProfilerGetCounterAvailability)                                                         \
    F(cuptiProfilerHostInitialize)                                                                 \
    F(cuptiProfilerHostDeinitialize)                                                               \
    F(cuptiProfilerHostGetSupportedChips)                                                          \
    F(cuptiProfilerHostGetMetricProperties)                                                        \
    F(cuptiProfilerHostConfigAddMetrics)                                                           \
    F(cuptiProfilerHostGetConfigImageSize)                                                         \
    F(cuptiProfilerHostGetConfigImage)                                                             \
    F(cuptiProfilerHostGetNumOfPasses)                                                             \
    F(cuptiProfilerHostEvaluateToGpuValues)                                                        \
    F(cuptiRangeProfilerEnable)                                                                    \
    F(cuptiRangeProfilerDisable)                                                                   \
    F(cuptiRangeProfilerGetCounterDataSize)                                                        \
    F(cuptiRangeProfilerCounterDataImageInitialize)                                                \
    F(cuptiRangeProfilerSetConfig)                                                                 \
    F(cuptiRangeProfilerStart)                                                                     \
    F(cuptiRangeProfilerStop)                                                                      \
    F(cuptiRangeProfilerDecodeData)                                                                \
    F(cuptiRangeProfilerGetCounterDataInfo)                                                        \
    F(cuptiSassMetricsGetNumOfMetrics)                                                             \
    F(cuptiSassMetricsGetMetrics)                                                                  \
    F(cuptiSassMetricsSetConfig)                                                                   \
    F(cuptiSassMetricsUnsetConfig)                                                                 \
    F(cuptiSassMetricsEnable)                                                                      \
    F(cuptiSassMetricsDisable)                                                                     \
    F(cuptiSassMetricsGetDataProperties)                                                           \
    F(cuptiSassMetricsFlushData)                                                                   \
    F(cuptiGetSassToSourceCorrelation)                                                             \
    F(cuptiPCSamplingEnable)                                                                       \
    F(cuptiPCSamplingDisable)                                                                      \
    F(cuptiPCSamplingGetNumStallReasons)                                                           \
    F(cuptiPCSamplingGetStallReasons)                                                              \
    F(cuptiPCSamplingSetConfigurationAttribute)                                                    \
    F(cuptiPCSamplingStart)                                                                        \
    F(cuptiPCSamplingStop)                                                                         \
    F(cuptiPCSamplingGetData)                                                                      \
    F(cuptiPmSamplingEnable)                                                                       \
    F(cuptiPmSamplingDisable)                                                                      \
    F(cuptiPmSamplingGetCounterAvailability)                                                       \
    F(cuptiPmSamplingGetCounterDataSize)                                                           \
    F(cuptiPmSamplingCounterDataImageInitialize)                                                   \
    F(cuptiPmSamplingSetConfig)                                                                    \
    F(cuptiPmSamplingStart)                                                                        \
    F(cuptiPmSamplingStop)                                                                         \
    F(cuptiPmSamplingDecodeData)                                                                   \
    F(cuptiPmSamplingGetCounterDataInfo)                                                           \
    F(cuptiPmSamplingCounterDataGetSampleInfo)

struct cupti {
#define CUPTI_MEMBER(f) __typeof__(f) *f;
    CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
    char path[512];   /* the file that was loaded */
    uint32_t version; /* as CUPTI_API_VERSION: 130001 */
};

/* Loads CUPTI once for the process (it cannot be unloaded safely) and hands out its functions. */
const char *cupti_open(const struct cupti **out);

/* Starts the profiler interface once for the process. Needs a driver; under another profiler it is
 * refused (code 39). Kernel images should be loaded after it. */
const char *cupti_start(const struct cupti *cupti);

/* NULL if this device lets itself be profiled that way, else the sentence for the first flag that
 * says no. */
const char *cupti_supports(const struct cupti *cupti, CUdevice device, CUpti_Profiler_API api);

/* CUPTI's name of a device: "GH100". */
const char *cupti_chip(const struct cupti *cupti, int device_index, const char **chip);

/* Parameters of one call, and the call: NULL, or the sentence (refusal.h).
 *
 *     CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
 *     const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerEnable, &enable); */
#define CUPTI_PARAMS(type, name, ...)                                                              \
    type##_Params name = {.structSize = type##_Params_STRUCT_SIZE, ##__VA_ARGS__}
#define CUPTI_CALL(cupti, function, params) refusal((cupti)->function(params), #function)
