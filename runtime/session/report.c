/* What is printed and recorded when the program ends. */
#include "session.h"

#include "compiled.h"
#include "predictions.h"
#include "gpu.h"
#include "launch_report.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/table.h"
#include "common/device/emu_counters.h"
#include "common/harness/record.h"
#include "common/harness/screen/summary.h"
#include "emulator/core/failed_check.h"
#include "profiler/attribution.h"
#include "profiler/counters.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table of launches -------------------------------------------------------------------- */

/* Is it to be printed? */
static bool wanted(const struct session *s, const struct kernel *k) {
    return k->n_launches > 0 && settings_means(&s->settings, k->shown);
}

/* Nothing is to be printed, since options leave everything out: that, on stderr. */
static bool say_nothing_wanted(const struct session *s) {
    char name[128];
    if (s->n_launches + s->n_unchosen == 0) return false;
    for (const struct kernel *k = s->kernels; k; k = k->next)
        if (wanted(s, k)) return false;
    if (s->n_numbered) {
        session_say("no launch is left by --launch-skip %d: there were %d", s->settings.launch_skip,
                    s->n_numbered);
        return true;
    }
    if (!s->settings.kernel_name) return false;
    fprintf(stderr, "run: --kernel-name %.64s matches no kernel; there are:\n",
            s->settings.kernel_name);
    for (const struct kernel *k = s->kernels; k; k = k->next)
        fprintf(stderr, "    %s\n", launch_report_name(k, name));
    return true;
}

static void print_launches(const struct session *s) {
    struct table t;
    launch_report_open(&t);
    for (const struct kernel *k = s->kernels; k; k = k->next)
        if (wanted(s, k)) launch_report_add(&t, k, s->settings.every_launch);
    table_print(&t, stdout);
    table_close(&t);
}

/* ---- Predictions ------------------------------------------------------------------------------ */

static const struct counter *named(const struct counters *c, const char *name) {
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->counter[i].name, name)) return &c->counter[i];
    return NULL;
}

static void add_prediction(struct table *t, const char *kernel, const struct kernel *k, int number,
                           const struct counters *c) {
    static const char *const names[] = {"cycles_elapsed", "duration_us", "tensor_active_pct",
                                        "issue_active_pct", "occupancy_achieved_pct"};
    const struct prediction_shape *shape = prediction_shape(k, number);
    char grid[32], block[32], value[5][32], launches[48], stalls[512];
    int first = 0, n = predictions_launches(k, number);
    while (first < k->n_launches && k->launch[first].predicted != number) first++;
    snprintf(launches, sizeof launches, n > 1 ? "%d, %d like it" : "%d", first + 1, n - 1);
    for (int v = 0; v < 5; v++) {
        const struct counter *x = named(c, names[v]);
        snprintf(value[v], 32, v ? "%.4g" : "%.0f", x ? x->value : 0);
    }
    launch_report_stalls(c, stalls, sizeof stalls);
    table_row(t, (const char *[]){kernel, launches, launch_report_extent(shape->grid, grid),
                                  launch_report_extent(shape->block, block), value[0], value[1],
                                  value[2], value[3], value[4], stalls});
}

/* A line for each reason that `why` knows, with the kernels that it holds for; `holds_for` of some launches only. */
static void print_reasons(const struct session *s, FILE *f, const char *what,
                          const char *(*why)(const struct kernel *k),
                          bool (*holds_for_all)(const struct kernel *k)) {
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        const char *mine = k->n_launches ? why(k) : NULL;
        const struct kernel *other = s->kernels;
        while (mine && other != k && !(why(other) && !strcmp(why(other), mine)))
            other = other->next;
        if (!mine || other != k) continue; /* said already */
        fprintf(f, "%s: ", what);
        for (; other; other = other->next)
            if (why(other) && !strcmp(why(other), mine))
                fprintf(f, "%s%s%s", other == k ? "" : ", ", other->shown,
                        holds_for_all(other) ? "" : " (some launches)");
        fprintf(f, ": %s\n", mine);
    }
}

