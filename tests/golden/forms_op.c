/* Golden forms of single instructions: conversions, approximations, packed and integer
 * arithmetic. */
#include "forms_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- one instruction on registers; `ulps` > 0 marks an approximation ---- */
#define H2(in) "    mov.b32 {%h0,%h1}, " in ";\n"
static const struct {
    const char *name, *kinds, *body;
    int ulps;
} scalar[] = {
    {"ex2.approx.ftz.f32", "f", "ex2.approx.ftz.f32 %d0, %i0;", 4},
    {"ex2.approx.f32", "f", "ex2.approx.f32 %d0, %i0;", 4},
    {"ex2.approx.f16x2", "h", "ex2.approx.f16x2 %d0, %i0;", 4},
    {"lg2.approx.ftz.f32", "f", "lg2.approx.ftz.f32 %d0, %i0;", 4},
    {"lg2.approx.f32", "f", "lg2.approx.f32 %d0, %i0;", 4},
    {"rcp.approx.ftz.f32", "f", "rcp.approx.ftz.f32 %d0, %i0;", 1},
    {"rsqrt.approx.f32", "f", "rsqrt.approx.f32 %d0, %i0;", 4},
    {"sqrt.approx.f32", "f", "sqrt.approx.f32 %d0, %i0;", 4},
    {"sin.approx.f32", "a", "sin.approx.f32 %d0, %i0;", 4},
    {"cos.approx.f32", "a", "cos.approx.f32 %d0, %i0;", 4},
    {"tanh.approx.f32", "f", "tanh.approx.f32 %d0, %i0;", 1 << 13},
    {"div.approx.f32", "ff", "div.approx.f32 %d0, %i0, %i1;", 2},
    {"div.full.f32", "ff", "div.full.f32 %d0, %i0, %i1;", 2},
    {"rcp.rn.f32", "f", "rcp.rn.f32 %d0, %i0;", 0},
    {"sqrt.rn.f32", "f", "sqrt.rn.f32 %d0, %i0;", 0},
    {"div.rn.f32", "ff", "div.rn.f32 %d0, %i0, %i1;", 0},
    {"add.rn.f32", "ff", "add.rn.f32 %d0, %i0, %i1;", 0},
    {"add.rz.f32", "ff", "add.rz.f32 %d0, %i0, %i1;", 0},
    {"mul.rn.ftz.f32", "ff", "mul.rn.ftz.f32 %d0, %i0, %i1;", 0},
    {"fma.rn.f32", "fff", "fma.rn.f32 %d0, %i0, %i1, %i2;", 0},
    {"fma.rm.f32", "fff", "fma.rm.f32 %d0, %i0, %i1, %i2;", 0},
    {"fma.rn.sat.f32", "fff", "fma.rn.sat.f32 %d0, %i0, %i1, %i2;", 0},
    {"min.f32", "ff", "min.f32 %d0, %i0, %i1;", 0},
    {"max.f32", "ff", "max.f32 %d0, %i0, %i1;", 0},
    {"max.NaN.f32", "ff", "max.NaN.f32 %d0, %i0, %i1;", 0},
    {"add.f16x2", "hh", "add.f16x2 %d0, %i0, %i1;", 0},
    {"sub.f16x2", "hh", "sub.f16x2 %d0, %i0, %i1;", 0},
    {"mul.f16x2", "hh", "mul.f16x2 %d0, %i0, %i1;", 0},
    {"fma.rn.f16x2", "hhh", "fma.rn.f16x2 %d0, %i0, %i1, %i2;", 0},
    {"fma.rn.relu.f16x2", "hhh", "fma.rn.relu.f16x2 %d0, %i0, %i1, %i2;", 0},
    {"max.f16x2", "hh", "max.f16x2 %d0, %i0, %i1;", 0},
    {"min.NaN.f16x2", "hh", "min.NaN.f16x2 %d0, %i0, %i1;", 0},
    {"neg.f16x2", "h", "neg.f16x2 %d0, %i0;", 0},
    {"fma.rn.bf16x2", "bbb", "fma.rn.bf16x2 %d0, %i0, %i1, %i2;", 0},
    {"add.bf16x2", "bb", "add.rn.bf16x2 %d0, %i0, %i1;", 0},
    {"max.bf16x2", "bb", "max.bf16x2 %d0, %i0, %i1;", 0},
    {"cvt.rn.f16x2.f32", "ff", "cvt.rn.f16x2.f32 %d0, %i0, %i1;", 0},
    {"cvt.rz.f16x2.f32", "ff", "cvt.rz.f16x2.f32 %d0, %i0, %i1;", 0},
    {"cvt.rn.relu.f16x2.f32", "ff", "cvt.rn.relu.f16x2.f32 %d0, %i0, %i1;", 0},
    {"cvt.rn.bf16x2.f32", "ff", "cvt.rn.bf16x2.f32 %d0, %i0, %i1;", 0},
    {"cvt.rna.tf32.f32", "f", "cvt.rna.tf32.f32 %d0, %i0;", 0},
    {"cvt.rn.satfinite.e4m3x2.f32", "ff",
     "cvt.rn.satfinite.e4m3x2.f32 %h0, %i0, %i1; cvt.u32.u16 %d0, %h0;", 0},
    {"cvt.rn.satfinite.e5m2x2.f32", "ff",
     "cvt.rn.satfinite.e5m2x2.f32 %h0, %i0, %i1; cvt.u32.u16 %d0, %h0;", 0},
    {"cvt.rn.f16x2.e4m3x2", "e", H2("%i0") "    cvt.rn.f16x2.e4m3x2 %d0, %h0;", 0},
    {"cvt.rn.f16x2.e5m2x2", "5", H2("%i0") "    cvt.rn.f16x2.e5m2x2 %d0, %h0;", 0},
    {"cvt.rn.f16.f32", "f", "cvt.rn.f16.f32 %h0, %i0; cvt.u32.u16 %d0, %h0;", 0},
    {"cvt.rn.bf16.f32", "f", "cvt.rn.bf16.f32 %h0, %i0; cvt.u32.u16 %d0, %h0;", 0},
    {"cvt.f32.f16", "h", H2("%i0") "    cvt.f32.f16 %d0, %h0;", 0},
    {"cvt.f32.bf16", "b", H2("%i0") "    cvt.f32.bf16 %d0, %h0;", 0},
    {"cvt.rni.s32.f32", "f", "cvt.rni.s32.f32 %d0, %i0;", 0},
    {"cvt.rzi.u32.f32", "f", "cvt.rzi.u32.f32 %d0, %i0;", 0},
    {"cvt.rmi.f32.f32", "f", "cvt.rmi.f32.f32 %d0, %i0;", 0},
    {"cvt.rn.f32.s32", "u", "cvt.rn.f32.s32 %d0, %i0;", 0},
    {"cvt.rn.f32.u32", "u", "cvt.rn.f32.u32 %d0, %i0;", 0},
    {"cvt.sat.f32.f32", "f", "cvt.sat.f32.f32 %d0, %i0;", 0},
    {"prmt.b32", "www", "prmt.b32 %d0, %i0, %i1, %i2;", 0},
    {"lop3.b32", "www", "lop3.b32 %d0, %i0, %i1, %i2, 0x96;", 0},
    {"shf.l.wrap.b32", "wwn", "shf.l.wrap.b32 %d0, %i0, %i1, %i2;", 0},
    {"shf.r.clamp.b32", "wwn", "shf.r.clamp.b32 %d0, %i0, %i1, %i2;", 0},
    {"shl.b32", "wn", "shl.b32 %d0, %i0, %i1;", 0},
    {"shr.s32", "wn", "shr.s32 %d0, %i0, %i1;", 0},
    {"bfe.u32", "wnn", "bfe.u32 %d0, %i0, %i1, %i2;", 0},
    {"bfe.s32", "wnn", "bfe.s32 %d0, %i0, %i1, %i2;", 0},
    {"bfi.b32", "wwnn", "bfi.b32 %d0, %i0, %i1, %i2, %i3;", 0},
    {"bfind.s32", "u", "bfind.s32 %d0, %i0;", 0},
    {"bfind.shiftamt.u32", "u", "bfind.shiftamt.u32 %d0, %i0;", 0},
    {"clz.b32", "n", "clz.b32 %d0, %i0;", 0},
    {"brev.b32", "w", "brev.b32 %d0, %i0;", 0},
    {"dp4a.s32.u32", "www", "dp4a.s32.u32 %d0, %i0, %i1, %i2;", 0},
    {"mul.hi.s32", "ww", "mul.hi.s32 %d0, %i0, %i1;", 0},
    {"mad24.lo.s32", "www", "mad24.lo.s32 %d0, %i0, %i1, %i2;", 0},
    {"sad.s32", "www", "sad.s32 %d0, %i0, %i1, %i2;", 0},
    {"div.s32", "wu", "div.s32 %d0, %i0, %i1;", 0},
    {"rem.u32", "wu", "rem.u32 %d0, %i0, %i1;", 0},
    {"shfl.idx", "wn", "shfl.sync.idx.b32 %d0|%p, %i0, %i1, 31, -1; selp.b32 %d1, 1, 0, %p;", 0},
    {"shfl.up", "wn", "shfl.sync.up.b32 %d0|%p, %i0, %i1, 0, -1; selp.b32 %d1, 1, 0, %p;", 0},
    {"shfl.down.w8", "wn",
     "shfl.sync.down.b32 %d0|%p, %i0, %i1, 0x181f, -1; selp.b32 %d1, 1, 0, %p;", 0},
    {"shfl.bfly.w16", "wn",
     "shfl.sync.bfly.b32 %d0|%p, %i0, %i1, 0x101f, -1; selp.b32 %d1, 1, 0, %p;", 0},
    {"vote.ballot", "i", "setp.lt.s32 %p, %i0, 0; vote.sync.ballot.b32 %d0, %p, -1;", 0},
    {"match.any", "n", "and.b32 %i0, %i0, 3; match.any.sync.b32 %d0, %i0, -1;", 0},
    {"redux.add.s32", "w", "redux.sync.add.s32 %d0, %i0, -1;", 0},
    {"redux.min.s32", "w", "redux.sync.min.s32 %d0, %i0, -1;", 0},
};

int golden_list_ops(struct golden_form *out) {
    struct golden_form *at = out;
    for (size_t i = 0; i < sizeof scalar / sizeof *scalar; i++) {
        char name[GOLDEN_NAME], body[1024];
        snprintf(name, sizeof name, "op_%s", scalar[i].name);
        snprintf(body, sizeof body, "    %s\n", scalar[i].body);
        at = golden_add(at, name, scalar[i].kinds, strstr(scalar[i].body, "%d1") ? 2 : 1,
                        GOLDEN_FLAVOURS, body);
        at[-1].ulps = scalar[i].ulps;
    }
    return (int)(at - out);
}
