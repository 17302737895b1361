/* What only the emulator has: its counts. */
#pragma once

#include "device.h"
#include "emulator.h"

/* Counts of everything launched since the last clear, for emu_counters.h. NULL if it is no emulator. */
struct emu_result *device_emu_result(struct device *d);