static bool none_predicted(const struct kernel *k) {
    struct counters any = {0};
    const bool none = predictions_values(k, -1, &any) != NULL;
    counters_free(&any);
    return none;
}

static bool all_ptx(const struct kernel *k) {
    for (int n = 0; n < k->n_launches; n++)
        if (!k->launch[n].of_ptx) return false;
    return true;
}

static void print_missing(const struct session *s, FILE *f) {
    if (!s->memory) return;
    if (!s->settings.emulator.count_ptx)
        print_reasons(s, f, "counted on PTX", compiled_lacks, all_ptx);
    if (!s->settings.no_predict)
        print_reasons(s, f, "not predicted", predictions_missing, none_predicted);
}

static void print_predictions(const struct session *s) {
    static const char *const heading[] = {
        "kernel", "launch",   "grid",    "block",       "cycles",
        "us",     "tensor %", "issue %", "occupancy %", "largest stalls (warps per issue)"};
    struct table t;
    int rows = 0;
    table_open(&t, 10, heading);
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        char name[128];
        const char *first = launch_report_name(k, name);
        int n = 0, left_out = 0;
        if (!wanted(s, k)) continue;
        for (int number = 0; k->n_launches && number < predictions_count(k); number++) {
            struct counters c;
            if (predictions_named(k, number, &c)) continue;
            const struct counter *cycles = named(&c, "cycles_elapsed"),
                                 *mhz = named(&c, "mean_clock_mhz");
            if (!rows++ && cycles && mhz)
                printf("\npredicted (%s) at %g MHz; %s\n", counter_source_name(cycles->source),
                       mhz->value, cycles->validated);
            if (n++ < LAUNCH_REPORT_ROWS || s->settings.every_launch)
                add_prediction(&t, first, k, number, &c);
            else
                left_out++;
            first = "";
            counters_free(&c);
        }
        if (left_out) {
            char more[64];
            snprintf(more, sizeof more, "%d more grids (--launches: each)", left_out);
            table_row(&t, (const char *[]){"", more, "", "", "", "", "", "", "", ""});
        }
    }
    if (rows) table_print(&t, stdout);
    table_close(&t);
    print_missing(s, stdout);
}

/* ---- Counter groups -------------------------------------------------------------------------- */

/* The unit says what was counted: PTX or, as on a GPU, machine code. Tensor instructions are the same in both. */
static void name_ptx(struct counter *c) {
    if (!strcmp(c->unit, "warp inst") && strcmp(c->group, "TENSOR") && strstr(c->metric, "emu."))
        snprintf(c->unit, sizeof c->unit, LAUNCH_REPORT_PTX);
}

/* Of all launches of a kernel; its occupancy is that of the last. */
static const char *collect(const struct session *s, const struct kernel *k, const char *groups,
                           struct counters *out) {
    struct counters raw, sass = {0}, predicted = {0};
    struct occupancy occupancy;
    if (k->gpu) return gpu_counters(s, k, groups, out);
    const struct launch *l = &k->launch[k->n_launches - 1];
    const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    const char *why = emu_counters_of(k->result, &s->info.chip, &raw);
    if (why) return why;
    const struct counters_known known = {
        .counted = &raw,
        .sass = &sass,
        .no_sass = compiled_values(k, &sass),
        .predicted = &predicted,
        .no_prediction = predictions_values(k, -1, &predicted),
        .occupancy = &occupancy,
        .no_occupancy = session_kernel_occupancy(s, k, threads, (int)l->shared_bytes, &occupancy)};
    why = counters_emulated(&known, threads, groups, out);
    counters_free(&predicted);
    counters_free(&sass);
    counters_free(&raw);
    for (int i = 0; !why && i < out->n; i++) name_ptx(&out->counter[i]);
    return why;
}

