/* wgmma's inside: what wgmma.c (instructions), wgmma_product.c (operands and sums) and
 * wgmma_watch.c (registers that products use) share.
 *
 * Each warp computes its 16 of the 64 rows. Between issue and wait_group the accumulators belong
 * to the tensor core: their values move to a second row file (`truth`), and the registers hold
 * NaNs. At completion, in order, each product reads its operands from shared memory as it is then
 * and adds to the truth, which goes back to the registers when no product of theirs is left in
 * flight.
 *
 * A product is one operation of the warpgroup. A warp's wait for it therefore waits until all four warps
 * have issued it, and then all four parts have read their operands; their sums stay in flight until each
 * warp has waited itself. */
#pragma once

#include "emulator/instructions/async.h"

#include "tensorcore.h"

/* emu_inst.aux of wgmma.mma_async */
enum { WGMMA_N, WGMMA_K, WGMMA_TYPE, WGMMA_FLAGS };
enum { WGMMA_F16_SUM = 1, WGMMA_RS = 2, WGMMA_TRANS_A = 4, WGMMA_TRANS_B = 8, WGMMA_NEGATE = 16 };
enum { WGMMA_IN_FLIGHT = 255 /* fits a byte */, WGMMA_WARPS = 4, WGMMA_RECENT = 64 };

struct emu_product {
    const struct emu_inst *inst;
    uint64_t a, b; /* descriptors */
    bool add;      /* scale-d */
    bool ran;      /* another warp of the warpgroup has waited for it */
    uint32_t group, stamp;
    uint64_t number; /* how many the warp issued before it */
    bool
        unwritten; /* it reads shared memory that nothing wrote: these rows of A and columns of B */
    uint32_t a_unwritten;
    uint64_t b_unwritten[4];
};

struct emu_wgmma {
    unsigned char *truth;           /* as large as the warp's row file */
    uint8_t *in_flight;             /* products that will write the row, by row / 128 */
    uint8_t *operand;               /* products that will read it as A */
    uint8_t *dirty;                 /* written since the last wgmma.fence */
    const struct emu_inst **writer; /* by which instruction, last */
    const struct emu_inst *fence;   /* the last one */
    const struct emu_inst **owner;  /* the last product to use the row */
    uint32_t n_rows;
    bool fenced; /* there was a wgmma.fence at all */
    uint32_t n_groups, n_products;
    uint64_t n_issued;
    uint64_t end[WGMMA_RECENT]; /* n_issued when group n was committed, at n % WGMMA_RECENT */
    struct emu_product product[WGMMA_IN_FLIGHT];
    struct emu_product recent[WGMMA_RECENT]; /* the n-th that was issued, at n % WGMMA_RECENT */
};

static inline struct emu_wgmma *emu_wgmma_state(struct emu_warp *w) {
    return emu_warp_async(w)->wgmma;
}
static inline int emu_wgmma_element_bytes(const struct emu_inst *i) { return 32 / i->aux[WGMMA_K]; }

/* Bounds, races and proxy fences of the warp's part of the operands, and which of them are unwritten. False: they
 * cannot be read. */
bool emu_wgmma_check(struct emu_warp *w, struct emu_product *p);
/* Tells the views which pieces of the operands each wavefront reads. */
void emu_wgmma_pieces(struct emu_warp *w, const struct emu_product *p);
/* Taints the sums that unwritten operands went into. */
void emu_wgmma_taint(struct emu_warp *w, const struct emu_product *p);
/* Computes the product into the truth. */
void emu_wgmma_run(struct emu_warp *w, const struct emu_product *p);
/* The warp has exited: did those of its warpgroup that have exited, too, run the same setmaxnreg? */
void emu_setmaxnreg_end(const struct emu_warp *w);
/* What a warp that stands at wait_group or setmaxnreg waits for: for deadlocks. */
void emu_wgmma_wait_print(const struct emu_warp *w, const struct emu_inst *i, FILE *out);
/* The handler of products, by which wgmma_watch.c knows them. */
emu_handler emu_wgmma_mma_async;

/* wgmma_watch.c */
/* A kernel is complete: wraps the handlers that touch registers of wgmma. False: no memory. */
void emu_wgmma_prepare(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user);
void emu_wgmma_begin(struct emu_warp *w);
void emu_wgmma_end(struct emu_warp *w);
void emu_wgmma_free(struct emu_warp_async *a);
