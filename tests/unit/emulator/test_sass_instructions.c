/* SASS: single instructions against what they are known to do, events of barriers, and refusals.
 * Whole kernels: test_sass.sh. */
#include "tests/test.h"

#include "common/base/path.h"
#include "common/base/program.h"
#include "emulator/sass/exec.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- One instruction ------------------------------------------------------------------------- */

/* Lane 0's registers before: R0 .. R9, P0, P1, UR4 and UP0; the uniform registers of all lanes. */
struct machine {
    struct sass_warp warp;
    struct sass_cta cta;
    struct sass_grid grid;
    struct sass_cluster cluster;
    struct sass_kernel kernel;
    struct sass_code code;
    struct sass_inst inst;
    struct sass_exec exec;
    unsigned char *rows;
};

static float as_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint32_t bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Decodes and runs `text` ("IADD3.X R9,P1,R0,R1,R2,P0,!PT"); `imm`: bits 32-63 of the word. Returns
 * R9, *high R10. */
static uint32_t run(const char *text, uint32_t imm, const uint32_t r[9], unsigned predicates,
                    uint32_t *high, unsigned *after) {
    static struct machine m;
    char opcode[128];
    const char *space = strchr(text, ' ');
    uint64_t word[2] = {(uint64_t)imm << 32, 0};
    memset(&m, 0, sizeof m);
    snprintf(opcode, sizeof opcode, "%.*s", (int)(space - text), text);
    const char *why = sass_decode(&m.code, &(struct sass_text){opcode, space + 1, ""}, word, 0,
                                  NULL, 0, &m.inst, &m.exec);
    if (why) fail_msg("%s: %s", text, why);
    m.code.row_bytes = SASS_ROW_CONST + (uint32_t)m.code.n_constants * SASS_ROW;
    m.rows = aligned_alloc(128, m.code.row_bytes);
    assert_non_null(m.rows);
    memset(m.rows, 0, m.code.row_bytes);
    m.kernel = (struct sass_kernel){.exec = &m.code, .n_inst = 1};
    m.grid = (struct sass_grid){.kernel = &m.kernel, .block = {32, 1, 1}, .cluster_size = 1};
    m.cluster = (struct sass_cluster){.n = 1, .cta = {&m.cta}};
    m.cta = (struct sass_cta){.grid = &m.grid, .cluster = &m.cluster};
    m.warp = (struct sass_warp){.rows = m.rows, .active = 1, .live = 1, .cta = &m.cta};
    m.warp.pred[SASS_P_TRUE] = m.warp.pred[SASS_P_UNIFORM + SASS_PT] = ~0u;
    for (int p = 0; p < 7; p++) m.warp.pred[p] = predicates >> p & 1;
    for (uint32_t n = 0; n < 9; n++) sass_row(&m.warp, n * SASS_ROW)[0] = r[n];
    for (uint32_t l = 0; l < 32; l++) sass_row(&m.warp, SASS_ROW_UR + 4 * SASS_ROW)[l] = r[4];
    for (int n = 0; n < m.code.n_constants; n++)
        for (uint32_t l = 0; l < 32; l++)
            sass_row(&m.warp, SASS_ROW_CONST + (uint32_t)n * SASS_ROW)[l] = m.code.constant[n];
    assert_int_equal(m.exec.run(&m.warp, &m.exec, 1), SASS_GO_NEXT);
    uint32_t out = sass_row(&m.warp, 9 * SASS_ROW)[0];
    if (m.inst.dst.first == 10) out = sass_row(&m.warp, 10 * SASS_ROW)[0];
    if (high) *high = sass_row(&m.warp, 11 * SASS_ROW)[0];
    *after = 0;
    for (int p = 0; p < 7; p++) *after |= (m.warp.pred[p] & 1) << p;
    free(m.rows);
    free(m.code.constant);
    free(m.code.from);
    return out;
}

struct one {
    const char *text;
    uint32_t imm, r[3]; /* R0, R1, R2; R3 = 0x80000001, R4 = UR4 = 7 */
    unsigned in;        /* P0, P1, ... */
    uint32_t out;
    int predicates; /* P0, P1 ... after; -1: not looked at */
};

