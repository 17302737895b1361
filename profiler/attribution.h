/* Counts beside the source lines that they come from: on a GPU from CUPTI's SASS metrics and the
 * line table that -lineinfo leaves in the cubin, on the emulator from its counts and the predictor.
 *
 *   attribution_collect - attribution_print, _csv or _json - source_free (common/device/source.h) */
#pragma once

#include "common/device/device.h"
#include "common/device/source.h"

#include <jansson.h>
#include <stdio.h>

/* Runs the launches once, counted by instruction. */
const char *attribution_collect(struct device *d, struct device_image *image,
                                const struct device_launch *launches, int n, struct source *out);

/* ---- What they say ---- */

/* The resource that is busy longest, or ATTRIBUTION_TIME: the launches take more than twice as long
 * as it is busy, so what counts is where warps wait. */
enum { ATTRIBUTION_TIME = -1 };
int attribution_limit(const struct source *s);

/* The share, 0 to 1, of the resource (of warps' cycles). */
double attribution_share(const struct source *s, const struct source_counts *c, int limit);

/* The n lines with the largest shares, the largest first, as indices of s->line; -1: no more. */
void attribution_hot(const struct source *s, int limit, int n, int *line);

/* The i-th of all values of some counts; false: there are no more. */
struct attribution_value {
    char name[32];
    const char *unit;
    double value;
};
bool attribution_value(const struct source *s, const struct source_counts *c, int i,
                       struct attribution_value *out);

/* ---- Printing: attribution_print.c ---- */

/* Which instructions are printed below their lines. */
enum { ATTRIBUTION_PTX = 1 << SOURCE_PTX, ATTRIBUTION_SASS = 1 << SOURCE_SASS };

/* The hottest lines, what is inlined where, and every file of the kernel's folder that has counts: the
 * kernel's own whole, of others the lines that have some. Files are looked for as named and below
 * the folder above the program's. NULL, or why one that is there could not be read. */
const char *attribution_print(const struct source *s, unsigned instructions, FILE *out);

/* One value a row; those that are 0 are left out. */
void attribution_csv(const struct source *s, unsigned instructions, FILE *out);
json_t *attribution_json(const struct source *s, unsigned instructions);
