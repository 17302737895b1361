/* Kernels that forge what the emulator trusts: handles, maps, strides, strings. Each must be reported,
 * and none may touch memory that is not the kernel's. */
#include "emu.h"
#include "emulator/instructions/tensormap.h"

#include "tests/test.h"

#include <string.h>

static struct emu_test t;

/* Runs the body on one warp; %rd0 is the address of `data`, 4096 bytes of which `bytes` are given. */
static const char *run(const char *declarations, const char *body, void *data, size_t bytes) {
    unsigned char buffer[4096] = {0};
    void *arg[] = {buffer};
    memcpy(buffer, data, bytes);
    const char *why = emu_test_run(&t, emu_test_kernel(1, declarations, body), "test", 1, 32, 0, 1,
                                   arg, (const size_t[]){sizeof buffer});
    memcpy(data, buffer, bytes);
    return why;
}

/* ---- Textures and surfaces ------------------------------------------------------------------- */

/* The kernel writes what once was the description of a surface whose second row begins at the host's
 * `secret`, and stores 666 there. */
static void test_forged_surface(void **state) {
    (void)state;
    uint32_t secret = 42;
    uint64_t target[] = {(uint64_t)(uintptr_t)&secret};
    emu_test_open(&t);
    assert_fine(
        run("",
            "ld.global.u64 %rd1, [%rd0];\nsub.s64 %rd2, %rd1, %rd0;\nmov.u64 %rd3, 64;\n"
            "mov.u32 %r1, 0x78657454;\nst.global.u32 [%rd0], %r1;\n"          /* magic number */
            "st.global.u64 [%rd0+8], %rd0;\nst.global.u64 [%rd0+16], %rd3;\n" /* data, bytes */
            "mov.u32 %r1, 4096;\nst.global.u32 [%rd0+24], %r1;\n"
            "st.global.u32 [%rd0+28], %r1;\nst.global.u32 [%rd0+32], %r1;\n" /* extent */
            "st.global.u64 [%rd0+40], %rd2;\n"                               /* pitch */
            "mov.u32 %r1, 0x0401;\nst.global.u16 [%rd0+56], %r1;\n"          /* channels */
            "mov.u32 %r1, 1;\nst.global.u8 [%rd0+62], %r1;\n"                /* it is a surface */
            "mov.u32 %r2, 0;\nmov.u32 %r3, 1;\nmov.u32 %r4, 666;\n"
            "sust.b.2d.b32.trap [%rd0, {%r2, %r3}], {%r4};\n",
            target, sizeof target));
    assert_int_equal(secret, 42);
    assert_non_null(emu_test_report(&t, "is the handle of no surface object"));
    assert_non_null(emu_test_report(&t, "cudaCreateSurfaceObject"));
    emu_test_close(&t);
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* A vector has as many registers on both sides: fewer on the left would let it write others' rows. */
static void test_atomic_vector(void **state) {
    (void)state;
    uint32_t data[4] = {0};
    emu_test_open(&t);
    const char *why =
        run("", "atom.global.min.noftz.v4.bf16 {%h1, %h2}, [%rd0], {%h1, %h2, %h3, %h1};\n", data,
            sizeof data);
    assert_non_null(why);
    assert_non_null(strstr(why, "the number of registers is not that of its vector"));
    emu_test_close(&t);
}

/* ---- Shared memory --------------------------------------------------------------------------- */

#define BARRIER                                                                                    \
    "setp.eq.u32 %p1, %r0, 0;\nmov.u32 %r9, bar;\n@%p1 mbarrier.init.shared::cta.b64 [%r9], 1;\n"  \
    "bar.sync 0;\n"

/* st.async to an offset far behind the block's memory, with and without the check for races. */
static void test_store_async(void **state) {
    (void)state;
    for (int no_races = 0; no_races < 2; no_races++) {
        emu_test_open(&t);
        t.options.no_checks = no_races;
        assert_fine(run(".shared .align 8 .b64 bar;",
                        BARRIER
                        "mov.u32 %r1, 0x7ffff0;\n"
                        "@%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                        "[%r1], %r0, [%r9];\n",
                        (uint32_t[]){0}, 4));
        assert_non_null(emu_test_report(&t, "at shared address 0x7ffff0, but the block has"));
        emu_test_close(&t);
    }
}

/* A stride of wmma whose product passes 2^32: the sum must not come back into the block's memory. */
static void test_wmma_stride(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "mov.u32 %r1, tile;\nmov.u32 %r2, 0x40000000;\n"
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], "
        "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %r2;\n",
        "mov.u32 %r1, tile;\nmov.u32 %r2, 0x80000000;\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
        "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r1], %r2;\n",
        "mov.u32 %r1, tile;\nmov.u32 %r2, 0x1fffffff;\n"
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1+64], "
        "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %r2;\n",
    };
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        emu_test_open(&t);
        assert_fine(run(".shared .align 128 .b8 tile[8192];", bodies[n], (uint32_t[]){0}, 4));
        assert_non_null(emu_test_report(&t, "shared address"));
        emu_test_close(&t);
    }
}

