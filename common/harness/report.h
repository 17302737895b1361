/* Everything that one run of one stage on one problem found out, and its forms: one screen or a table
 * of all values for people, one JSON record (record.h) for programs. Every value carries its source. */
#pragma once

#include "advice.h"
#include "check.h"
#include "profiler/counters.h"
#include "gate.h"
#include "kernel_hash.h"
#include "options.h"
#include "record.h"
#include "stage.h"
#include "common/base/table.h"
#include "timing.h"
#include "tune.h"

enum { REPORT_WHY_BYTES = 256 };

struct report {
    const struct options *options;
    const struct device_info *device;
    struct attention problem;
    struct stage_plan plan;
    char kernel_hash[KERNEL_HASH_BYTES];
    struct device_kernel_info kernel[STAGE_MAX_LAUNCHES];
    bool checked, timed;
    struct check_result check;
    struct tuned tuned;
    struct timing timing;
    struct counters counters;
    struct gate gate[GATE_COUNT];
    struct advice advice[ADVICE_MAX];
    int n_advice;
    char no_time[REPORT_WHY_BYTES];     /* not timed: why; "" if not asked for */
    char no_counters[REPORT_WHY_BYTES]; /* not counted: why; "" if not asked for */
    bool interrupted;
};

/* To stdout: one screen (screen.h), or with --all every value in columns, or CSV;
 * main looks whether it got there (path_stdout). */
void report_print(const struct report *r);

/* The screen alone: what report_print() does without --all and --csv. */
void report_screen(const struct report *r, FILE *f);

/* What gates were judged by. */
struct gate_facts report_facts(const struct report *r);

/* The record (record.h), to be let go of by json_decref(). */
json_t *report_record(const struct report *r, int argc, char **argv);
