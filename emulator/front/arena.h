/* Memory that lives as long as the module. */
#pragma once

#include <stddef.h>

struct emu_arena {
    struct arena_block *last;
};
/* Zeroed, 64-byte aligned; NULL: no memory. */
void *emu_arena_alloc(struct emu_arena *a, size_t bytes);
void emu_arena_free(struct emu_arena *a);
