#include "elf.h"

#include "common/base/path.h"
#include "common/base/reason.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const Elf64_Shdr *header(const struct sass_elf *e, unsigned n) {
    const Elf64_Ehdr *h = (const void *)e->bytes;
    return (const Elf64_Shdr *)(const void *)(e->bytes + h->e_shoff) + n;
}

const char *sass_elf_open(const char *path, struct sass_elf *out) {
    out->bytes = (unsigned char *)path_read(path, &out->n);
    if (!out->bytes) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    const Elf64_Ehdr *h = (const void *)out->bytes;
    bool ok = out->n > sizeof *h && !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
              h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_shstrndx < h->e_shnum &&
              h->e_shoff < out->n && h->e_shoff % 8 == 0 &&
              (out->n - h->e_shoff) / sizeof(Elf64_Shdr) >= h->e_shnum;
    for (unsigned s = 0; ok && s < h->e_shnum; s++) {
        const Elf64_Shdr *section = header(out, s);
        if (section->sh_type == SHT_NOBITS) continue;
        ok = section->sh_offset <= out->n && section->sh_size <= out->n - section->sh_offset;
    }
    if (ok) return NULL;
    sass_elf_close(out);
    return reason_as(STATUS_FILE, "%s is not a whole cubin", path);
}

void sass_elf_close(struct sass_elf *e) {
    free(e->bytes);
    e->bytes = NULL;
}

int sass_elf_sm(const struct sass_elf *e) {
    return (int)(((const Elf64_Ehdr *)(const void *)e->bytes)->e_flags >> 8 & 0xff);
}

static const char *string_at(const struct sass_elf *e, const Elf64_Shdr *table, size_t at) {
    if (table->sh_type == SHT_NOBITS || at >= table->sh_size) return ""; /* no bytes of the file */
    const char *s = (const char *)e->bytes + table->sh_offset + at;
    return memchr(s, 0, table->sh_size - at) ? s : "";
}

int sass_elf_section(const struct sass_elf *e, const char *prefix, const char *name,
                     struct sass_section *out) {
    const Elf64_Ehdr *h = (const void *)e->bytes;
    for (unsigned s = 0; s < h->e_shnum; s++) {
        const Elf64_Shdr *section = header(e, s);
        const char *is = string_at(e, header(e, h->e_shstrndx), section->sh_name);
        if (strncmp(is, prefix, strlen(prefix)) || strcmp(is + strlen(prefix), name)) continue;
        out->data = section->sh_type == SHT_NOBITS ? NULL : e->bytes + section->sh_offset;
        out->bytes = section->sh_size;
        out->index = s;
        return 1;
    }
    return 0;
}

const char *sass_elf_symbol(const struct sass_elf *e, int n, uint32_t *section, uint64_t *value) {
    const Elf64_Ehdr *h = (const void *)e->bytes;
    for (unsigned s = 0; s < h->e_shnum; s++) {
        const Elf64_Shdr *table = header(e, s);
        if (table->sh_type != SHT_SYMTAB) continue;
        Elf64_Sym symbol;
        if (n < 0 || (size_t)n >= table->sh_size / sizeof symbol || table->sh_link >= h->e_shnum)
            return NULL;
        memcpy(&symbol, e->bytes + table->sh_offset + (size_t)n * sizeof symbol, sizeof symbol);
        *section = symbol.st_shndx;
        *value = symbol.st_value;
        return string_at(e, header(e, table->sh_link), symbol.st_name);
    }
    return NULL;
}

int sass_elf_address(const struct sass_elf *e, uint32_t section, int n, uint64_t *where,
                     int *symbol, int64_t *addend) {
    enum { R_CUDA_64 = 2 };
    const Elf64_Ehdr *h = (const void *)e->bytes;
    for (unsigned s = 0; s < h->e_shnum; s++) {
        const Elf64_Shdr *table = header(e, s);
        const bool adds = table->sh_type == SHT_RELA;
        size_t bytes = adds ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        if ((!adds && table->sh_type != SHT_REL) || table->sh_info != section) continue;
        if ((size_t)n >= table->sh_size / bytes) {
            n -= (int)(table->sh_size / bytes);
            continue;
        }
        Elf64_Rela r = {0};
        memcpy(&r, e->bytes + table->sh_offset + (size_t)n * bytes, bytes);
        *where = r.r_offset;
        *symbol = (int)ELF64_R_SYM(r.r_info);
        *addend = r.r_addend;
        return ELF64_R_TYPE(r.r_info) == R_CUDA_64 ? 1 : -1;
    }
    return 0;
}

/* 1 byte format, 1 byte kind, 2 bytes: a value, or (format 4) how many bytes follow */
int sass_elf_attribute(const struct sass_section *info, size_t *at, struct sass_attribute *out) {
    if (!info->data || info->bytes < 4 || *at > info->bytes - 4) return 0;
    const unsigned char *p = info->data + *at;
    uint16_t n = (uint16_t)(p[2] | p[3] << 8);
    out->kind = p[1];
    out->data = p[0] == 4 ? p + 4 : p + 2;
    out->bytes = p[0] == 4 ? n : 2;
    *at += p[0] == 4 ? 4u + n : 4;
    return *at <= info->bytes;
}
