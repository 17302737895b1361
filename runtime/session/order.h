/* Which operations of a program's streams are ordered. On the emulator an operation has ended before the call that
 * issues it returns; on a GPU two of them may run at the same time, or beside the host, unless something orders
 * them.
 *
 *   timeline    a stream, or the host                       operation   a launch, a copy, a product
 *   stamp       the number of an operation in its stream    run         bytes that it uses in the same way
 *   clock       of a timeline: of each stream, the last operation that has ended before what comes now
 *
 * An operation begins after all that its stream, the host when it issues it, and the events for which the stream
 * waits have seen. One in the legacy default stream also comes after all in blocking streams, and before those that
 * they get later. Two operations race if neither has seen the other and one of them writes what the other uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_HOST, ORDER_LEGACY, ORDER_STREAMS = 256 };

/* How bytes are used; strong accesses (atomics, volatile ones) do not race with each other. */
enum order_use { ORDER_READ, ORDER_WRITE, ORDER_STRONG_READ, ORDER_STRONG_WRITE, ORDER_USES };

struct order_clock {
    uint32_t at[ORDER_STREAMS];
};
struct order_run {
    uint64_t from, to;
};
struct order_runs { /* in the order of addresses, apart */
    struct order_run *run;
    size_t n, room;
};
struct order_operation {
    int stream;
    uint32_t stamp;
    char what[96]; /* "kernel NAME" */
    struct order_runs of[ORDER_USES];
};

struct order {
    struct order_clock clock[ORDER_STREAMS];
    bool used[ORDER_STREAMS], blocking[ORDER_STREAMS];
    int n;                      /* streams that there ever were */
    bool gave_up;               /* more streams, or runs, than are kept */
    struct order_operation now; /* stream 0: none has begun */
    struct order_operation *op; /* those that the host has not waited for */
    size_t n_ops, room;
};

void order_open(struct order *o);
/* Its number; 0: there is none, and nothing is checked any more. */
int order_add_stream(struct order *o, bool blocking);
void order_drop_stream(struct order *o, int stream);

/* An operation in this stream, until order_end(). */
void order_begin(struct order *o, int stream, const char *what);
/* It uses [from, to); calls of one use are made in the order of addresses, or its runs are sorted at the end. */
void order_use(struct order *o, enum order_use use, uint64_t from, uint64_t to);
/* Ends it. True: it races with `*with` (valid until the next call), first at [*at, *end). */
bool order_end(struct order *o, const struct order_operation **with, uint64_t *at, uint64_t *end,
               bool *writes, bool *with_writes);

/* What an event keeps, and who waits for it. */
void order_record(struct order *o, int stream, struct order_clock *out);
void order_wait(struct order *o, int stream_or_host, const struct order_clock *c);
/* The host waits for a stream, or for all. */
void order_host_waits(struct order *o, int stream);
void order_host_waits_for_all(struct order *o);
