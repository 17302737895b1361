/* tabulate: records in, one plain-text table out. The
 * plots are drawn from that table and nothing else.
 *
 *   tabulate --out DIR --problem "B1 H8 S512 D64" --stages "1-scalar 2-wmma-qk" LABEL=FILE...
 *
 * --ceilings FILE: what plots/ceilings.sh says of the chip, for column ceiling_pct.
 * --strict: a damaged line in a file of records, which is named and left out, gives exit status 5.
 *
 * Each LABEL=FILE is a series (a device): its newest record of every stage on that problem becomes
 * a row. The first line of a file or block names its columns.
 * DIR/table.txt   one block per series (gnuplot: index), a row per stage, "-" where there is no
 *                 value; read it with `column -t`. Column another_kernel is 1 where the record is of
 *                 another kernel than the one that is built here
 * DIR/notes.txt   one line per "-": series, number of the stage, column, why; then two of series -1
 * DIR/labels.txt  one line per series: its label, its pedigree (board, clock, toolkit, revision,
 *                 date), and whether it is measured or predicted
 *
 * Two kinds of time, in columns of their own, so that no plot sets one beside the other: time_us,
 * iqr_us, tflops, peak_pct, ceiling_pct and datasheet_pct are of launches back to back, which only a
 * GPU has; launch_us, launch_tflops and launch_peak_pct are of one launch alone, which a GPU's
 * counters measure and the emulator predicts.
 *
 *   tabulate --print-problem FILE    the newest attention problem in a file of records
 *   tabulate --print-device FILE     the device that made it: "NVIDIA H200", "emulator (h200)"
 *   tabulate --print-chip FILE       its chip, that chip's boost clock in MHz, its SMs: "h200 1980 132"
 *
 * Exit status: 0 a table was written; 2 bad usage; 4 no memory; 5 a file could not be read or
 * written. */
#include "common/base/chip.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/program.h"
#include "common/harness/kernel_hash.h"
#include "common/harness/record.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"time_us",
                                      "iqr_us",
                                      "tflops",
                                      "peak_pct",
                                      "launch_us",
                                      "launch_tflops",
                                      "launch_peak_pct",
                                      "tensor_active_pct",
                                      "tensor_bound_pct",
                                      "tensor_instructions",
                                      "bank_conflicts",
                                      "bank_conflict_pct",
                                      "occupancy_theoretical_pct",
                                      "occupancy_achieved_pct",
                                      "ctas",
                                      "flops",
                                      "dram_bytes",
                                      "l2_read_sectors",
                                      "stall_selected",
                                      "stall_not_selected",
                                      "stall_math_pipe",
                                      "stall_wait",
                                      "stall_gmma",
                                      "stall_barrier",
                                      "stall_short_scoreboard",
                                      "stall_mio",
                                      "stall_long_scoreboard",
                                      "stall_lg",
                                      "stall_branch",
                                      "stall_no_instruction",
                                      "stall_dispatch",
                                      "another_kernel",
                                      "ceiling_pct",
                                      "datasheet_pct"};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

struct table_cell {
    double value;     /* NaN: none */
    char reason[256]; /* why there is none */
};

static struct table_cell cell_value(double value) { return (struct table_cell){.value = value}; }

static struct table_cell cell_missing(const char *reason) {
    struct table_cell c = {.value = NAN};
    snprintf(c.reason, sizeof c.reason, "%s", reason);
    return c;
}

static const char *text(const json_t *record, const char *object, const char *key) {
    const char *s = json_string_value(json_object_get(json_object_get(record, object), key));
    return s ? s : "";
}

static struct table_cell counter(const json_t *record, const char *name) {
    size_t i;
    const json_t *c;
    json_array_foreach(json_object_get(record, "counters"), i, c) {
        const char *n = json_string_value(json_object_get(c, "name"));
        if (!n || strcmp(n, name)) continue;
        const json_t *value = json_object_get(c, "value");
        if (json_is_number(value)) return cell_value(json_number_value(value));
        const char *na = json_string_value(json_object_get(c, "na"));
        return cell_missing(na ? na : "no value");
    }
    return cell_missing("not collected");
}

static bool is_predicted(const json_t *record) {
    return !strcmp(text(record, "device", "kind"), "emulator");
}

