/* What L2 holds when a program's next launch begins: for each allocation, how much was touched since it was. Launches and
 * memsets leave data there. What the host copies to the device stays there where L2 has the lines already, or room; of
 * other large copies only a part does (microbenchmarks patterns, first; habits, vectors; fresh, copy). */
#pragma once

#include <stdint.h>

struct l2_allocation {
    uint64_t begin;
    double bytes;  /* touched when last */
    double copied; /* from the host, by large copies */
    double group;  /* touched by the same launch in all; INFINITY: by copies from the host only */
    int turn;      /* number of that launch */
};
struct l2 {
    int n, turn;
    double copied; /* by large copies from the host since the last launch */
    struct l2_allocation *at;
};

/* A launch, or a memset, comes: what is touched until the next call belongs together. */
void l2_turn(struct l2 *l);
void l2_touch(struct l2 *l, uint64_t begin, double bytes, double group);
/* A large copy from the host to the allocation that begins there. */
void l2_copy(struct l2 *l, uint64_t begin, double bytes);
/* If it has been filled by such copies alone: the bytes of all copies since the last launch; else 0. */
double l2_copied(const struct l2 *l, uint64_t begin);
/* Bytes of all allocations that launches, memsets or copies have gone through. While L2 has room for them, it keeps what the
 * host copies (microbenchmark fresh, copy: all of 8 MiB; behind 64 MiB of memset nearly nothing of it). */
double l2_filled(const struct l2 *l);
/* Bytes touched since a mean byte of the allocation was, without what the next launch touches; INFINITY: never. */
double l2_distance(const struct l2 *l, uint64_t begin);