static void instructions(void **state) {
    static const struct one list[] = {
        {"IADD3 R9,R0,-R1,R2", 0, {5, 7, 1}, 0, 0xffffffff, -1},
        {"IADD3 R9,P1,-R0,R1,RZ", 0, {3, 3, 0}, 0, 0, 2},          /* 3 - 3: no borrow */
        {"IADD3 R9,P1,-R0,R1,RZ", 0, {4, 3, 0}, 0, 0xffffffff, 0}, /* 3 - 4: borrow */
        {"IADD3.X R9,RZ,~R0,R1,P0,!PT", 0, {0, 0, 0}, 1, 0, -1},
        {"IADD3.X R9,R0,R1,R2,P0,P1", 0, {1, 2, 3}, 3, 8, -1},
        {"R2P PR,R0,0x3", 0, {2, 0, 0}, 1, 0, 2},
        {"R2P PR,R0,0x2", 0, {2, 0, 0}, 1, 0, 3},
        {"IMAD R9,R0,R1,-R2", 0, {6, 7, 2}, 0, 40, -1},
        {"IMAD.MOV R9,RZ,RZ,-R2", 0, {0, 0, 5}, 0, 0xfffffffb, -1},
        {"IMAD.X R9,RZ,RZ,~R2,P0", 0, {0, 0, 5}, 1, 0xfffffffb, -1},
        {"IMAD.SHL.U32 R9,R0,0x10,RZ", 0, {3, 0, 0}, 0, 48, -1},
        {"LEA R9,R0,UR4,0x3", 0, {5, 0, 0}, 0, 47, -1},
        {"LEA R9,P1,-R0,R1,0x1", 0, {1, 2, 0}, 0, 0, 2},
        {"LEA.HI R9,R0,R1,RZ,0x8", 0, {0x12345678, 1, 0}, 0, 0x13, -1},
        {"LEA.HI.X.SX32 R9,R0,R1,0x1,P0", 0, {0x80000000, 4, 0}, 1, 4, -1},
        {"LOP3.LUT R9,R0,R1,R2,0xb8,!PT", 0, {0xf0, 0xcc, 0xaa}, 0, 0xb8, -1},
        {"LOP3.LUT P1,RZ,R0,0x3,RZ,0xc0,!PT", 0, {4, 0, 0}, 2, 0, 0},
        {"SHF.R.S32.HI R9,RZ,0x1f,R0", 0, {0x80000000, 0, 0}, 0, 0xffffffff, -1},
        {"SHF.R.S32.HI R9,RZ,R1,R0", 0, {0x80000000, 200, 0}, 0, 0xffffffff, -1},
        {"SHF.L.U32 R9,R0,R1,RZ", 0, {1, 32, 0}, 0, 0, -1},
        {"SHF.R.U64 R9,R0,R1,R2", 0, {0, 36, 0x120}, 0, 0x12, -1},
        {"SHF.L.U64.HI R9,R0,0x4,R1", 0, {0xa0000000, 1, 0}, 0, 0x1a, -1},
        {"PRMT R9,R0,0x9014,R2", 0, {0x33228011, 0, 0x77}, 0, 0xff118077, -1},
        {"ISETP.GE.AND P0,P1,R0,R1,PT", 0, {0xffffffff, 0, 0}, 0, 0, 2},
        {"ISETP.GE.U32.AND P0,P1,R0,R1,PT", 0, {0xffffffff, 0, 0}, 0, 0, 1},
        {"ISETP.GE.AND.EX P0,PT,R0,R1,PT,P1", 0, {3, 3, 0}, 2, 0, 3},
        {"ISETP.GE.AND.EX P0,PT,R0,R1,PT,P1", 0, {3, 3, 0}, 0, 0, 0},
        {"ISETP.NE.AND.EX P0,PT,R0,R1,PT,P1", 0, {3, 4, 0}, 0, 0, 1},
        {"ISETP.LT.OR P0,PT,R0,R1,P1", 0, {5, 4, 0}, 2, 0, 3},
        {"PLOP3.LUT P0,PT,P1,PT,PT,0x8,0x0", 0, {0, 0, 0}, 2, 0, 2},
        {"PLOP3.LUT P0,PT,P1,PT,PT,0x8,0x0", 0, {0, 0, 0}, 0, 0, 1},
        {"SEL R9,R0,0x5,!P0", 0, {1, 0, 0}, 1, 5, -1},
        {"VIMNMX R9,R0,R1,PT", 0, {0xffffffff, 1, 0}, 0, 0xffffffff, -1},
        {"VIMNMX.U32 R9,R0,R1,PT", 0, {0xffffffff, 1, 0}, 0, 1, -1},
        {"VIMNMX3.U16x2 R9,R0,R1,R2,!PT", 0, {0x10005, 0x80003, 0x70006}, 0, 0x80006, -1},
        {"VIADDMNMX.RELU R9,R0,R1,R2,PT", 0, {0xfffffff0, 1, 9}, 0, 0, -1},
        {"ISETP.GT.XOR P0,P1,R0,R1,P2", 0, {2, 1, 0}, 4, 0, 4 | 2},
        {"VIMNMX3 R9,R0,R1,R2,PT", 0, {5, 0xfffffffe, 3}, 0, 0xfffffffe, -1},
        {"VIMNMX3.U32 R9,R0,R1,R2,PT", 0, {5, 0xfffffffe, 3}, 0, 3, -1},
        {"VIMNMX3.RELU R9,R0,R1,R2,PT", 0, {5, 0xfffffffe, 3}, 0, 0, -1},
        {"VIMNMX3.S16x2 R9,R0,R1,R2,!PT", 0, {0x1ffff, 0x8000fffe, 0xfffffff0}, 0, 0x1ffff, -1},
        {"VIMNMX.S16x2.RELU R9,R0,R1,PT", 0, {0x1ffff, 0x80000003, 0}, 0, 0, -1},
        {"SHF.L.W.U32 R9,R0,R1,RZ", 0, {3, 33, 0}, 0, 6, -1},
        {"SHF.R.S64 R9,R0,0x4,R1", 0, {0x120, 0xf, 0}, 0, 0xf0000012, -1},
        {"IDP.4A.S8.S8 R9,R0,R1,R2", 0, {0xff02, 0x0304, 1}, 0, 6, -1},
        {"IDP.4A.U8.U8 R9,R0,R1,R2", 0, {0xff02, 0x0304, 1}, 0, 774, -1},
        {"VABSDIFF R9,R0,R1,R2", 0, {0xfffffffe, 3, 10}, 0, 15, -1},
        {"I2F.U16 R9,R0.H1", 0, {0xfffe0000, 0, 0}, 0, 0x477ffe00, -1},
        {"I2F.S8 R9,R0.B2", 0, {0x00fe0000, 0, 0}, 0, 0xc0000000, -1},
        {"I2F.S64 R9,R0", 0, {0xfffffffd, 0xffffffff, 0}, 0, 0xc0400000, -1},
        {"F2I.F16.TRUNC.NTZ R9,-R0.H1", 0, {0x45000000, 0, 0}, 0, 0xfffffffb, -1},
        {"F2F.F32.F64 R9,R0", 0, {0, 0xc0080000, 0}, 0, 0xc0400000, -1},
        {"F2F.F32.F64.RZ R9,R0", 0, {0xffffffff, 0x3fffffff, 0}, 0, 0x3fffffff, -1},
        {"F2I.F64.TRUNC R9,|R0|", 0, {0, 0xc0080000, 0}, 0, 3, -1},
        {"MUFU.RCP64H R9,R0", 0, {0x40100000, 0, 0}, 0, 0x3fd00000, -1},
        {"MUFU.RSQ64H R9,R0", 0, {0x40100000, 0, 0}, 0, 0x3fe00000, -1},
        {"DSETP.GE.AND P0,P1,R0,|R0|,PT", 0, {0, 0xc0080000, 0}, 0, 0, 2},
        {"DSETP.NAN.AND P0,PT,R0,R0,PT", 0, {1, 0x7ff00000, 0}, 0, 0, 1},
        {"DSETP.MIN.AND P0,P1,R0,1,PT", 0x3ff00000, {0, 0xc0080000, 0}, 0, 0, 1},
        {"DSETP.MAX.AND P0,P1,R0,R0,PT", 0, {1, 0x7ff00000, 0}, 0, 0, 3},
        {"HMNMX2 R9,R0,R1.H0_H0,PT", 0, {0x3c004000, 0x3e00, 0}, 0, 0x3c003e00, -1},
        {"HSETP2.GT.AND P0,P1,R0,R1,PT", 0, {0x3c004000, 0x3e003e00, 0}, 0, 0, 1},
        {"HSET2.BF.GT.AND R9,R0,R1,PT", 0, {0x3c004000, 0x3e003e00, 0}, 0, 0x3c00, -1},
        {"REDUX.MIN.S32 UR4,R0", 0, {5, 0, 0}, 0, 0, -1},
        {"IABS R9,R0", 0, {0xfffffffe, 0, 0}, 0, 2, -1},
        {"FADD R9,-R0,|R1|", 0, {0x3f800000, 0xc0000000, 0}, 0, 0x3f800000, -1},
        {"FFMA R9,R0,R1,-R2", 0, {0x40000000, 0x40400000, 0x3f800000}, 0, 0x40a00000, -1},
        {"FMUL R9,R0,0.5", 0x3f000000, {0x40000000, 0, 0}, 0, 0x3f800000, -1},
        {"FMUL.D2 R9,R0,R1",
         0,
         {0x7f000000, 0x40000000, 0},
         0,
         0x7f000000,
         -1}, /* no overflow on the way */
        {"FMUL.M8 R9,R0,R1", 0, {0x40400000, 0xc0800000, 0}, 0, 0xc2c00000, -1}, /* 3 x -4 x 8 */
        {"FMUL.D2 R9,R0,R1",
         0,
         {0x00800001, 0x3f800000, 0},
         0,
         0x00400000,
         -1}, /* rounded once, to even */
        {"FMUL.FTZ.D4 R9,R0,R1", 0, {0x00800000, 0x3f800000, 0}, 0, 0, -1},
        {"FFMA.SAT R9,R0,R1,RZ", 0, {0x40000000, 0x40400000, 0}, 0, 0x3f800000, -1},
        {"FADD R9,R0,R1", 0, {0x7f800000, 0xff800000, 0}, 0, 0x7fffffff, -1},
        {"FMNMX R9,R0,R1,!PT", 0, {0x7fc00000, 0x3f800000, 0}, 0, 0x3f800000, -1},
        {"FMNMX R9,R0,R1,PT", 0, {0x80000000, 0, 0}, 0, 0x80000000, -1},
        {"FMNMX.NAN R9,R0,R1,!PT", 0, {0x7fc00000, 0x3f800000, 0}, 0, 0x7fffffff, -1},
        {"FMNMX.NAN R9,R0,R1,PT", 0, {0x40000000, 0x3f800000, 0}, 0, 0x3f800000, -1},
        {"FMNMX.FTZ.NAN R9,R0,R1,PT", 0, {0x80000007, 0x00000001, 0}, 0, 0x80000000, -1},
        {"FSETP.NEU.AND P0,PT,R0,R1,PT", 0, {0x7fc00000, 0, 0}, 0, 0, 1},
        {"FSETP.GT.AND P0,PT,R0,R1,PT", 0, {0x7fc00000, 0, 0}, 0, 0, 0},
        {"F2FP.F16.F32.PACK_AB R9,R0,R1", 0, {0x40000000, 0x3f800000, 0}, 0, 0x40003c00, -1},
        {"HADD2.F32 R9,-RZ,R0.H1_H1", 0, {0x3c004000, 0, 0}, 0, 0x3f800000, -1},
        {"HFMA2.MMA R9,-RZ,RZ,1,2", 0x3c004000, {0, 0, 0}, 0, 0x3c004000, -1},
        {"MUFU.EX2 R9,R0", 0, {0x40400000, 0, 0}, 0, 0x41000000, -1},
        {"MUFU.EX2 R9,R0", 0, {0xc3000000, 0, 0}, 0, 0, -1}, /* 2^-128 is flushed */
        {"MUFU.RCP R9,R0", 0, {0x40800000, 0, 0}, 0, 0x3e800000, -1},
        {"MUFU.LG2 R9,R0", 0, {0, 0, 0}, 0, 0xff800000, -1},
        {"I2F.RP R9,R0", 0, {0x1000001, 0, 0}, 0, 0x4b800001, -1},
        {"I2F.U64.RP R9,R0", 0, {1, 0x80000000, 0}, 0, 0x5f000001, -1},
        {"F2I.FTZ.U32.TRUNC.NTZ R9,R0", 0, {0x4f800000, 0, 0}, 0, 0xffffffff, -1},
        {"F2I.FTZ.U32.TRUNC.NTZ R9,R0", 0, {0xbf800000, 0, 0}, 0, 0, -1},
        {"POPC R9,UR4", 0, {0, 0, 0}, 0, 3, -1},
        {"FLO.U32 R9,R0", 0, {0x00100001, 0, 0}, 0, 20, -1},
        {"FLO.U32 R9,R0", 0, {0, 0, 0}, 0, 0xffffffff, -1},
        {"FLO.U32.SH R9,R0", 0, {0x00100001, 0, 0}, 0, 11, -1},
        {"BREV R9,R0", 0, {0x00000003, 0, 0}, 0, 0xc0000000, -1},
        {"FCHK P0,R0,R1", 0, {0x3f800000, 0x40400000, 0}, 1, 0, 0}, /* 1 / 3 */
        {"FCHK P0,R0,R1", 0, {0, 0x40400000, 0}, 0, 0, 1},
        {"FCHK P0,R0,R1", 0, {0x7e800000, 0x00800000, 0}, 0, 0, 1}, /* overflows */
        {"FCHK P0,R0,R1", 0, {0x3f800000, 0x7f800000, 0}, 0, 0, 1},
        {"FRND.TRUNC R9,R0", 0, {0xbfc00000, 0, 0}, 0, 0xbf800000, -1},
        {"FRND R9,R0", 0, {0x40200000, 0, 0}, 0, 0x40000000, -1}, /* 2.5 to even */
        {"F2I.FLOOR.NTZ R9,R0", 0, {0xbf000000, 0, 0}, 0, 0xffffffff, -1},
        {"F2I.TRUNC.NTZ R9,R0", 0, {0xcf800000, 0, 0}, 0, 0x80000000, -1},
        {"F2I.NTZ R9,R0", 0, {0x40600000, 0, 0}, 0, 4, -1},
        {"I2FP.F32.S32 R9,R0", 0, {0xfffffffe, 0, 0}, 0, 0xc0000000, -1},
        {"I2FP.F32.U32 R9,R0", 0, {0xfffffffe, 0, 0}, 0, 0x4f800000, -1},
        {"F2FP.BF16.F32.PACK_AB R9,R0,R1", 0, {0x40000000, 0x3f808000, 0}, 0, 0x40003f80, -1},
        {"FMNMX.FTZ R9,R0,R1,!PT", 0, {0x00000007, 0x80000000, 0}, 0, 0, -1},
        {"FMNMX.FTZ R9,R0,R1,PT", 0, {0x80000007, 0x00000001, 0}, 0, 0x80000000, -1},
        {"F2F.BF16.F32 R9,R0", 0, {0x3f808000, 0, 0}, 0, 0x3f80, -1}, /* to even */
        {"F2F.BF16.F32 R9,R0", 0, {0x3f818000, 0, 0}, 0, 0x3f82, -1},
        {"HADD2 R9,R0,-R1", 0, {0x3c004000, 0x3c003c00, 0}, 0, 0x00003c00, -1},
        {"HMUL2 R9,R0.H0_H0,R1", 0, {0x3c004000, 0x40003c00, 0}, 0, 0x44004000, -1},
        {"HFMA2.MMA R9,R0,R1,R2.H1_H1", 0, {0x3c004000, 0x40003c00, 0x3c000000}, 0, 0x42004200, -1},
        {"HFMA2 R9,R0,2,2,R1", 0x40004000, {0x3c004000, 0, 0}, 0, 0x40004400, -1},
        {"HADD2.BF16_V2 R9,R0,R1", 0, {0x3f804000, 0x3f803f80, 0}, 0, 0x40004040, -1},
        {"MUFU.RSQ R9,R0", 0, {0x40800000, 0, 0}, 0, 0x3f000000, -1},
        {"MUFU.SQRT R9,R0", 0, {0x40800000, 0, 0}, 0, 0x40000000, -1},
        {"MUFU.SIN R9,R0", 0, {0, 0, 0}, 0, 0, -1},
        {"MUFU.COS R9,R0", 0, {0, 0, 0}, 0, 0x3f800000, -1},
        {"MUFU.TANH R9,R0", 0, {0x42c80000, 0, 0}, 0, 0x3f800000, -1},
        {"VOTE.ANY R9,P1,P0", 0, {0, 0, 0}, 1, 1, 3},
        {"P2R R9,RZ,0x1", 0, {0, 0, 0}, 3, 1, -1},
        {"P2R.B1 R9,R0,0x7f", 0, {0xffffffff, 0, 0}, 3, 0xffff83ff, -1},
        {"P2R.B3 R9,R0,0x3", 0, {0, 0, 0}, 3, 0x03000000, -1},
        {"EXIT P0", 0, {0, 0, 0}, 0, 0, -1}, /* none exits */
    };
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        const struct one *o = &list[n];
        const uint32_t r[9] = {o->r[0], o->r[1], o->r[2], 0x80000001, 7};
        unsigned after;
        uint32_t got = run(o->text, o->imm, r, o->in, NULL, &after);
        bool writes = strstr(o->text, " R9") || strstr(o->text, ",R9");
        if (writes && got != o->out)
            fail_msg("%s: %#x (%g) instead of %#x", o->text, got, (double)as_float(got), o->out);
        if (o->predicates >= 0 && after != (unsigned)o->predicates)
            fail_msg("%s: predicates %#x instead of %#x", o->text, after, o->predicates);
    }
    assert_int_equal(bits(1.0f), 0x3f800000);
}

