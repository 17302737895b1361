#include "range.h"

#include "reason.h"

#include <stdlib.h>

const char *range_availability(const struct cupti *cupti, CUcontext context, uint8_t **image) {
    CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, get, .ctx = context);
    *image = NULL;
    const char *why = CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, &get);
    if (why) return why;
    *image = get.pCounterAvailabilityImage = calloc(1, get.counterAvailabilityImageSize);
    if (!*image) return "no memory for a counter availability image";
    why = CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, &get);
    if (why) {
        free(*image);
        *image = NULL;
    }
    return why;
}

const char *range_permission(const struct cupti *cupti, CUcontext context) {
    CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerEnable, &enable);
    if (why) return why;
    CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable,
                 .pRangeProfilerObject = enable.pRangeProfilerObject);
    return CUPTI_CALL(cupti, cuptiRangeProfilerDisable, &disable);
}

struct session {
    const struct metrics *m;
    CUpti_RangeProfiler_Object *profiler;
    uint8_t *image; /* where decoded counters go */
    size_t image_bytes;
    bool marks; /* a range lies between two marks; else each kernel is one */
};

static const char *make_image(struct session *s) {
    const struct cupti *cupti = s->m->cupti;
    CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size, .pRangeProfilerObject = s->profiler,
                 .pMetricNames = s->m->name, .numMetrics = (size_t)s->m->n, .maxNumOfRanges = 1,
                 .maxNumRangeTreeNodes = 1);
    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerGetCounterDataSize, &size);
    if (why) return why;
    s->image_bytes = size.counterDataSize;
    s->image = calloc(1, s->image_bytes);
    if (!s->image) return "no memory for a counter image";
    CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, initialize,
                 .pRangeProfilerObject = s->profiler, .counterDataSize = s->image_bytes,
                 .pCounterData = s->image);
    return CUPTI_CALL(cupti, cuptiRangeProfilerCounterDataImageInitialize, &initialize);
}

static const char *configure(struct session *s) {
    CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, set, .pRangeProfilerObject = s->profiler,
                 .configSize = s->m->config_bytes, .pConfig = s->m->config,
                 .counterDataImageSize = s->image_bytes, .pCounterDataImage = s->image,
                 .range = s->marks ? CUPTI_UserRange : CUPTI_AutoRange,
                 .replayMode = CUPTI_UserReplay, .maxRangesPerPass = 1, .numNestingLevels = 1,
                 .minNestingLevel = 1, .targetNestingLevel = 1);
    return CUPTI_CALL(s->m->cupti, cuptiRangeProfilerSetConfig, &set);
}

/* One pass. */
static const char *pass(struct session *s, const char *name, range_body *body, void *arg,
                        bool *last) {
    const struct cupti *cupti = s->m->cupti;
    CUPTI_PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = s->profiler);
    CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, push, .pRangeProfilerObject = s->profiler,
                 .pRangeName = name);
    CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, pop, .pRangeProfilerObject = s->profiler);
    CUPTI_PARAMS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = s->profiler);

    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerStart, &start);
    if (why) return why;
    if (s->marks) why = CUPTI_CALL(cupti, cuptiRangeProfilerPushRange, &push);
    const char *failed = why ? NULL : body(arg);
    if (!why && s->marks) why = CUPTI_CALL(cupti, cuptiRangeProfilerPopRange, &pop);
    const char *stopped = CUPTI_CALL(cupti, cuptiRangeProfilerStop, &stop);
    *last = stop.isAllPassSubmitted;
    return failed ? failed : why ? why : stopped;
}

static const char *all_passes(struct session *s, const char *name, range_body *body, void *arg) {
    bool last = false;
    const char *why = NULL;
    for (int i = 0; !why && !last; i++) {
        if (i == s->m->n_passes + 1)
            return reason("counters are incomplete: %d passes were planned and %d did not suffice",
                          s->m->n_passes, i);
        why = pass(s, name, body, arg, &last);
    }
    if (why) return why;
    CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, decode, .pRangeProfilerObject = s->profiler);
    why = CUPTI_CALL(s->m->cupti, cuptiRangeProfilerDecodeData, &decode);
    if (!why && decode.numOfRangeDropped)
        why = reason("counters are incomplete: CUPTI dropped %zu ranges", decode.numOfRangeDropped);
    return why;
}

static const char *check_image(struct session *s) {
    CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info, .pCounterDataImage = s->image,
                 .counterDataImageSize = s->image_bytes);
    const char *why = CUPTI_CALL(s->m->cupti, cuptiRangeProfilerGetCounterDataInfo, &info);
    if (!why && info.numTotalRanges != 1)
        why = reason("counters are incomplete: %zu ranges came back instead of 1",
                     info.numTotalRanges);
    return why;
}

static const char *collect(const struct metrics *m, CUcontext context, const char *name,
                           range_body *body, void *arg, bool marks, double *values) {
    struct session s = {.m = m, .marks = marks};
    CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
    const char *why = CUPTI_CALL(m->cupti, cuptiRangeProfilerEnable, &enable);
    if (why) return why;
    s.profiler = enable.pRangeProfilerObject;
    if ((why = make_image(&s))) goto done;
    if ((why = configure(&s))) goto done;
    if ((why = all_passes(&s, name, body, arg))) goto done;
    if ((why = check_image(&s))) goto done;
    why = metrics_evaluate(m, s.image, s.image_bytes, 0, values);
done:;
    CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = s.profiler);
    const char *disabled = CUPTI_CALL(m->cupti, cuptiRangeProfilerDisable, &disable);
    free(s.image);
    return why ? why : disabled;
}

/* The first automatic range after one with marks cannot be decoded (code 999, seen with CUPTI 13.0
 * on an H200); the second can. */
const char *range_collect(const struct metrics *m, CUcontext context, const char *name,
                          range_body *body, void *arg, int n_launches, double *values) {
    static bool had_marks;
    const bool marks = n_launches > 1;
    const char *why = collect(m, context, name, body, arg, marks, values);
    if (why && had_marks && !marks) why = collect(m, context, name, body, arg, marks, values);
    had_marks = marks;
    return why;
}
