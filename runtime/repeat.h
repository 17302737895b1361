/* What a program does again and again to take its time, for --repeats: equal operations in a row (A A A), and
 * equal sequences of them (A B C A B C A B C). An operation is whatever changes device memory: a launch, a copy,
 * a memset, a product; it is known by a key, which is made of all that it is given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPEAT_LONGEST = 48 }; /* operations in a sequence */

struct repeat {
    uint64_t key[REPEAT_LONGEST]; /* of the last ones, in a ring */
    uint64_t n;                   /* operations so far */
    uint64_t
        matched[REPEAT_LONGEST + 1]; /* by distance: so many in a row equal the one so far before */
};

/* The next operation has this key. True: it need not be done, since `most` (>= 1) equal ones in a row were; or it
 * belongs to a sequence that was done as often, and twice at least: the second time is what shows the sequence. */
bool repeat_skips(struct repeat *r, uint64_t key, int most);
/* A key, made longer by some bytes. Begin with 0. */
uint64_t repeat_key(uint64_t key, const void *bytes, size_t n);
