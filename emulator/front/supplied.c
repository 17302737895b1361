/* What a GPU's linker takes from libcudadevrt, and a module may only declare: Numba's grid.sync(). The barrier lies in
 * the workspace of cooperative launches (emu_memory_workspace), behind what CUDA's own headers use there: a count of the
 * blocks that have come, and how often all had come. */
#include "parser.h"

#include <string.h>

static const char grid_sync[] =
    "\n.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    ".reg .b32 %low, %high;\n.reg .b64 %at;\n"
    "mov.u32 %high, %envreg1;\nmov.u32 %low, %envreg2;\nmov.b64 %at, {%low, %high};\n"
    "st.param.b64 [handle], %at;\nret;\n}\n"
    ".func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
    ".reg .b32 %t, %n, %m, %came, %before, %now;\n.reg .b64 %at;\n.reg .pred %p;\n"
    "ld.param.b64 %at, [handle];\n"
    "setp.eq.u64 %p, %at, 0;\n@%p trap;\n" /* no cooperative launch */
    "barrier.sync 0;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %n, %tid.y;\nmov.u32 %m, %tid.z;\n"
    "or.b32 %t, %t, %n;\nor.b32 %t, %t, %m;\nsetp.ne.u32 %p, %t, 0;\n@%p bra waits;\n"
    "mov.u32 %n, %nctaid.x;\nmov.u32 %m, %nctaid.y;\nmul.lo.u32 %n, %n, %m;\n"
    "mov.u32 %m, %nctaid.z;\nmul.lo.u32 %n, %n, %m;\nsub.u32 %n, %n, 1;\n"
    "fence.acq_rel.gpu;\n"
    "ld.relaxed.gpu.u32 %before, [%at+36];\n"
    "atom.acq_rel.gpu.inc.u32 %came, [%at+32], %n;\n" /* the last one sets it to 0 */
    "setp.ne.u32 %p, %came, %n;\n@%p bra poll;\n"
    "red.release.gpu.add.u32 [%at+36], 1;\nbra.uni all;\n"
    "poll:\nld.acquire.gpu.u32 %now, [%at+36];\nsetp.eq.u32 %p, %now, %before;\n@%p bra poll;\n"
    "all:\nfence.acq_rel.gpu;\n"
    "waits:\nbarrier.sync 0;\n"
    "mov.u32 %t, 0;\nst.param.b32 [error], %t;\nret;\n}\n";

const char *ptx_supplied(const char *text, size_t bytes) {
    static const char name[] = "cudaCGSynchronize", external[] = ".extern";
    const char *line = bytes ? memmem(text, bytes, name, sizeof name - 1) : NULL;
    while (line && line > text && line[-1] != '\n') line--;
    return line && !strncmp(line, external, sizeof external - 1) ? grid_sync : "";
}
