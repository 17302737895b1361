/* --repeats: what is put off, what of it is done, and that memory is then as if all had been done at once. */
#include "runtime/session/repeat.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { N_CELLS = 6, N_KINDS = 7 };

static uint64_t cell[N_CELLS], right[N_CELLS]; /* done by `r` when it must; done at once */
static int runs[N_KINDS];
static int order[4096], n_order;
static struct repeat r;
static bool partly;   /* nothing overwrites all that it may write */
static uint64_t base; /* of the keys: others in each test, since nothing is forgotten */

static struct repeat_span at(int from, int to) {
    return (struct repeat_span){(uintptr_t)&cell[from], (uintptr_t)&cell[to]};
}
static const struct repeat_span nothing;

/* What kind k does to memory. 2 and 6 read what they write; 4 writes not all that it says. */
static void apply(uint64_t *c, int k) {
    if (k == 0) c[0] = 5;
    if (k == 1) c[1] = c[0] + 1;
    if (k == 2) c[0] = c[0] < 9 ? c[0] + 1 : c[0];
    if (k == 3) c[2] = c[1] * 3 + c[0];
    if (k == 4) c[3] = 7;
    if (k == 5) c[4] = c[2], c[0] = c[3] + 2;
    if (k == 6) c[5] += 1;
}
static int effects(int k, struct repeat_effect e[2], bool *overwrites) {
    *overwrites = k != 4 && !partly;
    memset(e, 0, 2 * sizeof *e);
    if (k == 0) e[0].written = at(0, 1);
    if (k == 1) e[0].read = at(0, 1), e[1].written = at(1, 2);
    if (k == 2) e[0] = (struct repeat_effect){at(0, 1), at(0, 1)};
    if (k == 3) e[0] = (struct repeat_effect){at(0, 2), at(2, 3)};
    if (k == 4) e[0].written = at(3, 5);
    if (k == 5)
        e[0] = (struct repeat_effect){at(2, 3), at(4, 5)},
        e[1] = (struct repeat_effect){at(3, 4), at(0, 1)};
    if (k == 6) e[0] = (struct repeat_effect){at(5, 6), at(5, 6)};
    return 2;
}
static uint64_t key(int k) { return base + (uint64_t)k; }

static void run(void *what) {
    int k = *(int *)what;
    struct repeat_effect e[2];
    bool overwrites;
    int n = effects(k, e, &overwrites);
    apply(cell, k);
    runs[k]++;
    order[n_order++ % 4096] = k;
    if (!repeat_is_known(&r, key(k))) repeat_expect(&r, key(k), e, n, overwrites);
}
static int *what_of(int k) {
    int *what = malloc(sizeof *what);
    *what = k;
    return what;
}
static void put_off(int k) { repeat_put_off(&r, key(k), run, what_of(k)); }
static void note(int k) {
    struct repeat_effect e[2];
    bool overwrites;
    int n = effects(k, e, &overwrites);
    apply(cell, k);
    repeat_note(&r, key(k), e, n, overwrites);
}
static void expect(int k) {
    struct repeat_effect e[2];
    bool overwrites;
    int n = effects(k, e, &overwrites);
    repeat_expect(&r, key(k), e, n, overwrites);
}
static void begin(void) {
    repeat_settle(&r, nothing);
    base += 100;
    partly = false;
    r.last = 0;
    memset(cell, 0, sizeof cell), memset(right, 0, sizeof right), memset(runs, 0, sizeof runs);
    n_order = 0;
}
static int all_runs(void) {
    int n = 0;
    for (int k = 0; k < N_KINDS; k++) n += runs[k];
    return n;
}