/* 64 bits: products with a carry, against the compiler's 128-bit integers. */
static void wide(void **state) {
    const uint32_t x[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x12345678};
    (void)state;
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7; b++)
            for (int c = 0; c < 7; c++) {
                uint32_t r[9] = {x[a], x[b], x[c], 0xfffffff0, 7}, high; /* c: R2, R3 */
                unsigned after;
                uint64_t sum = x[c] | 0xfffffff0ull << 32;
                unsigned __int128 u = (unsigned __int128)((uint64_t)x[a] * x[b]) + sum;
                uint32_t low = run("IMAD.WIDE.U32 R10,P0,R0,R1,R2", 0, r, 0, &high, &after);
                assert_int_equal(low, (uint32_t)u);
                assert_int_equal(high, (uint32_t)(u >> 32));
                assert_int_equal(after & 1, (unsigned)(u >> 64));
                uint64_t s = (uint64_t)((int64_t)(int32_t)x[a] * (int32_t)x[b]) + sum;
                low = run("IMAD.WIDE R10,R0,R1,R2", 0, r, 0, &high, &after);
                assert_true(low == (uint32_t)s && high == (uint32_t)(s >> 32));
                for (unsigned in = 0; in < 2; in++) {
                    low = run("IMAD.WIDE.U32.X R10,P1,R0,R1,R2,P0", 0, r, in, &high, &after);
                    assert_true(low == (uint32_t)(u + in) && high == (uint32_t)((u + in) >> 32));
                    assert_int_equal(after >> 1 & 1, (unsigned)((u + in) >> 64));
                }
                low = run("IMAD.HI.U32 R9,R0,R1,R2", 0, r, 0, NULL, &after);
                assert_int_equal(low, (uint32_t)(u >> 32));
            }
    const uint32_t most[9] = {3, 5, ~0u, ~0u, 7}; /* 15 + 2^64 - 1 + 1: as the product alone */
    uint32_t high;
    unsigned after;
    assert_int_equal(run("IMAD.WIDE.U32.X R10,P1,R0,R1,R2,P0", 0, most, 1, &high, &after), 15);
    assert_true(!high && after == 3);
}

