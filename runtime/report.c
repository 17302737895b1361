/* What is printed and recorded when the program ends. */
#include "session.h"

#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/table.h"
#include "common/device/emu_counters.h"
#include "common/harness/record.h"
#include "profiler/attribution.h"
#include "profiler/counters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_DEFAULT "TENSOR,SHARED,OCCUPANCY,MEMORY,MIX"
enum { MOST_ROWS = 8 };

/* ---- The table: a row for equal launches in a row, and one for all --------------------------- */

static const char *number(double x, char out[32]) {
    snprintf(out, 32, "%.0f", x);
    return out;
}

/* The share that the ideal would not have had. */
static const char *more(double actual, double ideal, char out[32]) {
    *out = 0;
    if (actual > ideal) snprintf(out, 32, "+%.0f%%", 100 * (actual - ideal) / actual);
    return out;
}

static const char *extent(const unsigned n[3], char out[32]) {
    snprintf(out, 32, n[2] > 1 ? "%ux%ux%u" : n[1] > 1 ? "%ux%u" : "%u", n[0], n[1], n[2]);
    return out;
}

static void add_row(struct table *t, const char *kernel, const char *which, const struct launch *l,
                    const struct sums *s) {
    char grid[32] = "", block[32] = "", shared[32] = "", n[7][32];
    const char *cells[] = {kernel, which, grid, block, shared, n[0],
                           n[1],   n[2],  n[3], n[4],  n[5],   n[6]};
    if (l) {
        extent(l->grid, grid);
        extent(l->block, block);
        snprintf(shared, sizeof shared, "%u", l->shared_bytes);
    }
    number(s->executed, n[0]);
    snprintf(n[1], 32, "%.1f", s->executed > 0 ? s->threads / s->executed : 0);
    number(s->sectors, n[2]);
    more(s->sectors, s->sectors_ideal, n[3]);
    number(s->wavefronts, n[4]);
    more(s->wavefronts, s->wavefronts_ideal, n[5]);
    number(s->tensor, n[6]);
    table_row(t, cells);
}

static bool equal(const struct launch *a, const struct launch *b) {
    return !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block) &&
           !memcmp(a->cluster, b->cluster, sizeof a->cluster) &&
           a->shared_bytes == b->shared_bytes && !memcmp(&a->sums, &b->sums, sizeof a->sums);
}

static void add_kernel(struct table *t, const struct kernel *k, bool every) {
    char which[64];
    int rows = 0, next;
    for (int n = 0; n < k->n_launches; n = next, rows++) {
        for (next = n + 1; next < k->n_launches && equal(&k->launch[n], &k->launch[next]); next++) {
        }
        if (rows >= MOST_ROWS && !every) continue;
        if (next - n > 1)
            snprintf(which, sizeof which, "%d-%d, each", n + 1, next);
        else
            snprintf(which, sizeof which, "%d", n + 1);
        add_row(t, rows ? "" : k->shown, which, &k->launch[n], &k->launch[n].sums);
    }
    if (k->n_launches < 2) return;
    struct sums all = {0}; /* those that were not run count as what they are like */
    for (int n = 0; n < k->n_launches; n++) {
        const struct sums *x = &k->launch[n].sums;
        all = (struct sums){
            all.executed + x->executed,     all.threads + x->threads,
            all.sectors + x->sectors,       all.sectors_ideal + x->sectors_ideal,
            all.wavefronts + x->wavefronts, all.wavefronts_ideal + x->wavefronts_ideal,
            all.tensor + x->tensor};
    }
    snprintf(which, sizeof which, "all %d%s", k->n_launches,
             rows > MOST_ROWS && !every ? " (--launches: each)" : "");
    add_row(t, "", which, NULL, &all);
}

static void print_launches(const struct session *s) {
    static const char *const heading[] = {"kernel", "launch",     "grid",  "block",
                                          "shared", "warp inst",  "lanes", "sectors",
                                          "more",   "wavefronts", "more",  "tensor"};
    struct table t;
    table_open(&t, 12, heading);
    for (const struct kernel *k = s->kernels; k; k = k->next)
        add_kernel(&t, k, s->settings.every_launch);
    if (s->settings.csv)
        table_print_csv(&t, stdout);
    else
        table_print(&t, stdout);
    table_close(&t);
}

/* ---- Counter groups -------------------------------------------------------------------------- */

/* Of all launches of a kernel; its occupancy is that of the last. */
static const char *collect(const struct session *s, const struct kernel *k, const char *groups,
                           struct counters *out) {
    struct counters raw;
    struct occupancy occupancy;
    const struct launch *l = &k->launch[k->n_launches - 1];
    int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    const char *why = emu_counters_of(k->result, &s->info.chip, &raw), *unknown = NULL;
    if (why) return why;
    if (k->n_registers < 0)
        unknown = "the program has no cubin that says how many registers the kernel takes";
    else
        unknown = session_occupancy(s, k, threads, (int)l->shared_bytes, &occupancy);
    why = counters_emulated(&raw, &occupancy, unknown, threads, groups, out);
    counters_free(&raw);
    return why;
}

