/* Memory accesses: bounds, alignment, wavefronts, sectors. Addresses of one instruction repeat the same
 * pattern relative to their first lane; a pattern is worked out once and then recognised. */
#include "internal.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

/* ---- Counting a pattern -------------------------------------------------------------------------------------- */

/* Do all active lanes l and l ^ distance want the same address? */
static bool in_pairs(uint32_t mask, const uint32_t addr[32], int distance) {
    for (int l = 0; l < EMU_LANES; l++) {
        int other = l ^ distance;
        if (mask >> l & mask >> other & 1 && addr[l] != addr[other]) return false;
    }
    return true;
}

/* 32 banks of 4 bytes; a bank serves one word a wavefront, to all lanes that want it. Up to 4 bytes a lane
 * go as one request of 32 lanes, 8 as two of 16, 16 as four of 8; vector loads whose lanes agree in pairs
 * (l and l ^ 1, or l and l ^ 2) as half as many. Atomics take every lane by itself, and compare-and-swap
 * twice. All as an H200 counts (tests/golden/waves.csv). */
static void count_wavefronts(struct emu_pattern *p, const struct emu_inst *i, uint32_t mask,
                             const uint32_t addr[32], unsigned bytes) {
    int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    int words = bytes <= 4 ? 1 : (int)bytes / 4;
    bool atomic = i->class == EMU_ATOMIC;
    if (i->class == EMU_LD_SHARED && bytes >= 8 &&
        (in_pairs(mask, addr, 1) || in_pairs(mask, addr, 2)))
        lanes *= 2;
    p->wavefronts = p->wavefronts_ideal = 0;
    for (int first = 0; first < EMU_LANES; first += lanes) {
        uint32_t seen[32][EMU_LANES * 2], n[32] = {0}, worst = 0;
        for (int l = first; l < first + lanes; l++) {
            if (!(mask >> l & 1)) continue;
            for (int k = 0; k < words; k++) {
                uint32_t word = addr[l] / 4 + (uint32_t)k, bank = word % 32, s = 0;
                while (s < n[bank] && (atomic || seen[bank][s] != word)) s++;
                if (s == n[bank]) seen[bank][n[bank]++] = word;
                if (n[bank] > worst) worst = n[bank];
            }
        }
        p->wavefronts += worst;
        p->wavefronts_ideal += worst > 0;
    }
    uint32_t times = i->class == EMU_MBARRIER ? 0 : atomic && strstr(i->opcode, ".cas") ? 2 : 1;
    p->wavefronts *= times;
    p->wavefronts_ideal *= times;
}

