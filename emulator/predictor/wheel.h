/* Events of the simulation in order of time: a ring of lists, one for each of the next cycles. An event
 * that lies farther off stays in its list for another round. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WHEEL_SLOTS = 4096 };

struct wheel_event {
    uint64_t at;
    uint32_t next; /* index + 1; 0: last */
    uint8_t kind, barrier;
    void *who;  /* whom it concerns */
    void *data; /* and what, by kind */
};

struct wheel {
    uint32_t head[WHEEL_SLOTS], tail[WHEEL_SLOTS]; /* index + 1 */
    uint64_t used[WHEEL_SLOTS / 64];               /* bit: the list is not empty */
    struct wheel_event *pool;
    uint32_t n_pool, free; /* index + 1 */
    uint64_t n;            /* events waiting */
};

void wheel_add(struct wheel *w, const struct wheel_event *e);
/* Takes the next event of cycle t; false: there is none. Cycles must be asked for in order, none
 * with events left out. */
bool wheel_take(struct wheel *w, uint64_t t, struct wheel_event *out);
/* The first cycle >= t that may have an event; UINT64_MAX: none. */
uint64_t wheel_next(const struct wheel *w, uint64_t t);
void wheel_close(struct wheel *w);
