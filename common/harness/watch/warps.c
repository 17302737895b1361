#include "warps.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/cuda/stamps.h"
#include "common/device/predictor.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum what {
    WORKS,
    FETCH,
    OWN_RESULTS,
    PIPE,
    PRODUCTS,
    OTHERS,
    COPIES,
    MEMORY,
    PIPE_BUSY,
    N_WHATS,
    NOTHING
};
static const char *const what_text[N_WHATS] = {
    [WORKS] = "issues, or waits for the pipeline",
    [FETCH] = "waits for instructions",
    [OWN_RESULTS] = "waits for shared memory or MUFU",
    [PIPE] = "waits for a pipe or its queue",
    [PRODUCTS] = "waits for its own WGMMA",
    [OTHERS] = "waits for other warps",
    [COPIES] = "waits at an mbarrier (TMA, other warps)",
    [MEMORY] = "waits for global memory",
    [PIPE_BUSY] = "pipe is busy",
};

/* Without a prediction the units are known by what warps wait for. */
static const char *const pipe_name[2][2] = {{"tensor cores", "MUFU"},
                                            {"products under way", "at softmax"}};

/* Warps, then the tensor cores, then MUFU of the four sub-cores together. */
enum { TENSOR_LANE = SASS_MAX_WARPS, MUFU_LANE, N_LANES };

/* Cycles [from, to) of a lane, one after the other. */
struct stretch {
    uint64_t from, to;
    uint8_t what;
};
struct lane {
    struct stretch *stretch;
    size_t n, room;
    bool loads, multiplies;
};
struct warps {
    const struct sass_kernel *kernel;
    struct lane lane[N_LANES];
    uint64_t end; /* of the block */
    bool stamped;
    int users; /* how many have the second unit at once, to its share of 1 */
};

static bool has(const struct warps *w, int i, const char *word) {
    return i >= 0 && i < w->kernel->n_inst && strstr(w->kernel->text[i], word);
}

static void add(struct lane *l, enum what what, uint64_t from, uint64_t to) {
    struct stretch *last = l->n ? &l->stretch[l->n - 1] : NULL;
    if (last && last->what == what && last->to == from) {
        last->to = to;
        return;
    }
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        l->stretch = heap_grown(l->stretch, l->room * sizeof *l->stretch);
    }
    l->stretch[l->n++] = (struct stretch){from, to, (uint8_t)what};
}

static enum what what_of(const struct warps *w, int i, int reason) {
    switch (reason) {
    case PREDICTOR_NO_INSTRUCTION:
    case PREDICTOR_BRANCH:
        return FETCH;
    case PREDICTOR_SHORT_SCOREBOARD:
        return OWN_RESULTS;
    case PREDICTOR_MATH_PIPE:
    case PREDICTOR_MIO_THROTTLE:
    case PREDICTOR_LG_THROTTLE:
        return PIPE;
    case PREDICTOR_BARRIER:
        return has(w, i, "WARPGROUP.DEPBAR") ? PRODUCTS : OTHERS;
    case PREDICTOR_GMMA:
        return PRODUCTS;
    case PREDICTOR_LONG_SCOREBOARD:
        return has(w, i, "TRYWAIT") || has(w, i - 1, "TRYWAIT") ? COPIES : MEMORY;
    case PREDICTOR_SLEEPING:
        return OTHERS;
    default:
        return WORKS;
    }
}

static void span(void *user, int warp, uint32_t pc, int reason, uint64_t from, uint64_t to) {
    struct warps *w = user;
    struct lane *l = &w->lane[warp];
    int i = (int)pc / 16;
    if (reason == PREDICTOR_SELECTED) {
        l->loads |= has(w, i, "UTMALDG") || has(w, i, "UBLKCP");
        l->multiplies |= has(w, i, "HGMMA");
    }
    if (to > w->end) w->end = to;
    add(l, what_of(w, i, reason), from, to);
}

static void busy(void *user, int smsp, int unit, uint64_t from, uint64_t to) {
    struct warps *w = user;
    (void)smsp;
    add(&w->lane[unit == PREDICTOR_UNIT_XU ? MUFU_LANE : TENSOR_LANE], PIPE_BUSY, from, to);
}

/* ---- Bins: in each of them a warp does what it does most -------------------------------------- */

enum { BINS = 1500 };
struct bin {
    double cycles[N_WHATS];
};

static void fill(const struct lane *l, double width, struct bin bins[BINS]) {
    memset(bins, 0, BINS * sizeof *bins);
    for (size_t k = 0; k < l->n; k++) {
        const struct stretch *s = &l->stretch[k];
        for (int b = (int)((double)s->from / width); b < BINS; b++) {
            double from = b * width, to = from + width;
            if (from >= (double)s->to) break;
            if (from < (double)s->from) from = (double)s->from;
            if (to > (double)s->to) to = (double)s->to;
            bins[b].cycles[s->what] += to - from;
        }
    }
}

static const char *text_of(const struct warps *w, enum what what) {
    return w->stamped && what == PIPE_BUSY ? "share of the time, or of the warps" : what_text[what];
}

