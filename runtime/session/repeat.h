/* --repeats: operations that a program repeats to time them.
 *
 * An operation is whatever changes device memory: a launch, a copy, a memset, a product; it is known by a key, which is
 * made of all that it is given. One that was done often enough is put off when it comes again. As soon as the program
 * looks at what it would have written, all that was put off is done, in its order, except
 *
 *   * what writes only what is overwritten, or freed, before it is read;
 *   * more of equal operations in a row, or of equal sequences of them (A B C A B C), as soon as one of them leaves the
 *     memory as it was.
 *
 * What is never read is never done.
 *
 * What a launch reads and writes is known from an equal one that was run. Of one that was never run (--repeats 0) it is
 * taken to be everything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct repeat_span {
    uint64_t from, to; /* addresses: [from, to) */
};
/* What an operation did to some memory. */
struct repeat_effect {
    struct repeat_span read, written; /* from == to: not at all */
};

enum { REPEAT_EFFECTS = 32 }; /* of an operation that can be put off, at most */

struct repeat {
    struct repeat_known *known; /* operations that were done, by key */
    size_t n_known, room;
    struct repeat_op *op; /* put off */
    size_t n, capacity;
    uint64_t last; /* key of what memory was changed by last; 0: by something else */
    const struct emu_memory *memory; /* NULL: addresses are the host's own */
};

/* Was an operation with this key done `most` times or more, and may it be put off? */
bool repeat_done_before(const struct repeat *r, uint64_t key, int most);
/* It was done now, with these effects; all: whatever it overwrites. */
void repeat_note(struct repeat *r, uint64_t key, const struct repeat_effect *e, int n,
                 bool overwrites);
/* The effects of what is put off before it was ever done. */
void repeat_expect(struct repeat *r, uint64_t key, const struct repeat_effect *e, int n,
                   bool overwrites);
/* Are its effects known? */
bool repeat_is_known(const struct repeat *r, uint64_t key);
/* It must not be put off: others may see what it does in other ways, or it does more than write memory. */
void repeat_never(struct repeat *r, uint64_t key);
/* Puts it off; `run` will do it with `what`, which is free()d then or when it need not be done. */
void repeat_put_off(struct repeat *r, uint64_t key, void (*run)(void *what), void *what);
/* The same for an allocation that is to be freed. */
void repeat_put_off_free(struct repeat *r, struct repeat_span all, void (*run)(void *what),
                         void *what);

/* Would anything that was put off write, or read, in there? */
bool repeat_writes(const struct repeat *r, struct repeat_span s);
bool repeat_reads(const struct repeat *r, struct repeat_span s);
/* Does what was put off and matters, when `overwritten` is about to be (from == to: nothing is). */
void repeat_settle(struct repeat *r, struct repeat_span overwritten);

/* A key, made longer by some bytes. Begin with 0. */
uint64_t repeat_key(uint64_t key, const void *bytes, size_t n);
