/* facts FILE.ptx: one JSON object of what the module has, whatever its text looks like: kernels, variables that outlive a
 * launch, special registers that are read, functions of the system that are called, products of other numbers than
 * fp16. */
#include "trial.h"

#include "common/base/path.h"
#include "common/base/reason.h"
#include "emulator/core/instruction.h"
#include "emulator/core/memory.h"
#include "emulator/front/module.h"
#include "emulator/instructions/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(json_t *names, const char *name) {
    json_array_append_new(names, json_string(name));
}

/* Tensor cores that multiply something else than fp16. */
static bool multiplies_others(const char *opcode) {
    static const char *const types[] = {".f64", ".tf32", ".bf16", ".e4m3", ".e5m2",
                                        ".s8",  ".u8",   ".s4",   ".u4",   ".b1"};
    if (strncmp(opcode, "mma.", 4) && strncmp(opcode, "wmma.mma", 8) &&
        strncmp(opcode, "wgmma.mma", 9))
        return false;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (strstr(opcode, types[t])) return true;
    return false;
}

static const char *const systems[] = {[EMU_SYSTEM_PRINT] = "printf",
                                      [EMU_SYSTEM_ASSERT] = "__assertfail",
                                      [EMU_SYSTEM_MALLOC] = "malloc",
                                      [EMU_SYSTEM_FREE] = "free"};

static void kernel_facts(const struct emu_kernel *k, json_t *specials, json_t *calls,
                         json_t *refused, json_t *products) {
    json_t *read = json_array();
    for (int row = 0; row < EMU_SPECIAL_ROWS; row++)
        if (k->specials >> row & 1 && emu_special_name(row)) add(read, emu_special_name(row));
    json_object_set_new(specials, k->name, read);
    for (int n = 0; n < k->n_inst; n++) {
        const struct emu_inst *i = &k->inst[n];
        if (!strncmp(i->opcode, "call", 4) && i->run != emu_enter)
            add(calls, systems[i->op[0].imm]);
        if (multiplies_others(i->opcode)) add(products, i->opcode);
    }
    if (k->refused) json_object_set_new(refused, k->name, json_string(k->refused));
}

static json_t *variables(const struct emu_memory *memory, const struct emu_module *m) {
    json_t *names = json_array();
    const char *name;
    for (int i = 0; (name = emu_module_variable_name(m, i)); i++) {
        uint64_t address, bytes;
        emu_module_variable(m, name, &address, &bytes);
        if (!emu_memory_find(memory, address)->read_only) add(names, name);
    }
    return names;
}

const char *trial_facts(int argc, char **argv) {
    struct emu_memory *memory = NULL;
    struct emu_module *m = NULL;
    json_t *kernels = json_array(), *specials = json_object(), *calls = json_array(),
           *refused = json_object(), *products = json_array();
    size_t bytes = 0;
    if (argc != 1) return reason_as(STATUS_USAGE, "facts FILE.ptx");
    char *text = path_read(argv[0], &bytes);
    if (!text) return reason_as(STATUS_FILE, "%s: %s", argv[0], strerror(errno));
    const char *why = emu_memory_open(&memory), *name;
    if (!why) why = emu_module_open(memory, text, bytes, argv[0], &m);
    free(text);
    if (why) return reason_as(STATUS_UNSUPPORTED, "%s", why);
    for (int i = 0; (name = emu_module_kernel_name(m, i)); i++) {
        add(kernels, name);
        kernel_facts(emu_module_kernel(m, name), specials, calls, refused, products);
    }
    json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "products", products, "kernels",
                            kernels, "variables", variables(memory, m), "specials", specials,
                            "calls", calls, "refused", refused);
    json_dumpf(all, stdout, JSON_COMPACT);
    json_decref(all);
    emu_module_close(m);
    emu_memory_close(memory);
    return NULL;
}
