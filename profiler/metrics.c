#include "metrics.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

static const char *host_open(struct metrics *m, CUpti_ProfilerType type, const char *chip,
                             const uint8_t *availability) {
    CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, initialize, .profilerType = type,
                 .pChipName = chip, .pCounterAvailabilityImage = availability);
    CUptiResult result = m->cupti->cuptiProfilerHostInitialize(&initialize);
    m->host = result == CUPTI_SUCCESS ? initialize.pHostObject : NULL;
    if (result == CUPTI_ERROR_INVALID_CHIP_NAME)
        return reason("CUPTI %u does not know chip %s: %s", m->cupti->version, chip,
                      refusal(result, "cuptiProfilerHostInitialize"));
    return refusal(result, "cuptiProfilerHostInitialize");
}

static void host_close(struct metrics *m) {
    CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, end, .pHostObject = m->host);
    if (m->host) m->cupti->cuptiProfilerHostDeinitialize(&end);
    m->host = NULL;
}

static const char *add(struct metrics *m, const char **names, int n) {
    CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add, .pHostObject = m->host,
                 .ppMetricNames = names, .numMetrics = (size_t)n);
    return CUPTI_CALL(m->cupti, cuptiProfilerHostConfigAddMetrics, &add);
}

/* Adds all metrics. If one is wrong the call refuses them all and says not which: then they are
 * tried one by one, to name it. */
static const char *add_all(struct metrics *m, CUpti_ProfilerType type, const char *chip,
                           const uint8_t *availability) {
    const char *why = add(m, m->name, m->n);
    if (!why) return NULL;
    for (int i = 0; i < m->n; i++) {
        host_close(m);
        const char *broken = host_open(m, type, chip, availability);
        if (broken) return broken;
        if (add(m, &m->name[i], 1))
            return reason("%s has no metric %s (CUPTI version %u)", chip, m->name[i],
                          m->cupti->version);
    }
    return why;
}

static const char *config_image(struct metrics *m) {
    CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size, .pHostObject = m->host);
    const char *why = CUPTI_CALL(m->cupti, cuptiProfilerHostGetConfigImageSize, &size);
    if (why) return why;
    m->config_bytes = size.configImageSize;
    m->config = heap_zeroed(1, m->config_bytes);
    CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, image, .pHostObject = m->host,
                 .configImageSize = m->config_bytes, .pConfigImage = m->config);
    if ((why = CUPTI_CALL(m->cupti, cuptiProfilerHostGetConfigImage, &image))) return why;
    CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes, .configImageSize = m->config_bytes,
                 .pConfigImage = m->config);
    why = CUPTI_CALL(m->cupti, cuptiProfilerHostGetNumOfPasses, &passes);
    m->n_passes = (int)passes.numOfPasses;
    return why;
}

const char *metrics_open(struct metrics *m, const struct cupti *cupti, CUpti_ProfilerType type,
                         const char *chip, const uint8_t *availability, const char *const *names,
                         int n) {
    *m = (struct metrics){
        .cupti = cupti, .n = n, .name = heap_zeroed((size_t)n + 1, sizeof *m->name)};
    memcpy(m->name, names, (size_t)n * sizeof *names);
    const char *why = host_open(m, type, chip, availability);
    if (!why && n) why = add_all(m, type, chip, availability);
    if (!why && n) why = config_image(m);
    if (why) metrics_close(m);
    return why;
}

const char *metrics_evaluate(const struct metrics *m, const uint8_t *image, size_t image_bytes,
                             int range, double *values) {
    CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate, .pHostObject = m->host,
                 .pCounterDataImage = image, .counterDataImageSize = image_bytes,
                 .rangeIndex = (size_t)range, .ppMetricNames = m->name, .numMetrics = (size_t)m->n,
                 .pMetricValues = values);
    return CUPTI_CALL(m->cupti, cuptiProfilerHostEvaluateToGpuValues, &evaluate);
}

void metrics_close(struct metrics *m) {
    if (m->cupti) host_close(m);
    free(m->config);
    free(m->name);
    *m = (struct metrics){0};
}
