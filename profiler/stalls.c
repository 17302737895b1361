#include "stalls.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names are those of the predictor, where it has the reason too. */
static const struct {
    const char *cupti, *name;
} known[] = {
    {"selected", "selected"},
    {"not_selected", "not_selected"},
    {"wait", "wait"},
    {"long_scoreboard", "long_scoreboard"},
    {"short_scoreboard", "short_scoreboard"},
    {"math_pipe_throttle", "math_pipe"},
    {"mio_throttle", "mio_throttle"},
    {"lg_throttle", "lg_throttle"},
    {"barrier", "barrier"},
    {"branch_resolving", "branch"},
    {"dispatch_stall", "dispatch"},
    {"no_instructions", "no_instruction"},
    {"membar", "membar"},
    {"gmma", "gmma"},
    {"sleeping", "sleeping"},
    {"imc_miss", "imc"},
    {"tex_throttle", "tex_throttle"},
    {"drain", "drain"},
    {"warpgroup_arrive", "warpgroup_arrive"},
    {"misc", "misc"},
};
enum { N_KNOWN = sizeof known / sizeof *known };
_Static_assert(N_KNOWN <= (int)SOURCE_REASONS, "each reason has a place in a line");

const char *const stalls_reason[SOURCE_REASONS] = {"selected",
                                                   "not_selected",
                                                   "wait",
                                                   "long_scoreboard",
                                                   "short_scoreboard",
                                                   "math_pipe",
                                                   "mio_throttle",
                                                   "lg_throttle",
                                                   "barrier",
                                                   "branch",
                                                   "dispatch",
                                                   "no_instruction",
                                                   "membar",
                                                   "gmma",
                                                   "sleeping",
                                                   "imc",
                                                   "tex_throttle",
                                                   "drain",
                                                   "warpgroup_arrive",
                                                   "misc"};

int stalls_reasons(void) { return N_KNOWN; }

/* "..._not_issued" are those of the samples in which the scheduler issued nothing at all. */
int stalls_reason_of(const char *cupti_name) {
    static const char *const prefix[] = {"smsp__pcsamp_warps_issue_stalled_",
                                         "smsp__pcsamp_warp_stall_"};
    for (int p = 0; p < 2; p++) {
        size_t n = strlen(prefix[p]);
        if (strncmp(cupti_name, prefix[p], n)) continue;
        for (int i = 0; i < N_KNOWN; i++)
            if (!strcmp(cupti_name + n, known[i].cupti)) return i;
    }
    return -1;
}

/* ---- CUPTI's buffers ------------------------------------------------------------------------- */

enum { N_PCS = 16384, MAX_CUPTI_REASONS = 128 };

struct buffer {
    CUpti_PCSamplingData data;
    CUpti_PCSamplingPCData *pc;         /* [N_PCS] */
    CUpti_PCSamplingStallReason *stall; /* [N_PCS][n_reasons] */
};

struct stalls_sampler {
    const struct cupti *cupti;
    CUcontext context;
    size_t n_reasons;
    int reason_of[MAX_CUPTI_REASONS]; /* by CUPTI's index: ours, or -1 */
    struct buffer kept, fetched;      /* CUPTI's own; what is asked for */
};

static void buffer_open(struct buffer *b, size_t n_reasons) {
    b->pc = heap_zeroed(N_PCS, sizeof *b->pc);
    b->stall = heap_zeroed(N_PCS * n_reasons, sizeof *b->stall);
    for (size_t i = 0; i < N_PCS; i++) {
        b->pc[i].size = sizeof *b->pc;
        b->pc[i].stallReason = b->stall + i * n_reasons;
    }
    b->data =
        (CUpti_PCSamplingData){.size = sizeof b->data, .collectNumPcs = N_PCS, .pPcData = b->pc};
}

static void buffer_close(struct buffer *b) {
    free(b->pc);
    free(b->stall);
}

/* CUPTI's strings for a function are one string: none is freed. */
static void absorb(struct stalls *s, struct buffer *b) {
    const size_t n = b->data.totalNumPcs < N_PCS ? b->data.totalNumPcs : N_PCS;
    s->record = heap_grown(s->record, ((size_t)s->n + n + 1) * sizeof *s->record);
    for (size_t i = 0; i < n; i++) {
        struct stalls_record *r = &s->record[s->n++];
        *r = (struct stalls_record){.at.pc = (uint32_t)b->pc[i].pcOffset};
        snprintf(r->at.function, sizeof r->at.function, "%s",
                 b->pc[i].functionName ? b->pc[i].functionName : "");
        for (size_t k = 0; k < b->pc[i].stallReasonCount; k++) {
            const CUpti_PCSamplingStallReason *of = &b->pc[i].stallReason[k];
            int ours = of->pcSamplingStallReasonIndex < MAX_CUPTI_REASONS
                           ? s->sampler->reason_of[of->pcSamplingStallReasonIndex]
                           : -1;
            if (ours < 0) continue;
            r->samples[ours] += of->samples;
            s->samples += of->samples;
        }
    }
    s->dropped += (double)b->data.droppedSamples;
}

/* ---- Begin, run, end --------------------------------------------------------------------------- */

