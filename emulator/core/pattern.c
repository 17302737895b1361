/* What one memory instruction's addresses look like, and what that costs: wavefronts, sectors,
 * cells. They repeat the same pattern relative to their first lane; it is worked out once and
 * then recognised. */
#include "pattern.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

/* ---- Counting a pattern ---------------------------------------------------------------------- */

/* Do all active lanes l and l ^ distance want the same address? */
static bool in_pairs(uint32_t mask, const uint32_t addr[32], int distance) {
    for (int l = 0; l < EMU_LANES; l++) {
        int other = l ^ distance;
        if (mask >> l & mask >> other & 1 && addr[l] != addr[other]) return false;
    }
    return true;
}

/* 32 banks of 4 bytes; a bank serves one word a wavefront, to all lanes that want it. Up to 4
 * bytes a lane go as one request of 32 lanes, 8 as two of 16, 16 as four of 8; vector loads
 * whose lanes agree in pairs (l and l ^ 1, or l and l ^ 2) as half as many. Atomics take every
 * lane by itself, and compare-and-swap twice. All as an H200 counts (tests/golden/waves.csv). */
uint32_t emu_wavefronts(uint32_t mask, const uint32_t addr[32], unsigned bytes, bool load,
                        bool atomic, uint32_t *ideal, uint8_t (*served)[4]) {
    int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    int words = bytes <= 4 ? 1 : (int)bytes / 4;
    uint32_t wavefronts = 0;
    if (load && bytes >= 8 && (in_pairs(mask, addr, 1) || in_pairs(mask, addr, 2))) lanes *= 2;
    *ideal = 0;
    for (int first = 0; first < EMU_LANES; first += lanes) {
        uint32_t seen[32][EMU_LANES * 2], n[32] = {0}, worst = 0;
        for (int l = first; l < first + lanes; l++) {
            if (!(mask >> l & 1)) continue;
            for (int k = 0; k < words; k++) {
                uint32_t word = addr[l] / 4 + (uint32_t)k, bank = word % 32, s = 0;
                while (s < n[bank] && (atomic || seen[bank][s] != word)) s++;
                if (s == n[bank]) seen[bank][n[bank]++] = word;
                if (n[bank] > worst) worst = n[bank];
                if (served) served[l][k] = (uint8_t)(wavefronts + s);
            }
        }
        wavefronts += worst;
        *ideal += worst > 0;
    }
    return wavefronts;
}

static void count_wavefronts(struct emu_pattern *p, const struct emu_inst *i, uint32_t mask,
                             const uint32_t addr[32], unsigned bytes) {
    bool atomic = i->class == EMU_ATOMIC;
    p->wavefronts = emu_wavefronts(mask, addr, bytes, i->class == EMU_LD_SHARED, atomic,
                                   &p->wavefronts_ideal, NULL);
    uint32_t times = i->class == EMU_MBARRIER ? 0 : atomic && strstr(i->opcode, ".cas") ? 2 : 1;
    p->wavefronts *= times;
    p->wavefronts_ideal *= times;
}

/* The 4-byte cells that the lanes touch, each once. Random addresses come anew each time, so they
 * are found by a small hash table of places in p->cell. */
static void list_cells(struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    uint8_t place[256] = {0}; /* 1 + index */
    p->n_cells = 0;
    EMU_EACH_LANE(l, mask) {
        for (unsigned k = 0; k < bytes; k += 4) {
            int64_t at = (int64_t)p->key + p->delta[l] + k;
            int32_t cell = (int32_t)(at >> 2);
            uint32_t which = bytes >= 4 ? 15u : ((1u << bytes) - 1) << (at & 3);
            uint8_t h = (uint8_t)((uint32_t)cell * 2654435761u >> 24);
            while (place[h] && p->cell[place[h] - 1] != cell) h++;
            if (place[h]) {
                int c = place[h] - 1;
                p->cell_bytes[c] |= (uint8_t)which;
                if (p->cell_lane[c] != l) p->cell_lane[c] = EMU_MANY_LANES;
                continue;
            }
            p->cell[p->n_cells] = cell;
            p->cell_bytes[p->n_cells] = (uint8_t)which;
            p->cell_lane[p->n_cells] = (uint8_t)l;
            place[h] = (uint8_t)++p->n_cells;
        }
    }
}

