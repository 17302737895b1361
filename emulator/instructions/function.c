/* Calls and returns. A call copies the arguments from the caller's frame to the callee's, saves the
 * callee's registers if it may be at work further up the stack, and moves the lanes to its code; a
 * return does the reverse, and lanes that were called from different places part.
 *
 *   local memory of a lane   | the kernel's own | frame of f | frame of g, called by f | ...
 *                            0                  stack_at
 *   frame                    result, parameters, local variables, parameters of its calls */
#include "function.h"

#include "flow.h"
#include "handlers.h"
#include "lanes.h"

#include "common/base/heap.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/reach.h"

#include <stdlib.h>
#include <string.h>

struct activation {
    const struct emu_function *function;
    uint32_t return_pc, frame;
    int64_t result; /* where the caller wants it, in local memory; -1: nowhere */
    size_t n_saved; /* words on the lane's stack of saved registers before this call */
};

struct emu_stack { /* of a lane */
    struct activation *at;
    uint32_t n, capacity;
    uint32_t *saved;
    size_t n_saved, saved_capacity;
};

uint32_t emu_stack_frame(const struct emu_warp *w, uint32_t l) {
    const struct emu_stack *s = w->stack ? &w->stack[l] : NULL;
    return s && s->n ? s->at[s->n - 1].frame : 0;
}

void emu_stack_begin(struct emu_warp *w) {
    for (int l = 0; w->stack && l < EMU_LANES; l++) w->stack[l].n = 0, w->stack[l].n_saved = 0;
}

void emu_stack_free(struct emu_warp *w) {
    for (int l = 0; w->stack && l < EMU_LANES; l++) {
        free(w->stack[l].at);
        free(w->stack[l].saved);
    }
    free(w->stack);
}

/* ---- Registers ------------------------------------------------------------------------------- */

static uint32_t predicates(const struct emu_warp *w, uint32_t row, uint32_t l) {
    uint32_t bits = 0;
    for (int k = 0; k < 32; k++) bits |= (emu_mask(w, row)[k] >> l & 1) << k;
    return bits;
}

static void save(struct emu_warp *w, const struct emu_function *f, uint32_t l) {
    struct emu_stack *s = &w->stack[l];
    if (s->n_saved + 2 * f->n_saved > s->saved_capacity) {
        s->saved_capacity = 2 * (s->n_saved + 2 * f->n_saved);
        s->saved = heap_grown(s->saved, s->saved_capacity * sizeof *s->saved);
    }
    for (uint32_t n = 0; n < f->n_saved; n++) {
        const struct emu_saved *r = &f->saved[n];
        uint64_t value = r->bytes == 8   ? emu_row64(w, r->row)[l]
                         : r->bytes == 4 ? emu_row32(w, r->row)[l]
                                         : predicates(w, r->row, l);
        s->saved[s->n_saved++] = (uint32_t)value;
        s->saved[s->n_saved++] = (uint32_t)(value >> 32);
    }
}

static void restore(struct emu_warp *w, const struct emu_function *f, uint32_t l, size_t from) {
    struct emu_stack *s = &w->stack[l];
    for (uint32_t n = 0; n < f->n_saved; n++, from += 2) {
        const struct emu_saved *r = &f->saved[n];
        uint32_t low = s->saved[from];
        if (r->bytes == 8)
            emu_row64(w, r->row)[l] = low | (uint64_t)s->saved[from + 1] << 32;
        else if (r->bytes == 4)
            emu_row32(w, r->row)[l] = low;
        else
            for (int k = 0; k < 32; k++)
                emu_mask(w, r->row)[k] = (emu_mask(w, r->row)[k] & ~(1u << l)) | (low >> k & 1)
                                                                                     << l;
    }
}

