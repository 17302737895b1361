/* Every handler, and every selector of handlers, by the file that has it: what a front end may put
 * into emu_inst.run. */
#pragma once

#include "emulator/core/instruction.h"

/* integer.c */
emu_handler emu_bfe, emu_bfi, emu_bmsk, emu_szext, emu_cvt_pack, emu_lop3, emu_bits, emu_dp4a,
    emu_dp2a;
emu_selector emu_select_integer, emu_select_pair, emu_select_shf, emu_select_prmt;
/* carry.c */
emu_selector emu_select_carry;
/* video.c */
emu_selector emu_select_video;
/* real.c */
emu_handler emu_testp;
emu_selector emu_select_real;
/* small.c */
emu_selector emu_select_small;
/* compare.c */
emu_handler emu_selp32, emu_selp64, emu_slct, emu_logic_pred;
emu_selector emu_select_compare;
/* convert.c */
emu_selector emu_select_cvt;
/* move.c */
emu_handler emu_isspacep, emu_nothing;
emu_selector emu_select_mov, emu_select_cvta;
/* call.c */
emu_handler emu_call;
/* function.c */
emu_handler emu_enter, emu_return;
/* flow.c */
emu_handler emu_bra, emu_brx, emu_exit, emu_trap, emu_yield, emu_warp_sync, emu_fence,
    emu_grid_wait;
emu_selector emu_select_bar;
/* cluster.c */
emu_handler emu_cluster_arrive, emu_cluster_wait, emu_mapa, emu_getctarank;
/* warpops.c */
emu_handler emu_activemask, emu_match, emu_elect;
emu_selector emu_select_shfl, emu_select_vote, emu_select_redux;
/* ldst.c */
emu_selector emu_select_ld, emu_select_st;
/* atomic.c */
emu_selector emu_select_atomic, emu_select_atomic_vector, emu_select_tensormap_replace;
/* texture.c */
emu_selector emu_select_tex, emu_select_surface;
/* matrix.c */
emu_handler emu_movmatrix;
emu_selector emu_select_ldmatrix, emu_select_stmatrix;
/* mma.c */
emu_selector emu_select_mma;
/* mma_f64.c */
emu_selector emu_select_mma_f64, emu_select_wmma_f64_move;
/* mma_bits.c */
emu_selector emu_select_mma_bits, emu_select_wmma_bits_move;
/* mma_sparse.c */
emu_selector emu_select_mma_sparse;
/* wmma.c */
emu_selector emu_select_wmma_mma, emu_select_wmma_move;
/* wgmma.c */
emu_handler emu_wgmma_fence, emu_wgmma_commit, emu_wgmma_wait, emu_setmaxnreg;
emu_selector emu_select_wgmma;
/* copy.c */
emu_handler emu_copy_commit, emu_copy_wait_group, emu_copy_wait_all, emu_copy_arrive,
    emu_store_commit, emu_store_wait_group, emu_prefetch_map, emu_tensormap_copy;
emu_selector emu_select_copy, emu_select_bulk;
/* peer.c */
emu_handler emu_peer_bulk;
emu_selector emu_select_store_async, emu_select_reduce_async, emu_select_peer_reduce;
/* mbarrier.c */
emu_handler emu_mbarrier_init, emu_mbarrier_inval, emu_mbarrier_pending_count, emu_fence_proxy,
    emu_fence_mbarrier_init;
emu_selector emu_select_arrive, emu_select_transfer, emu_select_wait;