static void keys(void **state) {
    (void)state;
    unsigned char bytes[33] = {0};
    assert_int_equal(repeat_key(7, bytes, 0), 7);
    for (size_t n = 1; n <= 32; n++) {
        uint64_t zero = repeat_key(7, bytes, n);
        assert_int_equal(zero, repeat_key(7, bytes, n));
        assert_int_not_equal(zero, repeat_key(8, bytes, n));
        for (size_t b = 0; b < n; b++) { /* every byte counts, and none behind them */
            bytes[b] = 1;
            assert_int_not_equal(zero, repeat_key(7, bytes, n));
            bytes[b] = 0;
        }
        bytes[n] = 1;
        assert_int_equal(zero, repeat_key(7, bytes, n));
        bytes[n] = 0;
    }
    /* Addresses, whose low bits are alike, do not fall on few places of the table. */
    unsigned char seen[1024] = {0};
    int places = 0;
    for (uint64_t x = 0; x < 1024; x++) {
        uint64_t k = repeat_key(1, &(uint64_t){x << 8}, 8) % 1024;
        places += !seen[k];
        seen[k] = 1;
    }
    assert_true(places > 512);
}

static void what_was_done(void **state) {
    (void)state;
    begin();
    assert_false(repeat_done_before(&r, key(0), 1));
    assert_true(repeat_done_before(&r, key(0), 0)); /* --repeats 0: even the first is put off */
    assert_false(repeat_is_known(&r, key(0)));
    note(0);
    assert_true(repeat_is_known(&r, key(0)));
    assert_true(repeat_done_before(&r, key(0), 1));
    assert_false(repeat_done_before(&r, key(0), 2));
    note(0);
    assert_true(repeat_done_before(&r, key(0), 2));
    assert_false(repeat_done_before(&r, key(1), 1));
    expect(1); /* known, and not done */
    assert_true(repeat_is_known(&r, key(1)));
    assert_false(repeat_done_before(&r, key(1), 1));
    repeat_never(&r, key(0));
    assert_false(repeat_done_before(&r, key(0), 0));
    assert_false(repeat_done_before(&r, key(0), 1));
    note(0); /* may be put off again, as if for the first time */
    assert_true(repeat_done_before(&r, key(0), 1));
    assert_false(repeat_done_before(&r, key(0), 2));
    repeat_never(&r, key(9));
    assert_false(repeat_done_before(&r, key(9), 0));
}

static void many_keys(void **state) {
    (void)state;
    static struct repeat all;
    const struct repeat_effect none = {nothing, nothing};
    for (uint64_t k = 1; k <= 5000; k++) repeat_note(&all, k * 1024, &none, 1, true);
    for (uint64_t k = 1; k <= 5000; k++) assert_true(repeat_done_before(&all, k * 1024, 1));
    for (uint64_t k = 1; k <= 5000; k++) assert_false(repeat_is_known(&all, k * 1024 + 1));
    assert_int_equal(all.n_known, 5000);
    for (uint64_t k = 1; k <= 5000; k++) repeat_note(&all, k * 1024, &none, 1, true);
    assert_int_equal(all.n_known, 5000);
    assert_true(all.room >= 2 * all.n_known && all.room <= 16 * all.n_known);
}

static void what_it_touches(void **state) {
    (void)state;
    begin();
    note(3); /* reads 0 and 1, writes 2 */
    assert_false(repeat_writes(&r, at(0, N_CELLS)));
    assert_false(repeat_reads(&r, at(0, N_CELLS)));
    put_off(3);
    assert_true(repeat_writes(&r, at(2, 3)));
    assert_true(repeat_writes(&r, at(0, N_CELLS)));
    assert_false(repeat_writes(&r, at(0, 2)));
    assert_false(repeat_writes(&r, at(3, N_CELLS)));
    assert_true(repeat_reads(&r, at(0, 1)));
    assert_true(repeat_reads(&r, at(1, 2)));
    assert_false(repeat_reads(&r, at(2, N_CELLS)));
    struct repeat_span last_byte = {at(2, 3).to - 1, at(2, 3).to},
                       behind = {at(2, 3).to, at(3, 4).to};
    assert_true(repeat_writes(&r, last_byte));
    assert_false(repeat_writes(&r, behind));
    assert_false(repeat_writes(&r, (struct repeat_span){at(2, 3).from, at(2, 3).from}));
    begin();
    put_off(3); /* unknown: it may touch anything */
    assert_true(repeat_writes(&r, at(5, 6)));
    assert_true(repeat_reads(&r, at(5, 6)));
    begin();
    repeat_put_off_free(&r, at(1, 3), run, what_of(6));
    assert_true(repeat_writes(&r, at(2, 4)));
    assert_false(repeat_writes(&r, at(3, 4)));
    assert_false(repeat_reads(&r, at(1, 3)));
    repeat_settle(&r, nothing);
    assert_int_equal(runs[6], 1);
}

