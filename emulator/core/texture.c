#include "texture.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <stdlib.h>

struct slot {
    uint32_t uses; /* objects that had it, the present one counted */
    bool taken;
    struct emu_texture texture;
};

struct emu_textures {
    struct slot *slot;
    uint32_t n, capacity;
};

struct emu_textures *emu_textures_open(void) {
    return heap_zeroed(1, sizeof(struct emu_textures));
}

void emu_textures_close(struct emu_textures *s) {
    if (s) free(s->slot);
    free(s);
}

static bool one_two_four(unsigned n) { return n == 1 || n == 2 || n == 4; }

/* Bytes from the first texel to behind the last one; UINT64_MAX if they are too many to count. */
static uint64_t bytes_of(const struct emu_texture *t) {
    const uint64_t row = (uint64_t)t->extent[0] * t->channels * t->channel_bytes;
    uint64_t rows, slices, all;
    if (__builtin_mul_overflow(t->pitch, (uint64_t)t->extent[1] - 1, &rows) ||
        __builtin_mul_overflow(t->slice, (uint64_t)t->extent[2] - 1, &slices) ||
        __builtin_add_overflow(rows, slices, &all) || __builtin_add_overflow(all, row, &all))
        return UINT64_MAX;
    return all;
}

static const char *check(const struct emu_memory *m, const struct emu_texture *t) {
    if (!one_two_four(t->channels) || !one_two_four(t->channel_bytes))
        return reason("texels of %d channels of %d bytes: both must be 1, 2 or 4", t->channels,
                      t->channel_bytes);
    if (t->texel > EMU_TEXEL_FLOAT || (t->texel == EMU_TEXEL_FLOAT && t->channel_bytes == 1))
        return reason("there is no such format of texels");
    if (t->as_fraction && (t->texel == EMU_TEXEL_FLOAT || t->channel_bytes == 4))
        return reason("only integers of 8 and 16 bits are read as fractions");
    for (int d = 0; d < 3; d++)
        if (!t->extent[d] || t->edge[d] > EMU_EDGE_BORDER)
            return reason("dimension %d has no texels, or no edge mode", d);
    if (bytes_of(t) > t->bytes)
        return reason("the texels take more than the %llu bytes given",
                      (unsigned long long)t->bytes);
    if (!emu_memory_at(m, t->data, t->bytes))
        return reason("%llu bytes at %#llx are not inside one allocation",
                      (unsigned long long)t->bytes, (unsigned long long)t->data);
    return NULL;
}

const char *emu_texture_make(struct emu_memory *m, const struct emu_texture *t, uint64_t *handle) {
    struct emu_textures *s = emu_memory_textures(m);
    const char *why = check(m, t);
    uint32_t place = 0;
    *handle = 0;
    if (why) return why;
    while (place < s->n && (s->slot[place].taken || s->slot[place].uses == UINT32_MAX)) place++;
    if (place == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 16;
        s->slot = heap_grown(s->slot, s->capacity * sizeof *s->slot);
    }
    if (place == s->n) s->slot[s->n++] = (struct slot){0};
    struct slot *at = &s->slot[place];
    at->uses++;
    at->taken = true;
    at->texture = *t;
    *handle = (uint64_t)at->uses << 32 | place;
    return NULL;
}

static struct slot *slot_of(const struct emu_memory *m, uint64_t handle) {
    const struct emu_textures *s = emu_memory_textures(m);
    const uint32_t place = (uint32_t)handle;
    if (place >= s->n || !s->slot[place].taken || s->slot[place].uses != handle >> 32) return NULL;
    return &s->slot[place];
}

const struct emu_texture *emu_texture_find(const struct emu_memory *m, uint64_t handle) {
    const struct slot *at = slot_of(m, handle);
    return at ? &at->texture : NULL;
}

bool emu_texture_drop(struct emu_memory *m, uint64_t handle) {
    struct slot *at = slot_of(m, handle);
    if (at) at->taken = false;
    return at != NULL;
}