static const char *print_counters(const struct session *s) {
    static const char *const heading[] = {"kernel", "group", "name", "value", "unit", "source"};
    struct table t;
    const char *why = NULL;
    table_open(&t, 6, heading);
    for (const struct kernel *k = s->kernels; k && !why; k = k->next) {
        struct counters c;
        char name[128];
        if (!wanted(s, k) || (why = collect(s, k, s->settings.counters, &c))) continue;
        for (int i = 0; i < c.n; i++) {
            const struct counter *x = &c.counter[i];
            char value[300];
            if (*x->reason)
                snprintf(value, sizeof value, "n/a (%s)", x->reason);
            else
                snprintf(value, sizeof value, "%.6g", x->value);
            char source[256];
            snprintf(source, sizeof source, "%s%s%s", counter_source_name(x->source),
                     *x->validated ? "; " : "", x->validated);
            table_row(&t, (const char *[]){launch_report_name(k, name), x->group, x->name, value,
                                           *x->reason ? "" : x->unit, *x->reason ? "" : source});
        }
        counters_free(&c);
    }
    if (!why) table_print(&t, stdout);
    table_close(&t);
    return why;
}

/* ---- CSV: one table of all values, as a data frame has it -------------------------------------- */

static void csv_counters(struct table *t, const char *const place[5], const struct counters *c,
                         const char *group) {
    for (int i = 0; i < c->n; i++) {
        const struct counter *x = &c->counter[i];
        launch_report_csv_value(t, place, group ? group : x->group, x->name, x->value, x->unit,
                                counter_source_name(x->source), x->reason);
    }
}

static void csv_predictions(struct table *t, const struct kernel *k) {
    char which[32], grid[32], block[32], shared[32];
    for (int number = 0; number < predictions_count(k); number++) {
        const struct prediction_shape *shape = prediction_shape(k, number);
        struct counters c;
        int first = 0;
        if (predictions_named(k, number, &c)) continue;
        while (first < k->n_launches && k->launch[first].predicted != number) first++;
        snprintf(which, sizeof which, "%d", first + 1);
        snprintf(shared, sizeof shared, "%u", shape->shared_bytes + (unsigned)k->static_shared);
        csv_counters(t,
                     (const char *const[]){k->shown, which, launch_report_extent(shape->grid, grid),
                                           launch_report_extent(shape->block, block), shared},
                     &c, "predicted");
        counters_free(&c);
    }
}

static const char *print_csv(const struct session *s) {
    struct table t;
    const char *why = NULL;
    launch_report_csv_open(&t);
    for (const struct kernel *k = s->kernels; k && !why; k = k->next) {
        struct counters c;
        if (!wanted(s, k)) continue;
        launch_report_csv(&t, k);
        csv_predictions(&t, k);
        if (!s->settings.counters || (why = collect(s, k, s->settings.counters, &c))) continue;
        csv_counters(&t, (const char *const[]){k->shown, "all", "", "", ""}, &c, NULL);
        counters_free(&c);
    }
    FILE *f = settings_csv();
    const int failed = table_print_csv(&t, f);
    table_close(&t);
    if ((fflush(f) || failed) && !why) why = reason_as(STATUS_FILE, "stdout: %s", strerror(errno));
    print_missing(s, stderr);
    return why;
}

/* ---- The hottest kernel, on one screen ---------------------------------------------------------- */

/* By predicted time of its launches; where none is predicted, by what it executed. */
static const struct kernel *hottest(const struct session *s) {
    const struct kernel *most = NULL;
    double longest = -1;
    for (int predicted = 1; predicted >= 0 && !most; predicted--)
        for (const struct kernel *k = s->kernels; k; k = k->next) {
            struct counters c = {0};
            double work = -1;
            if (!wanted(s, k)) continue;
            if (!predicted) work = k->total.executed;
            if (predicted && !predictions_values(k, -1, &c)) {
                const struct counter *us = counters_find(&c, "duration_us");
                work = us ? us->value : -1;
            }
            counters_free(&c);
            if (work > longest) longest = work, most = k;
        }
    return most;
}

static bool has_failed(const struct kernel *k, const struct emu_result *r) {
    bool any = false;
    for (int n = 0; !k->gpu && r && n < emu_result_reports(r); n++)
        any |= emu_result_report_kind(r, n) != EMU_NOTE;
    return any;
}

