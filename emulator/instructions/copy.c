/* cp.async, bulk copies and TMA: they check their operands, take their place in the queue
 * (async.c), and return. */
#include "access.h"
#include "async.h"
#include "cluster.h"
#include "handlers.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/global.h"
#include "emulator/checks/overlap.h"
#include "emulator/checks/race.h"
#include "emulator/core/failed_check.h"

#include <string.h>

/* aux, behind what emu_select_atomic() keeps there: bytes or rank, direction, and of loads the
 * operand that has the mask of blocks, or 0 */
enum { AUX_BYTES = 3, AUX_LOAD, AUX_MULTICAST };

/* ---- cp.async ------------------------------------------------------------------------------- */

/* The race check of one copy's destination: lanes side by side are one range. */
static bool check_ranges(struct emu_warp *w, const struct emu_inst *i, unsigned agent,
                         const struct emu_copy *c) {
    struct emu_issue op = {agent, c->stamp, EMU_FULL, EMU_WRITE, false};
    uint32_t low = UINT32_MAX, high = 0;
    uint64_t chunks = 0;
    bool ok = true;
    EMU_EACH_LANE(l, c->mask) {
        if (c->shared[l] < low) low = c->shared[l];
        if (c->shared[l] > high) high = c->shared[l];
    }
    if ((high - low) / c->bytes >= 64) { /* far apart */
        EMU_EACH_LANE(l, c->mask)
        ok &= emu_shared_async(w, w->block, i, &op, c->shared[l], c->bytes);
        return ok;
    }
    EMU_EACH_LANE(l, c->mask) chunks |= 1ull << (c->shared[l] - low) / c->bytes;
    while (chunks) {
        uint32_t first = (uint32_t)__builtin_ctzll(chunks);
        uint64_t rest = ~(chunks >> first);
        uint32_t n = rest ? (uint32_t)__builtin_ctzll(rest) : 64;
        ok &= emu_shared_async(w, w->block, i, &op, low + first * c->bytes, n * c->bytes);
        if (first + n >= 64) break;
        chunks &= ~0ull << (first + n);
    }
    return ok;
}

static uint32_t destinations(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                             uint32_t shared[EMU_LANES]) {
    uint64_t address[EMU_LANES];
    uint32_t bytes = (uint32_t)i->aux[AUX_BYTES];
    const struct emu_block *b = w->block;
    emu_addresses(w, &i->op[0], address);
    emu_shared_offsets(address, shared);
    EMU_EACH_LANE(l, mask) {
        if (shared[l] % bytes)
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "lane %d: shared address 0x%x is not a multiple of %u", (int)l, shared[l],
                       bytes);
        else if (!emu_shared_holds(b, shared[l], bytes))
            emu_report(EMU_BAD_SHARED, w, i, NULL,
                       "lane %d: %u bytes at shared address 0x%x, but the block has 0x%x to 0x%x",
                       (int)l, bytes, shared[l], b->shared_base, b->shared_bytes);
        else
            continue;
        mask &= ~(1u << l);
    }
    return mask;
}

/* cp.async of 16 bytes, as an H200's counters by instruction have it: eight lanes at a time, one
 * wavefront for each 128-byte line of shared memory they write. Where the two halves of a
 * 32-byte sector go to different 32-byte blocks of shared memory (rows padded by 16 bytes: every
 * second row), the sector is fetched for each, and the first and the second halves of the
 * sectors are written apart. */
