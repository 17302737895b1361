/* PTX files, parsed and run. seeds: tests/fuzz/seeds/ptx
 *
 * Bytes changed at random seldom survive the lexer. So the mutator works on lines, and writes new ones from
 * the emulator's own table of instruction forms (emulator/front/forms_*.def): an opcode that exists,
 * operands of the roles it wants or, now and then, of others. What is accepted runs: two blocks of a warp,
 * a thousand instructions at most. */
#include "emulator/core/instruction.h"
#include "emulator/emulator.h"
#include "emulator/front/form_lists.h"
#include "fuzz.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t max_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed);

/* ---- Running --------------------------------------------------------------------------------- */

/* Every argument, 8 bytes of it or 4, is the address of the same kilobyte. */
static void launch(struct emu_memory *memory, const struct emu_kernel *kernel) {
    static struct emu_result *result;
    struct emu_options options = {.n_threads = 1, .max_instructions = 1000, .timeout_s = 0.5};
    struct emu_grid g = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .n_args = emu_kernel_params(kernel)};
    uint64_t address;
    static unsigned char zeros[8192];
    if (emu_kernel_static_shared(kernel) > 65536 || emu_kernel_local_bytes(kernel) > 4096) return;
    if (!result && emu_result_open(&result)) abort();
    if (emu_memory_alloc(memory, 1024, &address)) abort();
    memset(emu_memory_at(memory, address, 1024), 0, 1024);
    if (g.n_args > EMU_MAX_ARGS) return;
    for (int i = 0; i < g.n_args; i++) {
        g.arg_bytes[i] = emu_kernel_param_bytes(kernel, i);
        g.arg[i] = g.arg_bytes[i] == 8 ? (void *)&address : zeros;
        if (g.arg_bytes[i] > sizeof zeros) return;
    }
    const char *why = emu_launch(memory, kernel, &g, chip_find("h200"), &options, result);
    if (why && !*why) abort();
    for (int i = 0; i < emu_result_reports(result); i++)
        if (!*emu_result_report(result, i)) abort();
    emu_result_clear(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct emu_memory *memory;
    struct emu_module *module = NULL;
    if (emu_memory_open(&memory)) abort();
    const char *why = emu_module_open(memory, (const char *)data, bytes, "fuzz", &module);
    if (!why != !!module) abort(); /* a module or a reason, never both */
    if (!why) {
        const char *name = emu_module_kernel_name(module, 0);
        if (name) launch(memory, emu_module_kernel(module, name));
        emu_module_close(module);
    }
    emu_memory_close(memory);
    return 0;
}

/* ---- Mutating -------------------------------------------------------------------------------- */

static const struct {
    const char *pattern, *operands;
} forms[] = {
#define FORM(pattern, operands, class, handler)    {pattern, operands},
#define SELECT(pattern, operands, class, selector) {pattern, operands},
#include "emulator/front/forms_scalar.def"
#include "emulator/front/forms_tensor.def"
};
enum { N_FORMS = sizeof forms / sizeof *forms };

static uint32_t state;
static uint32_t dice(uint32_t n) { /* xorshift */
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % n;
}

struct line {
    char text[512];
    size_t n;
};
static void put(struct line *l, const char *text, size_t n) {
    if (l->n + n >= sizeof l->text) return;
    memcpy(l->text + l->n, text, n);
    l->text[l->n += n] = 0;
}
static void puts_(struct line *l, const char *text) { put(l, text, strlen(text)); }

/* One of the choices "a|b|c" of n characters. */
static void put_choice(struct line *l, const char *choices, size_t n) {
    uint32_t bars = 0, chosen;
    for (size_t i = 0; i < n; i++) bars += choices[i] == '|';
    chosen = dice(bars + 1);
    const char *end = choices + n;
    while (chosen--) choices = memchr(choices, '|', (size_t)(end - choices)) + 1;
    const char *bar = memchr(choices, '|', (size_t)(end - choices));
    put(l, choices, (size_t)((bar ? bar : end) - choices));
}

static void put_opcode(struct line *l, const char *pattern) {
    for (const char *p = pattern; *p;) {
        size_t n = *p == '(' ? strcspn(p, ")") : *p == '{' ? strcspn(p, "}") : strcspn(p, "({");
        if (*p == '(')
            put_choice(l, p + 1, n - 1);
        else if (*p == '{') {
            if (dice(3) == 0) put_choice(l, p + 1, n - 1);
        } else
            put(l, p, n);
        p += n + (*p == '(' || *p == '{');
    }
}

