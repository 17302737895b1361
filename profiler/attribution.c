#include "attribution.h"

#include "common/base/heap.h"
#include "common/base/program.h"
#include "common/device/device_ops.h"
#include "emulator/sass/listing.h"
#include "gpu_counts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Collecting: on a GPU the counts of each instruction, and the line that it comes from ------ */

/* "" and 0 where the compiler noted no line. */
static void find_line(const struct cupti *cupti, const void *cubin, size_t cubin_bytes,
                      const struct sass_record *r, char file[PATH_MAX], int *line) {
    CUpti_GetSassToSourceCorrelationParams ask = {
        .size = CUpti_GetSassToSourceCorrelationParamsSize,
        .cubin = cubin,
        .cubinSize = cubin_bytes,
        .functionName = r->at.function,
        .pcOffset = r->at.pc,
    };
    CUptiResult result = cupti->cuptiGetSassToSourceCorrelation(&ask);
    if (result == CUPTI_ERROR_OUT_OF_MEMORY) heap_exhausted();
    if (result != CUPTI_SUCCESS) return; /* a line that the compiler noted nowhere */
    if (ask.fileName)
        snprintf(file, PATH_MAX, "%s%s%s", ask.dirName ? ask.dirName : "",
                 ask.dirName && *ask.dirName ? "/" : "", ask.fileName);
    *line = (int)ask.lineNumber;
    free(ask.fileName);
    free(ask.dirName);
}

/* The instruction in nvdisasm's listing, NULL where it is not: text, and where it is inlined. */
static const struct sass_line *listed(const struct sass_listing *l, const struct sass_record *r) {
    for (int f = 0; f < l->n; f++)
        if (!strcmp(l->function[f].name, r->at.function))
            return (int)(r->at.pc / 16) < l->function[f].n ? &l->function[f].line[r->at.pc / 16]
                                                           : NULL;
    return NULL;
}

/* What the instruction keeps busy besides memory and issue: by its name, where there is a listing. */
static void add_busy(const struct sass_line *l, const struct chip *chip, int n_sms,
                     struct source_counts *c) {
    const double n = c->executed / n_sms;
    int columns, k, shape;
    if (sscanf(l->opcode, "HGMMA.64x%dx%d", &columns, &k) == 2) /* a quarter of it is this warp's */
        c->busy[SOURCE_TENSOR] = n * 2 * 16 * columns * k / chip->tensor_flop_per_clk;
    else if (sscanf(l->opcode, "HMMA.%d", &shape) == 1)
        c->busy[SOURCE_TENSOR] = n * (shape == 1688 ? 2048 : 4096) / chip->mma_flop_per_clk;
    else if (!strncmp(l->opcode, "MUFU", 4))
        c->busy[SOURCE_MUFU] = n * 32 / chip->mufu_per_clk;
    else if (!strncmp(l->opcode, "FFMA", 4) || !strncmp(l->opcode, "FMUL", 4) ||
             !strncmp(l->opcode, "FADD", 4))
        c->busy[SOURCE_FMA] = n * 32 / chip->fp32_fma_per_clk;
}

/* CUPTI knows the innermost line only. */
static void add_record(const struct cupti *cupti, const void *cubin, size_t cubin_bytes,
                       const struct sass_record *r, const struct sass_line *l,
                       const struct source_counts *c, struct source *out) {
    struct source_frame frame[SASS_FRAMES] = {{0}};
    char file[PATH_MAX] = "", text[256] = "";
    int n = 1;
    if (l) {
        n = l->n_frames;
        for (int f = 0; f < n; f++)
            frame[f] = (struct source_frame){l->frame[f].file, l->frame[f].line};
        snprintf(text, sizeof text, "%s%s%s %s", l->guard, *l->guard ? " " : "", l->opcode,
                 l->operands);
    } else {
        frame[0].file = file;
        find_line(cupti, cubin, cubin_bytes, r, file, &frame[0].line);
    }
    source_add(out, SOURCE_SASS, (int)r->at.pc, text, frame, n, c);
}

