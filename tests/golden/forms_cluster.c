/* Forms of clusters: the cases are the blocks, and each block gives something to the next of its
 * cluster. %y1 is the block's rank, %y2 the next one's, %y3 this thread's 16 bytes of smem, %y4
 * the same of the next block, %y5 an mbarrier, %y6 the next block's. */
#include "forms_internal.h"

#include <stdio.h>

#define SYNC                                                                                       \
    "    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n"
#define WAIT(label, parity)                                                                        \
    label ":\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%y5], " parity     \
          ";\n    @!%p bra " label ";\n"
#define WAIT_0 WAIT("wait0", "0")
#define WAIT_1 WAIT("wait1", "1")
#define INIT(arrivals)                                                                             \
    "    setp.eq.u32 %p, %thr, 0;\n    @%p mbarrier.init.shared::cta.b64 [%y5], " arrivals ";\n"   \
    "    fence.mbarrier_init.release.cluster;\n"
#define INIT_1  INIT("1") SYNC
#define INIT_32 INIT("32") SYNC

static const char head[] =
    "    .reg .pred %q<4>;\n    .shared .align 8 .b64 bar;\n"
    "    mov.u32 %y1, %cluster_ctarank;\n    mov.u32 %y2, %cluster_nctarank;\n"
    "    add.s32 %y3, %y1, 1;\n    rem.u32 %y2, %y3, %y2;\n"
    "    mad.lo.s32 %y3, %thr, 16, %y0;\n    mapa.shared::cluster.u32 %y4, %y3, %y2;\n"
    "    mov.u32 %y5, bar;\n    mapa.shared::cluster.u32 %y6, %y5, %y2;\n";

