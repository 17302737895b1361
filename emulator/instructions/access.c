/* Memory accesses: bounds, alignment, races, counts. */
#include "access.h"

#include "async.h"

#include "emulator/checks/global.h"
#include "emulator/checks/overlap.h"
#include "emulator/checks/race.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/footprint.h"

#include "common/cuda/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shared memory --------------------------------------------------------------------------- */

/* The lanes whose access is legal; reports the others. */
static uint32_t shared_bad(struct emu_warp *w, const struct emu_block *b, const struct emu_inst *i,
                           uint32_t mask, const uint32_t addr[32], unsigned bytes) {
    uint32_t ok = mask;
    EMU_EACH_LANE(l, mask) {
        if (addr[l] % bytes) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "lane %d: shared address 0x%x is not a multiple of %u", l, addr[l], bytes);
        } else if (!emu_shared_holds(b, addr[l], bytes)) {
            emu_report(EMU_BAD_SHARED, w, i, NULL,
                       "lane %d: %u bytes at shared address 0x%x, but the block has 0x%x to 0x%x",
                       l, bytes, addr[l], b->shared_base, b->shared_bytes);
        } else {
            continue;
        }
        ok &= ~(1u << l);
    }
    return ok;
}

static inline void count_shared(struct emu_warp *w, const struct emu_inst *i,
                                const struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    struct emu_count *c = w->count + i->pc;
    if (i->units) {
        c->wavefronts += p->wavefronts;
        c->wavefronts_ideal += p->wavefronts_ideal;
    }
    c->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
}

/* The access reaches from low to high, and its address is made from the name of an array. */
static void check_array(struct emu_warp *w, const struct emu_inst *i, int64_t low, int64_t high) {
    const struct emu_array *a = w->block->kernel->array ? w->block->kernel->array[i->pc] : NULL;
    const uint32_t base = w->block->shared_base;
    low -= base, high -= base;
    if (!a || (low >= a->begin && high <= a->end)) return;
    int64_t past = low < a->begin ? a->begin - low : high - a->end;
    emu_report(EMU_BAD_ARRAY, w, i, NULL,
               "%lld bytes %s %s, a shared array of %u bytes at 0x%x: they are another variable's",
               (long long)past, low < a->begin ? "before" : "past the end of", a->name,
               a->end - a->begin, base + a->begin);
}

/* Are the lanes' differences from the first other than the pattern's? */
static inline bool differs(const struct emu_pattern *p, const uint32_t base[32]) {
    v8u first = (v8u)all8((int32_t)base[0]), differ = {0};
    for (int l = 0; l < EMU_LANES; l += 8)
        differ |= ((v8u)load8(base + l) - first) ^ (v8u)load8(p->delta + l);
    return any8((v8i)differ);
}

struct emu_again emu_shared_again(struct emu_warp *w, const struct emu_inst *i,
                                  const uint32_t base[32], uint32_t offset, unsigned bytes,
                                  enum emu_access what) {
    struct emu_pattern *p = w->pattern[i->pc];
    struct emu_block *b = w->block;
    const struct emu_again no = {0};
    uint32_t first = base[0] + offset;
    if (!p || p->mask != EMU_FULL || p->key != (first & 3) || p->bytes != bytes) return no;
    int64_t low = first + p->min, high = first + p->max + (int64_t)bytes;
    if (differs(p, base) || ((first | p->delta_bits) & (bytes - 1)) || b->launch->events) return no;
    struct emu_place lowest =
        emu_reach(emu_room_shared(b), (uint64_t)low, (uint64_t)(high - low), what);
    if (!lowest.byte) return no;
    count_shared(w, i, p, EMU_FULL, bytes);
    if (b->shadow) check_array(w, i, low, high);
    if (b->shadow) emu_shadow_access(w, b, i, p, first, what);
    lowest.byte -= p->min;
    return (struct emu_again){p, lowest};
}

void emu_remote_count(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const uint64_t addr[32], unsigned bytes) {
    struct emu_count *c = w->count + i->pc;
    c->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    if (i->class == EMU_ATOMIC || i->class == EMU_MBARRIER) return; /* their rule is not known */
    c->sectors += emu_sectors(mask, addr);
    c->sectors_ideal += emu_sectors_ideal(mask, bytes);
}

static void tell(struct emu_warp *w, const struct emu_inst *i, uint32_t mask, enum emu_space space,
                 const uint64_t addr[32], unsigned bytes, enum emu_access what) {
    const struct emu_events *e = w->block->launch->events;
    if (e && e->access) e->access(e->user, w, i, mask, space, addr, bytes, what);
}

uint32_t emu_shared_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint32_t addr[32], unsigned bytes, enum emu_access what) {
    return emu_block_access(w, w->block, i, mask, addr, bytes, what);
}

