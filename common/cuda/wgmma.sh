#!/bin/bash
# wgmma.sh: prints build/include/wgmma.cuh, wgmma.mma_async.m64nNk16 for N = 8, 16 ... 256. nvcc knows
# the operands of an asm statement by number only, and all N / 2 accumulators must be written out: that
# is why this is generated, and not written by hand.
#
# Operand numbers, results first:
#   %0 ... %(N/2 - 1)   d[0][0] ... d[N / 8 - 1][3]
#   then                A: a_desc, or a[0] ... a[3]; b_desc; use_d; what is K-major (immediates)
awk '
function numbers(first, n,    i, text) { # "%4,%5,%6"
    for (i = first; i < first + n; i++) text = text (i > first ? "," : "") "%" i
    return text
}

# One wgmma: `a` is how the text names A, n_a how many operands that takes, `inputs` all operands
# but the accumulators, n_majors how many immediates end them.
function wgmma(n, a, n_a, inputs, n_majors,    i, d, b) {
    d = n / 2
    b = d + n_a
    printf "    %sif constexpr (N == %d)\n", (n > 8 ? "else " : ""), n
    printf "        asm volatile(\n            \"{ .reg .pred p;\\n setp.ne.b32 p, %%%d, 0;\\n\"\n", b + 1
    printf "            \"wgmma.mma_async.sync.aligned.m64n%dk16.f32.\" F16 \".\" F16 \" {\"\n", n
    for (i = 0; i < d; i += 16)
        printf "            \"%s%s\"\n", numbers(i, d - i < 16 ? d - i : 16), (i + 16 < d ? "," : "")
    printf "            \"}, %s, %%%d, p, 1, 1, %s; }\"\n", a, b, numbers(b + 2, n_majors)
    for (i = 0; i < n / 8; i++)
        printf "            %s \"+f\"(d[%d][0]), \"+f\"(d[%d][1]), \"+f\"(d[%d][2]), \"+f\"(d[%d][3])%s\n",
               (i ? " " : ":"), i, i, i, i, (i + 1 < n / 8 ? "," : "")
    printf "            : %s);\n", inputs
}

BEGIN {
    print "/* D = A B^T (use_d 0) or D += A B^T (1): wgmma.mma_async.m64nNk16, A and B fp16 or bf16 (F16,"
    print " * ptx.cuh), D fp32."
    print " * Written by common/cuda/wgmma.sh, which says why; included by ptx_sm90.cuh."
    print " *"
    print " *   d (64, N)   accumulators in tile units, d[N / 8][4]: one block of 8 columns each"
    print " *   a (64, 16)  a_desc: in shared memory, with k contiguous (K_MAJOR) or m (MN_MAJOR)"
    print " *               a[4]: in registers; a[r] holds row 16 warp + lane / 4 + 8 (r % 2),"
    print " *               columns 2 (lane % 4) + 8 (r / 2) and the next"
    print " *   b (N, 16)   b_desc: in shared memory, with k contiguous or n */"
    print "#pragma once\n"
    print "#include <stdint.h>\n"
    print "constexpr int K_MAJOR = 0, MN_MAJOR = 1; // the immediates trans-a and trans-b\n"

    print "/* A and B in shared memory. */"
    print "template <int N, int A_MAJOR = K_MAJOR, int B_MAJOR = K_MAJOR>"
    print "static __device__ __forceinline__ void wgmma_m64k16_ss(float (&d)[N / 8][4], uint64_t a_desc,"
    print "                                                       uint64_t b_desc, int use_d) {"
    check = "    static_assert(N % 8 == 0 && N >= 8 && N <= 256, \"wgmma takes N = 8, 16 ... 256\");"
    print check
    for (n = 8; n <= 256; n += 8)
        wgmma(n, "%" n / 2, 1,
              "\"l\"(a_desc), \"l\"(b_desc), \"r\"(use_d), \"n\"(A_MAJOR), \"n\"(B_MAJOR)", 2)
    print "}\n"

    print "/* A in registers, B in shared memory: N-major unless said otherwise, as V is (P V). */"
    print "template <int N, int B_MAJOR = MN_MAJOR>"
    print "static __device__ __forceinline__ void wgmma_m64k16_rs(float (&d)[N / 8][4], const uint32_t (&a)[4],"
    print "                                                       uint64_t b_desc, int use_d) {"
    print check
    for (n = 8; n <= 256; n += 8)
        wgmma(n, "{" numbers(n / 2, 4) "}", 4,
              "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b_desc), \"r\"(use_d), \"n\"(B_MAJOR)", 1)
    print "}"
}'
