/* What the core's files share and the tensor handlers do not need. */
#pragma once

#include "emu.h"

#include <pthread.h>

/* True if all living lanes of `members` are here. Else the group parks (return EMU_WAIT), and
 * the core joins it with the others that arrive at the same instruction. */
bool emu_converged(struct emu_warp *w, uint32_t mask, uint32_t members);
enum { EMU_TOKEN_CONVERGE = 0x7fff0001 };

void *emu_zeroed(size_t bytes); /* 64-byte aligned; NULL: no memory */
/* block.c: a cluster of a host thread, and its next place in the grid */
struct emu_pattern;
struct emu_cluster *emu_cluster_open(const struct emu_launch_state *launch, struct emu_count *count,
                                     struct emu_pattern **pattern);
void emu_cluster_begin(struct emu_cluster *c, uint64_t linear);
void emu_cluster_free(struct emu_cluster *c);
/* exec.c */
void emu_run_cluster(struct emu_cluster *c, uint64_t *random);
/* cluster.c: lanes of w exit */
void emu_cluster_exit(struct emu_warp *w, uint32_t mask);
void emu_cluster_print(const struct emu_cluster *c, FILE *out);
/* flow.c */
void emu_barrier_print(const struct emu_block *b, FILE *out);

/* order.c: rank[pc], such that running the lowest rank first reconverges */
const char *emu_order(struct emu_kernel *k, uint32_t *rank);

/* merge.c: finds loads that ptxas joins, for the counts */
const char *emu_join_loads(struct emu_kernel *k);

/* ---- Access patterns ----------------------------------------------------------------------------
 * What one memory instruction's addresses looked like relative to its first lane, and what that
 * cost. The same pattern comes again and again, so counting it is one comparison. */
enum emu_pattern_kind {
    EMU_PATTERN_NONE,
    EMU_PATTERN_BROADCAST,  /* all lanes the same */
    EMU_PATTERN_CONTIGUOUS, /* lane after lane */
    EMU_PATTERN_PERIOD8,    /* lanes l and l + 8 the same: what columns of a tile are */
    EMU_PATTERN_RUNS8,      /* eight lanes each the same: what rows of a tile are */
    EMU_PATTERN_OTHER
};

enum { EMU_MANY_LANES = 63 };

struct emu_pattern {
    uint32_t mask; /* 0: none yet */
    uint32_t key;  /* the first address modulo the granule (4 for banks, 32 for sectors) */
    uint8_t kind, bytes;
    uint32_t wavefronts, wavefronts_ideal; /* or sectors */
    int64_t min, max;                      /* of the differences */
    uint32_t delta_bits;                   /* all differences, or-ed: for alignment */
    _Alignas(32) int32_t delta[EMU_LANES]; /* address - first active lane's; inactive lanes 0 */
    uint16_t n_cells; /* 4-byte cells touched, sorted, relative to the first lane's */
    int32_t cell[128];
    uint8_t cell_bytes[128]; /* which bytes of the cell: bit mask */
    uint8_t cell_lane[128];  /* the lane that touches it, or EMU_MANY_LANES */
};

const struct emu_pattern *emu_shared_pattern(struct emu_warp *w, const struct emu_inst *i,
                                             uint32_t mask, const uint32_t addr[32],
                                             unsigned bytes);
/* Its wavefronts are sectors. far: lanes are more than 2 GiB apart, and there are no
 * differences. */
const struct emu_pattern *emu_global_pattern(struct emu_warp *w, const struct emu_inst *i,
                                             uint32_t mask, const uint64_t addr[32], unsigned bytes,
                                             bool *far);
/* Distinct 32-byte sectors of a request, and how many there would be if its bytes lay side by
 * side. */
uint32_t emu_sectors(uint32_t mask, const uint64_t addr[32]);
uint32_t emu_sectors_ideal(uint32_t mask, unsigned bytes);

/* The pattern of a load or store by all lanes at base[l] + offset, if it came before like this
 * and is legal: then it is counted and checked by this call. NULL: take emu_shared_access(). */
const struct emu_pattern *emu_shared_again(struct emu_warp *w, const struct emu_inst *i,
                                           const uint32_t base[32], uint32_t offset, unsigned bytes,
                                           enum emu_access what);