/* `stalls` may be empty; samples at an instruction that was not counted belong to no line. */
static void attribute(const struct cupti *cupti, const struct sass *s, const struct stalls *stalls,
                      const struct sass_listing *listing, const void *cubin, size_t cubin_bytes,
                      const struct chip *chip, int n_sms, struct source *out) {
    struct source_counts lost = {0};
    for (int i = 0; i < stalls->n; i++)
        for (int r = 0; r < SOURCE_REASONS; r++) lost.cycles[r] += stalls->record[i].samples[r];
    for (int i = 0; i < s->n; i++) {
        const double *v = s->record[i].value;
        struct source_counts c = {
            .executed = v[SASS_EXECUTED],
            .threads = v[SASS_THREADS],
            .wavefronts = v[SASS_WAVEFRONTS],
            .wavefronts_ideal = v[SASS_WAVEFRONTS_IDEAL],
            .sectors = v[SASS_SECTORS],
            .sectors_ideal = v[SASS_SECTORS_IDEAL],
            .splits = v[SASS_DIVERGENT],
        };
        c.busy[SOURCE_SHARED] = c.wavefronts / n_sms;
        c.busy[SOURCE_GLOBAL] = 32 * c.sectors / SOURCE_L2_BYTES_PER_CLK / n_sms;
        c.busy[SOURCE_ISSUE] = c.executed / SOURCE_ISSUE_PER_CLK / n_sms;
        const struct stalls_record *sampled =
            stalls->n ? bsearch(&s->record[i], stalls->record, (size_t)stalls->n,
                                sizeof *stalls->record, by_place)
                      : NULL;
        for (int r = 0; sampled && r < SOURCE_REASONS; r++) {
            c.cycles[r] = sampled->samples[r];
            lost.cycles[r] -= sampled->samples[r];
        }
        const struct sass_line *l = listed(listing, &s->record[i]);
        if (l) add_busy(l, chip, n_sms, &c);
        add_record(cupti, cubin, cubin_bytes, &s->record[i], l, &c, out);
    }
    if (source_cycles(&lost)) source_add(out, SOURCE_SASS, 0, "", NULL, 0, &lost);
    source_lines(out);
}

/* ---- On a GPU: time, then samples, then counts: a pass each ------------------------------------ */

struct launches {
    struct device *device;
    struct device_image *image;
    const struct device_launch *launch;
    int n;
};

static const char *run(void *arg) {
    const struct launches *l = arg;
    const char *why = NULL;
    for (int i = 0; !why && i < l->n; i++) why = device_launch(l->device, l->image, &l->launch[i]);
    return why ? why : device_sync(l->device);
}

/* SM cycles of the launches back to back; without a clock the reason. */
static const char *time_cycles(const struct launches *l, struct source *out) {
    double us, mhz;
    const char *no_clock;
    const char *why = device_time(l->device, l->image, l->launch, l->n, &us, &mhz, &no_clock);
    if (no_clock) snprintf(out->not_timed, sizeof out->not_timed, "%s", no_clock);
    out->elapsed = us * mhz;
    return why;
}

/* Samples of as many runs as give enough of them. */
static const char *sample(const struct gpu_counts *g, struct launches *l, double cycles,
                          struct stalls *out) {
    enum { WANTED_CYCLES = 1 << 18, MOST = 200 };
    const double runs = cycles > 0 ? WANTED_CYCLES / cycles : MOST;
    const int n = runs < 1 ? 1 : runs > MOST ? MOST : (int)runs;
    const char *why = gpu_counts_stalls(g, out);
    if (!why) why = stalls_run(out, run, l, n, cycles);
    const char *ended = stalls_end(out);
    return why ? why : ended;
}

/* What stands above the columns. */
static void describe(struct source *out, const struct stalls *s, const char *why) {
    if (why)
        snprintf(out->about, sizeof out->about, "n/a: %s", why);
    else
        snprintf(out->about, sizeof out->about, "%.0f, in each SM one every %u cycles", s->samples,
                 s->every);
    if (!why && s->dropped > 0) {
        size_t n = strlen(out->about);
        snprintf(out->about + n, sizeof out->about - n, "; the hardware lost %.0f more",
                 s->dropped);
    }
}