uint32_t emu_copy16_wavefronts(uint32_t mask, uint32_t reads, const uint32_t shared[32],
                               const uint64_t global[32], uint32_t *ideal, uint32_t *again,
                               uint8_t (*served)[4]) {
    uint32_t wavefronts = 0;
    *ideal = *again = 0;
    for (uint32_t first = 0; first < EMU_LANES; first += 8) {
        uint32_t lanes = mask & 0xffu << first, split = 0, n = 0, lines[2][8], n_lines[2] = {0};
        uint32_t nth[8], second = 0;
        EMU_EACH_LANE(l, lanes) {
            uint32_t partner = l ^ 1;
            if (lanes >> partner & 1 && global[l] / 32 == global[partner] / 32 &&
                shared[l] / 32 != shared[partner] / 32)
                split |= 1u << l;
        }
        EMU_EACH_LANE(l, lanes) {
            uint32_t half = split ? global[l] / 16 % 2 : 0, line = shared[l] / 128;
            for (n = 0; n < n_lines[half] && lines[half][n] != line; n++) {
            }
            if (n == n_lines[half]) lines[half][n_lines[half]++] = line;
            if (split >> l & 1 && half && reads >> l & 1) ++*again;
            nth[l - first] = n;
            second |= half << l;
        }
        EMU_EACH_LANE(l, served ? lanes : 0) {
            uint32_t at = wavefronts + nth[l - first] + (second >> l & 1 ? n_lines[0] : 0);
            memset(served[l], (int)at, sizeof served[l]);
        }
        wavefronts += n_lines[0] + n_lines[1];
        *ideal += lanes != 0;
    }
    return wavefronts;
}

static uint32_t count_copy16(struct emu_warp *w, const struct emu_inst *i, const struct emu_copy *c,
                             uint8_t (*served)[4]) {
    struct emu_count *count = w->count + i->pc;
    uint32_t reads = 0, ideal, again;
    for (uint32_t l = 0; l < EMU_LANES; l++) reads |= (uint32_t)(c->source_bytes[l] != 0) << l;
    count->wavefronts +=
        emu_copy16_wavefronts(c->mask, reads, c->shared, c->global, &ideal, &again, served);
    count->wavefronts_ideal += ideal;
    count->sectors += again;
    return ideal;
}

/* The smaller ones, through L1, count 3 and then each lane by itself: the recordings
 * (tests/golden/waves.csv) lie at or above this count, more when the lanes read from more than 4
 * lines. */
static void count_copy(struct emu_warp *w, const struct emu_inst *i, const struct emu_copy *c) {
    struct emu_count *count = w->count + i->pc;
    const struct emu_events *e = w->block->launch->events;
    uint8_t served[EMU_LANES][4];
    uint32_t phase_lanes = c->bytes == 8 ? 16 : 32, wavefronts = 3, ideal = 3;
    if (c->bytes == 16) {
        ideal = count_copy16(w, i, c, e ? served : NULL);
        if (e && e->copied) e->copied(e->user, w, i, c->mask, c->shared, c->bytes, served, ideal);
        return;
    }
    count->wavefronts += 3;
    count->wavefronts_ideal += 3;
    for (uint32_t first = 0; first < EMU_LANES; first += phase_lanes) {
        uint32_t lanes_of_bank[32] = {0}, worst = 0;
        for (uint32_t l = first; l < first + phase_lanes; l++)
            for (uint32_t at = 0; at < c->bytes && c->mask >> l & 1; at += 4) {
                uint32_t n = ++lanes_of_bank[(c->shared[l] + at) / 4 % 32];
                worst = n > worst ? n : worst;
                served[l][at / 4] = (uint8_t)(wavefronts + n - 1);
            }
        wavefronts += worst;
        count->wavefronts += worst;
        count->wavefronts_ideal += worst > 0;
        ideal += worst > 0;
    }
    if (e && e->copied) e->copied(e->user, w, i, c->mask, c->shared, c->bytes, served, ideal);
}

/* The lanes whose whole copy would leave its allocation, where what they read does not. */
static uint32_t short_sources(struct emu_warp *w, uint32_t readers, const struct emu_copy *c) {
    uint32_t lanes = 0;
    EMU_EACH_LANE(l, readers)
    if (c->source_bytes[l] < c->bytes && c->global[l] % c->bytes == 0 &&
        !emu_global(w, c->global[l], c->bytes, EMU_READ, NULL).byte &&
        emu_global(w, c->global[l], c->source_bytes[l], EMU_READ, NULL).byte)
        lanes |= 1u << l;
    return lanes;
}