uint32_t emu_block_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                          uint32_t mask, const uint32_t addr[32], unsigned bytes,
                          enum emu_access what) {
    uint32_t first = addr[__builtin_ctz(mask)];
    const struct emu_pattern *p = emu_shared_pattern(w, i, mask, addr, bytes);
    uint32_t misaligned = (first | p->delta_bits) & (bytes - 1);
    int64_t low = first + p->min, high = first + p->max + (int64_t)bytes;
    if (__builtin_expect(misaligned || low < b->shared_base || high > b->shared_bytes, 0)) {
        mask = shared_bad(w, b, i, mask, addr, bytes);
        if (!mask) return 0;
        p = emu_shared_pattern(w, i, mask, addr, bytes);
        first = addr[__builtin_ctz(mask)];
    }
    bool own = b == w->block;
    if (own) count_shared(w, i, p, mask, bytes);
    if (own && b->shadow)
        check_array(w, i, (int64_t)first + p->min, first + p->max + (int64_t)bytes);
    if (b->shadow) emu_shadow_access(w, b, i, p, first, what);
    if (!own || b->launch->events) {
        uint64_t wide[EMU_LANES];
        for (int l = 0; l < EMU_LANES; l++)
            wide[l] = own ? addr[l] : emu_cluster_address(b, addr[l]);
        if (!own) emu_remote_count(w, i, mask, wide, bytes);
        tell(w, i, mask, own ? EMU_SHARED : EMU_CLUSTER, wide, bytes, what);
    }
    return mask;
}

/* ---- Global memory --------------------------------------------------------------------------- */

/* Where a bad address lies, by the allocation below it. */
static void place_by(const struct emu_allocation *a, uint64_t addr, char *out, size_t n) {
    if (!a || addr - a->base >= 1u << 30) return;
    unsigned long long bytes = a->freed && a->heap_bytes ? a->heap_bytes : a->end - a->base;
    if (a->freed && addr < a->base + bytes)
        snprintf(out, n, ", in an allocation of %llu bytes that was freed", bytes);
    else if (addr >= a->end)
        snprintf(out, n, ", %llu bytes past the end of an allocation of %llu",
                 (unsigned long long)(addr - a->end), bytes);
}

/* What of the host's lies there, by /proc/self/maps: "stack", "heap" or "memory"; NULL: nothing that it could read. */
static const char *host_part(uint64_t addr) {
    static _Thread_local struct part {
        uint64_t from, to;
        const char *name;
    } last; /* where the last address lay, or between what */
    unsigned long long from, to, past = 0;
    char line[512], mode[8];
    if (addr >= last.from && addr < last.to) return last.name;
    FILE *maps = fopen("/proc/self/maps", "r");
    last = (struct part){0, 0, NULL};
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %7s", &from, &to, mode) != 3) continue;
        if (addr < from) last = (struct part){past, from, NULL};
        if (addr < to && addr >= from)
            last = (struct part){from, to,
                                 mode[0] != 'r'            ? NULL
                                 : strstr(line, "[stack]") ? "stack"
                                 : strstr(line, "[heap]")  ? "heap"
                                                           : "memory"};
        if (addr < to) break;
        past = to;
    }
    if (maps) fclose(maps);
    return last.name;
}

static void constant_written(struct emu_warp *w, const struct emu_inst *i, uint64_t addr) {
    emu_report(EMU_BAD_GLOBAL, w, i, NULL,
               "address %#llx is in constant memory or the kernel's parameters, which cannot be "
               "written",
               (unsigned long long)addr);
}

static uint32_t global_bad(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, enum emu_access what) {
    uint32_t ok = mask;
    EMU_EACH_LANE(l, mask) {
        const struct emu_memory *m = w->block->launch->memory;
        const struct emu_allocation *a = emu_memory_find(m, addr[l]);
        if (addr[l] % bytes) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "lane %d: address 0x%llx is not a multiple of %u", l,
                       (unsigned long long)addr[l], bytes);
        } else if (!a || a->end - addr[l] < bytes) {
            char near[192] = "";
            place_by(emu_memory_below(m, addr[l]), addr[l], near, sizeof near);
            const char *host = *near ? NULL : host_part(addr[l]);
            if (host)
                snprintf(near, sizeof near,
                         ": it is an address of the host (its %s); copy to memory of cudaMalloc, "
                         "and give the kernel that",
                         host);
            emu_report(EMU_BAD_GLOBAL, w, i, NULL,
                       "lane %d: %u bytes at 0x%llx are not allocated%s", l, bytes,
                       (unsigned long long)addr[l], near);
        } else if (a->read_only && what & EMU_WRITE) {
            constant_written(w, i, addr[l]);
        } else {
            continue;
        }
        ok &= ~(1u << l);
    }
    return ok;
}

/* Which bytes the lanes use. */
static __attribute__((noinline)) void trace(struct emu_footprint *f, uint32_t mask,
                                            const uint64_t addr[32], unsigned bytes,
                                            enum emu_access what) {
    uint64_t from = 0, to = 0;
    EMU_EACH_LANE(l, mask) {
        if (addr[l] == to) {
            to += bytes;
            continue;
        }
        if (from < to) emu_footprint_mark(f, what, from, to);
        from = addr[l], to = from + bytes;
    }
    if (from < to) emu_footprint_mark(f, what, from, to);
}

