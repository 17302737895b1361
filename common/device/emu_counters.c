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

struct counter_list {
    struct counters *out;
    int capacity;
};

static void put(struct counter_list *l, enum counter_source source, double value, const char *unit,
                const char *metric, const char *format, ...) __attribute__((format(printf, 6, 7)));
static void put(struct counter_list *l, enum counter_source source, double value, const char *unit,
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

static void put_memory(struct counter_list *l, const char *name, const struct sum *s, bool shared) {
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

/* What a sum over instructions of one class keeps busy, in cycles of one SM; rates: chip.h. */
static void add_busy(const struct sum *s, enum emu_class class, const struct chip *chip,
                     double busy[SOURCE_RESOURCES]) {
    if (class == EMU_HMMA) busy[SOURCE_TENSOR] += s->flops / chip->mma_flop_per_clk;
    if (class == EMU_HGMMA) busy[SOURCE_TENSOR] += s->flops / chip->tensor_flop_per_clk;
    if (class == EMU_MUFU) busy[SOURCE_MUFU] += 32 * s->executed / chip->mufu_per_clk;
    if (class == EMU_FP32) busy[SOURCE_FMA] += 32 * s->executed / chip->fp32_fma_per_clk;
    busy[SOURCE_SHARED] += s->wavefronts;
    busy[SOURCE_GLOBAL] += 32 * s->sectors / SOURCE_L2_BYTES_PER_CLK;
    busy[SOURCE_ISSUE] += s->executed / SOURCE_ISSUE_PER_CLK;
}

/* Least cycles of one SM for an even share of the work, resource by resource. What global
 * instructions moved is no bound on time, as caches may hit, and left out of the largest; so are
 * the schedulers: what they issue is machine code. */
static void put_bounds(struct counter_list *l, const struct sum *class,
                       const double busy[SOURCE_RESOURCES], const struct chip *chip) {
    static const struct {
        enum source_resource resource;
        const char *rule;
    } bound[] = {{SOURCE_TENSOR, "mma FLOP / mma rate + wgmma FLOP / tensor rate"},
                 {SOURCE_MUFU, "32 * MUFU instructions / rate"},
                 {SOURCE_FMA, "32 * fp32 instructions / rate"},
                 {SOURCE_SHARED, "shared wavefronts"},
                 {SOURCE_ISSUE, "PTX instructions / 4"}};
    double sms = chip->n_sms, largest = 0;
    for (size_t b = 0; b < sizeof bound / sizeof *bound; b++) {
        double cycles = busy[bound[b].resource];
        put(l, SOURCE_MODEL, cycles / sms, "cycles", bound[b].rule, "bound.%s",
            source_resource_name[bound[b].resource]);
        if (bound[b].resource != SOURCE_ISSUE && cycles > largest) largest = cycles;
    }
    put(l, SOURCE_MODEL, largest / sms, "cycles", "the largest of the others' bounds",
        "bound.unit");
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
}

const char *emu_counters_of(const struct emu_result *r, const struct chip *chip,
                            struct counters *out) {
    struct sum class[EMU_CLASSES] = {0}, all = {0};
    double busy[SOURCE_RESOURCES] = {0};
    struct counter_list l = {.out = out};
    *out = (struct counters){0};
    for (struct emu_counted at = {0}; emu_result_next(r, &at);) {
        add(&class[at.inst->class], at.inst, at.count);
        add(&all, at.inst, at.count);
    }
    for (int c = 0; c < EMU_CLASSES; c++) add_busy(&class[c], (enum emu_class)c, chip, busy);
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
    put(&l, SOURCE_EMULATOR, class[EMU_HMMA].flops + class[EMU_HGMMA].flops, "FLOP",
        "of products of tensor cores", "tensor_flop");
    put_bounds(&l, class, busy, chip);
    return NULL;
}

void emu_source_of(const struct emu_result *r, const struct chip *chip, int n_sms,
                   struct source *out) {
    for (struct emu_counted at = {0}; emu_result_next(r, &at);) {
        const struct emu_origin *o = at.origin;
        struct sum s = {0};
        struct source_frame frame[EMU_FRAMES];
        char text[256];
        add(&s, at.inst, at.count);
        if (!s.executed) continue;
        struct source_counts c = {.executed = s.executed,
                                  .threads = s.threads,
                                  .wavefronts = s.wavefronts,
                                  .wavefronts_ideal = s.wavefronts_ideal,
                                  .sectors = s.sectors,
                                  .sectors_ideal = s.sectors_ideal,
                                  .splits = at.inst->class == EMU_BRANCH ? s.splits : 0};
        add_busy(&s, (enum emu_class)at.inst->class, chip, c.busy);
        for (int b = 0; b < SOURCE_RESOURCES; b++) c.busy[b] /= n_sms;
        for (int f = 0; f < o->n_frames; f++)
            frame[f] = (struct source_frame){o->frame[f].file, o->frame[f].line};
        snprintf(text, sizeof text, "%.*s", (int)o->text_length, o->text);
        source_add(out, SOURCE_PTX, o->ptx_line, text, frame, o->n_frames, &c);
    }
    source_lines(out);
}
