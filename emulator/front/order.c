/* In which order diverged lanes should run, so that they meet again: blocks of straight code are
 * ranked such that whatever leads to a block comes before it, and a loop is one piece, its exits
 * behind it.
 *
 *   order(region): strongly connected parts of the region's control flow, in topological order;
 *                  a part that is a loop is ordered in turn, the edges into its first block cut. */
#include "parser.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct flow {
    struct emu_kernel *kernel;
    int n;            /* blocks */
    uint32_t *first;  /* instruction; first[n] = n_inst */
    int *block_of;    /* by instruction: of block starts only */
    int *region;      /* which call of order() owns the block */
    int *index, *low; /* Tarjan */
    int *stack, n_stack, counter;
    bool *on_stack;
    int *out, n_out; /* blocks, last first */
};

static bool ends_block(const struct emu_inst *i) { return i->class == EMU_BRANCH; }
static bool falls_through(const struct emu_inst *i) {
    bool goes = !strncmp(i->opcode, "bra", 3) || !strncmp(i->opcode, "brx", 3) ||
                !strncmp(i->opcode, "ret", 3) || !strncmp(i->opcode, "exit", 4);
    return !goes || i->guard != EMU_TRUE;
}

/* The k-th successor of block b, or -1: the fall-through comes last. */
static int successor(const struct flow *f, int b, int k) {
    const struct emu_inst *last = &f->kernel->inst[f->first[b + 1] - 1];
    for (int o = 0; o < last->n_ops; o++)
        if (last->op[o].kind == EMU_OP_LABEL && k-- == 0)
            return last->op[o].imm < f->kernel->n_inst ? f->block_of[last->op[o].imm] : -1;
    return k == 0 && falls_through(last) && b + 1 < f->n ? b + 1 : -1;
}

static void order(struct flow *f, const int *blocks, int n, int entry, int region, int depth);

/* Tarjan's algorithm; a part is emitted when its root is left, so successors come out first. */
static void visit(struct flow *f, int b, int cut, int region, int depth) {
    f->index[b] = f->low[b] = ++f->counter;
    f->stack[f->n_stack++] = b;
    f->on_stack[b] = true;
    for (int k = 0;; k++) {
        int s = successor(f, b, k);
        if (s < 0) break;
        if (f->region[s] != region || s == cut) continue;
        if (!f->index[s]) {
            visit(f, s, cut, region, depth);
            if (f->low[s] < f->low[b]) f->low[b] = f->low[s];
        } else if (f->on_stack[s] && f->index[s] < f->low[b]) {
            f->low[b] = f->index[s];
        }
    }
    if (f->low[b] != f->index[b]) return;
    int first = f->n_stack;
    do f->on_stack[f->stack[--first]] = false;
    while (f->stack[first] != b);
    int n = f->n_stack - first;
    f->n_stack = first;
    if (n == 1 || depth > 64) {
        for (int k = 0; k < n; k++) f->out[f->n_out++] = f->stack[first + k];
        return;
    }
    int *part = heap_take((size_t)n * sizeof *part);
    memcpy(part, f->stack + first, (size_t)n * sizeof *part);
    order(f, part, n, b, ++f->counter + f->n, depth + 1);
    free(part);
}

/* Appends the blocks of a region to out, last first. Edges into `entry` are cut. */
static void order(struct flow *f, const int *blocks, int n, int entry, int region, int depth) {
    for (int k = 0; k < n; k++) {
        f->region[blocks[k]] = region;
        f->index[blocks[k]] = 0;
    }
    int cut = depth ? entry : -1;
    visit(f, entry, cut, region, depth);
    for (int k = 0; k < n; k++)
        if (f->region[blocks[k]] == region && !f->index[blocks[k]])
            visit(f, blocks[k], cut, region, depth);
}

static void find_blocks(struct flow *f) {
    struct emu_kernel *k = f->kernel;
    bool *starts = heap_zeroed((size_t)k->n_inst + 1, 1);
    starts[0] = true;
    for (int pc = 0; pc < k->n_inst; pc++) {
        const struct emu_inst *i = &k->inst[pc];
        if (!ends_block(i)) continue;
        starts[pc + 1] = true;
        for (int o = 0; o < i->n_ops; o++)
            if (i->op[o].kind == EMU_OP_LABEL && i->op[o].imm < k->n_inst)
                starts[i->op[o].imm] = true;
    }
    for (int pc = 0; pc < k->n_inst; pc++) {
        if (!starts[pc]) continue;
        f->block_of[pc] = f->n;
        f->first[f->n++] = (uint32_t)pc;
    }
    f->first[f->n] = (uint32_t)k->n_inst;
    free(starts);
}