/* Of launches back to back. */
static struct table_cell sample(const json_t *record, const char *key) {
    const json_t *value = json_object_get(json_object_get(record, "samples"), key);
    if (json_is_number(value)) return cell_value(json_number_value(value));
    if (!json_object_get(json_object_get(record, "problem"), "seqlen_q"))
        return cell_missing("not an attention kernel");
    return cell_missing(is_predicted(record)
                            ? "predicted is one launch alone, not launches back to back"
                            : "not timed");
}

/* Of one launch alone. */
static struct table_cell launch_tflops(const json_t *record) {
    const json_t *flops = json_object_get(json_object_get(record, "problem"), "flops");
    struct table_cell us = counter(record, "duration_us");
    if (isnan(us.value)) return us;
    return json_is_number(flops) ? cell_value(json_number_value(flops) / us.value * 1e-6)
                                 : cell_missing("not an attention kernel");
}

static const struct chip *chip_of(const json_t *record) {
    const char *family = text(record, "device", "chip");
    for (int i = 0; chip_at(i); i++)
        if (!strcmp(chip_at(i)->family, family)) return chip_at(i);
    return NULL;
}

/* Percent of the chip's dense fp16 tensor peak at a clock, counted on the SMs:
 * tflops / (SMs * FLOP per clock and SM * clock). */
static struct table_cell share_of_peak(const json_t *record, double tflops, double mhz) {
    const struct chip *c = chip_of(record);
    if (!(mhz > 0)) return cell_missing("the SM clock is not known");
    return c ? cell_value(100 * tflops * 1e6 / (c->n_sms * c->tensor_flop_per_clk * mhz))
             : cell_missing("the peak of this chip is not known");
}

/* At the clock that was counted while the samples were taken; without one, at the board's word
 * after the run. */
static struct table_cell peak_pct(const json_t *record) {
    struct table_cell tflops = sample(record, "tflops");
    if (isnan(tflops.value)) return tflops;
    const json_t *mhz = json_object_get(json_object_get(record, "samples"), "clock_mhz");
    if (!(json_number_value(mhz) > 0))
        mhz = json_object_get(json_object_get(record, "device"), "clock_mhz_after");
    return share_of_peak(record, tflops.value, json_number_value(mhz));
}

/* At the mean clock of that launch; of a predicted one the clock that it is for. */
static struct table_cell launch_peak_pct(const json_t *record) {
    struct table_cell tflops = launch_tflops(record);
    if (isnan(tflops.value)) return tflops;
    return share_of_peak(record, tflops.value, counter(record, "mean_clock_mhz").value);
}

/* What boards reached, TFLOPS: of the file of --ceilings. */
static struct { double fma, mma, wgmma; /* 0: not known */ } reached;

static void read_ceilings(const char *path) {
    FILE *f = path_open(path);
    char line[256], name[64], kind[16];
    double value;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "\"%63[^,\"]%*[^\"]\" %15s %lf", name, kind, &value) != 3) continue;
        if (!strcmp(name, "FP32 FMA")) reached.fma = value;
        if (!strcmp(name, "mma.sync")) reached.mma = value;
        if (!strcmp(name, "WGMMA")) reached.wgmma = value;
    }
    if (f) fclose(f);
}

/* Percent of what the fastest instruction that the kernel uses reached on such a board. */
static struct table_cell ceiling_pct(const json_t *record) {
    struct table_cell tflops = sample(record, "tflops"),
                      wgmma = counter(record, "hgmma_instructions"),
                      mma = counter(record, "hmma_instructions");
    if (isnan(tflops.value)) return tflops;
    if (isnan(mma.value)) return mma;
    double most = wgmma.value > 0 ? reached.wgmma : mma.value > 0 ? reached.mma : reached.fma;
    return most > 0 ? cell_value(100 * tflops.value / most)
                    : cell_missing("make ceilings has not measured this chip");
}

static struct table_cell datasheet_pct(const json_t *record) {
    struct table_cell tflops = sample(record, "tflops");
    const struct chip *c = chip_of(record);
    if (isnan(tflops.value)) return tflops;
    return c ? cell_value(100 * tflops.value / c->datasheet_tflops)
             : cell_missing("the data sheet of this chip is not known");
}

/* Of the first launch. */
static struct table_cell ctas(const json_t *record) {
    const json_t *grid =
        json_object_get(json_array_get(json_object_get(record, "kernels"), 0), "grid");
    double n = 1;
    for (size_t i = 0; i < 3; i++) n *= json_number_value(json_array_get(grid, i));
    return n > 0 ? cell_value(n) : cell_missing("no launch in the record");
}