static int by_cell(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The 4-byte cells that the lanes touch, each once. Sorted as cell << 16 | byte mask << 8 | lane. */
static void list_cells(struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    int64_t all[128];
    int n = 0;
    EMU_EACH_LANE(l, mask) {
        for (unsigned k = 0; k < bytes; k += 4) {
            int64_t at = (int64_t)p->key + p->delta[l] + k;
            uint32_t which = bytes >= 4 ? 15u : ((1u << bytes) - 1) << (at & 3);
            all[n++] = (at >> 2) * 65536 + (int64_t)(which << 8 | l);
        }
    }
    qsort(all, (size_t)n, sizeof *all, by_cell);
    p->n_cells = 0;
    for (int k = 0; k < n; k++) {
        int32_t cell = (int32_t)(all[k] >> 16);
        uint8_t which = (uint8_t)(all[k] >> 8 & 15), lane = (uint8_t)(all[k] & 0xff);
        uint16_t last = p->n_cells;
        if (last && p->cell[last - 1] == cell) {
            p->cell_bytes[last - 1] |= which;
            if (p->cell_lane[last - 1] != lane) p->cell_lane[last - 1] = EMU_MANY_LANES;
            continue;
        }
        p->cell[last] = cell;
        p->cell_bytes[last] = which;
        p->cell_lane[last] = lane;
        p->n_cells++;
    }
}

static void classify(struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    bool broadcast = true, contiguous = true, period = true, runs = true;
    p->min = p->max = 0;
    p->delta_bits = 0;
    EMU_EACH_LANE(l, mask) {
        broadcast &= p->delta[l] == 0;
        contiguous &= p->delta[l] == (int32_t)(l * bytes);
        period &= p->delta[l] == p->delta[l & 7];
        runs &= p->delta[l] == p->delta[l & ~7u];
        p->delta_bits |= (uint32_t)p->delta[l];
        if (p->delta[l] < p->min) p->min = p->delta[l];
        if (p->delta[l] > p->max) p->max = p->delta[l];
    }
    p->kind = mask != EMU_FULL ? EMU_PATTERN_OTHER
              : broadcast      ? EMU_PATTERN_BROADCAST
              : contiguous     ? EMU_PATTERN_CONTIGUOUS
              : period         ? EMU_PATTERN_PERIOD8
              : runs           ? EMU_PATTERN_RUNS8
                               : EMU_PATTERN_OTHER;
}

/* Distinct 32-byte sectors of a warp's request. */
static uint32_t distinct_sectors(uint32_t mask, const uint64_t addr[32]) {
    uint64_t seen[EMU_LANES];
    uint32_t n = 0;
    EMU_EACH_LANE(l, mask) { /* naturally aligned, so an access lies in one sector */
        uint64_t sector = addr[l] / 32;
        uint32_t s = 0;
        while (s < n && seen[s] != sector) s++;
        if (s == n) seen[n++] = sector;
    }
    return n;
}

/* The ideal: as if the active lanes' bytes lay side by side. */
static uint32_t ideal_sectors(uint32_t mask, unsigned bytes) {
    return ((uint32_t)__builtin_popcount(mask) * bytes + 31) / 32;
}

static struct emu_pattern *pattern_of(struct emu_warp *w, const struct emu_inst *i) {
    struct emu_pattern **p = &w->pattern[i->pc];
    if (!*p && (*p = aligned_alloc(64, (sizeof **p + 63) & ~(size_t)63))) (*p)->mask = 0;
    return *p;
}

/* Does the pattern hold for these 32-bit addresses? */
static bool same_pattern(const struct emu_pattern *p, uint32_t mask, const uint32_t addr[32],
                         uint32_t key, unsigned bytes) {
    if (p->mask != mask || p->key != key || p->bytes != bytes) return false;
    uint32_t first = addr[__builtin_ctz(mask)], differ = 0;
    if (mask == EMU_FULL) {
        for (int l = 0; l < EMU_LANES; l++) differ |= (addr[l] - first) ^ (uint32_t)p->delta[l];
    } else {
        for (int l = 0; l < EMU_LANES; l++)
            differ |= mask >> l & 1 ? (addr[l] - first) ^ (uint32_t)p->delta[l] : 0;
    }
    return differ == 0;
}

static void set_pattern(struct emu_pattern *p, uint32_t mask, const uint32_t addr[32], uint32_t key,
                        unsigned bytes) {
    uint32_t first = addr[__builtin_ctz(mask)];
    p->mask = mask;
    p->key = key;
    p->bytes = (uint8_t)bytes;
    for (int l = 0; l < EMU_LANES; l++)
        p->delta[l] = mask >> l & 1 ? (int32_t)(addr[l] - first) : 0;
    classify(p, mask, bytes);
}

const struct emu_pattern *emu_shared_pattern(struct emu_warp *w, const struct emu_inst *i,
                                             uint32_t mask, const uint32_t addr[32],
                                             unsigned bytes) {
    struct emu_pattern *p = pattern_of(w, i);
    uint32_t key = addr[__builtin_ctz(mask)] & 3;
    if (p && !same_pattern(p, mask, addr, key, bytes)) {
        set_pattern(p, mask, addr, key, bytes);
        count_wavefronts(p, i, mask, addr, i->joined_bytes ? i->joined_bytes : bytes);
        list_cells(p, mask, bytes);
    }
    return p;
}

/* ---- Shared memory --------------------------------------------------------------------------------------------- */

/* The lanes whose access is legal; reports the others. */
static uint32_t shared_bad(struct emu_warp *w, const struct emu_block *b, const struct emu_inst *i,
                           uint32_t mask, const uint32_t addr[32], unsigned bytes) {
    uint32_t size = b->shared_bytes, ok = mask;
    EMU_EACH_LANE(l, mask) {
        if (addr[l] % bytes) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "lane %d: shared address 0x%x is not a multiple of %u", l, addr[l], bytes);
        } else if (addr[l] > size || size - addr[l] < bytes) {
            emu_report(EMU_BAD_SHARED, w, i, NULL,
                       "lane %d: %u bytes at shared address 0x%x, but the block has 0x%x", l, bytes,
                       addr[l], size);
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

/* Are the lanes' differences from the first other than the pattern's? */
static inline bool differs(const struct emu_pattern *p, const uint32_t base[32]) {
    __m256i first = _mm256_set1_epi32((int)base[0]), differ = _mm256_setzero_si256();
    for (int l = 0; l < EMU_LANES; l += 8) {
        __m256i here = _mm256_load_si256((const __m256i *)(const void *)(base + l)),
                want = _mm256_load_si256((const __m256i *)(const void *)(p->delta + l));
        differ = _mm256_or_si256(differ, _mm256_xor_si256(_mm256_sub_epi32(here, first), want));
    }
    return !_mm256_testz_si256(differ, differ);
}

const struct emu_pattern *emu_shared_again(struct emu_warp *w, const struct emu_inst *i,
                                           const uint32_t base[32], uint32_t offset, unsigned bytes,
                                           enum emu_access what) {
    const struct emu_pattern *p = w->pattern[i->pc];
    struct emu_block *b = w->block;
    uint32_t first = base[0] + offset;
    if (!p || p->mask != EMU_FULL || p->key != (first & 3) || p->bytes != bytes) return NULL;
    int64_t low = first + p->min, high = first + p->max + (int64_t)bytes;
    if (differs(p, base) || ((first | p->delta_bits) & (bytes - 1)) || low < 0 ||
        high > b->shared_bytes || b->launch->events)
        return NULL;
    count_shared(w, i, p, EMU_FULL, bytes);
    if (b->shadow) emu_shadow_access(w, b, i, p, first, what);
    return p;
}

void emu_shared_count(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const uint32_t addr[32], unsigned bytes) {
    const struct emu_pattern *p = mask ? emu_shared_pattern(w, i, mask, addr, bytes) : NULL;
    if (!p) return;
    count_shared(w, i, p, mask, bytes);
}

void emu_remote_count(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const uint64_t addr[32], unsigned bytes) {
    struct emu_count *c = w->count + i->pc;
    c->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    if (i->class == EMU_ATOMIC || i->class == EMU_MBARRIER) return; /* their rule is not known */
    c->sectors += distinct_sectors(mask, addr);
    c->sectors_ideal += ideal_sectors(mask, bytes);
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
    uint32_t size = b->shared_bytes, first = addr[__builtin_ctz(mask)];
    const struct emu_pattern *p = emu_shared_pattern(w, i, mask, addr, bytes);
    if (!p) return 0;
    uint32_t misaligned = (first | p->delta_bits) & (bytes - 1);
    int64_t low = first + p->min, high = first + p->max + (int64_t)bytes;
    if (__builtin_expect(misaligned || low < 0 || high > size, 0)) {
        mask = shared_bad(w, b, i, mask, addr, bytes);
        if (!mask) return 0;
        p = emu_shared_pattern(w, i, mask, addr, bytes);
        first = addr[__builtin_ctz(mask)];
    }
    bool own = b == w->block;
    if (own) count_shared(w, i, p, mask, bytes);
    if (b->shadow) emu_shadow_access(w, b, i, p, first, what);
    if (!own || b->launch->events) {
        uint64_t wide[EMU_LANES];
        for (int l = 0; l < EMU_LANES; l++) wide[l] = addr[l];
        if (!own) emu_remote_count(w, i, mask, wide, bytes);
        tell(w, i, mask, own ? EMU_SHARED : EMU_CLUSTER, wide, bytes, what);
    }
    return mask;
}

/* ---- Global memory ------------------------------------------------------------------------------------------------ */

static uint32_t global_bad(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes) {
    uint32_t ok = mask;
    EMU_EACH_LANE(l, mask) {
        const struct emu_memory *m = w->block->launch->memory;
        const struct emu_allocation *a = emu_memory_find(m, addr[l]), *before;
        if (addr[l] % bytes) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "lane %d: address 0x%llx is not a multiple of %u", l,
                       (unsigned long long)addr[l], bytes);
        } else if (!a || a->end - addr[l] < bytes) {
            char near[96] = "";
            if (!a && addr[l] >= 4096 && (before = emu_memory_find(m, addr[l] - 4096)))
                snprintf(near, sizeof near, ", %llu bytes past the end of an allocation",
                         (unsigned long long)(addr[l] - before->end));
            emu_report(EMU_BAD_GLOBAL, w, i, NULL,
                       "lane %d: %u bytes at 0x%llx are not allocated%s", l, bytes,
                       (unsigned long long)addr[l], near);
        } else {
            continue;
        }
        ok &= ~(1u << l);
    }
    return ok;
}

