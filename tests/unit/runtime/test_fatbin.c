/* Fat binaries: which PTX and which cubin a chip gets, what is said of the rest, registers of a kernel; damaged ones. */
#include "runtime/session/fatbin.h"
#include "tests/test.h"

#include <elf.h>
#include <string.h>

enum { PTX = 1, CUBIN = 2, COMPRESSED = 0x2000, COMPRESSED_TOO = 0x8000 };

static unsigned char fat[4096];
static size_t n;
static const struct chip hopper = {.cc = 90}, ada = {.cc = 89};

static void put(size_t at, uint64_t x, size_t bytes) { memcpy(fat + at, &x, bytes); }

static void begin(void) {
    memset(fat, 0, sizeof fat);
    put(0, 0xba55ed50, 4);
    put(4, 1, 2);
    put(6, 16, 2);
    n = 16;
}
static size_t add(int kind, int cc, uint64_t flags, const char *image) {
    size_t at = n, bytes = strlen(image) + 1;
    put(at, (uint64_t)kind, 2);
    put(at + 2, 0x101, 2); /* a version */
    put(at + 4, 64, 4);
    put(at + 8, bytes, 8);
    put(at + 28, (uint64_t)cc, 4);
    put(at + 40, flags, 8);
    memcpy(fat + at + 64, image, bytes);
    n += 64 + bytes;
    put(8, n - 16, 8);
    return at;
}
static struct fatbin_ptx found(const struct chip *chip) {
    struct fatbin_ptx out;
    assert_true(fatbin_find(fat, n, chip, &out));
    return out;
}
static bool is_bad(void) {
    struct fatbin_ptx out;
    return !fatbin_find(fat, n, &hopper, &out);
}

static void sizes(void **state) {
    (void)state;
    begin();
    add(PTX, 90, 0, ".target sm_90a");
    assert_int_equal(fatbin_bytes(fat, n), n);
    assert_int_equal(fatbin_bytes(fat, sizeof fat), n);
    assert_int_equal(fatbin_bytes(fat, n - 1), 0);
    assert_int_equal(fatbin_bytes(fat, 15), 0);
    fat[0]++;
    assert_int_equal(fatbin_bytes(fat, n), 0);
    assert_true(is_bad());
    begin();
    assert_int_equal(fatbin_bytes(fat, 16), 16);
    assert_null(found(&hopper).text);
}

/* More kinds than there is room to name. */
static void many_others(void **state) {
    (void)state;
    begin();
    for (int cc = 100; cc < 112; cc++) add(PTX, cc, COMPRESSED, "");
    struct fatbin_ptx out = found(&hopper);
    assert_int_equal(strnlen(out.others, sizeof out.others), sizeof out.others - 1);
    assert_null(out.cubin);
    assert_null(out.text);
}

static void damaged(void **state) {
    (void)state;
    begin();
    size_t at = add(PTX, 90, 0, ".target sm_90");
    assert_false(is_bad());
    put(at + 4, 63, 4);
    assert_true(is_bad());
    put(at + 4, n - at + 1, 4);
    assert_true(is_bad());
    put(at + 4, n - at, 4); /* a header to the end, and no image */
    put(at + 8, 0, 8);
    assert_false(is_bad());
    put(at + 8, 1, 8);
    assert_true(is_bad());
    put(at + 4, 64, 4);
    put(at + 8, n - at - 64, 8);
    assert_false(is_bad());
    put(at + 8, n - at - 63, 8);
    assert_true(is_bad());
    begin();
    add(PTX, 90, 0, ".target sm_90"); /* what is behind the last whole header is not read */
    n += 63;
    put(8, n - 16, 8);
    assert_string_equal(found(&hopper).text, ".target sm_90");
    n++; /* one header more, of zeros */
    put(8, n - 16, 8);
    assert_true(is_bad());
}

