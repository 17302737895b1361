/* Where warps are and what they wait for: in each SM a sampler notes, every so many cycles, the
 * instruction that one of its warps is at and why it does not issue (CUPTI's PC sampling). A pass of
 * its own: nothing else is measured while it runs.
 *
 *   stalls_begin - stalls_run - stalls_end - stalls_free */
#pragma once

#include "common/device/source.h"
#include "place.h"
#include "range.h"

/* What the reasons are called here, as source.reason. */
extern const char *const stalls_reason[SOURCE_REASONS];
int stalls_reasons(void);

/* The one that CUPTI calls "smsp__pcsamp_warps_issue_stalled_long_scoreboard"; -1: it is none of
 * these, or counts the same samples a second time. */
int stalls_reason_of(const char *cupti_name);

struct stalls_record {
    struct place at;
    double samples[SOURCE_REASONS];
};

struct stalls {
    int n;
    struct stalls_record *record;
    double samples, dropped; /* of all instructions; those that the hardware lost */
    unsigned every;          /* SM cycles from one sample to the next */
    struct stalls_sampler *sampler;
};

/* Whatever happens then, stalls_end() must follow. */
const char *stalls_begin(const struct cupti *cupti, CUcontext context, struct stalls *out);

/* Runs `body` n times; `cycles` is what one takes, roughly. */
const char *stalls_run(struct stalls *s, range_body *body, void *arg, int n, double cycles);

/* After this the records are there, until stalls_free(). */
const char *stalls_end(struct stalls *s);
void stalls_free(struct stalls *s);