/* Reads no more than the source bytes. */
static uint32_t read_short(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes,
                           const struct emu_copy *c) {
    uint32_t ok = 0;
    EMU_EACH_LANE(l, lanes) { /* in the largest power of two, for the counts */
        unsigned bytes = 1u << (31 - __builtin_clz(c->source_bytes[l]));
        ok |= emu_global_access(w, i, 1u << l, c->global, bytes, EMU_READ);
    }
    return ok;
}

/* cp.async [shared], [global], bytes[, source bytes or a predicate that says to ignore the
 * source] */
static enum emu_step copy(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_copy c = {.inst = i, .bytes = (uint32_t)i->aux[AUX_BYTES]};
    const struct emu_operand *source = i->n_ops > 3 ? &i->op[3] : NULL;
    uint32_t readers = 0;
    c.mask = destinations(w, i, mask, c.shared);
    emu_addresses(w, &i->op[1], c.global);
    for (int l = 0; l < EMU_LANES; l++) {
        c.source_bytes[l] = c.bytes;
        if (source && source->kind == EMU_OP_PRED)
            c.source_bytes[l] =
                (*emu_mask(w, source->row) >> l & 1) != source->negated ? 0 : c.bytes;
        else if (source && !source->wide)
            c.source_bytes[l] = emu_row32(w, source->row)[l];
        if (c.source_bytes[l]) readers |= 1u << l;
    }
    EMU_EACH_LANE(l, c.mask)
    if (c.source_bytes[l] > c.bytes) {
        emu_report(EMU_BAD_OPERAND, w, i, NULL, "lane %d: source size %u is larger than %u", (int)l,
                   c.source_bytes[l], c.bytes);
        c.mask &= ~(1u << l);
    }
    readers &= c.mask;
    unsigned agent = emu_agent(w->block, EMU_AGENT_CP_ASYNC, w->index);
    c.stamp = emu_agent_issue(w->block, agent);
    const struct emu_issue op = {agent, c.stamp, EMU_FULL, EMU_READ, false};
    w->issue = &op;
    uint32_t short_lanes = short_sources(w, readers, &c), whole = readers & ~short_lanes, ok = 0;
    if (whole) ok = emu_global_access(w, i, whole, c.global, c.bytes, EMU_READ);
    if (short_lanes) ok |= read_short(w, i, short_lanes, &c);
    w->issue = NULL;
    c.mask &= ~readers | ok;
    if (!c.mask) return EMU_NEXT;
    count_copy(w, i, &c);
    if (w->block->shadow && !check_ranges(w, i, agent, &c)) return EMU_NEXT;
    readers &= c.mask;
    if (readers && emu_global_is_watched(w->block, c.global[__builtin_ctz(readers)]))
        EMU_EACH_LANE(l, readers)
    emu_global_copied(w->block, c.shared[l], c.global[l], c.source_bytes[l]);
    emu_copy_add(w, &c);
    return EMU_NEXT;
}

emu_handler *emu_select_copy(struct emu_inst *i, const char **why) {
    int64_t bytes = i->op[2].imm;
    *why = "cp.async copies 4, 8 or 16 bytes, .cg only 16";
    if (bytes != 4 && bytes != 8 && bytes != 16) return NULL;
    if (strstr(i->opcode, ".cg") && bytes != 16) return NULL;
    i->aux[AUX_BYTES] = (int32_t)bytes;
    return copy;
}

enum emu_step emu_copy_commit(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)i;
    EMU_EACH_LANE(l, mask) emu_warp_async(w)->copy_groups[l]++;
    return EMU_NEXT;
}

enum emu_step emu_copy_wait_group(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_copy_wait(w, mask, (uint32_t)i->op[0].imm, false);
    return EMU_NEXT;
}

enum emu_step emu_copy_wait_all(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)i;
    emu_copy_wait(w, mask, 0, true);
    return EMU_NEXT;
}

