/* The numbers of a chip that the predictor reads, by name, from a text file (chips/NAME.txt). A line is
 *
 *   name value unit source...
 *
 * and # begins a comment. Each name of predictor_chip.def stands there once, and no other: with a number missing,
 * predictions would be wrong without a message. A chip of Ada has none of the numbers of Hopper's own units. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct predictor_chip {
#define PARAM(name) double name;
#include "predictor_chip.def"
#undef PARAM
    bool
        is_ada; /* no numbers of WGMMA, TMA, mbarriers and clusters: code of sm_89, not of sm_90a */
};

/* NULL, or what is wrong with the file: line, name. */
const char *predictor_chip_read(const char *path, struct predictor_chip *out);
/* The same for chips/NAME.txt; returns the reason if that chip was not measured. */
const char *predictor_chip_find(const char *name, struct predictor_chip *out);

/* "h200: 99 cases, mean 9.7 %, worst 35.8 %", from records/validation/NAME.txt, which `make validate`
 * writes; "NAME: not validated" without such a file. */
void predictor_chip_validated(const char *name, char *out, size_t out_bytes);

/* How good one kind of value ("cycles", "tensor pipe", "occupancy", "stalls") was in that validation, from
 * the same file: "8 in 10 of 116 validated cases were within 5.4 %". False, and "", if it does not say. */
bool predictor_chip_kind(const char *name, const char *kind, char *out, size_t out_bytes);

/* Where measured cycles lie, as shares of the predicted ones, by the frozen cases of kernels of one family: `tensor`, `issue` or
 * `latency`, by what it is bound by (validate/intervals.py); `all` if a value is not known (NaN). */
struct predictor_interval {
    char family[16];
    double low80, high80, low95, high95;
    int n_cases;
};
/* False: for that chip there is none. */
bool predictor_chip_interval(const char *name, double tensor_pct, double issue_pct,
                             struct predictor_interval *out);

/* `assignment` is name=value: for questions of the kind "what if". */
const char *predictor_chip_set(struct predictor_chip *c, const char *assignment);
