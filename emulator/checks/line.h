/* The shadow of 128 bytes of global memory: for every 4-byte word the last write, and the last read by an agent
 * other than the writer.
 *
 * Most warps touch neighbouring words with neighbouring lanes. Then one access stands for a stretch of words. A
 * line has two stretches, [0, split) and [split, 32), for rows that begin in its middle. Other patterns are kept
 * word by word, until another launch.
 *
 *   who    63..52   51..24    23..6   5        4        3..0
 *          launch   cluster   pc      strong   in block of a word: its bytes; of a stretch: 12 to 14, of which
 *                                                       lane k is that of words 2^(k - 12) each; 15: many lanes
 *   when   63..40   39..20    15..6   5..0
 *          stamp    epoch     agent   lane (63: more than one); of a stretch: of word 0, as if it began there
 *
 * strong: volatile, relaxed and the like, atomics; in block: that only at .cta or .cluster scope, so not between clusters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    ACCESS_STRONG = 0x20,
    ACCESS_IN_BLOCK = 0x10,
    ACCESS_LANES_MANY = 63,
    ACCESS_LAST_EPOCH = (1 << 20) - 1
};

struct access {
    uint64_t who, when;
};
static inline uint32_t access_launch(struct access a) { return (uint32_t)(a.who >> 52); }
static inline uint32_t access_cluster(struct access a) {
    return (uint32_t)(a.who >> 24) & 0xfffffff;
}
static inline uint32_t access_pc(struct access a) { return (uint32_t)(a.who >> 6) & 0x3ffff; }
static inline uint32_t access_stamp(struct access a) { return (uint32_t)(a.when >> 40); }
static inline uint32_t access_epoch(struct access a) {
    return (uint32_t)(a.when >> 20) & ACCESS_LAST_EPOCH;
}
static inline uint32_t access_agent(struct access a) { return (uint32_t)(a.when >> 6) & 0x3ff; }
static inline uint32_t access_lane(struct access a) { return (uint32_t)a.when & 63; }

/* `a`, without bytes and lane, of a stretch: lane `lane` touches `bytes` (1 to 16) from word `word` on, the next
 * lane those behind them. */
struct access stretch_access(struct access a, unsigned lane, unsigned word, unsigned bytes);
static inline bool stretch_many_lanes(struct access a) { return (a.who & 15) == 15; }
/* Has every word that both hold the same lane in both? */
static inline bool stretch_same_lanes(struct access a, struct access b) {
    return !((a.who ^ b.who) & 15) && !((a.when ^ b.when) & 63);
}

enum { LINE_BYTES = 128, LINE_WORDS = 32 };
struct stretches {
    struct access of[2];
    uint32_t split;
};
struct word {
    struct access write, read;
};
struct line {
    struct stretches write, read;
    uint32_t by_word; /* the launch in which words are kept singly; an old one, 0: they are not */
};

/* Is the n-th stretch, or a part of it, in [from, to)? */
static inline bool stretch_meets(const struct stretches *s, int n, unsigned from, unsigned to) {
    return n ? to > s->split : from < s->split;
}
/* [from, to) now belongs to a. False, with nothing changed: two stretches cannot hold the rest. */
bool stretch_put(struct stretches *s, unsigned from, unsigned to, struct access a);
/* Word by word from now on. */
void line_spread(struct line *l, struct word word[LINE_WORDS], uint32_t launch);
