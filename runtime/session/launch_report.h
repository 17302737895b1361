/* What is printed and recorded of a kernel's launches: rows of the table, rows of the CSV, objects of the record.
 *
 *   launches 1, 2 and 3 were counted alike   one row, "1-3, each" (CSV: "1-3")
 *   two launches or more                     a last row sums all of them up
 *   more rows than LAUNCH_REPORT_ROWS        left out, unless each launch is asked for; the sum has them */
#pragma once

#include "session.h"

#include "common/base/table.h"
#include "common/device/counter.h"

#include <jansson.h>

enum { LAUNCH_REPORT_ROWS = 8, LAUNCH_REPORT_CSV = 11 };

/* The unit of instructions that are those of PTX, not of machine code. */
#define LAUNCH_REPORT_PTX "PTX warp inst"

/* "256", "16x8", "4x4x4" */
const char *launch_report_extent(const unsigned n[3], char out[32]);
/* The kernel's name, at most 60 characters. */
const char *launch_report_name(const struct kernel *k, char out[128]);
/* Was machine code counted in all launches, or on a GPU? */
bool launch_report_is_sass(const struct kernel *k);

void launch_report_open(struct table *t);
void launch_report_add(struct table *t, const struct kernel *k, bool every);

void launch_report_csv_open(struct table *t);
void launch_report_csv(struct table *t, const struct kernel *k);
/* A value of the launches at `place` (kernel, launch, grid, block, shared); `why` not "": there is none. */
void launch_report_csv_value(struct table *t, const char *const place[5], const char *group,
                             const char *name, double value, const char *unit, const char *source,
                             const char *why);

/* "long_scoreboard 7.41, barrier 0.52": the three largest, without those of at most a hundredth of the sum. */
void launch_report_stalls(const struct counters *c, char *out, size_t bytes);

/* Launch n of the kernel, from 0. A prediction stands at its first launch; others name that launch. */
json_t *launch_report_record(const struct kernel *k, int n);
