#include "sass.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sass_metric[SASS_N] = {
    [SASS_EXECUTED] = "smsp__sass_inst_executed",
    [SASS_THREADS] = "smsp__sass_thread_inst_executed_pred_on",
    [SASS_WAVEFRONTS] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    [SASS_WAVEFRONTS_IDEAL] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    [SASS_SECTORS] = "smsp__sass_sectors_mem_global",
    [SASS_SECTORS_IDEAL] = "smsp__sass_sectors_mem_global_ideal",
    [SASS_DIVERGENT] = "smsp__sass_branch_targets_threads_divergent",
    [SASS_LDG] = "smsp__sass_inst_executed_op_global_ld",
    [SASS_STG] = "smsp__sass_inst_executed_op_global_st",
    [SASS_KIND + SASS_LD] = "smsp__sass_inst_executed_op_shared_ld",
    [SASS_KIND + SASS_ST] = "smsp__sass_inst_executed_op_shared_st",
    [SASS_KIND + SASS_LDSM] = "smsp__sass_inst_executed_op_ldsm",
    [SASS_KIND + SASS_STSM] = "smsp__sass_inst_executed_op_shared_stsm",
    [SASS_KIND + SASS_LDGSTS] = "smsp__sass_inst_executed_op_ldgsts",
    [SASS_KIND + SASS_GMMA] = "smsp__sass_inst_executed_op_shared_gmma",
    [SASS_KIND + SASS_ATOM] = "smsp__sass_inst_executed_op_shared_atom",
};

const char *const sass_kind[SASS_KINDS] = {
    [SASS_LD] = "ld",         [SASS_ST] = "st",     [SASS_LDSM] = "ldsm", [SASS_STSM] = "stsm",
    [SASS_LDGSTS] = "ldgsts", [SASS_GMMA] = "gmma", [SASS_ATOM] = "atom",
};

/* Looked up in the chip's list: the call that asks for one metric wants a driver, the list does
 * not. */
const char *sass_metric_id(const struct cupti *cupti, const char *chip, const char *metric,
                           uint64_t *id) {
    CUPTI_PARAMS(CUpti_SassMetrics_GetNumOfMetrics, count, .pChipName = chip);
    const char *why = CUPTI_CALL(cupti, cuptiSassMetricsGetNumOfMetrics, &count);
    if (why) return why;
    CUpti_SassMetrics_MetricDetails *list = heap_zeroed(count.numOfMetrics + 1, sizeof *list);
    CUPTI_PARAMS(CUpti_SassMetrics_GetMetrics, get, .pChipName = chip,
                 .numOfMetrics = count.numOfMetrics, .pMetricsList = list);
    why = CUPTI_CALL(cupti, cuptiSassMetricsGetMetrics, &get);
    bool found = false;
    for (size_t i = 0; !why && !found && i < count.numOfMetrics; i++) {
        found = list[i].pMetricName && !strcmp(list[i].pMetricName, metric);
        if (found) *id = list[i].metricId;
    }
    free(list);
    return why || found ? why : reason("%s has no SASS metric %s", chip, metric);
}