/* How often is it done? */
static void equal_ones(void **state) {
    (void)state;
    begin();
    note(0);
    for (int n = 0; n < 5; n++) put_off(0);
    repeat_settle(&r, nothing);
    assert_int_equal(runs[0], 0); /* memory is as the last left it */
    assert_int_equal(r.n, 0);
    note(4);
    put_off(0);
    repeat_settle(&r, nothing);
    assert_int_equal(runs[0], 1); /* something else came between */
    begin();
    note(2);
    for (int n = 0; n < 20; n++) put_off(2); /* counts to 9 and stays there */
    repeat_settle(&r, nothing);
    assert_int_equal(cell[0], 9);
    assert_int_equal(runs[2], 9); /* the ninth changes nothing */
    begin();
    note(6);
    for (int n = 0; n < 20; n++) put_off(6);
    repeat_settle(&r, nothing);
    assert_int_equal(cell[5], 21);
    begin(); /* A B C A B C: the first time shows that nothing changes */
    partly = true;
    note(0), note(1), note(3);
    for (int n = 0; n < 10; n++) put_off(0), put_off(1), put_off(3);
    repeat_settle(&r, nothing);
    assert_int_equal(all_runs(), 3);
    assert_int_equal(cell[2], 23);
    begin();
    partly = true;
    note(0), note(1), note(3);
    cell[1] = 0; /* of another: the first time changes it, the second does not */
    for (int n = 0; n < 10; n++) put_off(0), put_off(1), put_off(3);
    repeat_settle(&r, nothing);
    assert_int_equal(all_runs(), 6);
    assert_int_equal(cell[2], 23);
    begin(); /* what is overwritten is not done at all */
    note(0), note(1), note(3);
    for (int n = 0; n < 10; n++) put_off(0), put_off(1), put_off(3);
    cell[1] = 0;
    repeat_settle(&r, nothing);
    assert_int_equal(all_runs(), 3);
    assert_int_equal(cell[2], 23);
    begin(); /* twice is enough */
    partly = true;
    note(0), note(1);
    put_off(0), put_off(1), put_off(0), put_off(1);
    repeat_settle(&r, nothing);
    assert_int_equal(all_runs(), 2);
    begin();
    partly = true;
    note(0), note(2);
    for (int n = 0; n < 3; n++) put_off(0), put_off(2);
    put_off(2); /* behind the sequence */
    repeat_settle(&r, nothing);
    assert_int_equal(cell[0], 7);
}

/* Sequences of up to 48 are seen. */
static void long_sequences(void **state) {
    (void)state;
    static uint64_t far[100];
    for (int length = 46; length <= 49; length++) {
        begin();
        for (int k = 0; k < length; k++)
            repeat_note(
                &r, key(k),
                &(struct repeat_effect){.written = {(uintptr_t)&far[k], (uintptr_t)&far[k + 1]}}, 1,
                false);
        for (int n = 0; n < 5; n++)
            for (int k = 0; k < length; k++) repeat_put_off(&r, key(k), run, what_of(N_KINDS - 1));
        repeat_settle(&r, nothing);
        assert_int_equal(all_runs(), length <= 48 ? length : 5 * length);
    }
}

