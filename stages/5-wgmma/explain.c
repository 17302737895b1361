/* --explain: which byte of shared memory holds which element, and what the descriptors say. */
#include "experiment.h"

#include "common/base/heap.h"

#include <stdlib.h>

static void explain_descriptor(FILE *f, char matrix, uint64_t word) {
    struct gmma_desc d = gmma_desc_decode(word);
    static const char *const swizzles[] = {"none", "128 bytes", "64 bytes", "32 bytes"};
    fprintf(f, "descriptor of %c: 0x%016llx (the tiles at shared address 0)\n", matrix,
            (unsigned long long)word);
    fprintf(f, "  bits  0-13  start >> 4          %6u   byte %u\n", d.start >> 4, d.start);
    fprintf(f, "  bits 16-29  leading offset >> 4 %6u   %u bytes\n", d.leading_bytes >> 4,
            d.leading_bytes);
    fprintf(f, "  bits 32-45  stride offset >> 4  %6u   %u bytes\n", d.stride_bytes >> 4,
            d.stride_bytes);
    fprintf(f, "  bits 49-51  base offset         %6u\n", d.base_offset);
    fprintf(f, "  bits 62-63  swizzle             %6u   %s\n", d.swizzle, swizzles[d.swizzle]);
}

/* Eight halves lie side by side in 16 bytes: one line of 128 bytes is eight such chunks. A chunk is
 * named by its first element, (row, k). */
static void explain_tile(FILE *f, char matrix, const struct gmma_layout *l) {
    size_t bytes = gmma_layout_bytes(l);
    struct {
        int row, k;
    } *chunk = heap_take(bytes / 16 * sizeof *chunk);
    for (size_t i = 0; i < bytes / 16; i++) chunk[i].row = -1;
    for (int row = 0; row < l->rows; row += l->mn_major ? 8 : 1)
        for (int k = 0; k < l->k; k += l->mn_major ? 1 : 8) {
            uint32_t at = gmma_layout_offset(l, row, k);
            chunk[at / 16].row = row;
            chunk[at / 16].k = k;
        }
    fprintf(f,
            "tile of %c, %zu bytes: 16-byte chunks by their first (%s, k), 8 elements of %s each\n",
            matrix, bytes, matrix == 'A' ? "m" : "n",
            !l->mn_major    ? "k"
            : matrix == 'A' ? "m"
                            : "n");
    for (size_t line = 0; line < bytes / 128; line++) {
        fprintf(f, "  %5zu", line * 128);
        for (size_t i = line * 8; i < line * 8 + 8; i++)
            if (chunk[i].row < 0)
                fprintf(f, "     --   ");
            else
                fprintf(f, "  %3d,%-3d ", chunk[i].row, chunk[i].k);
        fputc('\n', f);
    }
    free(chunk);
}

void explain(FILE *f, const struct experiment *e, const struct matrices *m) {
    char text[96];
    fprintf(f, "%s\n\n", experiment_text(e, text));
    explain_descriptor(f, 'A', m->args.a_desc);
    explain_descriptor(f, 'B', m->args.b_desc);
    fprintf(f, "k step, bytes added to the start of A and B:");
    for (int s = 0; s < e->k_steps; s++)
        fprintf(f, "  %d: %u, %u", s, m->args.a_start[s], m->args.b_start[s]);
    fprintf(f, "\n\n");
    explain_tile(f, 'A', &m->a_layout);
    fprintf(f, "\n(B's tile starts at byte %u)\n", m->b_tile);
    explain_tile(f, 'B', &m->b_layout);
}
