/* The functions of the system that kernels call: vprintf, __assertfail, malloc and free. */
#include "access.h"
#include "function.h"
#include "handlers.h"

#include "emulator/core/failed_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The most characters that one conversion pads to: a GPU prints a gigabyte for "%999999999d", and the
 * host would, too. */
enum { MOST_FIELD = 4096 };
_Static_assert(MOST_FIELD == 4096, "the report says so");

/* What one call prints. */
struct print {
    struct emu_warp *warp;
    const struct emu_inst *inst;
    uint32_t lane;
    uint64_t args; /* address of the next value, in local memory */
    bool reported;
};

static void report(struct print *p, const char *what) {
    if (!p->reported)
        emu_report(EMU_BAD_OPERAND, p->warp, p->inst, NULL, "lane %u: printf %s", p->lane, what);
    p->reported = true;
}

/* A string in global, shared or local memory, at most n - 1 characters. */
static void read_string(struct print *p, uint64_t at, char *out, size_t n) {
    const struct emu_room local = emu_room_local(p->warp, p->lane);
    const struct emu_allocation *near = NULL;
    size_t k = 0;
    for (; k + 1 < n; k++, at++) {
        struct emu_place c = emu_reach(local, at - EMU_LOCAL_WINDOW, 1, EMU_READ);
        if (!c.byte && at - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
            c = emu_reach(emu_room_shared(p->warp->block), at - EMU_SHARED_WINDOW, 1, EMU_READ);
        if (!c.byte) c = emu_global(p->warp, at, 1, EMU_READ, &near);
        if (!c.byte) report(p, "is given an address that is no string's for %s");
        if (!c.byte || !*c.byte) break;
        out[k] = (char)*c.byte;
    }
    out[k] = 0;
}

/* Is one of its 4-byte words what local memory holds before anything is written there? */
static bool never_written(const struct print *p, uint64_t at, uint64_t value, size_t bytes) {
    const struct emu_block *b = p->warp->block;
    for (uint64_t k = 0; k < bytes; k += 4) {
        const uint64_t phase = ((uint64_t)p->lane * b->kernel->local_bytes + at + k) % 8;
        if ((uint32_t)(value >> 8 * k) == (uint32_t)(b->launch->unwritten >> 8 * phase))
            return true;
    }
    return false;
}

/* The next value of 4 or 8 bytes; 0 behind the end of local memory. */
static uint64_t next_value(struct print *p, size_t bytes) {
    uint64_t value = 0, at = ((p->args + bytes - 1) & ~(uint64_t)(bytes - 1)) - EMU_LOCAL_WINDOW;
    struct emu_place from = emu_reach(emu_room_local(p->warp, p->lane), at, bytes, EMU_READ);
    if (from.byte) memcpy(&value, from.byte, bytes);
    if (p->warp->block->shadow && (!from.byte || never_written(p, at, value, bytes)))
        report(p, "has fewer values than conversions, or values of other types: compare the two");
    p->args = at + bytes + EMU_LOCAL_WINDOW;
    return value;
}

/* A width or precision, *at its first digit or '*', which takes it from the values. */
static int read_size(struct print *p, const char **at) {
    int64_t n = 0;
    if (**at == '*')
        n = (int32_t)next_value(p, 4), ++*at;
    else
        for (; **at >= '0' && **at <= '9'; ++*at) n = n > MOST_FIELD ? n : 10 * n + (**at - '0');
    if (n > MOST_FIELD || n < -MOST_FIELD)
        report(p, "pads to more than 4096 characters: the emulator prints 4096; give the "
                  "conversion a smaller width or precision");
    return (int)(n > MOST_FIELD ? MOST_FIELD : n < -MOST_FIELD ? -MOST_FIELD : n);
}

/* One conversion, as the kernel wrote it from '%' to before `end`. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: no precision */
    bool is_long;
    char letter;
};

/* Reads it from behind its '%'; returns what follows. NULL: the string ends before its letter. */
static const char *read_conversion(struct print *p, const char *at, struct conversion *c) {
    size_t n = 0;
    *c = (struct conversion){.precision = -1};
    for (; *at && strchr("-+ #0", *at); at++)
        if (!strchr(c->flags, *at) && n + 1 < sizeof c->flags) c->flags[n++] = *at;
    c->width = read_size(p, &at);
    if (*at == '.') {
        at++;
        c->precision = read_size(p, &at);
    }
    for (; *at && strchr("lhzjt", *at); at++) c->is_long |= *at == 'l';
    c->letter = *at;
    return *at ? at + 1 : NULL;
}