/* ", of a, b and 2 more": the kernels with a failed check; "" if there is none but this one. */
static const char *failing(const struct session *s, const struct kernel *only) {
    enum { MOST = 3 };
    static char text[320];
    char name[128];
    int n = 0, n_others = 0;
    size_t at = 0;
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        if (!has_failed(k, k->result) && !has_failed(k, k->unchosen)) continue;
        n_others += k != only;
        if (n++ < MOST)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%.80s", n == 1 ? ", of " : ", ",
                                   launch_report_name(k, name));
    }
    if (n > MOST) snprintf(text + at, sizeof text - at, " and %d more", n - MOST);
    return n_others ? text : "";
}

static void print_screen(const struct session *s) {
    const struct kernel *k = hottest(s);
    struct screen screen;
    struct counters c;
    char name[128];
    if (!k || k->gpu) return;
    const char *why = collect(s, k, "TENSOR,SHARED,OCCUPANCY,CYCLES,STALL", &c);
    if (why) printf("\nThe hottest kernel: n/a: %s\n", why);
    if (why) return;
    putchar('\n');
    screen_open(&screen, stdout);
    screen_title(&screen, "The hottest kernel: %s, %d launch%s", launch_report_name(k, name),
                 k->n_launches, k->n_launches == 1 ? "" : "es");
    if (s->n_reports)
        screen_say(&screen, 0, SCREEN_BAD, "verdict", "WRONG: %d check%s of the emulator failed%s.",
                   s->n_reports, s->n_reports == 1 ? "" : "s", failing(s, k));
    else if (!s->settings.emulator.no_checks)
        screen_say(&screen, 0, SCREEN_GOOD, "verdict",
                   "CLEAN: the emulator found no race, no bad address and no uninitialised value.");
    summary_predicted(&screen, &c, &s->info.chip);
    screen_gap(&screen);
    summary_meters(&screen, &c, &s->info.chip);
    summary_stalls(&screen, &c);
    screen_gap(&screen);
    summary_missing(&screen, &c, "--counters");
    screen_say(&screen, 5, SCREEN_PLAIN, "more",
               "--source: its lines. --counters TENSOR,SHARED,STALL: every value.");
    screen_print(&screen, stdout);
    counters_free(&c);
}

static void print_source(const struct session *s) {
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        struct source source = {0};
        if (!k->n_launches || k->gpu) continue;
        printf("\n%s\n", k->shown);
        emu_source_of(k->result, &s->info.chip, s->info.chip.n_sms, &source);
        predictions_source(s, k, &source);
        const char *why = attribution_print(&source, 0, stdout);
        if (why) session_say("%s", why);
        source_free(&source);
    }
}

/* ---- The record ------------------------------------------------------------------------------ */

static json_t *kernel_record(const struct session *s, const struct kernel *k) {
    struct counters c;
    json_t *record =
        json_pack("{s:s, s:s, s:i, s:s}", "name", k->shown, "symbol", k->name, "static_shared",
                  k->static_shared, "counted", launch_report_is_sass(k) ? "sass" : "ptx");
    json_t *launches = json_array();
    if (!k->gpu && compiled_lacks(k))
        json_object_set_new(record, "no_sass", json_string(compiled_lacks(k)));
    if (k->n_registers >= 0) json_object_set_new(record, "registers", json_integer(k->n_registers));
    for (int n = 0; n < k->n_launches; n++)
        json_array_append_new(launches, launch_report_record(k, n));
    json_object_set_new(record, "launches", launches);
    int n_ran = 0;
    for (int n = 0; n < k->n_launches; n++) n_ran += k->launch[n].seconds > 0;
    if (!k->gpu && n_ran < k->n_launches) /* the others are like those */
        json_object_set_new(record, "counters_of_launches", json_integer(n_ran));
    const char *groups = s->settings.counters ? s->settings.counters : SESSION_GROUPS;
    const char *why = collect(s, k, groups, &c);
    if (why && reason_status(why, STATUS_RIGHT) == STATUS_DEVICE) heap_exhausted();
    if (why) {
        json_object_set_new(record, "no_counters", json_string(why));
    } else {
        json_object_set_new(record, "counters", record_counters(&c));
        counters_free(&c);
    }
    return record;
}

