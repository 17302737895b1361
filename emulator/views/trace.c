/* Clients of the event seam: --trace LINE, --watch ADDRESS and the bank map. All print to
 * stdout, and make the grid run on one host thread. */
#include "trace.h"

#include "common/base/heap.h"
#include "emulator/core/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRACED = 200, MAX_TRACED_IN_ALL = 20000 };

/* Is the instruction from this line of the kernel's own file, directly or through something
 * inlined? */
static bool on_line(const struct emu_inst *i, const struct emu_warp *w, int line) {
    return line == EMU_EVERY_LINE || (line && emu_on_line(&w->block->kernel->origin[i->pc], line));
}

static int most_traced(const struct emu_options *o) {
    return o->trace_line == EMU_EVERY_LINE ? MAX_TRACED_IN_ALL : MAX_TRACED;
}

static void print_where(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_block *b = w->block;
    const struct emu_origin *o = &b->kernel->origin[i->pc];
    printf("line %d, block (%u,%u,%u), warp %u, lanes %08x: %.*s\n", emu_line_of(o), b->id[0],
           b->id[1], b->id[2], w->index, mask, (int)o->text_length, o->text);
}

/* One row, eight lanes a line, as what the opcode calls it. */
static void print_row(const struct emu_warp *w, uint32_t row, bool wide, enum emu_type t,
                      uint32_t mask) {
    for (uint32_t l = 0; l < EMU_LANES; l++) {
        if (l % 8 == 0) printf("    lane %2u:", l);
        if (!(mask >> l & 1))
            printf(" %14s", "-");
        else if (t == EMU_F32 && !wide)
            printf(" %14.7g", (double)emu_rowf(w, row)[l]);
        else if (wide)
            printf(" %#14" PRIx64, emu_row64(w, row)[l]);
        else if (t == EMU_S32)
            printf(" %14" PRId32, (int32_t)emu_row32(w, row)[l]);
        else
            printf(" %#14" PRIx32, emu_row32(w, row)[l]);
        if (l % 8 == 7) putchar('\n');
    }
}

static void print_results(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_trace *t = user;
    if (!on_line(i, w, t->options->trace_line) || w->block->linear || w->index ||
        t->n_traced > most_traced(t->options))
        return;
    if (t->n_traced++ == most_traced(t->options)) {
        printf("(more than %d instructions: no more is printed)\n", most_traced(t->options));
        return;
    }
    print_where(w, i, mask);
    enum emu_type type = i->n_types ? (enum emu_type)i->type[0] : EMU_NONE;
    for (int o = 0; o < i->n_ops; o++) {
        const struct emu_operand *op = &i->op[o];
        if (!op->written || op->row == EMU_SINK) continue;
        if (op->kind == EMU_OP_PRED) {
            printf("    predicate: %08x\n", *emu_mask(w, op->row));
            continue;
        }
        for (int k = 0; k < (op->kind == EMU_OP_GROUP ? op->n : 1); k++)
            print_row(w, op->kind == EMU_OP_GROUP ? op->rows[k] : op->row, op->wide, type, mask);
    }
}

/* ---- The bank map -------------------------------------------------------------------------------
 * For the first execution of each instruction of the line: which bank each lane's words lie in, and
 * in which wavefront they are served: a bank gives one word a wavefront. */

/* Operands of wgmma and the boxes of TMA come in pieces: on_piece(). */
static bool in_pieces(const struct emu_inst *i) {
    return i->class == EMU_HGMMA || i->class == EMU_TMA;
}

/* Does this execution belong to the map? */
static bool is_mapped(struct emu_trace *t, const struct emu_warp *w, const struct emu_inst *i) {
    if (w->block->linear || i->class == EMU_MBARRIER || !on_line(i, w, t->options->banks_line))
        return false;
    if (t->mapping) return t->mapping == w && t->mapped[t->n_mapped - 1] == i->pc;
    for (int n = 0; n < t->n_mapped; n++)
        if (t->mapped[n] == i->pc) return false;
    if (t->n_mapped == (int)(sizeof t->mapped / sizeof *t->mapped)) return false;
    t->mapped[t->n_mapped++] = i->pc;
    t->mapping = w;
    t->n_rows = t->wavefronts = t->ideal = 0;
    t->part = NULL;
    return true;
}

static void map_word(struct emu_trace *t, uint32_t lane, uint32_t word, uint32_t wavefront) {
    if (t->n_rows == t->room) {
        t->room = 2 * t->room + 1024;
        t->row = heap_grown(t->row, t->room * sizeof *t->row);
    }
    t->row[t->n_rows++] = (struct emu_map_row){lane, word, wavefront};
    if (wavefront >= t->wavefronts) t->wavefronts = wavefront + 1;
}

static void map_access(struct emu_trace *t, uint32_t mask, const uint32_t addr[32], unsigned bytes,
                       uint8_t (*served)[4], uint32_t ideal) {
    const uint32_t words = bytes <= 4 ? 1 : bytes / 4, before = t->wavefronts;
    t->ideal += ideal;
    EMU_EACH_LANE(l, mask)
    for (uint32_t k = 0; k < words; k++) map_word(t, l, addr[l] / 4 + k, before + served[l][k]);
}