static void print_one(struct print *p, const struct conversion *c, const char *text) {
    char format[32], string[512];
    const char letter = c->letter;
    bool is_real = strchr("fFeEgGaA", letter) != NULL;
    if (letter == 'c') {
        putchar((int)next_value(p, 4));
    } else if (letter == 'p') {
        printf("0x%" PRIx64, next_value(p, 8));
    } else if (letter == 's') {
        read_string(p, next_value(p, 8), string, sizeof string);
        snprintf(format, sizeof format, "%%%s*.*s", c->flags);
        printf(format, c->width, c->precision, string);
    } else if (is_real) {
        uint64_t value = next_value(p, 8);
        double d;
        memcpy(&d, &value, 8);
        snprintf(format, sizeof format, "%%%s*.*%c", c->flags, letter);
        printf(format, c->width, c->precision, d);
    } else if (strchr("diouxX", letter)) {
        uint64_t value = next_value(p, c->is_long ? 8 : 4);
        if (strchr("di", letter) && !c->is_long) value = (uint64_t)(int32_t)value;
        snprintf(format, sizeof format, "%%%s*.*ll%c", c->flags, letter);
        printf(format, c->width, c->precision, value);
    } else {
        fputs(text, stdout); /* "%n" and the like stand for themselves */
    }
}

static void print_lane(struct print *p, uint64_t format_at) {
    char format[1024], text[1024];
    read_string(p, format_at, format, sizeof format);
    for (const char *c = format; *c;) {
        struct conversion one;
        if (*c != '%' || c[1] == '%') {
            putchar(*c);
            c += *c == '%' ? 2 : 1;
            continue;
        }
        const char *end = read_conversion(p, c + 1, &one);
        if (!end) return;
        snprintf(text, sizeof text, "%.*s", (int)(end - c), c);
        print_one(p, &one, text);
        c = end;
    }
}

/* A value of `bytes` in the lane's frame; 0 where there is none. */
static uint64_t in_frame(const struct emu_warp *w, uint32_t l, int64_t offset, size_t bytes) {
    uint64_t value = 0, at = emu_stack_frame(w, l) + (uint64_t)offset;
    struct emu_place from = emu_reach(emu_room_local(w, l), at, bytes, EMU_READ);
    if (from.byte) memcpy(&value, from.byte, bytes);
    return value;
}

/* malloc: a lane after the other. Where there is no room it is NULL, as on a GPU. */
static void allocate(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    EMU_EACH_LANE(l, mask) {
        const uint64_t p =
            emu_heap_alloc(w->block->launch->memory, in_frame(w, l, i->op[2].imm, 8));
        const uint64_t at = emu_stack_frame(w, l) + (uint64_t)i->op[1].imm;
        struct emu_place result = emu_reach(emu_room_local(w, l), at, sizeof p, EMU_WRITE);
        if (result.byte) memcpy(result.byte, &p, sizeof p);
    }
    w->effects++;
}

static void release(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    EMU_EACH_LANE(l, mask) {
        const uint64_t p = in_frame(w, l, i->op[2].imm, 8);
        const char *why = p ? emu_heap_free(w->block->launch->memory, p) : NULL;
        if (why)
            emu_report(EMU_BAD_OPERAND, w, i, NULL, "lane %d: free() of 0x%llx, %s", l,
                       (unsigned long long)p, why);
    }
    w->effects++;
}

/* op[0] function, op[1] offset of the result, op[2..] offsets of the arguments; all in local
 * memory */
enum emu_step emu_call(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    if (i->op[0].imm == EMU_SYSTEM_MALLOC || i->op[0].imm == EMU_SYSTEM_FREE) {
        if (i->n_ops < 3 || (i->op[0].imm == EMU_SYSTEM_MALLOC && i->op[1].imm < 0))
            return EMU_NEXT;
        i->op[0].imm == EMU_SYSTEM_MALLOC ? allocate(w, i, mask) : release(w, i, mask);
        return EMU_NEXT;
    }
    if (i->op[0].imm == EMU_SYSTEM_ASSERT) {
        emu_report(EMU_TRAP, w, i, NULL, "an assertion of the kernel failed, lane %d",
                   __builtin_ctz(mask));
        return EMU_STOP;
    }
    if (i->n_ops < 4) return EMU_NEXT;
    flockfile(stdout);
    EMU_EACH_LANE(l, mask) {
        struct print p = {.warp = w, .inst = i, .lane = l, .args = in_frame(w, l, i->op[3].imm, 8)};
        uint64_t result = emu_stack_frame(w, l) + (uint64_t)i->op[1].imm;
        print_lane(&p, in_frame(w, l, i->op[2].imm, 8));
        if (i->op[1].imm < 0) continue;
        struct emu_place done = emu_reach(emu_room_local(w, l), result, 4, EMU_WRITE);
        if (done.byte) memset(done.byte, 0, 4);
    }
    funlockfile(stdout);
    return EMU_NEXT;
}
