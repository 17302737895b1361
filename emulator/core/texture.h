/* Textures and surfaces: what a handle in a kernel stands for. The host makes them, and they live in a
 * table of its device memory that no kernel reaches. A kernel's handle is looked up there:
 *
 *   63 .. 32                             | 31 .. 0
 *   how many had this place before, + 1  | place in the table
 *
 * so that a handle of an object that was destroyed, or that a kernel made up, stands for nothing. */
#pragma once

#include "memory.h"

#include <stdbool.h>
#include <stdint.h>

enum emu_texel { EMU_TEXEL_SIGNED, EMU_TEXEL_UNSIGNED, EMU_TEXEL_FLOAT };
enum emu_texture_edge { EMU_EDGE_WRAP, EMU_EDGE_CLAMP, EMU_EDGE_MIRROR, EMU_EDGE_BORDER };

struct emu_texture {
    uint64_t data, bytes;  /* of the texels, in device memory */
    uint32_t extent[3];    /* x, y, z in texels; layers and faces count as z; at least 1 */
    uint64_t pitch, slice; /* bytes from row to row, and from z to z + 1 */
    uint8_t channels;      /* 1, 2, 4 */
    uint8_t channel_bytes; /* 1, 2, 4 */
    uint8_t texel;         /* enum emu_texel */
    uint8_t edge[3];       /* enum emu_texture_edge, for x, y, z */
    bool is_surface;       /* for suld and sust */
    bool linear;           /* filter: else the nearest */
    bool normalized;       /* coordinates from 0 to 1 */
    bool as_fraction;      /* integers become [0, 1] or [-1, 1] */
    bool is_buffer;        /* linear memory: outside of it there are zeros */
    float border[4];
};

/* Makes an object; its texels are memory of m. NULL, or the rule that t breaks. */
const char *emu_texture_make(struct emu_memory *m, const struct emu_texture *t, uint64_t *handle);
/* NULL: the handle stands for nothing. */
const struct emu_texture *emu_texture_find(const struct emu_memory *m, uint64_t handle);
/* False: there is no such object. */
bool emu_texture_drop(struct emu_memory *m, uint64_t handle);

/* For memory.c: the table. */
struct emu_textures *emu_textures_open(void);
void emu_textures_close(struct emu_textures *s);