static const char *collect_gpu(struct device *d, struct device_image *image,
                               const struct device_launch *launches, int n, struct source *out) {
    struct launches l = {d, image, launches, n};
    struct gpu_counts *g = NULL;
    struct stalls stalls = {0};
    struct sass_listing listing = {0};
    const struct sass *s;
    char cache[PATH_MAX];
    size_t bytes;
    const void *cubin = device_cuda_cubin(d, image, &bytes);
    const char *why = time_cycles(&l, out);
    if (!why) why = gpu_counts_open(d, image, launches, n, &g);
    if (why) goto done;
    const char *no_samples = sample(g, &l, out->elapsed, &stalls);
    if (no_samples)
        stalls_free(&stalls);
    else
        out->reason = stalls_reason, out->n_reasons = stalls_reasons();
    out->sampled = true;
    describe(out, &stalls, no_samples);
    if ((why = gpu_counts_sass(g, SASS_ALL, &s))) goto done;
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    if (sass_listing_open(device_cuda_path(image), cubin, bytes, cache, &listing))
        listing.n = 0; /* no nvdisasm: neither texts nor what is inlined where */
    attribute(gpu_counts_cupti(g), s, &stalls, &listing, cubin, bytes, &device_info(d)->chip,
              device_busy_sms(d, launches, n), out);
done:
    if (listing.n) sass_listing_close(&listing);
    stalls_free(&stalls);
    gpu_counts_close(g);
    return why;
}

const char *attribution_collect(struct device *d, struct device_image *image,
                                const struct device_launch *launches, int n, struct source *out) {
    const char *why;
    *out = (struct source){0};
    if (!device_info(d)->is_emulator)
        why = collect_gpu(d, image, launches, n, out);
    else
        why = d->ops->source ? d->ops->source(d, image, launches, n, out)
                             : "this emulator does not count by line";
    if (why) source_free(out);
    return why;
}

/* ---- What they say ---------------------------------------------------------------------------- */

int attribution_limit(const struct source *s) {
    const double full = 0.5; /* of the predicted cycles: with less, waiting decides */
    const double near = 0.9; /* every instruction is issued: a unit as busy as that is the reason */
    int most = 0;
    for (int r = 1; r < SOURCE_RESOURCES; r++)
        if (s->total.busy[r] * (r == SOURCE_ISSUE ? near : 1) > s->total.busy[most]) most = r;
    return s->elapsed > 0 && s->total.busy[most] < full * s->elapsed ? ATTRIBUTION_TIME : most;
}

double attribution_share(const struct source *s, const struct source_counts *c, int limit) {
    bool time = limit == ATTRIBUTION_TIME;
    double all = time ? source_cycles(&s->total) : s->total.busy[limit];
    return all > 0 ? (time ? source_cycles(c) : c->busy[limit]) / all : 0;
}

void attribution_hot(const struct source *s, int limit, int n, int *line) {
    for (int i = 0; i < n; i++) {
        line[i] = -1;
        double most = 0;
        for (int l = 0; l < s->n_lines; l++) {
            double share = attribution_share(s, &s->line[l].own, limit);
            bool had = false;
            for (int k = 0; k < i; k++) had |= line[k] == l;
            if (!had && share > most) most = share, line[i] = l;
        }
    }
}

bool attribution_value(const struct source *s, const struct source_counts *c, int i,
                       struct attribution_value *out) {
    const struct attribution_value count[] = {
        {"instructions", "warp instructions", c->executed},
        {"threads", "thread instructions", c->threads},
        {"shared_wavefronts", "wavefronts", c->wavefronts},
        {"shared_wavefronts_ideal", "wavefronts", c->wavefronts_ideal},
        {"global_sectors", "sectors", c->sectors},
        {"global_sectors_ideal", "sectors", c->sectors_ideal},
        {"divided_warps", "branches", c->splits},
    };
    const int n = sizeof count / sizeof *count;
    *out = i < n ? count[i] : (struct attribution_value){.unit = "cycles of an SM"};
    if ((i -= n) < 0) return true;
    if (i < SOURCE_RESOURCES) {
        snprintf(out->name, sizeof out->name, "busy.%s", source_resource_name[i]);
        out->value = c->busy[i];
        return true;
    }
    i -= SOURCE_RESOURCES;
    if (i >= s->n_reasons) return false;
    snprintf(out->name, sizeof out->name, "stall.%s", s->reason[i]);
    out->unit = s->sampled ? "samples of warps" : "cycles of warps";
    out->value = c->cycles[i];
    return true;
}
