/* Copies from one block of a cluster to another that run on behind their instruction: st.async,
 * red.async and cp.async.bulk between shared memories. The mbarrier that counts their bytes lies
 * in the block that receives. */
#include "access.h"
#include "async.h"
#include "cluster.h"
#include "handlers.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/race.h"
#include "emulator/core/failed_check.h"

#include <string.h>

/* Where lane l's bytes go: block, offset, mbarrier and agent of `p`. False: reported. */
static bool aim(struct emu_warp *w, const struct emu_inst *i, struct emu_pending *p, uint64_t to,
                uint64_t mbarrier, uint32_t align) {
    uint32_t addr;
    struct emu_block *b = emu_peer(w, i, to, &p->shared), *at = emu_peer(w, i, mbarrier, &addr);
    if (!b || !at) return false;
    if (b != at)
        emu_report(
            EMU_BAD_OPERAND, w, i, NULL,
            "the bytes go to rank %u and its mbarrier is in rank %u: both must be in one block",
            b->rank, at->rank);
    if (p->shared % align)
        emu_report(EMU_MISALIGNED, w, i, NULL, "shared address 0x%x is not a multiple of %u",
                   p->shared, align);
    if (b != at || p->shared % align) return false;
    if (!emu_reach(emu_room_shared(b), p->shared, p->bytes, EMU_WRITE).byte) {
        emu_report(EMU_BAD_SHARED, w, i, NULL,
                   "%u bytes at shared address 0x%x, but the block has 0x%x", p->bytes, p->shared,
                   b->shared_bytes);
        return false;
    }
    p->agent = emu_agent(b, EMU_AGENT_PEER_COPY, addr);
    p->stamp = emu_agent_issue(b, p->agent);
    if (!emu_visit(w, i, b, p->agent, p->stamp)) return false;
    p->mbarrier = emu_mbarrier_at(w, b, i, addr);
    struct emu_issue op = {p->agent, p->stamp, 1u << p->lane, EMU_WRITE, false, false};
    return p->mbarrier && (!b->shadow || emu_shared_async(w, b, i, &op, p->shared, p->bytes));
}

static void start(struct emu_pending *p) {
    p->shared_bytes = p->bytes;
    emu_pending_add(p->mbarrier->block, p);
}

/* st.async and red.async: [a], values, [mbarrier] */
static enum emu_step store_async(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_operand *s = &i->op[1];
    uint64_t to[EMU_LANES], mbarrier[EMU_LANES];
    uint32_t bytes = s->wide ? 8 : 4, n = s->kind == EMU_OP_GROUP ? s->n : 1, sent = 0;
    emu_addresses(w, &i->op[0], to);
    emu_addresses(w, &i->op[2], mbarrier);
    EMU_EACH_LANE(l, mask) {
        struct emu_pending p = {
            .kind = EMU_PENDING_PEER, .warp = w, .inst = i, .lane = l, .bytes = bytes * n};
        for (uint32_t k = 0; k < n; k++) {
            uint32_t row = s->kind == EMU_OP_GROUP ? s->rows[k] : s->row;
            const void *from =
                s->wide ? (const void *)&emu_row64(w, row)[l] : &emu_row32(w, row)[l];
            memcpy((unsigned char *)p.value + k * bytes, from, bytes);
        }
        if (!aim(w, i, &p, to[l], mbarrier[l], p.bytes)) continue;
        sent |= 1u << l;
        start(&p);
    }
    emu_remote_count(w, i, sent, to, bytes * n);
    return EMU_NEXT;
}

emu_handler *emu_select_store_async(struct emu_inst *i, const char **why) {
    const struct emu_operand *s = &i->op[1];
    unsigned bytes = emu_type_bytes((enum emu_type)i->type[i->n_types - 1]);
    *why = "the registers are not those of its vector: 4 or 8 bytes each, 16 together";
    int n = s->kind == EMU_OP_GROUP ? s->n : 1;
    if (n != i->vec || bytes * (unsigned)n > 16 || s->wide != (bytes == 8)) return NULL;
    return store_async;
}

emu_handler *emu_select_reduce_async(struct emu_inst *i, const char **why) {
    if (!emu_select_atomic(i, why)) return NULL; /* which emu_combine() will need */
    return emu_select_store_async(i, why);
}

/* cp.async.bulk.shared::cluster.shared::cta: [to], [from], bytes, [mbarrier]; cp.reduce.async.bulk
 * the same */
enum emu_step emu_peer_bulk(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_block *own = w->block;
    uint64_t to[EMU_LANES], from[EMU_LANES], mbarrier[EMU_LANES];
    const uint32_t *bytes = emu_row32(w, i->op[2].row);
    emu_addresses(w, &i->op[0], to);
    emu_addresses(w, &i->op[1], from);
    emu_addresses(w, &i->op[3], mbarrier);
    EMU_EACH_LANE(l, mask) {
        struct emu_pending p = {
            .kind = EMU_PENDING_PEER, .warp = w, .inst = i, .lane = l, .bytes = bytes[l]};
        p.reduced = (enum emu_type)i->type[0];
        uint32_t source = emu_shared_offset(from[l]);
        if (source % 16 || p.bytes % 16) {
            emu_report(EMU_MISALIGNED, w, i, NULL,
                       "%u bytes at shared 0x%x: both must be multiples of 16", p.bytes, source);
            continue;
        }
        if (!p.bytes || !aim(w, i, &p, to[l], mbarrier[l], 16)) continue;
        struct emu_issue op = {p.agent, p.stamp, 1u << l, EMU_READ, true, false};
        if (!emu_shared_async(w, own, i, &op, source, p.bytes)) continue;
        if (own->visit) own->visit[p.agent] = (struct emu_visit){p.stamp, w, i};
        p.source = own;
        p.source_at = source;
        w->count[i->pc].bytes += p.bytes;
        start(&p);
    }
    return EMU_NEXT;
}

emu_handler *emu_select_peer_reduce(struct emu_inst *i, const char **why) {
    return emu_select_atomic(i, why) ? emu_peer_bulk : NULL;
}