/* ---- Race check ------------------------------------------------------------------------------ */
struct emu_shadow *emu_shadow_open(uint32_t shared_bytes);
void emu_shadow_begin(struct emu_shadow *s);  /* a block starts: nothing is initialised */
void emu_shadow_forget(struct emu_shadow *s); /* stamps begin anew */
void emu_shadow_close(struct emu_shadow *s);
/* w touches block b's memory. */
void emu_shadow_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                       const struct emu_pattern *p, uint32_t first, enum emu_access what);
/* Lanes have read bytes that nothing wrote: their registers are tainted until a store, branch or
 * address makes it matter. */
void emu_uninitialised(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                       uint32_t first, const uint8_t *initialised);
void emu_taint_step(struct emu_warp *w, const struct emu_inst *i, uint32_t mask, uint32_t group);
void emu_taint_load(struct emu_warp *w, const struct emu_inst *i);

/* clock.c */
struct emu_agents *emu_agents_open(void);
void emu_agents_begin(struct emu_cluster *c);   /* a cluster starts */
void emu_warp_synchronised(struct emu_warp *w); /* __syncwarp() of all lanes */
uint32_t emu_agents_count(const struct emu_block *b);
uint32_t emu_agents_base(const struct emu_block *b); /* stamps up to it are of earlier clusters */
bool emu_agent_is_warp(const struct emu_block *b, uint32_t a);
const char *emu_agent_name(const struct emu_block *b, uint32_t a, char *out, size_t n);
void emu_async_forget(struct emu_block *b); /* the clocks of its mbarriers */

/* ---- Launch ---------------------------------------------------------------------------------- */
struct emu_kernel_counts {
    const struct emu_kernel *kernel;
    struct emu_count *count; /* n_inst */
    struct emu_kernel_counts *next;
};

struct emu_reports {
    pthread_mutex_t lock;
    int n, capacity;
    struct emu_report_entry *entry;
};
void emu_reports_clear(struct emu_reports *r);

struct emu_result {
    struct emu_reports reports;
    struct emu_kernel_counts *kernels;
    int n_left_out; /* instructions that --without took from the launches */
};

/* trace.c: what --trace, --watch and --banks print. False: nothing is asked for. */
struct emu_trace {
    const struct emu_options *options;
    struct emu_events events;
    int n_traced;
    int n_mapped; /* accesses whose banks were printed */
    uint32_t mapped[64];
};
bool emu_trace_open(struct emu_trace *t, const struct emu_options *o);

/* report.c: is this frame in the kernel's own file; the innermost line there; does any frame
 * there have it? */
bool emu_in_kernel(const struct emu_origin *o, int frame);
int emu_line_of(const struct emu_origin *o);
bool emu_on_line(const struct emu_origin *o, int line);

/* without.c: a copy of the kernel in which some synchronisation does nothing, *n instructions; free
 * out->inst if it differs. */
const char *emu_without(const struct emu_kernel *k, const char *what, struct emu_kernel *out,
                        int *n);
void emu_without_list(const struct emu_kernel *k, const struct emu_count *count);

/* memory.c: what one alloc gave, [base, end) */
struct emu_allocation {
    uint64_t base, end;
    bool freed;
    uint8_t touched, ahead; /* EMU_READ | EMU_WRITE: by this launch, by those that it may overlap */
};
/* The allocation that holds p, or NULL. */
struct emu_allocation *emu_memory_find(const struct emu_memory *m, uint64_t p);
void emu_memory_next_launch(struct emu_memory *m, bool overlaps);
static inline void emu_memory_touch(struct emu_allocation *a, enum emu_access what) {
    uint8_t bits = what & EMU_ATOM;
    if ((__atomic_load_n(&a->touched, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(&a->touched, bits, __ATOMIC_RELAXED);
}

/* ldst.c: where the lanes of an access point, of any space and with all checks; the lanes that
 * may go on */
uint32_t emu_locate(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const struct emu_operand *op, unsigned bytes, enum emu_access what,
                    unsigned char *at[32]);
/* atomic.c: what an instruction of emu_select_atomic() makes of `old` */
uint64_t emu_combine(const struct emu_inst *i, uint64_t old, uint64_t b, uint64_t c);

/* access.c: what crosses from block to block is counted by 32-byte sectors */
void emu_remote_count(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                      const uint64_t addr[32], unsigned bytes);

/* overlap.c: w has synchronised with what its clock says */
void emu_overlap_sync(struct emu_warp *w);
