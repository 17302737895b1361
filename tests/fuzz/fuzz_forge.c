/* Kernels that forge: handles, descriptors, tensor maps, parameters, strings of printf, addresses of
 * mapa, sizes near 2^64.
 *
 * Each input is a program of operations (below) with their operands drawn from values that lie near
 * what the emulator trusts: ends of allocations and windows, true handles and others beside them, the
 * host's own addresses. It becomes PTX and runs on a cluster of two blocks of a warp. The address
 * sanitizer, and a word of the host's that no kernel knows of, say whether one got out.
 *
 *   byte 0       flags: checks, late completion, schedule, one block or two, four warps
 *   then         operation, and for each of its operands a value and a step from lane to lane */
#include "emulator/core/texture.h"
#include "emulator/emulator.h"
#include "emulator/instructions/tensormap.h"
#include "fuzz.h"

#include <stdarg.h>
#include <string.h>

/* ---- Operations ------------------------------------------------------------------------------
 * @8 a 64-bit register, @4 a 32-bit one, @b a byte as a number, @f a format string's address, @m a
 * tensor map's, @h a handle. */
static const char *const operations[] = {
    "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [@8];",
    "ld.global.u8 %r1, [@8];",
    "ld.global.nc.u32 %r1, [@8];",
    "ld.volatile.global.u64 %rd1, [@8];",
    "st.global.v2.u64 [@8], {%rd1,%rd2};",
    "st.global.u8 [@8], %r1;",
    "st.global.u32 [@8], @4;",
    "st.global.u64 [@8], @8;",
    "st.global.u16 [@m+@b], @4;",
    "st.global.u32 [@m+@b], @4;",
    "st.global.u64 [@m+@b], @8;",
    "ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [@4];",
    "ld.shared.u16 %h1, [@4];",
    "st.shared.v4.u32 [@4], {%r1,%r2,%r3,%r4};",
    "st.shared.u8 [@4], @4;",
    "ld.shared.u64 %rd1, [@8];",
    "st.shared.u64 [@8], @8;",
    "ld.shared::cluster.u32 %r1, [@4];",
    "st.shared::cluster.v4.u32 [@4], {%r1,%r2,%r3,%r4};",
    "ld.local.v2.u64 {%rd1,%rd2}, [@8];",
    "st.local.v4.u32 [@8], {%r1,%r2,%r3,%r4};",
    "ld.u64 %rd1, [@8];",
    "st.v4.u32 [@8], {%r1,%r2,%r3,%r4};",
    "st.u8 [@8], @4;",
    "ld.const.u32 %r1, [@8];",
    "ld.param.u32 %r1, [p0+@b];",
    "atom.global.add.u32 %r1, [@8], @4;",
    "atom.global.cas.b64 %rd1, [@8], @8, @8;",
    "atom.shared.exch.b32 %r1, [@4], @4;",
    "atom.min.u32 %r1, [@8], @4;",
    "red.global.add.f32 [@8], %f1;",
    "red.shared::cluster.add.u32 [@4], @4;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [@4];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [@8];",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [@4], {%r1,%r2,%r3,%r4};",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [@4], "
    "@4;",
    "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [@8], "
    "@4;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [@8], @4;",
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [@4], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, "
    "@4;",
    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [@8], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, "
    "@4;",
    "wmma.store.d.sync.aligned.row.m32n8k16.f16 [@8], {%r1,%r2,%r3,%r4}, @4;",
    "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%d1}, [@8], @4;",
    "wmma.store.d.sync.aligned.row.m8n8k4.f64 [@8], {%d1,%d2}, @4;",
    "wmma.load.a.sync.aligned.row.m8n8k128.shared.b1 {%r1}, [@4], @4;",
    "wmma.store.d.sync.aligned.row.m8n8k32.s32 [@8], {%r1,%r2}, @4;",
    "cp.async.cg.shared.global [@4], [@8], 16, @4;",
    "cp.async.ca.shared.global [@4], [@8], 4;",
    "cp.async.ca.shared.global [@4], [@8], 8, @4;",
    "cp.async.commit_group; cp.async.wait_group 0;",
    "cp.async.wait_all;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [@4];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [@4], [@8], @4, [@4];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [@8], @4, [%r21];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [@4], "
    "[@8], @4, "
    "[%r21], %h2;",
    "cp.async.bulk.global.shared::cta.bulk_group [@8], [@4], @4;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [@8], [@4], @4;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [@4], [@4], @4, [@4];",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [@4], "
    "[@4], @4, "
    "[@4];",
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
    "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [@4], [@m, "
    "{@4}], "
    "[@4];",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r20], [@m, "
    "{@4,@4}], "
    "[%r21];",
    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r20], [@m, "
    "{@4,@4,@4}], [%r21];",
    "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r20], [@m, "
    "{@4,@4,@4,@4,@4}], [%r21];",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r20], "
    "[@m, "
    "{@4,@4,@4}], [%r21], {%h1};",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [@m, {@4,@4}], [@4];",
    "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [@m, {@4,@4,@4,@4}], [%r20];",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [@m, {@4,@4}], [%r20];",
    "prefetch.tensormap [@8];",
    "prefetch.tensormap [@m];",
    "mbarrier.init.shared::cta.b64 [@4], @4;",
    "mbarrier.inval.shared::cta.b64 [@4];",
    "mbarrier.arrive.shared::cta.b64 %rd1, [@4];",
    "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [@4], @4;",
    "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r21], @4;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [@4];",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [@4], @4;",
    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [@4], @4;",
    "mbarrier.test_wait.parity.shared::cta.b64 %p1, [@4], @4;",
    "mbarrier.test_wait.shared::cta.b64 %p1, [@4], %rd1;",
    "mapa.shared::cluster.u32 %r22, @4, @4; ld.shared::cluster.u32 %r1, [%r22];",
    "mapa.u64 %rd22, @8, @4; st.u32 [%rd22], @4;",
    "getctarank.shared::cluster.u32 %r22, @4;",
    "mapa.shared::cluster.u32 %r22, @4, @4; "
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
    "[%r22], {%rd1,%rd2}, [@4];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [@4], @4, [%r21];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [@4], @4, "
    "[%r21];",
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f1,%f2,%f3,%f4}, @8, @8, "
    "1, 1, 1, 0, 1; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 "
    "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, @8, @8, 1; wgmma.commit_group.sync.aligned; "
    "wgmma.wait_group.sync.aligned 0;",
    "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [@h, {%f5}];",
    "tex.2d.v4.u32.s32 {%r1,%r2,%r3,%r4}, [@h, {@4,@4}];",
    "tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [@h, {%f5,%f6,%f7,%f7}];",
    "tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [@h, {@4,%f6,%f7,%f7}];",
    "tex.cube.v4.f32.f32 {%f1,%f2,%f3,%f4}, [@h, {%f5,%f6,%f7,%f7}];",
    "suld.b.1d.b32.clamp {%r1}, [@h, {@4}];",
    "suld.b.2d.v4.b32.zero {%r1,%r2,%r3,%r4}, [@h, {@4,@4}];",
    "suld.b.3d.b64.trap {%rd1}, [@h, {@4,@4,@4,@4}];",
    "sust.b.2d.b32.clamp [@h, {@4,@4}], {@4};",
    "sust.b.2d.v2.b64.zero [@h, {@4,@4}], {%rd1,%rd2};",
    "sust.b.a2d.b8.clamp [@h, {@4,@4,@4,@4}], {%h1};",
    "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], @f; st.param.b64 [b], @8; "
    "call.uni (c), vprintf, (a, b); }",
    "{ .param .b64 a; st.param.b64 [a], @8; call.uni inner, (a); }",
    "mov.b32 %f5, @4; mov.b32 %f6, @4; mov.b32 %f7, @4;",
    "mov.b32 %r5, @4; cvt.u16.u32 %h1, %r5; cvt.u16.u32 %h2, %r5;",
    "mov.u64 %rd1, @8; mov.u64 %rd2, @8;",
    "setp.eq.u32 %p1, %r0, 0;",
    "bar.warp.sync @4;",
    "bar.arrive @4, @4;",
    "barrier.sync @4, 32;",
    "red.shared.or.b32 [@8], @4;",
    "ld.shared::cluster.v2.u64 {%rd1,%rd2}, [@8];",
    "atom.shared::cluster.cas.b32 %r1, [@8], @4, @4;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    "prefetch.global.L2 [@8];",
    "fence.proxy.tensormap::generic.acquire.gpu [@8], 128;",
    "tensormap.replace.tile.global_address.global.b1024.b64 [@m], @8;",
    "tensormap.replace.tile.rank.global.b1024.b32 [@m], @4;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [@m], 1, @4;",
    "tensormap.replace.tile.global_dim.global.b1024.b32 [@m], 0, @4;",
    "tensormap.replace.tile.global_stride.global.b1024.b64 [@m], 0, @8;",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [@m], 9;",
    "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [@8], 2;",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [@4], 4, @4;",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [@8], @4;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [@m], "
    "[@4], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [@8], "
    "[@8], 128;",
    "atom.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [@8], {%f1,%f2,%f3,%f4};",
    "red.global.min.noftz.v8.f16 [@8], {%h1,%h1,%h1,%h1,%h2,%h2,%h2,%h2};",
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], @8; call.uni (r), malloc, (a); "
    "ld.param.b64 %rd1, [r]; }",
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], @b; call.uni (r), malloc, (a); "
    "ld.param.b64 %rd2, [r]; st.u64 [%rd2+@b], @8; }",
    "{ .param .b64 a; st.param.b64 [a], %rd2; call.uni free, (a); } ld.u32 %r1, [%rd2];",
    "{ .param .b64 a; st.param.b64 [a], @8; call.uni free, (a); }",
    "shfl.sync.idx.b32 %r1, %r2, @4, @4, -1;",
    "bar.sync 0;",
    "fence.proxy.async;",
    "isspacep.shared %p1, @8;",
    "cvta.shared.u64 %rd1, @8;",
    "cvta.to.local.u64 %rd1, @8;",
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

