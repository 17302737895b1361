/* Races in shared memory access by access, on a cluster made for the test: two blocks of two warps, whose
 * clocks the test sets. Which access meets which, what is said of it, and what is forgotten. */
#include "tests/test.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/race.h"
#include "emulator/core/failed_check.h"
#include "tests/fake/faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = 2, PCS = 16, SHARED = 64, MANY = EMU_MANY_LANES, ALL = 15, FAR_PC = (1 << 18) + 5 };

static struct emu_reports reports = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct emu_origin origin[PCS];
static struct emu_operand operand[2];
static struct emu_inst code[PCS];
static struct emu_kernel kernel = {
    .name = "test", .inst = code, .origin = origin, .n_inst = PCS, .row_bytes = 256};
static const struct emu_options options;
static struct emu_launch_state launch = {
    .kernel = &kernel, .options = &options, .reports = &reports};
static struct emu_cluster c;
static struct emu_block block[2];
static struct emu_warp warp[2 * WARPS];
static uint32_t rows[1] = {4};

static int open_cluster(void **state) {
    (void)state;
    memset(&c, 0, sizeof c);
    memset(warp, 0, sizeof warp);
    launch.events = NULL;
    operand[0] = (struct emu_operand){.kind = EMU_OP_GROUP, .n = 1, .rows = rows};
    for (uint32_t pc = 0; pc < PCS; pc++) {
        code[pc] = (struct emu_inst){.op = operand, .n_ops = 1, .vec = 1, .pc = pc};
        code[pc].opcode = "access";
        code[pc].class = EMU_LD_SHARED;
        origin[pc].ptx_line = 100 + (int)pc;
    }
    c.n = 2;
    c.agents = emu_agents_open();
    for (uint32_t r = 0; r < 2; r++) {
        block[r] = (struct emu_block){.launch = &launch,
                                      .kernel = &kernel,
                                      .cluster = &c,
                                      .rank = r,
                                      .n_warps = WARPS,
                                      .warp = warp + WARPS * r,
                                      .shared_bytes = SHARED};
        block[r].shadow = emu_shadow_open(SHARED);
        c.block[r] = &block[r];
        for (uint32_t n = 0; n < WARPS; n++) {
            struct emu_warp *w = &block[r].warp[n];
            w->block = &block[r];
            w->index = n;
            w->agent = r * WARPS + n;
            w->live = EMU_FULL;
        }
    }
    for (int n = 0; n < 3; n++) emu_agents_begin(&c); /* stamps of earlier clusters: up to 2 */
    assert_int_equal(emu_agents_base(&block[0]), 2);
    return 0;
}

static int close_cluster(void **state) {
    (void)state;
    emu_reports_clear(&reports);
    for (int n = 0; n < 2 * WARPS; n++) free(warp[n].taint);
    for (int r = 0; r < 2; r++) emu_shadow_close(block[r].shadow);
    free(c.agents);
    return 0;
}

/* Lane `lane` of warp w touches `bytes` (a mask) of the word at `address` of block b. */
static void touch_in(struct emu_block *b, int w, uint32_t pc, uint32_t lane, uint32_t address,
                     uint8_t bytes, enum emu_access what) {
    struct emu_inst far_away = code[0], *i = pc < PCS ? &code[pc] : &far_away;
    struct emu_pattern p = {.mask = 1u << lane % 32, .key = address % 4, .bytes = 4, .n_cells = 1};
    p.cell_bytes[0] = bytes;
    p.cell_lane[0] = (uint8_t)lane;
    i->pc = pc;
    emu_shadow_access(&warp[w], b, i, &p, address, what);
}
static void touch(int w, uint32_t pc, uint32_t lane, uint32_t address, uint8_t bytes,
                  enum emu_access what) {
    touch_in(&block[0], w, pc, lane, address, bytes, what);
}

static bool copies(int w, uint32_t pc, struct emu_issue op, uint32_t address, uint32_t bytes) {
    return emu_shared_async(&warp[w], &block[0], &code[pc], &op, address, bytes);
}

