#include "emu_counters.h"

#include "emulator/core/state.h"
#include "common/base/heap.h"
#include "source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[EMU_CLASSES] = {[EMU_FP32] = "fp32",
                                                     [EMU_FP64] = "fp64",
                                                     [EMU_FP16] = "fp16",
                                                     [EMU_INT] = "int",
                                                     [EMU_LOGIC] = "logic",
                                                     [EMU_MOVE] = "move",
                                                     [EMU_CONVERT] = "convert",
                                                     [EMU_COMPARE] = "compare",
                                                     [EMU_MUFU] = "mufu",
                                                     [EMU_BRANCH] = "branch",
                                                     [EMU_BARRIER] = "barrier",
                                                     [EMU_MBARRIER] = "mbarrier",
                                                     [EMU_FENCE] = "fence",
                                                     [EMU_SHUFFLE] = "shuffle",
                                                     [EMU_VOTE] = "vote",
                                                     [EMU_LD_GLOBAL] = "ld_global",
                                                     [EMU_ST_GLOBAL] = "st_global",
                                                     [EMU_LD_SHARED] = "ld_shared",
                                                     [EMU_ST_SHARED] = "st_shared",
                                                     [EMU_LD_LOCAL] = "ld_local",
                                                     [EMU_ST_LOCAL] = "st_local",
                                                     [EMU_LD_PARAM] = "ld_param",
                                                     [EMU_LD_CONST] = "ld_const",
                                                     [EMU_ATOMIC] = "atomic",
                                                     [EMU_LD_CLUSTER] = "ld_dshared",
                                                     [EMU_ST_CLUSTER] = "st_dshared",
                                                     [EMU_HMMA] = "hmma",
                                                     [EMU_HGMMA] = "hgmma",
                                                     [EMU_LDSM] = "ldsm",
                                                     [EMU_STSM] = "stsm",
                                                     [EMU_LDGSTS] = "ldgsts",
                                                     [EMU_TMA] = "tma",
                                                     [EMU_OTHER] = "other"};

struct sum {
    double executed, threads, units, flops;
    double wavefronts, wavefronts_ideal, sectors, sectors_ideal, bytes, splits;
};

static void add(struct sum *s, const struct emu_inst *i, const struct emu_count *c) {
    s->executed += (double)c->executed;
    s->threads += 32.0 * (double)c->executed - (double)c->lanes_off;
    s->units += (double)c->executed * i->units;
    s->flops += (double)c->executed * i->flops;
    s->wavefronts += (double)c->wavefronts;
    s->wavefronts_ideal += (double)c->wavefronts_ideal;
    s->sectors += (double)c->sectors;
    s->sectors_ideal += (double)c->sectors_ideal;
    s->bytes += (double)c->bytes;
    s->splits += (double)c->splits;
}

struct list {
    struct counters *out;
    int capacity;
};

static void put(struct list *l, enum counter_source source, double value, const char *unit,
                const char *metric, const char *format, ...) __attribute__((format(printf, 6, 7)));
static void put(struct list *l, enum counter_source source, double value, const char *unit,
                const char *metric, const char *format, ...) {
    if (l->out->n == l->capacity) {
        int capacity = l->capacity ? 2 * l->capacity : 64;
        l->out->counter = heap_grown(l->out->counter, (size_t)capacity * sizeof *l->out->counter);
        l->capacity = capacity;
    }
    struct counter *c = &l->out->counter[l->out->n++];
    *c = (struct counter){.value = value, .source = source};
    va_list args;
    va_start(args, format);
    vsnprintf(c->name, sizeof c->name, format, args);
    va_end(args);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    snprintf(c->metric, sizeof c->metric, "%s", metric);
}

static void put_memory(struct list *l, const char *name, const struct sum *s, bool shared) {
    if (shared) {
        put(l, SOURCE_MODEL, s->wavefronts, "wavefronts", "bank model", "%s.wavefronts", name);
        put(l, SOURCE_MODEL, s->wavefronts_ideal, "wavefronts", "bank model", "%s.wavefronts_ideal",
            name);
    }
    put(l, SOURCE_EMULATOR, s->sectors, "sectors", "distinct 32-byte sectors of each request",
        "%s.sectors", name);
    put(l, SOURCE_EMULATOR, s->sectors_ideal, "sectors", "bytes / 32 of each request",
        "%s.sectors_ideal", name);
    put(l, SOURCE_EMULATOR, s->bytes, "bytes", "bytes of active lanes", "%s.bytes", name);
}