/* What was gathered, as a block of the table. */
static void print_part(struct emu_trace *t, const struct emu_warp *w, const struct emu_inst *i) {
    printf("\n\n# %s (PTX line %d)%s%s: %u wavefronts, %u at best\n# %s bank word wavefront\n",
           i->opcode, w->block->kernel->origin[i->pc].ptx_line, t->part ? ", " : "",
           t->part ? t->part : "", t->wavefronts, t->ideal, t->part ? "row" : "lane");
    for (uint32_t r = 0; r < t->n_rows; r++)
        printf("%u %u 0x%x %u\n", t->row[r].lane, t->row[r].word % 32, t->row[r].word * 4,
               t->row[r].wavefront);
    t->n_rows = t->wavefronts = t->ideal = 0;
}

static void print_map(struct emu_trace *t, const struct emu_warp *w, const struct emu_inst *i) {
    if (t->mapping != w || t->mapped[t->n_mapped - 1] != i->pc) return;
    t->mapping = NULL;
    print_part(t, w, i);
}

static void print_watched(const struct emu_options *o, const struct emu_warp *w,
                          const struct emu_inst *i, uint32_t mask, enum emu_space space,
                          const uint64_t addr[32], unsigned bytes, enum emu_access what) {
    bool remote = space == EMU_CLUSTER;
    if ((space == EMU_SHARED || remote) != o->watch_shared) return;
    EMU_EACH_LANE(l, mask) {
        uint64_t at = remote ? addr[l] % EMU_WINDOW_BYTES : addr[l];
        if (o->watch - at >= bytes) continue;
        printf("lane %u %s 0x%" PRIx64, l,
               what == EMU_ATOM   ? "updates"
               : what & EMU_WRITE ? "writes"
                                  : "reads",
               o->watch);
        if (remote)
            printf(" of rank %u", (unsigned)((addr[l] - EMU_CLUSTER_WINDOW) / EMU_WINDOW_BYTES));
        printf(": ");
        print_where(w, i, mask);
    }
}

static void on_access(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      enum emu_space space, const uint64_t addr[32], unsigned bytes,
                      enum emu_access what) {
    struct emu_trace *t = user;
    const struct emu_options *o = t->options;
    bool first_warp = !w->block->linear && !w->index;
    /* what is asynchronous is seen here as it is issued, in one piece: cp.async's map is on_copy's */
    const bool at_once = !in_pieces(i) && i->class != EMU_LDGSTS;
    if (space == EMU_SHARED && at_once && is_mapped(t, w, i)) {
        uint32_t shared[EMU_LANES], ideal;
        uint8_t served[EMU_LANES][4];
        unsigned all = i->joined_bytes ? i->joined_bytes : bytes;
        for (int l = 0; l < EMU_LANES; l++) shared[l] = (uint32_t)addr[l];
        emu_wavefronts(mask, shared, all, i->class == EMU_LD_SHARED, i->class == EMU_ATOMIC, &ideal,
                       served);
        map_access(t, mask, shared, all, served, ideal);
    }
    if (o->trace_line && first_warp && on_line(i, w, o->trace_line) &&
        o->trace_line != EMU_EVERY_LINE && t->n_traced < MAX_TRACED) {
        printf("%s addresses of line %d, %u bytes a lane\n",
               space == EMU_SHARED    ? "shared"
               : space == EMU_CLUSTER ? "another block's shared"
                                      : "global",
               o->trace_line, bytes);
        for (uint32_t l = 0; l < EMU_LANES; l++) {
            if (l % 8 == 0) printf("    lane %2u:", l);
            if (mask >> l & 1)
                printf(" %#14" PRIx64, addr[l]);
            else
                printf(" %14s", "-");
            if (l % 8 == 7) putchar('\n');
        }
    }
    if (o->watch) print_watched(o, w, i, mask, space, addr, bytes, what);
}

static void on_copy(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const uint32_t shared[32], unsigned bytes, uint8_t (*served)[4],
                    uint32_t ideal) {
    struct emu_trace *t = user;
    const struct emu_options *o = t->options;
    uint64_t addr[EMU_LANES];
    if (is_mapped(t, w, i)) map_access(t, mask, shared, bytes, served, ideal);
    for (int l = 0; l < EMU_LANES; l++) addr[l] = shared[l];
    if (o->watch) print_watched(o, w, i, mask, EMU_SHARED, addr, bytes, EMU_WRITE);
}

/* Eight pieces of 16 bytes could be one wavefront, if they lay in all 32 banks. */
static void on_piece(void *user, struct emu_warp *w, const struct emu_inst *i, const char *of,
                     uint32_t row, uint32_t shared, uint32_t wavefront) {
    struct emu_trace *t = user;
    if (!is_mapped(t, w, i)) return;
    if (t->part && strcmp(t->part, of)) print_part(t, w, i);
    t->part = of;
    for (uint32_t k = 0; k < 4; k++) map_word(t, row, shared / 4 + k, wavefront);
    t->ideal = (t->n_rows + 31) / 32;
}

static void after(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    print_results(user, w, i, mask);
    print_map(user, w, i);
}

bool emu_trace_open(struct emu_trace *t, const struct emu_options *o) {
    *t = (struct emu_trace){
        .options = o,
        .events = {.after = after, .access = on_access, .copied = on_copy, .piece = on_piece}};
    t->events.user = t;
    return o->trace_line || o->watch || o->banks_line;
}

void emu_trace_close(struct emu_trace *t) { free(t->row); }
