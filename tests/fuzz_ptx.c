/* PTX files. seeds: tests/seeds/ptx */
#include "emulator/emulator.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct emu_memory *memory;
    struct emu_module *module = NULL;
    if (emu_memory_open(&memory)) abort();
    const char *why = emu_module_open(memory, (const char *)data, bytes, "fuzz", &module);
    if (!why != !!module) abort(); /* a module or a reason, never both */
    if (!why) {
        const struct emu_kernel *kernel = emu_module_kernel(module, "attention");
        if (kernel) emu_kernel_static_shared(kernel);
        emu_module_close(module);
    }
    emu_memory_close(memory);
    return 0;
}