static const char *print_counters(const struct session *s) {
    static const char *const heading[] = {"kernel", "group", "name", "value", "unit", "source"};
    struct table t;
    const char *why = NULL;
    table_open(&t, 6, heading);
    for (const struct kernel *k = s->kernels; k && !why; k = k->next) {
        struct counters c;
        if (!k->n_launches || (why = collect(s, k, s->settings.counters, &c))) continue;
        for (int i = 0; i < c.n; i++) {
            const struct counter *x = &c.counter[i];
            char value[300];
            if (*x->reason)
                snprintf(value, sizeof value, "n/a (%s)", x->reason);
            else
                snprintf(value, sizeof value, "%.6g", x->value);
            table_row(&t, (const char *[]){k->shown, x->group, x->name, value,
                                           *x->reason ? "" : x->unit,
                                           *x->reason ? "" : counter_source_name(x->source)});
        }
        counters_free(&c);
    }
    if (!why && s->settings.csv) table_print_csv(&t, stdout);
    if (!why && !s->settings.csv) table_print(&t, stdout);
    table_close(&t);
    return why;
}

static void print_source(const struct session *s) {
    for (const struct kernel *k = s->kernels; k; k = k->next) {
        struct source source = {0};
        if (!k->n_launches) continue;
        printf("\n%s\n", k->shown);
        emu_source_of(k->result, &s->info.chip, s->info.chip.n_sms, &source);
        const char *why = attribution_print(&source, 0, stdout);
        if (why) session_say("%s", why);
        source_free(&source);
    }
}

/* ---- The record ------------------------------------------------------------------------------ */

static json_t *launch_record(const struct launch *l) {
    const struct sums *s = &l->sums;
    return json_pack("{s:[iii], s:[iii], s:[iii], s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                     "grid", l->grid[0], l->grid[1], l->grid[2], "block", l->block[0], l->block[1],
                     l->block[2], "cluster", l->cluster[0], l->cluster[1], l->cluster[2],
                     "shared_bytes", l->shared_bytes, "instructions", s->executed, "threads",
                     s->threads, "global_sectors", s->sectors, "global_sectors_ideal",
                     s->sectors_ideal, "shared_wavefronts", s->wavefronts,
                     "shared_wavefronts_ideal", s->wavefronts_ideal, "tensor_instructions",
                     s->tensor, "emulator_s", l->seconds);
}

static json_t *kernel_record(const struct session *s, const struct kernel *k) {
    struct counters c;
    json_t *record = json_pack("{s:s, s:s, s:i}", "name", k->shown, "symbol", k->name,
                               "static_shared", emu_kernel_static_shared(k->code));
    json_t *launches = json_array();
    if (k->n_registers >= 0) json_object_set_new(record, "registers", json_integer(k->n_registers));
    for (int n = 0; n < k->n_launches; n++)
        json_array_append_new(launches, launch_record(&k->launch[n]));
    json_object_set_new(record, "launches", launches);
    const char *groups = s->settings.counters ? s->settings.counters : GROUPS_DEFAULT;
    const char *why = collect(s, k, groups, &c);
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
        for (int r = 0; r < emu_result_reports(k->result); r++)
            json_array_append_new(reports, json_string(emu_result_report(k->result, r)));
    }
    json_object_set_new(record, "kernels", kernels);
    json_object_set_new(record, "reports", reports);
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
        if (k->n_launches && !emu_result_left_nothing_out(k->result)) return false;
    return s->n_launches > 0;
}

int session_report(struct session *s, int status) {
    const struct settings *o = &s->settings;
    const char *why = NULL;
    if (s->n_launches && !o->quiet) {
        int n_kernels = 0;
        for (const struct kernel *k = s->kernels; k; k = k->next) n_kernels += k->n_launches > 0;
        printf("\nrun: %s, %d kernel%s, %d launch%s, %.2f s in the emulator%s\n", s->info.name,
               n_kernels, n_kernels == 1 ? "" : "s", s->n_launches, s->n_launches == 1 ? "" : "es",
               s->seconds, interrupt_signal() ? ", interrupted" : "");
        if (s->n_skipped)
            printf("%d launches were like earlier ones and were not run (--repeats %d)\n",
                   s->n_skipped, o->repeats);
        if (o->emulator.sample_blocks)
            printf(
                "of each launch %llu blocks at most ran and were counted (--sample-blocks), and no "
                "product of cuBLAS: what the program computes is incomplete\n",
                (unsigned long long)o->emulator.sample_blocks);
        if (o->emulator.check_blocks)
            printf("of each launch %llu blocks at most were checked for races inside them and for "
                   "uninitialised values (--check-blocks); all ran and were counted\n",
                   (unsigned long long)o->emulator.check_blocks);
        if (s->timed)
            printf("times that the program took with events are the emulator's, not a GPU's\n");
        print_launches(s);
        if (o->counters) why = print_counters(s);
    }
    if (s->n_launches && o->source) print_source(s);
    if (!status && s->n_reports) status = STATUS_WRONG;
    if (!status && s->n_refused) status = STATUS_UNSUPPORTED;
    if (s->n_reports)
        session_say("%d check%s of the emulator failed (above)", s->n_reports,
                    s->n_reports > 1 ? "s" : "");
    if (!why && !s->n_reports && left_nothing_out(s))
        why = reason_as(STATUS_USAGE,
                        "--without %.64s: the launches have no barrier, wait or fence there; "
                        "--without list shows them",
                        o->emulator.without);
    if (o->json_path) {
        const char *bad = append_record(s, status);
        if (!why) why = bad;
    }
    if (why) session_say("%s", why);
    if (why && !status) status = (int)reason_status(why, STATUS_DEVICE);
    return status;
}