static void put_number(struct line *l) {
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "4",
                                          "8",
                                          "16",
                                          "31",
                                          "32",
                                          "63",
                                          "64",
                                          "128",
                                          "255",
                                          "256",
                                          "1024",
                                          "0x7fffffff",
                                          "0x80000000",
                                          "0xffffffff",
                                          "0x7fffffffffffffff",
                                          "0x8000000000000000",
                                          "-2147483648",
                                          "0f3F800000",
                                          "0fFF800000",
                                          "0f7FC00000",
                                          "0d3FF0000000000000",
                                          "07",
                                          "65535",
                                          "-8",
                                          "3",
                                          "0U"};
    puts_(l, numbers[dice(sizeof numbers / sizeof *numbers)]);
}

static bool is_wide(const char *opcode) { /* by its last type */
    const char *dot = strrchr(opcode, '.');
    return dot && strstr(dot, "64");
}

static void put_register(struct line *l, char width, const char *opcode) {
    char name[16];
    const char *kind = "%r";
    if (width == 't') width = is_wide(opcode) ? '8' : '4';
    if (width == 'x') width = "48p"[dice(3)];
    if (width == '8') kind = dice(8) ? "%rd" : "%d";
    if (width == '4') kind = dice(3) ? "%r" : dice(2) ? "%f" : "%h";
    if (width == 'p') kind = "%p";
    snprintf(name, sizeof name, "%s%u", kind, 1 + dice(3));
    puts_(l, name);
}

static void put_group(struct line *l, char width, const char *opcode) {
    static const uint8_t sizes[] = {1, 2, 4, 8, 16, 32, 3, 4, 2, 4};
    uint32_t n = sizes[dice(sizeof sizes)];
    puts_(l, "{");
    for (uint32_t i = 0; i < n; i++) {
        if (i) puts_(l, ", ");
        put_register(l, width, opcode);
    }
    puts_(l, "}");
}

static void put_address(struct line *l, bool coordinates) {
    static const char *const bases[] = {"%rd1",  "%rd2", "%r1", "%r2", "s", "attention_param_0",
                                        "local", "g"};
    puts_(l, "[");
    puts_(l, bases[dice(sizeof bases / sizeof *bases)]);
    if (dice(2)) {
        puts_(l, "+");
        put_number(l);
    }
    if (coordinates) {
        puts_(l, ", ");
        put_group(l, '4', "");
    }
    puts_(l, "]");
}

static void put_operand(struct line *l, const char *role, const char *opcode) {
    char what = dice(40) ? role[0] : "dsDSaciM"[dice(8)],
         width = role[0] == what ? role[1] : "48pt"[dice(4)];
    switch (what) {
    case 'a':
        put_address(l, false);
        break;
    case 'c':
        put_address(l, true);
        break;
    case 'D':
    case 'S':
        put_group(l, width, opcode);
        break;
    case 'i':
        put_number(l);
        break;
    case 'l':
        puts_(l, dice(4) ? "$L__BB0_2" : "$L__BB0_4");
        break;
    case 's':
        if (dice(4) == 0)
            put_number(l);
        else
            put_register(l, width, opcode);
        break;
    case 'M':
        puts_(l, dice(2) ? "%tid.x" : dice(2) ? "s" : "g");
        break;
    default:
        put_register(l, width, opcode);
    }
    if (strchr(role, '|') && dice(2)) puts_(l, "|%p1");
}

static void make_instruction(struct line *l) {
    uint32_t f = dice(N_FORMS);
    char opcode[512];
    l->n = 0;
    if (dice(8) == 0) puts_(l, dice(2) ? "@%p1 " : "@!%p2 ");
    size_t begin = l->n;
    put_opcode(l, forms[f].pattern);
    memcpy(opcode, l->text + begin, l->n - begin);
    opcode[l->n - begin] = 0;
    puts_(l, " ");
    bool first = true;
    for (const char *o = forms[f].operands; *o; o += strcspn(o, " "), o += strspn(o, " ")) {
        char role[8] = "";
        size_t n = strcspn(o, " ");
        if (*o == '?') {
            if (dice(2)) break;
            o++, n--;
        }
        memcpy(role, o, n < 7 ? n : 7);
        if (!first) puts_(l, ", ");
        first = false;
        put_operand(l, role, opcode);
    }
    puts_(l, ";\n");
}

/* Bytes [begin, begin + n) of the text become l. */
static size_t splice(uint8_t *data, size_t bytes, size_t max_bytes, size_t begin, size_t n,
                     const char *text, size_t length) {
    if (bytes - n + length > max_bytes) return bytes;
    memmove(data + begin + length, data + begin + n, bytes - begin - n);
    memcpy(data + begin, text, length);
    return bytes - n + length;
}