/* cp.async.mbarrier.arrive[.noinc] [a] */
enum emu_step emu_copy_arrive(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t address[EMU_LANES];
    bool counted = strstr(i->opcode, ".noinc") != NULL;
    emu_addresses(w, &i->op[0], address);
    EMU_EACH_LANE(l, mask) {
        struct emu_mbarrier *m = emu_mbarrier_at(w, w->block, i, emu_shared_offset(address[l]));
        if (!m) continue;
        if (!counted) emu_mbarrier_pend(m);
        struct emu_pending p = {
            .kind = EMU_PENDING_ARRIVE, .warp = w, .inst = i, .lane = l, .mbarrier = m};
        emu_pending_add(w->block, &p);
    }
    return EMU_NEXT;
}

/* ---- Bulk copies and TMA -------------------------------------------------------------------- */

static void count_bulk(struct emu_warp *w, const struct emu_inst *i, const struct emu_pending *p) {
    struct emu_count *c = w->count + i->pc;
    const struct emu_events *e = w->block->launch->events;
    const bool box = p->shared_bytes != p->bytes || p->map.rank;
    const uint32_t n = (p->bytes + 15) / 16,
                   of_row = box ? p->map.box[0] * (uint32_t)p->map.element_bytes / 16 : 8;
    c->bytes += p->bytes;
    c->wavefronts += (p->bytes + 127) / 128;
    c->wavefronts_ideal += (p->bytes + 127) / 128;
    for (uint32_t k = 0; e && e->piece && of_row && k < n; k++) {
        uint32_t row = k / of_row, at = k % of_row * 16;
        e->piece(e->user, w, i, "box", row,
                 box ? tensormap_shared(&p->map, p->shared, (int)row, at) : p->shared + 16 * k,
                 k / 8);
    }
}

/* What all bulk copies must satisfy on the shared side, which is in block b. */
static bool shared_side(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                        struct emu_pending *p, uint32_t align) {
    if (p->shared % align) {
        emu_report(EMU_MISALIGNED, w, i, NULL, "shared address 0x%x is not a multiple of %u",
                   p->shared, align);
        return false;
    }
    if (!emu_shared_holds(b, p->shared, p->shared_bytes)) {
        emu_report(EMU_BAD_SHARED, w, i, NULL,
                   "%u bytes at shared address 0x%x, but the block has 0x%x to 0x%x",
                   p->shared_bytes, p->shared, b->shared_base, b->shared_bytes);
        return false;
    }
    bool load = p->kind == EMU_PENDING_LOAD;
    uint32_t key = load ? p->mbarrier->addr : w->index;
    if (load && b->shadow && /* without checks the clocks stand still */
        !p->mbarrier->init_fenced &&
        p->mbarrier->init_stamp > w->clock.fenced[p->mbarrier->init_agent])
        emu_report(EMU_NOTE, w, i, p->mbarrier->init, /* libcu++'s memcpy_async does without */
                   "TMA may not see that the mbarrier at shared %#x was initialised: "
                   "CUDA's programming guide has a fence between",
                   p->mbarrier->addr);
    p->agent = emu_agent(b, load ? EMU_AGENT_TMA_LOAD : EMU_AGENT_TMA_STORE, key);
    p->stamp = emu_agent_issue(b, p->agent);
    if (!emu_visit(w, i, b, p->agent, p->stamp)) return false;
    if (!b->shadow) return true;
    struct emu_issue op = {p->agent, p->stamp, 1u << p->lane, load ? EMU_WRITE : EMU_READ, true};
    if (p->shared_bytes == p->bytes) return emu_shared_async(w, b, i, &op, p->shared, p->bytes);
    bool ok = true;
    for (int r = 0; r < (int)tensormap_rows(&p->map); r++)
        for (uint32_t at = 0; at < p->map.box[0] * (uint32_t)p->map.element_bytes; at += 16)
            ok &= emu_shared_async(w, b, i, &op, tensormap_shared(&p->map, p->shared, r, at), 16);
    return ok;
}