/* ---- Values ------------------------------------------------------------------------------------ */

enum { BUFFER_BYTES = 4096, N_MAPS = 6, MAPS_AT = 2048, FORMATS_AT = 3072 };
static uint64_t secret = 0x5ec2e7;
static uint64_t buffer, handles[4];

static const uint8_t *input, *input_end;
static uint8_t take(void) { return input < input_end ? *input++ : 0; }

static uint64_t value_of(void) {
    uint64_t near[] = {0,
                       buffer,
                       buffer + BUFFER_BYTES,
                       buffer + MAPS_AT,
                       buffer + FORMATS_AT,
                       (uint64_t)(uintptr_t)&secret,
                       UINT64_MAX,
                       (uint64_t)1 << 63,
                       (uint64_t)1 << 32,
                       1u << 31,
                       handles[0],
                       handles[1],
                       handles[2],
                       handles[3],
                       EMU_SHARED_WINDOW,
                       EMU_SHARED_WINDOW + EMU_WINDOW_BYTES,
                       EMU_LOCAL_WINDOW,
                       EMU_LOCAL_WINDOW + EMU_WINDOW_BYTES,
                       EMU_CLUSTER_WINDOW,
                       EMU_CLUSTER_WINDOW + EMU_WINDOW_BYTES,
                       EMU_CLUSTER_WINDOW + 2 * EMU_WINDOW_BYTES,
                       8192,
                       8192 + 64,
                       1u << 24,
                       1u << 20,
                       0x40000,
                       64,
                       1024,
                       4,
                       16,
                       32,
                       128,
                       256};
    uint8_t which = take();
    if (which >= 250) { /* any number */
        uint64_t any = 0;
        for (int n = 0; n < 8; n++) any = any << 8 | take();
        return any;
    }
    uint64_t base = near[which % (sizeof near / sizeof *near)];
    static const int32_t off[] = {0, 0, 0, 0, 1, -1, 8, -8, 16, -16, 4, -4, 64, -64, 128, -2};
    return base + (uint64_t)(int64_t)off[take() % 16];
}