/* CUPTI 13's calls take a struct with its size, like the others under another name. */
#define SAMPLING_CALL(c, function, params_type, ...)                                               \
    refusal((c)->function(&(params_type){.size = params_type##Size, ##__VA_ARGS__}), #function)

static const char *ask_reasons(struct stalls_sampler *m) {
    const struct cupti *c = m->cupti;
    size_t n = 0;
    const char *why = SAMPLING_CALL(c, cuptiPCSamplingGetNumStallReasons,
                                    CUpti_PCSamplingGetNumStallReasonsParams, .ctx = m->context,
                                    .numStallReasons = &n);
    if (why) return why;
    uint32_t *index = heap_zeroed(n + 1, sizeof *index);
    char **name = heap_zeroed(n + 1, sizeof *name),
         *text = heap_zeroed(n + 1, CUPTI_STALL_REASON_STRING_SIZE);
    for (size_t i = 0; i < n; i++) name[i] = text + i * CUPTI_STALL_REASON_STRING_SIZE;
    why = SAMPLING_CALL(c, cuptiPCSamplingGetStallReasons, CUpti_PCSamplingGetStallReasonsParams,
                        .ctx = m->context, .numStallReasons = n, .stallReasonIndex = index,
                        .stallReasons = name);
    for (int i = 0; i < MAX_CUPTI_REASONS; i++) m->reason_of[i] = -1;
    for (size_t i = 0; !why && i < n; i++) {
        if (index[i] < MAX_CUPTI_REASONS) m->reason_of[index[i]] = stalls_reason_of(name[i]);
    }
    m->n_reasons = n;
    free(text);
    free(name);
    free(index);
    return why;
}

const char *stalls_begin(const struct cupti *cupti, CUcontext context, struct stalls *out) {
    struct stalls_sampler *m = heap_zeroed(1, sizeof *m);
    *out = (struct stalls){.sampler = m};
    m->cupti = cupti;
    m->context = context;
    const char *why =
        SAMPLING_CALL(cupti, cuptiPCSamplingEnable, CUpti_PCSamplingEnableParams, .ctx = context);
    if (why) {
        m->context = NULL; /* nothing to end */
        return why;
    }
    if ((why = ask_reasons(m))) return why;
    buffer_open(&m->kept, m->n_reasons);
    buffer_open(&m->fetched, m->n_reasons);
    return NULL;
}

static const char *configure(struct stalls *s, uint32_t period) {
    struct stalls_sampler *m = s->sampler;
    CUpti_PCSamplingConfigurationInfo info[] = {
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
         .attributeData.collectionModeData.collectionMode =
             CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL,
         .attributeData.enableStartStopControlData.enableStartStopControl = 1},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT,
         .attributeData.outputDataFormatData.outputDataFormat =
             CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
         .attributeData.samplingPeriodData.samplingPeriod = period},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
         .attributeData.samplingDataBufferData.samplingDataBuffer = &m->kept.data},
    };
    s->every = 1u << period;
    return SAMPLING_CALL(m->cupti, cuptiPCSamplingSetConfigurationAttribute,
                         CUpti_PCSamplingConfigurationInfoParams, .ctx = m->context,
                         .numAttributes = sizeof info / sizeof *info,
                         .pPCSamplingConfigurationInfo = info);
}

static const char *fetch(struct stalls *s) {
    enum { MOST = 1000 };
    struct stalls_sampler *m = s->sampler;
    for (int i = 0; i < MOST; i++) {
        m->fetched.data.totalNumPcs = 0;
        const char *why =
            SAMPLING_CALL(m->cupti, cuptiPCSamplingGetData, CUpti_PCSamplingGetDataParams,
                          .ctx = m->context, .pcSamplingData = &m->fetched.data);
        if (m->fetched.data.hardwareBufferFull)
            return "the hardware's buffer for samples ran over; take a smaller problem";
        if (why) return why;
        const size_t n = m->fetched.data.totalNumPcs;
        absorb(s, &m->fetched);
        if (!n && !m->fetched.data.remainingNumPcs) break;
    }
    return NULL;
}

/* About 2000 samples of each SM, if `n` runs give as many at the shortest period: at 64 cycles an H200
 * lost a sixth of them, at 128 none. */
const char *stalls_run(struct stalls *s, range_body *body, void *arg, int n, double cycles) {
    enum { SHORTEST = 7, LONGEST = 31, WANTED = 2000 }; /* powers of two */
    struct stalls_sampler *m = s->sampler;
    uint32_t period = SHORTEST;
    while (period < LONGEST && cycles * n / (double)(1u << (period + 1)) > WANTED) period++;
    const char *why = configure(s, period);
    if (!why)
        why = SAMPLING_CALL(m->cupti, cuptiPCSamplingStart, CUpti_PCSamplingStartParams,
                            .ctx = m->context);
    if (why) return why;
    for (int i = 0; !why && i < n; i++) why = body(arg);
    const char *stopped =
        SAMPLING_CALL(m->cupti, cuptiPCSamplingStop, CUpti_PCSamplingStopParams, .ctx = m->context);
    if (!why) why = stopped;
    return why ? why : fetch(s);
}

/* One record for each instruction. */
static void merge(struct stalls *s) {
    int n = 0;
    if (s->n) qsort(s->record, (size_t)s->n, sizeof *s->record, by_place);
    for (int i = 0; i < s->n; i++) {
        const struct stalls_record *from = &s->record[i];
        if (n && !by_place(&s->record[n - 1], from))
            for (int k = 0; k < SOURCE_REASONS; k++)
                s->record[n - 1].samples[k] += from->samples[k];
        else
            s->record[n++] = *from;
    }
    s->n = n;
}

const char *stalls_end(struct stalls *s) {
    struct stalls_sampler *m = s->sampler;
    const char *why = NULL;
    if (m && m->context)
        why = SAMPLING_CALL(m->cupti, cuptiPCSamplingDisable, CUpti_PCSamplingDisableParams,
                            .ctx = m->context);
    if (m) {
        buffer_close(&m->kept);
        buffer_close(&m->fetched);
        free(m);
    }
    s->sampler = NULL;
    merge(s);
    return why;
}

void stalls_free(struct stalls *s) {
    free(s->record);
    *s = (struct stalls){0};
}
