/* Counts of a launch as an H200's counters have them (plots/recorded/h200.jsonl, tests/test_sass.sh). */
#include "sass.h"
#include "sass_ops.h"

static double pipe(const struct sass_counts *c, enum sass_pipe p) {
    uint64_t n = 0;
    for (int i = 0; i < SASS_N_OPS; i++)
        if (sass_op_pipe(i) == p) n += c->op[i];
    return (double)n;
}

bool sass_counted(const struct sass_counts *c, int i, struct sass_counted *out) {
    const uint64_t *op = c->op, *access = c->access;
    const struct sass_counted all[] = {
        {"instructions", "warp inst", (double)c->instructions},
        {"hmma_instructions", "warp inst", (double)op[SASS_OP_HMMA]},
        {"hgmma_instructions", "warp inst", (double)op[SASS_OP_HGMMA]},
        /* HFMA2, which loads constants, is of the tensor pipe; VIADD of this one */
        {"fma_instructions", "warp inst", pipe(c, SASS_PIPE_FMA) - (double)op[SASS_OP_HFMA2]},
        {"alu_instructions", "warp inst", pipe(c, SASS_PIPE_ALU)}, /* CS2R, VOTE, R2UR, ELECT too */
        {"mufu_instructions", "warp inst", pipe(c, SASS_PIPE_XU)},
        {"shared_load_instructions", "warp inst", (double)access[SASS_LDS]},
        {"shared_store_instructions", "warp inst", (double)access[SASS_STS]},
        {"ldmatrix_instructions", "warp inst", (double)access[SASS_LDSM]},
        {"cp_async_instructions", "warp inst", (double)access[SASS_LDGSTS]},
        {"global_load_instructions", "warp inst", (double)access[SASS_LDG]},
        {"global_store_instructions", "warp inst", (double)access[SASS_STG]},
        {"tma_instructions", "warp inst", pipe(c, SASS_PIPE_TMA)},
        {"shared_wavefronts", "wavefronts", (double)c->wavefronts},
        {"shared_wavefronts_ideal", "wavefronts", (double)c->wavefronts_ideal},
        {"global_sectors", "sectors", (double)c->sectors},
        {"dsmem_stores", "warp inst", (double)access[SASS_DSMEM]},
        {"dsmem_sectors", "sectors", (double)c->dsmem_sectors},
    };
    if (i < 0 || i >= (int)(sizeof all / sizeof *all)) return false;
    *out = all[i];
    return true;
}