static size_t fresh(uint8_t *data, size_t max_bytes) {
    static const char head[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.global .align 16 .b8 g[256];\n"
        ".visible .entry attention(\n.param .u64 attention_param_0,\n.param .u64 "
        "attention_param_1)\n{\n"
        ".reg .pred %p<4>;\n.reg .f32 %f<4>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .b16 "
        "%h<4>;\n.reg .f64 %d<4>;\n"
        ".shared .align 128 .b8 s[4096];\n.local .align 16 .b8 local[64];\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nmov.u32 %r3, 64;\n"
        "ld.param.u64 %rd1, [attention_param_0];\nmov.u64 %rd2, g;\nmov.u64 %rd3, 0;\n"
        "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\nmov.f32 %f3, 0f00000000;\n"
        "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 7;\nsetp.ne.u32 %p3, %r1, "
        "0;\n$L__BB0_2:\n";
    static const char tail[] = "$L__BB0_4:\nret;\n}\n";
    size_t bytes = sizeof head - 1;
    if (max_bytes < 4096) return 0;
    memcpy(data, head, bytes);
    for (uint32_t n = 1 + dice(6); n--;) {
        struct line l;
        make_instruction(&l);
        if (bytes + l.n + sizeof tail > max_bytes) break;
        memcpy(data + bytes, l.text, l.n);
        bytes += l.n;
    }
    memcpy(data + bytes, tail, sizeof tail - 1);
    return bytes + sizeof tail - 1;
}

/* A word's place: [*begin, *end), at random; false: there is none. */
static bool find_word(const uint8_t *data, size_t bytes, const char *of, size_t *begin,
                      size_t *end) {
    size_t at = dice((uint32_t)bytes);
    while (at < bytes && !strchr(of, data[at])) at++;
    if (at >= bytes || !data[at]) return false;
    for (*begin = at; *begin > 0 && data[*begin - 1] && strchr(of, data[*begin - 1]);) --*begin;
    for (*end = at; *end < bytes && data[*end] && strchr(of, data[*end]);) ++*end;
    return true;
}

static size_t mutate(uint8_t *data, size_t bytes, size_t max_bytes) {
    struct line l = {.n = 0};
    size_t begin = dice((uint32_t)bytes), end, from, to;
    while (begin > 0 && data[begin - 1] != '\n') begin--; /* a line */
    for (end = begin; end < bytes && data[end] != '\n';) end++;
    if (end < bytes) end++;
    switch (dice(8)) {
    case 0:
    case 1:
        make_instruction(&l);
        return splice(data, bytes, max_bytes, begin, 0, l.text, l.n);
    case 2:
        make_instruction(&l);
        return splice(data, bytes, max_bytes, begin, end - begin, l.text, l.n);
    case 3:
        return splice(data, bytes, max_bytes, begin, end - begin, "", 0);
    case 4: /* the line once more, somewhere else */
        put(&l, (const char *)data + begin, end - begin < 500 ? end - begin : 500);
        for (from = dice((uint32_t)bytes); from > 0 && data[from - 1] != '\n';) from--;
        return splice(data, bytes, max_bytes, from, 0, l.text, l.n);
    case 5: /* another number */
        if (!find_word(data, bytes, "0123456789", &from, &to)) return bytes;
        put_number(&l);
        return splice(data, bytes, max_bytes, from, to - from, l.text, l.n);
    case 6: /* another register */
        if (!find_word(data, bytes, "%abcdefghijklmnopqrstuvwxyz0123456789", &from, &to))
            return bytes;
        put_register(&l, "48px"[dice(4)], "");
        return splice(data, bytes, max_bytes, from, to - from, l.text, l.n);
    default: /* another modifier */
        if (!find_word(data, bytes, ".abcdefghijklmnopqrstuvwxyz0123456789_:", &from, &to))
            return bytes;
        put_opcode(&l, forms[dice(N_FORMS)].pattern);
        return splice(data, bytes, max_bytes, from, to - from, l.text, l.n);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed) {
    state = seed ? seed : 1;
    if (!bytes || dice(30) == 0) return fresh(data, max_bytes);
    if (dice(10) == 0) return LLVMFuzzerMutate(data, bytes, max_bytes);
    for (uint32_t n = 1 + dice(3); n-- && bytes;) bytes = mutate(data, bytes, max_bytes);
    return bytes;
}