static void what_is_never_read(void **state) {
    (void)state;
    begin();
    note(0), note(1), note(2), note(3), note(4);
    put_off(1), put_off(2), put_off(0);
    repeat_settle(&r, at(1, 2)); /* 1's result is overwritten; 0 makes 2's dead */
    assert_int_equal(all_runs(), 1);
    assert_int_equal(runs[0], 1);
    begin();
    note(0), note(1), note(4);
    put_off(1), put_off(0); /* 1 reads what 0 overwrites, and is not read: but it may be */
    repeat_settle(&r, nothing);
    assert_int_equal(runs[1], 1);
    begin();
    note(0), note(1);
    put_off(0), put_off(1), put_off(0);
    repeat_settle(&r, nothing); /* 1 reads the first 0 */
    assert_int_equal(runs[1], 1);
    assert_int_equal(order[0], 0);
    begin();
    note(4), note(0);
    put_off(4), put_off(0), put_off(4); /* it writes not all that it says: nothing is dead */
    repeat_settle(&r, nothing);
    assert_int_equal(runs[4], 2);
    begin();
    note(4), note(0);
    put_off(4);
    repeat_settle(&r, at(3, 4)); /* a part is overwritten */
    assert_int_equal(runs[4], 1);
    begin();
    note(4), note(0);
    put_off(4);
    repeat_settle(&r, at(3, 5));
    assert_int_equal(runs[4], 0);
    begin();
    note(4), note(0);
    put_off(4);
    repeat_settle(&r, at(2, 6));
    assert_int_equal(runs[4], 0);
    begin(); /* freed: nobody reads it */
    note(0), note(1), note(4);
    put_off(0), put_off(1);
    repeat_put_off_free(&r, at(0, 2), run, what_of(6));
    repeat_settle(&r, nothing);
    assert_int_equal(runs[0] + runs[1], 0);
    assert_int_equal(runs[6], 1);
    begin(); /* behind one that may read anything nothing is dead */
    note(0);
    note(4);
    put_off(0), put_off(1);
    repeat_settle(&r, at(0, 2));
    assert_int_equal(runs[0], 1);
    assert_int_equal(runs[1], 1);
}

/* Any order of operations, looks and overwritten memory gives what doing all at once gives. */
static void as_if_at_once(void **state) {
    (void)state;
    srand(1);
    for (int round = 0; round < 3000; round++) {
        begin();
        partly = rand() % 2;
        int most = rand() % 3, length = rand() % 40, kinds = 1 + rand() % N_KINDS;
        for (int n = 0; n < length; n++) {
            int k = rand() % kinds;
            apply(right, k);
            if (repeat_done_before(&r, key(k), most)) {
                put_off(k);
            } else {
                repeat_settle(&r, nothing);
                note(k);
            }
            if (rand() % 8) continue;
            int from = rand() % N_CELLS;
            struct repeat_span s = at(from, from + 1);
            if (rand() % 2) { /* the program looks at a cell */
                if (repeat_writes(&r, s)) repeat_settle(&r, nothing);
                assert_int_equal(cell[from], right[from]);
            } else { /* or writes it */
                if (repeat_reads(&r, s) || repeat_writes(&r, s)) repeat_settle(&r, s);
                cell[from] = right[from] = (uint64_t)n;
                r.last = 0;
            }
        }
        repeat_settle(&r, nothing);
        assert_memory_equal(cell, right, sizeof cell);
    }
}

static int end(void **state) {
    (void)state;
    begin();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys),
                                       cmocka_unit_test(what_was_done),
                                       cmocka_unit_test(many_keys),
                                       cmocka_unit_test(what_it_touches),
                                       cmocka_unit_test(equal_ones),
                                       cmocka_unit_test(long_sequences),
                                       cmocka_unit_test(what_is_never_read),
                                       cmocka_unit_test(as_if_at_once)};
    return cmocka_run_group_tests(tests, NULL, end);
}