static const enum emu_class memory_classes[] = {
    EMU_LD_GLOBAL, EMU_ST_GLOBAL, EMU_LD_SHARED, EMU_ST_SHARED, EMU_LD_LOCAL, EMU_ST_LOCAL,
    EMU_ATOMIC,    EMU_LDSM,      EMU_STSM,      EMU_LDGSTS,    EMU_TMA,      EMU_HGMMA};

/* Least cycles of one SM for an even share of the work, resource by resource. Rates: chip.h.
 * Issue: one warp instruction a clock in each of 4 schedulers. DRAM: every distinct byte that
 * left the kernel is not known, so the compulsory traffic is what global instructions moved, as
 * if nothing hit a cache: no bound on time, and left out of the largest. */
static void put_bounds(struct list *l, const struct sum *class, const struct sum *all,
                       double wavefronts, const struct chip *chip) {
    double sms = chip->n_sms;
    struct {
        const char *name, *rule;
        double cycles;
    } bound[] = {
        {"tensor", "mma FLOP / mma rate + wgmma FLOP / tensor rate",
         class[EMU_HMMA].flops / chip->mma_flop_per_clk +
             class[EMU_HGMMA].flops / chip->tensor_flop_per_clk},
        {"mufu", "32 * MUFU instructions / rate",
         32 * class[EMU_MUFU].executed / chip->mufu_per_clk},
        {"fma", "32 * fp32 instructions / rate",
         32 * class[EMU_FP32].executed / chip->fp32_fma_per_clk},
        {"shared", "shared wavefronts", wavefronts},
        {"issue", "PTX instructions / 4", all->executed / 4},
    };
    double largest = 0;
    for (size_t b = 0; b < sizeof bound / sizeof *bound; b++) {
        put(l, SOURCE_MODEL, bound[b].cycles / sms, "cycles", bound[b].rule, "bound.%s",
            bound[b].name);
        if (bound[b].cycles > largest) largest = bound[b].cycles;
    }
    put(l, SOURCE_MODEL, largest / sms, "cycles", "the largest of the bounds: a bound, not a time",
        "bound.largest");
    put(l, SOURCE_MODEL, largest > 0 ? 100 * bound[0].cycles / largest : 0, "%",
        "bound.tensor / bound.largest", "bound.tensor_share");
    double global = class[EMU_LD_GLOBAL].bytes + class[EMU_ST_GLOBAL].bytes +
                    class[EMU_LDGSTS].bytes + class[EMU_TMA].bytes;
    double bytes_per_clk = 1e3 * chip->dram_gb_per_s / chip->clock_mhz;
    put(l, SOURCE_MODEL, global / bytes_per_clk, "cycles",
        "global bytes / DRAM rate, as if no cache hit", "uncached.dram");
}

/* Accesses by .shared::cluster that were the block's own are ordinary ones to hardware; only they
 * have wavefronts, and only the others sectors. */
static void move_own(struct sum *class, enum emu_class remote, enum emu_class ordinary) {
    struct sum *r = &class[remote], *o = &class[ordinary];
    o->units += r->splits;
    r->units -= r->splits;
    o->wavefronts += r->wavefronts;
    o->wavefronts_ideal += r->wavefronts_ideal;
    r->splits = r->wavefronts = r->wavefronts_ideal = 0;
}

