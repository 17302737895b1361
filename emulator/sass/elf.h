/* Reads a cubin's ELF file (64 bits, little-endian): sections, symbols, attributes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sass_elf {
    unsigned char *bytes; /* the file */
    size_t n;
};

struct sass_section {
    const unsigned char *data; /* NULL: occupies none of the file (.nv.shared) */
    size_t bytes;
    uint32_t index;
};

const char *sass_elf_open(const char *path, struct sass_elf *out);
void sass_elf_close(struct sass_elf *e);
/* Of the chip it was assembled for: 90 for sm_90a. */
int sass_elf_sm(const struct sass_elf *e);
/* "prefix" + "name"; false: there is none. */
int sass_elf_section(const struct sass_elf *e, const char *prefix, const char *name,
                     struct sass_section *out);
/* The n-th symbol of a section: name and value; NULL behind the last. */
const char *sass_elf_symbol(const struct sass_elf *e, int n, uint32_t *section, uint64_t *value);

/* The n-th 64-bit address in a section that is the linker's to fill in: where in it, and of which
 * symbol (number, addend). 0: behind the last; -1: one that is something else. */
int sass_elf_address(const struct sass_elf *e, uint32_t section, int n, uint64_t *where,
                     int *symbol, int64_t *addend);

/* One attribute of .nv.info: its kind (EIATTR_...) and bytes; *at counts through the section from
 * 0. Returns 0 behind the last. */
struct sass_attribute {
    int kind;
    const unsigned char *data;
    size_t bytes;
};
int sass_elf_attribute(const struct sass_section *info, size_t *at, struct sass_attribute *out);
enum {
    SASS_ATTR_MAX_THREADS = 0x05,
    SASS_ATTR_PARAM_CBANK = 0x0a,
    SASS_ATTR_STACK = 0x12,
    SASS_ATTR_KPARAM = 0x17,
    SASS_ATTR_REGCOUNT = 0x2f
};
