#include "draw.h"

#include "common/base/heap.h"

#include <string.h>

/* The system keeps the first KiB of a block's shared memory, as on every chip since sm_80. Where a
 * kernel's own begins is a multiple of it, so that what has to lie at 1024 bytes (a swizzle of 128
 * bytes) lies there without more ado. */
enum { SYSTEM_BYTES = 1024, MOST_SYSTEM_KIB = 8 };

static uint64_t next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Four 16-bit words, each 0x7ff1 to 0x7fff or 0xfff1 to 0xffff: NaN in fp16, bf16, fp32 and fp64. */
uint64_t emu_draw_unwritten(uint64_t draw) {
    uint64_t word = 0, state = ~draw, random = next(&state);
    for (int h = 0; h < 4; h++, random >>= 8)
        word = word << 16 | (random & 0x80) << 8 | 0x7ff0 | (1 + random % 15);
    return word;
}

static void draw_row(unsigned char *row, const struct emu_drawn_row *d, uint64_t unwritten,
                     uint32_t mask) {
    const uint32_t narrow = d->bytes == 2 ? unwritten & 0xffff : (uint32_t)unwritten;
    if (!d->bytes) memcpy(row, &mask, 4);
    for (int l = 0; l < EMU_LANES && d->bytes; l++)
        if (d->bytes == 8)
            memcpy(row + 8 * l, &unwritten, 8);
        else
            memcpy(row + 4 * l, &narrow, 4);
}

static void move_row(unsigned char *row, const struct emu_drawn_row *d, uint32_t base) {
    for (int l = 0; l < EMU_LANES; l++) {
        uint64_t wide;
        uint32_t narrow;
        if (d->bytes == 8) {
            memcpy(&wide, row + 8 * l, 8);
            wide += base;
            memcpy(row + 8 * l, &wide, 8);
        } else {
            memcpy(&narrow, row + 4 * l, 4);
            narrow += base;
            memcpy(row + 4 * l, &narrow, 4);
        }
    }
}

unsigned char *emu_draw(struct emu_launch_state *l) {
    const struct emu_kernel *k = l->kernel;
    uint64_t state = l->options->draw;
    l->unwritten = emu_draw_unwritten(state);
    const uint32_t align = k->shared_align > SYSTEM_BYTES ? k->shared_align : SYSTEM_BYTES,
                   kib = l->options->draw ? 1 + next(&state) % MOST_SYSTEM_KIB : 1;
    unsigned char *rows = heap_take(k->row_bytes);
    l->shared_base = (kib * SYSTEM_BYTES + align - 1) / align * align;
    memcpy(rows, k->row_init, k->row_bytes);
    for (uint32_t n = 0; n < k->n_drawn; n++) {
        const struct emu_drawn_row *d = &k->drawn[n];
        if (d->is_address)
            move_row(rows + d->row, d, l->shared_base);
        else
            draw_row(rows + d->row, d, l->unwritten, (uint32_t)next(&state));
    }
    return rows;
}

void emu_draw_fill(uint64_t unwritten, unsigned char *at, size_t bytes) {
    size_t done = bytes < 8 ? bytes : 8;
    memcpy(at, &unwritten, done);
    for (size_t n; done < bytes; done += n) { /* twice as much each time, up to a page */
        n = done < 4096 ? done : 4096;
        if (n > bytes - done) n = bytes - done;
        memcpy(at + done, at, n);
    }
}