static enum what most(const struct bin *b) {
    enum what best = NOTHING;
    for (int k = 0; k < N_WHATS; k++)
        if (b->cycles[k] > (best == NOTHING ? 0 : b->cycles[best])) best = (enum what)k;
    return best;
}

static void lane_name(const struct warps *w, int lane, char out[48]) {
    const struct lane *l = &w->lane[lane];
    if (lane == TENSOR_LANE || lane == MUFU_LANE)
        snprintf(out, 48, "%s", pipe_name[w->stamped][lane == MUFU_LANE]);
    else
        snprintf(out, 48, "warp %d%s", lane,
                 l->loads        ? ", loads"
                 : l->multiplies ? ", products"
                                 : "");
}

struct warps_output {
    FILE *table;
    json_t *events; /* of Chrome's Trace Event Format */
    double mhz;
};

/* Numbers from 1: to viewers process 0 and its thread 0 are the idle ones. */
static void name_event(const struct warps_output *o, const char *what, int row, const char *name) {
    json_array_append_new(o->events, json_pack("{ss ss si si s{ss}}", "name", what, "ph", "M",
                                               "pid", 1, "tid", row + 1, "args", "name", name));
}

static void event(const struct warps_output *o, int row, const char *name, double from, double to,
                  double share) {
    json_t *e = json_pack("{ss ss si si sf sf}", "name", name, "ph", "X", "pid", 1, "tid", row + 1,
                          "ts", from / o->mhz, "dur", (to - from) / o->mhz);
    if (share < 1) json_object_set_new(e, "args", json_pack("{sf}", "share", share));
    json_array_append_new(o->events, e);
}

static void write_lane(const struct warps *w, int lane, int row, const struct warps_output *o) {
    static struct bin bins[BINS];
    const double width = fmax((double)w->end / BINS, 1e-3 * o->mhz); /* viewers know whole ns */
    bool pipe = lane >= TENSOR_LANE;
    char name[48];
    if (!w->lane[lane].n || !w->end) return;
    fill(&w->lane[lane], width, bins);
    lane_name(w, lane, name);
    name_event(o, "thread_name", row, name);
    for (int b = 0, next; b < BINS; b = next) {
        enum what what = most(&bins[b]);
        double share =
            pipe ? bins[b].cycles[PIPE_BUSY] / width / (lane == MUFU_LANE ? w->users : 1) : 1;
        for (next = b + 1; !pipe && next < BINS && most(&bins[next]) == what; next++) {
        }
        if (what == NOTHING) continue;
        if (share > 1) share = 1; /* four sub-cores multiply at once where it is HMMA */
        fprintf(o->table, "%d\t%s\t%s\t%d\t%.4f\t%.4f\t%.3f\n", row, name, text_of(w, what), what,
                b * width / o->mhz, next * width / o->mhz, share);
        event(o, row, text_of(w, what), b * width, next * width, share);
    }
}

/* ---- Files -------------------------------------------------------------------------------------- */

static void json_path(const char *path, char out[PATH_MAX]) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int length = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    snprintf(out, PATH_MAX, "%.*s.json", length, path);
}

