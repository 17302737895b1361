/* Machine code: cubins whose bytes were changed, and instructions with registers that forge.
 *
 *   byte 0 = 0x7f    a cubin, read as far as nvdisasm is not needed for it
 *   else             flags, 16 bytes of registers, then lines of text as nvdisasm writes them: decoded
 *                    and run as code of sm_90a by a cluster of two blocks, or by two blocks as code of sm_89
 *
 * Registers hold values near what the emulator trusts: R0 and UR4 with their neighbours an address of
 * global memory, R4 one near 2^64, R8 to R11 shared addresses, R12 one of another block, R16 a tensor
 * map's, R20 the host's own; UR16 to UR19 and UR32 to UR35 are descriptors. */
#include "emulator/instructions/tensormap.h"
#include "emulator/sass/elf.h"
#include "emulator/sass/exec.h"
#include "fuzz.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t max_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed);

/* ---- Cubins ------------------------------------------------------------------------------------ */

static volatile unsigned long seen;
static void look(const unsigned char *p, size_t n) {
    for (size_t i = 0; p && i < n; i++) seen += p[i];
}

static void read_cubin(const uint8_t *data, size_t bytes) {
    static const char *const names[] = {".text.",         ".nv.info.",     ".nv.shared.",
                                        ".nv.constant2.", ".nv.constant3", ".nv.constant4",
                                        ".nv.info"};
    char path[32];
    struct sass_elf e;
    int fd = fuzz_file(data, bytes, path);
    if (!sass_elf_open(path, &e)) {
        seen += (unsigned)sass_elf_sm(&e);
        uint32_t in;
        uint64_t value, where;
        int64_t addend;
        int symbol;
        const char *name;
        for (int s = 0; s < 64 && (name = sass_elf_symbol(&e, s, &in, &value)); s++)
            look((const unsigned char *)name, strlen(name));
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct sass_section section;
            struct sass_attribute a;
            if (!sass_elf_section(&e, names[k], k < 4 ? "attention" : "", &section)) continue;
            look(section.data, section.bytes);
            for (size_t at = 0; sass_elf_attribute(&section, &at, &a);) look(a.data, a.bytes);
            for (int n = 0;
                 n < 64 && sass_elf_address(&e, section.index, n, &where, &symbol, &addend); n++)
                sass_elf_symbol(&e, symbol, &in, &value);
        }
        sass_elf_close(&e);
    }
    close(fd);
}

/* ---- Instructions ------------------------------------------------------------------------------- */

enum { MAX_LINES = 24, BUFFER_BYTES = 4096, MAP_AT = 1024 };
enum {                /* of the flags */
       WARPGROUP = 1, /* 4 warps, not 1 */
       ROUGH = 2,     /* some operations in their fast form */
       EFFECTS = 4,   /* each step says what it did */
       HOST_MAP = 8,  /* the tensor map leads to the host's own memory */
       LARGE_BOX = 16,
       ADA = 32,
       ALL_FLAGS = 63,
};
static uint64_t secret = 0x5ec2e7;

struct program {
    struct sass_kernel kernel;
    struct sass_code code;
    struct sass_inst inst[MAX_LINES + 1];
    struct sass_exec exec[MAX_LINES + 1];
};

static void decode(struct program *p, const char *text, const uint8_t *bits, bool ada) {
    const struct sass_symbol self = {"fuzz", 0};
    int n = 0;
    p->code.exec = p->exec;
    p->code.sm = ada ? 89 : 90;
    for (const char *line = text; *line && n < MAX_LINES;) {
        char opcode[64] = "", operands[192] = "", guard[16] = "";
        size_t length = strcspn(line, "\n"), at = 0;
        if (line[0] == '@') {
            at = strcspn(line, " \n");
            snprintf(guard, sizeof guard, "%.*s", (int)(at < 15 ? at : 15), line);
            at += line[at] == ' ';
        }
        size_t word = strcspn(line + at, " \n");
        snprintf(opcode, sizeof opcode, "%.*s", (int)(word < 63 ? word : 63), line + at);
        if (at + word < length)
            snprintf(operands, sizeof operands, "%.*s", (int)(length - at - word - 1),
                     line + at + word + 1);
        const uint64_t words[2] = {(uint64_t)bits[n % 8] << 56 | bits[n % 16],
                                   (uint64_t)bits[n % 5] << 40};
        const char *why = sass_decode(&p->code, &(struct sass_text){opcode, operands, guard}, words,
                                      16u * (uint32_t)n, &self, 1, &p->inst[n], &p->exec[n]);
        if (why) p->exec[n].more = strdup(why);
        n++;
        line += length + (line[length] == '\n');
    }
    sass_decode(&p->code, &(struct sass_text){"EXIT", "", ""}, (uint64_t[2]){0, 0},
                16u * (uint32_t)n, NULL, 0, &p->inst[n], &p->exec[n]);
    p->kernel = (struct sass_kernel){.name = "fuzz",
                                     .sm = p->code.sm,
                                     .exec = &p->code,
                                     .inst = p->inst,
                                     .n_inst = n + 1,
                                     .n_registers = 255,
                                     .param_base = ada ? 0x160 : 0x210,
                                     .param_bytes = 136};
    p->code.n_params = 2;
    p->code.param_offset[1] = 8, p->code.param_size[0] = 8, p->code.param_size[1] = 128;
    for (int i = 0; i <= n; i++)
        if (p->exec[i].target > (uint32_t)n) p->exec[i].target = (uint32_t)n;
    p->code.row_bytes = SASS_ROW_CONST + (uint32_t)p->code.n_constants * SASS_ROW;
}