/* fp64, against the host's. */
static void doubles(void **state) {
    const uint32_t r[9] = {0x9999999a, 0x3fb99999, 0, 0x40080000, 7}; /* R0: 0.1, R2: 3 */
    static const struct {
        const char *text;
        uint32_t imm, low, high;
    } list[] = {{"DADD R10,R0,R2", 0, 0xcccccccd, 0x4008cccc},
                {"DADD R10,-R0,|R2|", 0, 0x33333333, 0x40073333},
                {"DMUL R10,R0,R2", 0, 0x33333334, 0x3fd33333},
                {"DMUL.RZ R10,R0,R2", 0, 0x33333333, 0x3fd33333},
                {"DFMA R10,R0,R2,-1", 0xbff00000, 0x66666666, 0xbfe66666},
                {"I2F.F64 R10,R4", 0, 0, 0x401c0000},
                {"F2F.F64.F32 R10,R3", 0, 0, 0x40010000}};
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        uint32_t high;
        unsigned after;
        uint32_t low = run(list[n].text, list[n].imm, r, 0, &high, &after);
        if (low != list[n].low || high != list[n].high)
            fail_msg("%s: %#x %#x instead of %#x %#x", list[n].text, high, low, list[n].high,
                     list[n].low);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refused(const char *opcode, const char *operands, const char *why) {
    struct sass_code code = {0};
    struct sass_inst inst;
    struct sass_exec exec;
    const uint64_t word[2] = {0, 0};
    assert_reason(sass_decode(&code, &(struct sass_text){opcode, operands, ""}, word, 0, NULL, 0,
                              &inst, &exec),
                  why);
    free(code.constant);
    free(code.from);
}

static void refusals(void **state) {
    (void)state;
    refused("DMMA", "R0,R2,R4,R6", "no such instruction");
    refused("FFMA.FMZ", "R0,R1,R2,R3", "modifier .FMZ is not known");
    refused("IADD3", "R0,R1,R2,R3,R4", "a form that is not known");
    refused("IADD3", "R0,R1,R2", "a form that is not known");
    refused("FSEL", "R0,R1,R2,P0,P1", "a form that is not known");
    refused("LDG.E.STRONG.CTA", "R0,desc[UR4][R2.64]", "modifier .CTA is not known");
    refused("MUFU.RCP64L", "R0,R1", "not known");
    refused("DADD", "R1,R2,R4", "a form that is not known"); /* R1 begins no pair */
    refused("DSETP.AND", "P0,PT,R0,R2,PT", "a form that is not known");
    refused("REDUX.AVG", "UR4,R0", "modifier .AVG is not known");
    refused("ATOMS.SUB", "R0,[R1],R2", "modifier .SUB is not known");
    refused("ATOMG.E.MAX.F32.FTZ.RN.STRONG.GPU", "PT,R0,desc[UR4][R2.64],R4",
            "a form that is not known");
    refused("LDGSTS.E.U8", "[R0],desc[UR4][R2.64]", "a form that is not known");
    refused("UTMALDG.2D", "[UR8],[UR4],desc[R6]", "operand desc[R6]");
    refused("ISETP.GE.NAND", "P0,PT,R0,R1,PT", "not known");
    refused("HMMA.16816.F32.TF32", "R4,R8,R2,R4", "modifier .TF32 is not known");
    refused("LDG.E.128", "R2,desc[UR4][R6.64]", "not known"); /* R2 is no quad */
    refused("MEMBAR.ALL.VC", "", "not known");
    refused("FADD", "R0,R1,c[0x0][0x210]", "not known"); /* sm_90's ptxas does not do that */
    refused("LDC.64", "R2,c[0x5][0x10]", "not known");
    refused("LDC.64", "R2,c[0xfffffffffffffffff][0x10]", "not known");
    refused("IMAD", "R0,R1,R2,#3", "not known");
    refused("SEL", "R0,R1,R2,P9", "not known"); /* there are P0 to P6 and PT */
    refused("ISETP.GE.AND", "R3,PT,R0,R1,PT", "not known");
}

/* ---- Cubins ---------------------------------------------------------------------------------- */

static const char *image(char *path, const char *name) {
    snprintf(path, PATH_MAX, "%s/../images/%s", program_folder(), name);
    return access(path, R_OK) ? NULL : path;
}

static void cubins(void **state) {
    char path[PATH_MAX];
    struct sass_module *m;
    (void)state;
    if (!image(path, "stage-6/d64.sm_90a.cubin")) SKIP("no image of stage 6");
    const char *why = sass_open(path, NULL, &m);
    if (why && strstr(why, "no nvdisasm")) SKIP("%s", why);
    assert_fine(why);
    const struct sass_kernel *k = sass_find(m, "attention");
    assert_non_null(k);
    assert_null(sass_find(m, "nosuch"));
    assert_int_equal(k->param_base, 0x210);
    int lines = 0, hgmma = 0, tma = 0;
    for (int i = 0; i < k->n_inst; i++) {
        lines += k->origin[i].file != NULL && k->origin[i].line > 0;
        hgmma += k->inst[i].op == SASS_OP_HGMMA;
        tma += k->inst[i].memory == SASS_TMA_LOAD;
        assert_int_equal(k->inst[i].pc, 16 * i);
        assert_true(k->inst[i].read_barrier <= 7 && k->inst[i].write_barrier <= 7);
        if (k->inst[i].pipe == SASS_PIPE_FMA) assert_int_equal(k->inst[i].write_barrier, 7);
    }
    assert_int_equal(lines, k->n_inst);
    assert_true(hgmma > 0 && tma > 0);
    sass_close(m);
}

/* A cubin in which one MUFU.EX2 became a function that MUFU does not have: who comes there stops, and is told the place. */
static void unknown_instruction(void **state) {
    char path[PATH_MAX], broken[OWN_BYTES];
    size_t bytes, at;
    struct sass_module *m;
    (void)state;
    if (!image(path, "stage-1/d64.sm_90a.cubin")) SKIP("no image of stage 1");
    unsigned char *cubin = (unsigned char *)path_read(path, &bytes);
    assert_non_null(cubin);
    for (at = 0; at + 16 <= bytes; at += 16) { /* opcode 0x308, function 2 in bits 74-77 */
        uint64_t w[2];
        memcpy(w, cubin + at, 16);
        if ((w[0] & 0xfff) != 0x308 || (w[1] >> 10 & 15) != 2) continue;
        w[1] = (w[1] & ~(15ull << 10)) | 10ull << 10;
        memcpy(cubin + at, w, 16);
        break;
    }
    assert_true(at + 16 <= bytes);
    int fd = own_file(broken, "sass");
    assert_true(fd >= 0 && write(fd, cubin, bytes) == (ssize_t)bytes);
    close(fd);
    const char *why = sass_open(broken, NULL, &m);
    unlink(broken);
    free(cubin);
    if (why && strstr(why, "no nvdisasm")) SKIP("%s", why);
    assert_fine(why);
    const struct sass_kernel *k = sass_find(m, "attention");
    const struct sass_exec *exec = sass_code(k)->exec;
    int n_unknown = 0;
    for (int i = 0; i < k->n_inst; i++) {
        if (exec[i].run != sass_unknown) continue;
        struct sass_warp w = {.fault = ""};
        n_unknown++;
        assert_int_equal(sass_unknown(&w, &exec[i], ~0u), SASS_GO_FAULT);
        assert_non_null(strstr(w.fault, "MUFU.INVALID10"));
        assert_non_null(strstr(w.fault, "stages/1-scalar/kernel.cu:")); /* not ptx.cuh */
    }
    assert_int_equal(n_unknown, 1);
    sass_close(m);
}

static void other_chips(void **state) {
    char path[PATH_MAX];
    struct sass_module *m;
    (void)state;
    char *bytes, other[PATH_MAX];
    size_t n;
    if (!image(path, "stage-1/d64.sm_89.cubin")) SKIP("no image for sm_89");
    bytes = path_read(path, &n);
    assert_non_null(bytes);
    bytes[48 + 1] = 80; /* e_flags: the chip */
    int fd = own_file(other, "sm_80");
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && !close(fd));
    assert_reason(sass_open(other, NULL, &m), "is for sm_80; only sm_90a and sm_89");
    unlink(other);
    free(bytes);
    assert_reason(sass_open("/dev/null", NULL, &m), "not a whole cubin");
    assert_reason(sass_open("/nosuch", NULL, &m), "/nosuch");
}