static const char *write_files(const struct warps *w, double mhz, const char *title,
                               const char *path) {
    char trace[PATH_MAX];
    json_path(path, trace);
    struct warps_output o = {.table = fopen(path, "w"), .events = json_array(), .mhz = mhz};
    if (!o.table) {
        json_decref(o.events);
        return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    }
    int row = 0;
    name_event(&o, "process_name", -1, title);
    fprintf(o.table, "# %s\nlane\tname\twhat\tnumber\tbegin_us\tend_us\tshare\n", title);
    for (int lane = N_LANES - 1; lane >= 0; lane--)
        if (w->lane[lane].n) write_lane(w, lane, row++, &o);
    bool failed = ferror(o.table);
    failed |= fclose(o.table) != 0;
    json_t *all = json_pack("{so ss s{ss}}", "traceEvents", o.events, "displayTimeUnit", "ns",
                            "otherData", "title", title);
    if (!failed) failed = json_dump_file(all, trace, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0;
    json_decref(all);
    if (!failed) return NULL;
    const char *why = reason_as(STATUS_FILE, "%s or %s: %s", path, trace, strerror(errno));
    unlink(path);
    unlink(trace);
    return why;
}

const char *warps_write(struct device *d, const char *image_dir, const char *image,
                        const struct device_launch *launches, int n, const char *title,
                        const char *path) {
    struct warps w = {.users = SM_SMSPS};
    struct predictor c;
    struct prediction p;
    const struct device_launch *l = device_main_launch(launches, n);
    char text[768];
    const char *why = predictor_open(&c, d, image_dir, image);
    if (!why && !(w.kernel = sass_find(c.module, l->kernel)))
        why = reason_as(STATUS_COUNTERS, "no kernel '%s' in the cubin", l->kernel);
    if (!why)
        why = predictor_launch(
            &c, l, &(struct predictor_options){.places = 1, .span = span, .busy = busy, .user = &w},
            &p);
    if (!why) {
        prediction_close(&p);
        snprintf(text, sizeof text, "%s, first block at %.0f MHz, predicted; %s", title, c.mhz,
                 c.validated);
        why = write_files(&w, c.mhz, text, path);
    }
    for (int i = 0; i < N_LANES; i++) free(w.lane[i].stretch);
    predictor_close(&c);
    return why;
}

/* ---- From stamps -------------------------------------------------------------------------------- */

/* What a warp does from a stamp of this kind on. */
static enum what what_from(enum stamp kind) {
    return kind == STAMP_FULL       ? COPIES
           : kind == STAMP_TURN     ? OTHERS
           : kind == STAMP_PRODUCTS ? PRODUCTS
                                    : WORKS;
}

/* The stamps of one warp, from `begin` of the block on. Between the issue of products and the wait for the
 * last of them the warp's products are under way; what it does else, where it multiplies, is softmax. */
static void read_stamps(struct warps *w, int warp, const uint64_t *stamp, uint32_t begin) {
    struct lane *l = &w->lane[warp];
    bool issued = false;
    for (int i = 0; i < STAMP_ROOM && stamp[i]; i++) {
        const enum stamp kind = (enum stamp)(stamp[i] >> 32);
        const uint64_t from = (uint32_t)stamp[i] - begin;
        const bool last = i + 1 == STAMP_ROOM || !stamp[i + 1];
        const uint64_t to = last ? from : (uint32_t)stamp[i + 1] - begin;
        l->loads |= kind == STAMP_LOAD;
        l->multiplies |= kind == STAMP_ISSUE;
        if (kind == STAMP_ISSUE) issued = true;
        if (to > w->end) w->end = to;
        if (to == from) continue;
        add(l, what_from(kind), from, to);
        if (warp % 4 == 0 && (kind == STAMP_ISSUE || kind == STAMP_PRODUCTS)) /* a warpgroup's */
            add(&w->lane[TENSOR_LANE], PIPE_BUSY, from, to);
        else if (issued && what_from(kind) == WORKS)
            add(&w->lane[MUFU_LANE], PIPE_BUSY, from, to);
    }
}

static int by_from(const void *a, const void *b) {
    const struct stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Several at once are one. */
static void unite(struct lane *l) {
    size_t n = 0;
    if (l->n) qsort(l->stretch, l->n, sizeof *l->stretch, by_from);
    for (size_t i = 0; i < l->n; i++) {
        if (!n || l->stretch[i].from > l->stretch[n - 1].to)
            l->stretch[n++] = l->stretch[i];
        else if (l->stretch[i].to > l->stretch[n - 1].to)
            l->stretch[n - 1].to = l->stretch[i].to;
    }
    l->n = n;
}

static const char *run_stamped(struct device *d, struct device_image *image,
                               const struct device_launch *l, uint64_t *stamps) {
    const size_t wanted = STAMP_WARPS * STAMP_ROOM * sizeof *stamps;
    device_ptr at;
    size_t bytes = 0;
    const char *why = device_variable(d, image, STAMP_SYMBOL, &at, &bytes);
    if (why) return why;
    if (bytes != wanted) return reason("%s has %zu bytes, not %zu", STAMP_SYMBOL, bytes, wanted);
    for (int i = 0; i < 2 && !why; i++) { /* the first warms the caches */
        why = device_fill(d, at, 0, bytes);
        if (!why) why = device_launch(d, image, l);
        if (!why) why = device_sync(d);
    }
    return why ? why : device_copy_out(d, stamps, at, bytes);
}

/* What is written of a block: at its whole length a turn would be less than a bin. */
enum { STAMPED_US = 20 };

const char *warps_stamped(struct device *d, struct device_image *image,
                          const struct device_launch *launches, int n, double mhz,
                          const char *title, const char *path) {
    uint64_t *stamps = heap_zeroed(STAMP_WARPS * STAMP_ROOM, sizeof *stamps);
    struct warps w = {.stamped = true};
    const char *why = run_stamped(d, image, device_main_launch(launches, n), stamps);
    if (!why && !*stamps) why = "the first block left no stamps";
    uint32_t begin = (uint32_t)*stamps;
    for (int i = 1; i < STAMP_WARPS; i++) {
        const uint64_t first = stamps[i * STAMP_ROOM];
        if (first && (int32_t)((uint32_t)first - begin) < 0) begin = (uint32_t)first;
    }
    for (int i = 0; i < STAMP_WARPS && !why; i++) {
        read_stamps(&w, i, stamps + i * STAMP_ROOM, begin);
        w.users += w.lane[i].multiplies;
    }
    if (!w.users) w.users = 1;
    if ((double)w.end > STAMPED_US * mhz) w.end = (uint64_t)(STAMPED_US * mhz);
    unite(&w.lane[TENSOR_LANE]);
    if (!why) why = write_files(&w, mhz, title, path);
    for (int i = 0; i < N_LANES; i++) free(w.lane[i].stretch);
    free(stamps);
    return why;
}