static void touch_global(const struct emu_pending *p, const struct emu_issue *op) {
    for (int r = 0; p->is_tensor && r < (int)tensormap_rows(&p->map); r++) {
        struct tensormap_row row = tensormap_row(&p->map, p->coordinate, r);
        if (row.bytes) emu_global_async(p->warp, p->inst, op, row.global, row.bytes);
    }
    if (!p->is_tensor) emu_global_async(p->warp, p->inst, op, p->global, p->bytes);
}

/* The race check of the copy's other side. */
static void global_side(struct emu_warp *w, struct emu_pending *p) {
    bool load = p->kind == EMU_PENDING_LOAD;
    struct emu_issue op = {p->agent, p->stamp, 1u << p->lane,
                           load         ? EMU_READ
                           : p->reduced ? EMU_ATOM
                                        : EMU_WRITE,
                           true};
    for (int r = 0; p->is_tensor && r < (int)tensormap_rows(&p->map); r++) {
        struct tensormap_row row = tensormap_row(&p->map, p->coordinate, r);
        if (row.bytes) emu_global_trace(w, op.what, row.global, row.bytes);
    }
    if (!p->is_tensor) emu_global_trace(w, op.what, p->global, p->bytes);
    if (!w->block->shadow) return;
    if (!load) {
        op.agent = p->global_agent = emu_agent(w->block, EMU_AGENT_TMA_WRITE, w->index);
        op.stamp = p->global_stamp = emu_agent_issue(w->block, op.agent);
    }
    touch_global(p, &op);
}

void emu_store_written(struct emu_warp *w, const struct emu_pending *p) {
    if (!w->block->shadow) return;
    for (int r = 0; p->is_tensor && r < (int)tensormap_rows(&p->map); r++) {
        struct tensormap_row row = tensormap_row(&p->map, p->coordinate, r);
        if (row.bytes) emu_global_done(w, p->global_agent, p->global_stamp, row.global, row.bytes);
    }
    if (!p->is_tensor) emu_global_done(w, p->global_agent, p->global_stamp, p->global, p->bytes);
}

/* What a load brings to b of memory that nothing wrote. */
static void loaded(struct emu_block *b, const struct emu_pending *p) {
    if (!p->is_tensor) emu_global_copied(b, p->shared, p->global, p->bytes);
    if (!p->is_tensor || !emu_global_is_watched(b, p->map.base)) return;
    for (int r = 0; r < (int)tensormap_rows(&p->map); r++) {
        const struct tensormap_row row = tensormap_row(&p->map, p->coordinate, r);
        for (uint32_t at = row.skip, n; at < row.skip + row.bytes; at += n) { /* by 16 bytes */
            n = 16 - at % 16 < row.skip + row.bytes - at ? 16 - at % 16 : row.skip + row.bytes - at;
            emu_global_copied(b, tensormap_shared(&p->map, p->shared, r, at - at % 16) + at % 16,
                              row.global + at - row.skip, n);
        }
    }
}

/* Loads reach the blocks of a mask, each at the same places of its own memory; without
 * .multicast::cluster the block itself. Stores leave from the block itself. */
static void start(struct emu_warp *w, const struct emu_inst *i, struct emu_pending *p,
                  uint32_t mbarrier, uint32_t align) {
    struct emu_cluster *c = w->block->cluster;
    bool load = i->aux[AUX_LOAD];
    uint32_t blocks = 1u << w->block->rank;
    if (i->aux[AUX_MULTICAST])
        blocks = emu_row32(w, i->op[i->aux[AUX_MULTICAST]].row)[p->lane] & 0xffff;
    if (blocks >> c->n)
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "the mask 0x%x names blocks that the cluster of %u has not", blocks, c->n);
    EMU_EACH_LANE(r, blocks & ((1u << c->n) - 1)) {
        struct emu_block *b = c->block[r];
        p->mbarrier = load ? emu_mbarrier_at(w, b, i, mbarrier) : NULL;
        if ((load && !p->mbarrier) || !shared_side(w, b, i, p, align)) continue;
        count_bulk(w, i, p);
        if (load) loaded(b, p);
        global_side(w, p);
        emu_pending_add(b, p);
    }
}

