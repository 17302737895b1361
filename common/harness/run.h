/* What a stage program does: one problem (check, time, count), or many (sweep, repeats). Both
 * print what they find and return what the program exits with. */
#pragma once

#include "options.h"
#include "common/base/reason.h"
#include "record.h"

/* Check, then time, then count; then print, and append the record. *gates_failed: some gate
 * says FAIL. */
enum status run_one(const struct options *o, int argc, char **argv, bool *gates_failed);

/* --repeat-check: so many runs of one problem, bitwise equal. */
enum status run_repeats(const struct options *o, int argc, char **argv);

/* --turns: a time for each line on stdin, for who times two programs in turns. */
enum status run_turns(const struct options *o);

/* Appends the record to --json, if that was given, and lets go of it. */
enum status run_record(const struct options *o, json_t *record);

/* --explain: what the stage considers, and expects. */
enum status run_explain(const struct options *o);

/* --source: the kernel's text with what each line did (profiler/attribution.h), on stdout
 * and as "hot" of a record. */
enum status run_source(const struct options *o, int argc, char **argv);

/* --whatif: predictions with one limit after the other taken away (whatif.h), on stdout. */
enum status run_whatif(const struct options *o);

/* --timeline: what the GPU did every 2 us (profiler/timeline.h), into a file. */
enum status run_timeline(const struct options *o);

/* --watch-page: what the warps of a block do, as a page for a browser (watch/watch.h). */
enum status run_watch(const struct options *o);

/* The device of the options; refuses a GPU if they ask for what only the emulator does. */
const char *run_device(const struct options *o, struct device **out);

/* One line on stderr, "stage-1: why"; returns its status, or `otherwise` if it carries none. */
enum status run_failed(const char *why, enum status otherwise);
