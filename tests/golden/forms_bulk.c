/* Bulk reductions, and bulk copies to several blocks of a cluster. */
#include "forms_internal.h"

#include <stdio.h>

/* out holds i0..i3 of each thread; i4..i7 of all of them are reduced into it at once. */
static struct golden_form *add_reductions(struct golden_form *at) {
    static const struct {
        const char *how;
        char kind;
    } reductions[] = {
        {"add.u32", 'w'}, {"add.s32", 'w'}, {"add.u64", 'w'},       {"add.f32", 'f'},
        {"add.f64", 'D'}, {"add.f64", 'Q'}, {"add.noftz.f16", 'h'}, {"add.noftz.bf16", 'b'},
        {"min.s32", 'w'}, {"max.u32", 'w'}, {"min.u64", 'w'},       {"max.s64", 'w'},
        {"min.f16", 'h'}, {"max.f16", 'h'}, {"min.bf16", 'b'},      {"max.bf16", 'b'},
        {"inc.u32", 'u'}, {"dec.u32", 'u'}, {"and.b32", 'w'},       {"or.b64", 'w'},
        {"xor.b32", 'w'},
    };
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        char body[1024], name[GOLDEN_NAME], kinds[9] = {0};
        for (int k = 0; k < 8; k++)
            kinds[k] = reductions[i].kind == 'Q'   ? "zd"[k % 2]
                       : reductions[i].kind == 'D' ? "wd"[k % 2]
                                                   : reductions[i].kind;
        snprintf(body, sizeof body,
                 "    st.global.v4.b32 [%%out], {%%i0,%%i1,%%i2,%%i3};\n"
                 "    mad.lo.s32 %%y1, %%thr, 16, %%y0;\n"
                 "    st.shared.v4.b32 [%%y1], {%%i4,%%i5,%%i6,%%i7};\n"
                 "    fence.proxy.async;\n    bar.sync 0;\n    setp.ne.u32 %%p, %%thr, 0;\n"
                 "    @%%p bra issued;\n"
                 "    cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%out], [%%y0], 512;\n"
                 "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\nissued:\n"
                 "    bar.sync 0;\n    ld.global.v4.b32 {%%d0,%%d1,%%d2,%%d3}, [%%out];\n",
                 reductions[i].how);
        snprintf(name, sizeof name, "bulk_reduce_%s%s", reductions[i].how,
                 reductions[i].kind == 'Q' ? "_short" : "");
        at = golden_add(at, name, kinds, 4, 9, body);
    }
    return at;
}

#define HEAD                                                                                       \
    "    .shared .align 8 .b64 bar;\n    mov.u32 %y1, %cluster_ctarank;\n"                         \
    "    mov.u32 %y2, %cluster_nctarank;\n    add.s32 %y3, %y1, 1;\n    rem.u32 %y2, %y3, %y2;\n"  \
    "    mad.lo.s32 %y3, %thr, 16, %y0;\n    mov.u32 %y5, bar;\n"                                  \
    "    mapa.shared::cluster.u32 %y6, %y5, %y2;\n    mapa.shared::cluster.u32 %y4, %y0, %y2;\n"   \
    "    st.shared.v4.b32 [%y3], {%i0,%i1,%i2,%i3};\n"                                             \
    "    st.shared.v4.b32 [%y3+512], {%i0,%i1,%i2,%i3};\n    fence.proxy.async;\n"                 \
    "    setp.eq.u32 %p, %thr, 0;\n    @%p mbarrier.init.shared::cta.b64 [%y5], 1;\n"              \
    "    fence.mbarrier_init.release.cluster;\n" SYNC
#define SYNC                                                                                       \
    "    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n"
#define EXPECT "    @%%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%y5], %d;\n"
#define TAIL                                                                                       \
    "wait0:\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%y5], 0;\n"         \
    "    @!%p bra wait0;\n    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y3];\n"                        \
    "    ld.shared.v4.b32 {%d4,%d5,%d6,%d7}, [%y3+512];\n" SYNC

/* Each block's memory into the next one's. */
static struct golden_form *add_peers(struct golden_form *at) {
    static const char *const how[] = {"add.u32", "add.s32", "add.u64", "min.s32", "max.u32",
                                      "inc.u32", "dec.u32", "and.b32", "or.b32",  "xor.b32"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char body[4096], name[GOLDEN_NAME];
        int n = sprintf(body, "%s", HEAD);
        n += sprintf(body + n, EXPECT, 256);
        n += sprintf(body + n,
                     "    @%%p cp.reduce.async.bulk.shared::cluster.shared::cta"
                     ".mbarrier::complete_tx::bytes.%s [%%y4+528], [%%y0+16], 256, [%%y6];\n",
                     how[i]);
        sprintf(body + n, "%s", TAIL);
        snprintf(name, sizeof name, "cluster_reduce_%s", how[i]);
        at = golden_add(at, name, i == 5 || i == 6 ? "uuuu" : "wwww", 8, 4, body);
        at[-1].cluster = 2;
    }
    return at;
}

/* Every block copies its 64 bytes of `common`: an even one to the even ones, an odd one to all. */
static struct golden_form *add_multicast(struct golden_form *at) {
    for (int size = 2; size <= 8; size *= 2) {
        char body[4096], name[GOLDEN_NAME];
        int n = sprintf(body, "%s", HEAD);
        n += sprintf(body + n,
                     "    .reg .b16 %%mask;\n    .reg .pred %%even;\n"
                     "    shl.b32 %%y7, %%y1, 6;\n    cvt.u64.u32 %%x1, %%y7;\n"
                     "    add.s64 %%x1, %%x1, %%common;\n    add.s32 %%y7, %%y7, %%y0;\n"
                     "    mov.u32 %%d0, %d;\n"
                     "    and.b32 %%d2, %%y1, 1;\n    setp.eq.u32 %%even, %%d2, 0;\n"
                     "    @!%%even mov.u32 %%d0, %d;\n    cvt.u16.u32 %%mask, %%d0;\n"
                     "    selp.b32 %%d3, %d, %d, %%even;\n"
                     "    @%%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%y5], %%d3;\n"
                     "    @%%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%%y7], [%%x1], 64, [%%y5], %%mask;\n",
                     0x55 & ((1 << size) - 1), (1 << size) - 1, 64 * size, 32 * size);
        sprintf(body + n, "%s", TAIL);
        snprintf(name, sizeof name, "cluster_multicast_of_%d", size);
        at = golden_add(at, name, "wwww", 8, 2 * size, body);
        at[-1].cluster = size;
        at[-1].common_bytes = 512;
    }
    return at;
}

int golden_list_bulk(struct golden_form *out) {
    return (int)(add_multicast(add_peers(add_reductions(out))) - out);
}