static void ptx(void **state) {
    (void)state;
    begin();
    add(PTX, 90, 0, ".target sm_90a");
    add(PTX, 80, 0, ".target sm_80");
    add(PTX, 90, 0, ".target sm_90");
    assert_string_equal(found(&hopper).text, ".target sm_90a");
    assert_int_equal(found(&hopper).bytes, strlen(".target sm_90a"));
    assert_string_equal(found(&ada).text, ".target sm_80");
    assert_string_equal(found(&ada).others, "compute_90 PTX");
    assert_string_equal(found(&hopper).others, "");
    begin();
    add(PTX, 90, 0, ".target sm_90");
    add(PTX, 90, 0, ".target sm_90a");
    assert_string_equal(found(&hopper).text, ".target sm_90a"); /* in whatever order */
    begin();
    add(PTX, 90, 0, ".target sm_90\n"); /* as nvcc writes it: no suffix */
    add(PTX, 90, 0, ".target sm_90a\n");
    assert_string_equal(found(&hopper).text, ".target sm_90a\n");
    begin();
    add(PTX, 80, 0, ".target sm_80a"); /* of that chip alone */
    add(PTX, 80, 0, ".target sm_80f"); /* of its family */
    add(PTX, 75, 0, "no target");
    add(PTX, 90, COMPRESSED, ".target sm_90");
    add(PTX, 90, COMPRESSED_TOO, ".target sm_90");
    assert_null(found(&hopper).text);
    assert_string_equal(found(&hopper).others,
                        "compute_80 PTX, compute_75 PTX, compressed compute_90 PTX");
    assert_string_equal(found(&ada).text, ".target sm_80f");
    assert_string_equal(found(&(struct chip){.cc = 80}).text, ".target sm_80a");
    begin();
    add(PTX, 89, 0, ".target sm_89f");
    assert_null(found(&(struct chip){.cc = 86}).text);
    assert_non_null(found(&ada).text);
    begin();
    add(PTX, 88, 0, ".target sm_88f");
    add(PTX, 89, 0, ".target sm_89");
    assert_string_equal(found(&ada).text, ".target sm_89"); /* the newer, whatever its suffix */
}

static void cubins(void **state) {
    (void)state;
    begin();
    add(CUBIN, 80, 0, ".text.old");
    add(CUBIN, 90, 0, ".text.new");
    add(CUBIN, 89, 0, ".text.between");
    add(CUBIN, 100, 0, ".text.newer");
    add(CUBIN, 90, COMPRESSED, "packed");
    add(CUBIN, 90, 0, "of nvlink");
    struct fatbin_ptx f = found(&hopper);
    assert_string_equal((const char *)f.cubin, ".text.new");
    assert_int_equal(f.cubin_bytes, strlen(".text.new") + 1);
    assert_string_equal((const char *)found(&ada).cubin, ".text.between");
    assert_string_equal(f.others, "sm_80 cubin, sm_90 cubin, sm_89 cubin, sm_100 cubin");
    assert_null(found(&(struct chip){.cc = 75}).cubin);
    add(CUBIN, 90, 0, ".text.last");
    assert_string_equal((const char *)found(&hopper).cubin, ".text.last");
}

/* A cubin of one kernel `k` with 40 registers, and `other`, of which it says nothing. */
static _Alignas(8) unsigned char elf[2048];
enum { NAMES = 512, STRINGS = 560, SYMBOLS = 600, INFO = 700, N_SECTIONS = 5 };
static size_t make_elf(void) {
    static const char names[] = "\0.nv.info\0.x";
    static const char strings[] = "\0other\0k";
    Elf64_Ehdr h = {.e_flags = 90 << 8 | 5,
                    .e_shoff = 64,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = N_SECTIONS,
                    .e_shstrndx = 1};
    Elf64_Shdr s[N_SECTIONS] = {
        {0},
        {.sh_type = SHT_STRTAB, .sh_name = 10, .sh_offset = NAMES, .sh_size = sizeof names},
        {.sh_type = SHT_STRTAB, .sh_name = 10, .sh_offset = STRINGS, .sh_size = sizeof strings},
        {.sh_type = SHT_SYMTAB,
         .sh_name = 10,
         .sh_link = 2,
         .sh_offset = SYMBOLS,
         .sh_size = 3 * sizeof(Elf64_Sym)},
        {.sh_type = SHT_LOUSER, .sh_name = 1, .sh_offset = INFO, .sh_size = 8 + 12 + 12}};
    Elf64_Sym symbol[3] = {
        {0}, {.st_name = 1, .st_info = STT_FUNC}, {.st_name = 7, .st_info = STT_FUNC}};
    const uint32_t info[] = {0x00012f03, 0xffff2f03, 0x00081104, 2, 7,
                             0x00082f04, 2,          40}; /* others, then the registers */
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    memset(elf, 0, sizeof elf);
    memcpy(elf, &h, sizeof h), memcpy(elf + 64, s, sizeof s);
    memcpy(elf + NAMES, names, sizeof names), memcpy(elf + STRINGS, strings, sizeof strings);
    memcpy(elf + SYMBOLS, symbol, sizeof symbol), memcpy(elf + INFO, info, sizeof info);
    return INFO + sizeof info;
}