struct text {
    char at[65536];
    size_t n;
};
static void put(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->n, sizeof t->at - t->n, format, args);
    va_end(args);
    if (n > 0 && t->n + (size_t)n < sizeof t->at) t->n += (size_t)n;
}

/* A register with a value of its own for each lane. */
static int operand(struct text *before, char kind, int k) {
    static const uint64_t steps[] = {
        0, 0, 0, 1, 4, 8, 16, 128, (uint64_t)1 << 20, (uint64_t)1 << 31};
    uint64_t value, step = 0;
    if (kind == 'm')
        value = buffer + MAPS_AT + 128 * (take() % N_MAPS);
    else if (kind == 'f')
        value = buffer + FORMATS_AT + take() % 128 * 4;
    else if (kind == 'h' && take() % 4)
        value = handles[take() % 4];
    else
        value = value_of(), step = steps[take() % 10];
    put(before, "mov.u64 %%x%d, %llu;\nmad.lo.u64 %%x%d, %%lane, %llu, %%x%d;\n", k,
        (unsigned long long)value, k, (unsigned long long)step, k);
    if (kind == '4') put(before, "cvt.u32.u64 %%y%d, %%x%d;\n", k, k);
    return k;
}

static void operation(struct text *body) {
    static struct text line;
    line.n = 0;
    const char *form = operations[take() % N_OPERATIONS];
    bool guarded = take() % 3 == 0;
    int k = 0;
    for (const char *c = form; *c; c++) {
        if (*c != '@') {
            put(&line, "%c", *c);
            continue;
        }
        c++;
        if (*c == 'b')
            put(&line, "%d", take() % 128);
        else
            put(&line, "%%%c%d", *c == '4' ? 'y' : 'x', operand(body, *c, k)), k++;
    }
    put(body, "%s%s\n", guarded && form[0] != '{' && !strchr(form, ';')[1] ? "@%one " : "",
        line.at);
    line.at[0] = 0;
}

