#include "range.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

const char *range_availability(const struct cupti *cupti, CUcontext context,
                               const uint8_t **image) {
    static uint8_t *known;
    static CUcontext of;
    *image = known;
    if (known && of == context) return NULL;
    *image = NULL;
    free(known);
    known = NULL;
    CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, get, .ctx = context);
    const char *why = CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, &get);
    if (why) return why;
    uint8_t *bytes = heap_zeroed(1, get.counterAvailabilityImageSize);
    get.pCounterAvailabilityImage = bytes;
    why = CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, &get);
    if (why) {
        free(bytes);
        return why;
    }
    of = context;
    *image = known = bytes;
    return NULL;
}

const char *range_permission(const struct cupti *cupti, CUcontext context) {
    CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerEnable, &enable);
    if (why) return why;
    CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable,
                 .pRangeProfilerObject = enable.pRangeProfilerObject);
    return CUPTI_CALL(cupti, cuptiRangeProfilerDisable, &disable);
}

struct range_session {
    const struct metrics *m;
    CUpti_RangeProfiler_Object *profiler;
    uint8_t *image; /* where decoded counters go */
    size_t image_bytes;
    int n_launches, n_runs; /* a pass runs the body n_runs times: so many ranges each */
    CUpti_ProfilerReplayMode replay;
};

static int ranges(const struct range_session *s) { return s->n_launches * s->n_runs; }

static const char *make_image(struct range_session *s) {
    const struct cupti *cupti = s->m->cupti;
    CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size, .pRangeProfilerObject = s->profiler,
                 .pMetricNames = s->m->name, .numMetrics = (size_t)s->m->n,
                 .maxNumOfRanges = (size_t)ranges(s), .maxNumRangeTreeNodes = (uint32_t)ranges(s));
    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerGetCounterDataSize, &size);
    if (why) return why;
    s->image_bytes = size.counterDataSize;
    s->image = heap_zeroed(1, s->image_bytes);
    return NULL;
}

static const char *clear_image(struct range_session *s) {
    const struct cupti *cupti = s->m->cupti;
    memset(s->image, 0, s->image_bytes);
    CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, initialize,
                 .pRangeProfilerObject = s->profiler, .counterDataSize = s->image_bytes,
                 .pCounterData = s->image);
    return CUPTI_CALL(cupti, cuptiRangeProfilerCounterDataImageInitialize, &initialize);
}

static const char *configure(struct range_session *s) {
    CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, set, .pRangeProfilerObject = s->profiler,
                 .configSize = s->m->config_bytes, .pConfig = s->m->config,
                 .counterDataImageSize = s->image_bytes, .pCounterDataImage = s->image,
                 .range = CUPTI_AutoRange, .replayMode = s->replay,
                 .maxRangesPerPass = (size_t)ranges(s), .numNestingLevels = 1, .minNestingLevel = 1,
                 .targetNestingLevel = 1);
    return CUPTI_CALL(s->m->cupti, cuptiRangeProfilerSetConfig, &set);
}

static const char *pass(struct range_session *s, range_body *body, void *arg, bool *last) {
    const struct cupti *cupti = s->m->cupti;
    CUPTI_PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = s->profiler);
    CUPTI_PARAMS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = s->profiler);
    const char *why = CUPTI_CALL(cupti, cuptiRangeProfilerStart, &start);
    if (why) return why;
    for (int i = 0; i < s->n_runs && !why; i++) why = body(arg);
    const char *stopped = CUPTI_CALL(cupti, cuptiRangeProfilerStop, &stop);
    *last = stop.isAllPassSubmitted;
    return why ? why : stopped;
}

static const char *decode_image(const struct range_session *s) {
    CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, decode, .pRangeProfilerObject = s->profiler);
    const char *why = CUPTI_CALL(s->m->cupti, cuptiRangeProfilerDecodeData, &decode);
    if (!why && decode.numOfRangeDropped)
        why = reason("counters are incomplete: CUPTI dropped %zu ranges", decode.numOfRangeDropped);
    return why;
}