/* The words of the program that runs, from /proc/self/cmdline. */
static int command_line(char **argv, int most, char **text) {
    size_t bytes = 0;
    int n = 0;
    *text = path_read("/proc/self/cmdline", &bytes);
    for (size_t at = 0; *text && at < bytes && n < most; at += strlen(*text + at) + 1)
        argv[n++] = *text + at;
    return n;
}

static const char *append_record(struct session *s, int status) {
    char *argv[256], *text;
    int argc = command_line(argv, 256, &text);
    json_t *record = record_new(argc, argv), *kernels = json_array(), *reports = json_array();
    free(text);
    json_object_set_new(record, "device", record_device(&s->info, 0, 0));
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        if (k->n_launches) json_array_append_new(kernels, kernel_record(s, k));
        for (int r = 0; !k->gpu && r < emu_result_reports(k->result); r++)
            json_array_append_new(reports, json_string(emu_result_report(k->result, r)));
        for (int r = 0; k->unchosen && r < emu_result_reports(k->unchosen); r++)
            json_array_append_new(reports, json_string(emu_result_report(k->unchosen, r)));
    }
    json_object_set_new(record, "kernels", kernels);
    json_object_set_new(record, "launches", json_integer(s->n_launches));
    json_object_set_new(record, "reports", reports);
    const char *uncounted = session_lacks_counts() ? session_lacks_counts() : s->uncounted;
    if (uncounted) json_object_set_new(record, "no_counters", json_string(uncounted));
    if (s->settings.emulator.sample_blocks)
        json_object_set_new(record, "sample_blocks",
                            json_integer((json_int_t)s->settings.emulator.sample_blocks));
    if (s->settings.emulator.check_blocks)
        json_object_set_new(record, "check_blocks",
                            json_integer((json_int_t)s->settings.emulator.check_blocks));
    json_object_set_new(record, "exit", json_integer(status));
    json_object_set_new(record, "interrupted", json_boolean(interrupt_signal() != 0));
    const char *why = record_append(s->settings.json_path, record);
    json_decref(record);
    return why;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool left_nothing_out(const struct session *s) {
    const char *without = s->settings.emulator.without;
    if (!without || !strcmp(without, "list")) return false;
    for (const struct kernel *k = s->kernels; k; k = k->next)
        if (k->n_launches && !k->gpu && !emu_result_left_nothing_out(k->result)) return false;
    return s->n_launches > 0;
}

/* Nothing else says why there is no report. */
static bool launched_nothing(const struct session *s) {
    return !s->settings.kernel && !s->n_launches && !s->n_unchosen && !s->n_failed &&
           !s->n_refused && !s->n_reports && !s->is_alone && !s->uncounted &&
           !session_lacking_calls() && !session_lacks_counts() && !interrupt_signal();
}

/* "0.12 s in the emulator" */
static const char *where(const struct session *s) {
    static char text[96];
    if (s->memory)
        snprintf(text, sizeof text, "%.2f s in the emulator", s->seconds);
    else
        gpu_how(text, sizeof text);
    return text;
}