/* The same with its sections at the end. */
enum { TABLE = 736 };
static Elf64_Shdr *const section = (Elf64_Shdr *)(void *)(elf + TABLE);
static size_t make_late(void) {
    make_elf();
    memmove(elf + TABLE, elf + 64, N_SECTIONS * sizeof *section);
    ((Elf64_Ehdr *)(void *)elf)->e_shoff = TABLE;
    return TABLE + N_SECTIONS * sizeof *section;
}

static void sections(void **state) {
    (void)state;
    const size_t bytes = make_late();
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)elf;
    Elf64_Sym *symbol = (Elf64_Sym *)(void *)(elf + SYMBOLS);
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    assert_int_equal(fatbin_registers(elf, bytes - 1, "k"), -1); /* the table is cut */
    header->e_shstrndx = N_SECTIONS;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[0] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = bytes}; /* empty, at the end */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    section[0].sh_size = 1;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    section[0].sh_type = SHT_NOBITS; /* takes no place in the file */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    make_late();
    section[3].sh_link = N_SECTIONS;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[3].sh_type = SHT_PROGBITS; /* no symbols */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[4].sh_name = 10; /* no .nv.info */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[0] = section[4]; /* .nv.info is the first */
    section[4].sh_name = 10;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    make_late();
    section[4].sh_size -= 4; /* its last entry is cut */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[3].sh_size = 2 * sizeof *symbol; /* k stands behind the symbols */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_late();
    section[1].sh_size = 9, elf[NAMES + 9] = 'X'; /* names end with their section */
    section[2].sh_size = 8, elf[STRINGS + 8] = 'X';
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    make_late();
    symbol[0] = symbol[2]; /* k is symbol 0, too, of which nothing is said, ... */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    elf[INFO + 8 + 12 + 4] = 0; /* ... now it is, */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    memcpy(elf + INFO + 8, elf + INFO + 8 + 12, 12); /* and first with 0 registers */
    elf[INFO + 8 + 8] = 0;
    elf[INFO + 8 + 12 + 4] = 2;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 0);
}

static void registers(void **state) {
    (void)state;
    const size_t bytes = make_elf();
    assert_int_equal(fatbin_cubin_sm(elf, bytes), 90);
    assert_int_equal(fatbin_cubin_sm(elf, sizeof(Elf64_Ehdr)), 90);
    assert_int_equal(fatbin_cubin_sm(elf, sizeof(Elf64_Ehdr) - 1), 0);
    assert_int_equal(fatbin_registers(elf, bytes, "k"), 40);
    assert_int_equal(fatbin_registers(elf, bytes, "other"), -1);
    assert_int_equal(fatbin_registers(elf, bytes, "none"), -1);
    assert_int_equal(fatbin_registers(elf, bytes - 1, "k"),
                     -1); /* a section ends behind the file */
    assert_int_equal(fatbin_registers(elf, sizeof(Elf64_Ehdr) - 1, "k"), -1);
    elf[INFO + 4 + 4 + 2] = 255; /* an entry that is longer than all */
    elf[INFO + 4 + 4 + 3] = 255;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    make_elf();
    elf[INFO + 8 + 12 + 4] = 1; /* of another symbol */
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    assert_int_equal(fatbin_registers(elf, bytes, "other"), 40);
    make_elf();
    ((Elf64_Ehdr *)elf)->e_flags = 200 << 8;
    assert_int_equal(fatbin_cubin_sm(elf, bytes), 200);
    elf[0] = 0;
    assert_int_equal(fatbin_registers(elf, bytes, "k"), -1);
    assert_int_equal(fatbin_cubin_sm(elf, bytes), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),       cmocka_unit_test(damaged),
                                       cmocka_unit_test(many_others), cmocka_unit_test(ptx),
                                       cmocka_unit_test(cubins),      cmocka_unit_test(registers),
                                       cmocka_unit_test(sections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