/* 1 if the record's kernel is another than the one built beside this program; 0 if it is that one. */
static struct table_cell another_kernel(const json_t *record) {
    const json_t *launch = json_array_get(json_object_get(record, "kernels"), 0);
    const char *hash = json_string_value(json_object_get(launch, "hash"));
    const char *image = json_string_value(json_object_get(launch, "image"));
    const char *stage = json_string_value(json_object_get(record, "stage"));
    char folder[4096], here[KERNEL_HASH_BYTES];
    if (!hash || !image || !stage)
        return cell_missing("the record does not say which kernel it was");
    snprintf(folder, sizeof folder, "%s/images/stage-%d", program_folder(), atoi(stage));
    const char *why = kernel_hash(folder, image, here);
    if (why || !*here) return cell_missing(why ? why : "that kernel is not built here");
    return cell_value(strcmp(hash, here) != 0);
}

static struct table_cell flops(const json_t *record) {
    const json_t *value = json_object_get(json_object_get(record, "problem"), "flops");
    return json_is_number(value) ? cell_value(json_number_value(value))
                                 : cell_missing("not an attention kernel");
}

static struct table_cell cell(const json_t *record, const char *column) {
    if (!record) return cell_missing("no record of this stage on this problem");
    if (!strcmp(column, "time_us")) return sample(record, "median_us");
    if (!strcmp(column, "iqr_us")) return sample(record, "iqr_us");
    if (!strcmp(column, "tflops")) return sample(record, "tflops");
    if (!strcmp(column, "peak_pct")) return peak_pct(record);
    if (!strcmp(column, "launch_us")) return counter(record, "duration_us");
    if (!strcmp(column, "launch_tflops")) return launch_tflops(record);
    if (!strcmp(column, "launch_peak_pct")) return launch_peak_pct(record);
    if (!strcmp(column, "ceiling_pct")) return ceiling_pct(record);
    if (!strcmp(column, "datasheet_pct")) return datasheet_pct(record);
    if (!strcmp(column, "ctas")) return ctas(record);
    if (!strcmp(column, "flops")) return flops(record);
    if (!strcmp(column, "another_kernel")) return another_kernel(record);
    return counter(record, column);
}

static const json_t *newest(const json_t *records, const char *stage, const char *problem) {
    const json_t *record, *found = NULL;
    const char *found_time = "";
    size_t i;
    json_array_foreach(records, i, record) {
        const char *s = json_string_value(json_object_get(record, "stage"));
        const char *time = json_string_value(json_object_get(record, "time"));
        if (!s || !time || strcmp(s, stage)) continue;
        if (strcmp(text(record, "problem", "text"), problem)) continue;
        if (strcmp(time, found_time) >= 0) found = record, found_time = time;
    }
    return found;
}

/* Text goes to gnuplot inside double quotes of a data
 * file: neither quotes nor control characters. */
static void put_quoted(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s; s++) fputc(*s == '"' || *s == '\\' || (unsigned char)*s < ' ' ? '\'' : *s, f);
    fputc('"', f);
}

/* Adds to a text as much as it has room for. */
__attribute__((format(printf, 3, 4))) static void append(char *out, size_t out_bytes,
                                                         const char *format, ...) {
    size_t n = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + n, out_bytes - n, format, args);
    va_end(args);
}

/* Adds a record's revision to "abc1234, def5678" if it is not there yet. */
static void add_revision(char *list, size_t list_bytes, const json_t *r) {
    const char *revision = json_string_value(json_object_get(r, "revision"));
    if (revision && !strstr(list, revision))
        append(list, list_bytes, "%s%s", *list ? ", " : "", revision);
}

/* Least and most of a number over the records of a series. */
struct range {
    int least, most;
};

static void widen(struct range *r, const json_t *number) {
    int value = (int)json_number_value(number);
    if (value <= 0) return;
    if (!r->least || value < r->least) r->least = value;
    if (value > r->most) r->most = value;
}

/* "1485 to 1980", "1980" */
static const char *range_text(const struct range *r, char out[32]) {
    snprintf(out, 32, r->least == r->most ? "%d" : "%d to %d", r->least, r->most);
    return out;
}

/* r: the last stage's record; clocks and samples are those of all. others: some stage's kernel has
 * changed since. */