/* ---- Running ------------------------------------------------------------------------------------ */

static void make_objects(struct emu_memory *m) {
    struct emu_texture t = {.data = buffer,
                            .bytes = 1024,
                            .extent = {8, 8, 2},
                            .pitch = 64,
                            .slice = 512,
                            .channels = 2,
                            .channel_bytes = 4,
                            .texel = EMU_TEXEL_FLOAT,
                            .edge = {EMU_EDGE_WRAP, EMU_EDGE_MIRROR, EMU_EDGE_CLAMP},
                            .normalized = true,
                            .linear = true};
    if (emu_texture_make(m, &t, &handles[0])) abort();
    t.linear = t.normalized = false, t.texel = EMU_TEXEL_UNSIGNED;
    t.channels = 4, t.channel_bytes = 1, t.edge[0] = t.edge[1] = EMU_EDGE_BORDER;
    if (emu_texture_make(m, &t, &handles[1])) abort();
    t.is_surface = true, t.extent[0] = 3;
    if (emu_texture_make(m, &t, &handles[2])) abort();
    t.channels = 4, t.channel_bytes = 4, t.extent[0] = 4;
    if (emu_texture_make(m, &t, &handles[3])) abort();
}

static void make_maps(unsigned char *at) {
    for (int n = 0; n < N_MAPS; n++) {
        struct tensormap m = {.base = buffer,
                              .rank = n < 5 ? n + 1 : 3,
                              .element_bytes = 1 << n % 4,
                              .swizzle_bytes = n == 1   ? 32
                                               : n == 2 ? 128
                                                        : 0};
        m.im2col = n == 5;
        for (int d = 0; d < m.rank; d++) {
            m.extent[d] = d ? 4 : 32;
            m.stride[d] = d ? 64u << d : 0;
            m.box[d] = d ? 2 : 16;
        }
        if (tensormap_encode(&m, at + 128 * n)) abort();
    }
}