uint32_t emu_global_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, enum emu_access what) {
    bool far;
    struct emu_pattern *p = emu_global_pattern(w, i, mask, addr, bytes, &far);
    uint64_t first = addr[__builtin_ctz(mask)], misaligned = 0;
    for (int l = 0; l < EMU_LANES; l++) misaligned |= mask >> l & 1 ? addr[l] & (bytes - 1) : 0;
    struct emu_block *b = w->block;
    uint64_t from = first + (uint64_t)p->min, to = first + (uint64_t)p->max + bytes;
    bool known = !far && p->near && from >= p->near->base && from < to && to <= p->near->end &&
                 !(p->near->read_only && what & EMU_WRITE);
    if (__builtin_expect(misaligned || !known, 0)) {
        p->near = far || misaligned ? NULL : emu_memory_find(b->launch->memory, from);
        if (p->near && p->near->read_only && what & EMU_WRITE) {
            constant_written(w, i, from);
            return 0;
        }
        if (!p->near || to > p->near->end) {
            p->near = NULL;
            mask = global_bad(w, i, mask, addr, bytes, what);
            if (!mask) return 0;
        }
    }
    if (__builtin_expect(p->near && !(mask & w->early), 1))
        emu_memory_touch(p->near, what, from, to);
    else
        EMU_EACH_LANE(l, mask) emu_global_touch(w, i, l, addr[l], what);
    bool traced = p->near && p->near->footprint;
    if (__builtin_expect(traced, 0)) trace(p->near->footprint, mask, addr, bytes, what);
    if (b->shadow && p->near)
        emu_global_check(w, i, p->near, mask, addr, bytes, what);
    else if (b->launch->partial && p->near && what & EMU_WRITE)
        emu_global_written(p->near, mask, addr, bytes);
    emu_global_count(w, i, p, mask, bytes);
    tell(w, i, mask, EMU_GLOBAL, addr, bytes, what);
    if (__builtin_expect(traced, 0)) p->near = NULL; /* emu_global_again() would not trace */
    return mask;
}

/* Do the active lanes lie elsewhere relative to `first` than the pattern says? */
static inline bool lies_elsewhere(const struct emu_pattern *p, uint32_t mask,
                                  const uint64_t base[32], uint64_t first) {
    const v4l bit = {1, 2, 4, 8};
    v4l differ = {0};
    for (int l = 0; l < EMU_LANES; l += 4) {
        v4i delta;
        memcpy(&delta, p->delta + l, sizeof delta);
        v4l from_first = (v4l)((v4ul)load8(base + l) - first),
            off = from_first ^ __builtin_convertvector(delta, v4l);
        if (mask != EMU_FULL) off &= (((int64_t)(mask >> l) & bit) == bit);
        differ |= off;
    }
    return any8((v8i)differ);
}

struct emu_again emu_global_again(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                                  const uint64_t base[32], unsigned bytes) {
    struct emu_pattern *p = w->pattern[i->pc];
    const struct emu_block *b = w->block;
    const struct emu_again no = {0};
    if (!p || p->mask != mask || p->bytes != bytes || !p->near || b->shadow || b->launch->events ||
        mask & w->early)
        return no;
    uint64_t first = base[__builtin_ctz(mask)], at = first + (uint64_t)(int64_t)i->offset;
    uint64_t from = at + (uint64_t)p->min, to = at + (uint64_t)p->max + bytes;
    struct emu_place lowest = emu_reach(emu_room_of(p->near), from, to - from, EMU_READ);
    if ((p->delta_bits & 31 && p->key != (at & 31)) ||
        ((uint32_t)at | p->delta_bits) & (bytes - 1) || !lowest.byte ||
        lies_elsewhere(p, mask, base, first))
        return no;
    emu_memory_touch(p->near, EMU_READ, from, to);
    emu_global_count(w, i, p, mask, bytes);
    lowest.byte -= p->min;
    return (struct emu_again){p, lowest};
}

void emu_global_places(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                       const uint64_t addr[32], unsigned bytes, enum emu_access what,
                       struct emu_place at[32]) {
    const struct emu_allocation *near = w->pattern[i->pc]->near;
    EMU_EACH_LANE(l, mask) at[l] = emu_global(w, addr[l], bytes, what, &near);
}

void emu_shared_offsets(const uint64_t address[32], uint32_t out[32]) {
    uint64_t all = 0;
    for (int l = 0; l < EMU_LANES; l++) all |= address[l];
    if (__builtin_expect(all < EMU_SHARED_WINDOW, 1))
        for (int l = 0; l < EMU_LANES; l++) out[l] = (uint32_t)address[l];
    else
        for (int l = 0; l < EMU_LANES; l++) out[l] = emu_shared_offset(address[l]);
}

void emu_addresses(const struct emu_warp *w, const struct emu_operand *op, uint64_t out[32]) {
    const uint32_t *narrow = emu_row32(w, op->row);
    const uint64_t *wide = emu_row64(w, op->row);
    if (op->wide)
        for (int l = 0; l < EMU_LANES; l++) out[l] = wide[l] + (uint64_t)op->imm;
    else
        for (int l = 0; l < EMU_LANES; l++) out[l] = (uint32_t)(narrow[l] + (uint32_t)op->imm);
}