/* All instructions of all images of stages 1 to 4 for Ada are known. */
static void ada(void **state) {
    char path[PATH_MAX], pattern[PATH_MAX], cache[PATH_MAX];
    glob_t found;
    (void)state;
    if (!image(path, "stage-1/d64.sm_89.cubin")) SKIP("no image for sm_89");
    snprintf(pattern, sizeof pattern, "%.*s/stage-[1-4]/*.sm_89.cubin",
             (int)(strstr(path, "/stage-1/") - path), path);
    snprintf(cache, sizeof cache, "%.*s/sass", (int)(strstr(path, "/images/") - path), path);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct sass_module *m;
        const char *why = sass_open(found.gl_pathv[i], cache, &m);
        if (why && strstr(why, "no nvdisasm")) SKIP("%s", why);
        assert_fine(why);
        const struct sass_kernel *k = sass_find(m, "attention");
        assert_non_null(k);
        assert_int_equal(k->sm, 89);
        for (int n = 0; n < k->n_inst; n++)
            if (sass_code(k)->exec[n].run == sass_unknown)
                fail_msg("%s: %s", found.gl_pathv[i], (char *)sass_code(k)->exec[n].more);
        sass_close(m);
    }
    assert_true(found.gl_pathc > 0);
    globfree(&found);
}

