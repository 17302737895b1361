/* What is printed and recorded of a kernel's launches. */
#include "launch_report.h"

#include "predictions.h"

#include "common/harness/record.h"
#include "common/harness/screen/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table: a row for equal launches in a row, and one for all --------------------------- */

void launch_report_open(struct table *t) {
    table_open(t, 12,
               (const char *[]){"kernel", "launch", "grid", "block", "shared", "warp inst", "lanes",
                                "sectors", "over ideal", "wavefronts", "conflicts", "tensor"});
}

/* The rest of a name says more than its middle. */
const char *launch_report_name(const struct kernel *k, char out[128]) {
    enum { MOST = 60 };
    return screen_short(k->shown, MOST, out);
}

/* "n/a" of what was not counted. */
static const char *number(double x, const char *format, char out[32]) {
    if (isnan(x))
        snprintf(out, 32, "n/a");
    else
        snprintf(out, 32, format, x);
    return out;
}

/* How many more than the ideal: +100% is twice as many. */
static const char *more(double actual, double ideal, char out[32]) {
    *out = 0;
    if (actual > ideal && ideal > 0) snprintf(out, 32, "+%.0f%%", 100 * (actual - ideal) / ideal);
    return out;
}

const char *launch_report_extent(const unsigned n[3], char out[32]) {
    snprintf(out, 32, n[2] > 1 ? "%ux%ux%u" : n[1] > 1 ? "%ux%u" : "%u", n[0], n[1], n[2]);
    return out;
}

static void add_row(struct table *t, const char *kernel, const char *which, const struct launch *l,
                    int static_shared, const struct session_sums *s, bool of_ptx) {
    char grid[32] = "", block[32] = "", shared[32] = "", n[7][32];
    const char *cells[] = {kernel, which, grid, block, shared, n[0],
                           n[1],   n[2],  n[3], n[4],  n[5],   n[6]};
    if (l) {
        launch_report_extent(l->grid, grid);
        launch_report_extent(l->block, block);
        snprintf(shared, sizeof shared, "%u", l->shared_bytes + (unsigned)static_shared);
    }
    number(s->executed, of_ptx ? "%.0f PTX" : "%.0f", n[0]);
    number(s->executed ? s->threads / s->executed : 0, "%.1f", n[1]);
    number(s->sectors, "%.0f", n[2]);
    more(s->sectors, s->sectors_ideal, n[3]);
    number(s->wavefronts, "%.0f", n[4]);
    more(s->wavefronts, s->wavefronts_ideal, n[5]);
    number(s->tensor, "%.0f", n[6]);
    table_row(t, cells);
}

static bool equal(const struct launch *a, const struct launch *b) {
    return !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block) &&
           !memcmp(a->cluster, b->cluster, sizeof a->cluster) &&
           a->shared_bytes == b->shared_bytes && !memcmp(&a->sums, &b->sums, sizeof a->sums) &&
           a->of_ptx == b->of_ptx;
}

bool launch_report_is_sass(const struct kernel *k) {
    for (int n = 0; n < k->n_launches; n++)
        if (k->launch[n].of_ptx) return false;
    return true;
}

void launch_report_add(struct table *t, const struct kernel *k, bool every) {
    const bool sass = launch_report_is_sass(k);
    char which[64], name[128];
    int rows = 0, next;
    for (int n = 0; n < k->n_launches; n = next, rows++) {
        for (next = n + 1; next < k->n_launches && equal(&k->launch[n], &k->launch[next]); next++) {
        }
        if (rows >= LAUNCH_REPORT_ROWS && !every) continue;
        if (next - n > 1)
            snprintf(which, sizeof which, "%d-%d, each", n + 1, next);
        else
            snprintf(which, sizeof which, "%d", n + 1);
        add_row(t, rows ? "" : launch_report_name(k, name), which, &k->launch[n], k->static_shared,
                &k->launch[n].sums, k->launch[n].of_ptx);
    }
    if (k->n_launches < 2) return;
    struct session_sums all = {0}; /* those that were not run count as what they are like */
    for (int n = 0; n < k->n_launches; n++) {
        const struct session_sums *x = sass ? &k->launch[n].sums : &k->launch[n].ptx;
        all = (struct session_sums){
            all.executed + x->executed,     all.threads + x->threads,
            all.sectors + x->sectors,       all.sectors_ideal + x->sectors_ideal,
            all.wavefronts + x->wavefronts, all.wavefronts_ideal + x->wavefronts_ideal,
            all.tensor + x->tensor};
    }
    snprintf(which, sizeof which, "all %d%s", k->n_launches,
             rows > LAUNCH_REPORT_ROWS && !every ? " (--launches: each)" : "");
    add_row(t, "", which, NULL, 0, &all, !sass);
}

/* ---- CSV: one table of all values, as a data frame has it -------------------------------------- */

void launch_report_csv_open(struct table *t) {
    table_open(t, LAUNCH_REPORT_CSV,
               (const char *[]){"kernel", "launch", "grid", "block", "shared", "group", "name",
                                "value", "unit", "source", "na"});
}

void launch_report_csv_value(struct table *t, const char *const place[5], const char *group,
                             const char *name, double value, const char *unit, const char *source,
                             const char *why) {
    char text[32] = "";
    const bool is_known = !*why && !isnan(value);
    if (is_known) snprintf(text, sizeof text, "%.15g", value);
    table_row(t, (const char *[LAUNCH_REPORT_CSV]){place[0], place[1], place[2], place[3], place[4],
                                                   group, name, text, is_known ? unit : "",
                                                   is_known ? source : "",
                                                   is_known ? ""
                                                   : *why   ? why
                                                            : "not counted"});
}

