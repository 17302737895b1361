/* Device memory: allocations, and what launches read and wrote there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device memory: addresses are never used twice, so that a stale pointer is always caught. */
struct emu_memory;
const char *emu_memory_open(struct emu_memory **out);
void emu_memory_close(struct emu_memory *m);
/* From now on the host cannot use the addresses of what is allocated, as on a GPU; what it shares, it can. To be called
 * before the first allocation. */
void emu_memory_hide(struct emu_memory *m);
/* Is p an address that is hidden from the host, or may be? */
bool emu_memory_is_hidden(const struct emu_memory *m, uint64_t p);
const char *emu_memory_alloc(struct emu_memory *m, size_t bytes, uint64_t *out);
void emu_memory_free(struct emu_memory *m, uint64_t p);
/* Memory of the host's own that kernels may use at its address, until it is disowned. */
const char *emu_memory_adopt(struct emu_memory *m, uint64_t p, size_t bytes);
void emu_memory_disown(struct emu_memory *m, uint64_t p);
/* What kernels allocate by malloc(); one host thread at a time may call these. The host cannot use it, and it stays until a
 * kernel frees it. */
void emu_heap_limit(struct emu_memory *m,
                    size_t bytes);         /* of all that is there at once: 8 MiB unless told */
void emu_heap_begin(struct emu_memory *m); /* before a launch that may allocate */
uint64_t emu_heap_alloc(struct emu_memory *m,
                        uint64_t bytes); /* 16-byte aligned, uninitialised; 0: no room */
const char *emu_heap_free(struct emu_memory *m, uint64_t p); /* NULL, or what is wrong with p */
/* The memory of a launch's parameters, which kernels cannot write. It is that of the launch before,
 * so that launches use up no addresses. */
enum { EMU_PARAM_BYTES = 32764 };
const char *emu_memory_params(struct emu_memory *m, size_t bytes, uint64_t *out);
/* What a cooperative launch synchronises by: zeroed. */
const char *emu_memory_workspace(struct emu_memory *m, uint64_t *out);
/* Host address of [p, p + bytes), or NULL if that is not inside one allocation. */
void *emu_memory_at(const struct emu_memory *m, uint64_t p, uint64_t bytes);
/* The address of what emu_memory_at() found. */
uint64_t emu_memory_address(const struct emu_memory *m, const void *place);
/* The host, too, reads and writes the allocation at p, whose content is lost. A reason: it cannot. Does it? */
const char *emu_memory_share(struct emu_memory *m, uint64_t p);
bool emu_memory_is_shared(const struct emu_memory *m, uint64_t p);
bool emu_memory_any_shared(const struct emu_memory *m);
/* What the last launch did, allocation by allocation; *n begins with 0. */
struct emu_effect {
    uint64_t base, end, wrote_from, wrote_to; /* of the allocation; written at most, or nothing */
    bool read;
};
bool emu_memory_next_effect(const struct emu_memory *m, int *n, struct emu_effect *out);
/* From the next launch on, allocations keep which bytes it uses (footprint.h). */
void emu_memory_trace(struct emu_memory *m);
/* The allocations that the last launch used, and which bytes; *n begins with 0. */
const struct emu_footprint *emu_memory_next_trace(const struct emu_memory *m, int *n);

/* What nothing has written yet, in the allocation at p, is uninitialised from now on; the host has
 * written [p, p + bytes). */
void emu_memory_watch(struct emu_memory *m, uint64_t p);
void emu_memory_written(const struct emu_memory *m, uint64_t p, uint64_t bytes);
/* memset by the host. Returns whether nothing was written there since the same memset: programs that measure time
 * clear the whole L2 cache before each launch. */
void emu_memory_fill(struct emu_memory *m, uint64_t p, int value, uint64_t bytes);
bool emu_memory_is_filled(const struct emu_memory *m, uint64_t p, int value, uint64_t bytes);

/* ---- For the emulator's own files ------------------------------------------------------------ */

/* What an instruction does to memory. EMU_STRONG is added for volatile, relaxed, acquire and
 * release: those do not race with each other. */
enum emu_access { EMU_READ = 1, EMU_WRITE = 2, EMU_ATOM = 3, EMU_STRONG = 4 };

/* Its table of objects: texture.h. */
struct emu_textures *emu_memory_textures(const struct emu_memory *m);

/* What one alloc gave: [base, end). */
struct emu_allocation {
    uint64_t base, end;
    unsigned char *host;    /* where base is */
    bool freed;             /* of the heap: end is base, then, and it had heap_bytes */
    bool read_only;         /* for kernels */
    uint8_t touched, ahead; /* EMU_READ | EMU_WRITE: by this launch, by those that it may overlap */
    uint64_t wrote_from, wrote_to; /* by this launch, at most */
    uint64_t ahead_from, ahead_to; /* by those that it may overlap, at most */
    bool host_sees;                /* pinned, managed, registered */
    struct emu_cells *cells;       /* private to checks/global.c; NULL: no kernel has used it */
    size_t cells_bytes;
    struct emu_footprint *footprint; /* NULL: not kept */
    uint64_t heap_bytes;             /* 0: the host allocated it */
    uint8_t *written; /* by cell, which of its bytes were written; NULL: not checked */
    struct {
        uint64_t p, bytes;
        int value;
    } filled; /* by the last emu_memory_fill; 0 bytes: something was written since */
};
static inline void *emu_memory_place(const struct emu_allocation *a, uint64_t p) {
    return a->host + (p - a->base);
}
/* 4-byte cells that it lies in. */
static inline size_t emu_memory_cells(const struct emu_allocation *a) {
    return (size_t)((a->end + 3) / 4 - a->base / 4);
}
/* A number of the present launch, unlike those that cells may still name. */
uint32_t emu_memory_launch(const struct emu_memory *m);
/* The allocation that holds p, or NULL. */
struct emu_allocation *emu_memory_find(const struct emu_memory *m, uint64_t p);
/* The one with the highest base that is not above p, even if freed or too short; NULL: none. */
const struct emu_allocation *emu_memory_below(const struct emu_memory *m, uint64_t p);
void emu_memory_next_launch(struct emu_memory *m, bool overlaps);
/* This launch reads, or writes, in [from, to). */
void emu_memory_widen(struct emu_allocation *a, uint64_t from, uint64_t to);
static inline void emu_memory_touch(struct emu_allocation *a, enum emu_access what, uint64_t from,
                                    uint64_t to) {
    uint8_t bits = what & EMU_ATOM;
    if (what & EMU_WRITE && (from < __atomic_load_n(&a->wrote_from, __ATOMIC_RELAXED) ||
                             to > __atomic_load_n(&a->wrote_to, __ATOMIC_RELAXED)))
        emu_memory_widen(a, from, to);
    if ((__atomic_load_n(&a->touched, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(&a->touched, bits, __ATOMIC_RELAXED);
}