/* ---- Tensor maps ------------------------------------------------------------------------------ */

/* A box of 2^32 bytes, which a sum of 32 bits takes for none; the map is right otherwise, and lies in
 * memory that the kernel writes. */
static void test_box_overflow(void **state) {
    (void)state;
    unsigned char data[256] = {0};
    struct tensormap m = {.base = 16,
                          .rank = 4,
                          .element_bytes = 1,
                          .extent = {256, 256, 256, 256},
                          .stride = {1, 256, 65536, 65536},
                          .box = {256, 256, 256, 256}};
    assert_fine(tensormap_encode(&m, data));
    emu_test_open(&t);
    assert_fine(run(".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 bar;",
                    BARRIER "st.global.u64 [%rd0+8], %rd0;\nmov.u32 %r1, tile;\nmov.u32 %r2, 0;\n"
                            "@%p1 cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::"
                            "complete_tx::bytes [%r1], [%rd0, {%r2, %r2, %r2, %r2}], [%r9];\n",
                    data, sizeof data));
    assert_non_null(emu_test_report(&t, "box takes 4294967296 bytes of shared memory"));
    emu_test_close(&t);
}

/* The host's address in a map is an address like any other: it is not inside an allocation. */
static void test_map_to_host(void **state) {
    (void)state;
    static _Alignas(16) uint32_t secret[64];
    unsigned char data[256] = {0};
    struct tensormap m = {.base = (uint64_t)(uintptr_t)secret,
                          .rank = 1,
                          .element_bytes = 4,
                          .extent = {64},
                          .box = {64}};
    assert_fine(tensormap_encode(&m, data));
    emu_test_open(&t);
    assert_fine(
        run(".shared .align 128 .b8 tile[1024];",
            "mov.u32 %r1, tile;\nmov.u32 %r2, 0;\nsetp.eq.u32 %p1, %r0, 0;\n"
            "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd0, {%r2}], "
            "[%r1];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
            data, sizeof data));
    assert_int_equal(secret[0], 0);
    assert_non_null(emu_test_report(&t, "not inside one allocation"));
    emu_test_close(&t);
}

/* ---- Constant memory -------------------------------------------------------------------------- */

static void test_constants(void **state) {
    (void)state;
    static const char *const bodies[] = {
        /* lane 0 writes to an allocation of its own, below */
        "mov.u64 %rd1, g;\nmov.u64 %rd2, c;\nsetp.eq.u32 %p1, %r0, 0;\n"
        "selp.b64 %rd1, %rd1, %rd2, %p1;\nmov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\n"
        "ld.const.u32 %r2, [c];\nst.global.u32 [%rd0], %r2;\n",
        /* the copy engine does */
        "mov.u64 %rd2, c;\nmov.u32 %r1, tile;\nmov.u32 %r3, 7;\nst.shared.u32 [%r1], %r3;\n"
        "fence.proxy.async.shared::cta;\nsetp.eq.u32 %p1, %r0, 0;\n"
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
        "ld.const.u32 %r2, [c];\nst.global.u32 [%rd0], %r2;\n"};
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        uint32_t seen[] = {42};
        emu_test_open(&t);
        t.options.no_checks = true;
        assert_fine(run(".global .align 16 .b8 g[64];\n.const .align 16 .b8 c[64];\n"
                        ".shared .align 16 .b8 tile[16];",
                        bodies[n], seen, sizeof seen));
        assert_int_equal(seen[0], 0);
        assert_true(emu_result_reports(t.result) > 0);
        emu_test_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forged_surface), cmocka_unit_test(test_atomic_vector),
        cmocka_unit_test(test_store_async),    cmocka_unit_test(test_wmma_stride),
        cmocka_unit_test(test_box_overflow),   cmocka_unit_test(test_map_to_host),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