static void classify(struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    /* Of some lanes: those that a block of fewer threads does not have count as alike. */
    bool broadcast = true, contiguous = true, period = true, half = true, runs = true;
    p->min = p->max = 0;
    p->delta_bits = 0;
    EMU_EACH_LANE(l, mask) {
        broadcast &= p->delta[l] == 0;
        contiguous &= p->delta[l] == (int32_t)(l * bytes);
        period &= p->delta[l] == p->delta[l & 7];
        half &= p->delta[l] == p->delta[l & 15];
        runs &= p->delta[l] == p->delta[l & ~7u];
        p->delta_bits |= (uint32_t)p->delta[l];
        if (p->delta[l] < p->min) p->min = p->delta[l];
        if (p->delta[l] > p->max) p->max = p->delta[l];
    }
    p->kind = broadcast                        ? EMU_PATTERN_BROADCAST
              : contiguous && mask == EMU_FULL ? EMU_PATTERN_CONTIGUOUS
              : period                         ? EMU_PATTERN_PERIOD8
              : runs                           ? EMU_PATTERN_RUNS8
              : half                           ? EMU_PATTERN_PERIOD16
                                               : EMU_PATTERN_OTHER;
}

/* Distinct 32-byte sectors of a warp's request. */
uint32_t emu_sectors(uint32_t mask, const uint64_t addr[32]) {
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
uint32_t emu_sectors_ideal(uint32_t mask, unsigned bytes) {
    return ((uint32_t)__builtin_popcount(mask) * bytes + 31) / 32;
}

static struct emu_pattern *pattern_of(struct emu_warp *w, const struct emu_inst *i) {
    struct emu_pattern **p = &w->pattern[i->pc];
    if (!*p) *p = heap_line(sizeof **p);
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
    if (!same_pattern(p, mask, addr, key, bytes)) {
        set_pattern(p, mask, addr, key, bytes);
        count_wavefronts(p, i, mask, addr, i->joined_bytes ? i->joined_bytes : bytes);
        list_cells(p, mask, bytes);
    }
    return p;
}

static void count_sectors(struct emu_pattern *p, uint32_t mask, const uint64_t addr[32],
                          unsigned bytes) {
    uint32_t n = emu_sectors(mask, addr);
    p->wavefronts = n;
    p->wavefronts_ideal = emu_sectors_ideal(mask, bytes);
    if (p->kind == EMU_PATTERN_BROADCAST || n < p->wavefronts_ideal) p->wavefronts_ideal = n;
}

struct emu_pattern *emu_global_pattern(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                                       const uint64_t addr[32], unsigned bytes, bool *far) {
    struct emu_pattern *p = pattern_of(w, i);
    uint64_t first = addr[__builtin_ctz(mask)], beyond = 0;
    uint32_t low[EMU_LANES], key = (uint32_t)first & 31;
    for (int l = 0; l < EMU_LANES; l++) {
        low[l] = (uint32_t)addr[l];
        uint64_t off = mask >> l & 1 ? addr[l] - first + ((uint64_t)1 << 31) : 0;
        beyond |= off >> 32; /* differences fit 32 bits */
    }
    *far = beyond;
    if (__builtin_expect(!*far, 1)) {
        if (!(p->delta_bits & 31)) key = p->key; /* each lane's sector, whatever it begins at */
        if (same_pattern(p, mask, low, key, bytes)) return p;
        key = (uint32_t)first & 31;
        set_pattern(p, mask, low, key, bytes);
    } else {
        p->mask = 0; /* more than 2 GiB apart: count it afresh each time */
        p->kind = EMU_PATTERN_OTHER;
    }
    count_sectors(p, mask, addr, bytes);
    return p;
}