static void put_pedigree(FILE *f, const char *label, const json_t *r, const char *revisions,
                         bool others, const struct range *mhz, const struct range *samples_n) {
    char line[512] = "", text_of[32];
    if (r) {
        const json_t *samples = json_object_get(r, "samples");
        const char *time = json_string_value(json_object_get(r, "time"));
        const char *name = text(r, "device", "name");
        append(line, sizeof line, "%s%s%s", label, strcmp(label, name) ? ": " : "",
               strcmp(label, name) ? name : "");
        if (mhz->most)
            append(line, sizeof line, ", %s MHz after, driver %s", range_text(mhz, text_of),
                   text(r, "device", "driver"));
        append(line, sizeof line, ", CUDA %s, revision %s, %.10s", text(r, "device", "toolkit"),
               revisions, time ? time : "?");
        size_t i;
        const json_t *c;
        json_array_foreach(json_object_get(r, "counters"), i, c) {
            const char *validated = json_string_value(json_object_get(c, "validated"));
            if (!validated) continue;
            append(line, sizeof line, "; what depends on time is predicted (%s)", validated);
            break;
        }
        if (json_object_get(samples, "median_us"))
            append(line, sizeof line, ", n = %s, L2 %s", range_text(samples_n, text_of),
                   text(r, "samples", "l2"));
        if (others) append(line, sizeof line, "; hatched: another kernel than here");
    }
    put_quoted(f, label);
    fputc(' ', f);
    put_quoted(f, r ? line : "no record");
    fprintf(f, " %s\n", !r ? "none" : is_predicted(r) ? "predicted" : "measured");
}

struct table_output {
    FILE *table, *notes, *labels;
};

static int n_damaged; /* lines of all files that were no whole record */

static const char *put_series(struct table_output *out, int index, const char *label,
                              const char *path, const char *problem, const char *stages) {
    json_t *records = NULL;
    int n_cut = 0;
    const char *why = record_read(path, &records, &n_cut);
    if (why) return why;
    n_damaged += n_cut;

    fprintf(out->table, "# %s\nnumber stage", label);
    for (int c = 0; c < N_COLUMNS; c++) fprintf(out->table, " %s", columns[c]);
    fputc('\n', out->table);

    char list[1024];
    snprintf(list, sizeof list, "%s", stages);
    char revisions[128] = "";
    bool others = false;
    const json_t *last = NULL;
    struct range mhz = {0}, samples_n = {0};
    for (char *save, *s = strtok_r(list, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        const json_t *record = newest(records, s, problem);
        if (record) last = record;
        widen(&mhz, json_object_get(json_object_get(record, "device"), "clock_mhz_after"));
        widen(&samples_n, json_object_get(json_object_get(record, "samples"), "n"));
        add_revision(revisions, sizeof revisions, record);
        fprintf(out->table, "%d %s", atoi(s), s);
        for (int c = 0; c < N_COLUMNS; c++) {
            struct table_cell v = cell(record, columns[c]);
            others |= !strcmp(columns[c], "another_kernel") && v.value == 1;
            if (isnan(v.value)) {
                fputs(" -", out->table);
                fprintf(out->notes, "%d %d %s ", index, atoi(s), columns[c]);
                put_quoted(out->notes, v.reason);
                fputc('\n', out->notes);
            } else {
                fprintf(out->table, " %.6g", v.value);
            }
        }
        fputc('\n', out->table);
    }
    fputs("\n\n", out->table);
    put_pedigree(out->labels, label, last, revisions, others, &mhz, &samples_n);
    json_decref(records);
    return NULL;
}

static const char *const tables[] = {"table.txt", "notes.txt", "labels.txt"};

/* Under another name, until all are whole. */
static FILE *create(const char *dir, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/.%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "tabulate: cannot write %s: %m; choose another folder\n", path);
        exit(errno == ENOMEM ? STATUS_DEVICE : STATUS_FILE);
    }
    return f;
}

/* The text of `object.key` in the newest record of an attention problem; "" if there is none. */
static int newest_text(const char *path, const char *object, const char *key, char *out,
                       size_t out_bytes) {
    json_t *records, *record;
    int n_cut;
    size_t i;
    const char *why = record_read(path, &records, &n_cut), *found = "";
    if (why) {
        fprintf(stderr, "tabulate: %s\n", why);
        return (int)reason_status(why, STATUS_FILE);
    }
    json_array_foreach(records, i, record) {
        if (json_object_get(json_object_get(record, "problem"), "seqlen_q") || !*found)
            found = text(record, object, key);
    }
    snprintf(out, out_bytes, "%s", found);
    json_decref(records);
    return 0;
}