static void mark_loops(struct emu_kernel *k) {
    int64_t lowest = INT64_MAX; /* where a branch from here on leads */
    for (int pc = k->n_inst - 1; pc >= 0; pc--) {
        struct emu_inst *i = &k->inst[pc];
        for (int o = 0; i->class == EMU_BRANCH && o < i->n_ops; o++)
            if (i->op[o].kind == EMU_OP_LABEL && i->op[o].imm < lowest) lowest = i->op[o].imm;
        i->in_loop = lowest <= pc;
    }
}

/* Does the instruction use a register of the set? A guard counts. */
static bool uses(const struct emu_inst *i, const bool *set) {
    if (set[i->guard]) return true;
    for (int o = 0; o < i->n_ops; o++) {
        const struct emu_operand *op = &i->op[o];
        if (op->kind == EMU_OP_GROUP) {
            for (int n = 0; n < op->n && !op->written; n++)
                if (set[op->rows[n]]) return true;
        } else if (op->kind != EMU_OP_IMM && op->kind != EMU_OP_LABEL && !op->written &&
                   set[op->row]) {
            return true;
        }
    }
    return false;
}

/* Adds what the instruction writes. Has the set grown? */
static bool add_written(const struct emu_inst *i, bool *set) {
    bool grown = false;
    for (int o = 0; o < i->n_ops; o++) {
        const struct emu_operand *op = &i->op[o];
        const int n = !op->written ? 0 : op->kind == EMU_OP_GROUP ? op->n : 1;
        for (int k = 0; k < n; k++) {
            const uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[k] : op->row;
            if (row < EMU_FIRST_ROW || set[row]) continue;
            set[row] = grown = true;
        }
    }
    return grown;
}

/* May the branch at pc end a loop around `at`, or begin it again? */
static bool ends_loop(const struct emu_kernel *k, int pc, int at) {
    const struct emu_inst *i = &k->inst[pc];
    for (int o = 0; o < i->n_ops; o++) {
        if (i->op[o].kind != EMU_OP_LABEL) continue;
        if (i->op[o].imm <= at && at <= pc) return true; /* back over it */
        for (int back = at; back < k->n_inst; back++)    /* out of a loop around both */
            for (int b = 0; k->inst[back].class == EMU_BRANCH && b < k->inst[back].n_ops; b++)
                if (k->inst[back].op[b].kind == EMU_OP_LABEL && k->inst[back].op[b].imm <= at &&
                    k->inst[back].op[b].imm <= pc && pc <= back &&
                    (i->op[o].imm < k->inst[back].op[b].imm || i->op[o].imm > back))
                    return true;
    }
    return false;
}

/* Follows what a volatile load reads through registers, whatever the order of instructions. */
static void mark_polls(struct emu_kernel *k) {
    bool *set = heap_zeroed(k->row_bytes + 1, 1);
    for (int at = 0; at < k->n_inst; at++) {
        struct emu_inst *load = &k->inst[at];
        if (!load->in_loop || strncmp(load->opcode, "ld.volatile", 11)) continue;
        memset(set, 0, k->row_bytes);
        bool grown = add_written(load, set);
        while (grown) {
            grown = false;
            for (int pc = 0; pc < k->n_inst; pc++)
                if (uses(&k->inst[pc], set)) grown |= add_written(&k->inst[pc], set);
        }
        for (int pc = 0; pc < k->n_inst && !load->polls; pc++)
            load->polls =
                k->inst[pc].class == EMU_BRANCH && uses(&k->inst[pc], set) && ends_loop(k, pc, at);
    }
    free(set);
}

/* Fills rank[n_inst]. Labels must be resolved. */
void emu_order(struct emu_kernel *k, uint32_t *rank) {
    size_t n = (size_t)k->n_inst + 1;
    int *ints = heap_zeroed(n * 7, sizeof *ints);
    bool *flags = heap_zeroed(n, 1);
    uint32_t *first = heap_zeroed(n, sizeof *first);
    struct flow f = {.kernel = k,
                     .first = first,
                     .block_of = ints,
                     .region = ints + n,
                     .index = ints + 2 * n,
                     .low = ints + 3 * n,
                     .stack = ints + 4 * n,
                     .out = ints + 5 * n,
                     .on_stack = flags};
    mark_loops(k);
    mark_polls(k);
    find_blocks(&f);
    int *all = ints + 6 * n;
    for (int b = 0; b < f.n; b++) all[b] = b;
    order(&f, all, f.n, 0, 1, 0);
    uint32_t next = 0;
    for (int o = f.n_out - 1; o >= 0; o--)
        for (uint32_t pc = first[f.out[o]]; pc < first[f.out[o] + 1]; pc++) rank[pc] = next++;
    free(ints);
    free(flags);
    free(first);
}
