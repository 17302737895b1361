/* The two functions of the system that kernels call: vprintf and __assertfail. */
#include "access.h"
#include "function.h"
#include "handlers.h"

#include "emulator/core/failed_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A string in global or local memory, at most n - 1 characters. */
static void read_string(struct emu_warp *w, uint32_t l, uint64_t at, char *out, size_t n) {
    size_t k = 0;
    for (; k + 1 < n; k++, at++) {
        const char *c = at - EMU_LOCAL_WINDOW < w->block->kernel->local_bytes
                            ? (const char *)w->local + (uint64_t)l * w->block->kernel->local_bytes +
                                  (at - EMU_LOCAL_WINDOW)
                            : emu_global(w, at, 1);
        if (!c || !*c) break;
        out[k] = *c;
    }
    out[k] = 0;
}

/* One conversion, format from '%' to its letter, with the next value of the argument buffer. */
static void print_one(struct emu_warp *w, uint32_t l, const char *spec, char letter,
                      const unsigned char *args, size_t *at, size_t size) {
    char text[512];
    bool is_long =
        strchr(spec, 'l') || letter == 's' || letter == 'p' || strchr("fFeEgGaA", letter);
    size_t bytes = is_long ? 8 : 4;
    *at = (*at + bytes - 1) & ~(bytes - 1);
    uint64_t value = 0;
    if (*at + bytes <= size) memcpy(&value, args + *at, bytes);
    *at += bytes;
    char flags[32], format[48];
    size_t n = 0;
    for (const char *c = spec + 1; *c && n + 1 < sizeof flags; c++)
        if (strchr("-+ #0.123456789", *c)) flags[n++] = *c;
    flags[n] = 0;
    if (letter == 's') {
        read_string(w, l, value, text, sizeof text);
        fputs(text, stdout);
    } else if (letter == 'p') {
        printf("0x%" PRIx64, value);
    } else if (strchr("fFeEgGaA", letter)) {
        double d;
        memcpy(&d, &value, 8);
        snprintf(format, sizeof format, "%%%s%c", flags, letter);
        printf(format, d);
    } else if (letter == 'c') {
        putchar((int)value);
    } else if (!strchr("diouxX", letter)) {
        printf("%s%c", spec, letter);
    } else {
        snprintf(format, sizeof format, "%%%sll%c", flags, letter);
        if (letter == 'd' || letter == 'i')
            printf(format, (long long)(is_long ? (int64_t)value : (int32_t)value));
        else
            printf(format, (unsigned long long)value);
    }
}

static void print_lane(struct emu_warp *w, uint32_t l, uint64_t format_at, uint64_t args_at) {
    char format[1024];
    read_string(w, l, format_at, format, sizeof format);
    uint32_t size = w->block->kernel->local_bytes;
    uint64_t offset = args_at - EMU_LOCAL_WINDOW;
    const unsigned char *args = w->local + (uint64_t)l * size;
    size_t at = offset < size ? (size_t)offset : size;
    for (const char *c = format; *c; c++) {
        if (*c != '%') {
            putchar(*c);
            continue;
        }
        if (c[1] == '%') {
            putchar(*c++);
            continue;
        }
        size_t n = strspn(c + 1, "-+ #0.123456789lhzjt") + 1;
        char spec[32] = "";
        memcpy(spec, c, n < sizeof spec - 1 ? n : sizeof spec - 1);
        if (!c[n]) return;
        print_one(w, l, spec, c[n], args, &at, size);
        c += n;
    }
}

/* op[0] function, op[1] offset of the result, op[2..] offsets of the arguments; all in local
 * memory */
enum emu_step emu_call(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t size = w->block->kernel->local_bytes;
    if (i->op[0].imm == 1) {
        emu_report(EMU_TRAP, w, i, NULL, "an assertion of the kernel failed, lane %d",
                   __builtin_ctz(mask));
        return EMU_STOP;
    }
    if (i->n_ops < 4) return EMU_NEXT;
    flockfile(stdout);
    EMU_EACH_LANE(l, mask) {
        uint64_t format = 0, args = 0;
        uint32_t done = 0;
        unsigned char *local = w->local + (uint64_t)l * size + emu_stack_frame(w, l);
        memcpy(&format, local + i->op[2].imm, 8);
        memcpy(&args, local + i->op[3].imm, 8);
        print_lane(w, l, format, args);
        if (i->op[1].imm >= 0) memcpy(local + i->op[1].imm, &done, 4);
    }
    funlockfile(stdout);
    return EMU_NEXT;
}
