/* The place of the emulator: until it is there, DEVICE_EMU is refused. */
#include "device_ops.h"

#include "reason.h"

const char *device_emu_open(const char *chip, struct device **out) {
    (void)chip;
    *out = NULL;
    return reason_as(STATUS_NOTHING, "the emulator is not built in yet; use --device cuda");
}