static void set(struct sass_warp *w, uint32_t row, uint64_t value, uint64_t step) {
    for (uint32_t l = 0; l < 32; l++) {
        sass_row(w, row)[l] = (uint32_t)(value + l * step);
        sass_row(w, row + SASS_ROW)[l] = (uint32_t)((value + l * step) >> 32);
    }
}

static void set_registers(struct sass_warp *w, uint64_t buffer, const uint8_t *d) {
    static const uint32_t places[] = {0, 0x400, 0x408, 0x500, 0x23f8, 0x2400, 0xfffff8, 0x3fff0};
    const uint64_t globals[] = {buffer,
                                buffer + BUFFER_BYTES,
                                buffer + BUFFER_BYTES - 4,
                                buffer - 16,
                                buffer + 64,
                                0,
                                UINT64_MAX,
                                (uint64_t)SASS_SWINHI << 32 | 0x1000400};
    const uint64_t desc = (uint64_t)(d[4] & 3) << 62 | (uint64_t)d[5] << 32 | (uint64_t)d[6] << 16;
    const uint32_t ur = SASS_ROW_UR;
    set(w, 0, globals[d[0] & 7], d[0] >> 3);
    set(w, 4 * SASS_ROW, UINT64_MAX - d[1], d[1] & 1 ? 4 : 0);
    set(w, 8 * SASS_ROW, places[d[2] & 7], d[2] >> 4);
    set(w, 10 * SASS_ROW, places[d[3] & 7], d[3] & 0xf0);
    set(w, 12 * SASS_ROW, (uint64_t)SASS_SWINHI << 32 | (uint32_t)d[7] << 24 | places[d[8] & 7], 4);
    set(w, 16 * SASS_ROW, buffer + MAP_AT, 0);
    set(w, 20 * SASS_ROW, (uint64_t)(uintptr_t)&secret, 0);
    set(w, ur + 4 * SASS_ROW, globals[d[9] & 7], 0);
    set(w, ur + 6 * SASS_ROW, places[d[10] & 7], 0);
    set(w, ur + 8 * SASS_ROW, places[d[11] & 7] | (uint64_t)places[d[12] & 7] << 32, 0);
    set(w, ur + 10 * SASS_ROW, (uint64_t)d[13] << 32 | (d[13] & 0x80 ? 0xfffffff0 : 0), 0);
    set(w, ur + 12 * SASS_ROW, buffer + MAP_AT, 0);
    set(w, ur + 14 * SASS_ROW, UINT64_MAX - 127, 0);
    for (uint32_t r = 16; r < 62; r += 2)
        set(w, ur + r * SASS_ROW, desc | (uint64_t)d[14] << 6 | d[15] << (r % 8), 0);
}

static void execute(struct sass_cta *cta[2], uint64_t buffer, const uint8_t *data) {
    int n = sass_cta_warps(cta[0]);
    for (int c = 0; c < 2; c++)
        for (int w = 0; w < n; w++) set_registers(sass_cta_warp(cta[c], w), buffer, data + 1);
    static struct sass_effect effect;
    bool dead = false;
    int products = 0; /* with sanitizers one takes milliseconds */
    for (int turn = 0; turn < 400 && !dead; turn++) {
        struct sass_warp *w = sass_cta_warp(cta[turn & 1], turn / 2 % n);
        const struct sass_inst *next = sass_next(w);
        if (!next) continue;
        if (next->op == SASS_OP_HGMMA && ++products > 4) break;
        dead = sass_step(w, data[0] & EFFECTS ? &effect : NULL) == SASS_FAULT;
        if (dead && !*sass_fault(w)) abort();
    }
    for (int c = 0; c < 2; c++) sass_cta_end(cta[c]);
}