/* What ran, and what of it was left out. */
static void print_head(const struct session *s, FILE *f) {
    const struct settings *o = &s->settings;
    int n_kernels = 0;
    for (const struct kernel *k = s->kernels; k; k = k->next) n_kernels += k->n_launches > 0;
    fprintf(f, "\nrun: %s, %d kernel%s, %d launch%s, %s%s\n", s->info.name, n_kernels,
            n_kernels == 1 ? "" : "s", s->n_launches, s->n_launches == 1 ? "" : "es", where(s),
            interrupt_signal() ? ", interrupted" : "");
    if (s->n_skipped && !s->memory)
        fprintf(f, "%d launches were like earlier ones and were not counted (--repeats %d)\n",
                s->n_skipped, o->repeats);
    else if (s->n_skipped && o->repeats)
        fprintf(
            f,
            "%d launches were like earlier ones and were not run (--repeats %d); groups and lines "
            "are of those that ran\n",
            s->n_skipped, o->repeats);
    else if (s->n_skipped)
        fprintf(f,
                "%d launches were not run: nobody looked at what they would have changed "
                "(--repeats 0)\n",
                s->n_skipped);
    if (s->n_unchosen)
        fprintf(f, "%d launch%s ran and %s not counted (--launch-skip, --launch-count)\n",
                s->n_unchosen, s->n_unchosen == 1 ? "" : "es", s->n_unchosen == 1 ? "was" : "were");
    if (!s->memory) return;
    if (o->emulator.sample_blocks)
        fprintf(f,
                "of each launch %llu blocks at most ran and were counted (--sample-blocks), and no "
                "product of cuBLAS: what the program computes is incomplete\n",
                (unsigned long long)o->emulator.sample_blocks);
    if (o->emulator.check_blocks)
        fprintf(f,
                "of each launch %llu blocks at most were checked for races inside them and for "
                "uninitialised values (--check-blocks); all ran and were counted\n",
                (unsigned long long)o->emulator.check_blocks);
    if (s->timed)
        fprintf(f, "times that the program took with events are the emulator's, not a GPU's\n");
}

int session_report(struct session *s, int status) {
    const struct settings *o = &s->settings;
    const char *why = NULL;
    if (!o->quiet && say_nothing_wanted(s)) {
        if (!status) status = STATUS_USAGE;
    } else if (s->n_launches && !o->quiet) {
        print_head(s, o->csv ? stderr : stdout);
        if (o->csv) {
            why = print_csv(s);
        } else {
            print_launches(s);
            print_predictions(s);
            if (o->counters) why = print_counters(s);
            if (!why && (!s->is_alone || s->settings.kernel)) print_screen(s);
        }
    }
    if (s->n_launches && o->source) print_source(s);
    if (!o->quiet && launched_nothing(s))
        session_say("the program launched no kernel; nothing was counted or checked");
    if (s->watched && !o->quiet)
        fprintf(o->csv ? stderr : stdout, "%s: open it in a browser\n", o->watch_page);
    if (!status && s->n_reports) status = STATUS_WRONG;
    if (!status && (s->n_refused || session_lacking_calls())) status = STATUS_UNSUPPORTED;
    int n_trusted = 0;
    for (const struct kernel *k = s->kernels; k; k = k->next)
        n_trusted += k->result ? emu_result_trusted(k->result) : 0;
    if (n_trusted)
        session_say("%d race%s inside library headers %s trusted, not reported (--trust)",
                    n_trusted, n_trusted > 1 ? "s" : "", n_trusted > 1 ? "are" : "is");
    if (s->n_failed)
        session_say("%d launch%s could not begin (above)", s->n_failed,
                    s->n_failed > 1 ? "es" : "");
    if (s->n_reports)
        session_say("%d check%s of the emulator failed (above)", s->n_reports,
                    s->n_reports > 1 ? "s" : "");
    if (!why && !s->n_reports && left_nothing_out(s))
        why = reason_as(STATUS_USAGE,
                        "--without %.64s: the launches have no barrier, wait or fence there; "
                        "--without list shows them",
                        o->emulator.without);
    if (why) session_say("%s", why);
    if (why && !status) status = (int)reason_status(why, STATUS_DEVICE);
    if (!status && session_lacks_counts()) status = STATUS_COUNTERS;
    if (!status && o->watch_page && !s->watched) {
        session_say("no page: %s",
                    s->unwatched ? s->unwatched : "no kernel that is meant was launched");
        status = STATUS_COUNTERS;
    }
    why = o->json_path ? append_record(s, status) : NULL;
    if (why) session_say("%s", why);
    if (why && !status) status = (int)reason_status(why, STATUS_DEVICE);
    return status;
}
