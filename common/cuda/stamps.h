/* What an instrumented image (stamps.cuh) writes, and whoever reads it: for each warp of the first block the
 * stamps of its first lane, in order. A stamp is its kind in the upper 32 bits, and the SM's clock; the
 * first that is 0 was not written. */
#pragma once

enum stamp {
    STAMP_BEGIN = 1, /* the kernel's work may begin */
    STAMP_FULL,      /* waits at an mbarrier: TMA, or those who read what it is to overwrite */
    STAMP_TURN,      /* waits at a barrier for other warps */
    STAMP_PRODUCTS,  /* waits for its own WGMMAs */
    STAMP_ISSUE,     /* begins to issue WGMMAs */
    STAMP_LOAD,      /* asks TMA for a tile */
    STAMP_GOES_ON    /* the wait is over, or all is issued */
};
enum { STAMP_WARPS = 16, STAMP_ROOM = 1 << 14 };
#define STAMP_SYMBOL "stamps" /* uint64_t [STAMP_WARPS][STAMP_ROOM] */