static void run(const uint8_t *data, size_t bytes) {
    static struct program p;
    static char text[4096];
    struct emu_memory *m;
    struct sass_grid *g;
    struct sass_cta *cta[2];
    const bool ada = bytes && data[0] & ADA;
    uint64_t buffer;
    memset(&p, 0, sizeof p);
    if (bytes < 18 || bytes - 17 >= sizeof text) return;
    memcpy(text, data + 17, bytes - 17);
    text[bytes - 17] = 0;
    decode(&p, text, data + 1, ada);
    if (emu_memory_open(&m) || emu_memory_alloc(m, BUFFER_BYTES, &buffer)) abort();
    unsigned char *host = emu_memory_at(m, buffer, BUFFER_BYTES);
    memset(host, data[1], BUFFER_BYTES);
    struct tensormap map = {.base =
                                data[0] & HOST_MAP ? (uint64_t)(uintptr_t)&secret & ~15ull : buffer,
                            .rank = 2,
                            .element_bytes = 2,
                            .extent = {64, 64},
                            .stride = {2, 128},
                            .box = {32, data[0] & LARGE_BOX ? 256 : 8}};
    if (tensormap_encode(&map, host + MAP_AT)) abort();
    struct emu_grid l = {.grid = {2, 1, 1},
                         .cluster = {ada ? 1 : 2, 1, 1},
                         .block = {data[0] & WARPGROUP ? 128 : 32, 1, 1},
                         .shared_bytes = 8192,
                         .n_args = 2,
                         .arg = {&buffer, host + MAP_AT},
                         .arg_bytes = {8, 128}};
    if (sass_grid_open(m, &p.kernel, &l, &g)) abort();
    g->rough = data[0] & ROUGH;
    const char *why = sass_cluster_begin(g, 0, cta);
    if (ada && !why && (why = sass_cta_begin(g, 1, &cta[1]))) sass_cta_end(cta[0]);
    if (why && !ada) abort(); /* of sm_89 a constant may lie outside of its bank */
    if (!why) execute(cta, buffer, data);
    sass_grid_close(g);
    emu_memory_close(m);
    for (int i = 0; i <= MAX_LINES; i++) free(p.exec[i].more);
    free(p.code.constant);
    free(p.code.from);
    if (secret != 0x5ec2e7) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes && data[0] == 0x7f)
        read_cubin(data, bytes);
    else
        run(data, bytes);
    return 0;
}

/* ---- Mutating ------------------------------------------------------------------------------------ */

static const char *const lines[] = {
    "LDG.E R24,desc[UR4][R0.64]",
    "LDG.E.128 R24,desc[UR4][R4.64+0x10]",
    "LDG.E.U8 R24,desc[UR4][R20.64]",
    "STG.E desc[UR4][R0.64],R8",
    "STG.E.128 desc[UR4][R4.64],R8",
    "STG.E.64 desc[UR4][R20.64],R8",
    "LDS R24,[R8]",
    "LDS.128 R24,[R8+0x2000]",
    "LDS.U16 R24,[R10+UR6]",
    "STS [R8+0x10],R4",
    "STS.64 [R10],R4",
    "LDSM.16.M88.4 R24,[R8]",
    "LDSM.16.MT88.4 R24,[R10]",
    "STSM.16.M88.4 [R8],R4",
    "LDGSTS.E.BYPASS.128 [R8],desc[UR4][R0.64],!P0",
    "LDGSTS.E.BYPASS.128 [R10],desc[UR4][R4.64],P0",
    "ST.E [R12],R4",
    "ST.E.128 [R12+0x1000],R4",
    "ST.E [R0],R4",
    "REDG.E.ADD.STRONG.GPU desc[UR4][R0.64],R8",
    "ATOMG.E.ADD.STRONG.GPU PT,R24,desc[UR4][R0.64],R8",
    "ATOMG.E.CAS.STRONG.GPU PT,R24,[R0],R8,R9",
    "LDC R24,c[0x0][R8+0x28]",
    "LDC.64 R24,c[0x0][0x260]",
    "LDC.64 R24,c[0x3][R4]",
    "ULDC.64 UR4,c[0x0][0x198]",
    "UTMALDG.2D [UR8],[UR12]",
    "UTMALDG.2D [UR8],[UR4]",
    "UTMALDG.4D [UR8],[UR14]",
    "UTMASTG.2D [UR8],[UR12]",
    "UTMACCTL.PF [UR12]",
    "UTMACCTL.PF [UR14]",
    "SYNCS.EXCH.64 URZ,[UR6],UR8",
    "SYNCS.ARRIVE.TRANS64 RZ,[R8+URZ],R4",
    "SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR6],RZ",
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[R8+URZ],R4",
    "HGMMA.64x64x16.F32 R88,gdesc[UR16],R88,gsb0",
    "HGMMA.64x128x16.F32 R24,gdesc[UR32],RZ,!UPT",
    "HGMMA.64x8x16.F32 R24,gdesc[UR56],R24",
    "HMMA.16816.F32 R24,R0,R4,R24",
    "BAR.SYNC.DEFER_BLOCKING 0x0",
    "BAR.SYNC.DEFER_BLOCKING R8,R10",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "BSSY B0,0x40",
    "BSYNC B0",
    "BRA 0x10",
    "RET.REL.NODEC R8,fuzz",
    "WARPSYNC.ALL",
    "EXIT",
    "SHFL.IDX PT,R24,R8,R4,0x1f",
    "R2UR UR6,R8",
    "S2R R8,SR_CgaCtaId",
    "ELECT P1,URZ,PT",
    "IMAD.WIDE R0,R4,R8,R0",
    "IADD3 R8,R8,R4,RZ",
    "USETMAXREG.DEALLOC.CTAPOOL 0x18",
    "USETMAXREG.TRY_ALLOC.CTAPOOL UP0,0xf0",
};
enum { N_LINES = sizeof lines / sizeof *lines };