const char *emu_counters_of(const struct emu_result *r, const struct chip *chip,
                            struct counters *out) {
    struct sum class[EMU_CLASSES] = {0}, all = {0};
    struct list l = {.out = out};
    *out = (struct counters){0};
    for (struct emu_counted at = {0}; emu_result_next(r, &at);) {
        add(&class[at.inst->class], at.inst, at.count);
        add(&all, at.inst, at.count);
    }
    move_own(class, EMU_LD_CLUSTER, EMU_LD_SHARED);
    move_own(class, EMU_ST_CLUSTER, EMU_ST_SHARED);
    put(&l, SOURCE_EMULATOR, all.executed, "instructions", "PTX instructions of all warps",
        "instructions");
    put(&l, SOURCE_EMULATOR, all.threads, "instructions", "the same, by active threads", "threads");
    for (int c = 0; c < EMU_CLASSES; c++)
        put(&l, SOURCE_EMULATOR, class[c].units, "instructions", "PTX instructions, in SASS terms",
            "%s", class_names[c]);
    for (size_t m = 0; m < sizeof memory_classes / sizeof *memory_classes; m++)
        put_memory(&l, class_names[memory_classes[m]], &class[memory_classes[m]], true);
    put_memory(&l, class_names[EMU_LD_CLUSTER], &class[EMU_LD_CLUSTER], false);
    put_memory(&l, class_names[EMU_ST_CLUSTER], &class[EMU_ST_CLUSTER], false);
    /* as the hardware's counters by instruction: TMA's writes are not among them, wgmma's reads
     * are */
    all.wavefronts -= class[EMU_TMA].wavefronts;
    all.wavefronts_ideal -= class[EMU_TMA].wavefronts_ideal;
    put(&l, SOURCE_MODEL, all.wavefronts, "wavefronts", "bank model", "shared_wavefronts");
    put(&l, SOURCE_MODEL, all.wavefronts_ideal, "wavefronts", "bank model",
        "shared_wavefronts_ideal");
    put(&l, SOURCE_EMULATOR, class[EMU_BRANCH].splits, "branches", "executions that divided a warp",
        "branch_splits");
    put(&l, SOURCE_EMULATOR, class[EMU_BARRIER].splits, "arrivals", "warps at barriers",
        "barrier_arrivals");
    put_bounds(&l, class, &all, all.wavefronts + class[EMU_TMA].wavefronts, chip);
    return NULL;
}

const char *emu_lines(const struct emu_result *r,
                      const char *(*visit)(void *arg, const struct emu_line *l), void *arg) {
    for (struct emu_counted at = {0}; emu_result_next(r, &at);) {
        const struct emu_origin *o = at.origin;
        const struct emu_count *c = at.count;
        struct emu_line line = {.kernel = at.kernel->name,
                                .opcode = at.inst->opcode,
                                .n_frames = o->n_frames,
                                .frame = o->frame,
                                .ptx_line = o->ptx_line,
                                .is_branch = at.inst->class == EMU_BRANCH,
                                .executed = (double)c->executed,
                                .threads = 32.0 * (double)c->executed - (double)c->lanes_off,
                                .wavefronts = (double)c->wavefronts,
                                .wavefronts_ideal = (double)c->wavefronts_ideal,
                                .sectors = (double)c->sectors,
                                .sectors_ideal = (double)c->sectors_ideal,
                                .bytes = (double)c->bytes,
                                .splits = (double)c->splits};
        const char *why = visit(arg, &line);
        if (why) return why;
    }
    return NULL;
}

/* An instruction counts for its own line and for each that it was inlined into: a line's counts
 * include what it calls. */
static const char *add_line(void *arg, const struct emu_line *l) {
    struct source_line s = {.executed = l->executed,
                            .threads = l->threads,
                            .wavefronts = l->wavefronts,
                            .wavefronts_ideal = l->wavefronts_ideal,
                            .sectors = l->sectors,
                            .sectors_ideal = l->sectors_ideal,
                            .splits = l->is_branch ? l->splits : 0};
    const char *why = l->n_frames ? NULL : source_add(arg, &s);
    for (int f = 0; f < l->n_frames && !why; f++) {
        bool again = false; /* a recursion of lines counts once */
        for (int g = 0; g < f; g++)
            again |= l->frame[g].line == l->frame[f].line &&
                     l->frame[g].file_index == l->frame[f].file_index;
        if (again) continue;
        s.line = l->frame[f].line;
        snprintf(s.file, sizeof s.file, "%s", l->frame[f].file);
        why = source_add(arg, &s);
    }
    return why;
}

const char *emu_source_of(const struct emu_result *r, struct source *out) {
    const char *why = emu_lines(r, add_line, out);
    if (!why) source_sort(out);
    return why;
}
