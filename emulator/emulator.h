/* The emulator from outside; device_emu.c is its caller.
 *
 *   memory_open - alloc - module_open - launch - reports, counts - module_close - memory_close */
#pragma once

#include "emulator/core/emulator_options.h"
#include "emulator/core/memory.h"
#include "emulator/core/trust.h"
#include "emulator/front/module.h"
#include "emulator/launch/launch.h"
