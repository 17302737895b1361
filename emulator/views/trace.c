/* Clients of the event seam: --trace LINE, --watch ADDRESS and the bank map. All print to
 * stdout, and make the grid run on one host thread. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TRACED = 200 };

/* Is the instruction from this line of the kernel's own file, directly or through something
 * inlined? */
static bool on_line(const struct emu_inst *i, const struct emu_warp *w, int line) {
    return line && emu_on_line(&w->block->kernel->origin[i->pc], line);
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
        t->n_traced > MAX_TRACED)
        return;
    if (t->n_traced++ == MAX_TRACED) {
        printf("(more than %d instructions: no more is printed)\n", MAX_TRACED);
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
 * For the first execution of each shared access on the line: which bank each lane's words lie
 * in, and in which wavefront they are served: a bank gives one word a wavefront. */
static void print_banks(const struct emu_inst *i, uint32_t mask, const uint64_t addr[32],
                        unsigned bytes) {
    int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, words = bytes <= 4 ? 1 : (int)bytes / 4;
    uint32_t wavefront = 0;
    printf("\n\n# %s\n# lane bank word wavefront\n", i->opcode);
    for (int first = 0; first < EMU_LANES; first += lanes) {
        uint64_t seen[32][EMU_LANES * 2];
        uint32_t n[32] = {0}, worst = 0;
        for (int l = first; l < first + lanes; l++) {
            for (int k = 0; k < words && mask >> l & 1; k++) {
                uint64_t word = addr[l] / 4 + (uint64_t)k;
                uint32_t bank = (uint32_t)(word % 32), s = 0;
                while (s < n[bank] && seen[bank][s] != word) s++;
                if (s == n[bank]) seen[bank][n[bank]++] = word;
                if (n[bank] > worst) worst = n[bank];
                printf("%d %u 0x%" PRIx64 " %u\n", l, bank, word * 4, wavefront + s);
            }
        }
        wavefront += worst;
    }
}

/* Has this access not been printed yet? */
static bool is_new(struct emu_trace *t, uint32_t pc) {
    for (int n = 0; n < t->n_mapped; n++)
        if (t->mapped[n] == pc) return false;
    if (t->n_mapped == (int)(sizeof t->mapped / sizeof *t->mapped)) return false;
    t->mapped[t->n_mapped++] = pc;
    return true;
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
    if (o->banks_line && space == EMU_SHARED && first_warp && on_line(i, w, o->banks_line) &&
        is_new(t, i->pc))
        print_banks(i, mask, addr, bytes);
    if (o->trace_line && first_warp && on_line(i, w, o->trace_line) && t->n_traced < MAX_TRACED) {
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

bool emu_trace_open(struct emu_trace *t, const struct emu_options *o) {
    *t = (struct emu_trace){.options = o, .events = {.after = print_results, .access = on_access}};
    t->events.user = t;
    return o->trace_line || o->watch || o->banks_line;
}
