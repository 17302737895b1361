#include "waves.h"

#include <stdio.h>

static const struct {
    const char *name, *op;
    int bytes;
} ops[] = {
    {"lds32", "@%p ld.shared.b32 %d0, [%y2];", 4},
    {"lds64", "@%p ld.shared.v2.b32 {%d0,%d1}, [%y2];", 8},
    {"lds128", "@%p ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y2];", 16},
    {"sts32", "@%p st.shared.b32 [%y2], %d0;", 4},
    {"sts64", "@%p st.shared.v2.b32 [%y2], {%d0,%d1};", 8},
    {"sts128", "@%p st.shared.v4.b32 [%y2], {%d0,%d1,%d2,%d3};", 16},
    {"ldsm_x1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%y2];", 16},
    {"ldsm_x2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0,%d1}, [%y2];", 16},
    {"ldsm_x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0,%d1,%d2,%d3}, [%y2];", 16},
    {"ldsm_x4t", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0,%d1,%d2,%d3}, [%y2];", 16},
    {"stsm_x4", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%y2], {%d0,%d1,%d2,%d3};", 16},
    {"ldgsts16", "@%p cp.async.cg.shared.global [%y2], [%x1], 16;", 16},
    {"ldgsts8", "@%p cp.async.ca.shared.global [%y2], [%x1], 8;", 8},
    {"ldgsts4", "@%p cp.async.ca.shared.global [%y2], [%x1], 4;", 4},
    {"lds16", "@%p ld.shared.u16 %d0, [%y2];", 2},
    {"sts16", "@%p st.shared.u16 [%y2], %d0;", 2},
    {"atoms_add", "@%p atom.shared.add.u32 %d0, [%y2], %d1;", 4},
    {"atoms_cas", "@%p atom.shared.cas.b32 %d0, [%y2], %d1, %d2;", 4},
    {"red_add", "@%p red.shared.add.u32 [%y2], %d1;", 4},
    {"ldg32", "@%p ld.global.b32 %d0, [%x1];", 4},
    {"ldg128", "@%p ld.global.v4.b32 {%d0,%d1,%d2,%d3}, [%x1];", 16},
    {"stg32", "@%p st.global.b32 [%x1], %d0;", 4},
    {"stg128", "@%p st.global.v4.b32 [%x1], {%d0,%d1,%d2,%d3};", 16},
};

static const char *const patterns[] = {
    "seq",    "same", "stride2", "stride3", "stride4", "stride8", "stride16", "stride32",
    "padded", "pair", "quad",    "oct",     "pair2",   "random",  "even",     "half",
    "one",    "mod8", "mod16",   "halves",  "reverse", "pairconf"};
enum { N_OPS = sizeof ops / sizeof *ops, N_PATTERNS = sizeof patterns / sizeof *patterns };

static int32_t offset_of(int pattern, int lane, int bytes) {
    int unit = bytes, l = lane,
        padded = bytes < 16 ? 132 : 144; /* a 128-byte row and one more unit */
    switch (pattern) {
    case 1:
        l = 0;
        break;
    case 2:
        l = 2 * lane;
        break;
    case 3:
        l = 3 * lane;
        break;
    case 4:
        l = 4 * lane;
        break;
    case 5:
        l = 8 * lane;
        break;
    case 6:
        l = 16 * lane;
        break;
    case 7:
        l = 32 * lane;
        break;
    case 8:
        return lane * (bytes == 8 ? 136 : padded);
    case 9:
        l = lane / 2;
        break;
    case 10:
        l = lane / 4;
        break;
    case 11:
        l = lane / 8;
        break;
    case 12:
        l = lane & ~2;
        break;
    case 13:
        l = lane * 2654435761u >> 22;
        break; /* 0 .. 1023 */
    case 14:
        return lane % 2 ? -1 : lane * unit;
    case 15:
        return lane < 16 ? lane * unit : -1;
    case 16:
        return lane ? -1 : 0;
    case 17:
        l = lane % 8;
        break;
    case 18:
        l = lane % 16;
        break;
    case 19:
        l = lane / 16;
        break;
    case 20:
        l = 31 - lane;
        break;
    case 21:
        l = lane / 2 * 32;
        break;
    }
    return l * unit;
}

const struct golden_wave *golden_wave(int i) {
    static struct golden_wave w;
    int op = i / N_PATTERNS, pattern = i % N_PATTERNS;
    if (i < 0 || op >= N_OPS) return NULL;
    snprintf(w.name, sizeof w.name, "%s %s", ops[op].name, patterns[pattern]);
    w.op = ops[op].op;
    w.access_bytes = ops[op].bytes;
    for (int lane = 0; lane < 32; lane++) w.offset[lane] = offset_of(pattern, lane, ops[op].bytes);
    return &w;
}

int golden_n_waves(void) { return N_OPS * N_PATTERNS; }

void golden_wave_ptx(const struct golden_wave *w, char *out, size_t out_bytes) {
    snprintf(
        out, out_bytes,
        ".version 8.4\n.target sm_90a\n.address_size 64\n\n"
        ".visible .entry golden(.param .u64 p_in, .param .u64 p_out)\n.maxntid 32, 1, 1\n{\n"
        "    .reg .b64 %%in, %%out, %%x<3>;\n    .reg .b32 %%y<4>, %%d<4>;\n    .reg .pred %%p;\n"
        "    .shared .align 1024 .b8 smem[16384];\n"
        "    ld.param.u64 %%in, [p_in];\n    ld.param.u64 %%out, [p_out];\n"
        "    cvta.to.global.u64 %%in, %%in;\n    cvta.to.global.u64 %%out, %%out;\n"
        "    mov.u32 %%y0, %%tid.x;\n    mul.wide.u32 %%x0, %%y0, 4;\n"
        "    add.s64 %%x1, %%in, %%x0;\n    ld.global.b32 %%y1, [%%x1];\n"
        "    setp.ge.s32 %%p, %%y1, 0;\n    max.s32 %%y1, %%y1, 0;\n"
        "    mov.u32 %%y2, smem;\n    add.s32 %%y2, %%y2, %%y1;\n"
        "    cvt.u64.u32 %%x1, %%y1;\n    add.s64 %%x1, %%x1, %%in;\n    add.s64 %%x1, %%x1, 256;\n"
        "    mov.u32 %%d0, %%y0;\n    mov.u32 %%d1, %%y0;\n    mov.u32 %%d2, %%y0;\n    mov.u32 "
        "%%d3, %%y0;\n"
        "    %s\n    cp.async.wait_all;\n    bar.warp.sync -1;\n"
        "    add.s32 %%d0, %%d0, %%d1;\n    add.s32 %%d0, %%d0, %%d2;\n    add.s32 %%d0, %%d0, "
        "%%d3;\n"
        "    add.s64 %%x0, %%x0, %%out;\n    st.global.b32 [%%x0], %%d0;\n    ret;\n}\n",
        w->op);
}
