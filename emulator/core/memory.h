/* Device memory, and what launches did to it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device memory: addresses are never used twice, so that a stale pointer is always caught. */
struct emu_memory;
const char *emu_memory_open(struct emu_memory **out);
void emu_memory_close(struct emu_memory *m);
const char *emu_memory_alloc(struct emu_memory *m, size_t bytes, uint64_t *out);
void emu_memory_free(struct emu_memory *m, uint64_t p);
/* Memory of the host's own that kernels may use at its address, until it is disowned. */
const char *emu_memory_adopt(struct emu_memory *m, uint64_t p, size_t bytes);
void emu_memory_disown(struct emu_memory *m, uint64_t p);
/* Host address of [p, p + bytes), or NULL if that is not inside one allocation. */
void *emu_memory_at(const struct emu_memory *m, uint64_t p, uint64_t bytes);

/* ---- For the emulator's own files ------------------------------------------------------------ */

/* What an instruction does to memory. EMU_STRONG is added for volatile, relaxed, acquire and
 * release: those do not race with each other. */
enum emu_access { EMU_READ = 1, EMU_WRITE = 2, EMU_ATOM = 3, EMU_STRONG = 4 };

/* What one alloc gave: [base, end). */
struct emu_allocation {
    uint64_t base, end;
    bool freed;
    uint8_t touched, ahead; /* EMU_READ | EMU_WRITE: by this launch, by those that it may overlap */
};
/* The allocation that holds p, or NULL. */
struct emu_allocation *emu_memory_find(const struct emu_memory *m, uint64_t p);
void emu_memory_next_launch(struct emu_memory *m, bool overlaps);
static inline void emu_memory_touch(struct emu_allocation *a, enum emu_access what) {
    uint8_t bits = what & EMU_ATOM;
    if ((__atomic_load_n(&a->touched, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(&a->touched, bits, __ATOMIC_RELAXED);
}