static const char head[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 a);\n"
    ".const .align 16 .b8 c[64];\n"
    ".func inner(.param .b64 a)\n{\n.reg .b64 %x<4>;\n.local .align 8 .b8 own[64];\n"
    "ld.param.u64 %x1, [a];\nst.local.u64 [own], %x1;\nst.local.u64 [%x1], %x1;\nret;\n}\n"
    ".visible .entry forge(.param .u64 p0, .param .align 64 .b8 p1[128])\n{\n"
    ".reg .pred %p<4>;\n.reg .pred %one;\n.reg .f32 %f<10>;\n.reg .b32 %r<30>;\n.reg .b64 "
    "%rd<30>;\n"
    ".reg .b16 %h<4>;\n.reg .f64 %d<4>;\n.reg .b64 %x<12>;\n.reg .b32 %y<12>;\n.reg .b64 %lane;\n"
    ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n.local .align 16 .b8 "
    "local[64];\n"
    "mov.u32 %r0, %tid.x;\ncvt.u64.u32 %lane, %r0;\nsetp.eq.u32 %one, %r0, 0;\n"
    "mov.u32 %r20, tile;\nmov.u32 %r21, bar;\n@%one mbarrier.init.shared::cta.b64 [%r21], 1;\n"
    "bar.sync 0;\n";

static void quiet(void) { /* what kernels print goes nowhere */
    static bool done;
    if (!done && !freopen("/dev/null", "w", stdout)) abort();
    done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct text body;
    static struct emu_result *result;
    struct emu_memory *memory;
    struct emu_module *module = NULL;
    if (!bytes) return 0;
    quiet();
    input = data, input_end = data + (bytes < 400 ? bytes : 400);
    if (!result && emu_result_open(&result)) abort();
    if (emu_memory_open(&memory) || emu_memory_alloc(memory, BUFFER_BYTES, &buffer)) abort();
    unsigned char *host = emu_memory_at(memory, buffer, BUFFER_BYTES);
    memset(host, 0, BUFFER_BYTES);
    make_objects(memory);
    make_maps(host + MAPS_AT);
    for (size_t n = 0; n < 1000; n++) { /* format strings: from the input, between percent signs */
        static const char letters[] = "%%%%sdfcxnlh.*-+ #0123456789%peg";
        host[FORMATS_AT + n] = (unsigned char)letters[data[n % bytes] % 32];
        if (n % 64 == 63) host[FORMATS_AT + n] = 0;
    }
    const uint8_t flags = take();
    body.n = 0;
    put(&body, "%s", head);
    for (int n = 0; n < 24 && input < input_end; n++) operation(&body);
    put(&body, "ret;\n}\n");
    const char *why = emu_module_open(memory, body.at, body.n, "forge", &module);
    if (why) { /* an operation above is none that the emulator runs */
        fprintf(stderr, "%s\n", why);
        abort();
    } else {
        struct emu_options options = {.n_threads = 1,
                                      .max_instructions = 4000,
                                      .timeout_s = 0.5,
                                      .no_checks = flags & 1,
                                      .async_early = flags & 2,
                                      .schedule =
                                          flags >> 2 & 1 ? EMU_ADVERSARIAL : EMU_ROUND_ROBIN};
        uint32_t blocks = flags >> 3 & 1 ? 2 : 1;
        struct emu_grid g = {.grid = {2, 1, 1},
                             .cluster = {blocks, 1, 1},
                             .block = {flags >> 4 & 1 ? 128 : 32, 1, 1},
                             .n_args = 2,
                             .arg = {&buffer, host + MAPS_AT},
                             .arg_bytes = {8, 128}};
        why = emu_launch(memory, emu_module_kernel(module, "forge"), &g, chip_find("h200"),
                         &options, result);
        for (int i = 0; getenv("FORGE_PRINT") && i < emu_result_reports(result); i++)
            fprintf(stderr, "%s\n", emu_result_report(result, i));
        for (int i = 0; i < emu_result_reports(result); i++)
            if (!*emu_result_report(result, i)) abort();
        emu_result_clear(result);
        emu_module_close(module);
    }
    if (getenv("FORGE_PRINT")) fprintf(stderr, "%sWHY %s\n", body.at, why ? why : "");
    if (secret != 0x5ec2e7) abort();
    emu_memory_close(memory);
    return 0;
}
