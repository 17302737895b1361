#include "emu.h"

#include "tests/test.h"

#include <stdio.h>
#include <string.h>

void emu_test_open(struct emu_test *t) {
    *t = (struct emu_test){.options.n_threads = 1};
    assert_fine(emu_memory_open(&t->memory));
    assert_fine(emu_result_open(&t->result));
}

void emu_test_close(struct emu_test *t) {
    emu_result_close(t->result);
    emu_module_close(t->module);
    emu_memory_close(t->memory);
}

const char *emu_test_run(struct emu_test *t, const char *text, const char *kernel, unsigned blocks,
                         unsigned threads, unsigned shared_bytes, int n, void *const *data,
                         const size_t *bytes) {
    struct emu_grid g = {.grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .shared_bytes = shared_bytes,
                         .n_args = n};
    uint64_t address[16];
    emu_result_clear(t->result);
    emu_module_close(t->module);
    t->module = NULL;
    const char *why = emu_module_open(t->memory, text, strlen(text), "test.ptx", &t->module);
    if (why) return why;
    const struct emu_kernel *k = emu_module_kernel(t->module, kernel);
    assert_non_null(k);
    for (int i = 0; i < n; i++) {
        assert_fine(emu_memory_alloc(t->memory, bytes[i], &address[i]));
        memcpy(emu_memory_at(t->memory, address[i], bytes[i]), data[i], bytes[i]);
        g.arg[i] = &address[i];
        g.arg_bytes[i] = 8;
    }
    why = emu_launch(t->memory, k, &g, chip_find("h200"), &t->options, t->result);
    for (int i = 0; i < n; i++) {
        memcpy(data[i], emu_memory_at(t->memory, address[i], bytes[i]), bytes[i]);
        emu_memory_free(t->memory, address[i]);
    }
    return why;
}

const char *emu_test_kernel(int n_args, const char *declarations, const char *body) {
    static char text[65536];
    int at = snprintf(text, sizeof text,
                      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry test(");
    for (int i = 0; i < n_args; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s.param .u64 p%d", i ? ", " : "", i);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   ")\n{\n.reg .b32 %%r<100>;\n.reg .f32 %%f<100>;\n.reg .b64 %%rd<100>;\n.reg "
                   ".b16 %%h<100>;\n"
                   ".reg .pred %%p<100>;\n.reg .f64 %%d<20>;\n%s\nmov.u32 %%r0, %%tid.x;\n",
                   declarations);
    for (int i = 0; i < n_args; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "ld.param.u64 %%rd%d, [p%d];\n", i, i);
    at += snprintf(text + at, sizeof text - (size_t)at, "%s\nret;\n}\n", body);
    assert_true(at < (int)sizeof text);
    return text;
}

const char *emu_test_report(const struct emu_test *t, const char *text) {
    for (int i = 0; i < emu_result_reports(t->result); i++)
        if (strstr(emu_result_report(t->result, i), text)) return emu_result_report(t->result, i);
    return NULL;
}
