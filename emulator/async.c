/* Late completion: operations that run on after their instruction, until something waits for them. */
#include "emu.h"

void emu_async_begin(struct emu_block *b) { (void)b; }
bool emu_async_flush(struct emu_block *b) { return (void)b, false; }
void emu_async_end(struct emu_block *b) { (void)b; }
void emu_async_free(struct emu_block *b) { (void)b; }
void emu_async_print(struct emu_block *b, FILE *out) { (void)b, (void)out; }
