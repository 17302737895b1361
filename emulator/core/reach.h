/* The one way from a number that a kernel computed to memory of the host.
 *
 *   room       memory of one kind that a kernel may use: a block's shared memory, a lane's local
 *              memory, the parameters of a launch, one allocation of device memory
 *   address    what the kernel says: an offset into the room; of device memory the address itself
 *   place      where that is on the host
 *
 *   emu_reach(room, address, bytes, what) is the place of [address, address + bytes), or nowhere; bytes > 0
 *
 * Handlers never make a pointer of a number. struct emu_bytes is never completed, so that adding an
 * offset to the memory of a block does not compile, and only emu_reach() makes a place.
 * tests/house/test_reach.sh looks for any other way in the sources. */
#pragma once

#include "state.h"

struct emu_room {
    struct emu_bytes *host; /* of its first byte */
    uint64_t first, bytes;  /* the address of that byte; how many there are */
    bool read_only;
};

struct emu_place {
    unsigned char *byte; /* the first of those asked for; NULL: nowhere */
};

static inline struct emu_room emu_room_shared(const struct emu_block *b) {
    unsigned char *all =
        (unsigned char *)b->shared_memory; /* what lies below shared_base is the system's */
    return (struct emu_room){(struct emu_bytes *)(all + b->shared_base), b->shared_base,
                             b->shared_bytes - b->shared_base, false};
}
static inline struct emu_room emu_room_local(const struct emu_warp *w, uint32_t lane) {
    const uint32_t bytes = w->block->kernel->local_bytes;
    unsigned char *all = (unsigned char *)w->local_memory;
    return (struct emu_room){(struct emu_bytes *)(all + (uint64_t)lane * bytes), 0, bytes, false};
}
/* Addresses are offsets, as those of ld.param. */
static inline struct emu_room emu_room_param(const struct emu_launch_state *l) {
    return (struct emu_room){l->param_memory, 0, l->kernel->param_bytes, true};
}
/* An allocation that emu_memory_find() gave in this launch; NULL: an empty room. */
static inline struct emu_room emu_room_of(const struct emu_allocation *a) {
    if (!a) return (struct emu_room){0};
    return (struct emu_room){(struct emu_bytes *)a->host, a->base, a->end - a->base, a->read_only};
}
/* The allocation that holds the address. */
static inline struct emu_room emu_room_global(const struct emu_memory *m, uint64_t address) {
    return emu_room_of(emu_memory_find(m, address));
}
/* The part of a room that [first, first + bytes) is; empty if not all of it lies there. Its addresses
 * begin with 0. */
static inline struct emu_room emu_room_part(struct emu_room r, uint64_t first, uint64_t bytes) {
    const uint64_t offset = first - r.first;
    if (offset > r.bytes || bytes > r.bytes - offset) return (struct emu_room){0};
    return (struct emu_room){(struct emu_bytes *)((unsigned char *)r.host + offset), 0, bytes,
                             r.read_only};
}

static inline struct emu_place emu_reach(struct emu_room r, uint64_t address, uint64_t bytes,
                                         enum emu_access what) {
    const uint64_t offset = address - r.first; /* below the room: larger than any room */
    const bool fits = offset <= r.bytes && bytes <= r.bytes - offset;
    if (__builtin_expect(!fits || (r.read_only && what & EMU_WRITE), 0))
        return (struct emu_place){NULL};
    return (struct emu_place){(unsigned char *)r.host + offset};
}
