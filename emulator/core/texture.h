/* Textures and surfaces: what a handle in a kernel stands for. The description lies in device memory,
 * and the handle is its address, so that stale and foreign handles are found like stale pointers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { EMU_TEXTURE_MAGIC = 0x78657454 };
enum emu_texel { EMU_TEXEL_SIGNED, EMU_TEXEL_UNSIGNED, EMU_TEXEL_FLOAT };
enum emu_texture_edge { EMU_EDGE_WRAP, EMU_EDGE_CLAMP, EMU_EDGE_MIRROR, EMU_EDGE_BORDER };

struct emu_texture {
    uint32_t magic;
    uint64_t data, bytes;  /* of the texels, in device memory */
    uint32_t extent[3];    /* x, y, z in texels; layers and faces count as z */
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
