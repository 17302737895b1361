/* Counts of a launch by the names and rules of an H200's counters; tests/predictor/test_sass.sh compares them with
 * records/runs/h200.jsonl. */
#include "sass.h"
#include "ops.h"

static double pipe(const struct sass_counts *c, enum sass_pipe p) {
    uint64_t n = 0;
    for (int i = 0; i < SASS_N_OPS; i++)
        if (sass_op_pipe(i) == p) n += c->op[i];
    return (double)n;
}

static double conflicts(const struct sass_access *a) {
    return (double)(a->wavefronts - a->wavefronts_ideal);
}

bool sass_counted(const struct sass_counts *c, int i, struct sass_counted *out) {
    const uint64_t *op = c->op;
    const struct sass_access *access = c->access;
    struct sass_access all = {0};
    for (int m = 0; m < SASS_MEMORIES; m++) {
        all.wavefronts += access[m].wavefronts;
        all.wavefronts_ideal += access[m].wavefronts_ideal;
        if (m == SASS_DSMEM || m == SASS_LDL || m == SASS_STL || m == SASS_ATOMG || m == SASS_REDG)
            continue; /* as the hardware's counter of global sectors */
        all.sectors += access[m].sectors;
        all.sectors_ideal += access[m].sectors_ideal;
    }
    const struct sass_counted counted[] = {
        {"instructions", "warp inst", (double)c->instructions},
        {"hmma_instructions", "warp inst", (double)op[SASS_OP_HMMA]},
        {"hgmma_instructions", "warp inst", (double)op[SASS_OP_HGMMA]},
        /* hardware counts HFMA2 (constants) as tensor pipe, VIADD as FMA */
        {"fma_instructions", "warp inst", pipe(c, SASS_PIPE_FMA) - (double)op[SASS_OP_HFMA2]},
        {"alu_instructions", "warp inst", pipe(c, SASS_PIPE_ALU)}, /* also CS2R VOTE R2UR ELECT */
        {"mufu_instructions", "warp inst", pipe(c, SASS_PIPE_XU)},
        {"shared_load_instructions", "warp inst", (double)access[SASS_LDS].n},
        {"shared_store_instructions", "warp inst", (double)access[SASS_STS].n},
        {"ldmatrix_instructions", "warp inst", (double)access[SASS_LDSM].n},
        {"cp_async_instructions", "warp inst", (double)access[SASS_LDGSTS].n},
        {"global_load_instructions", "warp inst", (double)access[SASS_LDG].n},
        {"global_store_instructions", "warp inst", (double)access[SASS_STG].n},
        {"tma_instructions", "warp inst", pipe(c, SASS_PIPE_TMA)},
        {"shared_wavefronts", "wavefronts", (double)all.wavefronts},
        {"shared_wavefronts_ideal", "wavefronts", (double)all.wavefronts_ideal},
        {"bank_conflicts_lds", "wavefronts", conflicts(&access[SASS_LDS])},
        {"bank_conflicts_ldmatrix", "wavefronts", conflicts(&access[SASS_LDSM])},
        {"bank_conflicts_st", "wavefronts", conflicts(&access[SASS_STS])},
        {"bank_conflicts_ldgsts", "wavefronts", conflicts(&access[SASS_LDGSTS])},
        {"bank_conflicts_gmma", "wavefronts", conflicts(&access[SASS_HGMMA_OPERANDS])},
        {"global_sectors", "sectors", (double)all.sectors},
        {"global_sectors_ideal", "sectors", (double)all.sectors_ideal},
        {"spill_sectors", "sectors", (double)(access[SASS_LDL].sectors + access[SASS_STL].sectors)},
        {"dsmem_stores", "warp inst", (double)access[SASS_DSMEM].n},
        {"dsmem_sectors", "sectors", (double)access[SASS_DSMEM].sectors},
    };
    if (i < 0 || i >= (int)(sizeof counted / sizeof *counted)) return false;
    *out = counted[i];
    return true;
}