void launch_report_csv(struct table *t, const struct kernel *k) {
    const char *source = k->gpu ? "cupti" : "emulator";
    char which[32], grid[32], block[32], shared[32];
    for (int n = 0, next; n < k->n_launches; n = next) {
        const struct launch *l = &k->launch[n];
        const struct session_sums *x = &l->sums;
        for (next = n + 1; next < k->n_launches && equal(l, &k->launch[next]); next++) {
        }
        snprintf(which, sizeof which, next - n > 1 ? "%d-%d" : "%d", n + 1, next);
        snprintf(shared, sizeof shared, "%u", l->shared_bytes + (unsigned)k->static_shared);
        const char *const place[] = {k->shown, which, launch_report_extent(l->grid, grid),
                                     launch_report_extent(l->block, block), shared};
        const struct {
            const char *name;
            double value;
            const char *unit;
        } counts[] = {{"instructions", x->executed, l->of_ptx ? LAUNCH_REPORT_PTX : "warp inst"},
                      {"threads", x->threads, l->of_ptx ? "PTX thread inst" : "thread inst"},
                      {"global_sectors", x->sectors, "sectors"},
                      {"global_sectors_ideal", x->sectors_ideal, "sectors"},
                      {"shared_wavefronts", x->wavefronts, "wavefronts"},
                      {"shared_wavefronts_ideal", x->wavefronts_ideal, "wavefronts"},
                      {"tensor_instructions", x->tensor, "warp inst"}};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            launch_report_csv_value(t, place, "launch", counts[i].name, counts[i].value,
                                    counts[i].unit, source, "");
    }
}

/* ---- Stalls, and the record -------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = ((const struct counter *)a)->value, y = ((const struct counter *)b)->value;
    return (x < y) - (x > y);
}

void launch_report_stalls(const struct counters *c, char *out, size_t bytes) {
    enum { MOST = 3 };
    struct counter stall[32];
    double sum = 0;
    int n = 0;
    *out = 0;
    for (int i = 0; i < c->n && n < 32; i++)
        if (!strncmp(c->counter[i].name, "stall_", 6) &&
            strcmp(c->counter[i].name, "stall_selected"))
            sum += (stall[n++] = c->counter[i]).value;
    qsort(stall, (size_t)n, sizeof *stall, by_value);
    for (int i = 0; i < n && i < MOST && stall[i].value > sum / 100; i++) {
        size_t at = strlen(out);
        snprintf(out + at, bytes - at, "%s%s %.2f", i ? ", " : "", stall[i].name + 6,
                 stall[i].value);
    }
}

/* {"cycles_elapsed": 81392, ..., "stall_barrier": 0.1, "validated": "h200: ..."} */
static json_t *prediction_record(const struct kernel *k, int number) {
    struct counters c;
    json_t *all = json_object();
    const char *why = predictions_named(k, number, &c);
    if (why) {
        json_object_set_new(all, "na",
                            json_string(predictions_missing(k) ? predictions_missing(k) : why));
        return all;
    }
    for (int i = 0; i < c.n; i++) {
        json_object_set_new(all, c.counter[i].name, record_real(c.counter[i].value));
        if (*c.counter[i].validated)
            json_object_set_new(all, "validated", json_string(c.counter[i].validated));
    }
    json_object_set_new(all, "source", json_string(counter_source_name(SOURCE_MODEL)));
    json_object_set_new(all, "l2", json_string(prediction_cache(prediction_shape(k, number))));
    counters_free(&c);
    return all;
}

json_t *launch_report_record(const struct kernel *k, int n) {
    const struct launch *l = &k->launch[n];
    const struct session_sums *s = &l->sums;
    int first = 0;
    while (k->launch[first].predicted != l->predicted) first++;
    json_t *record = json_pack(
        "{s:i, s:[iii], s:[iii], s:[iii], s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "number",
        l->number, "grid", l->grid[0], l->grid[1], l->grid[2], "block", l->block[0], l->block[1],
        l->block[2], "cluster", l->cluster[0], l->cluster[1], l->cluster[2], "shared_bytes",
        l->shared_bytes, "instructions", record_real(s->executed), "threads",
        record_real(s->threads), "global_sectors", record_real(s->sectors), "global_sectors_ideal",
        record_real(s->sectors_ideal), "shared_wavefronts", record_real(s->wavefronts),
        "shared_wavefronts_ideal", record_real(s->wavefronts_ideal), "tensor_instructions",
        record_real(s->tensor), k->gpu ? "gpu_s" : "emulator_s", record_real(l->seconds));
    if (k->gpu) { /* whose hardware knows no ideal of global memory */
        json_object_set_new(record, "global_sectors_ideal", json_null());
        json_object_set_new(record, "cycles", record_real(l->cycles));
        json_object_set_new(record, "source", json_string(counter_source_name(SOURCE_CUPTI)));
        return record;
    }
    json_object_set_new(record, "counted", json_string(l->of_ptx ? "ptx" : "sass"));
    json_object_set_new(record, "ptx_instructions", record_real(l->ptx.executed));
    if (first < n)
        json_object_set_new(record, "predicted_like", json_integer(first + 1));
    else
        json_object_set_new(record, "predicted", prediction_record(k, l->predicted));
    return record;
}