static int print_newest(const char *path, const char *object, const char *key) {
    char found[4096];
    const char *why;
    int status = newest_text(path, object, key, found, sizeof found);
    if (status) return status;
    puts(found);
    if ((why = path_stdout())) fprintf(stderr, "tabulate: %s\n", why);
    return why ? (int)reason_status(why, STATUS_FILE) : 0;
}

/* "h200 1980 132" for "NVIDIA H200" and for "emulator (h200)"; nothing for a board not in chip.h. */
static int print_chip(const char *path) {
    char device[256];
    int status = newest_text(path, "device", "name", device, sizeof device);
    for (int i = 0; !status && chip_at(i); i++) {
        const struct chip *c = chip_at(i);
        char emulator[64];
        snprintf(emulator, sizeof emulator, "emulator (%s)", c->name);
        if (!strcmp(device, c->board) || !strcmp(device, emulator))
            printf("%s %d %d\n", c->name, c->clock_mhz, c->n_sms);
    }
    const char *why = status ? NULL : path_stdout();
    if (why) fprintf(stderr, "tabulate: %s\n", why);
    return why ? (int)reason_status(why, STATUS_FILE) : status;
}

int main(int argc, char **argv) {
    const char *out_dir = NULL, *problem = NULL, *stages = NULL;
    static const struct option options[] = {{"out", required_argument, 0, 'o'},
                                            {"problem", required_argument, 0, 'p'},
                                            {"stages", required_argument, 0, 's'},
                                            {"ceilings", required_argument, 0, 'c'},
                                            {"print-problem", required_argument, 0, 'P'},
                                            {"print-device", required_argument, 0, 'D'},
                                            {"print-chip", required_argument, 0, 'C'},
                                            {"strict", no_argument, 0, 'S'},
                                            {0}};
    bool strict = false;
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f: the write fails and says so */
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'o')
            out_dir = optarg;
        else if (o == 'p')
            problem = optarg;
        else if (o == 's')
            stages = optarg;
        else if (o == 'c')
            read_ceilings(optarg);
        else if (o == 'S')
            strict = true;
        else if (o == 'P')
            return print_newest(optarg, "problem", "text");
        else if (o == 'C')
            return print_chip(optarg);
        else if (o == 'D')
            return print_newest(optarg, "device", "name");
        else
            return 2;
    }
    if (!out_dir || !problem || !stages || optind == argc) {
        fprintf(stderr, "tabulate: give --out DIR --problem TEXT --stages LIST LABEL=FILE...\n");
        return 2;
    }
    struct table_output out = {create(out_dir, tables[0]), create(out_dir, tables[1]),
                               create(out_dir, tables[2])};
    fputs("series number column why\n", out.notes);
    fputs("label pedigree kind\n", out.labels);
    for (int i = optind; i < argc; i++) {
        char *path = strchr(argv[i], '=');
        if (!path) {
            fprintf(stderr, "tabulate: '%s' is not LABEL=FILE\n", argv[i]);
            return 2;
        }
        *path++ = 0;
        const char *why = put_series(&out, i - optind, argv[i], path, problem, stages);
        if (why) {
            fprintf(stderr, "tabulate: %s\n", why);
            return (int)reason_status(why, STATUS_FILE);
        }
    }
    /* of no series: gnuplot 5.4 crashes when it draws labels from a file with a single line */
    fputs("-1 0 none \"\"\n-1 0 none \"\"\n", out.notes);
    int failed = ferror(out.table) | ferror(out.notes) | ferror(out.labels);
    failed |= fclose(out.table) | fclose(out.notes) | fclose(out.labels);
    for (int i = 0; i < 3 && !failed; i++) {
        char from[4096], to[4096];
        snprintf(from, sizeof from, "%s/.%s", out_dir, tables[i]);
        snprintf(to, sizeof to, "%s/%s", out_dir, tables[i]);
        failed = rename(from, to);
    }
    if (failed) fprintf(stderr, "tabulate: cannot write to %s: %m\n", out_dir);
    return failed || (strict && n_damaged) ? STATUS_FILE : STATUS_RIGHT;
}