/* The map behind a generic address: kernel parameters and global memory. */
static bool find_map(struct emu_warp *w, const struct emu_inst *i, uint64_t address,
                     struct tensormap *out) {
    int rank = i->aux[AUX_BYTES];
    struct emu_place at = {NULL};
    if (address % 64 == 0) at = emu_global(w, address, 128, EMU_READ, NULL);
    if (!at.byte || !tensormap_decode(at.byte, out)) {
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
                   "%#llx does not hold a tensor map (128 bytes, 64-byte aligned)",
                   (unsigned long long)address);
        return false;
    }
    if (!strstr(i->opcode, ".im2col") == out->im2col) {
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
                   out->im2col ? "the tensor map is one for im2col, the instruction copies boxes"
                               : "the tensor map is one for boxes, the instruction is im2col");
        return false;
    }
    if (rank == out->rank) return true;
    emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
               "the tensor map has %d dimensions, the instruction %d", out->rank, rank);
    return false;
}

/* On an H200 both are illegal instructions (tests/golden/README.md). */
static bool check_coordinates(struct emu_warp *w, const struct emu_inst *i,
                              const struct emu_pending *p) {
    bool negative = false;
    for (int c = 0; c < p->map.rank; c++) negative |= p->coordinate[c] < 0;
    if ((int64_t)p->coordinate[0] * p->map.element_bytes % 16)
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
                   "the innermost coordinate %d is not a multiple of 16 bytes", p->coordinate[0]);
    else if (negative && p->kind == EMU_PENDING_STORE)
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
                   "a store cannot begin before the tensor (coordinate < 0)");
    else
        return true;
    return false;
}

/* cp.async.bulk.tensor: loads [shared], [map, {x..}], [mbarrier]; stores [map, {x..}], [shared] */
static enum emu_step tensor_copy(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool load = i->aux[AUX_LOAD], reduces = i->opcode[3] == 'r';
    const struct emu_operand *map = &i->op[load ? 1 : 0], *at = map + 1,
                             *shared = &i->op[load ? 0 : 2];
    uint64_t maps[EMU_LANES], places[EMU_LANES], barriers[EMU_LANES];
    emu_addresses(w, map, maps);
    emu_addresses(w, shared, places);
    if (load) emu_addresses(w, &i->op[3], barriers);
    EMU_EACH_LANE(l, mask) {
        struct emu_pending p = {.kind = load ? EMU_PENDING_LOAD : EMU_PENDING_STORE,
                                .warp = w,
                                .inst = i,
                                .lane = l,
                                .is_tensor = true,
                                .shared = emu_shared_offset(places[l])};
        if (!find_map(w, i, maps[l], &p.map)) continue;
        for (int c = 0; load && p.map.im2col && c < p.map.rank - 2; c++)
            p.map.offset[c] = (int32_t)emu_row32(w, i->op[4].rows[c])[l] & 0xffff;
        p.reduced = reduces ? p.map.type : EMU_NONE;
        for (int c = 0; c < p.map.rank; c++)
            p.coordinate[c] = (int32_t)emu_row32(w, at->rows[c])[l];
        if (tensormap_shared_bytes(&p.map) > w->block->shared_bytes) {
            emu_report(EMU_BAD_SHARED, w, i, NULL,
                       "the tensor map's box takes %llu bytes of shared memory, the block has 0x%x",
                       (unsigned long long)tensormap_shared_bytes(&p.map), w->block->shared_bytes);
            continue;
        }
        p.bytes = (uint32_t)tensormap_box_bytes(&p.map);
        p.shared_bytes = (uint32_t)tensormap_shared_bytes(&p.map);
        if (!check_coordinates(w, i, &p)) continue;
        p.group = emu_warp_async(w)->store_groups[l];
        emu_global_touch(w, i, l, p.map.base, load ? EMU_READ : p.reduced ? EMU_ATOM : EMU_WRITE);
        start(w, i, &p, load ? emu_shared_offset(barriers[l]) : 0, 128);
    }
    return EMU_NEXT;
}