static void count_sectors(struct emu_pattern *p, uint32_t mask, const uint64_t addr[32],
                          unsigned bytes) {
    uint32_t n = distinct_sectors(mask, addr);
    p->wavefronts = n;
    p->wavefronts_ideal = ideal_sectors(mask, bytes);
    if (p->kind == EMU_PATTERN_BROADCAST || n < p->wavefronts_ideal) p->wavefronts_ideal = n;
}

uint32_t emu_global_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, enum emu_access what) {
    struct emu_pattern *p = pattern_of(w, i);
    if (!p) return 0;
    uint64_t first = addr[__builtin_ctz(mask)], misaligned = 0, far = 0;
    uint32_t low[EMU_LANES];
    for (int l = 0; l < EMU_LANES; l++) {
        low[l] = (uint32_t)addr[l];
        uint64_t off = mask >> l & 1 ? addr[l] - first + ((uint64_t)1 << 31) : 0;
        far |= off >> 32; /* differences fit 32 bits */
        misaligned |= mask >> l & 1 ? addr[l] & (bytes - 1) : 0;
    }
    uint32_t key = (uint32_t)first & 31;
    if (__builtin_expect(far == 0, 1)) {
        if (!same_pattern(p, mask, low, key, bytes)) {
            set_pattern(p, mask, low, key, bytes);
            count_sectors(p, mask, addr, bytes);
        }
    } else {
        p->mask = 0; /* more than 2 GiB apart: count it afresh each time */
        p->kind = EMU_PATTERN_OTHER;
        count_sectors(p, mask, addr, bytes);
    }
    struct emu_block *b = w->block;
    uint64_t from = first + (uint64_t)p->min, to = first + (uint64_t)p->max + bytes;
    bool known = !far && b->near && from >= b->near->base && to <= b->near->end;
    if (__builtin_expect(misaligned || !known, 0)) {
        b->near = far || misaligned ? NULL : emu_memory_find(b->launch->memory, from);
        if (!b->near || to > b->near->end) {
            b->near = NULL;
            mask = global_bad(w, i, mask, addr, bytes);
            if (!mask) return 0;
        }
    }
    if (__builtin_expect(b->near && !(mask & w->early), 1))
        emu_memory_touch(b->near, what);
    else
        EMU_EACH_LANE(l, mask) emu_global_touch(w, i, l, addr[l], what);
    struct emu_count *c = w->count + i->pc;
    c->sectors += p->wavefronts;
    c->sectors_ideal += p->wavefronts_ideal;
    c->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    tell(w, i, mask, EMU_GLOBAL, addr, bytes, what);
    return mask;
}

void *emu_global(struct emu_warp *w, uint64_t addr, uint64_t bytes) {
    return emu_memory_at(w->block->launch->memory, addr, bytes);
}

void emu_addresses(const struct emu_warp *w, const struct emu_operand *op, uint64_t out[32]) {
    const uint32_t *narrow = emu_row32(w, op->row);
    const uint64_t *wide = emu_row64(w, op->row);
    if (op->wide)
        for (int l = 0; l < EMU_LANES; l++) out[l] = wide[l] + (uint64_t)op->imm;
    else
        for (int l = 0; l < EMU_LANES; l++) out[l] = (uint32_t)(narrow[l] + (uint32_t)op->imm);
}