/* What nobody has written is the grid's word in each block; RZ is zero and PT true. */
static void unwritten(void **state) {
    static const uint64_t words[] = {UINT64_MAX, 0x7ff3fff17ff87ffdu};
    static struct sass_code code = {.row_bytes = SASS_ROW_CONST};
    static const struct sass_kernel k = {.name = "k", .exec = &code, .n_registers = 8};
    const struct emu_grid l = {.grid = {2, 1, 1}, .block = {64, 1, 1}};
    struct emu_memory *m;
    (void)state;
    assert_fine(emu_memory_open(&m));
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t word = words[i / 2];
        struct sass_grid *g;
        struct sass_cta *cta;
        assert_fine(sass_grid_open(m, &k, &l, &g));
        if (i / 2) g->unwritten = word;
        assert_fine(sass_cta_begin(g, i % 2, &cta));
        struct sass_warp *w = sass_cta_warp(cta, 1);
        assert_memory_equal(sass_row(w, 200 * SASS_ROW), &word, 8);
        assert_memory_equal(sass_row(w, SASS_ROW_UR + 62 * SASS_ROW) + 30, &word, 8);
        assert_memory_equal(sass_shared(cta, SASS_RESERVED_SHARED, 8), &word, 8);
        assert_int_equal(sass_row(w, SASS_ROW_ZERO)[7], 0);
        assert_int_equal(w->pred[SASS_P_TRUE], EMU_FULL);
        assert_int_not_equal(w->pred[0], 0);
        assert_int_equal(w->pred[SASS_P_UNIFORM + 1], word >> 1 & 1 ? EMU_FULL : 0);
        sass_cta_end(cta);
        sass_grid_close(g);
    }
    emu_memory_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwritten),   cmocka_unit_test(instructions),
        cmocka_unit_test(wide),        cmocka_unit_test(refusals),
        cmocka_unit_test(cubins),      cmocka_unit_test(doubles),
        cmocka_unit_test(other_chips), cmocka_unit_test(unknown_instruction),
        cmocka_unit_test(ada),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
