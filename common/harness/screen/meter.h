/* A bar of characters: how much of 100 %. */
#pragma once

#include <stdbool.h>

enum { METER_MOST = 40, METER_BYTES = 3 * METER_MOST + 1 };

/* `width` columns; blocks: of block characters in eighths (UTF-8), else '#' and '-'. Returns out. */
const char *meter(double pct, int width, bool blocks, char out[METER_BYTES]);