/* Spellings of sm_89 alone: addresses without a descriptor, constants as operands. */
static const char *const ada_lines[] = {
    "LDG.E R24,[R0.64]",
    "LDG.E.128 R24,[R4.64+0x10]",
    "LDG.E.U8 R24,[R20.64]",
    "STG.E [R0.64],R8",
    "STG.E.64 [R20.64],R8",
    "STG.E.U16 [R4.64],R8",
    "LDGSTS.E.BYPASS.128 [R8+0x1000],[R0.64],!P2",
    "LDGSTS.E.BYPASS.128 [R10],[R4.64]",
    "REDG.E.ADD.STRONG.GPU [R0.64],R8",
    "ATOMG.E.ADD.STRONG.GPU PT,R24,[R0.64],R8",
    "ATOMG.E.CAS.STRONG.GPU PT,R24,[R4],R8,R9",
    "LDGDEPBAR",
    "DEPBAR.LE SB0,0x1",
    "STS.128 [R8.X16],R12",
    "MOV R1,c[0x0][0x28]",
    "IMAD.WIDE R24,R4,c[0x0][0x160],R0",
    "IMAD.WIDE R0,R8,R10,c[0x0][0x160]",
    "IADD3 R24,R8,c[0x4][0x8],RZ",
    "FMUL R24,R8,c[0x3][0x10]",
    "SHF.R.U64 R24,R8,c[0x0][0x168],R9",
    "LEA.HI.X R24,R8,c[0x0][0x164],R9,0x1,P2",
    "ISETP.NE.AND P1,PT,RZ,c[0x0][0x1f0],PT",
    "I2F.U32.RP R24,c[0x0][0x1ec]",
    "IMNMX R8,R10,0x380,!PT",
    "BRA.DIV ~URZ,0x20",
    "BRA.CONV ~URZ,0x20",
    "CALL.REL.NOINC 0x20",
    "WARPSYNC 0xffffffff",
    "ULDC.64 UR4,c[0x0][0x118]",
    "I2F.U64.RP R24,R8",
};
enum { N_ADA_LINES = sizeof ada_lines / sizeof *ada_lines };

static uint32_t state;
static uint32_t dice(uint32_t n) { /* xorshift */
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % n;
}

/* A line, now and then with another register or number in it. */
static size_t make_line(char *out, size_t n, bool ada) {
    char line[256];
    snprintf(line, sizeof line, "%s%s",
             dice(6)   ? ""
             : dice(2) ? "@P0 "
                       : "@!P1 ",
             ada && dice(2) ? ada_lines[dice(N_ADA_LINES)] : lines[dice(N_LINES)]);
    for (char *c = line; *c; c++)
        if (*c >= '0' && *c <= '9' && dice(8) == 0) *c = (char)('0' + dice(10));
    int length = snprintf(out, n, "%s\n", line);
    return length < (int)n ? (size_t)length : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed) {
    char line[260];
    state = seed ? seed : 1;
    if (bytes && data[0] == 0x7f && dice(20)) return LLVMFuzzerMutate(data, bytes, max_bytes);
    if (bytes < 17 || dice(40) == 0) { /* a fresh one */
        if (max_bytes < 64) return bytes;
        for (int n = 0; n < 17; n++) data[n] = (uint8_t)dice(256);
        data[0] &= ALL_FLAGS;
        bytes = 17;
    }
    if (dice(3) == 0) data[dice(17)] = (uint8_t)dice(256);
    if (data[0] == 0x7f) data[0] = 0;
    if (dice(12) == 0) return LLVMFuzzerMutate(data, bytes, max_bytes);
    size_t n = make_line(line, sizeof line, data[0] & ADA),
           at = 17 + (bytes > 17 ? dice((uint32_t)(bytes - 17)) : 0);
    while (at > 17 && data[at - 1] != '\n') at--;
    if (!n || bytes + n > max_bytes) return bytes;
    memmove(data + at + n, data + at, bytes - at);
    memcpy(data + at, line, n);
    return bytes + n;
}