/* id[i] = 0: not wanted, or this chip has no such metric. */
static const char *configure(const struct cupti *cupti, const char *chip, int device_index,
                             unsigned wanted, uint64_t id[SASS_N], unsigned *absent) {
    CUpti_SassMetrics_Config config[SASS_N];
    size_t n = 0;
    for (int i = 0; i < SASS_N; i++) {
        id[i] = 0;
        if (!(wanted >> i & 1)) continue;
        const char *why = sass_metric_id(cupti, chip, sass_metric[i], &id[i]);
        if (why) {
            *absent |= 1u << i;
            continue;
        }
        config[n++] = (CUpti_SassMetrics_Config){
            .metricId = id[i], .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
    if (!n) return reason("%s has none of the SASS metrics", chip);
    CUPTI_PARAMS(CUpti_SassMetricsSetConfig, set, .numOfMetricConfig = n, .pConfigs = config,
                 .deviceIndex = (uint32_t)device_index);
    return CUPTI_CALL(cupti, cuptiSassMetricsSetConfig, &set);
}

/* CUPTI makes one record for each instruction and metric, in which only that metric has a value. */
static void convert(const CUpti_SassMetrics_Data *data, size_t n_values, const uint64_t id[SASS_N],
                    struct sass_record *r) {
    snprintf(r->at.function, sizeof r->at.function, "%s", data->functionName);
    r->at.pc = data->pcOffset;
    r->kind = SASS_OTHER;
    for (size_t v = 0; v < n_values; v++) {
        const CUpti_SassMetrics_InstanceValue *value = &data->pInstanceValues[v];
        for (int k = 0; k < SASS_N; k++) {
            if (!id[k] || value->metricId != id[k]) continue;
            r->value[k] += (double)value->value;
            if (k >= SASS_KIND && value->value) r->kind = (enum sass_kind)(k - SASS_KIND);
        }
    }
}

/* One record for each instruction. */
static void merge(struct sass *s) {
    int n = 0;
    if (s->n) qsort(s->record, (size_t)s->n, sizeof *s->record, by_place);
    for (int i = 0; i < s->n; i++) {
        const struct sass_record *from = &s->record[i];
        if (n == 0 || by_place(&s->record[n - 1], from)) {
            s->record[n++] = *from;
            continue;
        }
        struct sass_record *into = &s->record[n - 1];
        if (from->kind != SASS_OTHER) into->kind = from->kind;
        for (int k = 0; k < SASS_N; k++) into->value[k] += from->value[k];
    }
    s->n = n;
}

static const char *fetch(const struct cupti *cupti, CUcontext context, const uint64_t id[SASS_N],
                         struct sass *out) {
    CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, get, .ctx = context);
    const char *why = CUPTI_CALL(cupti, cuptiSassMetricsGetDataProperties, &get);
    if (why) return why;
    const size_t n = get.numOfPatchedInstructionRecords, n_values = get.numOfInstances * SASS_N;
    CUpti_SassMetrics_Data *data = heap_zeroed(n + 1, sizeof *data);
    CUpti_SassMetrics_InstanceValue *values = heap_zeroed(n * n_values + 1, sizeof *values);
    out->record = heap_zeroed(n + 1, sizeof *out->record);
    for (size_t i = 0; i < n; i++) {
        data[i].structSize = sizeof *data;
        data[i].pInstanceValues = values + i * n_values;
    }
    CUPTI_PARAMS(CUpti_SassMetricsFlushData, flush, .ctx = context,
                 .numOfPatchedInstructionRecords = n, .numOfInstances = get.numOfInstances,
                 .pMetricsData = data);
    if ((why = CUPTI_CALL(cupti, cuptiSassMetricsFlushData, &flush))) goto done;
    for (size_t i = 0; i < n; i++) convert(&data[i], n_values, id, &out->record[i]);
    out->n = (int)n;
    merge(out);
done:
    free(values);
    free(data);
    return why;
}

/* Between a configuration and its end. */
static const char *collect(const struct cupti *cupti, CUcontext context, const uint64_t id[SASS_N],
                           range_body *body, void *arg, struct sass *out) {
    CUPTI_PARAMS(CUpti_SassMetricsEnable, enable, .ctx = context, .enableLazyPatching = 1);
    const char *why = CUPTI_CALL(cupti, cuptiSassMetricsEnable, &enable);
    if (why) return why;
    why = body(arg);
    if (!why) why = fetch(cupti, context, id, out); /* before disabling, or the records are lost */
    CUPTI_PARAMS(CUpti_SassMetricsDisable, disable, .ctx = context);
    const char *disabled = CUPTI_CALL(cupti, cuptiSassMetricsDisable, &disable);
    if (!why) why = disabled;
    if (!why && disable.numOfDroppedRecords)
        why = reason("counts by instruction are incomplete: CUPTI dropped %zu records",
                     disable.numOfDroppedRecords);
    return why;
}

/* CUPTI 13.0 refuses a second configuration in one process (code 8), and a second run under the
 * first has no records; without its end the process crashes when it exits. */
const char *sass_collect(const struct cupti *cupti, CUcontext context, int device_index,
                         const char *chip, unsigned wanted, range_body *body, void *arg,
                         struct sass *out) {
    static bool used;
    uint64_t id[SASS_N];
    *out = (struct sass){0};
    if (used) return "CUPTI counts by instruction only once in a process; start another";
    used = true;
    const char *why = configure(cupti, chip, device_index, wanted, id, &out->absent);
    if (why) return why;
    why = collect(cupti, context, id, body, arg, out);
    CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig, unset, .deviceIndex = (uint32_t)device_index);
    const char *forgotten = CUPTI_CALL(cupti, cuptiSassMetricsUnsetConfig, &unset);
    if (!why) why = forgotten;
    if (why) sass_free(out);
    return why;
}

void sass_free(struct sass *s) {
    free(s->record);
    *s = (struct sass){0};
}
