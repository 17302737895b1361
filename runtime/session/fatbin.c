#include "fatbin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = (int)0xba55ed50, PTX = 1, CUBIN = 2, COMPRESSED = 0xa000 };

static uint64_t read_at(const unsigned char *at, int offset, int bytes) {
    uint64_t x = 0;
    memcpy(&x, at + offset, (size_t)bytes);
    return x;
}

size_t fatbin_bytes(const void *fatbin, size_t most) {
    if (most < 16 || (int)read_at(fatbin, 0, 4) != MAGIC) return 0;
    uint64_t bytes = read_at(fatbin, 6, 2) + read_at(fatbin, 8, 8);
    return bytes <= most ? (size_t)bytes : 0;
}

/* ".target sm_90a" -> 90 and 'a'; 0 if there is none. */
static int target_of(const char *text, size_t bytes, char *suffix) {
    const char *at = memmem(text, bytes, ".target", 7);
    char line[32] = ""; /* the text may have no end of its own */
    int cc = 0;
    *suffix = 0;
    if (at)
        snprintf(line, sizeof line, "%.*s", (int)(text + bytes - at < 31 ? text + bytes - at : 31),
                 at);
    if (!at || sscanf(line, ".target sm_%d%c", &cc, suffix) < 1) return 0;
    if (*suffix != 'a' && *suffix != 'f') *suffix = 0;
    return cc;
}

/* sm_90a runs on compute capability 9.0 only; sm_89 on all from 8.9 on. */
static bool runs_on(int cc, char suffix, const struct chip *chip) {
    if (suffix == 'a') return chip->cc == cc;
    if (suffix == 'f') return chip->cc / 10 == cc / 10 && chip->cc >= cc;
    return chip->cc >= cc;
}

static void add_other(char *out, size_t room, const char *what, int cc, const char *kind) {
    size_t n = strlen(out);
    char text[48];
    snprintf(text, sizeof text, "%s%d %s", what, cc, kind);
    if (!strstr(out, text)) snprintf(out + n, room - n, "%s%s", n ? ", " : "", text);
}

/* A program without kernels has a cubin of nvlink's, without code: that is none. */
bool fatbin_find(const void *fatbin, size_t most, const struct chip *chip, struct fatbin_ptx *out) {
    const unsigned char *at = fatbin, *end;
    size_t all = fatbin_bytes(fatbin, most);
    int best = -1, cubin_cc = 0;
    *out = (struct fatbin_ptx){0};
    if (!all) return false;
    end = at + all;
    for (at += read_at(at, 6, 2); end - at >= 64;) {
        uint64_t kind = read_at(at, 0, 2), header = read_at(at, 4, 4), bytes = read_at(at, 8, 8);
        int cc = (int)read_at(at, 28, 4);
        const unsigned char *image = at + header;
        if (header < 64 || header > (uint64_t)(end - at) || bytes > (uint64_t)(end - image))
            return false;
        bool compressed = read_at(at, 40, 8) & COMPRESSED;
        char suffix;
        if (kind == PTX && compressed) {
            add_other(out->others, sizeof out->others, "compressed compute_", cc, "PTX");
        } else if (kind == PTX) {
            size_t length = strnlen((const char *)image, bytes);
            int target = target_of((const char *)image, length, &suffix);
            int rank = 2 * target + (suffix != 0);
            if (!target || !runs_on(target, suffix, chip)) {
                add_other(out->others, sizeof out->others, "compute_", cc, "PTX");
            } else if (rank > best) {
                best = rank;
                out->text = (const char *)image;
                out->bytes = length;
            }
        } else if (kind == CUBIN && (compressed || memmem(image, bytes, ".text.", 6))) {
            add_other(out->others, sizeof out->others, "sm_", cc, "cubin");
            if (cc <= chip->cc && cc >= cubin_cc && !compressed) {
                cubin_cc = cc;
                out->cubin = image;
                out->cubin_bytes = bytes;
            }
        }
        at = image + bytes;
    }
    return true;
}

int fatbin_cubin_sm(const unsigned char *cubin, size_t bytes) {
    Elf64_Ehdr h;
    if (bytes < sizeof h || memcmp(cubin, ELFMAG, SELFMAG)) return 0;
    memcpy(&h, cubin, sizeof h);
    return (int)(h.e_flags >> 8 & 0xff);
}

/* ---- Registers: .nv.info of a cubin has, for each kernel, the pair (symbol, registers) ---------- */

enum { EIATTR_REGCOUNT = 0x2f, EIFMT_SVAL = 4 };

static int regcount(const unsigned char *info, size_t bytes, uint32_t symbol) {
    for (size_t at = 0; at + 4 <= bytes;) {
        unsigned format = info[at], attribute = info[at + 1];
        size_t size = format == EIFMT_SVAL ? (size_t)read_at(info + at, 2, 2) : 0;
        if (size > bytes - at - 4) return -1;
        if (format == EIFMT_SVAL && attribute == EIATTR_REGCOUNT && size >= 8 &&
            read_at(info + at, 4, 4) == symbol)
            return (int)read_at(info + at, 8, 4);
        at += 4 + size;
    }
    return -1;
}

int fatbin_registers(const unsigned char *cubin, size_t bytes, const char *kernel) {
    Elf64_Ehdr h;
    if (bytes < sizeof h || memcmp(cubin, ELFMAG, SELFMAG)) return -1;
    memcpy(&h, cubin, sizeof h);
    if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > bytes ||
        h.e_shnum > (bytes - h.e_shoff) / sizeof(Elf64_Shdr) || h.e_shstrndx >= h.e_shnum)
        return -1;
    Elf64_Shdr *section = malloc(h.e_shnum * sizeof *section);
    if (!section) return -1;
    memcpy(section, cubin + h.e_shoff, h.e_shnum * sizeof *section);
    int found = -1;
    const Elf64_Shdr *names = &section[h.e_shstrndx], *symbols = NULL, *info = NULL;
    for (int s = 0; s < h.e_shnum; s++) {
        const Elf64_Shdr *x = &section[s];
        if (x->sh_type != SHT_NOBITS && (x->sh_offset > bytes || x->sh_size > bytes - x->sh_offset))
            goto done;
        if (x->sh_type == SHT_SYMTAB) symbols = x;
    }
    if (names->sh_type == SHT_NOBITS) goto done; /* no bytes of the file */
    for (int s = 0; s < h.e_shnum; s++)
        if (section[s].sh_type != SHT_NOBITS && section[s].sh_name < names->sh_size &&
            !strncmp((const char *)cubin + names->sh_offset + section[s].sh_name, ".nv.info",
                     names->sh_size - section[s].sh_name))
            info = &section[s];
    if (!symbols || !info || symbols->sh_link >= h.e_shnum ||
        section[symbols->sh_link].sh_type == SHT_NOBITS)
        goto done;
    const Elf64_Shdr *strings = &section[symbols->sh_link];
    for (uint32_t n = 0; n < symbols->sh_size / sizeof(Elf64_Sym) && found < 0; n++) {
        Elf64_Sym symbol;
        memcpy(&symbol, cubin + symbols->sh_offset + n * sizeof symbol, sizeof symbol);
        if (symbol.st_name < strings->sh_size &&
            !strncmp((const char *)cubin + strings->sh_offset + symbol.st_name, kernel,
                     strings->sh_size - symbol.st_name) &&
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
            found = regcount(cubin + info->sh_offset, info->sh_size, n);
    }
done:
    free(section);
    return found;
}
