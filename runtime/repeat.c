#include "repeat.h"

#include <string.h>

bool repeat_skips(struct repeat *r, uint64_t key, int most) {
    bool skips = false;
    for (unsigned p = 1; p <= REPEAT_LONGEST; p++) {
        bool same = p <= r->n && r->key[(r->n - p) % REPEAT_LONGEST] == key;
        r->matched[p] = same ? r->matched[p] + 1 : 0;
        uint64_t done = p > 1 && most < 2 ? 2 : (uint64_t)most;
        skips |= r->matched[p] > p * (done - 1);
    }
    r->key[r->n++ % REPEAT_LONGEST] = key;
    return skips;
}

uint64_t repeat_key(uint64_t key, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (uint64_t word; n; at += sizeof word) {
        size_t some = n < sizeof word ? n : sizeof word;
        word = 0;
        memcpy(&word, at, some);
        key = (key ^ word) * 0x9e3779b97f4a7c15u; /* odd: no word is lost */
        key ^= key >> 29;
        n -= some;
        if (some < sizeof word) break;
    }
    return key;
}