static const char *all_passes(struct range_session *s, range_body *body, void *arg) {
    bool last = false;
    const char *why = NULL;
    for (int i = 0; !why && !last; i++) {
        if (i == s->m->n_passes + 1)
            return reason("counters are incomplete: %d passes were planned and %d did not suffice",
                          s->m->n_passes, i);
        why = pass(s, body, arg, &last);
    }
    return why ? why : decode_image(s);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n values that stand `stride` apart. */
static double median(const double *x, int n, int stride) {
    double *sorted = heap_zeroed((size_t)n, sizeof *sorted);
    for (int i = 0; i < n; i++) sorted[i] = x[(size_t)i * (size_t)stride];
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    double m = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return m;
}

static const char *evaluate(const struct range_session *s, double *values) {
    CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info, .pCounterDataImage = s->image,
                 .counterDataImageSize = s->image_bytes);
    const char *why = CUPTI_CALL(s->m->cupti, cuptiRangeProfilerGetCounterDataInfo, &info);
    if (!why && info.numTotalRanges != (size_t)ranges(s))
        why = reason("counters are incomplete: %zu ranges came back instead of %d",
                     info.numTotalRanges, ranges(s));
    double *all = heap_zeroed((size_t)ranges(s) * (size_t)s->m->n, sizeof *all);
    for (int i = 0; i < ranges(s) && !why; i++)
        why = metrics_evaluate(s->m, s->image, s->image_bytes, i, all + i * s->m->n);
    for (int i = 0; i < s->n_launches * s->m->n && !why; i++)
        values[i] = median(all + i, s->n_runs, s->n_launches * s->m->n);
    free(all);
    return why;
}

const char *range_collect(const struct metrics *m, CUcontext context, range_body *body, void *arg,
                          int n_launches, int n_runs, double *values) {
    struct range_session s = {
        .m = m, .n_launches = n_launches, .n_runs = n_runs, .replay = CUPTI_UserReplay};
    CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
    const char *why = CUPTI_CALL(m->cupti, cuptiRangeProfilerEnable, &enable);
    if (why) return why;
    s.profiler = enable.pRangeProfilerObject;
    if ((why = make_image(&s))) goto done;
    if ((why = clear_image(&s))) goto done;
    if ((why = configure(&s))) goto done;
    if ((why = all_passes(&s, body, arg))) goto done;
    why = evaluate(&s, values);
done:;
    CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = s.profiler);
    const char *disabled = CUPTI_CALL(m->cupti, cuptiRangeProfilerDisable, &disable);
    free(s.image);
    return why ? why : disabled;
}

/* ---- Launch by launch -------------------------------------------------------------------------- */

struct range_replay {
    struct range_session s;
};

const char *range_replay_open(const struct metrics *m, CUcontext context,
                              struct range_replay **out) {
    struct range_replay *r = *out = heap_zeroed(1, sizeof *r);
    r->s =
        (struct range_session){.m = m, .n_launches = 1, .n_runs = 1, .replay = CUPTI_KernelReplay};
    CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
    const char *why = CUPTI_CALL(m->cupti, cuptiRangeProfilerEnable, &enable);
    if (!why) {
        r->s.profiler = enable.pRangeProfilerObject;
        why = make_image(&r->s);
    }
    if (!why) return NULL;
    range_replay_close(r);
    *out = NULL;
    return why;
}

const char *range_replay_begin(struct range_replay *r) {
    CUPTI_PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = r->s.profiler);
    const char *why = clear_image(&r->s);
    if (!why) why = configure(&r->s);
    return why ? why : CUPTI_CALL(r->s.m->cupti, cuptiRangeProfilerStart, &start);
}

const char *range_replay_end(struct range_replay *r, double *values) {
    CUPTI_PARAMS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = r->s.profiler);
    const char *why = CUPTI_CALL(r->s.m->cupti, cuptiRangeProfilerStop, &stop);
    if (!why && !stop.isAllPassSubmitted)
        why = reason("counters are incomplete: not all of %d passes were made", r->s.m->n_passes);
    if (!why) why = decode_image(&r->s);
    return why ? why : evaluate(&r->s, values);
}

void range_replay_close(struct range_replay *r) {
    if (!r) return;
    CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = r->s.profiler);
    if (r->s.profiler) r->s.m->cupti->cuptiRangeProfilerDisable(&disable);
    free(r->s.image);
    free(r);
}