/* cp.async.bulk: loads [shared], [global], bytes, [mbarrier]; stores [global], [shared], bytes */
static enum emu_step bulk_copy(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool load = i->aux[AUX_LOAD];
    uint64_t global[EMU_LANES], places[EMU_LANES], barriers[EMU_LANES];
    const uint32_t *bytes = emu_row32(w, i->op[2].row);
    emu_addresses(w, &i->op[load ? 1 : 0], global);
    emu_addresses(w, &i->op[load ? 0 : 1], places);
    if (load) emu_addresses(w, &i->op[3], barriers);
    EMU_EACH_LANE(l, mask) {
        struct emu_pending p = {.kind = load ? EMU_PENDING_LOAD : EMU_PENDING_STORE,
                                .warp = w,
                                .inst = i,
                                .lane = l,
                                .shared = emu_shared_offset(places[l]),
                                .global = global[l],
                                .bytes = bytes[l],
                                .shared_bytes = bytes[l]};
        if (p.bytes % 16 || p.global % 16) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "%u bytes at %#llx: both must be multiples of 16", p.bytes,
                       (unsigned long long)p.global);
            continue;
        }
        p.group = emu_warp_async(w)->store_groups[l];
        if (!p.bytes) continue;
        if (i->opcode[3] == 'r') p.reduced = (enum emu_type)i->type[0];
        emu_global_touch(w, i, l, p.global, load ? EMU_READ : p.reduced ? EMU_ATOM : EMU_WRITE);
        start(w, i, &p, load ? emu_shared_offset(barriers[l]) : 0, 16);
    }
    return EMU_NEXT;
}

/* Where the mask of blocks stands: behind the mbarrier, and behind the offsets of im2col. */
static int multicast_operand(const struct emu_inst *i) {
    if (!strstr(i->opcode, ".multicast::cluster")) return 0;
    return strstr(i->opcode, ".im2col") ? 5 : 4;
}

emu_handler *emu_select_bulk(struct emu_inst *i, const char **why) {
    const char *tensor = strstr(i->opcode, ".tensor."), *shared = strstr(i->opcode, ".shared");
    const char *global = strstr(i->opcode, ".global");
    if (i->opcode[3] == 'r' && !emu_select_atomic(i, why)) return NULL;
    i->aux[AUX_MULTICAST] = multicast_operand(i);
    i->aux[AUX_BYTES] = tensor ? tensor[8] - '0' : 0;
    i->aux[AUX_LOAD] = shared < global;
    i->space = EMU_SHARED;
    if (!tensor) return bulk_copy;
    *why = "the number of coordinates does not fit the dimensions";
    if (i->op[shared < global ? 2 : 1].n != i->aux[AUX_BYTES]) return NULL;
    *why = "the number of offsets does not fit the dimensions";
    bool offsets = shared < global && strstr(i->opcode, ".im2col");
    return offsets && i->op[4].n != i->aux[AUX_BYTES] - 2 ? NULL : tensor_copy;
}

/* Prefetches move nothing here, but their map must be one. */
enum emu_step emu_prefetch_map(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t maps[EMU_LANES];
    struct tensormap map;
    emu_addresses(w, &i->op[0], maps);
    EMU_EACH_LANE(l, mask) {
        struct emu_place at = emu_global(w, maps[l], 128, EMU_READ, NULL);
        if (at.byte && tensormap_decode(at.byte, &map)) continue;
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL, "%#llx does not hold a tensor map",
                   (unsigned long long)maps[l]);
    }
    return EMU_NEXT;
}

enum emu_step emu_store_commit(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)i;
    EMU_EACH_LANE(l, mask) emu_warp_async(w)->store_groups[l]++;
    return EMU_NEXT;
}

enum emu_step emu_store_wait_group(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_store_wait(w, mask, (uint32_t)i->op[0].imm, strstr(i->opcode, ".read") != NULL);
    return EMU_NEXT;
}
