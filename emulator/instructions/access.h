/* How instructions reach memory: every access goes through here, for bounds, races and counts. */
#pragma once

#include "emulator/core/pattern.h"
#include "emulator/core/reach.h"
#include "emulator/core/state.h"

/* The addresses of an EMU_OP_ADDRESS operand. Shared ones as offsets into the block's memory. */
void emu_addresses(const struct emu_warp *w, const struct emu_operand *op, uint64_t out[32]);

/* ---- Memory -------------------------------------------------------------------------------------
 * Lane l of `mask` touches bytes [addr[l], addr[l] + bytes), bytes = 1, 2, 4, 8 or 16. Checks
 * bounds and alignment, records the access for the race check, counts wavefronts or sectors,
 * tells the event seam. Returns the lanes that may go on; the others have been reported. */
uint32_t emu_shared_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint32_t addr[32], unsigned bytes, enum emu_access what);
/* The same for the memory of a block that w may visit. */
uint32_t emu_block_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                          uint32_t mask, const uint32_t addr[32], unsigned bytes,
                          enum emu_access what);
uint32_t emu_global_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, enum emu_access what);

/* What emu_global_access() let through, by place: all lanes of `mask` have one. */
void emu_global_places(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                       const uint64_t addr[32], unsigned bytes, enum emu_access what,
                       struct emu_place at[32]);

/* The pattern of a load or store by all lanes at base[l] + offset, if it came before like this
 * and is legal: then it is counted and checked by this call. NULL: take emu_shared_access(). */
struct emu_again {
    struct emu_pattern *pattern;
    struct emu_place first; /* of the first active lane; the others lie `delta` from there */
};
struct emu_again emu_shared_again(struct emu_warp *w, const struct emu_inst *i,
                                  const uint32_t base[32], uint32_t offset, unsigned bytes,
                                  enum emu_access what);

/* The same of a load from global memory by some lanes, at base[l] + i->offset, where nothing is looked at but bounds. */
struct emu_again emu_global_again(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                                  const uint64_t base[32], unsigned bytes);

static inline void emu_global_count(struct emu_warp *w, const struct emu_inst *i,
                                    const struct emu_pattern *p, uint32_t mask, unsigned bytes) {
    struct emu_count *c = w->count + i->pc;
    c->sectors += p->wavefronts;
    c->sectors_ideal += p->wavefronts_ideal;
    c->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
}

/* The place of [addr, addr + bytes) of global memory; nowhere (nothing reported) if not all is
 * allocated, or may not be written. *near, if not NULL, is the allocation to try first, and becomes
 * the one that was found. */
static inline struct emu_place emu_global(const struct emu_warp *w, uint64_t addr, uint64_t bytes,
                                          enum emu_access what,
                                          const struct emu_allocation **near) {
    if (near && *near) {
        struct emu_place at = emu_reach(emu_room_of(*near), addr, bytes, what);
        if (__builtin_expect(at.byte != NULL, 1)) return at;
    }
    const struct emu_allocation *a = emu_memory_find(w->block->launch->memory, addr);
    if (near) *near = a;
    return emu_reach(emu_room_of(a), addr, bytes, what);
}

/* The offsets in shared memory behind addresses of an operand, generic or not: emu_shared_offset(). */
void emu_shared_offsets(const uint64_t address[32], uint32_t out[32]);

/* What crosses from block to block is counted by 32-byte sectors. */
void emu_remote_count(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const uint64_t addr[32], unsigned bytes);

/* Wavefronts of a cp.async of 16 bytes, of which the lanes in `reads` read, and how few there could
 * be; *again: sectors that are fetched once more; served as of emu_wavefronts(). copy.c */
uint32_t emu_copy16_wavefronts(uint32_t mask, uint32_t reads, const uint32_t shared[32],
                               const uint64_t global[32], uint32_t *ideal, uint32_t *again,
                               uint8_t (*served)[4]);

/* ---- ldst.c, atomic.c ------------------------------------------------------------------------ */

/* Where the lanes of an access point, of any space and with all checks; returns the
 * lanes that may go on. */
uint32_t emu_locate(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const struct emu_operand *op, unsigned bytes, enum emu_access what,
                    struct emu_place at[32]);
/* A reduction chosen by emu_select_atomic() on a run of elements. */
void emu_reduce(const struct emu_inst *i, enum emu_type type, unsigned char *to,
                const unsigned char *from, uint32_t bytes);
/* What an atomic does: aux[0] of its instruction; aux[1]: its bytes. */
enum emu_atomic {
    EMU_ATOMIC_ADD,
    EMU_ATOMIC_MIN,
    EMU_ATOMIC_MAX,
    EMU_ATOMIC_AND,
    EMU_ATOMIC_OR,
    EMU_ATOMIC_XOR,
    EMU_ATOMIC_EXCH,
    EMU_ATOMIC_CAS,
    EMU_ATOMIC_INC,
    EMU_ATOMIC_DEC
};
/* What an instruction of emu_select_atomic() makes of `old`. */
uint64_t emu_combine(const struct emu_inst *i, uint64_t old, uint64_t b, uint64_t c);