static const struct {
    const char *name, *kinds;
    int n_out;
    const char *body;
} forms[] = {
    {"place", "w", 15,
     "    mov.u32 %d0, %cluster_ctaid.x;\n    mov.u32 %d1, %cluster_ctaid.y;\n"
     "    mov.u32 %d2, %cluster_ctaid.z;\n    mov.u32 %d3, %cluster_nctaid.x;\n"
     "    mov.u32 %d4, %cluster_nctaid.y;\n    mov.u32 %d5, %cluster_nctaid.z;\n"
     "    mov.u32 %d6, %clusterid.x;\n    mov.u32 %d7, %clusterid.y;\n"
     "    mov.u32 %d8, %clusterid.z;\n    mov.u32 %d9, %nclusterid.x;\n"
     "    mov.u32 %d10, %nclusterid.y;\n    mov.u32 %d11, %nclusterid.z;\n"
     "    mov.u32 %d12, %cluster_ctarank;\n    mov.u32 %d13, %cluster_nctarank;\n"
     "    mov.pred %p, %is_explicit_cluster;\n    selp.u32 %d14, 1, 0, %p;\n"},
    {"load", "wwww", 11,
     "    st.shared.v4.b32 [%y3], {%i0,%i1,%i2,%i3};\n" SYNC
     "    ld.shared::cluster.v4.b32 {%d0,%d1,%d2,%d3}, [%y4];\n"
     "    ld.shared::cluster.v2.b32 {%d4,%d5}, [%y4+8];\n"
     "    ld.shared::cluster.b32 %d6, [%y4+4];\n    ld.shared::cluster.u16 %h0, [%y4+2];\n"
     "    cvt.u32.u16 %d7, %h0;\n    ld.shared::cluster.s8 %d8, [%y4+13];\n"
     "    ld.shared::cluster.b64 %l0, [%y4+8];\n    mov.b64 {%d9,%d10}, %l0;\n" SYNC},
    {"store", "wwww", 8,
     "    mov.u32 %d0, 0;\n    st.shared.v4.b32 [%y3], {%d0,%d0,%d0,%d0};\n"
     "    st.shared.v4.b32 [%y3+512], {%d0,%d0,%d0,%d0};\n" SYNC
     "    st.shared::cluster.v4.b32 [%y4], {%i0,%i1,%i2,%i3};\n"
     "    st.shared::cluster.v2.b32 [%y4+512], {%i3,%i2};\n    cvt.u16.u32 %h0, %i1;\n"
     "    st.shared::cluster.b16 [%y4+522], %h0;\n    st.shared::cluster.b8 [%y4+525], %i0;\n" SYNC
     "    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y3];\n"
     "    ld.shared.v4.b32 {%d4,%d5,%d6,%d7}, [%y3+512];\n"},
    {"generic", "wwwwww", 9,
     "    st.shared.v4.b32 [%y3], {%i0,%i1,%i2,%i3};\n    cvt.u64.u32 %l0, %y3;\n"
     "    cvta.shared.u64 %l0, %l0;\n    mapa.u64 %l1, %l0, %y2;\n" SYNC
     "    ld.v4.b32 {%d0,%d1,%d2,%d3}, [%l1];\n" SYNC "    st.b32 [%l1+4], %i4;\n"
     "    atom.add.u32 %d4, [%l1+8], %i5;\n" SYNC
     "    ld.shared.v4.b32 {%d5,%d6,%d7,%d8}, [%y3];\n"},
    {"atomics", "wwwwu",
     8, /* of all blocks in words of rank 0; results that do not depend on the order */
     "    mov.u32 %d0, 0;\n    mov.u32 %d1, 99;\n    setp.eq.u32 %p, %thr, 0;\n"
     "    @%p st.shared.v4.b32 [%y0], {%d0,%d0,%d0,%d0};\n"
     "    @%p st.shared.v4.b32 [%y0+16], {%d0,%d1,%d0,%d0};\n"
     "    mapa.shared::cluster.u32 %y7, %y0, 0;\n" SYNC
     "    atom.shared::cluster.add.u32 %d0, [%y7], %i0;\n"
     "    red.relaxed.cluster.shared::cluster.max.u32 [%y7+4], %i1;\n"
     "    red.shared::cluster.or.b32 [%y7+8], %i2;\n    red.shared::cluster.min.s32 [%y7+12], "
     "%i3;\n"
     "    atom.acq_rel.cluster.shared::cluster.inc.u32 %d0, [%y7+16], 40;\n"
     "    red.shared::cluster.xor.b32 [%y7+20], %i4;\n    cvt.u64.u32 %l0, %i0;\n"
     "    red.shared::cluster.add.u64 [%y7+24], %l0;\n" SYNC
     "    ld.shared::cluster.v4.b32 {%d0,%d1,%d2,%d3}, [%y7];\n"
     "    ld.shared::cluster.v4.b32 {%d4,%d5,%d6,%d7}, [%y7+16];\n" SYNC},
    {"ranks", "w", 8,
     "    getctarank.shared::cluster.u32 %d0, %y3;\n    getctarank.shared::cluster.u32 %d1, %y4;\n"
     "    cvt.u64.u32 %l0, %y3;\n    cvta.shared.u64 %l0, %l0;\n    mapa.u64 %l1, %l0, %y2;\n"
     "    mapa.u64 %l2, %l0, %y1;\n    getctarank.u64 %d2, %l0;\n    getctarank.u64 %d3, %l1;\n"
     "    isspacep.shared::cta %p, %l0;\n    selp.u32 %d4, 1, 0, %p;\n"
     "    isspacep.shared::cta %p, %l1;\n    selp.u32 %d5, 1, 0, %p;\n"
     "    isspacep.shared::cluster %p, %l1;\n    selp.u32 %d6, 1, 0, %p;\n"
     "    isspacep.shared::cta %p, %l2;\n    selp.u32 %d7, 1, 0, %p;\n"},
    {"mbarrier", "ww", 2, /* 32 arrivals of one, then one of 32 */
     INIT_32 "    st.shared::cluster.b32 [%y4], %i0;\n"
             "    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%y6];\n" WAIT_0
             "    ld.shared.b32 %d0, [%y3];\n" SYNC "    st.shared::cluster.b32 [%y4+4], %i1;\n"
             "    bar.warp.sync -1;\n    setp.eq.u32 %q0, %thr, 5;\n"
             "    @%q0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%y6], 32;\n" WAIT_1
             "    ld.shared.b32 %d1, [%y3+4];\n" SYNC},
    {"st_async", "wwwwwww", 8,
     INIT_1
     "    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%y5], 896;\n"
     "    st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%y4], {%i0,%i1,%i2,%i3}, "
     "[%y6];\n"
     "    st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%y4+512], %i4, [%y6];\n"
     "    mov.b64 %l0, {%i5,%i6};\n"
     "    st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%y4+520], %l0, [%y6];\n" WAIT_0
     "    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y3];\n    ld.shared.b32 %d4, [%y3+512];\n"
     "    ld.shared.v2.b32 {%d5,%d6}, [%y3+520];\n    mov.u32 %d7, 0;\n" SYNC},
    {"expect_tx", "ww", 2, /* the sender announces what it sends */
     INIT_1 "    @%p mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%y6], 256;\n"
            "    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%y4], {%i0,%i1}, "
            "[%y6];\n" WAIT_0 "    ld.shared.v2.b32 {%d0,%d1}, [%y3];\n" SYNC},
    {"red_async", "wwwwww", 6,
     "    st.shared.v4.b32 [%y3], {%i0,%i1,%i2,%i3};\n    st.shared.v2.b32 [%y3+512], "
     "{%i4,%i5};\n" INIT_1 "    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%y5], 768;\n"
     "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%y4], "
     "%i1, [%y6];\n"
     "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%y4+4], "
     "%i2, [%y6];\n"
     "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%y4+8], "
     "%i3, [%y6];\n"
     "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%y4+12], "
     "%i4, [%y6];\n"
     "    mov.b64 %l0, {%i0,%i1};\n"
     "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 "
     "[%y4+512], %l0, [%y6];\n" WAIT_0 "    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y3];\n    "
     "ld.shared.v2.b32 {%d4,%d5}, [%y3+512];\n" SYNC},
    {"bulk", "wwww", 8, /* 256 bytes from one block's memory to the next one's */
     "    mov.u32 %d0, 7;\n    st.shared.v4.b32 [%y3], {%i0,%i1,%i2,%i3};\n"
     "    st.shared.v4.b32 [%y3+512], {%d0,%d0,%d0,%d0};\n    fence.proxy.async;\n" INIT_1
     "    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%y5], 256;\n"
     "    @%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%y4+544], "
     "[%y0+16], 256, [%y6];\n" WAIT_0 "    ld.shared.v4.b32 {%d0,%d1,%d2,%d3}, [%y3];\n"
     "    ld.shared.v4.b32 {%d4,%d5,%d6,%d7}, [%y3+512];\n" SYNC},
    {"exit", "w", 1, /* threads that have exited are not waited for */
     "    setp.ge.u32 %p, %thr, 24;\n    @%p ret;\n    st.shared.b32 [%y3], %i0;\n" SYNC
     "    ld.shared::cluster.b32 %d0, [%y4];\n" SYNC},
};

int golden_list_cluster(struct golden_form *out) {
    static const int sizes[] = {2, 4, 8, 16};
    struct golden_form *at = out;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int s = 0; s < 4; s++) {
            char name[GOLDEN_NAME], body[4096];
            if (s % 2 != (int)(i % 2) && i > 2) continue; /* all sizes of the simple ones */
            snprintf(name, sizeof name, "cluster_%s_of_%d", forms[i].name, sizes[s]);
            snprintf(body, sizeof body, "%s%s", head, forms[i].body);
            at = golden_add(at, name, forms[i].kinds, forms[i].n_out, 2 * sizes[s], body);
            at[-1].cluster = sizes[s];
        }
    return (int)(at - out);
}
