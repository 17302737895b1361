/* Device memory: what is handed out and found again, which bytes were written, what launches did and may overlap. */
#include "emulator/core/memory.h"
#include "emulator/core/footprint.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)

static struct emu_memory *m;

static int begin(void **state) {
    (void)state;
    return emu_memory_open(&m) != NULL;
}
static int end(void **state) {
    (void)state;
    emu_memory_close(m);
    return 0;
}
static uint64_t alloc(size_t bytes) {
    uint64_t p;
    assert_null(emu_memory_alloc(m, bytes, &p));
    return p;
}

/* A process that has as many mappings as it may is told so, and what it has stays as it is. */
static void shared_with_the_host(void **state) {
    enum { PAGE = 4096, MOST = 1 << 17 };
    int n = 0;
    (void)state;
    emu_memory_hide(m);
    uint64_t p = alloc(5000), full = alloc(5000);
    memset(emu_memory_at(m, full, 5000), 7, 5000);
    assert_null(emu_memory_share(m, p));
    assert_ptr_equal(emu_memory_at(m, p, 5000), (void *)(uintptr_t)p);
    *(volatile char *)(uintptr_t)p = 1;
    char *pages = mmap(NULL, (size_t)MOST * PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(pages != MAP_FAILED);
    while (n < MOST && !mprotect(pages + (size_t)n * PAGE, PAGE, PROT_READ)) n += 2;
    const char *why =
        n < MOST ? emu_memory_share(m, full) : NULL; /* no limit here: nothing to see */
    const bool is_shared = emu_memory_is_shared(m, full);
    munmap(pages, (size_t)MOST * PAGE);
    if (n < MOST) {
        assert_reason(why, "cannot share 5000 bytes with the host: ");
        assert_false(is_shared);
    }
    assert_int_equal(((char *)emu_memory_at(m, full, 5000))[4999], 7);
}

static void addresses(void **state) {
    (void)state;
    uint64_t a = alloc(5000), b = alloc(1), none = alloc(0), out = 1;
    assert_int_equal(a % 4096, 0);
    assert_true(b - a >= GIB + 5000 && b - a <= GIB + 3 * 4096);
    assert_true(none - b >= GIB);
    assert_int_equal(emu_memory_find(m, none)->end, none + 1);
    memset((void *)(uintptr_t)a, 1, 5000);
    assert_ptr_equal(emu_memory_at(m, a, 5000), (void *)(uintptr_t)a);
    assert_ptr_equal(emu_memory_at(m, a + 4999, 1), (void *)(uintptr_t)(a + 4999));
    assert_null(emu_memory_at(m, a, 5001));
    assert_null(emu_memory_at(m, a + 5000, 0));
    assert_null(emu_memory_at(m, a - 1, 1));
    assert_null(emu_memory_at(m, a, UINT64_MAX));
    assert_ptr_equal(emu_memory_find(m, a + 4999)->base, a);
    assert_null(emu_memory_find(m, a + 5000));
    assert_int_equal(emu_memory_below(m, a + 5000)->base, a);
    assert_null(emu_memory_below(m, a - 1));
    emu_memory_free(m, a + 1); /* no allocation begins there */
    assert_non_null(emu_memory_find(m, a));
    emu_memory_free(m, a);
    assert_null(emu_memory_find(m, a));
    assert_int_equal(emu_memory_below(m, a)->base, a);
    emu_memory_free(m, a);
    assert_true(alloc(5000) > none); /* nothing is handed out twice */
    assert_non_null(emu_memory_alloc(m, SIZE_MAX, &out));
    assert_int_equal(out, 0);
    assert_non_null(emu_memory_alloc(m, (size_t)1 << 45, &out));
    emu_memory_free(m, 0);
    for (int n = 0; n < 300; n++) *(char *)(uintptr_t)alloc(4096) = 1;
    assert_non_null(emu_memory_find(m, b));
}

/* Can this byte be read? The kernel says so of what it is asked to write. */
static bool readable(uint64_t at) {
    int pipe_of[2];
    assert_int_equal(pipe(pipe_of), 0);
    const bool can = write(pipe_of[1], (const void *)(uintptr_t)at, 1) == 1;
    close(pipe_of[0]);
    close(pipe_of[1]);
    return can;
}

/* To the last page of each, and what is left of addresses to the last byte. */
static bool is_readable(uint64_t p) {
    int there[2];
    assert_int_equal(pipe(there), 0);
    bool is = write(there[1], (const void *)(uintptr_t)p, 1) == 1; /* else EFAULT */
    close(there[0]), close(there[1]);
    return is;
}

static void hidden(void **state) {
    (void)state;
    assert_false(emu_memory_is_hidden(m, alloc(4)));
    assert_true(is_readable(alloc(4)));
    emu_memory_close(m);
    assert_null(emu_memory_open(&m));
    emu_memory_hide(m);
    uint64_t a = alloc(5000), b = alloc(5000);
    char *at = emu_memory_at(m, a, 5000);
    assert_ptr_not_equal(at, (void *)(uintptr_t)a);
    memset(at, 1, 5000);
    assert_ptr_equal(emu_memory_at(m, a + 10, 1), at + 10);
    assert_int_equal(emu_memory_address(m, at + 10), a + 10);
    assert_int_equal(emu_memory_address(m, &a), (uintptr_t)&a);
    assert_true(emu_memory_is_hidden(m, a) && emu_memory_is_hidden(m, a + 5000));
    assert_false(emu_memory_is_hidden(m, (uintptr_t)at) || emu_memory_is_hidden(m, (uintptr_t)&a));
    assert_false(is_readable(a) || is_readable(b));
    emu_memory_fill(m, a, 2, 5000);
    assert_int_equal(at[4999], 2);
    char *before = emu_memory_at(m, b, 5000);
    assert_null(emu_memory_share(m, b));
    assert_null(emu_memory_share(m, b)); /* managed memory: one address for both */
    assert_ptr_equal(emu_memory_at(m, b, 5000), (void *)(uintptr_t)b);
    assert_true(is_readable(b) && is_readable(b + 4999) && !is_readable(a));
    assert_false(is_readable((uintptr_t)before));
    const uint64_t whole = alloc(8192), more = alloc(4097); /* whole pages, and no more */
    assert_null(emu_memory_share(m, whole));
    assert_null(emu_memory_share(m, more));
    assert_true(is_readable(whole + 8191) && !is_readable(whole + 8192));
    assert_true(is_readable(more + 4096));
    emu_memory_free(m, a);
    assert_false(is_readable((uintptr_t)at));
    emu_memory_free(m, b);
    assert_false(is_readable(b));
    emu_heap_begin(m);
    const uint64_t heap = emu_heap_alloc(m, 40);
    assert_true(heap && !is_readable(heap));
    *(char *)emu_memory_place(emu_memory_find(m, heap), heap) = 1;
    assert_null(emu_heap_free(m, heap));
    assert_null(emu_memory_workspace(m, &a));
    assert_false(is_readable(a));
}

static void pages(void **state) {
    (void)state;
    uint64_t out;
    const char *why;
    assert_non_null(emu_memory_textures(m));
    size_t all = (size_t)1 << 45; /* what was reserved: less where addresses are short */
    while ((why = emu_memory_alloc(m, all - 3 * 4096, &out)) && strstr(why, "has no")) all /= 2;
    if (why) assert_reason(why, "cannot allocate");
    emu_memory_close(m);
    assert_null(emu_memory_open(&m));
    assert_reason(emu_memory_alloc(m, all - 3 * 4096 + 1, &out), "the emulator has no");
    emu_memory_close(m);
    emu_memory_close(NULL);
    assert_null(emu_memory_open(&m));
    const uint64_t one = alloc(1), more = alloc(4097);
    assert_true(readable(one) && readable(more + 4096));
    emu_memory_free(m, more);
    assert_false(readable(more + 4096));
}

/* Cells of the race check, as checks/global.c makes them. */
static uint64_t with_cells(uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    a->cells_bytes = 4096;
    a->cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(a->cells != MAP_FAILED && readable((uint64_t)(uintptr_t)a->cells));
    return (uint64_t)(uintptr_t)a->cells;
}

/* They go when the allocation goes, and when numbers of launches begin again. */
static void cells(void **state) {
    (void)state;
    static unsigned char host[64];
    const uint64_t first = alloc(8), p = alloc(8), own = (uintptr_t)host;
    const struct emu_allocation *a = emu_memory_find(m, first);
    uint64_t at = with_cells(first);
    for (int n = 0; n < 4096; n++) emu_memory_next_launch(m, false);
    assert_true(!a->cells && !readable(at));
    a = emu_memory_find(m, p);
    at = with_cells(p);
    emu_memory_free(m, p);
    assert_true(!a->cells && !readable(at));
    assert_null(emu_memory_adopt(m, own, sizeof host));
    at = with_cells(own);
    emu_memory_watch(m, own);
    const uint64_t watched = (uintptr_t)emu_memory_find(m, own)->written;
    assert_true(readable(watched));
    emu_memory_disown(m, own);
    assert_false(readable(at) || readable(watched));
    /* the first of the heap's begins a page, and its end is one */
    emu_heap_begin(m);
    const uint64_t whole = emu_heap_alloc(m, 3 * 4096);
    assert_int_equal(whole % 4096, 0);
    memset((void *)(uintptr_t)whole, 7, 3 * 4096);
    at = with_cells(whole);
    a = emu_memory_find(m, whole);
    assert_null(emu_heap_free(m, whole));
    assert_true(!a->cells && !readable(at));
    for (unsigned n = 0; n < 3 * 4096; n++) assert_int_equal(((unsigned char *)whole)[n], 0);
    const uint64_t kept = alloc(8), kept_cells = with_cells(kept);
    emu_memory_watch(m, kept);
    const uint64_t kept_watched = (uintptr_t)emu_memory_find(m, kept)->written;
    emu_memory_close(m);
    assert_false(readable(kept_cells) || readable(kept_watched));
    assert_null(emu_memory_open(&m));
}

/* What is freed keeps nothing, and no byte of its pages can be touched. */
static void freed(void **state) {
    (void)state;
    const uint64_t p = alloc(5000), q = alloc(4096), h = alloc(8192);
    emu_memory_trace(m);
    emu_memory_watch(m, p);
    emu_memory_next_launch(m, false);
    struct emu_allocation *a = emu_memory_find(m, p);
    assert_true(a->written && a->footprint && readable(p) && readable(p + 8191) && readable(q));
    assert_false(readable(p - 1) || readable(p + 8192) || readable(q + 4096));
    emu_memory_free(m, p);
    assert_true(a->freed && !a->written && !a->footprint);
    assert_false(readable(p) || readable(p + 4999) || readable(p + 8191));
    assert_true(readable(q) && readable(h + 8191));
    emu_memory_free(m, q);
    assert_false(readable(q));
    emu_memory_fill(m, h, 3, 100);
    assert_null(emu_memory_find(m, h)->written);
    emu_memory_watch(m, h);
    emu_memory_fill(m, h + 4, 3, 8); /* that is written */
    assert_int_equal(emu_memory_find(m, h)->written[1], 15);
    assert_int_equal(emu_memory_find(m, h)->written[3], 0);
    /* and of the heap: whole pages become zeros, whatever else lies on the first and the last stays */
    emu_heap_begin(m);
    const uint64_t before = emu_heap_alloc(m, 300), pages = emu_heap_alloc(m, 3 * 4096),
                   after = emu_heap_alloc(m, 300);
    for (uint64_t at = before; at < after + 300; at++) *(unsigned char *)(uintptr_t)at = 7;
    emu_memory_next_launch(m, false);
    a = emu_memory_find(m, pages);
    assert_true(a->written && a->footprint);
    assert_null(emu_heap_free(m, pages));
    assert_true(!a->written && !a->footprint);
    for (uint64_t at = before; at < after + 300; at++) {
        const bool page_in =
            at / 4096 * 4096 >= pages && at / 4096 * 4096 + 4096 <= pages + 3 * 4096;
        assert_int_equal(*(unsigned char *)(uintptr_t)at, page_in ? 0 : 7);
    }
}

/* Of the host's own: in the order of addresses, whatever comes first. */
static void adopted(void **state) {
    (void)state;
    static unsigned char host[4000];
    uint64_t at = (uintptr_t)host, own = alloc(16);
    for (int n = 0; n < 4; n++) {
        static const int order[] = {2, 0, 3, 1};
        assert_null(emu_memory_adopt(m, at + 1000 * (unsigned)order[n], 900));
    }
    for (unsigned n = 0; n < 4; n++) {
        assert_int_equal(emu_memory_find(m, at + 1000 * n + 899)->base, at + 1000 * n);
        assert_null(emu_memory_find(m, at + 1000 * n + 900));
    }
    emu_memory_share(m, at + 5);
    assert_true(emu_memory_is_shared(m, at + 899));
    assert_false(emu_memory_is_shared(m, at + 1000));
    assert_false(emu_memory_is_shared(m, at + 900));
    assert_true(emu_memory_any_shared(m));
    emu_memory_disown(m, at + 1); /* not where it begins */
    assert_non_null(emu_memory_find(m, at));
    emu_memory_watch(m, at);
    emu_memory_disown(m, at);
    for (unsigned n = 1; n < 4; n++)
        assert_int_equal(emu_memory_find(m, at + 1000 * n)->end, at + 1000 * n + 900);
    assert_null(emu_memory_find(m, at));
    assert_false(emu_memory_any_shared(m));
    emu_memory_share(m, at);
    assert_false(emu_memory_any_shared(m));
    for (unsigned n = 1; n < 4; n++) assert_non_null(emu_memory_find(m, at + 1000 * n));
    assert_non_null(emu_memory_find(m, own));
    emu_memory_share(m, own);
    emu_memory_free(m, own);
    assert_false(emu_memory_any_shared(m)); /* a freed one counts no more */
}

/* Byte for byte as a map of them says. */
static void written(void **state) {
    (void)state;
    enum { BYTES = 61 };
    srand(3);
    for (int round = 0; round < 200; round++) {
        bool map[BYTES] = {false};
        static unsigned char host[BYTES + 8];
        uint64_t p = (uintptr_t)host + (unsigned)round % 8; /* it may begin inside a word */
        assert_null(emu_memory_adopt(m, p, BYTES));
        emu_memory_written(m, p, 3); /* not watched: nothing happens */
        emu_memory_watch(m, p);
        const struct emu_allocation *a = emu_memory_find(m, p);
        uint8_t *kept = a->written;
        emu_memory_watch(m, p);
        assert_ptr_equal(a->written, kept);
        for (int n = 0; n < 3; n++) {
            unsigned from = (unsigned)rand() % BYTES, bytes = (unsigned)rand() % (n ? 12 : 30);
            emu_memory_written(m, p + from, bytes);
            for (unsigned k = from; k < from + bytes && k < BYTES; k++) map[k] = true;
        }
        for (unsigned k = 0; k < BYTES; k++)
            assert_int_equal(a->written[(p + k) / 4 - p / 4] >> (p + k) % 4 & 1, map[k]);
        emu_memory_written(m, p, UINT64_MAX); /* to its end */
        for (unsigned k = 0; k < BYTES; k++)
            assert_int_equal(a->written[(p + k) / 4 - p / 4] >> (p + k) % 4 & 1, 1);
        emu_memory_written(m, p, BYTES + 50); /* and nothing behind it */
        assert_int_equal(a->written[(p + BYTES - 1) / 4 - p / 4 + 1], 0);
        emu_memory_disown(m, p);
    }
    emu_memory_watch(m, 5);
    emu_memory_written(m, 5, 1);
}

static void filled(void **state) {
    (void)state;
    uint64_t p = alloc(100);
    emu_memory_fill(m, p, 7, 100); /* not watched: it is not remembered */
    assert_false(emu_memory_is_filled(m, p, 7, 100));
    emu_memory_watch(m, p);
    emu_memory_fill(m, p + 4, 0x1ff, 50);
    assert_int_equal(*(unsigned char *)(uintptr_t)(p + 4), 0xff);
    assert_int_equal(*(unsigned char *)(uintptr_t)(p + 53), 0xff);
    assert_int_equal(*(unsigned char *)(uintptr_t)(p + 54), 7);
    assert_true(emu_memory_is_filled(m, p + 4, 0x1ff, 50));
    assert_false(emu_memory_is_filled(m, p, 0x1ff, 50));
    assert_false(emu_memory_is_filled(m, p + 4, 0x1ff, 49));
    assert_false(emu_memory_is_filled(m, p + 4, 0, 50));
    emu_memory_fill(m, p, 1, 101); /* too long: nothing happens */
    emu_memory_fill(m, p + 1, 1, 100);
    emu_memory_fill(m, p, 1, 0);
    assert_true(emu_memory_is_filled(m, p + 4, 0x1ff, 50));
    emu_memory_fill(m, p, 2, 100);
    assert_true(emu_memory_is_filled(m, p, 2, 100));
    emu_memory_written(m, p, 1); /* by the host */
    assert_false(emu_memory_is_filled(m, p, 2, 100) || emu_memory_is_filled(m, p, 2, 1));
    emu_memory_fill(m, p, 2, 100);
    emu_memory_touch(emu_memory_find(m, p), EMU_READ, p, p + 4);
    emu_memory_next_launch(m, false);
    assert_true(emu_memory_is_filled(m, p, 2, 100));
    emu_memory_touch(emu_memory_find(m, p), EMU_WRITE, p, p + 4); /* by a launch */
    assert_false(emu_memory_is_filled(m, p, 2, 100));
    emu_memory_next_launch(m, false);
    assert_false(emu_memory_is_filled(m, p, 2, 100) || emu_memory_is_filled(m, p, 2, 1));
    assert_false(emu_memory_is_filled(m, 5, 2, 100));
    emu_memory_fill(m, 5, 2, 100);
}

static void launches(void **state) {
    (void)state;
    uint64_t p = alloc(100), q = alloc(100);
    struct emu_allocation *a = emu_memory_find(m, p), *b = emu_memory_find(m, q);
    struct emu_effect e;
    int n = 0;
    assert_false(emu_memory_next_effect(m, &n, &e));
    emu_memory_next_launch(m, false);
    assert_int_equal(emu_memory_launch(m), 1);
    emu_memory_touch(a, EMU_WRITE, p + 8, p + 12);
    emu_memory_touch(a, EMU_WRITE, p + 20, p + 24);
    emu_memory_touch(a, EMU_WRITE, p + 12, p + 16); /* inside what is known */
    emu_memory_touch(b, EMU_READ, q, q + 4);
    n = 0;
    assert_true(emu_memory_next_effect(m, &n, &e));
    assert_int_equal(e.base, p), assert_int_equal(e.end, p + 100), assert_false(e.read);
    assert_int_equal(e.wrote_from, p + 8), assert_int_equal(e.wrote_to, p + 24);
    assert_true(emu_memory_next_effect(m, &n, &e));
    assert_int_equal(e.base, q), assert_true(e.read);
    assert_int_equal(e.wrote_from, 0), assert_int_equal(e.wrote_to, 0);
    assert_false(emu_memory_next_effect(m, &n, &e));
    emu_memory_touch(b, EMU_ATOM, q + 4, q + 8);
    n = 1;
    assert_true(emu_memory_next_effect(m, &n, &e));
    assert_true(e.read), assert_int_equal(e.wrote_from, q + 4), assert_int_equal(e.wrote_to, q + 8);
    /* The next one may overlap this; the one behind it both, if it overlaps the next. */
    emu_memory_next_launch(m, true);
    assert_int_equal(a->touched, 0), assert_int_equal(a->ahead, EMU_WRITE);
    assert_int_equal(a->ahead_from, p + 8), assert_int_equal(a->ahead_to, p + 24);
    assert_int_equal(a->wrote_from, UINT64_MAX), assert_int_equal(a->wrote_to, 0);
    emu_memory_touch(a, EMU_WRITE, p + 40, p + 44);
    emu_memory_next_launch(m, false);
    assert_int_equal(a->ahead_from, p + 8), assert_int_equal(a->ahead_to, p + 44);
    assert_int_equal(b->ahead, EMU_ATOM);
    emu_memory_touch(a, EMU_READ, p, p + 4);
    emu_memory_next_launch(m, false);
    assert_int_equal(a->ahead, EMU_READ), assert_int_equal(b->ahead, 0);
    assert_int_equal(a->ahead_from, UINT64_MAX), assert_int_equal(a->ahead_to, 0);
    for (uint32_t k = emu_memory_launch(m); k < 4095; k++) emu_memory_next_launch(m, false);
    assert_int_equal(emu_memory_launch(m), 4095);
    emu_memory_next_launch(m, false); /* 12 bits, and 0 is none */
    assert_int_equal(emu_memory_launch(m), 1);
}

static void parameters(void **state) {
    (void)state;
    uint64_t p, again, w;
    struct emu_effect e;
    int n = 0;
    alloc(8);
    assert_null(emu_memory_params(m, 100, &p));
    assert_int_equal(emu_memory_find(m, p)->end, p + 100);
    assert_true(emu_memory_find(m, p)->read_only);
    assert_null(emu_memory_params(m, EMU_PARAM_BYTES, &again));
    assert_int_equal(p, again);
    memset((void *)(uintptr_t)p, 1, EMU_PARAM_BYTES);
    assert_null(emu_memory_params(m, 0, &again));
    assert_int_equal(emu_memory_find(m, p)->end, p + 1);
    assert_null(emu_memory_workspace(m, &w));
    *(uint32_t *)(uintptr_t)(w + 60) = 9;
    assert_null(emu_memory_workspace(m, &again));
    assert_int_equal(w, again);
    assert_int_equal(*(uint32_t *)(uintptr_t)w, 64); /* its size, and zeros */
    for (unsigned k = 4; k < 64; k++) assert_int_equal(*(unsigned char *)(uintptr_t)(w + k), 0);
    assert_int_equal(emu_memory_find(m, w)->end, w + 64);
    emu_memory_touch(emu_memory_find(m, p), EMU_READ, p, p + 4);
    emu_memory_touch(emu_memory_find(m, w), EMU_WRITE, w, w + 4);
    assert_false(emu_memory_next_effect(m, &n, &e)); /* neither is the program's */
}

static void traced(void **state) {
    (void)state;
    uint64_t p = alloc(100), w, param;
    int n = 0;
    emu_memory_next_launch(m, false);
    assert_null(emu_memory_find(m, p)->footprint);
    emu_memory_trace(m);
    assert_null(emu_memory_workspace(m, &w));
    assert_null(emu_memory_params(m, 8, &param));
    emu_memory_next_launch(m, false);
    assert_non_null(emu_memory_find(m, p)->footprint);
    assert_null(emu_memory_find(m, param)->footprint);
    assert_null(emu_memory_next_trace(m, &n));
    emu_memory_touch(emu_memory_find(m, w), EMU_WRITE, w, w + 4);
    emu_memory_touch(emu_memory_find(m, p), EMU_READ, p, p + 4);
    n = 0;
    assert_ptr_equal(emu_memory_next_trace(m, &n), emu_memory_find(m, p)->footprint);
    assert_null(emu_memory_next_trace(m, &n));
    emu_memory_free(m, p);
    emu_memory_next_launch(m, false);
}

static void heap(void **state) {
    (void)state;
    assert_int_equal(emu_heap_alloc(m, 16), 0); /* no launch has begun that may */
    emu_heap_begin(m);
    uint64_t all = emu_heap_alloc(m, 8 << 20), own = alloc(16), p, q;
    assert_true(all && own >= all + 4 * GIB + GIB); /* behind the piece, and its gap */
    assert_null(emu_heap_free(m, all));
    p = emu_heap_alloc(m, 1), q = emu_heap_alloc(m, 256);
    assert_true(p && q && p % 256 == 0 && q % 256 == 0);
    assert_int_equal(q - p, 512);
    assert_int_equal(emu_heap_alloc(m, 1) - q, 512); /* something lies between any two */
    assert_int_equal(emu_heap_alloc(m, 0), 0);
    *(unsigned char *)(uintptr_t)(q + 255) = 1;
    assert_non_null(emu_memory_find(m, q + 255)), assert_null(emu_memory_find(m, q + 256));
    assert_non_null(emu_memory_find(m, q)->written);
    assert_null(emu_memory_at(m, q, 1)); /* not for the host */
    emu_memory_free(m, q);
    assert_non_null(emu_memory_find(m, q));
    assert_string_equal(emu_heap_free(m, q + 1), "which malloc() did not give");
    assert_string_equal(emu_heap_free(m, 5), "which malloc() did not give");
    assert_string_equal(emu_heap_free(m, own), "which the host allocated");
    assert_null(emu_heap_free(m, q));
    assert_string_equal(emu_heap_free(m, q), "which is free already");
    assert_null(emu_memory_find(m, q));
    assert_int_equal(emu_heap_alloc(m, (8 << 20) - 1), 0); /* two bytes are there already */
    all = emu_heap_alloc(m, (8 << 20) - 2);
    assert_true(all);
    assert_int_equal(emu_heap_alloc(m, 1), 0);
    assert_null(emu_heap_free(m, all));
    assert_true(emu_heap_alloc(m, 1));
    emu_heap_limit(m, (size_t)16 << 30);
    assert_true(emu_heap_alloc(m, (uint64_t)3 << 30));
    uint64_t far = emu_heap_alloc(m, (uint64_t)3 << 30); /* another piece */
    assert_true(far);
    *(unsigned char *)(uintptr_t)(far + ((uint64_t)3 << 30) - 1) = 1;
    assert_int_equal(emu_heap_alloc(m, (uint64_t)5 << 30), 0); /* no piece is so large */
    assert_null(emu_heap_free(m, far));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(addresses), TEST(hidden),     TEST(shared_with_the_host),
        TEST(pages),     TEST(cells),      TEST(freed),
        TEST(adopted),   TEST(written),    TEST(filled),
        TEST(launches),  TEST(parameters), TEST(traced),
        TEST(heap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