static void nothing_said(void) {
    if (reports.n) fail_msg("%s", emu_reports_text(&reports, 0));
}
/* One report, with all of what stands between the bars. */
static void said(const char *wanted) {
    char words[256], *rest = words;
    snprintf(words, sizeof words, "%s", wanted);
    if (reports.n != 1) fail_msg("%d reports, not one: %s", reports.n, wanted);
    for (char *word; (word = strsep(&rest, "|"));)
        if (!strstr(emu_reports_text(&reports, 0), word))
            fail_msg("no '%s' in: %s", word, emu_reports_text(&reports, 0));
    emu_reports_clear(&reports);
    reports = (struct emu_reports){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static void of_two_warps(void **state) {
    (void)state;
    for (uint32_t at = 0; at <= 60; at += 20) {
        char text[128];
        touch(1, 5, 7, at, ALL, EMU_WRITE);
        touch(0, 3, 7, at, ALL, EMU_READ);
        snprintf(text, sizeof text,
                 "warp 0 of rank 0 reads shared 0x%x, which warp 1 of rank 0 wrote: nothing "
                 "orders|line 103|line 105",
                 at);
        said(text);
        warp[0].clock.seen[1] = warp[0].clock.all[1] = 3;
        touch(0, 3, 7, at, ALL, EMU_READ); /* it knows it now */
        nothing_said();
        touch(1, 4, 7, at, ALL, EMU_WRITE);
        snprintf(
            text, sizeof text,
            "warp 1 of rank 0 writes shared 0x%x, which warp 0 of rank 0 read:|line 104|line 103",
            at);
        said(text);
        warp[0].clock.seen[1] = warp[0].clock.all[1] = 2;
        touch(0, 6, 7, at, ALL, EMU_WRITE);
        snprintf(
            text, sizeof text,
            "warp 0 of rank 0 writes shared 0x%x, which warp 1 of rank 0 wrote:|line 106|line 104",
            at);
        said(text);
    }
    /* of another block's memory */
    touch_in(&block[1], 2, 5, 0, 8, ALL, EMU_WRITE);
    touch_in(&block[1], 1, 6, 0, 8, ALL, EMU_READ);
    said("warp 1 of rank 0 reads shared 0x8 of rank 1, which warp 0 of rank 1 wrote");
    /* a place past all that are told apart */
    touch(1, FAR_PC, 0, 4, ALL, EMU_WRITE);
    touch(0, 2, 0, 4, ALL, EMU_READ);
    assert_null(strstr(emu_reports_text(&reports, 0), "\n    PTX line 102  access\n"));
    said("which warp 1 of rank 0 wrote");
}

static void of_bytes(void **state) {
    (void)state;
    touch(1, 1, 0, 0, 2, EMU_WRITE);
    touch(1, 1, 0, 4, 4, EMU_WRITE | EMU_STRONG);
    touch(0, 2, 0, 0, ALL - 2, EMU_READ);
    touch(0, 2, 0, 4, ALL - 4, EMU_READ);
    touch(0, 3, 0, 0, ALL - 2, EMU_WRITE);
    nothing_said();
    touch(1, 4, 0, 1, 1, EMU_READ); /* base is the word, whatever byte comes first */
    said("which warp 0 of rank 0 wrote");
    touch(0, 2, 0, 4, 4, EMU_READ);
    said("wrote");
    /* two stores of one warp are one, of two warps not */
    touch(1, 1, 2, 8, 1, EMU_WRITE);
    touch(1, 1, 2, 8, 2, EMU_WRITE);
    touch(0, 2, 0, 8, 1, EMU_READ);
    said("wrote");
    touch(0, 1, 2, 12, 1, EMU_WRITE);
    touch(1, 1, 3, 12, 2, EMU_WRITE);
    touch(2, 2, 0, 12, 1, EMU_READ);
    nothing_said(); /* the last write is what is kept */
    touch(0, 1, 3, 16, 1, EMU_READ);
    touch(0, 1, 5, 16, 2, EMU_READ);
    touch(1, 2, 3, 16, 1, EMU_WRITE);
    said("which warp 0 of rank 0 read");
}

static void of_lanes(void **state) {
    (void)state;
    touch(0, 1, 3, 0, ALL, EMU_WRITE);
    touch(0, 2, 3, 0, ALL, EMU_READ);
    touch(0, 2, 3, 0, ALL, EMU_READ);
    touch(0, 3, 3, 0, ALL, EMU_WRITE);
    nothing_said(); /* one lane */
    touch(0, 2, 4, 0, ALL, EMU_READ);
    said("a lane reads shared 0x0, which another lane of the warp wrote: neither __syncthreads() "
         "nor __syncwarp()|line 102|"
         "line 103");
    touch(0, 4, 4, 36, ALL, EMU_READ);
    touch(0, 5, 5, 36, ALL, EMU_WRITE);
    said("a lane writes shared 0x24, which another lane of the warp read|line 105|line 104");
    warp[0].clock.all[0] = warp[0].clock.seen[0]; /* they have met */
    touch(0, 2, 6, 36, ALL, EMU_READ);
    nothing_said();
    warp[0].clock.all[0] = 2;
    /* what two lanes read, one of them must not write; nor read what two wrote parts of */
    touch(0, 1, 3, 8, ALL, EMU_READ);
    touch(0, 1, 5, 8, ALL, EMU_READ);
    touch(0, 2, 5, 8, ALL, EMU_WRITE);
    said("another lane of the warp read");
    touch(0, 1, 3, 12, 1, EMU_WRITE);
    touch(0, 1, 5, 12, 2, EMU_WRITE);
    touch(0, 2, 5, 12, ALL, EMU_READ);
    said("another lane of the warp wrote");
    touch(0, 1, 3, 16, 1, EMU_WRITE);
    touch(0, 1, 3, 16, 2, EMU_WRITE);
    touch(0, 2, 3, 16, ALL, EMU_READ);
    nothing_said();
    touch(0, 1, MANY, 20, ALL, EMU_WRITE);
    touch(0, 2, MANY, 20, ALL, EMU_READ);
    nothing_said(); /* perhaps each its own */
    touch(0, 3, 4, 20, 3, EMU_READ);
    nothing_said();
    touch(0, 3, 4, 20, ALL, EMU_READ);
    said("wrote");
    touch(0, 1, 4, 24, 3, EMU_WRITE);
    touch(0, 2, MANY, 24, ALL, EMU_READ);
    nothing_said();
    touch(0, 1, 4, 28, ALL, EMU_WRITE);
    touch(0, 2, MANY, 28, ALL, EMU_READ);
    said("wrote");
}

/* Of another warp up to `all` everything is known, up to `seen` what its lanes in `lanes` did. */
static void of_what_is_known(void **state) {
    static const struct {
        uint32_t all, seen, lanes, lane;
        bool race;
    } known[] = {
        {3, 3, 0, 5, false},          {2, 3, 1u << 5, 5, false}, {2, 3, 1u << 4, 5, true},
        {2, 3, 0, 5, true},           {2, 2, EMU_FULL, 5, true}, {2, 3, 1, MANY, true},
        {2, 3, 3, MANY, false},       {2, 3, 4, MANY, true},     {2, 3, EMU_FULL, MANY, false},
        {2, 2, EMU_FULL, MANY, true},
    };
    (void)state;
    for (uint32_t n = 0; n < sizeof known / sizeof *known; n++) {
        touch(1, 1, known[n].lane, 4 * n, ALL, EMU_WRITE); /* with stamp 3 */
        warp[0].clock.all[1] = known[n].all;
        warp[0].clock.seen[1] = known[n].seen;
        warp[0].clock.lanes[1] = known[n].lanes;
        touch(0, 2, 0, 4 * n, ALL, EMU_READ);
        if (known[n].race)
            said("wrote");
        else
            nothing_said();
    }
}

static void strong_ones_do_not_race(void **state) {
    (void)state;
    static const enum emu_access strong[] = {EMU_READ | EMU_STRONG, EMU_WRITE | EMU_STRONG,
                                             EMU_ATOM};
    for (uint32_t a = 0; a < 3; a++)
        for (uint32_t b = 0; b < 3; b++) {
            touch(1, 1, 0, 4 * (3 * a + b), ALL, strong[a]);
            touch(0, 2, 0, 4 * (3 * a + b), ALL, strong[b]);
        }
    nothing_said();
    for (uint32_t a = 0; a < 3; a++) {
        touch(1, 1, 0, 40 + 4 * a, ALL, strong[a]);
        touch(0, 2, 0, 40 + 4 * a, ALL, EMU_WRITE);
        said(a == 0 ? "read" : "wrote");
    }
}

static void what_is_not_initialised(void **state) {
    (void)state;
    struct emu_warp *w = &warp[0];
    touch(0, 1, 9, 0, ALL, EMU_WRITE);
    touch(0, 1, 9, 0, ALL, EMU_READ);
    touch(0, 1, 9, 4, 6, EMU_WRITE);
    touch(0, 1, 9, 4, 6, EMU_READ);
    assert_false(w->tainted);
    touch(0, 2, 9, 4, ALL, EMU_READ);
    assert_true(w->tainted);
    assert_int_equal(w->pending_taint[0], 1u << 9);
    for (uint8_t byte = 0; byte < 4; byte++) { /* a block begins with nothing */
        touch(0, 1, 0, 60, ALL, EMU_WRITE);
        emu_shadow_begin(block[0].shadow);
        w->tainted = false;
        touch(0, 1, 0, 60, (uint8_t)(1 << byte), EMU_READ);
        assert_true(w->tainted);
    }
    w->tainted = false;
    assert_true(copies(0, 1, (struct emu_issue){.agent = 0, .what = EMU_WRITE}, 32, 4));
    touch(0, 1, 0, 32, ALL, EMU_READ);
    assert_false(w->tainted);
    nothing_said();
}

/* Stamps begin anew: nothing of before is a race. */
static void all_is_forgotten(void **state) {
    (void)state;
    for (int forget = 1; forget >= 0; forget--) {
        for (uint32_t at = 0; at < SHARED; at += 4) {
            touch(1, 1, 0, at, ALL, EMU_WRITE);
            warp[0].clock.all[1] = warp[0].clock.seen[1] = 3;
            touch(0, 1, 0, at, ALL, EMU_READ);
            warp[1].clock.all[0] = warp[1].clock.seen[0] = 3;
            touch(1, 1, 0, at, ALL, EMU_READ);
            warp[0].clock.all[1] = warp[1].clock.all[0] = warp[0].clock.seen[1] =
                warp[1].clock.seen[0] = 2;
        }
        nothing_said();
        if (forget) emu_shadow_forget(block[0].shadow);
        for (uint32_t at = 0; at < SHARED; at += 4) {
            touch(2, 2, 0, at, ALL, EMU_READ);
            if (forget) nothing_said();
            if (!forget) said("wrote");
        }
        for (uint32_t at = 0; forget && at < SHARED; at += 4) touch(3, 3, 0, at, ALL, EMU_WRITE);
        if (forget) said("rank 1 writes shared 0x0 of rank 0, which warp 0 of rank 1 read");
        emu_shadow_forget(block[0].shadow);
    }
    for (uint32_t at = 0; at < SHARED; at += 4) touch(2, 2, 0, at, ALL, EMU_WRITE);
    nothing_said();
}

static void nothing_is_kept(void **state) {
    (void)state;
    unsigned long in_use = 0;
    for (int round = 0; round < 4; round++) {
        struct emu_shadow *was = block[0].shadow;
        block[0].shadow = emu_shadow_open(1 << 18);
        for (int w = 0; w < 2; w++) touch(w, 1, 0, (uint32_t)w * 8, ALL, EMU_READ);
        emu_shadow_close(block[0].shadow);
        block[0].shadow = was;
        if (round == 3) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
}

/* ---- Asynchronous operations ----------------------------------------------------------------- */

static struct {
    int n;
    enum emu_space space;
    uint64_t address;
    unsigned bytes;
    uint32_t mask;
} heard;

static void hear(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                 enum emu_space space, const uint64_t addr[32], unsigned bytes,
                 enum emu_access what) {
    (void)user, (void)w, (void)i, (void)what;
    heard.n++, heard.space = space, heard.address = addr[0], heard.bytes = bytes, heard.mask = mask;
}

static void copies_have_bounds(void **state) {
    (void)state;
    const struct emu_issue op = {emu_agent(&block[0], EMU_AGENT_CP_ASYNC, 0), 3, 1, EMU_WRITE,
                                 false};
    assert_true(copies(0, 1, op, SHARED - 16, 16));
    assert_true(copies(0, 1, op, SHARED, 0));
    assert_true(copies(0, 1, op, 0, SHARED));
    nothing_said();
    static const uint32_t out[][2] = {{SHARED - 3, 4}, {SHARED, 1},     {SHARED + 4, 4},
                                      {0, SHARED + 1}, {UINT32_MAX, 4}, {SHARED + 1, 0}};
    for (int n = 0; n < 6; n++) {
        assert_false(copies(0, 1, op, out[n][0], out[n][1]));
        said("bytes at shared address 0x|but the block has 0x0 to 0x40");
    }
    struct emu_events events = {.access = hear};
    launch.events = &events;
    assert_true(copies(0, 1, op, 32, 8));
    assert_true(heard.n == 1 && heard.space == EMU_SHARED && heard.address == 32 &&
                heard.bytes == 8 && heard.mask == 1);
    assert_true(emu_shared_async(&warp[0], &block[1], &code[1], &op, 32, 8));
    assert_true(heard.n == 2 && heard.space == EMU_CLUSTER &&
                heard.address == emu_cluster_address(&block[1], 32));
    events.access = NULL;
    assert_true(copies(0, 1, op, 32, 8));
    launch.events = NULL;
    /* without checks nothing is kept */
    struct emu_shadow *was = block[0].shadow;
    block[0].shadow = NULL;
    for (int what = EMU_READ; what <= EMU_WRITE; what++)
        assert_true(copies(0, 1, (struct emu_issue){.what = (enum emu_access)what}, 0, 16));
    block[0].shadow = was;
}

static void copies_meet_others(void **state) {
    (void)state;
    const unsigned agent = emu_agent(&block[0], EMU_AGENT_CP_ASYNC, 0);
    const struct emu_issue store = {agent, 3, 1u << 4, EMU_WRITE, false},
                           load = {agent, 3, 1u << 4, EMU_READ, false},
                           first = {agent, 3, 1, EMU_WRITE, false},
                           twice = {agent, 3, 1u << 4 | 1u << 7, EMU_WRITE, false};
    /* readers: the first and the second of the block */
    for (int w = 0; w < 2; w++) {
        touch(w, 1, 9, 16, ALL, EMU_READ);
        assert_true(copies(!w, 2, store, 16, 4));
        said("writes shared 0x10, which warp|read");
        emu_shadow_forget(block[0].shadow);
    }
    /* the other warp */
    touch(1, 1, 0, 8, ALL, EMU_WRITE);
    assert_true(copies(0, 2, load, 0, 16));
    said("cp.async of warp 0 of rank 0 reads shared 0x8, which warp 1 of rank 0 wrote");
    assert_true(copies(0, 2, store, 0, 16));
    said("cp.async of warp 0 of rank 0 writes shared 0x8, which warp 1 of rank 0 wrote|line 102|"
         "line 101");
    assert_true(copies(0, 8, store, 0, 16)); /* its own */
    assert_true(copies(0, 6, load, 0, 16));
    nothing_said();
    touch(0, 4, 4, 8, ALL, EMU_READ); /* nobody waited for it */
    said("which cp.async of warp 0 of rank 0 writes|line 104|line 108");
    touch(1, 5, 0, 12, ALL, EMU_WRITE);
    assert_int_equal(reports.n, 2); /* and who reads it too */
    emu_reports_clear(&reports);
    reports = (struct emu_reports){.lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(copies(0, 2, store, 40, 4));
    touch(1, 1, 0, 40, ALL, EMU_ATOM); /* no atomics themselves */
    said("writes");
    /* lanes of its own warp: those that issue it know what they did */
    touch(0, 1, 4, 20, ALL, EMU_WRITE);
    touch(0, 1, 5, 24, ALL, EMU_WRITE);
    touch(0, 1, MANY, 28, ALL, EMU_WRITE);
    touch(0, 1, MANY, 32, ALL, EMU_WRITE);
    assert_true(copies(0, 2, store, 20, 4));
    nothing_said();
    assert_true(copies(0, 2, store, 24, 4));
    said("0x18");
    assert_true(copies(0, 2, store, 28, 4));
    said("0x1c");
    touch(0, 1, MANY, 44, ALL, EMU_WRITE);
    assert_true(copies(0, 2, first, 44, 4));
    said("0x2c");
    assert_true(copies(0, 2, twice, 32, 4));
    nothing_said();
    touch(0, 1, 5, 36, ALL, EMU_WRITE);
    warp[0].clock.all[0] = 3;
    assert_true(copies(0, 2, store, 36, 4));
    nothing_said(); /* they have met */
    warp[0].clock.all[0] = 2;
}

/* Bytes of the first and the last word. */
static void copies_touch_their_bytes(void **state) {
    (void)state;
    const struct emu_issue store = {emu_agent(&block[0], EMU_AGENT_CP_ASYNC, 0), 3, 1, EMU_WRITE,
                                    false};
    for (uint32_t from = 0; from < 9; from++)
        for (uint32_t bytes = 1; bytes < 9; bytes++) {
            emu_shadow_forget(block[0].shadow);
            emu_shadow_begin(block[0].shadow);
            for (uint32_t at = 0; at < 24; at += 4) touch(1, 1, 0, at, ALL, EMU_WRITE);
            emu_shadow_begin(block[0].shadow);
            warp[0].clock.all[1] = warp[0].clock.seen[1] = 3;
            assert_true(copies(0, 2, store, from, bytes));
            nothing_said();
            for (uint32_t at = 0; at < 24; at++) { /* of warp 2, which knows warp 1 */
                warp[2].clock.all[1] = warp[2].clock.seen[1] = 3;
                warp[2].tainted = false;
                touch(2, 3, 0, at / 4 * 4, (uint8_t)(1 << at % 4), EMU_READ);
                bool is_copied = at >= from && at < from + bytes;
                if (is_copied)
                    said("cp.async of warp 0");
                else
                    nothing_said();
                assert_int_equal(warp[2].tainted, !is_copied);
            }
            warp[2].clock.all[1] = warp[2].clock.seen[1] = 2;
            /* and whose last writer is not it still has its own */
            for (uint32_t at = 0; at < 24; at += 4) {
                if (at + 4 > from && at < from + bytes) continue;
                touch(2, 3, 0, at, ALL, EMU_READ);
                said("warp 1 of rank 0 wrote");
            }
            warp[0].clock.all[1] = warp[0].clock.seen[1] = 2;
        }
}

static void copies_read_behind_a_fence(void **state) {
    (void)state;
    const unsigned agent = emu_agent(&block[0], EMU_AGENT_TMA_STORE, 0);
    const struct emu_issue load = {agent, 3, EMU_FULL, EMU_READ, true},
                           generic = {agent, 3, EMU_FULL, EMU_READ, false};
    static const struct {
        uint32_t stamp, fenced;
        bool is_told;
    } fences[] = {{4, 2, true}, {4, 3, true},  {4, 4, false}, {4, 5, false},
                  {3, 2, true}, {2, 1, false}, {1, 0, false}};
    for (uint32_t n = 0; n < sizeof fences / sizeof *fences; n++) {
        warp[1].clock.seen[1] = fences[n].stamp;
        touch(1, 1, 0, 4 * n, ALL, EMU_WRITE);
        warp[0].clock.all[1] = warp[0].clock.seen[1] = 4;
        warp[0].clock.fenced[1] = fences[n].fenced;
        assert_true(copies(0, 2, generic, 4 * n, 4));
        nothing_said();
        assert_true(copies(0, 2, load, 4 * n, 4));
        char text[64];
        snprintf(text, sizeof text, "shared 0x%x was written by ordinary stores|line 101", 4 * n);
        if (fences[n].is_told)
            said(text);
        else
            nothing_said();
    }
    /* its own are no ordinary stores */
    const struct emu_issue store = {agent, 3, EMU_FULL, EMU_WRITE, true};
    assert_true(copies(0, 2, store, 48, 4));
    assert_true(copies(0, 2, load, 48, 4));
    nothing_said();
    /* a race is told instead, once */
    warp[1].clock.seen[1] = 9;
    touch(1, 1, 0, 52, ALL, EMU_WRITE);
    assert_true(copies(0, 2, load, 52, 4));
    said("race|reads shared 0x34, which warp 1 of rank 0 wrote");
    /* what it reads nobody may write yet */
    touch(1, 3, 0, 0, ALL, EMU_WRITE);
    said("which the TMA store of warp 0 of rank 0 reads");
}

#define IN_CLUSTER(f) cmocka_unit_test_setup_teardown(f, open_cluster, close_cluster)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_CLUSTER(of_two_warps),
        IN_CLUSTER(of_bytes),
        IN_CLUSTER(of_lanes),
        IN_CLUSTER(of_what_is_known),
        IN_CLUSTER(strong_ones_do_not_race),
        IN_CLUSTER(what_is_not_initialised),
        IN_CLUSTER(all_is_forgotten),
        IN_CLUSTER(nothing_is_kept),
        IN_CLUSTER(copies_have_bounds),
        IN_CLUSTER(copies_meet_others),
        IN_CLUSTER(copies_touch_their_bytes),
        IN_CLUSTER(copies_read_behind_a_fence),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