static void set_frame_rows(struct emu_warp *w, const struct emu_function *f, uint32_t l,
                           uint32_t frame) {
    for (uint32_t n = 0; n < f->n_frame_rows; n++) {
        const struct emu_frame_row *r = &f->frame_row[n];
        if (r->wide)
            emu_row64(w, r->row)[l] = frame + r->offset;
        else
            emu_row32(w, r->row)[l] = frame + r->offset;
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What call says: op[0] the function's number or a register with its address, op[1] where the
 * result goes (-1: nowhere), op[2..] where the arguments are: places in the caller's frame. */
static const struct emu_function *callee(struct emu_warp *w, const struct emu_inst *i, uint32_t l) {
    const struct emu_kernel *k = w->block->kernel;
    if (i->op[0].kind == EMU_OP_IMM) return &k->function[i->op[0].imm];
    uint64_t address = emu_row64(w, i->op[0].row)[l];
    for (uint32_t f = 0; f < k->n_functions; f++)
        if (k->function[f].address == address) return &k->function[f];
    return NULL;
}

/* Bytes of local memory; nothing is moved where either side is not the lane's. */
static void move(struct emu_room local, uint64_t to, uint64_t from, uint64_t bytes) {
    struct emu_place source = emu_reach(local, from, bytes, EMU_READ),
                     target = emu_reach(local, to, bytes, EMU_WRITE);
    if (source.byte && target.byte) memmove(target.byte, source.byte, bytes);
}

/* False: reported. */
static bool push(struct emu_warp *w, const struct emu_inst *i, const struct emu_function *f,
                 uint32_t l) {
    const struct emu_kernel *k = w->block->kernel;
    struct emu_stack *s = &w->stack[l];
    uint32_t caller = emu_stack_frame(w, l);
    uint32_t frame = s->n ? caller + s->at[s->n - 1].function->frame_bytes : k->stack_at;
    const struct emu_room local = emu_room_local(w, l);
    uint32_t n_args = i->n_ops - 2u, first = f->has_result;
    if (n_args != f->n_params - first) {
        emu_report(EMU_BAD_OPERAND, w, i, NULL, "%s takes %u arguments, not %u", f->name,
                   f->n_params - first, n_args);
        return false;
    }
    if (k->local_bytes - frame < f->frame_bytes) {
        emu_report(EMU_BAD_LOCAL, w, i, NULL,
                   "lane %u: the stack overflows: %u calls deep, %u bytes", l, s->n + 1,
                   k->local_bytes - k->stack_at);
        return false;
    }
    for (uint32_t n = 0; n < n_args; n++) {
        const uint64_t bytes = f->param_bytes[first + n],
                       from = caller + (uint64_t)i->op[2 + n].imm;
        if (emu_reach(local, from, bytes, EMU_READ).byte) continue;
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "argument %u of %s is %llu bytes, more than is given", n, f->name,
                   (unsigned long long)bytes);
        return false;
    }
    if (s->n == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 8;
        s->at = heap_grown(s->at, s->capacity * sizeof *s->at);
    }
    int64_t result = i->op[1].imm < 0 ? -1 : caller + i->op[1].imm;
    s->at[s->n++] = (struct activation){f, i->pc + 1, frame, result, s->n_saved};
    struct emu_place own = emu_reach(local, frame, f->frame_bytes, EMU_WRITE);
    if (f->frame_bytes)
        memset(own.byte, 0xff, f->frame_bytes); /* a function must not rely on old contents */
    for (uint32_t n = 0; n < n_args; n++)
        move(local, frame + f->param_offset[first + n], caller + (uint64_t)i->op[2 + n].imm,
             f->param_bytes[first + n]);
    if (f->recursive) save(w, f, l);
    set_frame_rows(w, f, l, frame);
    return true;
}

enum emu_step emu_enter(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    if (!w->stack) w->stack = heap_zeroed(EMU_LANES, sizeof *w->stack);
    for (uint32_t left = mask;;) { /* the lanes that call one function, then the next */
        const struct emu_function *f = callee(w, i, (uint32_t)__builtin_ctz(left));
        uint32_t here = 0;
        if (!f) {
            emu_report(EMU_BAD_OPERAND, w, i, NULL,
                       "lane %d calls %#llx, which is the address of no function",
                       __builtin_ctz(left),
                       (unsigned long long)emu_row64(w, i->op[0].row)[__builtin_ctz(left)]);
            return EMU_STOP;
        }
        EMU_EACH_LANE(l, left) here |= (uint32_t)(callee(w, i, l) == f) << l;
        EMU_EACH_LANE(l, here) if (!push(w, i, f, l)) return EMU_STOP;
        left &= ~here;
        if (!left) return emu_branch(w, i, here, f->pc);
        emu_part(w, i, here, f->pc);
    }
}

/* ---- Returns --------------------------------------------------------------------------------- */

static void pop(struct emu_warp *w, uint32_t l) {
    struct emu_stack *s = &w->stack[l];
    const struct activation *a = &s->at[--s->n];
    if (a->result >= 0 && a->function->has_result)
        move(emu_room_local(w, l), (uint64_t)a->result, a->frame + a->function->param_offset[0],
             a->function->param_bytes[0]);
    if (a->function->recursive) restore(w, a->function, l, a->n_saved);
    s->n_saved = a->n_saved;
}

enum emu_step emu_return(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    for (uint32_t left = mask;;) {
        const struct emu_stack *first = &w->stack[__builtin_ctz(left)];
        uint32_t pc = first->at[first->n - 1].return_pc, here = 0;
        EMU_EACH_LANE(l, left)
        here |= (uint32_t)(w->stack[l].at[w->stack[l].n - 1].return_pc == pc) << l;
        EMU_EACH_LANE(l, here) pop(w, l);
        left &= ~here;
        if (!left) return emu_branch(w, i, here, pc);
        emu_part(w, i, here, pc);
    }
}
