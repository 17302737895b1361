/* Which bytes of an allocation a launch reads and writes, one by one: for launches that may run beside others. */
#pragma once

#include "memory.h"

/* Strong accesses do not race with each other, so they are kept apart. */
enum emu_trace_kind {
    EMU_TRACE_READ,
    EMU_TRACE_WRITE,
    EMU_TRACE_STRONG_READ,
    EMU_TRACE_STRONG_WRITE
};
enum { EMU_TRACE_KINDS = 4 };

struct emu_footprint;
struct emu_footprint *emu_footprint_open(uint64_t base, uint64_t end); /* NULL: no memory */
void emu_footprint_close(struct emu_footprint *f);
void emu_footprint_clear(struct emu_footprint *f);
/* [from, to) lies in the allocation. Host threads may call this at once. */
void emu_footprint_mark(struct emu_footprint *f, enum emu_access what, uint64_t from, uint64_t to);
/* The first run of marked bytes at or behind *at, which moves behind it; false: there are no more. */
bool emu_footprint_next(const struct emu_footprint *f, enum emu_trace_kind kind, uint64_t *at,
                        uint64_t *from, uint64_t *to);
